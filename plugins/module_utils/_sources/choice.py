# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sources, and the choice between them.

Each source is a class with ``check()``, ``samples()`` and ``of_averages``. ``of_averages`` is true if the source reads
the rolling averages that MQ itself publishes, which needs no privilege. Such a source also has ``check_limit_s``, the
longest time that its check may take.

Private to this collection; it may change at any time.
"""

import time

from .. import _time_limit
from . import amqsrua, bpftrace, prometheus
from . import SourceError

AUTO = "auto"
BPFTRACE = "bpftrace"
SOURCES = (
    ("prometheus", prometheus.Source),
    ("amqsrua", amqsrua.Source),
    (BPFTRACE, bpftrace.Source),
)
"""The sources in the order in which they are tried: those that need the least privilege come first."""
OF_AVERAGES = tuple((name, source_class) for name, source_class in SOURCES if source_class.of_averages)
INTERVAL_S = 10
MOST_CHARACTERS = 1 << 20
"""The largest amount of output that :func:`watch` keeps for a queue manager. An hour of publications takes less."""


def choose(name, options, sources=SOURCES):
    """Return the name of the chosen source, the source itself, and the facts that its check returned.

    ``auto`` chooses the first source that can be used. Only bpftrace sees calls of applications and can start a
    command. Raises SourceError, which says what each source lacks.
    """
    only = BPFTRACE if options["calls"] or options["command"] else ""
    names = [AUTO] + [each for each, dummy in sources]
    if name not in names:
        raise SourceError("the source is %s, but must be one of: %s" % (name, ", ".join(names)))
    tried = [each for each in sources if each[0] == (name if name != AUTO else only or each[0])]
    problems = []
    for each, source_class in tried:
        source = source_class(options)
        try:
            return each, source, source.check()
        except SourceError as error:
            problems.append((each, str(error)))
    if len(problems) == 1:
        raise SourceError(problems[0][1])
    raise SourceError(
        "no source can observe this queue manager: %s" % "; ".join("%s: %s" % problem for problem in problems)
    )


def watch(names, window_s, url, path):
    """Watch all queue managers at the same time, for ``window_s`` seconds. Returns, for each name: ``source``,
    ``samples`` (as an observer writes them), and ``problem`` (a sentence if there is no sample, otherwise empty).
    ``url`` is the URL of the endpoint, and ``path`` is the path of amqsrua."""
    calls = [lambda name=name: _watch(name, window_s, url, path) for name in names]
    limit_s = window_s + sum(source_class.check_limit_s for dummy, source_class in OF_AVERAGES)
    answers = _time_limit.call_all(calls, limit_s)
    return dict(
        (name, answer if isinstance(answer, dict) else _nothing(str(answer))) for name, answer in zip(names, answers)
    )


def _watch(name, window_s, url, path):
    problems = []
    for title, source_class in OF_AVERAGES:
        source = source_class(dict(queue_manager=name, url=url, amqsrua=path, interval=INTERVAL_S))
        samples, problem = [], "%s reported nothing within %d s" % (title, window_s)
        try:
            source.check()
        except SourceError as error:
            problems.append(str(error))
            continue
        try:
            _take(source.samples(time.monotonic() + window_s), samples)
        except SourceError as error:
            problem = str(error)
        return dict(source=title, samples=samples, problem="") if samples else _nothing(problem)
    return _nothing("; ".join(problems))


def _take(texts, samples):
    """Add the texts of a source to ``samples``. If the source fails, the texts before the failure are kept."""
    size = 0
    for text in texts:
        size += len(text or "")
        if size > MOST_CHARACTERS:
            break
        if text:
            samples.append(dict(epoch_s=time.time(), monotonic_ns=int(time.monotonic() * 1e9), text=text))


def _nothing(problem):
    return dict(source="", samples=[], problem=problem)
