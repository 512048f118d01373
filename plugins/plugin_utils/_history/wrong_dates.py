# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The misdated results in the status of a fleet. A result is shown until the same thing is certified again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .._run.record import host_label
from .certificate import Entry
from .cut_result import CutResult
from .dating import Dated, still_misdated
from .lock_result import LockResult
from .observations import ObservedResult


@dataclass(frozen=True)
class WrongDate:
    """A misdated result: what it is about, its run, its date, and the clock that the date contradicts."""

    label: str
    run_id: str
    judged_at: str
    clock: str
    text: str


def wrong_dates(
    entries: Iterable[Entry],
    cuts: Iterable[CutResult],
    locks: Iterable[LockResult],
    observations: Iterable[ObservedResult],
) -> list[WrongDate]:
    """Return the misdated results that no later certificate replaces."""
    found: list[Dated] = [
        *still_misdated(entries, lambda each: (each.place, each.profile)),
        *still_misdated(cuts, lambda each: (each.host, each.volume, each.volume_id)),
        *still_misdated(locks, lambda each: each.pair),
        *(each for each in observations if each.misdated),
    ]
    once = {(label := _label(each), each.run_id): _wrong_date(label, each) for each in found}
    return [once[key] for key in sorted(once)]


def _label(result: Dated) -> str:
    if isinstance(result, LockResult):
        return f"{result.first} and {result.second} on {result.directory}"
    return host_label(result.host, result.volume)


def _wrong_date(label: str, result: Dated) -> WrongDate:
    text = f"{label}: run {result.run_id} is {result.date_text()}, so it certifies nothing"
    return WrongDate(label, result.run_id, result.date, result.misdated, text)
