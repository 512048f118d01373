# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This code is private to the collection and may change at any time.

"""The verdict on a host and on a fleet: the only place where figures become verdicts.

A host's verdict is the worst of its judgements (one a limit and row) and of what the tester's exit status says. A fleet's is the worst of its hosts'.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..module_utils import _units
from ._disturbance import disturbances, freeze_behind
from ._metrics import EACH, METRICS
from ._profile import WARN as SEVERITY_WARN
from ._profile import Limit, Profile, Waiver
from ._statistics import Comparison, Evidence, compare
from ._tables import ALL_QUEUE_MANAGERS, Row, Tables
from ._verdict_names import DEFAULT_FAIL_ON, ERROR, FAIL, FAIL_ON_CHOICES, GOOD, INCONCLUSIVE, MISSING, PASS, UNQUALIFIED, WARN, WORST_FIRST

SCHEMA_VERSION = 1
DEFAULT_VOLUME = 'log'

_NO_ROW = {'block_size_bytes': None, 'queue_managers': None, 'queue_manager': None}

_LONGEST_VALUE = 40
# As backing.c of the tester names what is memory; empty is not known.
_MEMORY = ('', 'memory', 'tmpfs', 'ramfs', 'rootfs', 'devtmpfs')
# A key of run.csv, whether its value is that of a run that wrote as MQ's logger does and as fast as it could, and what another value means for people.
_AS_MQ_WRITES: tuple[tuple[str, Callable[[str], bool], str], ...] = (
    ('option_sync', lambda text: text in ('dsync', 'sync'), 'it wrote with the sync mode {value}, where MQ writes with dsync'),
    ('option_direct', lambda text: text == 'yes', 'it wrote through the page cache, where MQ writes with direct I/O'),
    ('filesystem_type', lambda text: text not in ('', 'tmpfs', 'ramfs'), 'it wrote to {value}, which is memory'),
    ('backing_unknown', lambda text: text == '', 'it cannot be seen what holds the bytes ({value}): test a volume that is mounted without it'),
    ('backing_filesystem_type', lambda text: text not in _MEMORY, 'what it wrote ended in memory ({value})'),
    ('option_rate_per_s', lambda text: not text.strip('0.'), 'it was throttled to {value} writes/s'),
    ('option_delay_us', lambda text: text == '0', 'it paused for {value} us after each write'),
)
_FOOTPRINT_KEYS = ('option_file_size_bytes', 'option_files')
"""Keys of run.csv whose product is what the files of one queue manager have together."""


class PolicyError(ValueError):
    """A policy that cannot be applied; the message is one sentence that names the value and what is allowed."""


def worst(verdicts: Iterable[str]) -> str:
    """Return the worst of some verdicts; of none it is pass, so that a caller asks only where something was judged."""
    return min(verdicts, key=WORST_FIRST.index, default=PASS)


def judge_host(record: Mapping[str, Any], tables: Tables | None, profile: Profile, today: datetime.date) -> dict[str, Any]:
    """Judge one host's volume.

    record is its record as far as it is known (host, error, workspace and tester are read), tables what its tester measured, today the day on which
    waivers are looked at. Returns the record's keys verdict, certified, qualification, reasons and judgements.
    """
    if record.get('error'):
        return _unmeasured(*_verdict_of_error(record['error']))
    status = _exit_status(record, tables)
    if tables is None or status not in (0, 3, 4):
        return _unmeasured(ERROR, _no_tables_reason(record, status))
    judgements = [judgement for limit in profile.limits for judgement in _judge_limit(limit, record, tables, profile, today)]
    verdicts = [judgement['verdict'] for judgement in judgements]
    reasons = _reasons(judgements)
    ending = _judge_ending(status, tables, profile)
    if ending:
        verdicts.append(ending[0])
        reasons.insert(0, ending[1])
    verdict = worst(verdicts)
    qualification = _qualification(verdict, tables, profile)
    return {'verdict': verdict, 'certified': not qualification, 'qualification': qualification, 'reasons': reasons, 'judgements': judgements}


def judge_fleet(run: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Judge a fleet from the verdicts on its hosts and return what verdict.json holds.

    run is run.json; records are read once, and host, volume, verdict, certified, qualification, reasons and leftovers are all that is read of them. An
    expected host without a record is missing. Something of ours that was left behind on a host stops the gate whatever the host's verdict (fleet_problems).
    In check mode nothing is measured: the verdict is None, and only hosts with a verdict of their own (a refusal to be expected) count. Raises PolicyError
    if the run's policy names an unknown verdict.
    """
    check_mode = bool((run.get('controller') or {}).get('check_mode'))
    fail_on, report_only = _policy(run)
    hosts = [host_entry(record) for record in records if not (check_mode and not record.get('verdict'))]
    if not check_mode:
        known = {host['host'] for host in hosts}
        hosts.extend(_missing_entry(name) for name in run.get('expected_hosts') or [] if name not in known)
    hosts.sort(key=lambda host: (WORST_FIRST.index(host['verdict']), host['host'], host['volume']))
    for host in hosts:
        host['stops_gate'] = not report_only and _stops(host, fail_on)
    problems = _fleet_problems(hosts, check_mode)
    return {
        'schema': SCHEMA_VERSION,
        'run_id': run.get('run_id', ''),
        'created_at': utc_now(),
        'verdict': None if check_mode else (hosts[0]['verdict'] if hosts else ERROR),
        'certified': bool(hosts) and not check_mode and all(host['certified'] for host in hosts),
        'gate_failed': not report_only and (bool(problems) or any(host['stops_gate'] for host in hosts)),
        'counts': {verdict: sum(host['verdict'] == verdict for host in hosts) for verdict in reversed(WORST_FIRST)},
        'reasons': [f'{_label(host)}: {reason}' for host in hosts for reason in host_reasons(host)] + problems,
        'fleet_problems': problems,
        'hosts': hosts,
        'policy': {'fail_on': list(fail_on), 'report_only': report_only},
    }


