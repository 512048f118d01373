# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines whether a run is compared with a baseline, and with which kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LAST = "last"
CERTIFICATES = "certificates"
"""The kinds of baselines: the newest certificates of each volume, or named certificates."""


def is_asked(run: Mapping[str, Any]) -> bool:
    """Whether the hosts of a run are to be compared with a baseline. A merged run contains the comparisons of its
    original runs."""
    return bool((run.get("baseline") or {}).get("kind")) and not run.get("merged_from")
