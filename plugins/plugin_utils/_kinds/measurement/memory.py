# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The data that a measurement reads from the history and stores there: certificates and plans."""

from __future__ import annotations

from ..._history.before import note_what_was_known
from ..._history.certificate import Certificate
from ..._history.compare.regression import hold_against_baseline
from ..._history.locks import results_of
from ..._history.planned import planned_by
from ..._history.power_cuts import look_up
from ..._history.store.filing import make_certificate
from ..._history.store.history import Result
from ..._run.directory import RunDirectory
from ..._run.record import HostRecord
from .. import facets


class Memory(facets.Memory):
    """Reads the baselines of a run's hosts, the results of power cuts, and the other facts about their volumes."""

    def look_up(self, directory: RunDirectory) -> str:
        """Note what the history contains about the volumes of a run. Raises OSError."""
        look_up(directory)
        note_what_was_known(directory)
        return hold_against_baseline(directory)

    def certificate_of(self, directory: RunDirectory, folder: str, record: HostRecord) -> Certificate | None:
        """Return the data that describes what was measured, and the criteria."""
        return make_certificate(directory, folder, record)

    def of_run(self, directory: RunDirectory) -> list[Result]:
        """Return the volumes that the run planned to measure, and the results of locks, which only runs of claims have.
        The volumes in the newest plan of a host must be certified."""
        return [*planned_by(directory), *([] if directory.run.get("merged_from") else results_of(directory))]
