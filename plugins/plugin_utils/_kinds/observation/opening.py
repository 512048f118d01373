# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Opens an observation of named queue managers, or of one queue manager on each host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._fleet.watching import check_observation, observed_of
from ..._run.shapes import Plan
from .. import facets


class Opening(facets.Opening):
    """Each observed queue manager is treated as a volume."""

    def check(self, settings: Mapping[str, Any], plans: Mapping[str, Plan]) -> None:
        """Raise SettingsError if the options of a host contradict each other."""
        for plan in plans.values():
            check_observation(plan["options"])

    def volumes(self, plan: Plan) -> list[dict[str, Any]]:
        """Return the volumes of the queue managers."""
        return [{"name": each["volume"]} for each in observed_of(plan["options"])]
