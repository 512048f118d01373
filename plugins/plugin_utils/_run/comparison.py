# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a run is compared with a baseline, and with which kind of baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LAST = "last"
CERTIFICATES = "certificates"
"""Kinds of a baseline: the newest certificates of each volume, or those that are named."""


def is_asked(run: Mapping[str, Any]) -> bool:
    """Whether the hosts of a run are to be compared with a baseline. A merged run has the comparisons of the runs that
    it was merged from."""
    return bool((run.get("baseline") or {}).get("kind")) and not run.get("merged_from")
