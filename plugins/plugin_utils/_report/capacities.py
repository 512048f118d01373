# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The capacities of the volumes of a run, a line for each."""

from __future__ import annotations

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.folding import shorten
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import Model

SHOWN = 5
"""The largest number of volumes that have a line of their own, those with the smallest capacity."""


def capacity_lines(model: Model) -> list[str]:
    """Return a line for each volume with a capacity, the smallest first, and how many more there are."""
    found = [(host.label, host.climbed) for host in model.hosts if host.climbed]
    found.sort(key=lambda each: each[1].highest_passed or 0)
    lines = [f"{shorten(label)}: {capacity.sentence}" if len(model.hosts) > 1 else capacity.sentence for label, capacity in found[:SHOWN]]
    return [*lines, f"and {_units.format_count(len(found) - SHOWN)} more that carry as much or more"] if len(found) > SHOWN else lines
