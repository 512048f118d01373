# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The verdict on a fleet, which is the verdict on its worst host, and the queue managers that were left out because
their logs are not mounted. The policy of the gate, which says what stops it, is the one that was recorded when the run
was opened, unless a command overrides it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .._run.findings import LEFTOVER, NO_HOST, UNTESTED, Finding, finding
from .._run.host_settings import profiles_by_sha256
from .._run.kinds import CHECK_MODE, kind_named, kind_of
from .._run.moment import utc_now
from .._run.record import HostRecord
from .._run.shapes import Run
from .._run.verdicts import DEFAULT_FAIL_ON, ERROR, FAIL, FAIL_ON_CHOICES, GOOD, INCONCLUSIVE, UNQUALIFIED, WORST_FIRST
from .._run.volume_identity import partners_of, share_storage
from .host import SKIPPED

LOGS = "queue_manager_logs"
"""The fact that names the queue managers of a volume whose logs are on its file system, separated by blanks."""


def _note_logs(record: HostRecord, tested: dict[str, list[str]], left_out: dict[str, list[str]]) -> None:
    """Note on which hosts the log of a queue manager was tested, or is absent."""
    kind = kind_named(record.kind)
    if kind.tests_storage or kind is CHECK_MODE:
        logs = record.facts.get(LOGS)
        for name in logs.split() if isinstance(logs, str) else ():
            tested.setdefault(name, []).append(record.host)
    elif record.error and record.error.get(SKIPPED):
        left_out.setdefault(str(record.error[SKIPPED]), []).append(record.host)


def _untested(run: Run, tested: Mapping[str, list[str]], left_out: Mapping[str, list[str]]) -> Iterator[Finding]:
    """Yield a finding for each queue manager that was tested on no host that shares its storage."""
    for name, hosts in left_out.items():
        untested = [host for host in hosts if not _shares_storage_with(run, host, tested.get(name, ()))]
        if untested:
            yield finding(UNTESTED, None, queue_manager=name, hosts=untested)


def _shares_storage_with(run: Run, host: str, others: Iterable[str]) -> bool:
    own = partners_of(run, host)
    return any(share_storage(host, own, other, partners_of(run, other)) for other in others)


INSTEAD_OF = "instead_of"
"""The key of a policy that holds overridden values: they were recorded when the run was opened, and no longer apply."""


class PolicyError(ValueError):
    """A policy cannot be applied. The message is one sentence that names the value and what is allowed."""


def judge_fleet(run: Run, records: Iterable[HostRecord]) -> dict[str, Any]:
    """Judge a fleet from the verdicts on its hosts and return the content of verdict.json, without the sentences.

    ``run`` is the content of run.json. ``records`` are iterated only once. Anything that was left behind on a host
    fails the gate, regardless of the host's verdict (``problems``). Every record that needs a verdict must have one
    (``lacks_verdict``). In check mode, nothing is measured: the verdict is None, and only hosts with a verdict of their
    own (because a certification would refuse them) count. Hosts that were only observed have no verdict either. Raises
    PolicyError if the run's policy names an unknown verdict.
    """
    check_mode = kind_of(run) is CHECK_MODE
    policy = run.get("policy") or {}
    fail_on, report_only = check_policy(_fail_on(policy)), bool(policy.get("report_only"))
    replaced = {INSTEAD_OF: policy[INSTEAD_OF]} if policy.get(INSTEAD_OF) else {}
    entries: list[dict[str, Any]] = []
    tested: dict[str, list[str]] = {}
    left_out: dict[str, list[str]] = {}
    for record in records:
        _note_logs(record, tested, left_out)
        if record.verdict or not check_mode:
            entries.append(host_entry(run, record))
    hosts = [entry for entry in entries if entry["verdict"]]
    hosts.sort(key=lambda host: (WORST_FIRST.index(host["verdict"]), host["host"], host["volume"]))
    for host in hosts:
        stops = host["verdict"] in fail_on or (UNQUALIFIED in fail_on and not host["certified"])
        host["stops_gate"] = not report_only and stops
    problems = [*_fleet_problems(entries, check_mode), *_untested(run, tested, left_out)]
    without = check_mode or (entries and not hosts)
    return {
        "run_id": run.get("run_id", ""),
        "created_at": utc_now(),
        "verdict": None if without else (hosts[0]["verdict"] if hosts else ERROR),
        "certified": bool(hosts) and not check_mode and all(host["certified"] for host in hosts),
        "gate_failed": not report_only and (bool(problems) or any(host["stops_gate"] for host in hosts)),
        "counts": {verdict: sum(host["verdict"] == verdict for host in hosts) for verdict in reversed(WORST_FIRST)},
        "problems": problems,
        "wrong_fails_expected": _wrong_fails_expected(run, hosts),
        "hosts": hosts,
        "policy": {"fail_on": list(fail_on), "report_only": report_only, **replaced},
    }


