# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of the fleet for people, for programs and for monitoring, and the problems in it."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ...module_utils._command_lines import command as shell_command
from .._judge.durability import chance_bound, percent_upwards
from .._records.host import collection_version
from .._run import open_metrics as om
from .._run.findings import VOLUME_FACTS, WRONG_DATA
from .._run.record import host_label
from .._run.table_reader import printable
from .._run.verdicts import MISSING
from .._run.words import days_text
from .changed import Line, Since, key_of
from .cut_result import CutResult
from .lock_overview import pair_entry, pair_lines, pair_metrics, pair_problems, states_by_host
from .lock_result import PairStatus
from .observations import Observed, elsewhere_lines, observed_entry, observed_text, place_of
from .observed_result import ObservedResult
from .planned import Planned
from .problem import LOCKS, POWER_CUT, Problem
from .standing import standing_facts_text
from .states import CURRENT, EXPIRED, FAILED, MOST_URGENT_FIRST, NONE, Status, Today
from .store.history import Revocation
from .wrong_dates import WrongDate, wrong_date_lines

SCHEMA_VERSION = 1
SHOWN_LINES = 100
SHOWN_CHANGES = 5
SHOWN_NEXT = 10
"""The maximum number of hosts named in the command that certifies them again."""
_URGENCY = (FAILED, EXPIRED, MISSING)
SHOWN_CHARACTERS = 60
"""The maximum number of characters of a changed fact that are shown."""


def problems_by_host(
    lines: Sequence[Status],
    expected: Iterable[str],
    plans: Mapping[str, Sequence[Planned]],
    named: Mapping[str, Sequence[str]] | None = None,
    pairs: Iterable[PairStatus] = (),
) -> dict[str, list[Problem]]:
    """Return, by host, why hosts are not certified under the requested profiles: one problem for each failed or expired
    volume of an expected host, for each volume that must be certified but is not, and for each host without a certified
    volume.

    The volumes that must be certified are those in the newest plan of a host (``plans``, by its printable name) and
    those that the inventory requires (``named``). ``pairs`` holds the states of the pairs whose locks were tested.
    """
    of_pairs: dict[str, list[Problem]] = {}
    for name, problem in pair_problems(pairs):
        of_pairs.setdefault(name, []).append(problem)
    by_host: dict[str, list[Status]] = {}
    for line in lines:
        if line.is_asked:
            by_host.setdefault(line.host, []).append(line)
    found: dict[str, list[Problem]] = {}
    for host in expected:
        own = by_host.get(printable(host), [])
        bad = [line for line in own if line.state in (FAILED, EXPIRED)]
        problems: list[Problem | None] = [_problem(line.label, line.state, line) for line in bad]
        wanted = _wanted(plans.get(printable(host), ()), (named or {}).get(host, ()))
        for volume, mount_point in wanted:
            of_name = [line for line in own if line.volume == volume]
            at_mount_point = [line for line in of_name if not mount_point or line.mount_point in ("", mount_point)]
            label = host_label(host, volume)
            problems.append(
                _missing(label if len(at_mount_point) == len(of_name) else f"{label} at {mount_point}", at_mount_point)
            )
        if not wanted and not bad:
            problems.append(_missing(host, own))
        problems += of_pairs.get(printable(host), [])
        found[host] = list(filter(None, problems))
    return {host: problems for host, problems in found.items() if problems}


def host_states(
    lines: Sequence[Status], expected: Iterable[str], problems: Collection[str], pairs: Iterable[PairStatus] = ()
) -> dict[str, str]:
    """Return the state of each expected host: the most urgent state of its volumes under the requested profile and of
    its pairs, or MISSING if a required volume has no state. ``problems`` names the hosts that are not certified."""
    by_host = states_by_host(pairs)
    for line in lines:
        if line.is_asked:
            by_host.setdefault(line.host, []).append(line.state)
    found = {host: min(by_host.get(printable(host), [NONE]), key=MOST_URGENT_FIRST.index) for host in expected}
    return {
        host: MISSING if host in problems and state not in (FAILED, EXPIRED) else state for host, state in found.items()
    }


