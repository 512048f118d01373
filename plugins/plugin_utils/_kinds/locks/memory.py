# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a test of locks stores in the history, a result for each pair of hosts and directory from the records of both
hosts; the states of pairs on a given day, which follow from these results; and how a status shows them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ..._history.problems import Problem
from ..._history.result import Result, date_of, facts, result_of
from ..._history.states import (
    EXPIRED,
    FAILED,
    MOST_URGENT_FIRST,
    NONE,
    REVOKED,
    VALID,
    Status,
    Today,
    days_left,
    validity,
)
from ..._run import open_metrics as om
from ..._run.columns import grouped
from ..._run.directory import RunDirectory
from ..._run.host_settings import profile_text
from ..._run.kinds import LOCKS as KIND
from ..._run.lock_steps import KEPT, LOCKS, STEPS, TAKEOVERS, Pair, figure, is_about, rows_of
from ..._run.record import DEFAULT_VOLUME, HostRecord
from ..._run.run_files import RunDirectoryError
from ..._run.table_reader import printable
from ..._run.verdicts import ERROR, FAIL, GOOD, WORST_FIRST, worst
from ..._run.words import state_text
from .. import facets


class Memory(facets.Memory):
    """Reads nothing from the history, because each test of locks is judged by itself.

    The data of a result are the ``failed_steps`` and the ``passed_steps``, including those that passed only because a
    waiver excused them; ``takeover_ns``, the longest takeover, None if none is known; the ``server`` and the
    ``profile``; the ``text`` of the pair in reports, and the first ``reason`` for its verdict.
    """

    def of_run(self, directory: RunDirectory) -> list[Result]:
        """Return the result of each pair."""
        found: dict[tuple[str, ...], list[tuple[HostRecord, Pair]]] = {}
        for folder in directory.records.folders():
            record = directory.records.read(folder)
            if record.kind == LOCKS:
                for pair in (record.kind_data or {}).get("pairs") or ():
                    key = (record.volume, pair["first"], pair["second"], pair["directory"])
                    found.setdefault(key, []).append((record, pair))
        return [_result(directory, both) for _key, both in sorted(found.items())]

    def void(self, result: Result) -> Result:
        """Return a misdated result so that it clears no failed step."""
        return result.without_pass(passed_steps=[])

    def problems(self, results: Sequence[Result], today: Today) -> list[tuple[str, Problem]]:
        """Return each pair that failed or expired as a problem of each of its hosts."""
        return list(pair_problems(pair_states(results, today)))

    def add_to_status(
        self, status: dict[str, Any], results: Sequence[Result], lines: Sequence[Status], today: Today
    ) -> None:
        """Add the states of all pairs."""
        status["locks"] = [entry_of(pair, today) for pair in pair_states(results, today)]

    def status_lines(self, status: Mapping[str, Any]) -> tuple[list[str], str]:
        """Return a line for each pair."""
        return [
            f"{state_text(each['state']):9} {each['label']}  {each['sentence']}" for each in status["locks"]
        ], "pairs"

    def metrics(self, status: Mapping[str, Any], volumes: Sequence[tuple[str, Pair]]) -> Iterator[str]:
        """Yield the state of each pair, until when it lasts, and its longest takeover."""
        names = ("first", "second", "volume", "directory")
        pairs = [(om.labels({key: each[key] for key in names}), each) for each in status["locks"]]
        metrics = (
            (
                "logdisk_lock_state",
                "Whether the locks of the pair are in this state.",
                pairs,
                lambda each: each["state"],
            ),
            (
                "logdisk_lock_end_timestamp_seconds",
                "End of the last day on which the test of the locks counts.",
                pairs,
                lambda each: om.end_of_day_s(each["valid_until"]) if each["valid_until"] else None,
            ),
            (
                "logdisk_lock_takeover_seconds",
                "Longest takeover in the test that decides the state.",
                pairs,
                _takeover_s,
            ),
        )
        return om.gauges(metrics, tuple(state for state in MOST_URGENT_FIRST if state != REVOKED))


def _result(directory: RunDirectory, both: Sequence[tuple[HostRecord, Pair]]) -> Result:
    """Return the result of a pair. If its hosts recorded different verdicts, the worse one counts."""
    verdict = worst(pair["verdict"] if pair["verdict"] in WORST_FIRST else ERROR for _record, pair in both)
    record, pair = next(each for each in both if each[1]["verdict"] == verdict or verdict == ERROR)
    findings = [each for record, pair in both for each in record.findings if is_about(each, pair)]
    failed = [step for step in STEPS if any(each["verdict"] == FAIL and each.get("step") == step for each in findings)]
    open_steps = {each.get("step") for each in findings if each["verdict"] not in (None, *GOOD)}
    passed = [step for step in STEPS if step not in open_steps and _is_kept(pair, step)]
    takeovers = [value for row in rows_of(pair, *TAKEOVERS) if (value := figure(row, "takeover_ns")) is not None]
    judged_at = max(date_of(directory, record) for record, _pair in both)
    return result_of(
        directory,
        record,
        hosts=(printable(pair["first"]), printable(pair["second"])),
        path=printable(pair["directory"]),
        judged_at=judged_at,
        verdict=verdict,
        valid_until=_valid_until(directory, judged_at) if verdict in GOOD else None,
        data={
            **{key: printable(pair[key]) for key in ("server", "text")},
            "profile": printable(profile_text(record.profile)),
            "takeover_ns": int(max(takeovers)) if takeovers else None,
            "failed_steps": failed,
            "passed_steps": passed,
            "reason": printable((record.reasons or [""])[0]) if verdict not in GOOD else "",
        },
    )


