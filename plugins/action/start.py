# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Records the orders, and starts the testers on the host at the common start time, converted to the host's clock."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any

from ansible.errors import AnsibleActionFail

from ..plugin_utils._action_base import RemoteAction, failure, of_volumes
from ..plugin_utils._fleet.order import make_order, names
from ..plugin_utils._fleet.plan import TOGETHER
from ..plugin_utils._fleet.progress import host_status
from ..plugin_utils._fleet.schedule import DECIDED, END_EARLY, NONE, runs_alone
from ..plugin_utils._fleet.volumes import sharing_facts
from ..plugin_utils._judge.capacity import LOAD_SEARCH
from ..plugin_utils._judge.early_end import counted_for, fails_above, passes_after, stops_above
from ..plugin_utils._records.host import WORKSPACE_KEYS, file_error, profile_of, workload_facts
from ..plugin_utils._run.directory import RunDirectory
from ..plugin_utils._run.record import DISK_SHARED_WITH
from ..plugin_utils._run.run_files import RunDirectoryError
from ..plugin_utils._run.tester_options import command_line, with_load
from .workspace import ActionModule as Workspace


class ActionModule(RemoteAction):
    """Calls ``start`` on the host.

    ``plan``, ``tester`` and ``workspace`` are the results of the earlier roles. The volumes in the workspace are
    started, unless there is a ``refusal``.
    """

    module_name = "mqops.logdisk.start"
    stage = "sweep"

    def as_single_values(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Take the times of the host as ``times``, and the round of the search as ``search_round``."""
        times, number = arguments.pop("times"), arguments.pop("search_round")
        host, plan = task_vars["inventory_hostname"], arguments["plan"]
        return {
            **arguments,
            "state_dir": plan["state_dir"],
            "round": number.get("number", 1),
            "loads": (number.get("loads") or {}).get(host) or {},
            "start_at_epoch_s": times["start_epoch_s"],
            "refusal": times["refusal"],
            "user": arguments["tester"]["facts"]["user"],
            "nice": plan["options"]["sweep_nice"],
            "ionice": plan["options"]["sweep_ionice"],
        }

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        refusal = arguments.pop("refusal", "")
        if refusal:
            raise AnsibleActionFail(
                f"the tester was not started, because the hosts of this job were not ready in time: {refusal}"
            )
        plan, self._tester, workspace = (arguments.pop(name) for name in ("plan", "tester", "workspace"))
        loads = arguments.pop("loads", None) or {}
        self._round = arguments["round"] = int(arguments.get("round") or 1)
        start_at, run_path = float(arguments.pop("start_at_epoch_s", 0) or 0), arguments.pop("run_path")
        self._run_id, self._host = arguments["run_id"], task_vars["inventory_hostname"]
        plans = {volume["name"]: volume for volume in plan["volumes"]}
        shared = sharing_facts(workspace["volumes"]) if plan["sweep_volumes"] == TOGETHER else {}
        started = [volume for volume in workspace["volumes"] if not loads or volume["name"] in loads]
        try:
            self._directory = RunDirectory.open(run_path)
            self._facts = {
                layout["name"]: facts_of(
                    self._tester,
                    layout,
                    {**shared.get(layout["name"], {}), **workload_facts(plans[layout["name"]])},
                )
                for layout in started
            }
            profile = profile_of(self._directory.run, self._host)
            alone = runs_alone(plan, self._directory.expected_hosts)
            more = {**counted_for(profile), **({"shareDevice": True} if workspace.get("share_device") else {})}
            plans = {name: for_round(plans[name], self._round, loads.get(name)) for name in self._facts}
            limits_of = {NONE: stops_above, DECIDED: passes_after}.get(plan.get(END_EARLY, NONE), fails_above)
            stops = {name: limits_of(profile, self._host, volume) if alone else {} for name, volume in plans.items()}
            volumes = [
                self._ordered(layout, plans[layout["name"]], {**more, **stops[layout["name"]]}, start_at)
                for layout in started
            ]
        except RunDirectoryError as error:
            raise AnsibleActionFail(
                f"the tester was not started, because its order cannot be recorded: {error}"
            ) from error
        return {
            **arguments,
            "tester": self._tester["path"],
            "volumes": volumes,
            "workspace": for_volumes(workspace.get("asked") if self._round == 1 else None, self._facts),
        }

    def _ordered(
        self, layout: dict[str, Any], plan: dict[str, Any], more: dict[str, Any], start_at_epoch_s: float
    ) -> dict[str, Any]:
        """Record the order on the controller, to be compared when the tables are collected. Return what the module is
        to start, with the host's copy of the order. Raises RunDirectoryError.

        The counts that the host's profile needs from the tester are added to the order here, because the profiles are
        only in the run directory.
        """
        facts, search = self._facts[layout["name"]], plan.get("search")
        if search:
            facts[LOAD_SEARCH] = search["climb"]
        offset_s, error_s = (float(self._tester["facts"][key]) for key in ("clock_offset_s", "clock_offset_error_s"))
        # An offset within its measurement error is not corrected, because the host's clock is probably synchronized.
        correction_s = offset_s if abs(offset_s) > error_s else 0.0
        now = time.time()
        start_at = start_at_epoch_s and start_at_epoch_s + plan["start_offset_s"]
        left_s = max(0.0, start_at - now) + plan["deadline_s"]
        told = {
            **plan["tester_options"],
            "deadline": int(left_s),
            **({"startAt": f"{start_at + correction_s:.3f}"} if start_at else {}),
            **more,
        }
        order = make_order(
            self._run_id,
            self._host,
            layout["name"],
            facts,
            self._tester["source_hash"],
            told,
            layout["directories"],
            now + offset_s,
            now + correction_s + left_s,
            search,
            mount_of(layout, facts),
        )
        if not self._task.check_mode:
            if search and search["round"] > 1:
                self._directory.records.withdraw(self._host, layout["name"])
            workspace = {key: layout.get(key) for key in WORKSPACE_KEYS}
            self._directory.orders.write({**order, "facts": facts, "workspace": workspace})
        started = {key: layout[key] for key in ("name", "paths", "run_directories", "made_paths")}
        # In a round of a search, there may be more directories than queue managers that write.
        directories = layout["given"][: len(order["directories"])]
        return {
            **started,
            "directories": directories,
            "keep_directories": bool(search),
            "arguments": command_line(told),
            "deadline_epoch_s": now + correction_s + left_s,
            "order": names(order),
        }

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        answers, directory = of_volumes(answer, self._facts), self._directory
        errors = {name: each for name, each in answers.items() if each["error"]}
        for name, each in errors.items():
            reason = directory.kind.in_its_terms(each["error"])
            file_error(directory, self._host, name, stage_of(each), reason, self._facts[name])
        started = {name: {"state": "running"} for name in answers if name not in errors}
        if not started:
            first = next(iter(errors.values()))
            return failure(
                stage_of(first), "error", "; ".join(dict.fromkeys(each["error"] for each in errors.values()))
            )
        return {**host_status(self._host, self._run_id, {**answer, "volumes": started}), "changed": True}


def stage_of(answer: Mapping[str, Any]) -> str:
    """Return the stage at which starting a volume failed on a host."""
    return Workspace.stage if answer.get("stage") == Workspace.stage else ActionModule.stage


def for_volumes(asked: Mapping[str, Any] | None, names: Collection[str]) -> dict[str, Any]:
    """Return the options with which the module creates the workspaces of these volumes; empty if they exist."""
    return {**asked, "volumes": [each for each in asked["volumes"] if each["name"] in names]} if asked else {}


def facts_of(tester: Mapping[str, Any], layout: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts for the order of a volume: those about its host, its file system, and its ``own``."""
    told = {**tester["facts"], **layout["facts"]}
    return {**{key: value for key, value in told.items() if key != DISK_SHARED_WITH}, **own}


def mount_of(layout: Mapping[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts about the file system of the tester's first directory. They are unknown if this is a device or
    on another path than the volume's first, which the facts describe."""
    first = "".join(layout["run_directories"][:1])
    return facts if first and layout["directories"][0].startswith(f"{first}/") else {}


def for_round(plan: dict[str, Any], number: int, load: int | None) -> dict[str, Any]:
    """Return the plan of a volume for a round of its search: from the second round on, the plan has a different load
    point. Without a search, there is only one round."""
    if not plan.get("search"):
        return plan
    options = plan["tester_options"] if load is None else with_load(plan["tester_options"], load)
    return {**plan, "tester_options": options, "search": {**plan["search"], "round": number}}
