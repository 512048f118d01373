# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The data that a measurement reads from the history and stores there: certificates and plans."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ..._history.before import note_what_was_known
from ..._history.certificate import Certificate, Entry
from ..._history.compare.against_baseline import hold_against_baseline
from ..._history.planned import planned_by
from ..._history.power_cuts import look_up
from ..._history.result import Result
from ..._history.store.filing import make_certificate
from ..._judge.effect import ATTEMPT, CERTIFIES
from ..._run.directory import RunDirectory
from ..._run.kinds import kind_named
from ..._run.record import HostRecord
from .. import facets


class Memory(facets.Memory):
    """Reads the baselines of a run's hosts, the results of power cuts, and the other facts about their volumes."""

    is_pruned = True

    def look_up(self, directory: RunDirectory) -> str:
        """Note what the history contains about the volumes of a run. Raises OSError."""
        look_up(directory)
        note_what_was_known(directory)
        return hold_against_baseline(directory)

    def certificate_of(self, directory: RunDirectory, folder: str, record: HostRecord) -> Certificate | None:
        """Return the data that describes what was measured, and the criteria."""
        return make_certificate(directory, folder, record)

    def of_run(self, directory: RunDirectory) -> list[Result]:
        """Return the volumes that the run planned to measure, and the results of records of other kinds, which only
        runs of claims have. The volumes in the newest plan of a host must be certified."""
        if directory.run.get("merged_from"):
            return []
        records = (directory.records.read(folder) for folder in directory.records.folders())
        others = sorted({record.kind for record in records} - {directory.kind.name})
        return [
            *planned_by(directory),
            *(each for name in others for each in kind_named(name).memory.of_run(directory)),
        ]

    def passes(self, result: Result) -> bool:
        """Return whether a result certifies, and nothing in it counts against its volume."""
        entry = cast(Entry, result)
        return entry.effect == CERTIFIES and not entry.volume_facts

    def void(self, result: Result) -> Result:
        """Return a misdated certificate as an attempt. Its verdict is kept, because a status shows it."""
        is_certificate = cast(Entry, result).effect == CERTIFIES
        return replace(result, data={**result.data, "effect": ATTEMPT}) if is_certificate else result
