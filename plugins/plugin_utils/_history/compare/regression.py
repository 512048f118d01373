# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares the volumes of a run with their baselines, and writes the result beside their records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import geometric_mean
from typing import Any

from ....module_utils._units import format_ratio
from ..._judge.judged_records import can_be_compared, not_made
from ..._numerics.likeness import FEWEST_ALIKE
from ..._run.directory import RunDirectory
from ..._run.host_settings import CERTIFICATES, compares_with_baseline
from ..._run.run_files import RunDirectoryError
from ..._run.table_reader import TablesError
from ..._run.verdicts import FAIL, INCONCLUSIVE, PASS
from ..._run.words import size_text
from ..certificate import ROW_KEYS, CertificateError, Entry
from ..figures import (
    LATENCY_MEAN,
    RATES,
    THROUGHPUT,
    Content,
    RowKey,
    class_of,
    is_imported,
    row_order,
    rows_of,
    why_incomparable,
    why_unusable,
)
from ..store.filing import make_certificate
from ..store.history import History, HistoryError
from ..store.open import open_history
from .baseline import comparable_with, counting_with, earlier_periods, last_baseline, own_entries
from .change import NON_INFERIOR, WORSE, HostChange, compare_class, count_runs

Rows = dict[RowKey, float]

VERDICTS = {WORSE: FAIL, INCONCLUSIVE: INCONCLUSIVE, NON_INFERIOR: PASS}
_BEGIN = "certify it with gate_baseline_accept: true to begin a baseline, or with gate_baseline: none"


class _NothingToCompareError(Exception):
    """The reason why a volume cannot be compared with its baseline."""


@dataclass(eq=False)
class _Volume:
    """A volume of the run: its certificate, judged only by the limits, and the certificates in the history with which
    it is compared, with their figures."""

    folder: str
    entry: Entry
    content: Content
    class_name: str
    comparable: list[Entry] = field(default_factory=list)
    before: list[Entry] = field(default_factory=list)
    after: list[Entry] = field(default_factory=list)
    figure: str = LATENCY_MEAN
    rows: tuple[RowKey, ...] = ()

    @cached_property
    def alike(self) -> tuple[Any, ...]:
        """The data that all volumes of one class have in common."""
        return self.class_name, self.entry.method_version, self.entry.parameters

    @cached_property
    def by_run(self) -> dict[str, Entry]:
        """The comparable certificates by their run."""
        return {entry.run_id: entry for entry in self.comparable}

    @property
    def question(self) -> tuple[Any, ...]:
        """The class, runs and rows that volumes must have in common to be compared together."""
        return (
            self.alike,
            self.figure,
            self.rows,
            *(tuple(entry.run_id for entry in side) for side in (self.before, self.after)),
        )


def hold_against_baseline(directory: RunDirectory) -> str:
    """Compare each measured volume of a run with its baseline and write the result. Volumes that were compared before
    are left unchanged. Returns the reason if the comparison failed, in which case the hosts are inconclusive; otherwise
    empty. Raises RunDirectoryError.
    """
    if not compares_with_baseline(directory.run) or not directory.is_test:
        return ""
    asked = [
        folder
        for folder in directory.records.folders()
        if can_be_compared(directory.records.read(folder)) and not _is_made(directory, folder)
    ]
    if not asked:
        return ""
    problem = ""
    try:
        with open_history(directory.run["history"]["place"]) as history:
            comparisons = _Fleet(directory, history).compare(asked)
    except HistoryError as error:
        problem = (
            f"the hosts were not compared with their baseline: {error}; when the problem is solved, measure them again"
        )
        comparisons = {folder: not_made(f"it was not compared with its baseline: {error}") for folder in asked}
    for folder, comparison in comparisons.items():
        directory.comparisons.write(folder, comparison)
    return problem


def _is_made(directory: RunDirectory, folder: str) -> bool:
    return bool((directory.comparisons.read(folder) or {}).get("outcome"))


