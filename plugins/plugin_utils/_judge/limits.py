# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares a limit with the rows that it judges: this is the only place that decides what a figure proves.

A figure that is based on too few operations decides nothing.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

from .._estimate.basis import NoHeadroom, basis_of, headroom
from .._estimate.target import operations_target_of, target_of
from .._run.columns import ALL_WORKERS, COMMITS, KEY_COLUMNS, Row, grouped
from .._run.findings import (
    BROKEN,
    DISTURBED,
    NO_FIGURE,
    NO_HEADROOM,
    NO_ROW,
    NO_TARGET,
    OPEN,
    WAIVED,
    Finding,
    Judgement,
    of_judgement,
)
from .._run.record import HostRecord
from .._run.tables import Tables
from .._run.verdicts import FAIL, GOOD, INCONCLUSIVE, PASS, WARN, badness, rank
from .capacity import Capacity
from .disturbance import IO_LIMIT, disturbances, freeze_behind, io_limits_behind
from .early_end import is_left_open
from .evidence import Confidence, evidence_of, is_tested, knows_time_of_worker, seconds_of
from .metrics import AS_IT_STANDS, BATCH_MEANS, HIGHEST, MARGIN, METRICS, ONCE, RUN, TARGET
from .profile import WARN as SEVERITY_WARN
from .profile import Limit, Profile, Range
from .rows import figure_of, is_beside_the_point, rows_of
from .statistics import Evidence, rare_second_share

_NO_ROW = dict.fromkeys((*KEY_COLUMNS, "operations"))
_OF_SECONDS = ("latency_max", "interval_bytes_per_s_min")
"""Metrics whose figure is that of the worst second."""
_OF_EVIDENCE = (
    "method",
    "confidence",
    "seconds",
    "blocks",
    "block_s",
    "resolved",
    "episode_s",
    "crowded_s",
    "seconds_needed",
    "log_evidence",
)
"""The figures of evidence that a judgement contains as they are."""


@dataclass(frozen=True)
class Comparison:
    """The result of a row for a limit. ``outcome`` is pass, fail or inconclusive; ``value`` is the figure in the
    metric's base unit, or None. ``at_least`` is true if the true figure may be higher. ``why`` holds a code and figures
    that explain why the figure by itself is inconclusive, or on what it is based. ``evidence`` is the evidence from the
    row's seconds, or None if the figure is compared directly. ``within_chance`` is true for a row of one worker among
    several that breaks the limit by no more than chance explains; such a row passes.
    """

    outcome: str
    value: float | None
    at_least: bool = False
    why: dict[str, Any] | None = None
    evidence: Evidence | None = None
    within_chance: bool = False


def compare(limit: Limit, row: Row, evidence: Evidence | None = None) -> Comparison:
    """Decide whether a row shows that the limit is met, that it is broken, or neither. If there is evidence, the result
    is conclusive only if the evidence and the figure agree."""
    standing = _as_it_stands(limit, row)
    if evidence is None:
        return standing
    if evidence.outcome == standing.outcome:
        return replace(standing, evidence=evidence)
    return replace(standing, outcome=INCONCLUSIVE, evidence=replace(evidence, outcome=INCONCLUSIVE))


def compare_one_of_several(limit: Limit, row: Row, tables: Tables, confidence: Confidence) -> Comparison:
    """Decide the result for the row of one worker among several.

    Among many rows, some exceed their limit by chance. Therefore, a row fails only because of evidence, and only a
    suspicious row prevents the limit from passing. The row of all workers together shows whether the storage meets the
    limit.
    """
    standing = _as_it_stands(limit, row)
    if standing.outcome != FAIL:
        return standing
    evidence = evidence_of(limit, row, tables, confidence)
    if evidence is None:
        return replace(standing, outcome=INCONCLUSIVE, why={"code": "not_counted"})
    if evidence.outcome == FAIL:
        if knows_time_of_worker(limit, tables):
            return replace(standing, evidence=evidence)
        return replace(standing, outcome=INCONCLUSIVE, why={"code": "pauses"})
    if evidence.suspect:
        return replace(standing, outcome=INCONCLUSIVE, evidence=replace(evidence, outcome=INCONCLUSIVE))
    return replace(standing, outcome=PASS, evidence=replace(evidence, outcome=PASS), within_chance=True)


