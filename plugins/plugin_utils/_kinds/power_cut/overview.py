# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The part of the page about the power cuts of all hosts: a mark for each cut, and how large the chance of a loss may
be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_count, format_duration
from ..._durability.cut import INCONCLUSIVE, KEPT, LOST, OUTCOMES, total_row
from ..._judge.durability import CERTIFYING_BOUND, chance_bound, percent_upwards
from ..._judge.judged_records import wanted_cuts
from ..._report.charts.axes import LogAxis, path
from ..._report.charts.rows import row_picture, row_scale, row_upright
from ..._report.folding import shorten
from ..._report.model import Host, Model
from ..._report.observation import number
from ..._report.page.parts import NAME, PICTURE, TEXT, Column, badge, filled
from ..._run.host_settings import profile_data
from .page import counts_text, whole

Shown = tuple[Host, Markup]
"""A row for a host, with its name as a link."""

NOT_MADE = "not made"

_WIDTH = 210
_IN_ROW = 20
_MOST_MARKS = 60
"""If there are more cuts than this, they are shown as one bar, divided according to the shares of the outcomes."""
_PITCH = 10
_MARKS = {
    KEPT: "M{x:.1f} {y:.1f}h7v7h-7z",
    LOST: "M{x:.1f} {y:.1f}l7 7m0 -7l-7 7",
    INCONCLUSIVE: "M{x:.1f} {y:.1f}h7v7h-7z",
    NOT_MADE: "M{x:.1f} {y:.1f}m2.5 3.5h2",
}
"""The marks of cuts by their outcomes. They also differ in shape."""
_LOWEST = 0.001
_TICKS = (0.01, 0.05, 0.2, 1.0)
_AXIS = LogAxis(math.log10(_LOWEST), 0.0, 14, _WIDTH - 14)


def overview(model: Model, shown: Sequence[Shown]) -> dict[str, Any]:
    """Return the cuts of all hosts under the names that overview.html.j2 uses."""
    hosts = model.run.get("expected_hosts") or []
    columns: list[Column[Shown]] = [
        Column("Host", NAME, lambda each: each[1]),
        Column("Verdict", TEXT, lambda each: badge(each[0].verdict)),
        Column(
            "Cuts",
            PICTURE,
            lambda each: _cuts_picture(each[0]),
            lambda each: counts_text(each[0]) if each[0].own else "",
        ),
        Column("Lost", TEXT, lambda each: _writes_lost(each[0]), lambda each: _damage(each[0])),
        Column(
            _scale(),
            PICTURE,
            lambda each: _bound_picture(each[0], _wanted(model, each[0].host)),
            lambda each: _bound_text(each[0]),
        ),
        Column("Acknowledged writes", "", lambda each: _acknowledged(each[0])),
        Column("Not seen below", "", lambda each: _unseen(each[0])),
    ]
    titles, rows = filled(columns, shown, lambda each: each[0].verdict)
    bounds = sorted({_wanted(model, host) for host in hosts}) or [CERTIFYING_BOUND]
    texts = " and ".join(f"{percent_upwards(100 * bound)} %" for bound in bounds)
    dashed = (
        f"what is proven by as many cuts as the profile asks for ({texts})"
        if any(wanted_cuts(profile_data(model.run, host)) for host in hosts)
        else f"{texts}; with a higher bound, the cuts are too few to certify"
    )
    return {"titles": titles, "rows": rows, "left": len(model.hosts) - len(shown), "dashed": dashed}


def picture_rows(model: Model, hosts: Sequence[Host]) -> list[tuple[str, str, Markup]]:
    """Return the name of each host, its counts with what they prove about the chance of a loss, and the picture of its
    cuts."""
    return [(shorten(model.shown_name(host)), _counts_and_bound(host), _cuts_picture(host)) for host in hosts]


def _counts_and_bound(host: Host) -> str:
    proven = "" if _lost(host) or not _bound(host) else f"; chance of a loss so far {_bound_text(host)}"
    return f"{counts_text(host)}{proven}"


def _wanted(model: Model, host: str) -> float:
    """Return the bound on the chance of a loss that a host has to prove."""
    cuts = wanted_cuts(profile_data(model.run, host))
    return chance_bound(cuts) if cuts else CERTIFYING_BOUND