def host_reasons(host: Mapping[str, Any]) -> list[str]:
    """Return why one host's volume does not pass or does not certify, a sentence each; none if it does both."""
    if host['verdict'] != PASS:
        return [f'{host["verdict"]}: {reason}' for reason in host['reasons'] or ['no reason is recorded']]
    return [] if host['certified'] else [f'does not certify: {host["qualification"]}']


def host_entry(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a fleet's verdict says of one record; one without a verdict, which nobody judged, is an error."""
    verdict = record.get('verdict')
    reasons = [str(reason) for reason in record.get('reasons') or []]
    if verdict not in WORST_FIRST:
        verdict, reasons = ERROR, ['its record holds no verdict', *reasons]
    return {
        'host': str(record.get('host', '')),
        'volume': str(record.get('volume') or DEFAULT_VOLUME),
        'verdict': verdict,
        'certified': verdict in GOOD and record.get('certified') is True,
        'qualification': str(record.get('qualification') or ''),
        'reasons': reasons,
        'leftovers': [str(item) for item in record.get('leftovers') or []],
    }


def check_policy(fail_on: Any) -> tuple[str, ...]:
    """Return what a gate is to stop at, checked: verdicts other than pass, and "unqualified". Raises PolicyError."""
    if not isinstance(fail_on, (list, tuple)):
        raise PolicyError(f'fail_on must be a list of {", ".join(FAIL_ON_CHOICES)}.')
    for verdict in fail_on:
        if verdict not in FAIL_ON_CHOICES:
            raise PolicyError(f'fail_on names {str(verdict)!r}, which is not one of {", ".join(FAIL_ON_CHOICES)}.')
    return tuple(fail_on)


def utc_now() -> str:
    """Return the time of now as run directories write it: ISO 8601 in UTC, whole seconds, with Z."""
    return datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')


def host_label(host: str, volume: str) -> str:
    """Return how a host's volume is named in sentences: the host alone where the volume is the default one."""
    return host if volume == DEFAULT_VOLUME else f'{host}/{volume}'


def is_repeated(judgement: Mapping[str, Any]) -> bool:
    """Whether a judgement on the `all` row says again what the row of the only queue manager says, and need not be told twice."""
    metric = METRICS.get(judgement.get('metric', ''))
    lone = judgement.get('queue_manager') == ALL_QUEUE_MANAGERS and judgement.get('queue_managers') == 1
    return lone and metric is not None and metric.scope == EACH


def _unmeasured(verdict: str, reason: str) -> dict[str, Any]:
    return {'verdict': verdict, 'certified': False, 'qualification': 'nothing was measured', 'reasons': [reason], 'judgements': []}


def _verdict_of_error(error: Mapping[str, Any]) -> tuple[str, str]:
    verdict = error.get('verdict')
    reason = str(error.get('reason') or 'no reason is recorded')
    stage = error.get('stage')
    return verdict if verdict in DEFAULT_FAIL_ON else ERROR, f'{stage}: {reason}' if stage else reason


def _exit_status(record: Mapping[str, Any], tables: Tables | None) -> int | None:
    """Return the tester's exit status: what its tables say, unless they say success and the process did not."""
    of_process = (record.get('tester') or {}).get('exit_status')
    if tables is None:
        return of_process
    return tables.exit_status or (of_process if of_process in (1, 2, 3, 4) else 0)


def _no_tables_reason(record: Mapping[str, Any], status: int | None) -> str:
    message = str((record.get('tester') or {}).get('exit_message') or '')
    ended = 'the tester left no usable tables' if status is None else f'the tester ended with status {status} and left no usable tables'
    return f'{ended}: {message}' if message else ended


def _judge_ending(status: int, tables: Tables, profile: Profile) -> tuple[str, str] | None:
    """Return verdict and reason of a tester that did not measure to its end, None where it did."""
    if status == 0:
        return None
    if status == 3:
        return FAIL, _io_error_reason(tables.run)
    age = tables.number('in_flight_age_ns')
    ended = tables.run.get('exit_message') or tables.run.get('exit_reason') or 'interrupted'
    freeze = freeze_behind(tables, tables.number('steps_measured'), age, profile.stall_limit_ns)
    if age is not None and age >= profile.stall_limit_ns and not freeze:
        where = f' at offset {tables.run["in_flight_offset_bytes"]} of {tables.run.get("in_flight_file")}' if 'in_flight_offset_bytes' in tables.run else ''
        return FAIL, f'a write{where} had not returned after {_units.format_duration(age)}, the stall limit is {_units.format_duration(profile.stall_limit_ns)}'
    return INCONCLUSIVE, f'the tester did not measure to its end: {ended}'


def _io_error_reason(run: Mapping[str, str]) -> str:
    name = run.get('error_errno_name') or 'I/O error'
    what = 'a write came back short' if name == 'SHORT_WRITE' else f'{run.get("error_call") or "a write"} failed with {name}'
    message = f' ({run["error_message"]})' if run.get('error_message') and name != 'SHORT_WRITE' else ''
    where = f' at offset {run["error_offset_bytes"]} of {run.get("error_file")}' if run.get('error_offset_bytes') else ''
    return f'{what}{message}{where}'


def _judge_limit(limit: Limit, record: Mapping[str, Any], tables: Tables, profile: Profile, today: datetime.date) -> list[dict[str, Any]]:
    rows = [row for row in tables.results if limit.applies_to(row)]
    if not rows:
        only = f' ({limit.rows_text})' if limit.rows_text else ''
        return [_judgement(limit, _NO_ROW, Comparison(INCONCLUSIVE, None), reason=f'{limit.text}: nothing was measured that it judges{only}')]
    names = (record.get('workspace') or {}).get('queue_managers') or []
    waivers = [waiver for waiver in profile.waivers if (waiver.host, waiver.metric) == (record.get('host'), limit.metric.name)]
    judgements = [_judge_row(limit, row, names, waivers, today) for row in rows]
    if limit.hard and limit.metric.name == 'latency_max':
        freezes = [freeze_behind(tables, row['step'], row['latency_max_ns'], limit.value) for row in rows]
        return [_excuse(judgement, freeze) for judgement, freeze in zip(judgements, freezes)]
    disturbed_by = disturbances(tables) if _excusable(limit) else []
    return [_excuse(judgement, disturbed_by) for judgement in judgements]


def _judge_row(limit: Limit, row: Row, names: list[str], waivers: list[Waiver], today: datetime.date) -> dict[str, Any]:
    evidence = Evidence(row)
    comparison = compare(limit, evidence)
    name = _queue_manager_name(row['queue_manager'], names)
    reason = '' if comparison.outcome == PASS else _reason(limit, row, name, comparison, evidence.samples)
    judgement = _judgement(limit, row, comparison, name=name, samples=evidence.samples, reason=reason)
    return _waive(judgement, waivers, today) if judgement['verdict'] == FAIL and not limit.hard else judgement


def _judgement(limit: Limit, row: Mapping[str, Any], comparison: Comparison, *, name: str = '', samples: int = 0, reason: str = '') -> dict[str, Any]:
    verdict = comparison.outcome
    if verdict != PASS and limit.severity == SEVERITY_WARN:
        verdict = WARN
    return {
        'limit': limit.text,
        'rows': limit.rows_text,
        'metric': limit.metric.name,
        'bound': limit.bound,
        'limit_value': limit.value,
        'unit': limit.metric.kind.unit,
        'block_size_bytes': row['block_size_bytes'],
        'queue_managers': row['queue_managers'],
        'queue_manager': row['queue_manager'],
        'queue_manager_name': name,
        'value': comparison.value,
        'value_at_least': comparison.at_least,
        'samples': samples,
        'verdict': verdict,
        'severity': limit.severity,
        'hard': limit.hard,
        'reason': reason,
        'waiver': None,
    }


def _waive(judgement: dict[str, Any], waivers: list[Waiver], today: datetime.date) -> dict[str, Any]:
    current = [waiver for waiver in waivers if waiver.until >= today]
    if current:
        waiver = max(current, key=lambda candidate: candidate.until)
        judgement['verdict'] = WARN
        judgement['waiver'] = waiver.reason
        judgement['reason'] += f'; waived until {waiver.until} ({waiver.reason})'
    elif waivers:
        waiver = max(waivers, key=lambda candidate: candidate.until)
        judgement['reason'] += f'; the waiver {waiver.reason} expired on {waiver.until}'
    return judgement


def _excusable(limit: Limit) -> bool:
    return limit.metric.bound == 'max' and not limit.hard       # all that is bound upwards is latency


def _excuse(judgement: dict[str, Any], disturbed_by: list[str]) -> dict[str, Any]:
    """Leave open whether the disk is to blame for slow writes on a host that was disturbed."""
    if disturbed_by and judgement['verdict'] == FAIL:
        judgement['verdict'] = INCONCLUSIVE
        judgement['reason'] += f'; the host was disturbed: {", ".join(disturbed_by)}'
    return judgement


def _queue_manager_name(queue_manager: int | str, names: list[str]) -> str:
    if queue_manager == ALL_QUEUE_MANAGERS:
        return ALL_QUEUE_MANAGERS
    return str(names[queue_manager - 1]) if queue_manager <= len(names) else str(queue_manager)


def _reason(limit: Limit, row: Row, name: str, comparison: Comparison, samples: int) -> str:
    where = f'at {_units.format_size(row["block_size_bytes"])}, {_who(row, name)} ({_units.format_count(samples)} writes)'
    if comparison.value is None:
        return f'{limit.metric.name} has no figure {where}: {comparison.why}'
    figure = _distinct_figure(limit, comparison.value)
    if comparison.at_least:
        why = f': {comparison.why}' if comparison.why else ''
        return f'{limit.metric.name} at least {figure} (limit {limit.operator} {_limit_figure(limit)}) {where}{why}'
    broken = {'<=': '>', '<': '>=', '>=': '<'}[limit.operator]
    return f'{limit.metric.name} {figure} {broken} {_limit_figure(limit)} {where}'


def _limit_figure(limit: Limit) -> str:
    return limit.metric.kind.format(limit.value, 12)


def _distinct_figure(limit: Limit, value: float) -> str:
    """Write a figure with as many digits as it takes not to look like the limit."""
    texts = (limit.metric.kind.format(value, digits) for digits in range(3, 13))
    return next((text for text in texts if value == limit.value or text != limit.metric.kind.format(limit.value, 12)), str(value))


def _who(row: Row, name: str) -> str:
    if name != ALL_QUEUE_MANAGERS:
        return f'queue manager {name}' if row['queue_managers'] == 1 else f'queue manager {name} of {row["queue_managers"]}'
    return 'all queue managers' if row['queue_managers'] == 1 else f'all {row["queue_managers"]} queue managers'


def _reasons(judgements: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for each limit that does not pass, the worst first: its worst row, and how many more there are."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for judgement in judgements:
        if judgement['verdict'] != PASS and not is_repeated(judgement):
            groups.setdefault((judgement['limit'], judgement['rows']), []).append(judgement)
    worst_of_each = [(min(group, key=_badness), len(group) - 1) for group in groups.values()]
    worst_of_each.sort(key=lambda entry: WORST_FIRST.index(entry[0]['verdict']))
    return [first['reason'] + (f', and {others} more of its rows' if others else '') for first, others in worst_of_each]


def _badness(judgement: Mapping[str, Any]) -> tuple[int, float]:
    value = judgement['value'] if judgement['value'] is not None else 0
    return WORST_FIRST.index(judgement['verdict']), value if judgement['bound'] == 'min' else -value


def _qualification(verdict: str, tables: Tables, profile: Profile) -> str:
    """Return why the run does not certify, empty where it does."""
    if verdict not in GOOD:
        return f'the verdict is {verdict}'
    unlike = _unlike_mq(tables.run)
    if unlike:
        return unlike
    shortest_s = min(row['elapsed_ns'] for row in tables.results) / 1e9
    if shortest_s < profile.min_duration_s:
        return f'it measured {shortest_s:.4g} s a row, and {profile.name} asks for {profile.min_duration_s:g} s'
    return _too_small_a_ring(tables, profile) or _missing_block_sizes(tables, profile)


def _too_small_a_ring(tables: Tables, profile: Profile) -> str:
    """Return in what the files of a queue manager were too small to show what lies behind a cache, empty where they were not."""
    if not profile.min_footprint_bytes:
        return ''
    sizes = {key: tables.number(key) for key in _FOOTPRINT_KEYS}
    for key, size in sizes.items():
        if size is None:
            return f'its run.csv does not say {key}'
    footprint_bytes = int(math.prod(sizes.values()))
    if footprint_bytes >= profile.min_footprint_bytes:
        return ''
    return (f'the files of a queue manager had {_units.format_size(footprint_bytes)} together, and {profile.name} asks for '
            f'{_units.format_size(profile.min_footprint_bytes)}: a smaller ring may never leave a cache')


def _missing_block_sizes(tables: Tables, profile: Profile) -> str:
    measured = {row['block_size_bytes'] for row in tables.results}
    missing = [size for size in profile.block_sizes if size not in measured]
    return f'it did not measure {", ".join(map(_units.format_size, missing))}, which {profile.name} asks for' if missing else ''


def _unlike_mq(run: Mapping[str, str]) -> str:
    """Return in what the run did not write as MQ's logger does, empty where it did; what run.csv does not say is not known, and proves nothing."""
    for key, holds, text in _AS_MQ_WRITES:
        value = run.get(key)
        if value is None or (not value and not holds(value)):
            return f'its run.csv does not say {key}'
        if not holds(value):
            return text.format(value=value[:_LONGEST_VALUE])
    return ''


def _policy(run: Mapping[str, Any]) -> tuple[tuple[str, ...], bool]:
    policy = run.get('policy') or {}
    fail_on = policy.get('fail_on')
    return check_policy(DEFAULT_FAIL_ON if fail_on is None else fail_on), bool(policy.get('report_only'))


def _missing_entry(host: str) -> dict[str, Any]:
    return {
        'host': host, 'volume': DEFAULT_VOLUME, 'verdict': MISSING, 'certified': False, 'qualification': 'nothing was measured',
        'reasons': ['it was expected and never reported'], 'leftovers': [],
    }


def _stops(host: Mapping[str, Any], fail_on: tuple[str, ...]) -> bool:
    return host['verdict'] in fail_on or (UNQUALIFIED in fail_on and not host['certified'])


def _fleet_problems(hosts: list[dict[str, Any]], check_mode: bool) -> list[str]:
    """Return what stops the gate whatever the verdicts are, a sentence each."""
    if not hosts and not check_mode:
        return ['no host was expected and none reported']
    return [f'{_label(host)}: left behind on the host: {item}' for host in hosts for item in host['leftovers']]


def _label(host: Mapping[str, Any]) -> str:
    return host_label(host['host'], host['volume'])
