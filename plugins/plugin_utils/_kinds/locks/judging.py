# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The verdict on the locks of two hosts. If a lock does not exclude the other host, that is a fail that nothing
excuses. Times and numbers have limits, which a waiver can excuse. A required step that was not carried out, or whose
outcome is unknown, decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from ..._judge.limits import Case, judge_figure
from ..._judge.profile import Limit
from ..._run.findings import SETTING, Finding, Judgement, finding, of_judgement
from ..._run.lock_steps import (
    BOTH_WAYS,
    BROKEN,
    CUT_OFF,
    HAND_OVER,
    HOST_LOST,
    KEPT,
    LATE_WRITES,
    LOST,
    NOT_COVERED,
    POD_DELETED,
    SAME_HOST,
    SERVER_FAILOVER,
    SETTINGS,
    STEPS,
    UNDECIDED,
    UNDER_LOAD,
    Pair,
    StepRow,
    figure,
    figure_text,
    rows_of,
)
from ..._run.verdicts import FAIL, INCONCLUSIVE, PASS, badness
from .criteria import (
    CALL,
    IDS,
    LOCK_BROKEN,
    LOCK_NOT_COVERED,
    LOCK_UNDECIDED,
    METRICS,
    OF_METRICS,
    Required,
    limits_on_locks,
    required_steps,
)

NOT_RUN, SHORT_LOAD, NO_PAIR = "not_run", "short_load", "no_pair"
"""The causes that only judging finds: a required step without a result, a load that was shorter than required, and a
host without a partner."""

EVIDENCE: Mapping[str, tuple[str, ...]] = {
    CUT_OFF: (*LATE_WRITES.values(), "acknowledged_lost"),
    HOST_LOST: ("acknowledged_lost",),
    SERVER_FAILOVER: ("acknowledged_lost",),
}
"""Figures of steps that no limit judges, but without which the step shows nothing."""

SLOW_CALL = 0.25
"""The share of a late hand-over from which on the duration of one request explains it."""


def judged(pair: Pair, required: Required, case: Case) -> tuple[list[Judgement], list[Finding]]:
    """Return the judgements of the limits on a pair of hosts, and why it does not pass, nothing if it does.
    ``required`` is what the profile requires (``required_of``), and ``case`` has the record and the profile.

    A finding contains the figures of its row, and ``at``, which names the pair, the directory and the roles of the
    hosts.
    """
    steps = required_steps(required)
    broken = [_finding(LOCK_BROKEN, FAIL, pair, row) for row in pair["steps"] if row["outcome"] == BROKEN]
    refused = any(row["outcome"] != KEPT for row in rows_of(pair, SETTINGS))
    undecided = [*_undecided(pair, steps), *_without_figures(pair), *_short_loads(pair, required)]
    if not refused:
        undecided += _missing(pair, steps)
    judgements, beyond_limits = _judge_limits(pair, case)
    return judgements, [*broken, *beyond_limits, *undecided]


def _undecided(pair: Pair, required: Sequence[str]) -> Iterator[Finding]:
    """Yield the steps that decide nothing: those with an unknown outcome, and required steps for which a prerequisite
    is missing."""
    for row in pair["steps"]:
        if row["outcome"] == NOT_COVERED:
            if row["step"] in required:
                yield _finding(LOCK_NOT_COVERED, INCONCLUSIVE, pair, row)
        elif row["outcome"] not in (KEPT, BROKEN):
            yield _finding(LOCK_UNDECIDED, INCONCLUSIVE, pair, row)


def _missing(pair: Pair, required: Sequence[str]) -> Iterator[Finding]:
    """Yield the required steps without a result, each for the hosts that should have held the lock."""
    for step in required:
        rows = rows_of(pair, step)
        for holder, other in _wanted_roles(pair, step, bool(rows)):
            if not any(row["holder"] == holder for row in rows):
                row = {"step": step, "holder": holder, "other": other, "outcome": UNDECIDED, "cause": NOT_RUN}
                yield _finding(LOCK_UNDECIDED, INCONCLUSIVE, pair, row)


def _wanted_roles(pair: Pair, step: str, has_rows: bool) -> list[tuple[str, str]]:
    """Return which host must hold the lock in a step, and which one must request it. If either host may hold it, return
    the first one, or nothing if the step already has a result."""
    first, second = pair["first"], pair["second"]
    if step == SAME_HOST:
        return [(first, first), (second, second)]
    if step in BOTH_WAYS:
        return [(first, second), (second, first)]
    return [] if has_rows else [(first, second)]


def _short_loads(pair: Pair, required: Required) -> Iterator[Finding]:
    for row in rows_of(pair, UNDER_LOAD):
        load_s = figure(row, "load_s")
        if row["outcome"] == KEPT and (load_s is None or load_s < required["load_s"]):
            short = {**row, "cause": SHORT_LOAD}
            yield _finding(LOCK_UNDECIDED, INCONCLUSIVE, pair, short, limit_value=required["load_s"])


