# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks whether a record and the certificate beside it follow from the tables, because a file that was edited must not
be imported.

The tables are judged again. A record with a better verdict than its tables is refused, and so is a record that fails a
volume although its tables pass. Other worse verdicts are accepted, because different versions of this collection decide
close cases differently. For the same reason, a record from a version that did not record facts about the volume may be
a pass although its tables would be inconclusive today. Such a record keeps its verdict.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from ..._judge.capacity import LOAD_SEARCH
from ..._records.host import judge_error, judge_record, profile_of
from ..._run.directory import RunDirectory
from ..._run.findings import UNREADABLE
from ..._run.kinds import kind_named
from ..._run.moment import MOMENT
from ..._run.record import ERROR as NOTHING_MEASURED
from ..._run.record import HostRecord
from ..._run.tables import parse_tables
from ..._run.verdicts import FAIL, GOOD, WORST_FIRST, rank
from ..certificate import ROW_KEYS, Certificate, CertificateError

_STATED = (
    "run_id",
    "host",
    "volume",
    "identity",
    "effect",
    "verdict",
    "limits_verdict",
    "judged_at",
    "valid_from",
    "valid_until",
    "parameters",
    "tables",
)
"""The keys whose values must be the same if the certificate is made again from the record. The others hold sentences,
or repeat facts."""


def refuse_contradiction(directory: RunDirectory, folder: str) -> None:
    """Raise CertificateError if the record in a folder contradicts its tables;
    RunDirectoryError or TablesError if these cannot be read."""
    record = directory.records.read(folder)
    unreadable = [each for each in record.findings if each["kind"] == UNREADABLE]
    if unreadable:
        raise CertificateError(f"{unreadable[0]['text']}, so it is not believed")
    is_measured = kind_named(record.kind).tests_storage
    if record.verdict not in WORST_FIRST or not (is_measured or record.kind == NOTHING_MEASURED):
        return
    if is_measured and not record.error:
        tables = parse_tables(directory.records.tables(record))
        judged = judge_record(record, tables, profile_of(directory.run, record.host), _day_of(record))
    else:
        judged = judge_error(record.error or {})
    stated, found = str(record.verdict), str(judged["verdict"])
    is_better = rank(stated) > rank(found) and not (stated in GOOD and found in GOOD)
    # The volumes of a search are judged together, so a volume may pass when judged alone.
    is_worse = stated == FAIL and found in GOOD and not record.facts.get(LOAD_SEARCH)
    reason = f": {judged['reasons'][0]}" if judged["reasons"] else ""
    if is_better or is_worse:
        raise CertificateError(
            f"its record.json states {stated}, but its tables result in {found}{reason}; it was edited, or judged by "
            "other rules: measure it again"
        )
    if record.certified and not judged["certified"]:
        raise CertificateError(
            "its record.json states that it certifies, but according to its tables it does not: "
            f"{judged['qualification']}"
        )
    if set(record.volume_facts) != set(judged.get("volume_facts") or ()):
        raise CertificateError("its record.json contradicts its tables about the volume")


def refuse_other_content(written: Certificate, made: Certificate | None) -> None:
    """Raise CertificateError if a certificate that was written beside a record differs from one that is
    made from the record and its tables."""
    if made is None:
        raise CertificateError("it has a certificate.json, but its record was not judged")
    ours, theirs = made.content, written.content
    differing = [key for key in _STATED if ours[key] != theirs.get(key)]
    if ours["profile"]["name"] != theirs["profile"]["name"]:
        differing.append("profile")
    if not differing and not _same_rows(ours["rows"], theirs["rows"]):
        differing.append("rows")
    if differing:
        raise CertificateError(
            f"{differing[0]} in its certificate.json differs from its record and its tables: remove the file, "
            "and it will be created from them again"
        )


def _same_rows(ours: list[Mapping[str, Any]], theirs: list[Mapping[str, Any]]) -> bool:
    """Return whether rows have the same figures, considering only those that both have, because figures may be added
    without a new schema."""
    by_key = {tuple(row.get(name) for name in ROW_KEYS): row for row in ours}
    found = [(by_key.get(tuple(row.get(name) for name in ROW_KEYS)), row) for row in theirs]
    return len(ours) == len(theirs) and all(
        own and all(own[name] == row[name] for name in (own.keys() & row.keys()) - {"limits"}) for own, row in found
    )


def _day_of(record: HostRecord) -> datetime.date:
    try:
        return datetime.datetime.strptime(record.created_at, MOMENT).date()
    except ValueError:
        raise CertificateError(f"the record has no valid time of judgement ({record.created_at!r})") from None
