# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a test of locks stores in the history: one result for each pair of hosts and directory, from the records of both
hosts."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from .._run.directory import RunDirectory
from .._run.files import fingerprint
from .._run.lock_steps import KEPT, LOCKS, STEPS, TAKEOVERS, figure, rows_of
from .._run.profiles import profile_text
from .._run.record import HostRecord
from .._run.run_files import RunDirectoryError
from .._run.table_reader import printable
from .._run.verdicts import ERROR, FAIL, GOOD, WORST_FIRST, worst
from .dating import date_of
from .lock_result import LockResult

Pair = Mapping[str, Any]


def results_of(directory: RunDirectory) -> list[LockResult]:
    """Return the result of each pair of a run. Raises RunDirectoryError."""
    found: dict[tuple[str, ...], list[tuple[HostRecord, Pair]]] = {}
    for folder in directory.records.folders():
        record = directory.records.read(folder)
        if record.kind == LOCKS:
            for pair in (record.kind_data or {}).get("pairs") or ():
                key = (record.volume, pair["first"], pair["second"], pair["directory"])
                found.setdefault(key, []).append((record, pair))
    return [_result(directory, both) for _key, both in sorted(found.items())]


def _result(directory: RunDirectory, both: Sequence[tuple[HostRecord, Pair]]) -> LockResult:
    """Return the result of a pair. If its hosts recorded different verdicts, the worse one counts."""
    verdict = worst(pair["verdict"] if pair["verdict"] in WORST_FIRST else ERROR for _record, pair in both)
    record, pair = next(each for each in both if each[1]["verdict"] == verdict or verdict == ERROR)
    findings = [each for record, pair in both for each in record.findings if _is_about(each.get("at"), pair)]
    failed = [step for step in STEPS if any(each["verdict"] == FAIL and each.get("step") == step for each in findings)]
    open_steps = {each.get("step") for each in findings if each["verdict"] not in (None, *GOOD)}
    passed = [step for step in STEPS if step not in open_steps and _is_kept(pair, step)]
    takeovers = [value for row in rows_of(pair, *TAKEOVERS) if (value := figure(row, "takeover_ns")) is not None]
    judged_at = max(date_of(directory, record) for record, _pair in both)
    known: dict[str, Any] = {
        "run_id": record.run_id or str(directory.run["run_id"]),
        **{key: printable(pair[key]) for key in ("first", "second", "directory", "server", "text")},
        "volume": printable(record.volume),
        "profile": printable(profile_text(record.profile)),
        "judged_at": judged_at,
        "verdict": verdict,
        "valid_until": _valid_until(directory, judged_at) if verdict in GOOD else None,
        "takeover_ns": int(max(takeovers)) if takeovers else None,
        "failed_steps": " ".join(failed),
        "passed_steps": " ".join(passed),
        "reason": printable((record.reasons or [""])[0]) if verdict not in GOOD else "",
    }
    return LockResult(sha256=fingerprint(known), **known)


def _is_about(at: Any, pair: Pair) -> bool:
    return isinstance(at, Mapping) and all(at.get(key) == pair[key] for key in ("first", "second", "directory"))


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
