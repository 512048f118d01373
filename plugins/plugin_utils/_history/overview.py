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
from .._records.host import collection_version
from .._run.table_reader import printable
from .changed import Line, Since, key_of
from .cut_result import CutResult
from .lock_result import PairStatus
from .observations import Observed, observed_entry, place_of
from .problems import Problem, grouped, host_states, pair_sentence, sentence_of
from .states import Status, Today
from .store.history import Revocation
from .wrong_dates import WrongDate

SCHEMA_VERSION = 1


def status_json(
    lines: Sequence[Status],
    expected: Sequence[str],
    problems: Mapping[str, Sequence[Problem]],
    today: Today,
    revocations: Mapping[str, Revocation],
    changed: Mapping[Line, Since],
    pairs: Sequence[PairStatus] = (),
    observed: Sequence[Observed] = (),
    closest: Mapping[str, Mapping[str, Any]] | None = None,
    dates: Sequence[WrongDate] = (),
    declines: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the content of status.json. ``problems`` holds the problems of each host that is not certified, and
    ``closest`` the figures that come closest to their limits, by the SHA-256 of the certificate."""
    observations = [observed_entry(each, today) for each in observed]
    by_place = {each.place: entry for each, entry in zip(observed, observations, strict=True)}
    found = [(host, problem) for host, own in problems.items() for problem in own]
    hosts = {printable(host) for host in expected}
    return {
        "schema": SCHEMA_VERSION,
        "date": today.date.isoformat(),
        "collection_version": collection_version(),
        "expiring_days": today.expiring_days,
        "certified": not found,
        "expected_hosts": list(expected),
        "host_states": host_states(lines, expected, problems, pairs),
        "never_measured": _never_measured(lines, expected),
        "problems": [problem.text for dummy, problem in found],
        "reasons": grouped(found),
        "volumes": [
            {
                **_entry(line, revocations, changed.get(key_of(line)), today),
                "is_expected": line.host in hosts,
                "observation": by_place.get(place_of(line)),
                "closest_limit": (closest or {}).get(line.entry.sha256) if line.entry else None,
            }
            for line in lines
        ],
        "locks": [pair_entry(pair, today) for pair in pairs],
        "observations": observations,
        "wrong_dates": [asdict(each) for each in dates],
        "declines": list(declines),
    }


def _never_measured(lines: Iterable[Status], expected: Iterable[str]) -> list[str]:
    """Return the expected hosts that have no volume in the history."""
    known = {line.host for line in lines}
    return [host for host in expected if printable(host) not in known]


def _entry(line: Status, revocations: Mapping[str, Revocation], since: Since | None, today: Today) -> dict[str, Any]:
    entry, attempt, fact, loss = line.entry, line.attempt, line.fact, line.loss
    revocation = revocations.get(entry.sha256) if entry else None
    return {
        **_facts(line, "label", "host", "volume"),
        "mount_point": line.mount_point or None,
        "profile": line.profile,
        "is_asked_for": line.is_asked,
        "state": line.state,
        "certificate": entry.sha256 if entry else None,
        **_facts(entry, "run_id", "judged_at", "valid_until"),
        "days_left": _days_left(entry.valid_until, today) if entry and entry.valid_until else None,
        "sentence": sentence_of(line),
        "revoked": {"at": revocation.revoked_at, "by": revocation.revoked_by, "reason": revocation.reason}
        if revocation
        else None,
        "attempt": _facts(attempt, "run_id", "verdict", "judged_at") if attempt else None,
        "clones": list(line.clones),
        "replaced_volume": line.replaced.volume_id if line.replaced else None,
        "changed_since": _since(since) if since else None,
        "volume_facts": {"facts": fact.volume_facts.split(), **_facts(fact, "run_id", "judged_at")} if fact else None,
        "power_cuts_kept": _kept(line.kept, today) if line.kept else None,
        "power_cut_loss": {**_facts(loss, "run_id", "judged_at", "reason"), "age_days": _age_days(loss, today)}
        if loss
        else None,
    }


def _facts(of: Any, *names: str) -> dict[str, Any]:
    """Return some fields of an object, each None if there is no object."""
    return {name: getattr(of, name, None) for name in names}


def _since(since: Since) -> dict[str, Any]:
    return {
        "certificate": since.certificate.sha256,
        **_facts(since.certificate, "run_id", "judged_at"),
        "changes": [asdict(change) for change in since.changes],
    }


def _kept(kept: CutResult, today: Today) -> dict[str, Any]:
    until = kept.valid_until(today.valid_days)
    return {
        **_facts(kept, "run_id", "judged_at", "cuts"),
        "loss_chance_bound": chance_bound(kept.cuts),
        "age_days": _age_days(kept, today),
        "valid_until": until.isoformat(),
        "is_expired": until < today.date,
    }


def pair_entry(pair: PairStatus, today: Today) -> dict[str, Any]:
    """Return a pair in the form of status.json."""
    decides, newest = pair.deciding, pair.newest
    until = decides.valid_until if decides else None
    return {
        "label": pair.label,
        **_facts(newest, "first", "second", "volume", "directory"),
        "server": newest.server or None,
        "state": pair.state,
        "sentence": pair_sentence(pair),
        **_facts(decides, "profile", "run_id", "judged_at"),
        "valid_until": until,
        "days_left": _days_left(until, today) if until else None,
        "takeover_ns": decides.takeover_ns if decides else None,
        "failed_steps": list(pair.failed_steps),
        "newest": _facts(newest, "run_id", "verdict", "judged_at"),
    }


def _days_left(valid_until: str, today: Today) -> int:
    """Return how many days after today a certificate is valid; negative if it has expired."""
    return (datetime.date.fromisoformat(valid_until) - today.date).days


def _age_days(kept: CutResult, today: Today) -> int:
    return (today.date - datetime.date.fromisoformat(kept.judged_at[:10])).days