def _bound_picture(host: Host, wanted: float) -> Markup:
    if not _made(host):
        return Markup("")
    parts = [row_upright("margin", _AXIS.place(wanted))]
    bound, lost = _bound(host), _lost(host)
    if lost:
        parts.append(path("lost", "M{:.1f} 7l8 8m0 -8l-8 8", _AXIS.place(lost / len(_made(host))) - 4))
    elif bound:
        parts.append(path("interval", "M{0:.1f} 11H{1:.1f}M{1:.1f} 6V16", _AXIS.first, _AXIS.place(bound)))
    return row_picture(parts, f"chance of a loss per cut: {_bound_text(host)}", "cuts")


def _made(host: Host) -> Sequence[dict[str, Any]]:
    return host.own.get("cuts") or ()


def _lost(host: Host) -> int:
    """Return how many cuts lost writes."""
    return sum(cut["outcome"] == LOST for cut in _made(host))


def _writes_lost(host: Host) -> str:
    """Return how many acknowledged writes were lost in all cuts; empty if none were lost."""
    totals = [total_row(cut["rows"]) for cut in _made(host) if cut["outcome"] == LOST]
    count = sum(whole(row, name) or 0 for row in totals for name in ("lost_tail_writes", "lost_out_of_order_writes"))
    return f"{format_count(count)} writes" if count else ""


def _damage(host: Host) -> str:
    return ", ".join(str(loss["loss"]) for loss in host.own.get("losses") or ())


def _bound(host: Host) -> float | None:
    """Return the upper bound on the chance of a loss, according to the cuts; None if unknown."""
    bound = number(host.own, "loss_chance_bound")
    return bound if bound and 0 < bound <= 1 else None


def _bound_text(host: Host) -> str:
    if lost := _lost(host):
        return f"lost in {lost} of {len(_made(host))}"
    bound = _bound(host)
    return f"at most {percent_upwards(100 * bound)} %" if bound else "not known" if _made(host) else ""


def _acknowledged(host: Host) -> str:
    known = [count for cut in _made(host) if (count := number(cut, "acknowledged_writes")) is not None]
    return format_count(int(sum(known))) if known else ""


def _unseen(host: Host) -> str:
    """Return the longest period of writing whose loss could have gone unnoticed."""
    known = [span for cut in _made(host) if (span := number(cut, "visible_from_ns")) is not None]
    return format_duration(max(known)) if known else ""


def _cuts_picture(host: Host) -> Markup:
    """Return a mark for each cut in order, and for each requested cut that was not made. If there are too many cuts,
    return one bar."""
    if not host.own:
        return Markup("")
    outcomes = [cut["outcome"] if cut["outcome"] in OUTCOMES else INCONCLUSIVE for cut in _made(host)]
    outcomes += [NOT_MADE] * min(max(0, host.own["cut_count"] - len(outcomes)), 10 * _MOST_MARKS)
    body, height = _bar(outcomes) if len(outcomes) > _MOST_MARKS else _marks(outcomes)
    return row_picture(body, counts_text(host), "cuts", height=height)


def _marks(outcomes: Sequence[str]) -> tuple[list[Markup], int]:
    rows = max(1, math.ceil(len(outcomes) / _IN_ROW))
    places = [(4 + _PITCH * (place % _IN_ROW), 5 + _PITCH * (place // _IN_ROW)) for place in range(len(outcomes))]
    paths = {
        outcome: "".join(
            mark.format(x=x, y=y) for (x, y), each in zip(places, outcomes, strict=True) if each == outcome
        )
        for outcome, mark in _MARKS.items()
    }
    return _paths(paths.items()), max(22, 8 + _PITCH * rows)


def _bar(outcomes: Sequence[str]) -> tuple[list[Markup], int]:
    """Return one bar with the shares of the outcomes. Every outcome that occurs is visible."""
    paths, x = [], 4.0
    for outcome, group in groupby(sorted(outcomes, key=[*OUTCOMES, NOT_MADE].index)):
        length = max(4.0, (_WIDTH - 24) * len(list(group)) / len(outcomes))
        paths.append((outcome, f"M{x:.1f} 6h{length:.1f}v10h-{length:.1f}z"))
        x += length + 1
    return _paths(paths), 22


def _paths(paths: Iterable[tuple[str, str]]) -> list[Markup]:
    return [path(outcome.replace(" ", "-"), course) for outcome, course in paths]


def _scale() -> Markup:
    ticks = ((_AXIS.place(tick), f"{100 * tick:g}%") for tick in _TICKS)
    return row_scale(ticks, "logarithmic axis of the chance of a loss per cut", "Chance of a loss per cut", "cuts")