def _as_it_stands(limit: Limit, row: Row) -> Comparison:
    value = row.get(limit.metric.column)
    if value is None:
        counted = limit.metric.allowed_share is not None or row["operations"] == 0
        return Comparison(INCONCLUSIVE, None, why={"code": "too_few" if counted else "not_reported"})
    at_least = row.get(limit.metric.at_least_column) == 1
    if limit.broken_by(value) or (at_least and value >= limit.value):
        return Comparison(FAIL, value, at_least)
    if at_least:
        return Comparison(INCONCLUSIVE, value, at_least, why={"code": "in_flight"})
    return Comparison(PASS, value)


@dataclass(frozen=True)
class Case:
    """The input for judging a host: its record so far, its tables, the profile, the requested confidence (None if none
    is required), and the day for which waivers must be valid.

    ``deviations`` holds, by step number, the differences from the workload's requirements. ``tables`` is None for a
    kind of run that has none.
    """

    record: HostRecord
    tables: Tables | None
    profile: Profile
    confidence: Confidence | None
    today: datetime.date
    deviations: Mapping[int, list[dict[str, Any]]] = field(default_factory=dict)


def judge_figure(limit: Limit, value: float, case: Case, values: Mapping[str, Any], hosts: Iterable[str]) -> Judgement:
    """Return the judgement of a figure of a kind of run that has no tables. ``values`` are those for the metric's
    sentence. The waivers of all the ``hosts`` that the figure concerns apply."""
    row = {**_NO_ROW, limit.metric.column: value}
    judgement = _judgement(limit, row, case, compare(limit, row), hosts)
    judgement["details"]["values"] = dict(values)
    return _settled(judgement, limit)


def judge_limit(limit: Limit, case: Case) -> list[Judgement]:
    """Return the judgements of a limit: one for each row that it judges, or a single inconclusive one if there is no
    row. Raises TablesError.

    A hard limit on the log has no judgement if the workload has no log.
    """
    if limit.metric.scope == TARGET:
        return [_judge_target(limit, case)]
    rows = _figures_of(limit, case.tables)
    if rows or is_beside_the_point(limit, case.tables):
        return [_settled(_excuse(_judge_row(limit, row, case), limit, row, case.tables), limit) for row in rows]
    return [_judge_once(limit, case, Comparison(INCONCLUSIVE, None, why={"code": NO_ROW}))]


def _judge_once(limit: Limit, case: Case, comparison: Comparison) -> Judgement:
    """Return the judgement of a comparison that is about the whole run and not about a row of results.csv."""
    return _settled(_judgement(limit, _NO_ROW, case, comparison), limit)


def judge_capacity(limit: Limit, capacity: Capacity, case: Case) -> list[Judgement]:
    """Return the judgement of a limit on the capacity: the result of the other judgements for the required load, in the
    unit of the load points."""
    kind = replace(limit.metric.kind, unit=capacity.load_unit, format=lambda load, digits=3: capacity.text(load))
    limit = replace(limit, metric=replace(limit.metric, kind=kind))
    highest, stopped = capacity.highest_passed, capacity.first_not_passed
    if highest is not None and not limit.broken_by(highest):
        comparison = Comparison(PASS, highest)
    elif stopped and limit.value >= stopped.load_point:
        why = {"code": "stopped", "load": stopped.load_point, "finding": stopped.finding}
        comparison = Comparison(FAIL if stopped.verdict == FAIL else INCONCLUSIVE, highest, why=why)
    else:
        comparison = Comparison(INCONCLUSIVE, highest, why={"code": "load_not_measured"})
    return [_judge_once(limit, case, comparison)]


