# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Formats lines that state the load that the volumes of a run carry: their capacity, and their margin over the required
load."""

from __future__ import annotations

import math

from ...module_utils import _units
from .folding import shorten
from .model import Host, Model

SHOWN = 5
"""The maximum number of volumes with a separate line. The volumes that carry the least load are shown."""


def capacity_lines(model: Model) -> list[str]:
    """Return a line for each volume with a capacity, the smallest capacity first, and the number of volumes that are
    left out."""
    found = sorted(
        ((host, host.climbed) for host in model.hosts if host.climbed), key=lambda each: each[1].highest_passed or 0
    )
    alone = len(model.hosts) == 1
    lines = [capacity.sentence if alone else f"{shorten(host.label)}: {capacity.sentence}" for host, capacity in found]
    return _smallest(lines, "that carry as much or more")


def headroom_lines(model: Model) -> list[str]:
    """Return a line for each volume that has a target, the smallest margin first, and the number of volumes that are
    left out."""
    hosts = sorted((host for host in model.hosts if host.headroom or host.no_headroom), key=_margin)
    return _smallest([f"{shorten(host.label)}: {headroom_text(host)}" for host in hosts], "with a larger margin")


def headroom_text(host: Host) -> str:
    """Return the margin of a volume and its source, or why it is unknown."""
    if not host.headroom:
        return f"margin not known, because {host.no_headroom}"
    return f"margin {_units.format_ratio(host.headroom.margin)}, {host.headroom.text}"


def _smallest(lines: list[str], others: str) -> list[str]:
    left_out = len(lines) - SHOWN
    return [*lines[:SHOWN], *([f"and {_units.format_count(left_out)} more {others}"] if left_out > 0 else [])]


def _margin(host: Host) -> float:
    return host.headroom.margin if host.headroom else -math.inf
