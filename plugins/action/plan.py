# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Works out what the sweep will do on a host. Nothing is sent to the host."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import ControllerAction
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.target import Target, read_target
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.plan import make_plan
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.foresight import foresee, foresee_without_target
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_values import ProfileError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tester_options import OptionError


class ActionModule(ControllerAction):
    """Runs on the controller alone."""

    argument_spec = {
        "variables": {"type": "dict", "required": True},
        "target": {"type": "raw"},
        "queue_managers": {"type": "int", "required": True},
        "options": {"type": "dict", "default": {}},
        "run_wide": {"type": "dict", "default": {}},
        "profile": {"type": "raw", "required": True},
        "profile_dir": {"type": "str", "required": True},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        try:
            profile = load_profile(options["profile"], options["profile_dir"])
            plan = make_plan(options["variables"], options["queue_managers"], options["options"], profile.min_duration_s)
            target = self._target(options["target"])
        except (OptionError, ProfileError) as error:
            raise AnsibleActionFail(str(error)) from error
        notes = [*foresee(profile, plan), *([] if target else foresee_without_target(profile))]
        return {**plan, **options["run_wide"], "sweep_target": options["target"], "notes": notes}

    @staticmethod
    def _target(value: Any) -> Target | None:
        try:
            return read_target(value)
        except ValueError as error:
            raise OptionError(f"sweep_target {error}") from None