def judge_target_operations(limit: Limit, capacity: Capacity, case: Case) -> list[Judgement]:
    """Return the judgements of a limit on the target in sweep_target: the rate at the highest load point that meets all
    other limits. Raises TablesError.

    These judgements are about the required rate and do not belong to a load point, because a small load may well have
    a lower rate.
    """
    asked_per_s, highest = operations_target_of(case.record.facts), capacity.highest_passed
    if asked_per_s is None or highest is None:
        why = {"code": "no_load_keeps_others" if asked_per_s else "no_target"}
        return [_judge_once(limit, case, Comparison(INCONCLUSIVE, None, why=why))]
    rate = METRICS["operations_per_s"]
    at_highest = replace(limit, metric=rate, value=limit.value * asked_per_s, load_point=Range(highest, highest))
    return [
        {**judgement, "load_point": None, "details": {**judgement["details"], "load_point": judgement["load_point"]}}
        for judgement in judge_limit(at_highest, case)
    ]


def _figures_of(limit: Limit, tables: Tables) -> list[Row]:
    """Return the rows that a limit judges, each with its figure. A metric of the whole run has one row, which is made
    from run.csv."""
    metric = limit.metric
    if metric.scope == RUN:
        return [{**_NO_ROW, metric.column: tables.number(metric.column)}]
    return [{**row, metric.column: figure_of(metric, row, tables)} for row in rows_of(limit, tables)]


def _judge_target(limit: Limit, case: Case) -> Judgement:
    """Return the judgement of the load that the volume carries; an estimate decides only within the range of its
    model."""
    try:
        found = headroom(basis_of(case.tables, case.record.facts), target_of(case.record.facts))
    except NoHeadroom as why:
        return _judge_once(limit, case, Comparison(INCONCLUSIVE, None, why={"code": "estimate", "text": str(why)}))
    standing = compare(limit, {**_NO_ROW, limit.metric.column: found.margin})
    outcome = INCONCLUSIVE if found.doubtful else standing.outcome
    why = {"code": "estimate", "text": found.text}
    judgement = _judgement(limit, _NO_ROW, case, replace(standing, outcome=outcome, why=why))
    return _settled(_excused(judgement, io_limits_behind(case.tables)), limit)


def _judge_row(limit: Limit, row: Row, case: Case) -> Judgement:
    if case.confidence is not None and row["worker"] != ALL_WORKERS and is_tested(limit, row, case.tables):
        comparison = compare_one_of_several(limit, row, case.tables, case.confidence)
    else:
        comparison = compare(limit, row, evidence_of(limit, row, case.tables, case.confidence))
    if comparison.value is None and case.tables.of_averages:
        comparison = _of_averages(limit, case.record)
    return _leave_open(_judgement(limit, row, case, comparison), case.deviations.get(row["step"]))


def _of_averages(limit: Limit, record: HostRecord) -> Comparison:
    """Return the result for a limit on a figure that MQ's own statistics do not contain. If the slowest write since the
    queue manager started meets a limit on the slowest write, no observed write can break the limit."""
    slowest_ns = ((record.kind_data or {}).get("facts") or {}).get("slowest_write_since_restart_ns")
    why: dict[str, Any] = {"code": "not_published"}
    if limit.metric.allowed_share is not None:
        why = {"code": "no_percentiles_published"}
    elif limit.metric.name == "latency_max" and isinstance(slowest_ns, int):
        if not limit.broken_by(slowest_ns):
            return Comparison(PASS, slowest_ns, why={"code": "slowest_since_restart"})
        why = {"code": "only_slowest_since_restart", "slowest_ns": slowest_ns}
    return Comparison(INCONCLUSIVE, None, why=why)


def _leave_open(judgement: Judgement, deviations_of_step: list[dict[str, Any]] | None) -> Judgement:
    """Return the judgement of a step that did something other than its workload requires, so that it cannot pass."""
    if deviations_of_step and judgement["verdict"] in GOOD:
        judgement["verdict"] = INCONCLUSIVE
        judgement["details"]["deviations"] = deviations_of_step
    return judgement


