# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""index.html: one self-contained page for people, usable from a file, on paper, in the dark and with thousands of hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.badge import CLASSES, SIGNS, badge
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.figures import FIGURES, cells
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.host_section import HostSection
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import Host, Model
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.overview import counts_of, parameters_of, qualifies_of, steps_of, waivers_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.template import render_page

DETAILED_HOSTS = 1000
"""The largest number of hosts that are shown in detail, the worst first; the matrix always has all."""
SHOWN_REASONS = 30


def render(model: Model) -> Iterator[str]:
    """Yield the page's text piece by piece."""
    steps, titles = steps_of(model)
    alone = len(model.hosts) == 1
    return render_page(
        "index.html.j2",
        styles=["host.css"],
        model=model,
        hosts=_Each(lambda place: _FleetRow(model.hosts[place], steps), len(model.hosts)),
        detailed=_Each(lambda place: HostSection(model.hosts[place], place + 1, alone), min(len(model.hosts), DETAILED_HOSTS)),
        counts=counts_of(model),
        reasons=model.fleet["reasons"][:SHOWN_REASONS],
        reasons_left=max(0, len(model.fleet["reasons"]) - SHOWN_REASONS),
        step_titles=titles,
        figure_titles=[title for title, column, write in FIGURES],
        parameters=parameters_of(model),
        qualifies=qualifies_of(model),
        waivers=waivers_of(model),
        badge=badge,
        classes=CLASSES,
        signs=SIGNS,
    )


class _FleetRow:
    """A host as a row of the matrix."""

    def __init__(self, host: Host, steps: list[tuple[int, int]]) -> None:
        self.host = host
        self._steps = steps

    @property
    def cells(self) -> list[Any]:
        """The host's cells in the order of the matrix's columns, None if nothing was measured."""
        known = cells(self.host)
        return [known.get(step) for step in self._steps]


class _Each:
    """What is made of each host, made again for each pass, so that a large fleet is never in memory twice."""

    def __init__(self, make: Callable[[int], Any], count: int) -> None:
        self._make = make
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return map(self._make, range(self._count))
