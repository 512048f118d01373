# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of the fleet as the plain data of status.json. Everything that shows the status is written from it."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from .._judge.durability import chance_bound
from .._judge.effect import CERTIFIES
from .._records.host import collection_version
from .._run.kinds import KINDS
from .._run.table_reader import printable
from .certificate import Entry
from .figures import changes
from .problems import Problem, grouped, host_states, sentence_of
from .result import Result, facts, wrong_dates
from .standing import kept_until
from .states import Status, Today, days_left
from .store.history import History

SCHEMA_VERSION = 1
MOST_CHANGED = 100
"""In a large fleet, what changed is found only for the most urgent lines, because each needs two complete
certificates."""

Line = tuple[str, str, str, str]
"""The host, volume, mount point and profile of a line in a status."""


def status_json(
    lines: Sequence[Status],
    expected: Sequence[str],
    problems: Mapping[str, Sequence[Problem]],
    today: Today,
    revocations: Mapping[str, Mapping[str, str]],
    changed: Mapping[Line, Mapping[str, Any]],
    results: Mapping[str, Sequence[Result]] | None = None,
    declines: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the content of status.json. ``problems`` holds the problems of each host that is not certified,
    ``changed`` what changed since volumes were certified, and ``results`` the results that count by their kind, which
    each kind of run adds."""
    found = [(host, problem) for host, own in problems.items() for problem in own]
    hosts = {printable(host) for host in expected}
    known = results or {}
    status = {
        "schema": SCHEMA_VERSION,
        "date": today.date.isoformat(),
        "collection_version": collection_version(),
        "expiring_days": today.expiring_days,
        "certified": not found,
        "expected_hosts": list(expected),
        "host_states": host_states(lines, expected, problems),
        "never_measured": _never_measured(lines, expected),
        "problems": [problem.text for dummy, problem in found],
        "reasons": grouped(found),
        "volumes": [
            {
                **_entry(line, revocations, changed.get(key_of(line)), today),
                "is_expected": line.host in hosts,
                "closest_limit": line.entry.closest_limit if line.entry else None,
            }
            for line in lines
        ],
        "wrong_dates": wrong_dates(each for own in known.values() for each in own),
        "declines": list(declines),
    }
    for kind in KINDS.values():
        kind.memory.add_to_status(status, known.get(kind.name, ()), lines, today)
    return status


def _never_measured(lines: Iterable[Status], expected: Iterable[str]) -> list[str]:
    """Return the expected hosts that have no volume in the history."""
    known = {line.host for line in lines}
    return [host for host in expected if printable(host) not in known]


def _entry(
    line: Status, revocations: Mapping[str, Mapping[str, str]], since: Mapping[str, Any] | None, today: Today
) -> dict[str, Any]:
    entry, attempt, fact = line.entry, line.attempt, line.fact
    return {
        **facts(line, "label", "host", "volume"),
        "mount_point": line.mount_point or None,
        "profile": line.profile,
        "is_asked_for": line.is_asked,
        "state": line.state,
        "certificate": entry.sha256 if entry else None,
        **facts(entry, "run_id", "judged_at", "valid_until"),
        "days_left": days_left(entry.valid_until, today) if entry and entry.valid_until else None,
        "sentence": sentence_of(line),
        "revoked": revocations.get(entry.sha256) if entry else None,
        "attempt": facts(attempt, "run_id", "verdict", "judged_at") if attempt else None,
        "clones": list(line.clones),
        "replaced_volume": line.replaced.volume_id if line.replaced else None,
        "changed_since": since,
        "volume_facts": {"facts": fact.volume_facts.split(), **facts(fact, "run_id", "judged_at")} if fact else None,
        "power_cuts_kept": _kept(line.kept, today) if line.kept else None,
        "power_cut_loss": _loss(line.loss, today) if line.loss else None,
    }


def _loss(loss: Result, today: Today) -> dict[str, Any]:
    return {
        **facts(loss, "run_id", "judged_at"),
        "reason": loss.data["reason"],
        "age_days": _age_days(loss, today),
    }


def _kept(kept: Result, today: Today) -> dict[str, Any]:
    cuts, until = kept.data["cuts"], kept_until(kept, today.valid_days)
    return {
        **facts(kept, "run_id", "judged_at"),
        "cuts": cuts,
        "loss_chance_bound": chance_bound(cuts),
        "age_days": _age_days(kept, today),
        "valid_until": until.isoformat(),
        "is_expired": until < today.date,
    }


def _age_days(result: Result, today: Today) -> int:
    return (today.date - datetime.date.fromisoformat(result.judged_at[:10])).days


# What changed at a volume since it was last certified: the kernel, the firmware, the disk, the settings of the array.


def key_of(line: Status) -> Line:
    """Return the key that identifies a line of the status."""
    return line.host, line.volume, line.mount_point, line.profile


def changed_since(history: History, lines: Sequence[Status]) -> dict[Line, dict[str, Any]]:
    """Return, for the first lines of the status and in the form of status.json, the changes from the previous
    certificate to the latest judgement. There may be none, because it is also useful to know that nothing changed.
    Raises HistoryError."""
    pairs = {key_of(line): pair for line in lines[:MOST_CHANGED] if (pair := _pair(history, line))}
    wanted = list(dict.fromkeys(entry.sha256 for pair in pairs.values() for entry in pair))
    contents = dict(zip(wanted, history.contents(wanted)))
    return {
        key: {
            "certificate": before.sha256,
            **facts(before, "run_id", "judged_at"),
            "changes": [asdict(each) for each in changes(contents[before.sha256], contents[after.sha256])],
        }
        for key, (before, after) in pairs.items()
    }


def _pair(history: History, line: Status) -> tuple[Entry, Entry] | None:
    """Return the newest entry that identifies its volume, and the last earlier certificate of the same place; None if
    there is no such pair."""
    after = line.attempt if line.attempt and line.attempt.identity else line.entry
    if after is None:
        return None
    same = [entry for entry in history.of_name(line.host, line.volume) if entry.place == after.place]
    before = [entry for entry in same if entry.effect == CERTIFIES and entry.order < after.order]
    return (before[-1], after) if before else None
