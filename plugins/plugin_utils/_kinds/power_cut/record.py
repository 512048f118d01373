# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a volume whose power was cut, and its verdict. A loss is always a fail. No profile has a limit on it,
so no waiver can cover it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._durability.cut import CHECK_KEPT, CHECK_LOST, DAMAGE, LOST, damage_of, total_row
from ..._durability.cut import INCONCLUSIVE as UNDECIDED
from ..._judge.durability import chance_bound, claim_of
from ..._judge.notes import flush_notes
from ..._records.host import IDENTITY_PREFIXES, blank, concluded
from ..._run.findings import Finding, finding
from ..._run.kinds import POWER_CUT as KIND
from ..._run.record import HostRecord
from ..._run.shapes import Facts, Run
from ..._run.table_reader import TablesError
from ..._run.tables import parse_run
from ..._run.verdicts import FAIL, INCONCLUSIVE
from .criteria import IDS, POWER_CUT, TOO_FEW_CUTS, TORN

_TORN_BLOCK_BYTES = 4096
"""The size of the writes to which IBM MQ's LogWriteIntegrity applies."""


@dataclass(frozen=True)
class Loss:
    """A kind of loss: the column of durability.csv that counts it, what it means for a queue manager,
    and what to do next."""

    name: str
    column: str
    consequence: str
    next_step: str


LOSSES = (
    Loss(
        "lost tail",
        "lost_tail_writes",
        "The newest log records are gone although MQ was told that they are on the disk. Persistent messages whose "
        "commit was confirmed are lost or delivered twice, and a queue file that holds later changes than the log "
        "keeps the queue manager from starting.",
        "Flushes are not sent or not honoured. Look for the mount option nobarrier, for queue/write_cache saying write "
        "through over a drive that caches, for a cache mode such as unsafe below a guest, and for a drive or "
        "controller whose volatile write cache answers flushes at once. Turn that cache off, or protect it against "
        "loss of power, and cut again.",
    ),
    Loss(
        "lost out of order",
        "lost_out_of_order_writes",
        "There are holes in the log: later records are present, but earlier ones are not. MQ stops its recovery at the "
        "first hole or refuses the log, and everything that was committed after it is lost.",
        "A cache reorders writes and does not honour flushes, or the storage dropped a write. Turn the "
        "volatile write cache off, or replace the device, and cut again.",
    ),
    Loss(
        "torn",
        "torn_positions",
        "A log block that was written in full holds parts of two writes, so its records are "
        "damaged and recovery stops there.",
        "Do not set LogWriteIntegrity=SingleWrite: leave it at TripleWrite, which survives a torn write in "
        "flight but not the loss of one that returned. Turn the volatile write cache off, update the firmware, "
        "or replace the device, and cut again.",
    ),
    Loss(
        "misdirected",
        "misdirected_positions",
        "A write is in the place of another write. MQ finds foreign data in its log, and a log of another queue "
        "manager may be damaged as well.",
        "Do not use this volume. Firmware, a mapping layer or a stack of file systems sends writes to wrong places: "
        "replace the components below the file system one by one, and cut again after each replacement.",
    ),
    Loss(
        "unreadable",
        "unreadable_positions",
        "A part of the log cannot be read, so the queue manager does not start.",
        "Do not use this volume. Look at the kernel's messages and the drive's own error log, and replace the drive.",
    ),
    Loss(
        "zeroed",
        "zeroed_positions",
        "A part of the log is zeroes, so the records there are lost, and recovery cannot continue past them.",
        "Look for a file system that does not write what it allocated, thin provisioning and TRIM, and firmware that "
        "forgets its mapping. Update or replace it, and cut again.",
    ),
    Loss(
        "corrupt",
        "corrupt_positions",
        "A part of the log holds damaged data, or data that was never written there, so its records are "
        "damaged and recovery stops there.",
        "Do not use this volume. Test the memory and the controller, update the firmware, or "
        "replace the device, and cut again.",
    ),
    Loss(
        "metadata lost",
        "metadata_lost",
        "Files of the log are missing or shorter than they were, although they and their directories had been flushed. "
        "The queue manager does not start.",
        "The file system's own flushes are not honoured either. Look for the mount option nobarrier and for a volatile "
        "write cache, repair the file system before you use it again, and cut again.",
    ),
)


