# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a test of locks stores in the history: a result for each pair of hosts, which the status of the fleet shows."""

from __future__ import annotations

from ..._history.lock_result import LockResult
from ..._history.locks import results_of
from ..._history.store.history import History
from ..._run.directory import RunDirectory
from .. import memory
from ..memory import Remembered


class Results(Remembered):
    """The result of each pair."""

    def __init__(self, results: list[LockResult]) -> None:
        self._results = results
        self.count = len(results)

    def store_in(self, history: History) -> int:
        """Store the results in the history. Raises HistoryError."""
        return history.store_locks(self._results)


class Memory(memory.Memory):
    """Reads nothing from the history, because each test of locks is judged by itself."""

    def of_run(self, directory: RunDirectory) -> Remembered:
        """Return the result of each pair."""
        return Results(results_of(directory))
