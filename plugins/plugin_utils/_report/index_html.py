# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""index.html: one self-contained page for people, usable from a file, on paper, in the dark and with thousands of hosts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.chart import charts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.figures import FIGURES, MARKS, cells, figures_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import NOT_MEASURED, Host, Model
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.overview import counts_of, parameters_of, qualifies_of, steps_of, waivers_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.template import read_resource, render_template
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import size_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import PASS

DETAILED_HOSTS = 1000
"""The largest number of hosts that are shown in detail, the worst first; the matrix always has all."""
SHOWN_REASONS = 30
SHOWN_ROWS = 400
"""The largest number of rows that a host's table of figures shows; beyond it, only those of all queue managers and those that do not pass."""

_CLASSES = {**{verdict: verdict for verdict in MARKS}, NOT_MEASURED: "none"}
_MARKS = {**MARKS, NOT_MEASURED: "\u2013"}
_SIGNS = {**MARKS, "": ""}


def render(model: Model) -> Iterator[str]:
    """Yield the page's text piece by piece."""
    steps, titles = steps_of(model)
    script = read_resource("report.js")
    return render_template(
        "index.html.j2",
        model=model,
        hosts=_Hosts(model.hosts, steps),
        detailed=_Hosts(model.hosts[:DETAILED_HOSTS], steps),
        detailed_hosts=DETAILED_HOSTS,
        counts=counts_of(model),
        reasons=model.fleet["reasons"][:SHOWN_REASONS],
        reasons_left=max(0, len(model.fleet["reasons"]) - SHOWN_REASONS),
        step_titles=titles,
        figure_titles=[title for title, column, write in FIGURES],
        parameters=parameters_of(model),
        qualifies=qualifies_of(model),
        waivers=waivers_of(model),
        classes=_CLASSES,
        marks=_MARKS,
        signs=_SIGNS,
        style=read_resource("report.css"),
        script=script,
        script_digest="sha256-" + base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii"),
    )


class _HostView:
    """A host as the template wants it; each part is made when the template asks for it."""

    def __init__(self, host: Host, steps: list[tuple[int, int]]) -> None:
        self.host = host
        self._steps = steps

    @property
    def cells(self) -> list[Any]:
        """The host's cells in the order of the matrix's columns, None if nothing was measured."""
        known = cells(self.host)
        return [known.get(step) for step in self._steps]

    @property
    def summary(self) -> str:
        """What to show of a closed host: its first reason."""
        reasons = self.host.reasons
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        return reasons[0] + more if reasons else ""

    @property
    def figures(self) -> list[dict[str, Any]]:
        """Rows of the table of figures; the row of a single queue manager repeats the `all` row and is left out."""
        return [
            {
                "step": size_text(figures["block_size_bytes"]),
                "who": _who(row.worker_name, figures["load_point"]),
                "texts": figures_of(figures),
                "verdict": row.verdict,
            }
            for row, figures in self.host.results()
            if self._is_shown(row.verdict, figures)
        ]

    @property
    def limits(self) -> list[dict[str, Any]]:
        """Rows of the table of limits."""
        return [
            {
                "text": limit["limit"],
                "rows": limit["rows"] or "every row",
                "verdict": limit["verdict"],
                "sentence": limit["worst"]["reason"],
                "share": f"{limit['rows_not_passed']} of {limit['rows_judged']}" if limit["rows_judged"] else "none judged",
            }
            for limit in self.host.limits
        ]

    @property
    def charts(self) -> list[Any]:
        """The host's charts as safe markup."""
        return charts(self.host.intervals, self.host.words)

    @property
    def facts(self) -> list[tuple[str, Any]]:
        """Facts, workspace and how the tester ended, as pairs."""
        groups = (
            self.host.facts,
            {f"workspace_{key}": value for key, value in self.host.workspace.items()},
            {f"tester_{key}": value for key, value in self.host.tester.items()},
        )
        return [(key, _fact(key, value)) for group in groups for key, value in group.items() if value not in (None, "")]

    def _is_shown(self, verdict: str, figures: dict[str, Any]) -> bool:
        if figures["worker"] == "all":
            return True
        return figures["load_point"] > 1 and (len(self.host.rows) <= SHOWN_ROWS or verdict not in (PASS, ""))


class _Hosts:
    """Views of hosts, made again for each pass, so that a large fleet is never in memory twice."""

    def __init__(self, hosts: list[Host], steps: list[tuple[int, int]]) -> None:
        self._hosts = hosts
        self._steps = steps

    def __len__(self) -> int:
        return len(self._hosts)

    def __iter__(self) -> Iterator[_HostView]:
        return (_HostView(host, self._steps) for host in self._hosts)


def _who(name: str, load_point: int) -> str:
    if name != "all" or load_point == 1:
        return name
    return f"all {load_point}"


def _fact(key: str, value: Any) -> Any:
    return _units.format_size(value) if key.endswith("_bytes") and isinstance(value, int) else value
