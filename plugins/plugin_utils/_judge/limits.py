# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A limit against the rows that it judges: the one place that decides what a figure proves.

A figure that the number of operations cannot support is no figure: it decides nothing.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.disturbance import disturbances, freeze_behind
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.metrics import EACH, RUN, find_metric
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.percentile import figure_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile import WARN as SEVERITY_WARN
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile import Limit, Profile, Waiver
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import ALL_WORKERS, KEY_COLUMNS, Row, Tables, Words, size_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import FAIL, INCONCLUSIVE, PASS, WARN, WORST_FIRST

_NO_ROW = dict.fromkeys(KEY_COLUMNS)


@dataclass(frozen=True)
class Comparison:
    """What a row says about a limit.

    outcome is pass, fail or inconclusive; value is the figure in the metric's base unit, None if there is none; at_least says that the true figure
    is not below it; why says in a few words why an inconclusive outcome is one.
    """

    outcome: str
    value: float | None
    at_least: bool = False
    why: str = ""


def compare(limit: Limit, row: Row) -> Comparison:
    """Decide whether a row shows that the limit is kept or broken, or neither."""
    value = row.get(limit.metric.column)
    if value is None:
        return Comparison(INCONCLUSIVE, None, why="too few writes for this figure")
    at_least = row.get(limit.metric.at_least_column) == 1
    if limit.broken_by(value) or (at_least and value >= limit.value):
        return Comparison(FAIL, value, at_least)
    if at_least:
        return Comparison(INCONCLUSIVE, value, at_least, why="the slowest write was still in flight")
    return Comparison(PASS, value)


def is_repeated(judgement: Mapping[str, Any]) -> bool:
    """Whether a judgement on the `all` row says again what the row of the only queue manager says, and need not be told twice."""
    metric = find_metric(judgement.get("metric", ""))
    lone = judgement.get("worker") == ALL_WORKERS and judgement.get("load_point") == 1
    return lone and metric is not None and metric.scope == EACH


def judge_limit(limit: Limit, record: HostRecord, tables: Tables, profile: Profile, today: datetime.date) -> list[dict[str, Any]]:
    """Return the judgements of a limit: one for each row that it judges, or an inconclusive one if there is none."""
    rows = _rows_of(limit, tables)
    if not rows:
        only = f" ({limit.rows_text})" if limit.rows_text else ""
        return [_judgement(limit, _NO_ROW, Comparison(INCONCLUSIVE, None), reason=f"{limit.text}: nothing was measured that it judges{only}")]
    waivers = [waiver for waiver in profile.waivers if (waiver.host, waiver.metric) == (record.host, limit.metric.name)]
    judgements = [_judge_row(limit, row, record.worker_names, tables.words, waivers, today) for row in rows]
    if limit.hard and limit.metric.name == "latency_max":
        freezes = [freeze_behind(tables, row["step"], row["latency_max_ns"], limit.value) for row in rows]
        return [_excuse(judgement, freeze) for judgement, freeze in zip(judgements, freezes)]
    disturbed_by = disturbances(tables) if _excusable(limit) else []
    return [_excuse(judgement, disturbed_by) for judgement in judgements]


def _rows_of(limit: Limit, tables: Tables) -> list[Row]:
    """Return the rows that a limit judges, each with its figure; a metric of the whole run has one row, made from run.csv."""
    if limit.metric.scope == RUN:
        return [{**_NO_ROW, "operations": None, limit.metric.column: tables.number(limit.metric.column)}]
    metric = limit.metric
    return [{**row, metric.column: figure_of(metric, row, tables)} for row in tables.results if limit.applies_to(row)]


def _judge_row(limit: Limit, row: Row, names: list[Any], words: Words, waivers: list[Waiver], today: datetime.date) -> dict[str, Any]:
    comparison = compare(limit, row)
    name = worker_name(row["worker"], names)
    reason = "" if comparison.outcome == PASS else _reason(limit, row, _where(row, name, words), comparison)
    judgement = _judgement(limit, row, comparison, name=name, samples=row["operations"] or 0, reason=reason)
    return _waive(judgement, waivers, today) if judgement["verdict"] == FAIL and not limit.hard else judgement


