# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The part of a host's section about power cuts: each cut with its figures, and what was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....module_utils._units import format_count
from ..._durability.cut import INCONCLUSIVE, KEPT, LOST, OUTCOMES
from ..._english.phrases import phrase
from ..._report.model import Host
from ..._report.observation import numbers
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
_FIGURES = (
    "[{acknowledged_writes:count}]",
    "[{rate_writes_per_s:number,3}/s]",
    "[{writing_s:seconds}]",
    "[{delay_p50_ns:duration}, {delay_p99_ns:duration}|{delay_p50_ns:duration}|{delay_p99_ns:duration}|]",
    "[{gap_max_ns:duration}]",
    "[{visible_from_ns:duration}, {visible_from_writes:count} writes]",
    "{in_flight}",
    "[{back_after_s:seconds}]",
)
"""The templates of the figures of a cut."""
_FINDING = (
    "{finding}[ at {finding_offset_bytes} of {finding_file}| of {finding_file}|]"
    "[: write {finding_expected_write} was due][, write {finding_found_write} is there]"
    "[, of {finding_from_file} at {finding_from_offset_bytes}|, of {finding_from_file}|]"
)
"""The template of the first finding: where it is, which write should be there, and which write is there instead."""


def cuts_section(host: Host) -> dict[str, Any]:
    """Return the data about power cuts under the names that section.html.j2 uses."""
    cuts = [
        {
            "number": cut["number"],
            "outcome": cut["outcome"],
            "badge": OUTCOME_CLASSES.get(cut["outcome"], "none"),
            "texts": [phrase(text, numbers(cut), in_flight=_in_flight(cut)) for text in _FIGURES],
        }
        for cut in host.own["cuts"]
    ]
    return {**host.own, "lead": counts_text(host), "cuts": cuts, "lost": _lost(host.own["cuts"])}


def _lost(cuts: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return the titles and rows of the table of losses. For each cut with a loss, there is a row for all queue
    managers together and, if there are several queue managers, a row for each of them."""
    found = [(cut, row) for cut in cuts if cut["outcome"] == LOST for row in _rows_of(cut)][:SHOWN_ROWS]
    columns = {
        name: title
        for place, (name, title) in enumerate(_COUNTS)
        if place < _ALWAYS or any(_count(row, name) not in ("", "0") for dummy, row in found)
    }
    titles = ["Cut", "Queue manager", *columns.values(), "Size at the end", "First finding"]
    rows = [
        [
            str(cut["number"]),
            "all" if row.get("worker") == "all" else f"number {row.get('worker')}",
            *(_count(row, name) for name in columns),
            _tail_size(row),
            phrase(_FINDING, row) if row.get("finding") else "",
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
    size, span_ns = (whole(row, name) or None for name in ("lost_tail_bytes", "lost_tail_ns"))
    return phrase("[{size:size}, {ns:duration} of writing|{size:size}|]", {"size": size, "ns": span_ns})


def whole(row: Row, name: str) -> int | None:
    """Return a whole number from a row of the tester's table, which is text; None if it is anything else."""
    text = str(row.get(name) or "")
    return int(text) if text.isdecimal() and len(text) < 20 else None
