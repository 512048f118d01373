# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares the runs of similar volumes: for the gate, with their baselines, and for two selections of certificates.

figures.py decides what can be compared, and change.py does the statistics. This module reads the figures of
certificates, and groups them into runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Any

from ..._numerics.likeness import FEWEST_ALIKE
from ..._run.files import fingerprint
from ..certificate import Certificate, Entry
from ..figures import Content, RowKey, changes, class_of, comparable_with_newest, row_order, rows_of, why_incomparable
from ..store.history import History
from .change import ClassChange, compare_class

ALPHA = 0.05

Rows = dict[RowKey, float]
Runs = dict[str, Rows]
"""The figures of a volume by run, oldest first."""


def kind_of(content: Content) -> tuple[str, str, str]:
    """Return what volumes that are compared together have in common: the class, the version of the method, and the
    parameters."""
    return class_of(content), str(content["method_version"]), fingerprint(content.get("parameters"))


@dataclass
class VolumeRuns:
    """A volume that is compared: the figures of its runs on both sides, and of earlier runs by period.

    Only volumes of one ``kind`` (see ``kind_of``) are compared together. ``entry`` and
    ``reference`` are the newest certificate that can be compared, and its content. ``first`` is the order of the first
    selected one. ``changes`` are the facts that differ between both sides, as plain data.
    """

    label: str
    kind: tuple[str, str, str]
    entry: Entry
    reference: Content
    first: tuple[Any, ...]
    before: Runs = field(default_factory=dict)
    after: Runs = field(default_factory=dict)
    earlier: list[Runs] = field(default_factory=list)
    judged_at: dict[str, str] = field(default_factory=dict)
    changes: list[dict[str, Any]] = field(default_factory=list)

    @property
    def rows(self) -> set[RowKey]:
        """The rows that all its compared runs have."""
        return set.intersection(*map(set, (*self.before.values(), *self.after.values())))


@dataclass
class Reading:
    """Reads one figure of certificates from the history, and from those that were ``made`` and are not stored.

    ``earlier`` returns the certificates of the other runs that show how much the runs of a volume differ. Only runs of
    the same period are compared with each other. ``left_out`` are the certificates that cannot be compared, as plain
    data.
    """

    history: History
    figure: str
    made: Mapping[str, Certificate]
    earlier: Callable[[VolumeRuns], Sequence[Sequence[Entry]]]
    left_out: list[dict[str, Any]] = field(default_factory=list)

    @cached_property
    def revoked(self) -> Collection[str]:
        """The SHA-256 of the revoked certificates."""
        return self.history.revocations()

    def read(self, label: str, before: Sequence[Entry], after: Sequence[Entry]) -> VolumeRuns | None:
        """Return a volume with all certificates that can be compared with its newest one that can be compared at all;
        None if there is no such certificate. Raises HistoryError."""
        entries = [*before, *after]
        contents = self._contents(entries)
        reference, reasons = comparable_with_newest(contents, self.figure, list(map(self._why_excluded, entries)))
        volume = None
        if reference is not None:
            newest = entries[max(place for place, reason in enumerate(reasons) if not reason)]
            volume = VolumeRuns(label, kind_of(reference), newest, reference, min(entry.order for entry in entries))
        last = {}
        for number, (entry, content, reason) in enumerate(zip(entries, contents, reasons)):
            side = "before" if number < len(before) else "after"
            if volume and not reason:
                getattr(volume, side)[entry.run_id] = rows_of(content, self.figure)
                volume.judged_at[entry.run_id] = entry.judged_at
                last[side] = content
            else:
                left_out = {"host": label, "side": side, "certificate": entry.sha256, "run_id": entry.run_id}
                self.left_out.append({**left_out, "judged_at": entry.judged_at, "reason": reason})
        if volume and len(last) == 2:
            volume.changes = [asdict(change) for change in changes(last["before"], last["after"])]
        return volume

    def read_earlier(self, volume: VolumeRuns) -> None:
        """Read the earlier runs of a volume. Raises HistoryError."""
        for period in self.earlier(volume):
            runs = {
                entry.run_id: rows_of(content, self.figure)
                for entry, content in zip(period, self._contents(period))
                if not (self._why_excluded(entry) or why_incomparable(content, volume.reference, self.figure))
            }
            volume.earlier.append(runs)
            volume.judged_at.update((entry.run_id, entry.judged_at) for entry in period)

    def _contents(self, entries: Sequence[Entry]) -> list[Content]:
        stored = [entry.sha256 for entry in entries if entry.sha256 not in self.made]
        known = dict(zip(stored, self.history.contents(stored)))
        return [known.get(entry.sha256) or self.made[entry.sha256].content for entry in entries]

    def _why_excluded(self, entry: Entry) -> str:
        if entry.misdated:
            return f"it is {entry.date_text()}"
        return "it was revoked" if entry.sha256 in self.revoked else ""


