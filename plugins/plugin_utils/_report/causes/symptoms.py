# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds symptoms in the figures of a host that does not meet a limit. They are hints for finding the cause, and never
change a verdict."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Suspect:
    """A host that does not meet a limit (an entry of its limits), with the figures of the `all` rows to which the limit
    applies."""

    host: Host
    limit: LimitEntry
    rows: Sequence[Figures]

    @property
    def is_latency(self) -> bool:
        """Whether the limit is on a latency."""
        return self.limit["unit"] == "ns"

    def at(self, row: Figures) -> str:
        """Return the step of a row, as text that follows its figures."""
        return at_text(self.host.words, self.host.words.layout.step_of(row))

    def text(self, template: str, row: Figures) -> str:
        """Return the figures of a row in words, with its step."""
        return phrase(template, row) + self.at(row)

    @property
    def worst(self) -> Mapping[str, Any]:
        """The row that is worst in the limit's metric; empty if there is none."""
        found = find_metric(self.limit["metric"])
        rows = [row for row in self.rows if found and row.get(found.column) is not None]
        if not found or not rows:
            return {}
        return (min if found.bound == "min" else max)(rows, key=lambda row: row[found.column])

    @property
    def strictest_ns(self) -> float:
        """The strictest latency limit that the host does not meet in the worst row. Writes that took longer than this
        were not fast, whichever limit is being explained."""
        step = _step(self.worst)
        there = [
            limit["limit_value"]
            for limit, rows in zip(self.host.limits, self.host.decisive, strict=True)
            if limit["unit"] == "ns" and limit["limit_value"] and any(row.step == step for row in rows)
        ]
        return min([self.limit["limit_value"], *there])


def symptoms_of(
    host: Host, limit: LimitEntry, decisive: Sequence[JudgedRow], medians: Medians
) -> list[tuple[str, str]]:
    """Return symptoms as (key, figures): the best explanation of why a limit is not met, and whether the volume differs
    from its class."""
    steps = {row.step for row in decisive}
    rows = [row for row in _all_rows(host) if _step(row) in steps]
    suspect = Suspect(host, limit, rows)
    found = [(key, text) for key, see in _EXPLAIN.items() if (text := see(suspect))][:1]
    departure = _departure(host, medians)
    return [*found, (OF_CLASS, departure)] if departure else found


def _disturbed(suspect: Suspect) -> str:
    # If the limit is broken despite the disturbance, the disturbance was judged not to be the cause.
    return ", ".join(suspect.host.disturbances) if suspect.limit["verdict"] == INCONCLUSIVE else ""


def _throttled(suspect: Suspect) -> str:
    return next((in_words(note, suspect.host.words) for note in limit_notes(suspect.host.facts)), "")


def _plateau(suspect: Suspect) -> str:
    return next(
        (in_words(finding, suspect.host.words) for finding in suspect.host.findings if finding["kind"] == PLATEAU), ""
    )


def _periodic(suspect: Suspect) -> str:
    return suspect.host.stall_period if suspect.is_latency else ""


def _slow_first_pass(suspect: Suspect) -> str:
    for row in suspect.rows:
        first, later = row.get("first_pass_latency_mean_ns"), row.get("later_passes_latency_mean_ns")
        if first and later and first >= SLOW_FIRST_PASS * later:
            return suspect.text(
                "mean {first_pass_latency_mean_ns:duration} in the first pass and "
                "{later_passes_latency_mean_ns:duration} later",
                row,
            )
    return ""


def _some_slow(suspect: Suspect) -> str:
    row = suspect.worst
    median, p90 = row.get("latency_p50_ns"), row.get("latency_p90_ns")
    if not suspect.is_latency or not median or not p90 or p90 < SEVERAL_TIMES * median:
        return ""
    return suspect.text(
        "half of them took at most {latency_p50_ns:duration}, but one in ten took {latency_p90_ns:duration} or longer",
        row,
    )


def _tail(suspect: Suspect) -> str:
    row, metric = suspect.worst, suspect.limit["metric"]
    median, value = row.get("latency_p50_ns"), row.get(f"{metric}_ns")
    if not suspect.is_latency or not median or not value:
        return ""
    if median > suspect.strictest_ns or value < SEVERAL_TIMES * median:
        return ""
    named = metric.removeprefix("latency_").replace("_", ".")
    return suspect.text(f"p50 {{latency_p50_ns:duration}}, {named} {{{metric}_ns:duration}}", row)


def _steady(suspect: Suspect) -> str:
    if not suspect.is_latency or not suspect.worst.get("latency_mean_ns"):
        return ""
    median = "[, p50 {latency_p50_ns:duration}]" if suspect.worst.get("latency_p50_ns") else ""
    return suspect.text(f"mean {{latency_mean_ns:duration}}{median}", suspect.worst)


def _low_rate(suspect: Suspect) -> str:
    row, metric = suspect.worst, find_metric(suspect.limit["metric"])
    return (
        f"{metric.kind.format(row[metric.column])}{suspect.at(row)}" if row and metric and metric.bound == "min" else ""
    )


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


_EXPLAIN: dict[str, Callable[[Suspect], str]] = {
    "disturbed": _disturbed,
    "throttled": _throttled,
    "plateau": _plateau,
    "periodic": _periodic,
    "first_pass": _slow_first_pass,
    "some_slow": _some_slow,
    "tail": _tail,
    "steady": _steady,
    "low_rate": _low_rate,
}


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
