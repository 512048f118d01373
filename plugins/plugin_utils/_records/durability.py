# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a volume whose power was cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._durability.cut import CHECK_KEPT, CHECK_LOST
from .._english.findings import NOTHING_MEASURED, in_words
from .._judge.durability import chance_bound, claim_of, findings_of, losses_of, torn_notes
from .._judge.notes import flush_notes
from .._kinds import CHECK_MODE
from .._run.findings import PREFLIGHT, finding
from .._run.record import HostRecord
from .._run.table_reader import TablesError
from .._run.tables import parse_run
from .._run.verdicts import PASS, worst
from .._run.words import words_of
from .host import IDENTITY_PREFIXES, blank, with_notes

DURABILITY = "durability"
"""The kind of these records."""


def cut_record(
    run: Mapping[str, Any],
    host: str,
    volume: str,
    facts: dict[str, Any],
    workspace: dict[str, Any],
    files: Mapping[str, bytes],
    durability: Mapping[str, Any],
) -> HostRecord:
    """Return the record of the cuts of a volume so far.

    ``durability`` contains ``cut_count`` (how many cuts were requested), ``cuts`` (each as ``Cut.as_dict()``) and
    ``tests`` (what the cut command tests). ``files`` are the tables of all cuts: durability_<number>.csv and
    run_<number>.csv. ``facts`` are the facts of the host and of the file system, in the same form as in a test;
    ``workspace`` has ``path`` and ``queue_managers``.
    """
    cuts = [dict(cut) for cut in durability.get("cuts") or []]
    asked = int(durability.get("cut_count") or 1)
    found = findings_of(cuts, asked)
    verdict = worst(each["verdict"] for each in found)
    checked = _newest_run(cuts, files)
    identity = {key: value for key, value in checked.items() if key.startswith(IDENTITY_PREFIXES) and value}
    record = replace(
        blank(run, host, volume, DURABILITY, {**facts, **identity}),
        workspace=workspace,
        verdict=verdict,
        findings=found,
        reasons=[in_words(each, words_of("")) for each in found],
        own={
            **durability,
            "cut_count": asked,
            "cuts": cuts,
            "tests": str(durability.get("tests") or ""),
            "claim": claim_of(cuts) if verdict == PASS else "",
            "loss_chance_bound": chance_bound(len(cuts)) if verdict == PASS else None,
            "losses": losses_of(cuts),
        },
    )
    return with_notes(
        record, [*torn_notes(cuts, facts.get("block_size_bytes")), *flush_notes({**facts, **identity})], words_of("")
    )


def _newest_run(cuts: Sequence[Mapping[str, Any]], files: Mapping[str, bytes]) -> dict[str, str]:
    """Return run.csv of the last cut that was checked; empty if none can be read. Only facts are taken from it."""
    for cut in reversed(cuts):
        try:
            return parse_run(files[f"run_{cut['number']}.csv"], (CHECK_KEPT, CHECK_LOST))
        except (KeyError, TablesError):
            continue
    return {}


def ready(run: Mapping[str, Any], host: str, volume: str, facts: dict[str, Any], sentence: str) -> HostRecord:
    """Return the record of a host whose power could be cut. A preflight does nothing else, so there is no verdict."""
    return replace(
        blank(run, host, volume, CHECK_MODE.name, facts),
        qualification=NOTHING_MEASURED,
        findings=[finding(PREFLIGHT, None, text=sentence)],
        reasons=[sentence],
    )