@dataclass(frozen=True)
class Compared:
    """The result for volumes that were compared together: the change, None if their runs have no row in common, the
    rows, and the number of runs on each side."""

    change: ClassChange | None
    rows: list[RowKey]
    runs_before: int
    runs_after: int


def compare_volumes(reading: Reading, volumes: Sequence[VolumeRuns], margin: float, share: float) -> Compared:
    """Compare volumes of one kind. ``share`` is their fraction of all volumes that are compared at the same time.
    Raises HistoryError."""
    before, after = (_runs_of(volumes, [getattr(volume, side) for volume in volumes]) for side in ("before", "after"))
    runs = before + after
    too_few = sum(all(volume.label in run for run in runs) for volume in volumes) < FEWEST_ALIKE
    if too_few or 1 in (len(before), len(after)):
        # Several runs on both sides are enough, and reading the earlier runs of a large fleet takes long.
        for volume in volumes:
            reading.read_earlier(volume)
    common = set.intersection(*(set(rows) for run in runs for rows in run.values()))
    rows = sorted(common, key=row_order)
    change = None
    if rows:
        # The newest periods of all volumes are about the same time.
        periods = zip_longest(*(reversed(volume.earlier) for volume in volumes), fillvalue={})
        earlier = [
            [{label: row for label, row in run.items() if common <= row.keys()} for run in _runs_of(volumes, period)]
            for period in reversed(list(periods))
        ]
        sides = [[_only(rows, run) for run in part] for part in (before, after, *earlier)]
        change = compare_class(sides[0], sides[1], margin=margin, alpha=ALPHA, share=share, earlier=sides[2:])
    return Compared(change, rows, len(before), len(after))


def _runs_of(volumes: Sequence[VolumeRuns], by_volume: Sequence[Runs]) -> list[dict[str, Rows]]:
    """Return some runs of each volume as runs of all of them, oldest first. Runs without a common host are combined
    into one, because a fleet is often measured in parts, or a host is measured again.

    A run with few hosts, for example of a single host that was measured again, is not used. Otherwise, no host would
    have taken part in every run.
    """
    by_run: dict[tuple[str, str], dict[str, Rows]] = {}
    began = {run_id: moment for volume in reversed(volumes) for run_id, moment in volume.judged_at.items()}
    for volume, runs in zip(volumes, by_volume):
        for run_id, rows in runs.items():
            by_run.setdefault((began[run_id], run_id), {})[volume.label] = rows
    merged: list[dict[str, Rows]] = []
    for _order, run in sorted(by_run.items()):
        place = next((other for other in merged if not other.keys() & run.keys()), None)
        if place is None:
            merged.append(dict(run))
        else:
            place.update(run)
    most = max(map(len, merged), default=0)
    return [run for run in merged if most < FEWEST_ALIKE or 2 * len(run) >= most]


def _only(rows: Sequence[RowKey], run: Mapping[str, Rows]) -> dict[str, Rows]:
    return {label: {row: figures[row] for row in rows} for label, figures in run.items()}