def _judgement(limit: Limit, row: Mapping[str, Any], comparison: Comparison, *, name: str = "", samples: int = 0, reason: str = "") -> dict[str, Any]:
    verdict = comparison.outcome
    if verdict != PASS and limit.severity == SEVERITY_WARN:
        verdict = WARN
    return {
        "limit": limit.text,
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
        "worker_name": name,
        "value": comparison.value,
        "value_at_least": comparison.at_least,
        "samples": samples,
        "verdict": verdict,
        "severity": limit.severity,
        "hard": limit.hard,
        "reason": reason,
        "waiver": None,
    }


def _waive(judgement: dict[str, Any], waivers: list[Waiver], today: datetime.date) -> dict[str, Any]:
    current = [waiver for waiver in waivers if waiver.until >= today]
    if current:
        waiver = max(current, key=lambda candidate: candidate.until)
        judgement["verdict"] = WARN
        judgement["waiver"] = waiver.reason
        judgement["reason"] += f"; waived until {waiver.until} ({waiver.reason})"
    elif waivers:
        waiver = max(waivers, key=lambda candidate: candidate.until)
        judgement["reason"] += f"; the waiver {waiver.reason} expired on {waiver.until}"
    return judgement


def _excusable(limit: Limit) -> bool:
    """Whether a disturbance can have broken the limit: slow operations, but not a figure of the disturbance itself."""
    return limit.metric.bound == "max" and limit.metric.scope != RUN and not limit.hard


def _excuse(judgement: dict[str, Any], disturbed_by: list[str]) -> dict[str, Any]:
    """Leave open whether the disk is to blame for slow writes on a host that was disturbed."""
    if disturbed_by and judgement["verdict"] == FAIL:
        judgement["verdict"] = INCONCLUSIVE
        judgement["reason"] += f"; the host was disturbed: {', '.join(disturbed_by)}"
    return judgement


def worker_name(worker: int | str | None, names: list[Any]) -> str:
    if worker is None:
        return ""
    if worker == ALL_WORKERS:
        return ALL_WORKERS
    return str(names[worker - 1]) if worker <= len(names) else str(worker)


def _reason(limit: Limit, row: Row, where: str, comparison: Comparison) -> str:
    if comparison.value is None:
        return f"{limit.metric.name} has no figure {where}: {comparison.why}"
    figure = _distinct_figure(limit, comparison.value)
    if comparison.at_least:
        why = f": {comparison.why}" if comparison.why else ""
        return f"{limit.metric.name} at least {figure} (limit {limit.operator} {_limit_figure(limit)}) {where}{why}"
    broken = {"<=": ">", "<": ">=", ">=": "<"}[limit.operator]
    return f"{limit.metric.name} {figure} {broken} {_limit_figure(limit)} {where}"


def _limit_figure(limit: Limit) -> str:
    return limit.metric.kind.format(limit.value, 12)


def _distinct_figure(limit: Limit, value: float) -> str:
    """Write a figure with as many digits as it takes not to look like the limit."""
    texts = (limit.metric.kind.format(value, digits) for digits in range(3, 13))
    return next((text for text in texts if value == limit.value or text != limit.metric.kind.format(limit.value, 12)), str(value))


def _where(row: Row, name: str, words: Words) -> str:
    """Return which row it is, for people."""
    if row["worker"] is None:
        return "in this run"
    return f"at {size_text(row['block_size_bytes'])}, {_who(row, name, words)} ({_units.format_count(row['operations'])} {row['operation']}s)"


def _who(row: Row, name: str, words: Words) -> str:
    if name != ALL_WORKERS:
        return f"{words.worker} {name}" if row["load_point"] == 1 else f"{words.worker} {name} of {row['load_point']}"
    return f"all {words.workers}" if row["load_point"] == 1 else f"all {row['load_point']} {words.workers}"


def reasons_of(judgements: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for each limit that does not pass, the worst first: its worst row, and how many more there are."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for judgement in judgements:
        if judgement["verdict"] != PASS and not is_repeated(judgement):
            groups.setdefault((judgement["limit"], judgement["rows"]), []).append(judgement)
    worst_of_each = [(min(group, key=_badness), len(group) - 1) for group in groups.values()]
    worst_of_each.sort(key=lambda entry: WORST_FIRST.index(entry[0]["verdict"]))
    return [first["reason"] + (f", and {others} more of its rows" if others else "") for first, others in worst_of_each]


def _badness(judgement: Mapping[str, Any]) -> tuple[int, float]:
    value = judgement["value"] if judgement["value"] is not None else 0
    return WORST_FIRST.index(judgement["verdict"]), value if judgement["bound"] == "min" else -value
