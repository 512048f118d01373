# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Cleans up a run on the host. Records, for each volume, what could not be removed and how long the volume was
throttled."""

from __future__ import annotations

from typing import Any

from ..plugin_utils._action_base import RemoteAction, one_line
from ..plugin_utils._fleet.volumes import paths_of, read_volumes
from ..plugin_utils._judge.throttling import limit_notes, volume_limits
from ..plugin_utils._records.host import note
from ..plugin_utils._run.directory import RunDirectory
from ..plugin_utils._run.shapes import as_dict


class ActionModule(RemoteAction):
    """Calls ``cleanup`` on the host. It never fails, because the gate judges what is left behind."""

    module_name = "mqops.logdisk.cleanup"
    stage = "cleanup"

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Use the volumes in the task's arguments. With ``defaults``, use the volumes in the run directory instead or,
        if there are none, those in the variables."""
        defaults, run_path, only, keep = (
            arguments.pop(name, None) for name in ("defaults", "run_path", "only", "keep_state_of")
        )
        volumes = (
            self._planned(defaults, run_path, task_vars["inventory_hostname"]) if defaults else arguments["volumes"]
        )
        self._volumes = [volume for volume in volumes if not only or volume["name"] in only]
        sent = [
            {
                "name": volume["name"],
                "paths": volume["paths"],
                "keep_state": volume["name"] in (keep or []),
                "volume_counters": bool(volume.get("volume_counters")),
            }
            for volume in self._volumes
        ]
        is_named = bool(defaults) and not run_path
        return {**arguments, "volumes": sent, "all_volumes": is_named, "other_machines": is_named}

    def _planned(self, defaults: dict[str, Any], run_path: str | None, host: str) -> list[dict[str, Any]]:
        noted = RunDirectory.open(run_path).volumes.read(host) if run_path else None
        if noted:
            return [{"paths": [volume.get("path", defaults["path"])], **volume} for volume in noted]
        return [
            {**volume, "paths": paths_of(volume)} for volume in read_volumes(self._task.args.get("volumes"), defaults)
        ]

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        answer = super().call(arguments, task_vars)
        if answer.get("failed"):
            left = [f"could not clean up: {answer['logdisk']['reason']}"]
            answer = {
                "changed": False,
                "removed": [],
                "left": left,
                "volumes": {volume["name"]: {"left": left} for volume in self._volumes},
            }
        answer["warnings"] = [one_line(str(item)) for item in answer.get("warnings") or []]
        left = [one_line(str(item)) for item in answer.get("left") or []]
        if left:
            self._display.warning(f"{task_vars['inventory_hostname']}: left behind: {'; '.join(left)}")
        answer["said"] = [] if self._task.args.get("run_path") else said(answer, bool(self._task.check_mode))
        if self._task.args.get("run_path"):
            self._note(
                RunDirectory.open(self._task.args["run_path"]),
                task_vars["inventory_hostname"],
                as_dict(answer.get("volumes")),
            )
        return answer

    def _note(self, directory: RunDirectory, host: str, answers: dict[str, Any]) -> None:
        """Add to the record of each volume what could not be removed, and how long the volume was throttled."""
        for volume in self._volumes:
            answer = as_dict(answers.get(volume["name"]))
            left = [one_line(str(item)) for item in answer.get("left") or []]
            limits = volume_limits(volume.get("volume_counters"), answer.get("volume_counters"))
            if left:
                directory.records.note_leftovers(host, volume["name"], left)
            if limits:
                note(directory, host, volume["name"], limit_notes(limits), limits)


def said(answer: dict[str, Any], check: bool) -> list[str]:
    """Return one line for each directory, which says whether it was removed, kept or left behind. The data from the
    host is untrusted."""
    words = {"removed": "would remove" if check else "removed", "kept": "kept", "left": "left behind"}
    found = {key: answer[key] if isinstance(answer.get(key), list) else [] for key in words}
    return [f"{words[key]} {one_line(str(item))}" for key in words for item in found[key]]
