# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The part of the page about all live queue managers: certified and observed latency on one axis, and the limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_number
from ..._english.phrases import phrase
from ..._judge.metrics import find_metric
from ..._report.charts.axes import LogAxis, path
from ..._report.charts.rows import row_picture, row_point, row_scale, row_upright
from ..._report.folding import brief, shorten
from ..._report.model import Host, Model
from ..._report.observation import limit_of_mean, log_figures, number, numbers, ratio_of, size_of
from ..._report.page.parts import LONG_TEXT, NAME, PICTURE, SIGNS, TEXT, Column, badge, filled
from ..._run.verdicts import PASS
from ..._run.words import mean_size_text
from .certified import ALIKE, FASTER, SLOWER
from .page import ratio_text, time_text

OUTCOMES = {SLOWER: "slower", FASTER: "faster", ALIKE: "as certified"}

Shown = tuple[Host, Markup]
"""A row for a host, with its name as a link."""

_WIDTH = 220
_SIDE = 16
_TICK_DISTANCE = 40


def overview(model: Model, shown: Sequence[Shown]) -> dict[str, Any]:
    """Return all live queue managers under the names that overview.html.j2 uses."""
    values = [value for host, dummy in shown for value in _marks(host).values()]
    axis = LogAxis.around(values, _SIDE, _WIDTH - _SIDE) if values else None
    columns: list[Column[Shown]] = [
        Column("Host", NAME, lambda each: each[1], lambda each: brief(str(each[0].own.get("queue_manager") or ""))),
        Column("Verdict", TEXT, lambda each: badge(each[0].verdict)),
        Column(
            "Against certified",
            "",
            lambda each: _times(each[0]),
            lambda each: OUTCOMES.get(outcome_of(each[0]), ""),
        ),
        Column(_scale(axis), PICTURE, lambda each: _picture(axis, each[0]), lambda each: _size(each[0])),
        Column("Limits", LONG_TEXT, lambda each: _limits_text(each[0])),
        Column(
            "Observed mean",
            "",
            lambda each: time_text(_marks(each[0]).get("mean")),
            lambda each: phrase("[certified {certified:duration}]", _marks(each[0])),
        ),
        Column("Slowest", "", lambda each: time_text(_marks(each[0]).get("max"))),
        Column("Logger busy", "", lambda each: phrase("[{share:ratio}]", numbers(each[0].own.get("utilisation")))),
    ]
    titles, rows = filled(columns, shown, lambda each: each[0].verdict)
    return {"titles": titles, "rows": rows, "left": len(model.hosts) - len(shown), "is_drawn": axis is not None}


def finding_text(model: Model) -> str:
    """Describe the queue manager that is slowest compared with its certificate, such as "12 times slower than
    certified"; empty if none was compared."""
    compared = [host for host in model.hosts_with_own if outcome_of(host) and ratio_of(host)]
    if not compared:
        return ""
    worst = max(compared, key=lambda host: ratio_of(host) or 0.0)
    ratio, several = ratio_of(worst) or 0.0, len(model.hosts) > 1
    slower = sum(outcome_of(host) == SLOWER for host in compared)
    if slower:
        who = f"{shorten(worst.label)} is " if several else ""
        others = f", and {slower - 1} more {'is' if slower == 2 else 'are'} slower" if slower > 1 else ""
        return f"{who}{format_number(ratio, 2)} times slower than certified{others}"
    if several or outcome_of(worst) == ALIKE:
        return "as certified" if len(compared) == len(model.hosts) else f"{len(compared)} of {model.size} as certified"
    return f"{format_number(1 / ratio, 2)} times faster than certified"


def outcome_of(host: Host) -> str:
    """Return how the host's observed mean compares with the certified mean; empty if unknown."""
    outcome = (host.own.get("certificate") or {}).get("outcome")
    return str(outcome) if outcome in (SLOWER, ALIKE, FASTER) else ""


def _marks(host: Host) -> dict[str, float]:
    """Return the values in the picture of a host, in nanoseconds: the certified mean, the observed mean and maximum,
    and the limit on the mean."""
    figures = log_figures(host)
    known = {
        "certified": number(host.own.get("certificate"), "expected_ns"),
        "mean": number(figures, "latency_mean_ns"),
        "max": number(figures, "latency_max_ns"),
        "limit": limit_of_mean(host),
    }
    return {name: value for name, value in known.items() if value and value > 0} if figures else {}


def _times(host: Host) -> str:
    ratio = ratio_text(ratio_of(host))
    return ratio and f"{ratio} \u00d7"


def _size(host: Host) -> str:
    size = size_of(log_figures(host))
    return f"writes of {mean_size_text(size)}" if size else ""


def _limits_text(host: Host) -> Markup | str:
    """Return the limits that the host does not meet, each with the figure in the unit of the limit. If the host meets
    all limits, return their number."""
    if not host.limits:
        return ""
    told = [_limit_text(limit) for limit in host.limits if limit["verdict"] != PASS]
    kept = len(host.limits) - len(told)
    told += [f"{SIGNS[PASS]} {kept} kept"] if kept else []
    return Markup("<br>").join(told)


def _limit_text(limit: Mapping[str, Any]) -> str:
    metric, value = find_metric(str(limit["metric"])), limit["worst"].get("value")
    figure = metric.kind.format(value) if metric and value is not None else "no figure"
    name = f"{limit['limit_id']} " if limit["limit_id"] else ""
    return f"{SIGNS[limit['verdict']]} {name}{limit['limit']}: {figure}"


def _picture(axis: LogAxis | None, host: Host) -> Markup:
    """Return the picture of a host: a hollow square for the certified mean, a filled square for the observed mean, a
    ring for the slowest write, and a dashed line for the limit."""
    marks = _marks(host)
    if axis is None or not marks:
        return Markup("")
    places = {name: axis.place(value) for name, value in marks.items()}
    parts = [row_upright("margin", places["limit"])] if "limit" in places else []
    if "certified" in places and "mean" in places:
        name = "interval worse" if outcome_of(host) == SLOWER else "interval "
        parts.append(path(name, "M{:.1f} 11H{:.1f}", places["certified"], places["mean"]))
    squares = (("certified", "certified"), ("mean", "observed"))
    parts += [path(name, "M{:.1f} 7h8v8h-8z", places[key] - 4) for key, name in squares if key in places]
    parts += [row_point("slowest", places["max"], 4)] if "max" in places else []
    titles = {"certified": "certified mean", "mean": "observed mean", "max": "slowest", "limit": "limit on the mean"}
    return row_picture(
        parts, ", ".join(f"{titles[name]} {time_text(value)}" for name, value in marks.items()), width=_WIDTH
    )


def _scale(axis: LogAxis | None) -> Markup | str:
    """Return the axis, for the head of the table."""
    if axis is None:
        return ""
    shown: list[float] = []
    for tick in axis.ticks(5):
        if not shown or axis.place(tick) - axis.place(shown[-1]) >= _TICK_DISTANCE:
            shown.append(tick)
    ticks = ((axis.place(tick), time_text(tick)) for tick in shown)
    return row_scale(ticks, "logarithmic axis of the latency", width=_WIDTH)
