# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The section of a host on the page. Each part is made only when the template uses it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_duration, format_rate
from ..._run.verdicts import PASS
from ..changes import compared_rows, figure_text, percent, row_text
from ..charts.distribution import distribution_charts
from ..charts.dots import first_pass_charts, worker_charts
from ..charts.latency import latency_charts
from ..charts.load import capacity_chart, load_charts
from ..charts.rows import ChangeAxis, change_picture, change_scale, limit_bar
from ..charts.seconds import seconds_charts
from ..estimates import EstimateSection
from ..facts import ShownFact, grouped_facts
from ..figures import (
    Property,
    fidelity_of,
    figure_titles,
    figures_of,
    shown_figures,
    shown_loads,
    shown_series,
    step_cell,
)
from ..folding import shorten
from ..model import Host
from ..reproduce import Reproduction, reproduction
from ..series import judges_text, series_of

SETTINGS = "Options that differ between hosts"
SHOWN_ROWS = 400
"""The maximum number of rows in a host's table of figures. If there are more, only rows of all queue managers and rows
that do not pass are shown."""

_MOST_CHANGE = 1e6


class HostSection:
    """A host, prepared for page/host.html.j2. ``number`` is the position of the host on the page, from 1, and ``alone``
    says whether this is the only host. ``parameters`` are the parameters of the run. ``defaults`` are the defaults of
    the options that a command repeats.
    """

    def __init__(
        self, host: Host, number: int, alone: bool, parameters: Mapping[str, Any], defaults: Mapping[str, Any]
    ) -> None:
        self.of = host
        self.number = number
        self.alone = alone
        self._parameters = parameters
        self._defaults = defaults

    @property
    def summary(self) -> str:
        """The text for a host whose section is collapsed: its first reason."""
        reasons = self.of.reasons
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        return reasons[0] + more if reasons else ""

    @property
    def figures(self) -> list[dict[str, Any]]:
        """Rows of the table of figures; the row of a single queue manager is left out, because it is the same as the
        `all` row."""
        shown = shown_figures(self.of)
        return [
            {
                "step": step_cell(self.of, figures),
                "who": self._who(row.worker_name, figures),
                "texts": figures_of(figures, shown),
                "verdict": row.verdict,
            }
            for row, figures in self.of.results()
            if self._is_shown(row.verdict, figures)
        ]

    @property
    def limits(self) -> list[dict[str, Any]]:
        """Rows of the table of limits."""
        return [
            {
                "text": limit["limit"],
                "rows": judges_text(self.of.words, limit["rows"], str(limit["metric"]), bool(limit["hard"])),
                "verdict": limit["verdict"],
                "sentence": limit["worst"]["reason"],
                "bar": limit_bar(limit) if self.of.intervals else "",
                "share": f"{limit['rows_not_passed']} of {limit['rows_judged']}"
                if limit["rows_judged"]
                else "none judged",
            }
            for limit in self.of.limits
        ]

    @property
    def of_its_kind(self) -> Markup | str:
        """The part of the section that only this kind of run has; empty if there is none."""
        return self.of.of_kind.view.section(self.of)

    @property
    def drift(self) -> dict[str, Any]:
        """The result of comparing the host with its earlier certificates, and its picture if the change is known;
        empty if no comparison was requested."""
        said = self.of.comparison
        if not said:
            return {}
        change, bound, margin = (_number(said.get(key)) for key in ("change", "bound", "margin"))
        drawn: dict[str, Any] = {
            "reason": said.get("reason") or "",
            "figure": figure_text(str(said.get("figure") or "")),
            "rows": list(_side_by_side(said)),
            "scale": "",
            "picture": "",
        }
        if change is not None and bound is not None and margin is not None:
            # On the logarithmic scale, the two bounds have the same distance from the change.
            lower = (1 + change) ** 2 / (1 + bound) - 1
            axis = ChangeAxis.around((lower, change, bound), margin)
            drawn["scale"] = change_scale(axis)
            drawn["picture"] = change_picture(axis, change, lower, bound, str(said.get("outcome")))
        return drawn

    @property
    def initial_write(self) -> str:
        """A sentence about the cost of formatting the test files; empty if unknown."""
        if not self.of.initial_write:
            return ""
        rate, slowest_ns = self.of.initial_write
        return (
            f"The test files were formatted at {format_rate(rate)}, and the slowest of these writes took "
            f"{format_duration(slowest_ns)}. Formatting is the first write to the storage, and is not included "
            "in any latency here."
        )

    @property
    def latency_charts(self) -> list[Any]:
        """Charts of the measured figures over block sizes and percentiles, as safe markup,
        for hosts whose tables were read."""
        if not self.of.intervals:
            return []
        over_size = (
            latency_charts,
            distribution_charts,
            worker_charts,
            first_pass_charts,
        )  # the workers of a stream are not compared
        drawn = (load_charts, distribution_charts, first_pass_charts) if self.of.words.layout.over_load else over_size
        return [chart for draw in drawn for chart in draw(self.of)]

    @property
    def capacity_chart(self) -> Any:
        """The chart of the figure that decides the capacity, as safe markup, empty if there is none."""
        return capacity_chart(self.of) if self.of.intervals else ""

    @property
    def charts(self) -> list[Any]:
        """Charts of the seconds, as safe markup."""
        return seconds_charts(self._charted_seconds, self.of.words, self.of.stalls)

    @property
    def _charted_seconds(self) -> Sequence[Mapping[str, Any]]:
        """The seconds that have charts: if a workload has many streams and loads, only some of the seconds."""
        if not self.of.words.layout.by_stream:
            return self.of.intervals
        loads = {*shown_loads(self.of, (row["load_point"] for row in self.of.intervals))}
        found = (series_of(self.of.words, row) for row in self.of.intervals)
        shown = {series.key for series in shown_series(self.of, (series for series in found if series))}
        return [
            row
            for row in self.of.intervals
            if row["load_point"] in loads and (row["stream"], row["operation"]) in shown
        ]

    @property
    def estimates(self) -> EstimateSection | None:
        """The estimates for queue managers on the volume, or None if nothing wrote to a log."""
        return EstimateSection(self.of) if self.of.basis else None

    @property
    def fidelity(self) -> tuple[list[str], list[Property]]:
        """Load points, and the values that streams achieved at each of them."""
        return fidelity_of(self.of)

    @property
    def facts(self) -> list[tuple[str, list[ShownFact]]]:
        """Facts, workspace, how the tester ended, and the options that are not the same for all hosts, by group."""
        settings = [ShownFact(name, shorten(str(value)), "") for name, value in self.of.settings.items()]
        return [
            *grouped_facts(self.of.facts, self.of.workspace, self.of.tester),
            *([(SETTINGS, settings)] if settings else []),
        ]

    @property
    def reproduction(self) -> Reproduction | None:
        """The commands that repeat the measurement, or None if nothing was measured."""
        if not self.of.rows or self.of.of_kind.is_live:
            return None
        return reproduction(self.of.host, self.of.workspace, self.of.options, self._parameters, self._defaults)

    @property
    def figure_titles(self) -> list[str]:
        """Titles of the figures of a row."""
        return figure_titles(self.of)

    def _is_shown(self, verdict: str, figures: dict[str, Any]) -> bool:
        if figures["worker"] == "all":
            return True
        if self.of.words.layout.wide and verdict in (PASS, ""):
            return False
        return self._has_several(figures) and (len(self.of.rows) <= SHOWN_ROWS or verdict not in (PASS, ""))

    def _has_several(self, figures: dict[str, Any]) -> bool:
        """Return whether several workers share the step of a row."""
        return (figures["step"], figures["stream"], figures["operation"]) in self._shared

    @cached_property
    def _shared(self) -> set[tuple[Any, ...]]:
        return {
            (figures["step"], figures["stream"], figures["operation"])
            for dummy, figures in self.of.results()
            if figures["worker"] == 2
        }

    def _who(self, name: str, figures: dict[str, Any]) -> str:
        load = figures["load_point"]
        if self.of.words.layout.over_load:
            return (
                self.of.words.load_text(load)
                if name == "all" or not self._has_several(figures)
                else f"worker {name} of {self.of.words.load_text(load)}"
            )
        if not self.of.words.load_is_workers:
            return f"{name}, {self.of.words.load_text(load)}"
        return f"all {load}" if name == "all" and self._has_several(figures) else name


def _side_by_side(said: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows of a comparison with their figures before and after, and the change for the worse. Runs of earlier
    versions have no such rows."""
    rates = str(said.get("figure")).endswith("_per_s")
    write = format_rate if rates else format_duration
    for row in compared_rows(said):
        worse = (row["before"] / row["after"] if rates else row["after"] / row["before"]) - 1
        yield row_text(row), write(row["before"]), write(row["after"]), percent(worse)


def _number(value: Any) -> float | None:
    """Return a relative change, or None if it cannot be drawn."""
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and -1 < value < _MOST_CHANGE
    return float(value) if usable else None
