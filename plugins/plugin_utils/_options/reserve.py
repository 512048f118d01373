# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the reserve of a file system, which is a size or a share of the file system."""

from __future__ import annotations

from typing import Any

from ...module_utils import _units


def reserve_option(reserve: str) -> dict[str, Any]:
    """Return the module's option for a reserve, which is given as a size or as a share of the file system. Raises
    ValueError."""
    number, percent, rest = reserve.strip().partition("%")
    if not percent or rest:
        return {"reserve_bytes": _units.parse_size(reserve.strip())}
    share = _units.parse_ratio(f"{number}%")
    if share >= 1:
        raise ValueError(f"{reserve!r} is not a share from 0 to below 100 %")
    return {"reserve_share": share}
