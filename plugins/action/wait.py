# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waits on the controller until it is time to look at the hosts again; shows how far the fleet is."""

from __future__ import annotations

import time
from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import show
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import GRACE_S, MAX_POLLS, is_pending, next_poll_s


class ActionModule(ActionBase):
    """Runs on the controller alone, once for all hosts: no fork is held while hosts measure."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        dummy, options = self.validate_argument_spec(
            argument_spec={
                "hosts": {"type": "list", "elements": "str", "required": True},
                "run_id": {"type": "str", "required": True},
                "starts": {"type": "dict", "required": True},
                "interval_s": {"type": "float", "default": 30},
                "previous": {"type": "dict", "default": {}},
            }
        )
        hosts = self._started(options, (task_vars or {})["hostvars"])
        polls = int(options["previous"].get("polls", 0)) if options["previous"].get("starts") == options["starts"] else 0
        now = time.time()
        pending = [name for name, host in hosts.items() if is_pending(host["status"], host["give_up_epoch_s"], now)]
        if pending:
            end_epoch_s, give_up_epoch_s = (max(hosts[name][key] for name in pending) for key in ("end_epoch_s", "give_up_epoch_s"))
            sleep_s = next_poll_s(now, end_epoch_s, give_up_epoch_s, options["interval_s"], MAX_POLLS - polls)
            show(self._display, {name: host["status"] for name, host in hosts.items()}, sleep_s, end_epoch_s)
        return {**result, "changed": False, "pending": bool(pending), "pending_hosts": pending, "polls": polls + bool(pending), "starts": options["starts"]}

    def _started(self, options: dict[str, Any], hostvars: Any) -> dict[str, dict[str, Any]]:
        """Return the hosts of this run that were started: their status, when they are done and when they are given up."""
        hosts = {}
        for name in options["hosts"]:
            variables = hostvars[name]
            started = variables.get("sweep_started") or {}
            if started.get("failed") or "pid" not in started or name not in options["starts"]:
                continue
            ready, start = variables["sweep_ready"], float(options["starts"][name])
            status = variables.get("sweep_status") or {}
            hosts[name] = {
                "status": status if status.get("run_id") == options["run_id"] else {},
                "end_epoch_s": start + ready["planned_s"],
                "give_up_epoch_s": start + ready["deadline_s"] + GRACE_S,
            }
        return hosts
