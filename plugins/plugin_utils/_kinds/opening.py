# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a kind of run expects when it is opened. The defaults are those of a kind whose plans name the volumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Opening:
    """Opens a run of some kind. ``plans`` holds the plan for each host, ``settings`` the settings that all hosts
    share."""

    def check(self, settings: Mapping[str, Any], plans: Mapping[str, Mapping[str, Any]]) -> None:
        """Raise SettingsError if a run of this kind is not possible with these plans."""

    def volumes(self, plan: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the volumes that a host is expected to report, in the form in which volumes.json stores them. Those
        that report another kind of result than the run have a ``kind``."""
        from .._fleet.volumes import noted_of

        return [*noted_of(plan["volumes"]), *(plan.get("of_other_kinds") or [])]

    def announced(
        self, settings: Mapping[str, Any], plans: Mapping[str, Mapping[str, Any]], check_mode: bool
    ) -> list[str]:
        """Return the lines to print about the run once it is open."""
        return []
