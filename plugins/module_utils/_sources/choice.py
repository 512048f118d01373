# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sources, and the choice between them.

Each source is a class with ``check()``, ``samples()`` and ``of_averages``. ``of_averages`` is true if the source reads
the rolling averages that MQ itself publishes, which needs no privilege. Such a source also has ``check_limit_s``, the
longest time that its check may take.

Private to this collection; it may change at any time.
"""

from . import amqsrua, bpftrace, prometheus
from .source_error import SourceError

AUTO = "auto"
BPFTRACE = "bpftrace"
SOURCES = (
    ("prometheus", prometheus.Source),
    ("amqsrua", amqsrua.Source),
    (BPFTRACE, bpftrace.Source),
)
"""The sources in the order in which they are tried: those that need the least privilege come first."""


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
