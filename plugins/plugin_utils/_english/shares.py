# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Describes the total to which a requested share of a workload refers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._run.columns import READ_SHARE

_TEXTS = {
    READ_SHARE: "reads of {stream}",
    "size_share": "operations of {item} bytes of {stream}",
    "operations_share": "operations of {stream}",
    "capacity_share": "capacity of place {item}",
}


def share_text(share: Mapping[str, Any]) -> str:
    """Return the total to which a share refers."""
    return _TEXTS[share["property"]].format(**share)
