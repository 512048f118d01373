# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Starts an observation on the host, and determines when to poll it. In a preflight, writes the record of a host that
could be observed."""

from __future__ import annotations

import time
from typing import Any

from ..plugin_utils._action_base import RemoteAction, failure
from ..plugin_utils._fleet.machines import clock_facts
from ..plugin_utils._fleet.progress import RUNNING, host_status
from ..plugin_utils._fleet.schedule import GRACE_S, lease_s
from ..plugin_utils._fleet.watching import observed_of, split
from ..plugin_utils._kinds.observation.record import STAGE, observable
from ..plugin_utils._observe.sources import SOURCES
from ..plugin_utils._records.host import file_error
from ..plugin_utils._run.directory import RunDirectory
from ..plugin_utils._run.shapes import as_dict

OVER_PAUSE_S = 2.0
"""How much additional time an observation may take to begin and to end."""


class ActionModule(RemoteAction):
    """Calls ``observe`` on the host."""

    module_name = "mqops.logdisk.observe"
    stage = STAGE

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        self._directory = RunDirectory.open(arguments.pop("run_path"))
        several = arguments.pop("queue_managers", None) or []
        own = {f"observe_{name}": arguments.get(name) or "" for name in ("queue_manager", "volume", "log_path", "url")}
        self._observed = observed_of({**own, "observe_queue_managers": several})
        command = split(arguments.get("command") or "")
        self._duration_s, interval_s = float(arguments["duration"]), float(arguments["interval"])
        self._lease_s = float(arguments.get("lease") or 0) or lease_s(
            interval_s, self._duration_s, len(self._directory.expected_hosts)
        )
        return {**arguments, "command": command, "lease": self._lease_s}

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Start the observation of each queue manager. A problem with one of them is stored in its record, and does not
        affect the others."""
        answers = {each["volume"]: self._started({**arguments, **each}, task_vars) for each in self._observed}
        failed = {volume: answer for volume, answer in answers.items() if answer.get("failed")}
        for volume, answer in failed.items() if len(answers) > 1 else ():
            key = answer["logdisk"]
            file_error(
                self._directory, task_vars["inventory_hostname"], volume, self.stage, key["reason"], {}, key["verdict"]
            )
        if len(failed) == len(answers):
            return next(iter(failed.values()))
        return {"answers": {volume: answer for volume, answer in answers.items() if volume not in failed}}

    def _started(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        sent_epoch_s = time.time()
        answer = super().call(arguments, task_vars)
        received_epoch_s = time.time()
        if answer.get("failed"):
            return answer
        if answer.get("source") not in SOURCES:
            return failure(self.stage, "error", "the answer of the host does not name a source of this collection")
        facts = {
            **as_dict(answer.get("facts")),
            **clock_facts(answer["time_epoch_s"], received_epoch_s, received_epoch_s - sent_epoch_s),
        }
        facts["promised_user"] = arguments.get("user") or "the connecting user"
        return {**answer, "facts": facts}

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        received_epoch_s, host, arguments = time.time(), task_vars["inventory_hostname"], self._task.args
        answers = answer["answers"]
        first = next(iter(answers.values()))
        observed = {volume: {"source": each["source"], "facts": each["facts"]} for volume, each in answers.items()}
        asked = {key: arguments[key] for key in ("interval", "duration", "calls")}
        known = {
            "changed": True,
            "source": first["source"],
            "facts": first["facts"],
            "observed": observed,
            "lease": self._lease_s,
            "asked": asked,
        }
        if self._task.check_mode:
            records = [
                observable(self._directory.run, host, volume, each["facts"]) for volume, each in observed.items()
            ]
            for record in records:
                self._directory.records.write(record)
            return {**known, "reason": "; ".join(record.reasons[0] for record in records)}
        end_epoch_s = received_epoch_s + self._duration_s + OVER_PAUSE_S
        times = {
            "start_epoch_s": received_epoch_s,
            "end_epoch_s": end_epoch_s,
            "give_up_epoch_s": end_epoch_s + GRACE_S,
        }
        volumes = {volume: {"state": RUNNING, "progress": {}} for volume in observed}
        return {**host_status(host, arguments["run_id"], {**first, "volumes": volumes}), **known, "times": times}
