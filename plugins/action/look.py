# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Looks at a host while it measures: polls it, and once it has ended collects its tables and cleans up. One task, because each task prints a line per host."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import ENDED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.status import COLLECTED


class ActionModule(ActionBase):
    """Calls the actions ``status``, ``collect`` and ``cleanup``, each only after the one before."""

    stage = "sweep"

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        options = {"give_up": False, "clean_up": [], **self._task.args}
        known, where = options["known"], {key: options[key] for key in ("run_id", "state_dir")}
        if COLLECTED in known:
            return {**known, "changed": False}
        volumes = list(known["volumes"])
        status = self._call("status", {**where, "volumes": volumes, "known": known}, task_vars)
        if status["state"] not in ENDED and not options["give_up"]:
            return status
        where["run_path"] = options["run_path"]
        result = {**status, **self._call("collect", {**where, "volumes": volumes}, task_vars)}
        if not result.get("failed") and options["clean_up"]:
            cleaned = self._call("cleanup", {**where, "volumes": options["clean_up"], "keep_state_of": result["kept"]}, task_vars)
            result.update(changed=cleaned["changed"], cleaned_up=True)
        return result

    def _call(self, name: str, arguments: dict[str, Any], task_vars: dict[str, Any] | None) -> dict[str, Any]:
        """Return the result of another action of this collection, in the place of this one."""
        task = self._task.copy()
        task.args = arguments
        action = self._shared_loader_obj.action_loader.get(
            f"mqops.logdisk.{name}",
            task=task,
            connection=self._connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=self._shared_loader_obj,
        )
        return action.run(task_vars=task_vars)
