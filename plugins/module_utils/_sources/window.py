# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads, within a few seconds and without privilege, the figures that MQ itself publishes about the logs of several
queue managers.

Private to this collection; it may change at any time.
"""

import time

from .. import _time_limit
from . import choice
from .source_error import SourceError

SOURCES = tuple((name, source_class) for name, source_class in choice.SOURCES if source_class.of_averages)
INTERVAL_S = 10
MOST_CHARACTERS = 1 << 20
"""The largest amount of output that is kept for a queue manager. An hour of publications takes less."""


def watch(names, window_s, url, path):
    """Watch all queue managers at the same time, for ``window_s`` seconds. Returns, for each name: ``source``,
    ``samples`` (as an observer writes them), and ``problem`` (a sentence if there is no sample, otherwise empty).
    ``url`` is the URL of the endpoint, and ``path`` is the path of amqsrua."""
    calls = [lambda name=name: _watch(name, window_s, url, path) for name in names]
    limit_s = window_s + sum(source_class.check_limit_s for dummy, source_class in SOURCES)
    answers = _time_limit.call_all(calls, limit_s)
    return dict(
        (name, answer if isinstance(answer, dict) else _nothing(str(answer))) for name, answer in zip(names, answers)
    )


def _watch(name, window_s, url, path):
    problems = []
    for title, source_class in SOURCES:
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
