# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The publications of one queue manager about its log, as each source prints them. They are modelled on the published
programs (see tests/fixtures/observe/README.md).

``gets`` lists, for each GET, the publications that have arrived since the previous GET: none, one or several.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

OVERRIDE_C_TYPE = "counter"
"""The Prometheus type of the metric for the bytes written, if mq_prometheus runs with overrideCType. Without that
option, the type is ``gauge``."""


@dataclass(frozen=True)
class Publication:
    """The data of class DISK, type Log, that MQ publishes every 10 s."""

    physical_bytes: int
    latency_us: int
    size_bytes: int


def mq_prometheus(
    gets: Sequence[Sequence[Publication]], kind: str = OVERRIDE_C_TYPE, *, keeps_counters: bool = False
) -> list[str]:
    """Return the answers of mq_prometheus. It resets everything at each GET, including counters, unless it is a version
    that keeps counters (``keeps_counters``)."""
    total, answers = 0, []
    for publications in gets:
        total = (total if keeps_counters else 0) + sum(each.physical_bytes for each in publications)
        metrics = {"exporter_publications": ("gauge", 16 * len(publications))}
        if publications or (keeps_counters and kind == OVERRIDE_C_TYPE):
            metrics["log_physical_written_bytes"] = (kind, total)
        answers.append(_text({**metrics, **_averages(publications), "status": ("gauge", 2)}))
    return answers


def mq_container(gets: Sequence[Sequence[Publication]]) -> list[str]:
    """Return the answers of a queue manager in a container: a counter that only increases, and gauges that are reset at
    each GET."""
    # The counter already has a value before this observation.
    total, answers = 7_340_032, []
    for publications in gets:
        total += sum(each.physical_bytes for each in publications)
        answers.append(_text({"log_physical_written_bytes_total": ("counter", total), **_averages(publications)}))
    return answers


def amqsrua(publications: Sequence[Publication], start: datetime.datetime) -> str:
    """Return the output of amqsrua for publications, the first of which is at ``start``."""
    lines: list[str] = []
    for number, each in enumerate(publications):
        put = start + datetime.timedelta(seconds=10 * number)
        lines += [
            f"Publication received PutDate:{put:%Y%m%d} PutTime:{put:%H%M%S}00 Interval:10.000 seconds",
            f"Log - physical bytes written {each.physical_bytes} {each.physical_bytes // 10}/sec",
            f"Log - write latency {each.latency_us} uSec",
            f"Log - write size {each.size_bytes}",
            "",
        ]
    return "\n".join(lines)


@dataclass
class Clock:
    """How many publications each GET finds. There are as many publications as GETs, but some GETs come just before a
    publication and others just after the next one."""

    pattern: Sequence[int] = field(default=(1,))

    def gets(self, publications: Sequence[Publication]) -> Iterator[list[Publication]]:
        left, number = list(publications), 0
        while left:
            count = self.pattern[number % len(self.pattern)]
            yield left[:count]
            left, number = left[count:], number + 1


def _averages(publications: Sequence[Publication]) -> dict[str, tuple[str, object]]:
    if not publications:
        return {}
    return {
        "log_write_latency_seconds": ("gauge", publications[-1].latency_us / 1e6),
        "log_write_size_bytes": ("gauge", publications[-1].size_bytes),
    }


def _text(metrics: dict[str, tuple[str, object]]) -> str:
    lines = [
        f'# TYPE ibmmq_qmgr_{name} {kind}\nibmmq_qmgr_{name}{{platform="UNIX",qmgr="QM1"}} {value}\n'
        for name, (kind, value) in sorted(metrics.items())
    ]
    return "".join(lines)
