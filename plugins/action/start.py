# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Records what is ordered, and starts the tester on the host, at the common instant in the host's own clock."""

from __future__ import annotations

import time
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import RemoteAction
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.order import make_order, names
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.status import host_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.host import profile_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile import Profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory, RunDirectoryError


class ActionModule(RemoteAction):
    """Calls ``start`` on the host."""

    module_name = "mqops.logdisk.start"
    stage = "sweep"

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        start_at = float(arguments.pop("start_at_epoch_s", 0) or 0)
        offset_s = float(arguments.pop("clock_offset_s", 0) or 0)
        error_s = float(arguments.pop("clock_offset_error_s", 0) or 0)
        deadline_s = float(arguments.pop("deadline_s"))
        # An offset within the error of its measurement is not corrected: the host's own clock is probably synchronized.
        correction_s = offset_s if abs(offset_s) > error_s else 0.0
        now = time.time()
        lead_s = max(0.0, start_at - now)
        tester = [f"--deadline={int(deadline_s + lead_s)}"]
        if start_at:
            tester.append(f"--startAt={start_at + correction_s:.3f}")
        started = {**arguments, "arguments": [*arguments.get("arguments", []), *tester], "deadline_epoch_s": now + correction_s + lead_s + deadline_s}
        try:
            return self._ordered(started, task_vars["inventory_hostname"], now + offset_s)
        except RunDirectoryError as error:
            raise AnsibleActionFail(f"the tester was not started, because its order cannot be recorded: {error}") from error

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        started = {**answer, "state": "running", "progress": {}}
        return {**host_status(task_vars["inventory_hostname"], self._task.args["run_id"], started), "changed": True}

    def _ordered(self, arguments: dict[str, Any], host: str, ordered_epoch_s: float) -> dict[str, Any]:
        """Record the order on the controller for the collection, and return the arguments with the host's copy of it.

        What the tester counts for the host's profile is ordered here, because profiles are in the run directory.
        """
        directory = RunDirectory.open(arguments.pop("run_path"))
        source_hash, notes = arguments.pop("source_hash"), arguments.pop("notes", None) or {}
        arguments["arguments"] += counted_for(profile_of(directory.run, host))
        order = make_order(
            arguments["run_id"],
            host,
            arguments["volume"],
            notes.get("facts") or {},
            source_hash,
            arguments["arguments"],
            arguments["directories"],
            ordered_epoch_s,
            arguments["deadline_epoch_s"],
        )
        if not self._task.check_mode:
            directory.write_order({**order, **notes})
        return {**arguments, "order": names(order)}


def counted_for(profile: Profile) -> list[str]:
    """Return the tester's argument for what a profile has to know of each second, nothing if it needs nothing."""
    thresholds = ",".join(f"{threshold}ns" for threshold in profile.thresholds_ns)
    return [f"--over={thresholds}"] if thresholds else []
