# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Does one of the steps of a run."""

from __future__ import annotations

from ..plugin_utils._action_base import StepAction
from ..plugin_utils._run.kinds import KINDS
from ..plugin_utils._run.settings import catalogue
from ..plugin_utils._steps import (
    OF_RUNS,
    collect,
    gate,
    look,
    machines,
    next_round,
    open_run,
    plan,
    record,
    schedule,
    wait,
)

OF_MEASUREMENTS = (collect, gate, look, machines, next_round, open_run, plan, record, schedule, wait)
"""The steps that Ansible imports here before it forks. Otherwise, each process would import them again."""
JUDGING = [(kind.criteria, kind.english) for kind in KINDS.values()]
"""What the kinds of runs add to profiles and to sentences, imported here for the same reason."""
SETTINGS = catalogue()
"""The settings to check, read here for the same reason."""


class ActionModule(StepAction):
    """Does a step for one host, or once for all hosts."""

    names = OF_RUNS
    telling = ("open_run", "gate")
