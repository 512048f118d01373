# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines when each host of a sweep starts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from .._action_base import ControllerAction
from .._fleet.follow_up import commands
from .._fleet.messages import say
from .._fleet.schedule import END_EARLY, NONE, least_s, read_start_at, start_problem, time_table
from .._fleet.volumes import under_test
from .._history.store.kept import is_kept


class Step(ControllerAction):
    """Runs only on the controller, once for all hosts. A host is started if the results of the roles that are
    registered for it show that it is ready; ``loads`` names the hosts that measure in this round of a search.

    Returns, by host, ``start_epoch_s``, ``end_epoch_s`` and ``give_up_epoch_s``, after which it is no longer polled, in
    seconds since the epoch by the controller's clock, and the ``refusal`` if it cannot start at ``start_at``. Also
    returns the hosts that are ``searching`` for their capacity, and those that are ``keeping`` their directories when
    their tables are collected.
    """

    stage = "sweep"

    argument_spec = {
        "mode": {"type": "str", "choices": ["together", "isolated"], "default": "together"},
        "hosts": {"type": "list", "elements": "str", "required": True},
        "loads": {"type": "dict"},
        "run_path": {"type": "str", "required": True},
        "start_at": {"type": "raw"},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        ready = {name: host for name in options["hosts"] if (host := ready_host(task_vars["hostvars"][name]))}
        hosts = {name: host for name, host in ready.items() if options["loads"] is None or name in options["loads"]}
        now, start_at = time.time(), read_start_at(options["start_at"])
        problem = start_problem(start_at, now, least_s(hosts)) if hosts else ""
        if hosts and not problem:
            if options["loads"] is None:
                say(self._display, under_test({name: host["volumes"] for name, host in hosts.items()}))
            path = options["run_path"]
            say(self._display, commands(path, is_kept(path)), places=[path])
        return {
            "hosts": {
                name: {**times, "refusal": problem}
                for name, times in time_table(options["mode"], now, hosts, start_at).items()
            },
            "searching": [name for name, host in ready.items() if host["searches"]],
            # The directories are needed for the next round of a search, and directories that root created can be
            # removed only by root.
            "keeping": [name for name, host in ready.items() if host["searches"] or host["privileged"]],
        }


def ready_host(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that determine a host's start time, from the results of the roles; empty if its tester cannot
    be started."""
    plan, tester, workspace = (variables.get(name) or {} for name in ("sweep_plan", "tester_ready", "workspace_layout"))
    workspace = workspace or tester.get("workspace") or {}
    if tester.get("failed") or workspace.get("failed") or not workspace.get("volumes"):
        return {}
    return {
        **{key: plan[key] for key in ("planned_s", "format_s", "deadline_s", "pool", "searches")},
        "privileged": bool(workspace.get("privileged")),
        "volumes": workspace["volumes"],
        "called_s": tester["called_s"],
        "ends_early": plan.get(END_EARLY, NONE) != NONE,
    }
