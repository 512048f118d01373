# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""report.md: the report as Markdown, for tickets and change records."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.figures import cells
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import Host, Model
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.overview import counts_of, parameters_of, steps_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.template import render_template

SHOWN_HOSTS = 1000
"""The largest number of hosts that are listed, the worst first."""
SHOWN_REASONS = 100


class _HostView:
    """A host as the template wants it."""

    def __init__(self, host: Host, steps: list[tuple[int, int]]) -> None:
        known = cells(host)
        self.label = host.label
        self.verdict = host.verdict
        self.certified = host.certified
        self.cells = [known.get(step) for step in steps]


def render(model: Model) -> Iterator[str]:
    """Yield the document's text piece by piece."""
    steps, titles = steps_of(model)
    return render_template(
        "report.md.j2",
        model=model,
        counts=[(verdict, count) for verdict, count in counts_of(model) if count],
        reasons=model.fleet["reasons"][:SHOWN_REASONS],
        reasons_left=max(0, len(model.fleet["reasons"]) - SHOWN_REASONS),
        step_titles=titles,
        hosts=[_HostView(host, steps) for host in model.hosts[:SHOWN_HOSTS]],
        hosts_left=max(0, len(model.hosts) - SHOWN_HOSTS),
        parameters=parameters_of(model),
    )
