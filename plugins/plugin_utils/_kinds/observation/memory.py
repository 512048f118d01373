# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an observation reads from the history and stores there: certificates with which the observed figures are
compared, and how they compare."""

from __future__ import annotations

from ..._history.live import hold_against_certificates
from ..._history.observations import ObservedResult, results_of
from ..._history.store.history import History
from ..._run.directory import RunDirectory
from .. import memory
from ..memory import Remembered


class Results(Remembered):
    """The result of each queue manager, which the status of the fleet shows."""

    def __init__(self, results: list[ObservedResult]) -> None:
        self._results = results
        self.count = len(results)

    def store_in(self, history: History) -> int:
        """Store the results. Raises HistoryError."""
        return history.store_observations(self._results)


class Memory(memory.Memory):
    """The results that an observation stores affect no certificate and no state."""

    def look_up(self, directory: RunDirectory) -> str:
        """Store in each record how the observed figures compare with the certificate of its volume. Raises OSError."""
        hold_against_certificates(directory)
        return ""

    def of_run(self, directory: RunDirectory) -> Remembered:
        """Return the result of each queue manager."""
        return Results(results_of(directory))
