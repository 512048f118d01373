# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Formats the share of a limit that a figure uses."""

from __future__ import annotations

from ...module_utils import _units


def share_text(share: float) -> str:
    """Return a share such as "42 %", or "15 \u00d7" if it is at least twice the limit."""
    return f"{_units.format_number(share, 2)} \u00d7" if share >= 2 else f"{100 * share:.0f} %"
