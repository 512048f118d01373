# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The part of the page about the locks of all pairs: how long takeovers took compared with their limit, and what was
lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_count, format_duration
from ..._report.charts.axes import LogAxis, path
from ..._report.charts.rows import row_picture, row_point, row_scale, row_upright
from ..._report.model import Host, Model
from ..._report.page.parts import LONG_TEXT, NAME, NUMBER, PICTURE, TEXT, Column, badge, filled
from ..._run.lock_steps import (
    CONCURRENT_UPDATES,
    CUT_OFF,
    HAND_OVER,
    NOT_COVERED,
    STEPS,
    TAKEOVERS,
    UNDER_LOAD,
    figure,
    rows_of,
)
from .english import step_title
from .figures import late_writes_of
from .pairs import ShownPair, findings_about, pairs_of

Shown = tuple[Host, Markup]
"""A host, and its name as a link."""

MOST_PAIRS = 1000

_WIDTH = 210
_AXIS = LogAxis(0.0, 3.0, 12, _WIDTH - 20)
"""A logarithmic axis from 1 to 1,000 seconds."""
_TICKS = (1, 10, 100, 1000)
_NEVER = "never_taken_over"


class _Line:
    """A row of the table: a pair, or a host for which no pair is known."""

    def __init__(self, name: Any, verdict: str, pair: ShownPair | None) -> None:
        self.name, self.verdict, self.pair = name, verdict, pair

    def rows(self, *steps: str) -> list[Mapping[str, Any]]:
        return rows_of(self.pair.results, *steps) if self.pair else []

    def most(self, step: str, name: str) -> float | None:
        return max((value for row in self.rows(step) if (value := figure(row, name)) is not None), default=None)

    def total(self, step: str, name: str) -> int | None:
        known = [value for row in self.rows(step) if (value := figure(row, name)) is not None]
        return int(sum(known)) if known else None


def overview(model: Model, shown: Sequence[Shown]) -> dict[str, Any]:
    """Return the pairs of all hosts under the names that overview.html.j2 uses."""
    links = {host.label: link for host, link in shown}
    pairs = pairs_of(host for host, _link in shown)
    lines = [_Line(_pair_name(pair, links), pair.verdict, pair) for pair in pairs]
    lines += [_Line(link, host.verdict, None) for host, link in shown if not host.own.get("pairs")]
    columns: list[Column[_Line]] = [
        Column("Pair", NAME, lambda line: line.name, lambda line: line.pair.results["directory"] if line.pair else ""),
        Column("Verdict", TEXT, lambda line: badge(line.verdict)),
        Column("Does not pass", LONG_TEXT, _not_passed, _not_covered),
        Column(_scale(), PICTURE, _takeover_picture, _takeover_text),
        Column("Late writes", NUMBER, lambda line: _count(late_writes_of(line.pair.results)) if line.pair else ""),
        Column("Updates kept", NUMBER, _updates),
        Column("Verification", NUMBER, lambda line: _time(line.most(UNDER_LOAD, "verification_max_ns"))),
        Column("Hand-over", NUMBER, lambda line: _time(line.most(HAND_OVER, "wait_ns"))),
    ]
    titles, rows = filled(columns, lines[:MOST_PAIRS], lambda line: line.verdict)
    left = max(0, len(lines) - MOST_PAIRS) + len(model.hosts) - len(shown)
    return {"titles": titles, "rows": rows, "count": len(rows), "left": left}


def _pair_name(pair: ShownPair, links: Mapping[str, Markup]) -> Markup:
    first, second = (links.get(label, Markup("<bdi>{}</bdi>").format(label)) for label in pair.labels)
    return first + Markup(" and ") + second


def _takeovers(line: _Line) -> list[tuple[str, float, bool]]:
    """Return the step of each takeover, its seconds, and whether the other host got the lock."""
    return [
        (step, value / 1e9, row["cause"] != _NEVER)
        for step in TAKEOVERS
        for row in line.rows(step)
        if (value := figure(row, "takeover_ns"))
    ]


def _takeover_text(line: _Line) -> str:
    known = _takeovers(line)
    if not line.pair:
        return ""
    if any(not is_over for _step, _seconds, is_over in known):
        return "never taken over"
    longest = max((seconds for _step, seconds, _is_over in known), default=None)
    return "not tested" if longest is None else f"at most {format_duration(longest * 1e9)}"


def _takeover_picture(line: _Line) -> Markup:
    if not line.pair:
        return Markup("")
    parts = [row_upright("margin", _AXIS.place(line.pair.takeover_s))]
    for step, seconds, is_over in _takeovers(line):
        x = _AXIS.place(seconds)
        if not is_over:
            parts.append(path("lost", "M{:.1f} 7l8 8m0 -8l-8 8", x - 4))
        elif step != CUT_OFF:
            parts.append(row_point("host-lost", x))
        else:
            parts.append(path("cut-off", "M{:.1f} 7h8v8h-8z", x - 4))
    return row_picture(parts, f"takeover: {_takeover_text(line)}", "locks")


def _updates(line: _Line) -> str:
    made, kept = (line.total(CONCURRENT_UPDATES, name) for name in ("updates_made", "updates_kept"))
    return f"{_count(kept)} of {_count(made)}" if made and kept is not None else ""


def _not_passed(line: _Line) -> str:
    """Return the steps that keep a pair from passing: those to which findings about it refer."""
    if not line.pair:
        return ""
    found = {str(each.get("step")) for host in line.pair.hosts for each in findings_about(host, line.pair.results)}
    return ", ".join(step_title(step) for step in STEPS if step in found)


def _not_covered(line: _Line) -> str:
    """Return the steps that were not carried out."""
    missing = {row["step"] for row in line.rows(*STEPS) if row["outcome"] == NOT_COVERED}
    return f"not covered: {', '.join(step_title(step) for step in STEPS if step in missing)}" if missing else ""


def _count(value: int | None) -> str:
    return "" if value is None else format_count(value)


def _time(value: float | None) -> str:
    return "" if value is None else format_duration(value)


def _scale() -> Markup:
    ticks = ((_AXIS.place(tick), f"{tick:,} s") for tick in _TICKS)
    return row_scale(ticks, "logarithmic axis of takeover times", "Takeover", "locks")
