# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Works out what the sweep will do on the volumes of a host. Nothing is sent to the host."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import ControllerAction
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.target import Target, read_target
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.plan import ORDERS, TOGETHER, plan_host
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.volumes import read_volumes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.foresight import foresee, foresee_without_target
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_values import ProfileError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tester_options import OptionError


class ActionModule(ControllerAction):
    """Runs on the controller alone."""

    argument_spec = {
        "variables": {"type": "dict", "required": True},
        "target": {"type": "raw"},
        "volumes": {"type": "raw"},
        "defaults": {"type": "dict", "required": True},
        "order": {"type": "str", "choices": list(ORDERS), "default": TOGETHER},
        "options": {"type": "dict", "default": {}},
        "run_wide": {"type": "dict", "default": {}},
        "profile": {"type": "raw", "required": True},
        "profile_dir": {"type": "str", "required": True},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        try:
            profile = load_profile(options["profile"], options["profile_dir"])
            volumes = read_volumes(options["volumes"], options["defaults"])
            plan = plan_host(volumes, options["variables"], options["options"], profile.min_duration_s, options["order"])
            target = self._target(options["target"])
        except (OptionError, ProfileError) as error:
            raise AnsibleActionFail(str(error)) from error
        notes = {volume["name"]: [*foresee(profile, volume), *([] if target else foresee_without_target(profile))] for volume in plan["volumes"]}
        volumes = [{**volume, "notes": notes[volume["name"]]} for volume in plan["volumes"]]
        return {**plan, **options["run_wide"], "sweep_target": options["target"], "volumes": volumes, "notes": notes_of_host(notes)}

    @staticmethod
    def _target(value: Any) -> Target | None:
        try:
            return read_target(value)
        except ValueError as error:
            raise OptionError(f"sweep_target {error}") from None


def notes_of_host(notes: dict[str, list[str]]) -> list[str]:
    """Return the notes on all volumes, each once; one that does not concern all of them names its volumes."""
    found: dict[str, list[str]] = {}
    for volume, said in notes.items():
        for note in said:
            found.setdefault(note, []).append(volume)
    return [note if len(volumes) == len(notes) else f"{', '.join(volumes)}: {note}" for note, volumes in found.items()]
