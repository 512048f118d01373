# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps of runs and commands: one file and one class ``Step`` each. The action plugins ``step`` and ``command``
select them by their names. Only these plugins and other steps import them. They may import everything else."""

from __future__ import annotations

from importlib import import_module
from typing import Any

OF_RUNS = (
    *("plan", "open_run", "machines", "schedule", "wait", "look", "collect", "next_round", "record", "gate"),
    *("cut_plan", "lock_plan", "lock_pairs", "lock_guard", "lock_test", "claim"),
)
"""The steps of runs, in the order in which they happen."""
OF_COMMANDS = (*("check_options", "comparison", "drift", "history", "render", "reopen_run", "status", "verify"),)
"""The steps of commands, which read what earlier runs left on the controller, and the check that comes first."""


def step_named(name: str) -> Any:
    """Return the class of a step."""
    return import_module(f".{name}", __package__).Step
