# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calls a function, such as a command of the user, while a step continues."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class CommandResult:
    """How a command of the user ended: its exit status (None if it has none), the end of its output, why it has no
    status, and how long it took."""

    status: int | None
    output: str
    problem: str
    seconds: float


class Background:
    """Calls a function in a thread. ``result`` is None until it has returned."""

    def __init__(self, function: Callable[[], CommandResult]) -> None:
        self.result: CommandResult | None = None
        self._function = function
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        self.result = self._function()