def _judgement(limit: Limit, row: Row, case: Case, comparison: Comparison, hosts: Iterable[str] = ()) -> Judgement:
    verdict = comparison.outcome
    if verdict != PASS and limit.severity == SEVERITY_WARN:
        verdict = WARN
    judgement = {
        "limit": limit.text,
        "limit_id": limit.id,
        "rows": limit.rows_text,
        "metric": limit.metric.name,
        "bound": limit.bound,
        "limit_value": limit.value,
        "unit": limit.metric.kind.unit,
        "block_size_bytes": row["block_size_bytes"],
        "load_point": row["load_point"],
        "stream": row["stream"],
        "operation": row["operation"],
        "worker": row["worker"],
        "worker_name": _name_of(row, case),
        "value": comparison.value,
        "value_at_least": comparison.at_least,
        "samples": row["operations"] or 0,
        "verdict": verdict,
        "severity": limit.severity,
        "hard": limit.hard,
        "cause": "",
        "waiver": None,
        **_evidence_keys(comparison),
        "details": _details(limit, row, comparison, _claim(limit, row, case, comparison)),
    }
    broken = comparison.value is not None and limit.broken_by(comparison.value)
    if broken and not limit.hard and verdict in (FAIL, INCONCLUSIVE):
        return _waive(judgement, case, {case.record.host, *hosts})
    return judgement


def _details(limit: Limit, row: Row, comparison: Comparison, claim: Mapping[str, Any]) -> Judgement:
    """Return additional details for the sentence about a judgement."""
    value, evidence = comparison.value, comparison.evidence
    known = {
        "operator": limit.operator,
        "kept": value is None or not limit.broken_by(value),
        "why": comparison.why,
        "in_flight": row.get("latency_max_in_flight") == 1 or None,
        **claim,
    }
    if evidence:
        allowed = None if evidence.allowed is None else float(evidence.allowed)
        known.update(outcome=evidence.outcome, allowed=allowed, counted_over_ns=evidence.counted_over_ns)
    return {key: each for key, each in known.items() if each is not None}


def _evidence_keys(comparison: Comparison) -> Judgement:
    """Return the part of the evidence that is stored in a judgement."""
    evidence = comparison.evidence
    if evidence is None:
        return {"method": AS_IT_STANDS}
    known = {key: getattr(evidence, key) for key in _OF_EVIDENCE}
    known["log_evidence"] = evidence.log_evidence if evidence.log_evidence != -math.inf else None
    of_mean = evidence.method == BATCH_MEANS
    return {
        **known,
        "share": None if of_mean else evidence.value,
        "share_bound": None if of_mean else evidence.bound,
        "value_bound": evidence.bound if of_mean else None,
        "within_chance": comparison.within_chance,
    }


def _waive(judgement: Judgement, case: Case, hosts: Container[str]) -> Judgement:
    waiver = case.profile.waiver_of(hosts, judgement["metric"], judgement["limit_id"])
    if waiver is None:
        return judgement
    judgement["details"]["waiver"] = {"text": waiver.reason, "until": waiver.until.isoformat()}
    if waiver.until >= case.today:
        judgement["verdict"] = WARN
        judgement["waiver"] = waiver.reason
    return judgement


def _excuse(judgement: Judgement, limit: Limit, row: Row, tables: Tables) -> Judgement:
    """Make a broken limit inconclusive if a disturbance of the host may be why it is broken."""
    if judgement["verdict"] != FAIL or limit.metric.scope in ONCE:
        return judgement
    excuse: list[dict[str, Any]] = []
    if limit.hard and limit.metric.name == "latency_max":
        excuse = freeze_behind(tables, row["step"], row["latency_max_ns"], limit.value)
    elif limit.metric.bound == "max" and not limit.hard:  # such limits are about slow operations
        excuse = [each for each in disturbances(tables) if each["kind"] != IO_LIMIT]
    return _excused(
        judgement, excuse + io_limits_behind(tables, row["step"], str(row["stream"]), str(row["operation"]))
    )