def findings_of(cuts: Sequence[Mapping[str, Any]], asked: int) -> list[Finding]:
    """Return findings about cuts of a volume that do not pass; none if all of them pass. A pass requires that every cut
    kept all writes. A single loss is enough for a fail.

    A cut that lost something has a finding for each kind of damage.
    """
    lost = [
        _finding(POWER_CUT, FAIL, cause=damage, number=cut["number"], text=text)
        for cut in cuts
        if cut["outcome"] == LOST
        for damage, text in damage_of(total_row(cut["rows"])).items()
    ]
    undecided = [
        _finding(POWER_CUT, INCONCLUSIVE, cause=UNDECIDED, number=cut["number"], text=cut["reason"])
        for cut in cuts
        if cut["outcome"] == UNDECIDED
    ]
    too_few = [] if lost or len(cuts) >= asked else [_finding(TOO_FEW_CUTS, INCONCLUSIVE, made=len(cuts), asked=asked)]
    return lost + undecided + too_few


def _finding(kind: str, verdict: str, cause: str | None = None, **data: Any) -> Finding:
    return finding(kind, verdict, cause=cause, limit_id=IDS.get((kind, cause)), **data)


def losses_of(cuts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the kinds of loss that were found, each with the cuts, its consequence for a queue manager, and the next
    step."""
    totals = [(cut["number"], total_row(cut["rows"])) for cut in cuts if cut["outcome"] == LOST]
    found = []
    for loss in LOSSES:
        numbers = [number for number, row in totals if row.get(loss.column) not in (None, "", "0")]
        if numbers:
            about = {"loss": loss.name, "cause": DAMAGE[loss.column], "cuts": numbers}
            found.append({**about, "consequence": loss.consequence, "next_step": loss.next_step})
    return found


def torn_notes(cuts: Iterable[Mapping[str, Any]], block_size_bytes: Any) -> list[Finding]:
    """Return a note if a write in flight was torn. This is not a loss, but it shows that MQ cannot rely on atomic
    writes."""
    numbers = [cut["number"] for cut in cuts if any(row.get("in_flight") == "torn" for row in cut["rows"])]
    if not numbers:
        return []
    size_bytes = block_size_bytes if isinstance(block_size_bytes, int) else None
    return [
        finding(
            TORN,
            None,
            cuts=numbers,
            block_size_bytes=size_bytes,
            cause="single write" if size_bytes == _TORN_BLOCK_BYTES else None,
        )
    ]


def cut_record(
    run: Run,
    host: str,
    volume: str,
    facts: Facts,
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
    checked = _newest_run(cuts, files)
    identity = {key: value for key, value in checked.items() if key.startswith(IDENTITY_PREFIXES) and value}
    return concluded(
        blank(run, host, volume, KIND.name, {**facts, **identity}),
        found,
        [*torn_notes(cuts, facts.get("block_size_bytes")), *flush_notes({**facts, **identity})],
        workspace=workspace,
        kind_data={
            **durability,
            "cut_count": asked,
            "cuts": cuts,
            "tests": str(durability.get("tests") or ""),
            "claim": claim_of(cuts) if not found else "",
            "loss_chance_bound": chance_bound(len(cuts)) if not found else None,
            "losses": losses_of(cuts),
        },
    )


def _newest_run(cuts: Sequence[Mapping[str, Any]], files: Mapping[str, bytes]) -> dict[str, str]:
    """Return run.csv of the last cut that was checked; empty if none can be read. Only facts are taken from it."""
    for cut in reversed(cuts):
        try:
            return parse_run(files[f"run_{cut['number']}.csv"], (CHECK_KEPT, CHECK_LOST))
        except (KeyError, TablesError):
            continue
    return {}