def _judge_limits(pair: Pair, case: Case) -> tuple[list[Judgement], list[Finding]]:
    """Return the judgements of the limits on the rows of all steps that were carried out, and a finding for the worst
    row of each step that does not meet a limit."""
    judgements, found = [], []
    for limit in limits_on_locks(case.profile):
        for step in OF_METRICS[limit.metric.name].steps:
            rows = [*_judged_rows(pair, step, limit, case)]
            judgements += [judgement for judgement, _row in rows]
            bad = [(badness(judgement), judgement, row) for judgement, row in rows if judgement["verdict"] != PASS]
            if bad:
                _badness, judgement, row = min(bad, key=itemgetter(0))
                found.append({**of_judgement(judgement, len(bad) - 1), **_about(pair, row)})
    return judgements, found


def _judged_rows(pair: Pair, step: str, limit: Limit, case: Case) -> Iterator[tuple[Judgement, StepRow]]:
    metric, hosts = OF_METRICS[limit.metric.name], (pair["first"], pair["second"])
    for row in rows_of(pair, step):
        if row["outcome"] == KEPT and (value := metric.value_of(row)) is not None:
            yield judge_figure(limit, value, case, _values(row, value), hosts), row


def _values(row: StepRow, value: float) -> dict[str, Any]:
    """Return the values for the sentence about a figure of a row."""
    call = figure(row, CALL)
    known = {
        "holder": row["holder"],
        "other": row["other"],
        "lost": LOST.get(row["step"], "lost"),
        "errno": figure_text(row, "errno"),
        "slow_ns": call if row["step"] == HAND_OVER and call and call >= value * SLOW_CALL else None,
    }
    return {key: each for key, each in known.items() if each}


def _without_figures(pair: Pair) -> Iterator[Finding]:
    """Yield each row without a figure that would have to be judged."""
    needed = {step: set(names) for step, names in EVIDENCE.items()}
    for metric in METRICS:
        for step in metric.steps:
            needed.setdefault(step, set()).update(metric.needed)
    for row in rows_of(pair, *needed):
        if row["outcome"] == KEPT and any(figure(row, name) is None for name in needed[row["step"]]):
            yield _finding(LOCK_UNDECIDED, INCONCLUSIVE, pair, {**row, "cause": "no_figure"})


def _about(pair: Pair, row: StepRow) -> dict[str, Any]:
    """Return the keys of a finding that say what it is about: the step, the pair, its directory and the roles of its
    hosts, and the figures of the row."""
    at = {key: pair[key] for key in ("first", "second", "directory")}
    return {
        "step": row["step"],
        "at": {**at, "holder": row["holder"], "other": row["other"]},
        "figures": dict(row.get("figures") or {}),
    }


def _finding(kind: str, verdict: str | None, pair: Pair, row: StepRow, **data: Any) -> Finding:
    """Return the finding of a row. ``cause`` is its step if the kind has a criterion for each step."""
    cause = row["step"] if kind == LOCK_BROKEN else None
    setting_id = figure_text(row, "setting_id") if row["cause"] == SETTING else ""
    known = {"code": row["cause"], "limit_id": setting_id or IDS.get((kind, cause)), **data}
    return finding(kind, verdict, cause=cause, **known, **_about(pair, row))


def untested_steps(pair: Pair) -> list[str]:
    """Return the steps that a pass of a pair says nothing about, because they were not carried out, or not with each
    host that should have held the lock. The step that only pods have is left out for hosts."""
    done = {(row["step"], row["holder"]) for row in pair["steps"] if row["outcome"] != NOT_COVERED}
    steps = {step for step, _holder in done}
    return [
        step
        for step in STEPS
        if (step != POD_DELETED or rows_of(pair, POD_DELETED))
        and (step not in steps or any((step, holder) not in done for holder, _other in _wanted_roles(pair, step, True)))
    ]


def about_settings(pair: Pair, found: Sequence[Finding]) -> list[Finding]:
    """Return the findings about settings of a pair, except that of the setting that ended its test, which is a finding
    of the step."""
    row = {"step": SETTINGS, "holder": pair["first"], "other": pair["second"]}
    ended_by = {figure_text(each, "setting_id") for each in rows_of(pair, SETTINGS)}
    return [{**each, **_about(pair, row)} for each in found if each["limit_id"] not in ended_by]


def notes_of(pair: Pair, required: Required) -> list[Finding]:
    """Return notes about a pair in addition to its verdict: steps that were neither carried out nor required."""
    steps = required_steps(required)
    return [
        _finding(LOCK_NOT_COVERED, None, pair, row)
        for row in pair["steps"]
        if row["outcome"] == NOT_COVERED and row["step"] not in steps
    ]