def _wanted(plan: Iterable[Planned], named: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names of the volumes that must be certified, each with its mount point (empty if any mount point is
    accepted)."""
    planned = [(each.volume, each.mount_point) for each in plan]
    known = {volume for volume, dummy in planned}
    return [*planned, *((printable(volume), "") for volume in named if printable(volume) not in known)]


def _missing(label: str, lines: Sequence[Status]) -> Problem | None:
    """Return a problem if no volume among these lines is certified; None if one is, or if another problem gives the
    reason."""
    if any(line.state in (*CURRENT, FAILED, EXPIRED) for line in lines):
        return None
    if lines:
        return _problem(label, MISSING, lines[0])
    unknown = "the history does not contain it"
    return Problem(label, MISSING, unknown, unknown, "measure it for the first time")


def _problem(label: str, state: str, line: Status) -> Problem:
    """Return the problem of a volume that is not certified."""
    return Problem(label, state, _sentence(line), *_reason(line))


def _reason(line: Status) -> tuple[str, ...]:
    """Return why a volume is not certified (without dates and runs), what to do about it, and the playbook to use if it
    is not the one that certifies."""
    certify = "certify again"
    if line.loss:
        return (
            "lost acknowledged writes in a power cut",
            "correct the cache that lost them, and repeat at least as many power cuts: "
            "only a run that loses nothing clears this",
            POWER_CUT,
        )
    if line.fact:
        facts = line.fact.volume_facts.split()
        verify = " with sweep_verify" if WRONG_DATA in facts else ""
        return (
            " and ".join(VOLUME_FACTS[fact] for fact in facts),
            f"find the cause in the storage, and {certify}{verify}: only a run that passes clears this",
        )
    if line.state == FAILED:
        return f"failed {line.profile}", f"correct what the report of the run names as the cause, and {certify}"
    if line.state == EXPIRED:
        tried = f", and the last attempt ended with {line.attempt.verdict}" if line.attempt else ""
        return f"the certificate for {line.profile} expired{tried}", certify
    if line.state == NONE and line.replaced:
        return "its disk or file system has been replaced", certify
    if line.state == NONE:
        tried = f", and the last attempt ended with {line.attempt.verdict}" if line.attempt else ""
        return f"{_not_yet(line)}{tried}", certify if line.attempt and line.attempt.can_certify else "certify it"
    return f"the certificate for {line.profile} was {line.state}", certify


def _not_yet(line: Status) -> str:
    """State that a volume was never certified. The text does not suggest certifying the volume against a profile that
    can never certify."""
    if line.attempt and line.attempt.misdated:
        return f"it is not certified against {line.profile}, because its certificate is {line.attempt.date_text()}"
    if line.attempt and not line.attempt.can_certify:
        return f"it has not been certified yet, and {line.profile} never certifies"
    return f"it has not been certified against {line.profile} yet" if line.profile else "it has not been certified yet"


def grouped(problems: Iterable[tuple[str, Problem]]) -> list[dict[str, Any]]:
    """Return the reasons without duplicates, the most frequent of each state first, each with the hosts and volumes
    that it concerns. The items are pairs of a host and one of its problems."""
    found: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for host, problem in problems:
        key = (problem.state, problem.reason, problem.next_step, problem.playbook)
        found.setdefault(key, []).append((host, problem.label))
    ordered = sorted(found.items(), key=lambda each: (_URGENCY.index(each[0][0]), -len(each[1]), each[0][1]))
    return [
        {
            "state": state,
            "reason": reason,
            "next_step": next_step,
            "playbook": playbook,
            "hosts": list(dict.fromkeys(host for host, dummy in own)),
            "volumes": [label for dummy, label in own],
        }
        for (state, reason, next_step, playbook), own in ordered
    ]


def status_text(
    lines: Sequence[Status],
    expected: Sequence[str],
    problems: Mapping[str, Sequence[Problem]],
    today: Today,
    changed: Mapping[Line, Since],
    place: str = "",
    pairs: Sequence[PairStatus] = (),
    observed: Sequence[Observed] = (),
    command: str = "ansible-playbook",
    dates: Sequence[WrongDate] = (),
    declines: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return the status for a screen: whether the expected hosts are certified, how many volumes are in each state, the
    most urgent ones with their changes, the pairs whose locks were tested, observations of other volumes, misdated
    results (``dates``), classes that became slower (``declines``), the history at ``place``, and what to do next.
    ``problems`` holds the problems of each host
    that is not certified, and ``command`` is the beginning of a command line with the inventory."""
    by_place = {each.place: each.result for each in observed}
    counts = Counter(line.state for line in lines)
    states = ", ".join(f"{counts[state]} {state}" for state in MOST_URGENT_FIRST if counts[state]) or "no certificates"
    width = max((len(line.label) for line in lines[:SHOWN_LINES]), default=0)
    shown = [
        text
        for line in lines[:SHOWN_LINES]
        for text in (
            f"  {line.state:9} {line.label:{width}}  {_told(line, today, by_place.get(place_of(line)))}",
            *_changes(changed, line),
        )
    ]
    more = [f"  and {len(lines) - SHOWN_LINES} more, see status.json"] if len(lines) > SHOWN_LINES else []
    result = "NOT CERTIFIED" if problems else "CERTIFIED"
    source = [f"Read from the history {place}."] if place else []
    return "\n".join(
        [
            f"{result} on {today.date}: {states}; hosts expected: {len(expected)}.",
            *shown,
            *more,
            *pair_lines(pairs, SHOWN_LINES),
            *elsewhere_lines(observed, today, SHOWN_LINES),
            *wrong_date_lines(dates, SHOWN_LINES),
            *(f"  declining {each['text']}" for each in declines[:SHOWN_LINES]),
            *source,
            *_next_steps(problems, command),
        ]
    )


def _next_steps(problems: Mapping[str, Sequence[Problem]], command: str) -> Iterator[str]:
    """Yield lines that state what to do about hosts that are not certified, and about pairs whose locks are not.
    ``command`` is the beginning of the command line."""
    locks = sorted(host for host, own in problems.items() if any(each.playbook == LOCKS for each in own))
    others = sorted(host for host, own in problems.items() if not all(each.playbook == LOCKS for each in own))
    for hosts, again, playbook in ((others, "certify again", "certify"), (locks, "test the locks again", "locks")):
        if hosts:
            limit = " " + shell_command(["--limit", ",".join(hosts)]) if len(hosts) <= SHOWN_NEXT else ""
            whom = "" if limit else f" for the {len(hosts)} hosts that status.json names under problems"
            yield f"Next: after correcting what failed, {again}{whom}: {command} playbooks/{playbook}.yml{limit}"


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


def status_prom(
    lines: Sequence[Status], expected: Sequence[str], problems: Sequence[str], pairs: Sequence[PairStatus] = ()
) -> bytes:
    """Return the status in the text format of OpenMetrics."""
    counts = (
        ("logdisk_expected_hosts", "Hosts that are to be certified.", expected),
        ("logdisk_certificate_problems", "Why they are not.", problems),
    )
    out = [om.family(name, meaning) + om.sample(name, "", len(counted)) for name, meaning, counted in counts]
    asked = [line for line in lines if line.is_asked]
    out.append(
        om.family("logdisk_certificate_state", "Whether the volume is in this state under the requested profile.")
    )
    out += [
        om.states("logdisk_certificate_state", _labels(line), "state", MOST_URGENT_FIRST, line.state) for line in asked
    ]
    out.append(
        om.family("logdisk_certificate_end_timestamp_seconds", "End of the last day on which the certificate is valid.")
    )
    out += [
        om.sample("logdisk_certificate_end_timestamp_seconds", _labels(line), om.end_of_day_s(line.entry.valid_until))
        for line in asked
        if line.entry and line.entry.valid_until
    ]
    return "".join([*out, *_cut_metrics(asked), *pair_metrics(pairs), om.END]).encode("utf-8")


def _cut_metrics(lines: Sequence[Status]) -> Iterator[str]:
    """Yield the valid power cuts without a loss, and the losses that still count, each with its day."""
    kept = [(_labels(line), line.kept) for line in lines if line.kept]
    losses = [(_labels(line), line.loss) for line in lines if line.loss]
    yield om.family("logdisk_power_cuts_kept", "Power cuts of the volume that lost no acknowledged write.")
    for own, result in kept:
        yield om.sample("logdisk_power_cuts_kept", own, result.cuts)
    for name, meaning, results in (
        ("logdisk_power_cuts_kept_timestamp_seconds", "Start of the day of these power cuts.", kept),
        ("logdisk_power_cut_loss_timestamp_seconds", "Start of the day of the loss that counts.", losses),
    ):
        yield om.family(name, meaning)
        for own, result in results:
            yield om.sample(name, own, om.start_of_day_s(result.judged_at[:10]))


def _changes(changed: Mapping[Line, Since], line: Status) -> list[str]:
    """Return a line for the screen about the changes at a volume; none if nothing changed."""
    since = changed.get(key_of(line))
    if not since or not since.changes:
        return []
    texts = [
        f"{change.name} {_short(change.before)} -> {_short(change.after)}" for change in since.changes[:SHOWN_CHANGES]
    ]
    more = [f"and {len(since.changes) - SHOWN_CHANGES} more"] if len(since.changes) > SHOWN_CHANGES else []
    return [f"            changed since {since.certificate.judged_at[:10]}: {', '.join([*texts, *more])}"]


def _short(value: str | int) -> str:
    text = printable(str(value))
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 3]}..."


