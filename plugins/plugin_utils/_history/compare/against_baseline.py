# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares the volumes of a run with their baselines, and writes the result beside their records. selection.py selects
the certificates, and class_comparison.py compares them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from statistics import geometric_mean
from typing import Any, NamedTuple

from ....module_utils._units import format_ratio
from ..._judge.judged_records import can_be_compared, not_made
from ..._numerics.likeness import FEWEST_ALIKE
from ..._run.directory import RunDirectory
from ..._run.host_settings import CERTIFICATES, compares_with_baseline
from ..._run.run_files import RunDirectoryError
from ..._run.table_reader import TablesError
from ..._run.verdicts import FAIL, INCONCLUSIVE, PASS
from ..._run.words import size_text
from ..certificate import ROW_KEYS, Certificate, CertificateError, Entry, newest_of_each_run
from ..figures import IMPORTED, LATENCY_MEAN, RATES, THROUGHPUT, row_order, why_incomparable, why_unusable
from ..store.filing import make_certificate
from ..store.history import History, HistoryError
from ..store.open import open_history
from .change import NON_INFERIOR, WORSE, HostChange, count_runs
from .class_comparison import Reading, VolumeRuns, compare_volumes, kind_of
from .selection import comparable_with, counting_with, earlier_periods, last_baseline, own_entries

MOST_TOGETHER = 50
"""A volume is compared together with so many of its class."""
VERDICTS = {WORSE: FAIL, INCONCLUSIVE: INCONCLUSIVE, NON_INFERIOR: PASS}
_BEGIN = "certify it with gate_baseline_accept: true to begin a baseline, or with gate_baseline: none"


class _NothingToCompareError(Exception):
    """The reason why a volume cannot be compared with its baseline."""


class _Volume(NamedTuple):
    """A volume of the run: its kind, its certificate, judged only by the limits, the certificates of earlier runs with
    which it can be compared, oldest first, and all of these by run."""

    kind: tuple[str, str, str]
    own: Entry
    comparable: list[Entry]
    by_run: dict[str, Entry]


class _Question(NamedTuple):
    """A volume that is to be compared: its figures, its baseline, and the runs that are counted together with this
    one."""

    reading: Reading
    runs: VolumeRuns
    before: list[Entry]
    after: list[Entry]

    @property
    def key(self) -> tuple[Any, ...]:
        """What volumes have in common that are compared together."""
        runs = self.runs
        return self.reading.figure, runs.kind, tuple(runs.before), tuple(runs.after), frozenset(runs.rows)


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
            comparisons = _Run(directory, history).compare(asked)
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