def host_entry(run: Run, record: HostRecord) -> dict[str, Any]:
    """Return the entry of one record in the fleet's verdict. In a run that certifies, a result of a kind that never
    does, such as that of the locks of a claim, prevents nothing from being certified if it passes."""
    own = kind_named(record.kind)
    is_beside = bool(own.data_key) and not own.certifies and kind_of(run).certifies
    return {
        "host": record.host,
        "volume": record.volume,
        "verdict": record.verdict,
        "profile": record.profile,
        "certified": record.verdict in GOOD and (record.certified or is_beside),
        "qualification": record.qualification,
        "reasons": list(record.reasons),
        "findings": record.findings,
        "leftovers": list(record.leftovers),
    }


def lacks_verdict(record: HostRecord, check_mode: bool) -> bool:
    """Return whether a record needs a verdict, but does not have a valid one. Its kind decides whether it needs one; in
    check mode no record does."""
    if record.verdict is None:
        return not check_mode and kind_named(record.kind).needs_verdict
    return record.verdict not in WORST_FIRST


def check_policy(fail_on: Any) -> tuple[str, ...]:
    """Return the verdicts at which the gate fails, after checking them. Any verdict except pass is possible, and also
    "unqualified". Raises PolicyError."""
    if not isinstance(fail_on, (list, tuple)):
        raise PolicyError(f"fail_on must be a list of {', '.join(FAIL_ON_CHOICES)}.")
    for verdict in fail_on:
        if verdict not in FAIL_ON_CHOICES:
            raise PolicyError(f"fail_on names {str(verdict)!r}, which is not one of {', '.join(FAIL_ON_CHOICES)}.")
    return tuple(fail_on)


def _fleet_problems(hosts: list[dict[str, Any]], check_mode: bool) -> list[Finding]:
    """Return the findings that fail the gate regardless of the verdicts."""
    if not hosts and not check_mode:
        return [finding(NO_HOST, None)]
    return [
        finding(LEFTOVER, None, host=host["host"], volume=host["volume"], text=item)
        for host in hosts
        for item in host["leftovers"]
    ]


def _wrong_fails_expected(run: Run, hosts: list[dict[str, Any]]) -> float | None:
    """Return the largest number of good hosts that can be expected to fail by chance, given the profiles of the
    measured hosts; None if this number is not above one."""
    measured = [host["profile"] for host in hosts if host["verdict"] in (*GOOD, FAIL, INCONCLUSIVE)]
    profiles = profiles_by_sha256(run)
    expected = round(
        math.fsum(_wrong_fail_share(profiles.get((profile or {}).get("sha256"), {})) for profile in measured), 1
    )
    return expected if expected > 1 else None


def _wrong_fail_share(profile: Mapping[str, Any]) -> float:
    """Return the share of all runs in which a profile may fail a good host by chance; 0 if the profile has no
    confidence."""
    confidence = (profile.get("qualifies") or {}).get("confidence")
    return 1 - confidence if isinstance(confidence, float) else 0.0


def given_policy(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a policy that a command sets with its options ``gate_fail_on`` and ``gate_report_only``.
    Raises PolicyError."""
    policy: dict[str, Any] = {}
    if "gate_fail_on" in given:
        policy["fail_on"] = list(check_policy(given["gate_fail_on"]))
    if "gate_report_only" in given:
        policy["report_only"] = given["gate_report_only"]
    return policy


def policy_with(recorded: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the policy that a run recorded, after applying the command's overrides, and the values that these
    replaced."""
    known = {**recorded, "fail_on": list(_fail_on(recorded)), "report_only": bool(recorded.get("report_only"))}
    replaced = {key: known[key] for key, value in given.items() if value != known[key]}
    return {**known, **given, **({INSTEAD_OF: replaced} if replaced else {})}


def merged_policy(recorded: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the policy of a run that is merged from others. The merged run fails at every verdict at which any
    of these runs fails, and it can fail even if they only report."""
    policies = list(recorded)
    stopping = {verdict for policy in policies for verdict in _fail_on(policy)}
    days = [policy["valid_days"] for policy in policies if policy.get("valid_days")]
    return {
        "fail_on": [verdict for verdict in FAIL_ON_CHOICES if verdict in stopping],
        "report_only": False,
        **({"valid_days": min(days)} if days else {}),
    }


def _fail_on(policy: Mapping[str, Any]) -> Any:
    return DEFAULT_FAIL_ON if policy.get("fail_on") is None else policy["fail_on"]