def _entry(line: Status, revocations: Mapping[str, Revocation], since: Since | None, today: Today) -> dict[str, Any]:
    entry, attempt = line.entry, line.attempt
    revocation = revocations.get(entry.sha256) if entry else None
    return {
        "label": line.label,
        "host": line.host,
        "volume": line.volume,
        "mount_point": line.mount_point or None,
        "profile": line.profile,
        "is_asked_for": line.is_asked,
        "state": line.state,
        "certificate": entry.sha256 if entry else None,
        "run_id": entry.run_id if entry else None,
        "judged_at": entry.judged_at if entry else None,
        "valid_until": entry.valid_until if entry else None,
        "days_left": _days_left(entry.valid_until, today) if entry and entry.valid_until else None,
        "sentence": _sentence(line),
        "revoked": {"at": revocation.revoked_at, "by": revocation.revoked_by, "reason": revocation.reason}
        if revocation
        else None,
        "attempt": {"run_id": attempt.run_id, "verdict": attempt.verdict, "judged_at": attempt.judged_at}
        if attempt
        else None,
        "clones": list(line.clones),
        "replaced_volume": line.replaced.volume_id if line.replaced else None,
        "changed_since": _since(since) if since else None,
        "volume_facts": {"facts": fact.volume_facts.split(), "run_id": fact.run_id, "judged_at": fact.judged_at}
        if (fact := line.fact)
        else None,
        "power_cuts_kept": _kept(line.kept, today) if line.kept else None,
        "power_cut_loss": {
            "run_id": loss.run_id,
            "judged_at": loss.judged_at,
            "reason": loss.reason,
            "age_days": _age_days(loss, today),
        }
        if (loss := line.loss)
        else None,
    }


