# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calculates how much of a limit a figure uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.metrics import MARGIN


def used_share(limit: Mapping[str, Any], value: float | None) -> float | None:
    """Return the share of a limit (or of the limit of a judgement) that a figure uses. The share is above 1 if the
    figure breaks the limit. It is None if there is no figure, or if the calculation would be a division by 0."""
    bound, limit_value = limit["bound"], limit["limit_value"]
    if limit["unit"] == MARGIN.unit and value is not None and limit_value is not None:
        # The carried load is compared with the required one, as a share of the target.
        value, limit_value = 1 + value, 1 + limit_value
    over, under = (limit_value, value) if bound == "min" else (value, limit_value)
    return over / under if over is not None and under else None


def share_text(share: float) -> str:
    """Return a share such as "42 %", or "15 \u00d7" if it is at least twice the limit."""
    return f"{_units.format_number(share, 2)} \u00d7" if share >= 2 else f"{100 * share:.0f} %"
