# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a volume whose queue manager was observed. A profile judges an observation only if the profile says so,
and the observation never certifies."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..._judge.notes import clock_notes
from ..._records.host import IDENTITY_PREFIXES, blank, judge_record, profile_of, ready, tester_of, unusable, with_notes
from ..._run.findings import INTERRUPTED, PREFLIGHT, SOURCE_MESSAGE, Finding, finding
from ..._run.kinds import OBSERVATION
from ..._run.record import HostRecord
from ..._run.shapes import Facts, Run
from ..._run.table_reader import TablesError
from ..._run.tables import parse_tables
from ..._run.words import words_of

STAGE = "observe"
"""The stage in records that state why a queue manager cannot be observed."""


def observed(
    run: Run,
    host: str,
    volume: str,
    facts: Facts,
    workspace: dict[str, Any],
    files: Mapping[str, bytes],
    seen: Mapping[str, Any],
    today: datetime.date,
) -> HostRecord:
    """Return the record of an observation: its tables as ``files``, and the other observed data as ``seen`` (see
    ``_observe/interval.py``).

    ``facts`` are the facts of the host and of the file system of LogPath, in the same form as in a test, so that its
    certificate can be found. ``workspace`` contains ``path`` (LogPath) and ``queue_managers`` (a single name). If the
    tables cannot be read, the result is the record of an error.
    """
    try:
        tables = parse_tables(dict(files))
    except TablesError as problem:
        return unusable(run, host, volume, STAGE, problem, facts)
    profile = profile_of(run, host)
    identity = {key: value for key, value in tables.run.items() if key.startswith(IDENTITY_PREFIXES) and value}
    record = replace(
        blank(run, host, volume, OBSERVATION.name, {**facts, **identity}),
        workspace=workspace,
        load_unit=tables.run.get("load_unit", ""),
        tester=tester_of(tables),
        kind_data=dict(seen),
    )
    notes = [
        *clock_notes(run, facts),
        *(finding(SOURCE_MESSAGE, None, text=str(problem)) for problem in seen.get("problems") or []),
    ]
    if not OBSERVATION.criteria.limits_of(profile):
        return with_notes(record, [*_ending(seen), *notes], words_of(""))
    judged = {**judge_record(record, tables, profile, today), "certified": False, "qualification": ""}
    return with_notes(replace(record, **judged), notes, words_of(""))


def _ending(seen: Mapping[str, Any]) -> list[Finding]:
    """Return the reason why the observation ended early. If there is a verdict, it also contains this reason."""
    return [finding(INTERRUPTED, None, cause=OBSERVATION.name, text=seen["ending"])] if seen.get("ending") else []


def observable(run: Run, host: str, volume: str, facts: Facts) -> HostRecord:
    """Return the record of a queue manager that could be observed, in a preflight."""
    found = finding(
        PREFLIGHT, None, cause="source", source=facts.get("source"), queue_manager=facts.get("queue_manager")
    )
    return ready(run, host, volume, facts, found)
