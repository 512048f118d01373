# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Does one of the steps of a command that reads what earlier runs left on the controller."""

from __future__ import annotations

from typing import Any

from ..plugin_utils._action_base import StepAction
from ..plugin_utils._steps import OF_COMMANDS, check_options

OF_ALL = (check_options,)
"""The steps that Ansible imports here before it forks. Every playbook needs them, and most of what they import is
needed again. Of the other steps, a command does at most one."""


class ActionModule(StepAction):
    """Does a step once for all hosts."""

    names = telling = OF_COMMANDS

    def arguments(self, step: Any, given: dict[str, Any]) -> dict[str, Any]:
        """Take the variables of the command as ``asked``. Each becomes the argument without its prefix
        (``compare_before`` is ``before``). The other arguments are the same for all commands, and each step takes those
        that it needs."""
        if "asked" not in given:
            return given
        common = {name: value for name, value in given.items() if name in step.argument_spec}
        return {**common, **{name.partition("_")[2]: value for name, value in given["asked"].items()}}
