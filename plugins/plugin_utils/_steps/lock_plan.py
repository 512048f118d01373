# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plans the test of a host's locks. Nothing is sent to the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._action_base import ControllerAction
from .._fleet.plan import of_tester, plan_host
from .._fleet.settings import refuse_computed, refuse_unconfirmed
from .._fleet.volumes import only_volume
from .._kinds.locks.criteria import MOST_LOCKS
from .._locks.stage import LOG_BYTES
from .._locks.step import STAGE
from .._run.tester_options import OptionError
from .._run.volume_identity import check_group

REMOTE = "remote_file_system"
"""The reason for refusing a workspace that is overridden here, because the file system is meant to be shared."""


class Step(ControllerAction):
    """Runs only on the controller."""

    stage = STAGE

    argument_spec = {
        "options": {"type": "dict", "required": True},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        asked = options["options"]
        allowed = sorted({*asked["workspace_allow"], REMOTE})
        handed_on = {
            "options": asked,
            "workspace": {**asked, "workspace_allow": allowed},
            "state_dir": asked["sweep_state_dir"],
            # Hosts that name no partner are paired by their queue managers.
            "tester": of_tester(asked, discover=not asked["locks_pair"] and not asked["locks_group"]),
        }
        try:
            refuse_computed("locks_confirm", task_vars.get("locks_confirm"))
            return {**planned(asked, task_vars["inventory_hostname"], task_vars["groups"]), **handed_on}
        except OptionError as error:
            return {"problem": str(error), **handed_on}


def planned(asked: Mapping[str, Any], host: str, groups: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the plan of a host, from the values of all options and the groups of the inventory. Raises OptionError."""
    check(asked, host, groups)
    return {
        "volumes": [planned_volume(only_volume(asked, "locks are tested on"))],
        "lock_test": {
            "partners": list(asked["locks_pair"]),
            "group": asked["locks_group"],
            "seconds": asked["locks_seconds"],
            "confirmed": asked["locks_confirm"] == host,
            "command": asked["locks_cut_command"],
            "server_command": asked["locks_server_command"],
            "wait_s": asked["locks_wait"],
            "command_s": asked["locks_command_timeout"],
            "files": asked["locks_lock_files"],
            "port": asked["locks_filter_port"],
        },
    }


def planned_volume(volume: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plan of a volume. Raises OptionError.

    The sweep options of a volume do not apply. Each pair has two logs.
    """
    variables = {"sweep_block_sizes": ["4K"], "sweep_file_size": str(LOG_BYTES), "sweep_files": 2}
    (plan,) = plan_host([{**volume, "sets": []}], variables, {})["volumes"]
    return {**plan, "notes": []}


def check(asked: Mapping[str, Any], host: str, groups: Mapping[str, list[str]]) -> None:
    """Raise OptionError if the locks of a host are not to be tested, or not in this way."""
    group = asked["locks_group"]
    if asked["locks_confirm"]:
        refuse_unconfirmed("locks_confirm", asked["locks_confirm"], host, "a host is cut")
    check_group(group, host, groups)
    if group and asked["locks_pair"]:
        raise OptionError("locks_pair and locks_group are both set: leave one of them out")
    if asked["workspace_discover"]:
        raise OptionError(
            "workspace_discover is not used for locks: hosts without locks_pair and locks_group are paired by their "
            "queue managers anyway"
        )
    for name, least, most in (
        ("locks_seconds", 0, 86400),
        ("locks_wait", 1, 86400),
        ("locks_command_timeout", 1, 3600),
        ("locks_lock_files", 1, MOST_LOCKS),
        ("locks_filter_port", 1, 65535),
    ):
        if not least <= asked[name] <= most:
            raise OptionError(f"{name} is {asked[name]:g}, but must be from {least} to {most}")
