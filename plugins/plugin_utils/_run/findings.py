# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Findings: the reasons for a volume's verdict, and notes about it, as plain data in record.json and verdict.json.

A finding is a dict with the following keys. Only the first two are always present:

- ``kind``: one of the kinds below, or one that only one kind of run has (in its folder in ``_kinds``).
- ``verdict``: the verdict on the volume because of this finding alone; None if the finding only explains.
- ``limit_id``: the id of the limit or the criterion that it is about.
- ``cause``: a more specific case within the kind.
- ``text``: the message of a host or another program. It is quoted and never interpreted.
- ``finding``: another finding to which this one refers.

A finding about a limit has all keys of its judgement (limit, limit_id, row, figure and evidence), and ``others``, which
is the number of other rows that did not pass. ``details`` contains further data for the finding's sentence: ``why``
(the reason why a figure alone is inconclusive), ``disturbance``, ``deviations`` and ``waiver``. Findings of other kinds
have their own figures, with units in the names of their keys. Decisions are made from these keys. Only ``_english``
makes sentences, and they are never parsed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .shapes import PLAIN

Finding = dict[str, Any]
Judgement = dict[str, Any]
"""How a figure compares with a limit (see ``_judge/limits.py``)."""

LIMIT = "limit"
IO_ERROR, SHORT_WRITE, WRONG_DATA = "io_error", "short_write", "wrong_data"
HUNG, INTERRUPTED, NO_FIGURES, ENDED_EARLY = "hung", "interrupted", "no_figures", "ended_early"
"""The reasons why a tester or an observation did not measure until its planned end. ENDED_EARLY: it ended as requested,
because a limit was broken."""
LOAD_TARGET, LOAD_POINT, ELSEWHERE = "load_target", "load_point", "elsewhere"
"""A load that the volume was not shown to carry, an inconclusive load point, and the finding of another volume in the
same search."""
UNUSABLE_TABLES, UNMEASURED, SKIPPED, MISSING, UNREADABLE, NO_VERDICT = (
    "unusable_tables",
    "unmeasured",
    "skipped",
    "missing",
    "unreadable",
    "no_verdict",
)
"""The reasons why there is no measurement, or none that can be used."""
BASELINE, POWER_CUTS_BEFORE, STANDING = "baseline", "power_cuts_before", "standing"
"""Findings from the history: the comparison with a baseline, results of power cuts, and facts that count against the
volume."""
QUALIFICATION, DISTURBED, PLATEAU, PREFLIGHT = "qualification", "disturbed", "plateau", "preflight"
"""Findings that only explain and have no verdict."""
KEPT_EARLY, THROTTLED = "kept_early", "throttled"
"""A note about steps that ended because all limits were met, and the finding that such a volume was throttled."""
CLOCK, SHARED_DISK, UNSTEADY, NO_FLUSH, UNKNOWN_SHARES, AS_THEY_STAND, VOLUME_LIMIT = (
    "clock",
    "shared_disk",
    "unsteady",
    "no_flush",
    "unknown_shares",
    "as_they_stand",
    "volume_limit",
)
SEARCH_ENDED, CLIMBED_TOGETHER, LEFT_OUT, MOVED, RETAINED, SOURCE_MESSAGE, WRONG_CLOCK = (
    "search_ended",
    "climbed_together",
    "left_out",
    "moved",
    "retained",
    "told",
    "wrong_clock",
)
"""Notes about a measurement: a note has no verdict. It is stored in ``noted`` of a record, and its sentence in
``notes``. SOURCE_MESSAGE is a message from a source."""
OTHER_MOUNT = "other_mount"
"""The finding that a volume MOVED although nobody named its new mount point."""
NO_HOST, LEFTOVER, UNTESTED = "no_host", "leftover", "untested"
"""Findings that fail the gate regardless of the verdicts: no host reported, something was left on a host, or a queue
manager that a host left out was not tested on a host that shares its storage."""
SETTING = "setting"
"""The finding that a setting of the host is not as the catalogue expects (see ``_run/settings.py``)."""
FORESEEN = "foreseen"
"""The findings about what a plan can neither decide nor certify, by cause."""

STALL = "stall"
VOLUME_FACTS = {IO_ERROR: "had an I/O error", STALL: "stalled beyond the limit", WRONG_DATA: "read back wrong data"}
"""Facts about a volume that are true under every profile, each with the phrase about what the volume did. Lost writes
would be another such fact, but power cuts have separate results."""

OF_HISTORY = (BASELINE, POWER_CUTS_BEFORE)
FAILED_OPERATION = (IO_ERROR, SHORT_WRITE, WRONG_DATA)
WITHOUT_MEASUREMENT = (UNUSABLE_TABLES, UNMEASURED, SKIPPED, MISSING, UNREADABLE)

# The causes of findings about limits. DISTURBED is another one.
BROKEN, WAIVED, OPEN = "broken", "waived", "open"
NO_ROW, NO_FIGURE, NO_HEADROOM, NO_TARGET = "no_row", "no_figure", "no_headroom", "no_target"

CRITERIA = {
    (IO_ERROR, None): "IO-001",
    (SHORT_WRITE, None): "IO-002",
    (WRONG_DATA, None): "IO-003",
    (HUNG, None): "IO-004",
}
"""The ids of criteria that are not limits of a profile, by kind and cause of the finding. They cannot be waived. The
kinds of runs have more (``ids`` of their criteria)."""

_ROW_OF_LIMIT = ("limit", "rows", "block_size_bytes", "load_point", "stream", "operation", "worker")
_DEEPEST = 8


def finding(kind: str, verdict: str | None, **data: Any) -> Finding:
    """Return a finding without keys whose value is None. If its criterion has an id, the finding contains the id."""
    of_criterion = data.get("limit_id") or CRITERIA.get((kind, data.get("cause")))
    return {
        "kind": kind,
        "verdict": verdict,
        **{key: value for key, value in {**data, "limit_id": of_criterion}.items() if value is not None},
    }


def of_judgement(judgement: Mapping[str, Any], others: int = 0) -> Finding:
    """Return the finding that follows from a judgement. ``others`` is the number of other rows that did not pass."""
    return {"kind": LIMIT, "others": others, **{key: value for key, value in judgement.items() if key != "reason"}}


def row_of(judged: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the limit and the row to which a judgement or a finding refers."""
    return tuple(judged.get(key) for key in _ROW_OF_LIMIT)


def reasons_among(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that are reasons for a verdict."""
    return [each for each in findings if each["verdict"] is not None]


def is_finding(value: Any) -> bool:
    """Whether an untrusted value has the shape of a finding."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("kind"), str)
        and isinstance(value.get("verdict"), (str, type(None)))
        and ("finding" not in value or is_finding(value["finding"]))
        and is_data(value)
    )


def is_data(value: Any, depth: int = 0) -> bool:
    """Whether a value consists of text and of numbers that can be shown."""
    if isinstance(value, dict):
        return depth < _DEEPEST and all(
            isinstance(key, str) and is_data(each, depth + 1) for key, each in value.items()
        )
    if isinstance(value, list):
        return depth < _DEEPEST and all(is_data(each, depth + 1) for each in value)
    return PLAIN.misfit(value) is None
