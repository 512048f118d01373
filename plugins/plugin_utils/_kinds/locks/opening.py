# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Opens a test of locks: each host must share its directory with another one under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._fleet.settings import SettingsError
from ..._locks.pairs import PairsError, check_pairs
from ..._run.shapes import Plan
from .. import facets


class Opening(facets.Opening):
    """The plans name the partners of each host."""

    def check(self, settings: Mapping[str, Any], plans: Mapping[str, Plan]) -> None:
        """Raise SettingsError if a host has no partner, or if its partner is not under test."""
        try:
            check_pairs(plans)
        except PairsError as error:
            raise SettingsError(str(error)) from error