class _Fleet:
    """The comparison of a run: what was requested, and the data about its volumes."""

    def __init__(self, directory: RunDirectory, history: History) -> None:
        self._directory = directory
        self._history = history
        self._baseline: Mapping[str, Any] = directory.run["baseline"]
        self._revoked = history.revocations()
        self._figures: dict[str, Content] = {}
        self._volumes: dict[str, _Volume] = {}

    def compare(self, asked: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the comparisons of the volumes in some folders. Raises HistoryError."""
        comparisons = {}
        ready = []
        for folder in self._directory.records.folders():
            if not can_be_compared(self._directory.records.read(folder)):
                continue
            try:
                self._volumes[folder] = volume = self._read(folder)
                if folder in asked:
                    self._find(volume)
                    ready.append(volume)
            except (_NothingToCompareError, CertificateError, RunDirectoryError, TablesError) as error:
                comparisons[folder] = self._made(INCONCLUSIVE, f"it cannot be compared with its baseline: {error}")
        return {
            folder: comparison
            for folder, comparison in {**comparisons, **self._compare(ready)}.items()
            if folder in asked
        }

    # Reading.

    def _read(self, folder: str) -> _Volume:
        """Return the volume of a record. If it can be compared at all, include the comparable entries of the
        history."""
        certificate = make_certificate(self._directory, folder, self._directory.records.read(folder))
        content, entry = certificate.content, certificate.entry
        if entry.identity is None:
            raise _NothingToCompareError("it is not known which volume this is")
        volume = _Volume(folder, entry, _slim(content), class_of(content))
        if not why_unusable(content):
            entries = own_entries(entry, self._history.of_volume(entry.identity))
            volume.comparable = comparable_with(entry, entries, self._revoked)
        return volume

    def _find(self, volume: _Volume) -> None:
        """Find the earlier runs, and the runs that are counted together with this one. Raises _NothingToCompareError if
        there are none."""
        unusable = why_unusable(volume.content)
        if unusable:
            raise _NothingToCompareError(unusable)
        candidates = self._named(volume) if self._baseline["kind"] == CERTIFICATES else last_baseline(volume.comparable)
        self._load(candidates)
        reasons = self._reasons(volume, candidates)
        if all(reasons.values()) and any(is_imported(self._figures[entry.sha256]) for entry in candidates):
            volume.figure = THROUGHPUT
            reasons = self._reasons(volume, candidates)
        volume.before = [entry for entry, reason in reasons.items() if not reason]
        if not volume.before:
            raise _NothingToCompareError(self._why_none(volume, reasons))
        volume.after = counting_with(volume.comparable, volume.before)
        self._load(volume.after)
        common = set(rows_of(volume.content, volume.figure)).intersection(
            *(self._rows(entry, volume.figure) for entry in (*volume.before, *volume.after))
        )
        volume.rows = tuple(sorted(common, key=row_order))
        if not common:
            raise _NothingToCompareError("its runs have no row in common")

    def _reasons(self, volume: _Volume, candidates: Iterable[Entry]) -> dict[Entry, str]:
        """Return, for each certificate, why its figure cannot be compared with that of the volume; "" if it can."""
        return {
            entry: why_incomparable(self._figures[entry.sha256], volume.content, volume.figure) for entry in candidates
        }

    def _named(self, volume: _Volume) -> list[Entry]:
        """Return the certificates of the host's volume that gate_baseline names. Its disk may have been replaced since
        then, but its mount point is the same."""
        named = set(self._baseline["certificates"])
        entries = self._history.of_name(volume.entry.host, volume.entry.volume)
        same = [entry for entry in entries if entry.path in ("", volume.entry.path)]
        return [entry for entry in same if entry.sha256 in named and entry.sha256 not in self._revoked]

    def _why_none(self, volume: _Volume, reasons: Mapping[Entry, str]) -> str:
        if self._baseline["kind"] == CERTIFICATES:
            if not reasons:
                return "gate_baseline names no certificate of it, or only revoked ones"
            entry, reason = list(reasons.items())[-1]
            return f"the certificate that gate_baseline names (run {entry.run_id}) cannot be compared: {reason}"
        return f"{self._why_no_last(volume)}: {_BEGIN}"

    def _why_no_last(self, volume: _Volume) -> str:
        if len(volume.comparable) == 1:
            return (
                "the only certificate with which it can be compared was itself compared with a baseline, and was not "
                "accepted"
            )
        if volume.comparable:
            return (
                f"all {len(volume.comparable)} certificates with which it can be compared were themselves compared "
                "with a baseline, and none was accepted"
            )
        entries = own_entries(volume.entry, self._history.of_volume(str(volume.entry.identity)))
        if entries:
            (content,) = self._history.contents([entries[-1].sha256])
            if entries[-1].sha256 in self._revoked:
                reason = "it is revoked"
            elif entries[-1].misdated:
                reason = f"it is {entries[-1].date_text()}"
            else:
                reason = why_incomparable(content, volume.content)
            return f"none of its certificates can be compared; the newest (run {entries[-1].run_id}): {reason}"
        named = [
            entry
            for entry in self._history.of_name(volume.entry.host, volume.entry.volume)
            if entry.run_id != volume.entry.run_id
        ]
        if named:
            return (
                "the history contains certificates under its name (the newest from run "
                f"{named[-1].run_id}), but for another volume"
            )
        return "the history contains no certificate of it"

    def _load(self, entries: Iterable[Entry]) -> None:
        wanted = [entry.sha256 for entry in entries if entry.sha256 not in self._figures]
        self._figures.update(zip(wanted, map(_slim, self._history.contents(wanted))))

    def _rows(self, entry: Entry, figure: str) -> Rows:
        return rows_of(self._figures[entry.sha256], figure)

    # Comparing.

    def _compare(self, volumes: Sequence[_Volume]) -> dict[str, dict[str, Any]]:
        """Return the comparison of each volume. A volume is compared together with the volumes of its class that have
        the same runs or, if there are too few of these, by its own runs alone."""
        by_question: dict[tuple[Any, ...], list[_Volume]] = {}
        for volume in volumes:
            by_question.setdefault(volume.question, []).append(volume)
        comparisons = {}
        for asked in by_question.values():
            members = self._members(asked)
            groups = [members] if len(members) >= FEWEST_ALIKE else [[volume] for volume in asked]
            for group in groups:
                share = (len(asked) if group is members else 1) / len(volumes)
                changes = self._compare_runs(group, share)
                asking = group[: len(asked)]  # the other members of the class follow them
                comparisons.update((volume.folder, self._said(volume, changes[volume.folder])) for volume in asking)
        return comparisons

    def _members(self, asked: Sequence[_Volume]) -> list[_Volume]:
        """Return the given volumes, which ask for the same comparison, followed by the other volumes of their class
        that have the same runs. The baselines of these other volumes do not matter."""
        example, found, known = asked[0], list(asked), set(asked)
        for volume in self._volumes.values():
            if volume not in known and volume.alike == example.alike and not why_unusable(volume.content):
                sides = [
                    [volume.by_run.get(entry.run_id) for entry in side] for side in (example.before, example.after)
                ]
                if all(entry for side in sides for entry in side):
                    same = replace(volume, figure=example.figure, rows=example.rows, before=sides[0], after=sides[1])
                    found += [same] if self._has_rows(same) else []
        return found

    def _has_rows(self, volume: _Volume) -> bool:
        entries = (*volume.before, *volume.after)
        self._load(entries)
        return all(
            set(volume.rows) <= rows.keys()
            for rows in (
                rows_of(volume.content, volume.figure),
                *(self._rows(entry, volume.figure) for entry in entries),
            )
        )

    def _compare_runs(self, volumes: Sequence[_Volume], share: float) -> dict[str, HostChange]:
        example = volumes[0]
        before, after = (
            [self._run_of(zip(volumes, entries), example) for entries in zip(*sides)]
            for sides in ([volume.before for volume in volumes], [volume.after for volume in volumes])
        )
        after.append(
            {volume.folder: _only(example.rows, rows_of(volume.content, example.figure)) for volume in volumes}
        )
        # In a class, several runs on both sides show by themselves how much runs differ.
        is_enough = len(volumes) > 1 and len(before) > 1 and example.after
        earlier = [] if is_enough else self._earlier(volumes)
        change = compare_class(before, after, margin=self._baseline["margin"], share=share, earlier=earlier)
        return {host.host: host for host in change.hosts}

    def _run_of(self, entries: Iterable[tuple[_Volume, Entry]], example: _Volume) -> dict[str, Rows]:
        """Return the figures of the volumes of a run that have all rows."""
        known = ((volume.folder, self._rows(entry, example.figure)) for volume, entry in entries)
        return {folder: _only(example.rows, rows) for folder, rows in known if set(example.rows) <= rows.keys()}

    def _earlier(self, members: Sequence[_Volume]) -> list[list[dict[str, Rows]]]:
        """Return the other runs of some volumes, from which the variation between runs can be determined. They are
        grouped into the periods of the first volume, because all volumes of a class have the same periods."""
        example, found = members[0], []
        for period in earlier_periods(example.comparable, [*example.before, *example.after]):
            runs = [
                [(volume, volume.by_run[entry.run_id]) for volume in members if entry.run_id in volume.by_run]
                for entry in period
            ]
            self._load(entry for run in runs for _volume, entry in run)
            found.append([self._run_of(run, example) for run in runs])
        return found

    # Sentences and data for the records.

    def _said(self, volume: _Volume, change: HostChange) -> dict[str, Any]:
        worst_row = (
            None
            if change.worst_row is None
            else {**dict(zip(ROW_KEYS, change.worst_row)), "change": change.worst_row_change}
        )
        return self._made(
            change.outcome,
            reason_of(change, volume.figure, self._baseline["margin"]),
            before=[entry.sha256 for entry in volume.before],
            after=[entry.sha256 for entry in volume.after],
            figure=volume.figure,
            change=change.change,
            bound=change.bound,
            beyond_class=change.beyond_class,
            worst_row=worst_row,
            smallest_named=change.smallest_named,
            runs_needed=change.runs_needed,
            rows=self._side_by_side(volume),
        )

    def _side_by_side(self, volume: _Volume) -> list[dict[str, Any]]:
        """Return the figure of each row before and after: geometric means over the runs, like the change itself."""
        before = [self._rows(entry, volume.figure) for entry in volume.before]
        after = [*(self._rows(entry, volume.figure) for entry in volume.after), rows_of(volume.content, volume.figure)]
        power = -1 if volume.figure in RATES else 1
        return [
            {
                **dict(zip(ROW_KEYS, row)),
                "before": geometric_mean(rows[row] for rows in before) ** power,
                "after": geometric_mean(rows[row] for rows in after) ** power,
            }
            for row in volume.rows
        ]

    def _made(self, outcome: str, reason: str, **keys: Any) -> dict[str, Any]:
        said = {
            "baseline": self._baseline["kind"],
            "margin": self._baseline["margin"],
            "before": [],
            "after": [],
        }
        return {**said, "outcome": outcome, "verdict": VERDICTS[outcome], "reason": reason, **keys}


def _slim(content: Content) -> Content:
    """Return only the part of a certificate that a comparison needs, because a fleet has many certificates."""
    kept = ("source", "method_version", "disturbances", "limits_verdict", "verdict", "parameters")
    rows = [{name: row.get(name) for name in (*ROW_KEYS, LATENCY_MEAN, THROUGHPUT)} for row in content["rows"]]
    return {**{key: content[key] for key in kept if key in content}, "rows": rows}


def _only(rows: Iterable[RowKey], figures: Rows) -> Rows:
    return {row: figures[row] for row in rows}


# The text of each verdict.


def reason_of(change: HostChange, figure: str, margin: float) -> str:
    """Return the result of a comparison for a volume, as one sentence."""
    name = figure.removesuffix("_ns")
    if change.change is None or change.bound is None:
        return f"{name}: {change.reason}{_outlook(change)}"
    found = f"{name} is {_than(change.change, figure)} than in {count_runs(change.runs_before)} before"
    if change.outcome == WORSE:
        bound = f"(with 95 % confidence at least {_than(change.lower_bound, figure)}, margin {format_ratio(margin)})"
        return f"worse than its baseline: {found} {bound}{_where(change, figure)}"
    bound = f"(with 95 % confidence at most {_than(change.bound, figure)}, margin {format_ratio(margin)})"
    if change.outcome == NON_INFERIOR:
        return f"not worse than its baseline: {found} {bound}"
    open_end = _outlook(change) or ": the change is at the margin, so more runs will not decide it"
    return f"it is not known whether it is worse than its baseline: {found} {bound}{open_end}"


def _where(change: HostChange, figure: str) -> str:
    if (
        change.worst_row is None
        or change.worst_row_change is None
        or change.beyond_class is None
        or change.change is None
    ):
        return ""
    row = f"; beyond its class most at {size_text(change.worst_row[0])}, {_than(change.worst_row_change, figure)}"
    return row.replace("beyond its class ", "") if change.beyond_class == change.change else row


def _outlook(change: HostChange) -> str:
    """Return how many more runs should be enough to decide the comparison."""
    if change.after_needed:
        more = change.after_needed - change.runs_after
        return f": {more} more run{'' if more == 1 else 's'} should tell"
    if change.runs_needed:
        return f": this takes {change.runs_needed} runs before and as many after"
    return ""


def _than(change: float, figure: str) -> str:
    """Describe the change of a figure. ``change`` is above 0 if the figure became worse."""
    higher = change if figure != THROUGHPUT else 1 / (1 + change) - 1
    return f"{format_ratio(abs(higher), 2)} {'lower' if higher < 0 else 'higher'}"
