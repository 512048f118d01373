# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Charts of the throughput of commits over message size: MB/s and messages per second, up to the limit of the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from markupsafe import Markup

from ....module_utils._units import format_count, format_number, format_rate, format_size
from ..._estimate.basis import Basis, Estimate, Measured
from ..._estimate.commits import OVERHEAD_BYTES
from .axes import LEFT, RIGHT, LogAxis
from .plot import Curve, Marks, Plot

if TYPE_CHECKING:
    from ..estimates import ShownEstimates

_POINTS = 24
_TICKS = (1, 10, 100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20, 100 << 20)

Estimates = list[tuple[float, Estimate]]


def estimate_charts(basis: Basis, shown: ShownEstimates) -> list[Markup]:
    """Return both charts; none if there are estimates for only one message size."""
    if len(shown.message_sizes) < 2:
        return []
    first, last = shown.message_sizes[0], shown.message_sizes[-1]
    sizes = [round(first * (last / first) ** (number / _POINTS)) for number in range(_POINTS + 1)]
    curves = {count: [(size, basis.estimate(size, count)) for size in sizes] for count in shown.clients}
    limit = [(size, shown.log_bytes_per_s / (size + OVERHEAD_BYTES)) for size in sizes]
    peak = format_rate(shown.log_bytes_per_s)
    return [
        _chart(
            "Throughput over message size",
            f"The dashed line is the log's limit: with full writes, it takes {peak}, including {OVERHEAD_BYTES:,} B "
            "of overhead per message.",
            curves,
            basis.measured,
            [(size, size * rate) for size, rate in limit],
            (
                "MB/s",
                lambda rate: format_number(rate / 1e6),
                lambda estimate: estimate.commits.bytes_per_s,
                lambda size, measured: size * measured.messages_per_s,
            ),
        ),
        _chart(
            "Messages over message size",
            "The dashed line is the log's limit.",
            curves,
            basis.measured,
            limit,
            (
                "Thousand messages/s",
                lambda rate: format_number(rate / 1000),
                lambda estimate: estimate.commits.messages_per_s,
                lambda size, measured: measured.messages_per_s,
            ),
        ),
    ]


def _chart(
    title: str,
    words: str,
    curves: Mapping[int, Estimates],
    measured: Mapping[tuple[int, int], Measured],
    limit: list[tuple[float, float]],
    figure: tuple[str, Callable[[float], str], Callable[[Estimate], float], Callable[[int, Measured], float]],
) -> Markup:
    """Return a chart with a curve for each number of applications. The arguments include the title of the figure, its
    formatter, and functions that read it from an estimate and from a measurement."""
    name, write, estimated, found = figure
    sizes = [size for size, rate in limit]
    dots = {
        key: found(key[0], one) for key, one in measured.items() if key[1] in curves and sizes[0] <= key[0] <= sizes[-1]
    }
    x = LogAxis.around(sizes, LEFT, RIGHT)
    lines, marks, names = [], [], []
    for number, (count, curve) in enumerate(curves.items()):
        points = [(size, estimated(estimate), not estimate.reservations) for size, estimate in curve]
        # The line is solid where the model is valid.
        lines += [
            Curve(f"s{number}{' beyond' * beyond}", stretch, derived=True, subject=f"{format_count(count)} clients")
            for stretch, beyond in _stretches(points)
        ]
        marks.append(
            Marks(
                f"dots s{number}",
                "M{:.1f} {:.1f}h0",
                [(size, value) for (size, by), value in dots.items() if by == count],
                f"{format_count(count)} clients, measured",
            )
        )
        names.append((f"s{number}", format_count(count), [(size, value) for size, value, holds in points]))
    lines.append(Curve("limit log", limit, "limit", "log"))
    plot = Plot(
        x,
        "Message size",
        [(tick, format_size(tick)) for tick in _TICKS if x.holds(tick)],
        lines,
        marks=marks,
        courses=names,
        title=name,
        write=write,
        unit=f" {name.replace('Thousand', 'thousand')}",
        write_x=lambda size: format_size(round(size)),
    )
    beyond = any(estimate.reservations for curve in curves.values() for size, estimate in curve)
    more = (" Dotted: outside the range of the model." if beyond else "") + (
        " Dots were measured by the commit workload." if dots else ""
    )
    description = f"Estimates for {_counts(list(curves))} that commit without think time. {words}{more}"
    return plot.chart("estimate", title, description)


def _stretches(places: list[tuple[float, float, bool]]) -> list[tuple[list[tuple[float, float]], bool]]:
    """Return the parts of a curve in which the model is valid, and the other parts. Adjacent parts share a point, so
    that the curve has no gap."""
    found: list[tuple[list[tuple[float, float]], bool]] = []
    for x, y, holds in places:
        if found and found[-1][1] == (not holds):
            found[-1][0].append((x, y))
        else:
            joint = [found[-1][0][-1]] if found else []
            found.append(([*joint, (x, y)], not holds))
    return found


def _counts(clients: list[int]) -> str:
    *others, last = map(format_count, clients)
    noun = "client" if clients == [1] else "clients"
    return f"{', '.join(others)} and {last} {noun}" if others else f"{last} {noun}"
