# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines which hosts are tested with each other, and which of them make the directories. No host is contacted."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import ControllerAction
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.pairs import Pair, pairs_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.step import STAGE


class ActionModule(ControllerAction):
    """Runs only on the controller, once for all hosts."""

    stage = STAGE

    argument_spec = {"hosts": {"type": "list", "elements": "str", "required": True}}

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        plans = {host: task_vars["hostvars"][host]["locks_plan"] for host in options["hosts"]}
        pairs = pairs_of(plans)
        return {"pairs": [dataclasses.asdict(pair) for pair in pairs], "makers": volumes_of_makers(plans, pairs)}


def volumes_of_makers(plans: Mapping[str, Any], pairs: Sequence[Pair]) -> dict[str, list[dict[str, Any]]]:
    """Return the volumes of each host that makes a directory, with space for the files of all pairs that are tested
    there."""
    counts = Counter(pair.maker for pair in pairs)
    return {host: [_with_space(plans[host]["volumes"][0], count)] for host, count in counts.items()}


def _with_space(volume: Mapping[str, Any], pairs: int) -> dict[str, Any]:
    (part,) = volume["parts"]
    return {**volume, "parts": [{**part, "footprint_bytes": volume["queue_manager_bytes"] * pairs}]}