def _is_kept(pair: Pair, step: str) -> bool:
    rows = rows_of(pair, step)
    return bool(rows) and all(row["outcome"] == KEPT for row in rows)


def _valid_until(directory: RunDirectory, judged_at: str) -> str | None:
    valid_days = (directory.run.get("policy") or {}).get("valid_days")
    if not isinstance(valid_days, int):
        return None
    try:
        return (datetime.date.fromisoformat(judged_at[:10]) + datetime.timedelta(days=valid_days)).isoformat()
    except (ValueError, OverflowError):
        raise RunDirectoryError(f"{directory.path} does not state when its locks were tested.") from None


def _takeover_s(pair: Pair) -> float | None:
    is_known = pair["takeover_ns"] is not None and pair["state"] not in (FAILED, NONE)
    return pair["takeover_ns"] / 1e9 if is_known else None


@dataclass(frozen=True)
class PairStatus:
    """The present state of a pair: its newest result, the result that decides the state (None if nothing does), and the
    steps that failed and have not passed since."""

    newest: Result
    state: str
    deciding: Result | None
    failed_steps: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The displayed name of the pair."""
        volume = "" if self.newest.volume == DEFAULT_VOLUME else f" ({self.newest.volume})"
        return f"{self.newest.label}{volume}"


def pair_states(results: Iterable[Result], today: Today) -> list[PairStatus]:
    """Return the states of all pairs, the most urgent first."""
    by_pair = grouped(sorted(results, key=attrgetter("order")), attrgetter("subject"))
    found = [_state(own, today) for own in by_pair.values()]
    return sorted(found, key=lambda status: (MOST_URGENT_FIRST.index(status.state), status.label))


def _state(results: Sequence[Result], today: Today) -> PairStatus:
    """Return the state of a pair from its results, oldest first."""
    failed: dict[str, Result] = {}
    passed: Result | None = None
    last_fail: Result | None = None
    for result in results:
        for step in result.data["passed_steps"]:
            failed.pop(step, None)
        if result.verdict == FAIL:
            failed.update(dict.fromkeys(result.data["failed_steps"], result))
            passed, last_fail = None, result
        elif result.verdict in GOOD:
            passed = result
    newest = results[-1]
    if failed:
        return PairStatus(newest, FAILED, max(failed.values(), key=lambda result: result.order), tuple(failed))
    if last_fail and not passed:
        return PairStatus(newest, FAILED, last_fail)
    if not passed:
        return PairStatus(newest, NONE, None)
    return PairStatus(newest, validity(passed.valid_until, today) if passed.valid_until else VALID, passed)


def pair_problems(pairs: Iterable[PairStatus]) -> Iterator[tuple[str, Problem]]:
    """Yield each pair that failed or expired as a problem of each of its hosts."""
    for pair in pairs:
        if pair.state == FAILED:
            steps = ", ".join(step.replace("_", " ") for step in pair.failed_steps)
            reason = f"the test of locks failed ({steps})" if steps else "no test of locks has passed since one failed"
            next_step = (
                "correct what the report of the run names as the cause, and test the locks again: only a test that "
                "passes, including the failed steps, clears this"
            )
        elif pair.state == EXPIRED:
            reason, next_step = "the result of the test of locks expired", "test the locks again"
        else:
            continue
        for host in dict.fromkeys(pair.newest.hosts):
            yield host, Problem(pair.label, pair.state, _sentence(pair), reason, next_step, KIND.playbook)


def _sentence(pair: PairStatus) -> str:
    """Return the state of a pair with its dates."""
    decides = pair.deciding
    if decides is None:
        tried = pair.newest
        return f"locks are not certified: {tried.verdict} on {tried.judged_at[:10]} (run {tried.run_id})"
    later = pair.newest
    tried = "" if later == decides else f"; {later.verdict} on {later.judged_at[:10]}"
    if pair.state == FAILED:
        return f"locks failed on {decides.judged_at[:10]} (run {decides.run_id}): {decides.data['reason']}{tried}"
    until = f" until {decides.valid_until}" if decides.valid_until else ""
    return f"locks: {decides.data['text']}; {decides.data['profile']}{until} (run {decides.run_id}){tried}"


def entry_of(pair: PairStatus, today: Today) -> dict[str, Any]:
    """Return a pair in the form of status.json."""
    decides, newest = pair.deciding, pair.newest
    until = decides.valid_until if decides else None
    return {
        "label": pair.label,
        **dict(zip(("first", "second"), newest.hosts, strict=True)),
        "volume": newest.volume,
        "directory": newest.path,
        "server": newest.data["server"] or None,
        "state": pair.state,
        "sentence": _sentence(pair),
        "profile": decides.data["profile"] if decides else None,
        **facts(decides, "run_id", "judged_at"),
        "valid_until": until,
        "days_left": days_left(until, today) if until else None,
        "takeover_ns": decides.data["takeover_ns"] if decides else None,
        "failed_steps": list(pair.failed_steps),
        "newest": facts(newest, "run_id", "verdict", "judged_at"),
    }
