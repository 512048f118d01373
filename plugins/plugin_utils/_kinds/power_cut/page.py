# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The part of a host's section about power cuts: each cut with its figures, and what was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....module_utils._units import format_count, format_duration, format_number, format_size
from ..._durability.cut import INCONCLUSIVE, KEPT, LOST, OUTCOMES
from ..._report.model import Host
from ..._report.observation import number
from ..._run.columns import Row

OUTCOME_CLASSES = {KEPT: "pass", LOST: "fail", INCONCLUSIVE: "inconclusive"}
"""The verdict whose colour is used for an outcome."""

SHOWN_ROWS = 100
"""The largest number of rows about what was lost: a cut has one for each queue manager."""

_COUNTS = (
    ("acknowledged_writes", "Acknowledged"),
    ("found_writes", "Found up to"),
    ("lost_tail_writes", "Lost at the end"),
    ("lost_out_of_order_writes", "Lost out of order"),
    ("torn_positions", "Torn"),
    ("misdirected_positions", "Misdirected"),
    ("unreadable_positions", "Unreadable"),
    ("zeroed_positions", "Zeroed"),
    ("corrupt_positions", "Corrupt"),
    ("metadata_lost", "Files lost"),
)
_ALWAYS = 2
"""The number of columns that are shown even if they are empty."""


class DurabilitySection:
    """The data about power cuts for section.html.j2."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._durability: Mapping[str, Any] = host.own
        self._cuts: Sequence[Mapping[str, Any]] = host.own["cuts"]

    @property
    def lead(self) -> str:
        """Describes how many power cuts there were, and their outcomes."""
        return counts_text(self._host)

    @property
    def claim(self) -> str:
        """Describes what the power cuts prove if no write was lost; otherwise empty."""
        return str(self._durability["claim"])

    @property
    def tests(self) -> str:
        """Describes what the cut command tests and what it does not."""
        return str(self._durability["tests"])

    @property
    def losses(self) -> Sequence[Mapping[str, Any]]:
        """The kinds of loss, each with its consequence and next step."""
        return self._durability["losses"]

    @property
    def cuts(self) -> list[dict[str, Any]]:
        """Rows of the table of cuts."""
        return [
            {
                "number": cut["number"],
                "outcome": cut["outcome"],
                "badge": OUTCOME_CLASSES.get(cut["outcome"], "none"),
                "texts": _texts(cut),
            }
            for cut in self._cuts
        ]

    @property
    def lost(self) -> tuple[list[str], list[list[str]]]:
        """The titles and rows of the table of losses. For each cut with a loss, there is a row for all queue managers
        together and, if there are several queue managers, a row for each of them."""
        found = [(cut, row) for cut in self._cuts if cut["outcome"] == LOST for row in _rows_of(cut)][:SHOWN_ROWS]
        columns = [
            each
            for place, each in enumerate(_COUNTS)
            if place < _ALWAYS or any(_count(row, each[0]) not in ("", "0") for dummy, row in found)
        ]
        titles = ["Cut", "Queue manager", *(title for dummy, title in columns), "Size at the end", "First finding"]
        rows = [
            [
                str(cut["number"]),
                _who(row),
                *(_count(row, name) for name, dummy in columns),
                _tail_size(row),
                _finding(row),
            ]
            for cut, row in found
        ]
        return titles, rows


def counts_text(host: Host) -> str:
    """Describe how many power cuts there were, and their outcomes."""
    cuts = host.own["cuts"]
    told = [(outcome, sum(cut["outcome"] == outcome for cut in cuts)) for outcome in OUTCOMES]
    made = f"{format_count(len(cuts))} of {format_count(host.own['cut_count'])} cuts"
    return ", ".join([made, *(f"{format_count(count)} {outcome}" for outcome, count in told if count)])


def _who(row: Row) -> str:
    return "all" if row.get("worker") == "all" else f"number {row.get('worker')}"


def _texts(cut: Mapping[str, Any]) -> list[str]:
    """Return the figures of a cut. An unknown figure is an empty string."""
    acknowledged, rate = number(cut, "acknowledged_writes"), number(cut, "rate_writes_per_s")
    writing_s, back_s = number(cut, "writing_s"), number(cut, "back_after_s")
    unseen_ns, unseen = number(cut, "visible_from_ns"), number(cut, "visible_from_writes")
    return [
        "" if acknowledged is None else format_count(int(acknowledged)),
        "" if rate is None else f"{format_number(rate, 3)}/s",
        _time(writing_s, 1e9),
        ", ".join(filter(None, (_time(number(cut, key)) for key in ("delay_p50_ns", "delay_p99_ns")))),
        _time(number(cut, "gap_max_ns")),
        "" if unseen_ns is None or unseen is None else f"{_time(unseen_ns)}, {format_count(int(unseen))} writes",
        _in_flight(cut),
        _time(back_s, 1e9),
    ]


def _in_flight(cut: Mapping[str, Any]) -> str:
    """Return the outcome of the writes that had not returned when the power was lost; every outcome is correct."""
    found = [str(row["in_flight"]) for row in cut["rows"] if row.get("in_flight") and row.get("worker") != "all"]
    counts = {word: found.count(word) for word in dict.fromkeys(found)}
    return ", ".join(word if len(found) == 1 else f"{count} {word}" for word, count in counts.items())


def _rows_of(cut: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the rows of a cut, with the row for all queue managers last. If there is only one queue manager, only its
    row is returned: it has the same figures as the row for all, and also the finding."""
    alone = [row for row in cut["rows"] if row.get("worker") != "all"]
    return cut["rows"] if len(alone) != 1 else alone


def _count(row: Row, name: str) -> str:
    count = whole(row, name)
    return str(row.get(name) or "") if count is None else format_count(count)


def _tail_size(row: Row) -> str:
    """Return the size of the loss at the end, which shows the size of the cache that ignores flushes."""
    size, span_ns = (whole(row, name) for name in ("lost_tail_bytes", "lost_tail_ns"))
    return ", ".join(
        [*([format_size(size)] if size else []), *([f"{_time(span_ns)} of writing"] if size and span_ns else [])]
    )


def _finding(row: Row) -> str:
    """Describe the first finding: where it is, which write should be there, and which write is there instead."""
    if not row.get("finding"):
        return ""
    at = (
        f" at {row['finding_offset_bytes']} of {row.get('finding_file')}"
        if row.get("finding_offset_bytes")
        else f" of {row.get('finding_file')}"
    )
    due = f": write {row['finding_expected_write']} was due" if row.get("finding_expected_write") else ""
    there = f", write {row['finding_found_write']} is there" if row.get("finding_found_write") else ""
    origin = (
        f", of {row['finding_from_file']} at {row.get('finding_from_offset_bytes')}"
        if row.get("finding_from_file")
        else ""
    )
    return f"{row['finding']}{at}{due}{there}{origin}"


def whole(row: Row, name: str) -> int | None:
    """Return a whole number from a row of the tester's table, which is text; None if it is anything else."""
    text = str(row.get(name) or "")
    return int(text) if text.isdecimal() and len(text) < 20 else None


def _time(value: float | None, scale: float = 1) -> str:
    return "" if value is None else format_duration(value * scale)
