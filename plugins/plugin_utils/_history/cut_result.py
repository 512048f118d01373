# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a run of power cuts came to, and until when a loss counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import FAIL, PASS

Losses = Mapping[tuple[str, str], "CutResult"]
"""The loss that counts against a volume, by ``volume_id`` and host."""


@dataclass(frozen=True)
class CutResult:
    """What the power cuts of a volume in one run came to. ``cuts`` is how many were made, all of them kept if the verdict is pass. Texts are untrusted."""

    sha256: str
    run_id: str
    host: str
    volume: str
    volume_id: str | None
    judged_at: str
    verdict: str
    cuts: int
    reason: str
    claim: str
    tests: str


def standing_loss(results: Sequence[CutResult], wanted: int = 0) -> CutResult | None:
    """Return the newest loss among the results of a volume, the oldest first, that counts; None if there is none.

    A loss counts until a later run keeps everything in at least as many cuts, and in as many as are wanted.
    """
    most_kept = 0
    for result in reversed(results):
        if result.verdict == FAIL and most_kept < max(wanted, result.cuts, 1):
            return result
        if result.verdict == PASS:
            most_kept = max(most_kept, result.cuts)
    return None


def standing_losses(results: Iterable[CutResult]) -> Losses:
    """Return the losses that count against volumes, from the results of all of them, the oldest first."""
    by_volume: dict[tuple[str, str], list[CutResult]] = {}
    for result in results:
        if result.volume_id:
            by_volume.setdefault((result.volume_id, result.host), []).append(result)
    return {key: loss for key, own in by_volume.items() if (loss := standing_loss(own))}
