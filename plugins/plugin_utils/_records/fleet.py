# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Judges a run from its files: the records of its hosts, including those that never reported, and verdict.json."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from .._english.findings import fleet_with_sentences, in_words
from .._judge.fleet import judge_fleet, lacks_verdict
from .._judge.judged_records import judged_records
from .._run.directory import RunDirectory
from .._run.findings import NO_VERDICT, finding
from .._run.kinds import CHECK_MODE, kind_of
from .._run.record import HostRecord
from .._run.shapes import Run
from .._run.verdicts import ERROR
from .._run.words import words_of
from .host import NEVER_REPORTED, UNCLAIMED, missing

GATE = "gate"
REPORT = "report"
"""Who requests a verdict: the gate, or the report of a run that did not reach its gate."""


def judge_run(directory: RunDirectory, asked_by: str, earlier: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Judge the fleet, and write and return the verdict. For the gate, also stores the records of missing hosts. If the
    verdict is the same as an earlier one, it keeps the date of that one. Raises OSError."""
    if asked_by == GATE:
        for record in missing_hosts(directory):
            directory.records.write(record)
    verdict = {
        **fleet_verdict(directory.run, itertools.chain(judged_records(directory), missing_hosts(directory))),
        "asked_by": asked_by,
    }
    if earlier and json.loads(json.dumps({**verdict, "created_at": earlier["created_at"]})) == earlier:
        verdict["created_at"] = earlier["created_at"]
    directory.write_verdict(verdict)
    return verdict


def fleet_verdict(run: Run, records: Iterable[HostRecord]) -> dict[str, Any]:
    """Judge a fleet and return the content of verdict.json. Records are iterated only once. Raises PolicyError if the
    run's policy names an unknown verdict."""
    check_mode = kind_of(run) is CHECK_MODE
    return fleet_with_sentences(judge_fleet(run, (with_verdict(record, check_mode) for record in records)))


def with_verdict(record: HostRecord, check_mode: bool) -> HostRecord:
    """Return the record or, if it needs a verdict but has none, an error record instead."""
    if not lacks_verdict(record, check_mode):
        return record
    why = finding(NO_VERDICT, ERROR)
    return replace(
        record, verdict=ERROR, findings=[why, *record.findings], reasons=[in_words(why, words_of("")), *record.reasons]
    )


def missing_hosts(directory: RunDirectory) -> list[HostRecord]:
    """Return records for the expected volumes of hosts that have no stored record."""
    unclaimed = set(directory.run.get("unclaimed_hosts") or [])
    return [
        missing(directory.run, host, volume, UNCLAIMED if host in unclaimed else NEVER_REPORTED)
        for host, volume in directory.missing()
    ]