def _excused(judgement: Judgement, disturbed_by: list[dict[str, Any]]) -> Judgement:
    """Make a broken limit inconclusive if there is a disturbance."""
    if disturbed_by and judgement["verdict"] == FAIL:
        judgement["verdict"] = INCONCLUSIVE
        judgement["details"]["disturbance"] = disturbed_by
    return judgement


def _settled(judgement: Judgement, limit: Limit) -> Judgement:
    """Return a judgement with the cause of its verdict."""
    if judgement["verdict"] != PASS and not judgement["cause"]:
        judgement["cause"] = _cause_of(judgement, limit)
    return judgement


def _cause_of(judgement: Judgement, limit: Limit) -> str:
    value = judgement["value"]
    if judgement["waiver"]:
        return WAIVED
    if limit.metric.kind.unit == MARGIN.unit and judgement["verdict"] == INCONCLUSIVE:
        return NO_HEADROOM
    if value is None and limit.metric.scope == HIGHEST:
        return NO_TARGET
    if value is None:
        return NO_ROW if judgement["worker"] is None else NO_FIGURE
    # If a limit can only warn, it also warns if it is inconclusive.
    if judgement["verdict"] != INCONCLUSIVE and not (judgement["verdict"] == WARN and not limit.broken_by(value)):
        return BROKEN
    return DISTURBED if "disturbance" in judgement["details"] else OPEN


def _name_of(row: Row, case: Case) -> str:
    """Return the displayed name of a row's worker. Only queue managers have names."""
    if row["worker"] is None or not case.tables.layout.of_mq:
        return str(row["worker"] or "")
    return worker_name(row["worker"], case.record.worker_names, case.tables.workers_of(row))


def worker_name(worker: int | str | None, names: list[Any], workers: int) -> str:
    """Return the displayed name of a row's worker: its name, or its number if it has none. If there is only one
    worker, the row `all` is that worker's."""
    if worker is None:
        return ""
    if worker == ALL_WORKERS and workers > 1:
        return ALL_WORKERS
    number = 1 if worker == ALL_WORKERS else int(worker)
    return str(names[number - 1]) if number <= len(names) else str(number)


def _claim(limit: Limit, row: Row, case: Case, comparison: Comparison) -> Judgement:
    """Return the data about a judgement's confidence in addition to its figure, from the evidence or the seconds of the
    row; nothing if ``claim`` is absent."""
    if row["worker"] is None:
        return {}
    if limit.metric.of_responses:
        return {"claim": "without_confidence"}
    if comparison.within_chance:
        return {"claim": "within_chance", "workers": case.tables.workers_of(row)}
    if comparison.evidence:
        return {"claim": "evidence"}
    if case.confidence is None:
        return {}
    if limit.stream == COMMITS:
        return {} if limit.hard else {"claim": "same_write"}
    if row["worker"] != ALL_WORKERS:
        return (
            {}
            if comparison.why or limit.hard or limit.metric.method == AS_IT_STANDS
            else {"claim": "without_confidence"}
        )
    if comparison.outcome == PASS and limit.metric.name in _OF_SECONDS:
        seconds, alpha = len(seconds_of(row, case.tables)), case.confidence.alpha
        return {
            "claim": "rare_seconds",
            "seconds": seconds,
            "share": rare_second_share(seconds, alpha),
            "confidence": 1 - alpha,
        }
    return {}


def findings_of(judgements: list[Judgement]) -> list[Finding]:
    """Return a finding for each limit that does not pass, worst first, with its worst row and the number of other rows.
    All judgements that an early end left undecided share a single separate finding."""
    bad = (judgement for judgement in judgements if judgement["verdict"] != PASS and not is_left_open(judgement))
    groups = grouped(bad, itemgetter("limit", "rows"))
    worst_of_each = [(min(group, key=badness), len(group) - 1) for group in groups.values()]
    worst_of_each.sort(key=lambda entry: rank(entry[0]["verdict"]))
    return [of_judgement(first, others) for first, others in worst_of_each]
