# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a run of power cuts, and how long a loss, or cuts without a loss, remain valid."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .._run.verdicts import FAIL, INCONCLUSIVE, PASS
from .dating import Dated


@dataclass(frozen=True)
class CutResult(Dated):
    """The result of the power cuts of a volume in one run. ``cuts`` is the number of cuts; if the verdict is pass, none
    of them lost any writes. Texts are untrusted.

    ``volume_id``, ``disk_id`` and ``mount_point`` are None if the volume is unknown. In that case, a loss counts
    against each volume of that host and name.
    """

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
    disk_id: str | None = None
    mount_point: str | None = None

    @property
    def passes(self) -> bool:
        return self.verdict == PASS

    def void(self) -> CutResult:
        return replace(self, verdict=INCONCLUSIVE) if self.verdict == PASS else self

    def valid_until(self, valid_days: int) -> datetime.date:
        """The last day on which cuts without a loss are valid. A loss has no such day."""
        return datetime.date.fromisoformat(self.judged_at[:10]) + datetime.timedelta(days=valid_days)


def newest_kept(results: Iterable[CutResult], valid_days: int, day: datetime.date) -> CutResult | None:
    """Among the runs that kept everything and are valid on a day, return the run with the most cuts. If no such run is
    valid, return the newest run that kept everything; None if there is none."""
    kept = sorted(
        (result for result in results if result.verdict == PASS and result.volume_id), key=lambda result: result.order
    )
    current = [result for result in kept if result.valid_until(valid_days) >= day]
    return max(reversed(current), key=lambda result: result.cuts) if current else kept[-1] if kept else None


def standing_loss(results: Sequence[CutResult], wanted: int = 0) -> CutResult | None:
    """Return the newest loss that counts, from the results of a volume, oldest first; None if there is none.

    A loss counts until a later run keeps everything in at least as many cuts, and in as many as are required.
    """
    most_kept = 0
    for result in reversed(results):
        if result.verdict == FAIL and most_kept < max(wanted, result.cuts, 1):
            return result
        if result.verdict == PASS:
            most_kept = max(most_kept, result.cuts)
    return None


class CutResults:
    """The results of power cuts of a fleet, indexed by volume."""

    def __init__(self, results: Iterable[CutResult]) -> None:
        self._by_volume: dict[tuple[str | None, ...], list[CutResult]] = {}
        for result in results:
            self._by_volume.setdefault(_key(result), []).append(result)

    def of(self, host: str, volume: str, volume_id: str | None, disk_id: str | None) -> list[CutResult]:
        """Return the results of a volume, oldest first, including losses for which only the name of the volume is
        known. The results of a clone are not included, because its host has a different name."""
        placed = self._by_volume.get((host, volume_id, disk_id), []) if volume_id else []
        losses = [result for result in self._by_volume.get((host, None, volume), []) if result.verdict == FAIL]
        return sorted([*placed, *losses], key=lambda result: result.order)

    def groups(self) -> Iterable[list[CutResult]]:
        """Return the results of each volume."""
        return self._by_volume.values()


def _key(result: CutResult) -> tuple[str | None, ...]:
    return (result.host, result.volume_id, result.disk_id) if result.volume_id else (result.host, None, result.volume)


def told_once(results: Sequence[CutResult]) -> list[CutResult]:
    """Return the results without those of an unknown volume if the same run is also stored with its volume, for example
    after importing it again."""
    known = {(result.run_id, result.host, result.volume) for result in results if result.volume_id}
    return [
        result for result in results if result.volume_id or (result.run_id, result.host, result.volume) not in known
    ]
