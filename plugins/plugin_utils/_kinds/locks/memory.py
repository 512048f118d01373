# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a test of locks stores in the history: a result for each pair of hosts, which the status of the fleet shows."""

from __future__ import annotations

from ..._history.locks import results_of
from ..._history.store.history import Result
from ..._run.directory import RunDirectory
from .. import facets


class Memory(facets.Memory):
    """Reads nothing from the history, because each test of locks is judged by itself."""

    def of_run(self, directory: RunDirectory) -> list[Result]:
        """Return the result of each pair."""
        return [*results_of(directory)]
