# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The verdict on the power cuts of a volume. A loss is always a fail. No profile has a limit on it, so no waiver can
cover it. Cuts without a loss put a bound on the chance of a loss, but never exclude it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils import _units
from .._durability.cut import DAMAGE, LOST, damage_of, total_row
from .._durability.cut import INCONCLUSIVE as UNDECIDED
from .._run.findings import POWER_CUT, TOO_FEW_CUTS, TORN, Finding, finding
from .._run.verdicts import FAIL, INCONCLUSIVE

STAGE = "power cut"
"""The stage in records that state why the power of a host cannot be cut."""

CONFIDENCE = 0.95

CERTIFYING_BOUND = 0.05
"""The largest acceptable bound on the chance of a loss per cut if no profile requires a number of cuts. If the bound is
higher, there are too few cuts without a loss to certify anything."""

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
        finding(POWER_CUT, FAIL, cause=damage, number=cut["number"], text=text)
        for cut in cuts
        if cut["outcome"] == LOST
        for damage, text in damage_of(total_row(cut["rows"])).items()
    ]
    undecided = [
        finding(POWER_CUT, INCONCLUSIVE, cause=UNDECIDED, number=cut["number"], text=cut["reason"])
        for cut in cuts
        if cut["outcome"] == UNDECIDED
    ]
    too_few = [] if lost or len(cuts) >= asked else [finding(TOO_FEW_CUTS, INCONCLUSIVE, made=len(cuts), asked=asked)]
    return lost + undecided + too_few


def chance_bound(cuts: int, confidence: float = CONFIDENCE) -> float:
    """Return the largest chance of a loss per cut for which this number of cuts without a loss still has a probability
    of 1 - ``confidence``.

    It is 1 - (1 - confidence)^(1/n), which is a little below 3/n at 95 %. This holds for cuts that are independent and
    similar.
    """
    return -math.expm1(math.log1p(-confidence) / cuts)


def claim_of(cuts: Sequence[Mapping[str, Any]]) -> str:
    """Describe what power cuts without any loss prove, and what they could not have shown."""
    number = len(cuts)
    percent = percent_upwards(100 * chance_bound(number))
    text = (
        f"{_units.format_count(number)} {'cut' if number == 1 else 'cuts'} without a loss: with {100 * CONFIDENCE:.0f} "
        f"% confidence, the chance of a loss is at most {percent} % per "
        f"cut{' (about 3/n for n cuts)' if number >= 10 else ''}, if later cuts are like these. "
    )
    return text + _unseen(cuts)


def why_not_certifying(cuts: int, wanted: int) -> str:
    """Return the reason if this number of cuts without a loss does not certify anything under a profile that requires
    ``wanted`` of them (0 if it does not require any number); otherwise an empty string."""
    if wanted:
        return "" if cuts >= wanted else f"too few, the profile asks for {_units.format_count(wanted)}"
    bound = chance_bound(cuts)
    if bound > CERTIFYING_BOUND:
        return "too few to certify"
    return (
        f"with {100 * CONFIDENCE:.0f} % confidence, the chance of a loss is at most "
        f"{percent_upwards(100 * bound)} % per cut"
    )


def percent_upwards(value: float) -> str:
    """Return a percentage with two digits, rounded up."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(round(value / unit, 6)) * unit:.2g}"


def _unseen(cuts: Sequence[Mapping[str, Any]]) -> str:
    """Return the size of the loss that could have gone unnoticed in the least sensitive cut."""
    spans_ns = [cut.get("visible_from_ns") for cut in cuts]
    writes = [cut.get("visible_from_writes") for cut in cuts]
    if None in spans_ns or None in writes:
        return "It is not known how long a loss at the end could have gone unnoticed."
    span = _units.format_duration(max(spans_ns))
    return f"A loss at the end of less than {span} or {_units.format_count(max(writes))} writes could not be seen."


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
