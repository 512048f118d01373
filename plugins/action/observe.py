# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Starts an observation on the host, and says when it is to be polled. A preflight writes the record of a host that could be observed."""

from __future__ import annotations

import time
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import RemoteAction, as_dict, failure
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.clock import clock_facts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import GRACE_S, lease_s
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.status import RUNNING, host_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.watching import split
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.observation import STAGE, ready
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory, RunDirectoryError

OVER_PAUSE_S = 2.0
"""How long an observation may take to begin and to end."""
SOURCES = ("prometheus", "amqsrua", "bpftrace")


class ActionModule(RemoteAction):
    """Calls ``observe`` on the host."""

    module_name = "mqops.logdisk.observe"
    stage = STAGE

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        try:
            self._directory = RunDirectory.open(arguments.pop("run_path"))
        except RunDirectoryError as error:
            raise AnsibleActionFail(str(error)) from error
        command = split(arguments.get("command") or "")
        self._duration_s, interval_s = float(arguments["duration"]), float(arguments["interval"])
        self._lease_s = float(arguments.get("lease") or 0) or lease_s(interval_s, self._duration_s, len(self._directory.expected_hosts))
        self._sent_epoch_s = time.time()
        return {**arguments, "command": command, "lease": self._lease_s}

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        received_epoch_s, host, arguments = time.time(), task_vars["inventory_hostname"], self._task.args
        source = answer.get("source")
        if source not in SOURCES:
            return failure(self.stage, "error", "the answer of the host names no source of this collection")
        facts = {**as_dict(answer.get("facts")), **clock_facts(answer["time_epoch_s"], received_epoch_s, received_epoch_s - self._sent_epoch_s)}
        facts["promised_user"] = arguments.get("user") or "the connecting user"
        asked = {key: arguments[key] for key in ("interval", "duration", "calls")}
        known = {"changed": True, "source": source, "facts": facts, "lease": self._lease_s, "asked": asked}
        if self._task.check_mode:
            record = ready(self._directory.run, host, arguments["volume"], facts)
            self._directory.write_record(record)
            return {**known, "reason": record.reasons[0]}
        end_epoch_s = received_epoch_s + self._duration_s + OVER_PAUSE_S
        times = {"start_epoch_s": received_epoch_s, "end_epoch_s": end_epoch_s, "give_up_epoch_s": end_epoch_s + GRACE_S}
        volumes = {arguments["volume"]: {"state": RUNNING, "progress": {}}}
        return {**host_status(host, arguments["run_id"], {**answer, "volumes": volumes}), **known, "times": times}
