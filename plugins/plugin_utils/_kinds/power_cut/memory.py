# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What power cuts store in the history: a result for each volume, which later certifications of the volume take into
account."""

from __future__ import annotations

from ..._history.power_cuts import results_of
from ..._history.store.history import Result
from ..._run.directory import RunDirectory
from .. import facets


class Memory(facets.Memory):
    """Nothing is read from the history, because each run of power cuts is judged by itself."""

    def of_run(self, directory: RunDirectory) -> list[Result]:
        """Return the results of the cuts of each volume."""
        return [*results_of(directory)]
