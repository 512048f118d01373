# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds symptoms in the figures of a host that does not meet a limit. They are hints for finding the cause, and never
change a verdict."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from ..._english.findings import in_words
from ..._english.phrases import phrase
from ..._judge.metrics import find_metric
from ..._judge.throttling import limit_notes
from ..._run.columns import ALL_WORKERS, Step
from ..._run.findings import PLATEAU
from ..._run.verdicts import INCONCLUSIVE
from ..model import Host, JudgedRow
from ..series import Figures, LimitEntry, at_text

SEVERAL_TIMES = 3.0
"""If slow writes take at least this many times as long as fast ones, they are treated as a separate kind."""
SLOW_FIRST_PASS = 1.5
DEPARTS = 1.5
"""If the ratio to the median of its class is at least this, a volume is considered different from the class."""
FEWEST_ALIKE = 5
"""The minimum size of a class for using its median."""

OF_CLASS = "class"
"""The symptom of a volume that differs from its class. It can occur in addition to another symptom."""

Medians = Mapping[str, "Median"]


@dataclass(frozen=True, slots=True)
class Median:
    """The median of the mean latencies of a class of volumes, at the block size at which all of them were measured."""

    step: Step
    mean_ns: float
    volumes: int


def medians_of(hosts: Iterable[Host]) -> dict[str, Median]:
    """Return, for each class of similar volumes, the median of their mean latencies at the smallest block size,
    if enough were measured."""
    found: dict[tuple[str, Step], list[float]] = {}
    for host in hosts:
        if host.volume_class and (smallest := _smallest(host)):
            found.setdefault((host.volume_class, smallest[0]), []).append(smallest[1])
    largest: dict[str, Median] = {}
    for (name, step), means in found.items():
        if len(means) >= FEWEST_ALIKE and (name not in largest or len(means) > largest[name].volumes):
            largest[name] = Median(step, statistics.median(means), len(means))
    return largest


def symptoms_of(
    host: Host, limit: LimitEntry, decisive: Sequence[JudgedRow], medians: Medians
) -> list[tuple[str, str]]:
    """Return symptoms as (key, figures): the best explanation of why a limit is not met, and whether the volume differs
    from its class."""
    steps = {row.step for row in decisive}
    rows = [row for row in _all_rows(host) if _step(row) in steps]
    found = list(islice(chain(_of_host(host, limit), _of_rows(host, limit, rows)), 1))
    departure = _departure(host, medians)
    return [*found, (OF_CLASS, departure)] if departure else found


def _of_host(host: Host, limit: LimitEntry) -> Iterator[tuple[str, str]]:
    """Yield the symptoms that do not come from the figures of rows, the best explanation first."""
    # If the limit is broken despite the disturbance, the disturbance was judged not to be the cause.
    if limit["verdict"] == INCONCLUSIVE and host.disturbances:
        yield "disturbed", ", ".join(host.disturbances)
    for note in limit_notes(host.facts):
        yield "throttled", in_words(note, host.words)
    for finding in host.findings:
        if finding["kind"] == PLATEAU:
            yield "plateau", in_words(finding, host.words)
    if limit["unit"] == "ns" and host.stall_period:
        yield "periodic", host.stall_period


def _of_rows(host: Host, limit: LimitEntry, rows: Sequence[Figures]) -> Iterator[tuple[str, str]]:
    """Yield the symptoms in the `all` rows to which a limit applies, the best explanation first."""
    for row in rows:
        first, later = row.get("first_pass_latency_mean_ns"), row.get("later_passes_latency_mean_ns")
        if first and later and first >= SLOW_FIRST_PASS * later:
            yield "first_pass", phrase(_FIRST_PASS, row) + _at(host, row)
    metric = find_metric(limit["metric"])
    known = [row for row in rows if metric and row.get(metric.column) is not None]
    if not metric or not known:
        return
    row = (min if metric.bound == "min" else max)(known, key=lambda row: row[metric.column])
    if limit["unit"] == "ns":
        for key, template in _of_latencies(host, limit, row):
            yield key, phrase(template, row) + _at(host, row)
    elif metric.bound == "min":
        yield "low_rate", metric.kind.format(row[metric.column]) + _at(host, row)


_FIRST_PASS = (
    "mean {first_pass_latency_mean_ns:duration} in the first pass and {later_passes_latency_mean_ns:duration} later"
)


def _of_latencies(host: Host, limit: LimitEntry, row: Figures) -> Iterator[tuple[str, str]]:
    """Yield the symptoms in the latencies of the worst row, each with the template of its figures."""
    median, p90, value = (row.get(f"{name}_ns") for name in ("latency_p50", "latency_p90", limit["metric"]))
    if median and p90 and p90 >= SEVERAL_TIMES * median:
        yield (
            "some_slow",
            "half of them took at most {latency_p50_ns:duration}, but one in ten took {latency_p90_ns:duration} or "
            "longer",
        )
    if median and value and median <= _strictest_ns(host, limit, row) and value >= SEVERAL_TIMES * median:
        named = limit["metric"].removeprefix("latency_").replace("_", ".")
        yield "tail", f"p50 {{latency_p50_ns:duration}}, {named} {{{limit['metric']}_ns:duration}}"
    if row.get("latency_mean_ns"):
        yield "steady", "mean {latency_mean_ns:duration}" + (", p50 {latency_p50_ns:duration}" if median else "")


def _strictest_ns(host: Host, limit: LimitEntry, row: Figures) -> float:
    """Return the strictest latency limit that the host does not meet in the worst row. Writes that took longer than
    this were not fast, whichever limit is being explained."""
    there = [
        other["limit_value"]
        for other, rows in zip(host.limits, host.decisive, strict=True)
        if other["unit"] == "ns" and other["limit_value"] and any(each.step == _step(row) for each in rows)
    ]
    return min([limit["limit_value"], *there])


def _at(host: Host, row: Figures) -> str:
    """Return the step of a row, as text that follows its figures."""
    return at_text(host.words, host.words.layout.step_of(row))


def _departure(host: Host, medians: Medians) -> str:
    median, own = medians.get(host.volume_class), _smallest(host)
    if not median or not own or own[0] != median.step or own[1] < DEPARTS * median.mean_ns:
        return ""
    return phrase(
        "mean {own_ns:duration}{at}; median of the {volumes:count} volumes {median_ns:duration}",
        {
            "own_ns": own[1],
            "at": at_text(host.words, own[0]),
            "volumes": median.volumes,
            "median_ns": median.mean_ns,
        },
    )


def _all_rows(host: Host) -> list[dict[str, Any]]:
    return [figures for dummy, figures in host.results() if figures["worker"] == ALL_WORKERS]


def _smallest(host: Host) -> tuple[Step, float] | None:
    """Return the load point, the block size and the mean latency of the smallest step of a host; None if nothing was
    measured."""
    layout = host.words.layout
    rows = [
        row
        for row in _all_rows(host)
        if row.get("latency_mean_ns") and (layout.stands_for_step(row) if layout.by_stream else row["block_size_bytes"])
    ]
    if not rows:
        return None
    row = min(rows, key=lambda row: (row["load_point"], row["block_size_bytes"] or 0))
    return layout.step_of(row), row["latency_mean_ns"]


def _step(row: Figures) -> tuple[Any, ...]:
    """Return the identity of a row's step, in the form of JudgedRow.step."""
    return row["load_point"], row["block_size_bytes"], row["stream"], row["operation"]
