# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Describes the file systems that are about to be tested, so that people notice one that is not mounted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._run.record import host_label
from .._run.table_reader import printable

MOST_LINES = 4
MOST_NAMES = 3


def under_test(volumes: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return a line for each mount point with its device and the volumes on it, those of most volumes first.
    ``volumes`` holds the layouts of the volumes of each host."""
    places: dict[str, list[str]] = {}
    for host, layouts in volumes.items():
        for layout in layouts:
            places.setdefault(_place(layout["facts"]), []).append(host_label(host, layout["name"]))
    ranked = sorted(places, key=lambda place: (-len(places[place]), place))
    lines = [f"Under test: {place}: {_some(places[place])}" for place in ranked[:MOST_LINES]]
    more = len(ranked) - len(lines)
    return "\n".join([*lines, *([f"Under test: {more} other mount points, see the report"] if more else [])])


def _place(facts: Mapping[str, Any]) -> str:
    if facts.get("places"):
        return printable(str(facts["places"]))
    point, source, kind = (
        printable(str(facts.get(key) or "unknown")) for key in ("mount_point", "mount_source", "filesystem_type")
    )
    return f"{point} ({kind} on {source})"


def _some(labels: Sequence[str]) -> str:
    more = len(labels) - MOST_NAMES
    return ", ".join(map(printable, labels[:MOST_NAMES])) + (f" and {more} more" if more > 0 else "")
