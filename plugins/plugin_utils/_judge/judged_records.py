# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the records of a run in the form that its verdict uses: judged by their limits when they were stored, and now
also by later results about their volumes."""

from __future__ import annotations

from collections.abc import Iterator

from .._run.directory import RunDirectory
from .._run.findings import OTHER_MOUNT, STANDING, THROTTLED
from .._run.parameters import compares_with_baseline
from .._run.profiles import profile_data
from .._run.record import HostRecord
from .._run.verdicts import INCONCLUSIVE
from .added_verdict import judged_also, judged_with, judged_with_cuts, wanted_cuts
from .early_end import doubt_about_kept_steps
from .notes import doubt_about_mount


def judged_record(directory: RunDirectory, folder: str) -> HostRecord:
    """Return the record in a folder, judged by its limits, by whether its steps ended early on a throttled volume and,
    if the run and the profile require it, by its comparison with the baseline and by power cuts.

    The records of a merged run were judged by the original runs.
    """
    record = directory.records.read(folder)
    record = (
        judged_with(record, directory.comparisons.read(folder)) if compares_with_baseline(directory.run) else record
    )
    if directory.run.get("merged_from") or not directory.is_test:
        return record
    record = (
        judged_also(record, {"verdict": INCONCLUSIVE, "reason": record.standing}, STANDING)
        if record.standing
        else record
    )
    doubt = doubt_about_kept_steps(record)
    record = judged_also(record, doubt, THROTTLED) if doubt else record
    other = doubt_about_mount(record)
    record = judged_also(record, other, OTHER_MOUNT) if other else record
    return judged_with_cuts(
        record, directory.power_cuts.read(folder), wanted_cuts(profile_data(directory.run, record.host))
    )


def judged_records(directory: RunDirectory) -> Iterator[HostRecord]:
    """Yield every judged record of a run, one at a time, because the records of a fleet can be large."""
    for folder in directory.records.folders():
        yield judged_record(directory, folder)