def _since(since: Since) -> dict[str, Any]:
    before = since.certificate
    return {
        "certificate": before.sha256,
        "run_id": before.run_id,
        "judged_at": before.judged_at,
        "changes": [asdict(change) for change in since.changes],
    }


def _kept(kept: CutResult, today: Today) -> dict[str, Any]:
    until = kept.valid_until(today.valid_days)
    return {
        "run_id": kept.run_id,
        "judged_at": kept.judged_at,
        "cuts": kept.cuts,
        "loss_chance_bound": chance_bound(kept.cuts),
        "age_days": _age_days(kept, today),
        "valid_until": until.isoformat(),
        "is_expired": until < today.date,
    }


def _days_left(valid_until: str, today: Today) -> int:
    """Return how many days after today a certificate is valid; negative if it has expired."""
    return (datetime.date.fromisoformat(valid_until) - today.date).days


def _age_days(kept: CutResult, today: Today) -> int:
    return (today.date - datetime.date.fromisoformat(kept.judged_at[:10])).days


def _kept_text(kept: CutResult, today: Today) -> str:
    """Describe how many power cuts lost no write, the bound that they prove, how old they are, and until when they are
    valid."""
    cuts, age, until = (
        f"{kept.cuts} power {'cut' if kept.cuts == 1 else 'cuts'} kept",
        days_text(-_age_days(kept, today)),
        kept.valid_until(today.valid_days),
    )
    if until < today.date:
        return f"{cuts} {age}, expired on {until} (run {kept.run_id})"
    bound = percent_upwards(100 * chance_bound(kept.cuts))
    return f"{cuts} {age}: a chance of a loss of at most {bound} % per cut, until {until} (run {kept.run_id})"


def _told(line: Status, today: Today, observed: ObservedResult | None) -> str:
    """Return the text of a line for the screen: its sentence, followed by what is not a problem, namely the power cuts
    without a loss and the newest observation."""
    kept = [_kept_text(line.kept, today)] if line.kept else []
    return "; ".join([_sentence(line), *kept, *([observed_text(observed, today)] if observed else [])])


def _sentence(line: Status) -> str:
    """Return a line's state with its dates, and other important information."""
    parts = []
    if line.fact:
        parts.append(standing_facts_text(line.fact))
    if line.loss:
        parts.append(f"lost acknowledged writes in a power cut on {line.loss.judged_at[:10]} (run {line.loss.run_id})")
    if line.fact or line.loss:
        pass
    elif line.entry is None:
        parts.append(_not_yet(line))
    elif line.state == FAILED:
        parts.append(f"failed {line.profile} on {line.entry.judged_at[:10]} (run {line.entry.run_id})")
    elif line.state in (EXPIRED, *CURRENT):
        parts.append(f"{line.profile} until {line.entry.valid_until} (run {line.entry.run_id})")
    else:
        parts.append(f"{line.profile} of {line.entry.judged_at[:10]} was {line.state}")
    if line.attempt:
        parts.append(f"{line.attempt.verdict} on {line.attempt.judged_at[:10]}")
    if line.replaced and line.state == NONE:
        parts.append("its disk or file system has been replaced")
    if not line.is_asked:
        parts.append("a profile other than the requested one")
    if line.clones:
        parts.append(f"clone of {', '.join(line.clones)}")
    return "; ".join(parts)


def _labels(line: Status) -> str:
    place = {"mount_point": line.mount_point} if line.is_one_of_several else {}
    return om.labels({"host": line.host, "volume": line.volume, "profile": line.profile, **place})
