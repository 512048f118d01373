# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Does one of the steps of a command that reads what earlier runs left on the controller."""

from __future__ import annotations

from ..plugin_utils._action_base import StepAction
from ..plugin_utils._steps import OF_COMMANDS


class ActionModule(StepAction):
    """Runs once for all hosts. Each step is imported only when it is done, because a command does one or two."""

    names = OF_COMMANDS