class _Run:
    """The comparison of a run: what was requested, and the data about its volumes by folder."""

    def __init__(self, directory: RunDirectory, history: History) -> None:
        self._directory = directory
        self._history = history
        self._baseline: Mapping[str, Any] = directory.run["baseline"]
        self._revoked = history.revocations()
        self._volumes: dict[str, _Volume] = {}
        self._made: dict[str, Certificate] = {}
        self._readings = [Reading(history, figure, self._made, self._earlier) for figure in (LATENCY_MEAN, THROUGHPUT)]

    def compare(self, asked: Collection[str]) -> dict[str, dict[str, Any]]:
        """Return the comparisons of the volumes in some folders. Raises HistoryError."""
        comparisons = {}
        alike: dict[tuple[Any, ...], list[_Question]] = {}
        for folder in self._directory.records.folders():
            if not can_be_compared(self._directory.records.read(folder)):
                continue
            try:
                self._volumes[folder] = self._read(folder)
                if folder in asked:
                    question = self._question(folder)
                    alike.setdefault(question.key, []).append(question)
            except (_NothingToCompareError, CertificateError, RunDirectoryError, TablesError) as error:
                reason = f"it cannot be compared with its baseline: {error}"
                comparisons[folder] = self._data(INCONCLUSIVE, reason)
        total = sum(map(len, alike.values()))
        for questions in alike.values():
            comparisons.update(self._compare(questions, len(questions) / total))
        return {folder: comparison for folder, comparison in comparisons.items() if folder in asked}

    # Reading.

    def _read(self, folder: str) -> _Volume:
        certificate = make_certificate(self._directory, folder, self._directory.records.read(folder))
        content, own = certificate.content, certificate.entry
        if own.identity is None:
            raise _NothingToCompareError("it is not known which volume this is")
        unusable = why_unusable(content)
        if unusable:
            raise _NothingToCompareError(unusable)
        self._made[own.sha256] = certificate
        entries = own_entries(own, self._history.of_volume(own.identity))
        comparable = comparable_with(own, entries, self._revoked)
        return _Volume(kind_of(content), own, comparable, {entry.run_id: entry for entry in [*comparable, own]})

    def _question(self, folder: str) -> _Question:
        """Select the baseline of a volume, and the runs that are counted together with this one. Raises
        _NothingToCompareError if there is no baseline."""
        volume = self._volumes[folder]
        named = self._baseline["kind"] == CERTIFICATES
        candidates = self._named(volume) if named else last_baseline(volume.comparable)
        # The throughput is the only figure of results that were imported from mqldt.
        for reading in self._readings if any(entry.profile == IMPORTED for entry in candidates) else self._readings[:1]:
            runs = reading.read(folder, candidates, [volume.own])
            before = [entry for entry in candidates if runs and entry.run_id in runs.before]
            if before:
                after = counting_with(volume.comparable, before)
                if after:
                    runs = reading.read(folder, before, [*after, volume.own])
                if not runs or not runs.rows:
                    raise _NothingToCompareError("its runs have no row in common")
                return _Question(reading, runs, before, after)
        left_out = reading.left_out[-len(candidates) :] if candidates else []
        raise _NothingToCompareError(self._why_none(volume, left_out))

    def _named(self, volume: _Volume) -> list[Entry]:
        """Return the certificates of the host's volume that gate_baseline names. Its disk may have been replaced since
        then, but its mount point is the same."""
        named = set(self._baseline["certificates"]).difference(self._revoked)
        entries = self._history.of_name(volume.own.host, volume.own.volume)
        return newest_of_each_run(
            entry for entry in entries if entry.sha256 in named and entry.path in ("", volume.own.path)
        )

    def _why_none(self, volume: _Volume, left_out: Sequence[Mapping[str, Any]]) -> str:
        if self._baseline["kind"] != CERTIFICATES:
            return f"{self._why_no_last(volume)}: {_BEGIN}"
        if not left_out:
            return "gate_baseline names no certificate of it, or only revoked ones"
        newest = left_out[-1]
        return (
            f"the certificate that gate_baseline names (run {newest['run_id']}) cannot be compared: {newest['reason']}"
        )

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
        entries = own_entries(volume.own, self._history.of_volume(str(volume.own.identity)))
        if entries:
            (content,) = self._history.contents([entries[-1].sha256])
            if entries[-1].sha256 in self._revoked:
                reason = "it is revoked"
            elif entries[-1].misdated:
                reason = f"it is {entries[-1].date_text()}"
            else:
                reason = why_incomparable(content, self._made[volume.own.sha256].content)
            return f"none of its certificates can be compared; the newest (run {entries[-1].run_id}): {reason}"
        named = [
            entry
            for entry in self._history.of_name(volume.own.host, volume.own.volume)
            if entry.run_id != volume.own.run_id
        ]
        if named:
            return (
                "the history contains certificates under its name (the newest from run "
                f"{named[-1].run_id}), but for another volume"
            )
        return "the history contains no certificate of it"

    def _earlier(self, runs: VolumeRuns) -> list[list[Entry]]:
        comparable = self._volumes[runs.label].comparable
        return earlier_periods(comparable, [entry for entry in comparable if entry.run_id in runs.judged_at])

    # Comparing.

    def _compare(self, questions: Sequence[_Question], share: float) -> dict[str, dict[str, Any]]:
        """Return the comparisons of similar volumes with the same runs. Other volumes of their class that took part in
        these runs show how much it varies, even if they have other baselines."""
        reading, asked = questions[0].reading, [question.runs for question in questions]
        others = islice(self._others(questions), max(0, MOST_TOGETHER - len(asked)))
        together = [*asked, *others]
        compared = compare_volumes(
            reading, together if len(together) >= FEWEST_ALIKE else asked, self._baseline["margin"], share
        )
        changes = {host.host: host for host in compared.change.hosts} if compared.change else {}
        return {each.runs.label: self._result(each, changes[each.runs.label]) for each in questions}

    def _others(self, questions: Sequence[_Question]) -> Iterator[VolumeRuns]:
        example, asked = questions[0].runs, {question.runs.label for question in questions}
        needed = {*example.before, *example.after}
        for folder, volume in self._volumes.items():
            if folder in asked or volume.kind != example.kind or not needed <= volume.by_run.keys():
                continue
            before, after = ([volume.by_run[run_id] for run_id in side] for side in (example.before, example.after))
            runs = questions[0].reading.read(folder, before, after)
            if runs and needed == runs.judged_at.keys() and example.rows <= runs.rows:
                yield runs

    # Data for the records.

    def _result(self, question: _Question, change: HostChange) -> dict[str, Any]:
        figure, runs = question.reading.figure, question.runs
        power = -1 if figure in RATES else 1
        # The figures of both sides are geometric means over the runs, like the change itself.
        rows = [
            {
                **dict(zip(ROW_KEYS, row)),
                "before": geometric_mean(rows[row] for rows in runs.before.values()) ** power,
                "after": geometric_mean(rows[row] for rows in runs.after.values()) ** power,
            }
            for row in sorted(runs.rows, key=row_order)
        ]
        worst = change.worst_row
        copied = ("change", "bound", "beyond_class", "smallest_named", "runs_needed")
        return self._data(
            change.outcome,
            reason_of(change, figure, self._baseline["margin"]),
            before=[entry.sha256 for entry in question.before],
            after=[entry.sha256 for entry in question.after],
            figure=figure,
            worst_row=worst and {**dict(zip(ROW_KEYS, worst)), "change": change.worst_row_change},
            rows=rows,
            **{name: getattr(change, name) for name in copied},
        )

    def _data(self, outcome: str, reason: str, **keys: Any) -> dict[str, Any]:
        asked = {"baseline": self._baseline["kind"], "margin": self._baseline["margin"], "before": [], "after": []}
        return {**asked, "outcome": outcome, "verdict": VERDICTS[outcome], "reason": reason, **keys}


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
