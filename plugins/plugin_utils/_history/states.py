# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines the states of certificates on a given day: which ones belong to the same volume, and the state of each.

The states depend only on the entries, in the order that the history gives them (result.py). There is one chain of
entries for each combination of a volume, its content and the name of a profile. In a chain, each certificate supersedes
the previous one, a failed test ends the validity, and attempts change nothing. The newest entry with each effect
decides the state of a chain, so a store need not read the others. One of the chains of a volume belongs to the
requested profile. A fact about the volume makes all of its chains failed.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from .._judge.effect import ATTEMPT, CERTIFIES, FAILS
from .._run.record import host_label
from .._run.table_reader import printable
from .certificate import Entry
from .result import Result
from .standing import CutResults, newest_kept, standing_fact, standing_loss

FAILED = "failed"
EXPIRED = "expired"
NONE = "none"
UNMEASURED = "unmeasured"
"""The state of a host or a required volume that the history does not contain."""
REVOKED = "revoked"
EXPIRING = "expiring"
VALID = "valid"
SUPERSEDED = "superseded"

MOST_URGENT_FIRST = (FAILED, EXPIRED, NONE, REVOKED, EXPIRING, VALID)
"""States of a volume. The state "none" means that the volume was never certified."""

CURRENT = (EXPIRING, VALID)
"""States of a volume that is certified today."""


@dataclass(frozen=True)
class Today:
    """The day for which states are requested, the number of days (including the last day of a certificate) during which
    a certificate is expiring, and the number of days for which power cuts without a loss are valid."""

    date: datetime.date
    expiring_days: int
    valid_days: int = 90


def day_of(text: str | None) -> datetime.date:
    """Return a day from ISO 8601, or today in UTC. Raises ValueError."""
    if not text:
        return datetime.datetime.now(datetime.timezone.utc).date()
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a day such as 2026-11-21") from None


def entry_states(entries: Iterable[Entry], revoked: Collection[str], today: Today) -> dict[str, str]:
    """Return the states of the certificates and failed tests of one chain, by SHA-256. Attempts have no state.
    ``revoked`` holds the SHA-256 of each revoked certificate."""
    found: dict[str, str] = {}
    later: set[str] = set()
    for entry in sorted(entries, key=lambda entry: entry.order, reverse=True):
        if entry.effect == ATTEMPT:
            continue
        found[entry.sha256] = _state(entry, later, revoked, today)
        later.add(entry.effect)
    return found


def _state(entry: Entry, later: Collection[str], revoked: Collection[str], today: Today) -> str:
    """Return the state of an entry, given the effects of the entries that followed it."""
    if entry.sha256 in revoked:
        return REVOKED
    if CERTIFIES in later:
        return SUPERSEDED
    if entry.effect == FAILS or FAILS in later:
        return FAILED
    return validity(entry.valid_until or "", today)


def validity(last_day: str, today: Today) -> str:
    """Return whether something that is valid until the end of a day has expired, is expiring or is valid."""
    remaining_days = days_left(last_day, today)
    if remaining_days < 0:
        return EXPIRED
    return EXPIRING if remaining_days < today.expiring_days else VALID


def days_left(last_day: str, today: Today) -> int:
    """Return how many days after today something is valid; negative if it has expired."""
    return (datetime.date.fromisoformat(last_day) - today.date).days


@dataclass(frozen=True)
class Chain:
    """The entries of one volume and one profile, oldest first."""

    profile: str
    entries: tuple[Entry, ...]

    @property
    def deciding(self) -> Entry | None:
        """The entry that determines the state: the newest certificate or failed test; None if there are only
        attempts."""
        return next((entry for entry in reversed(self.entries) if entry.effect != ATTEMPT), None)

    @property
    def certificate(self) -> Entry | None:
        """The newest certificate."""
        return next((entry for entry in reversed(self.entries) if entry.effect == CERTIFIES), None)

    def state(self, revoked: Collection[str], today: Today) -> str:
        """Return the state of the volume under this profile."""
        return entry_states(self.entries, revoked, today)[self.deciding.sha256] if self.deciding else NONE


@dataclass(frozen=True)
class Volume:
    """A volume with one particular content: its entries, oldest first, and the inventory names of other machines with
    the same identity."""

    volume_id: str
    disk_id: str | None
    entries: tuple[Entry, ...]
    clones: tuple[str, ...] = ()

    @property
    def newest(self) -> Entry:
        """The newest entry. It contains the present names of the volume."""
        return self.entries[-1]

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """The chains by the name of their profile."""
        by_profile: dict[str, list[Entry]] = {}
        for entry in self.entries:
            by_profile.setdefault(entry.profile, []).append(entry)
        return tuple(Chain(profile, tuple(entries)) for profile, entries in sorted(by_profile.items()))


def volumes(entries: Iterable[Entry]) -> list[Volume]:
    """Return the volumes to which the entries belong, each with its own entries. Entries without a volume are left out.
    A replaced volume is a separate volume.

    Machines that share an identity are distinguished by their boot IDs: if the same identity appears under another
    inventory name, it is the same machine if they share a boot ID, and otherwise a clone.
    """
    by_id: dict[tuple[str, str | None], list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.order):
        if entry.identity:
            by_id.setdefault((entry.identity, entry.disk_id), []).append(entry)
    return [volume for identity, own in by_id.items() for volume in _machines(*identity, own)]


def of_machine(entries: Iterable[Entry], host: str, boot_id: str | None, disk_id: str | None) -> list[Entry]:
    """Return those entries of a volume that are about its present content at the machine of a host, oldest first.
    Entries of clones are not included."""
    known = volumes(entry for entry in entries if entry.disk_id == disk_id)
    name = printable(host)
    own = (
        volume
        for volume in known
        if any(entry.host == name or (boot_id and entry.boot_id == boot_id) for entry in volume.entries)
    )
    return sorted((entry for volume in own for entry in volume.entries), key=lambda entry: entry.order)


def _machines(volume_id: str, disk_id: str | None, entries: list[Entry]) -> Iterator[Volume]:
    """Yield a volume for each machine among the entries of one identity."""
    if len({entry.host for entry in entries}) == 1:
        yield Volume(volume_id, disk_id, tuple(entries))
        return
    machines: list[tuple[set[str], set[str]]] = []
    for host, boots in _boots_by_host(entries).items():
        hosts, seen = {host}, set(boots)
        for other in [machine for machine in machines if machine[1] & seen]:
            machines.remove(other)
            hosts |= other[0]
            seen |= other[1]
        machines.append((hosts, seen))
    every = {host for hosts, dummy in machines for host in hosts}
    for hosts, dummy in machines:
        yield Volume(
            volume_id, disk_id, tuple(entry for entry in entries if entry.host in hosts), tuple(sorted(every - hosts))
        )


def _boots_by_host(entries: Iterable[Entry]) -> dict[str, set[str]]:
    """Return the boot IDs that were seen under each inventory name. Empty boot IDs are ignored."""
    found: dict[str, set[str]] = {}
    for entry in entries:
        found.setdefault(entry.host, set()).update({entry.boot_id} - {""})
    return found


@dataclass(frozen=True)
class Status:
    """The present state of a host's volume under one profile.

    ``entry`` determines the state (None if there is no such entry), unless a fact about the volume (``fact``) or lost
    writes in a power cut (``loss``) determine it. ``attempt`` is a newer entry that changed nothing. ``kept`` are the
    power cuts without a loss (None if there are none, or if a loss counts). ``replaced`` is the previous content of the
    volume. ``is_asked``: whether this is the requested profile. ``is_one_of_several``: whether the host has had volumes
    of this name at other mount points. The profile is empty if nothing was ever judged.
    """

    host: str
    volume: str
    profile: str
    state: str
    entry: Entry | None
    attempt: Entry | None
    clones: tuple[str, ...] = ()
    replaced: Volume | None = None
    loss: Result | None = None
    kept: Result | None = None
    fact: Entry | None = None
    mount_point: str = ""
    is_asked: bool = True
    is_one_of_several: bool = False

    @property
    def label(self) -> str:
        """The displayed name of the volume, with its mount point if the name alone is ambiguous."""
        label = host_label(self.host, self.volume)
        return f"{label} at {self.mount_point}" if self.is_one_of_several and self.mount_point else label


def fleet_status(
    entries: Iterable[Entry],
    revoked: Collection[str],
    today: Today,
    cuts: Iterable[Result] = (),
    profiles: Mapping[str, str] | None = None,
) -> list[Status]:
    """Return the states of the fleet on a day, the most urgent first: for each host's volume, the states of its present
    content under each relevant profile.

    ``profiles`` holds the name of the requested profile by host. For other hosts, the requested profile is that of the
    newest run that measured the volume in order to certify it. Other profiles are included if they certified the
    volume, unless their certificate has expired or was revoked and there is a newer one. ``cuts`` are the results of
    all power cuts. If a fact or a loss counts against a volume, the volume is failed under every profile, unless the
    entry that determined its state was revoked.
    """
    entries, results = sorted(entries, key=lambda entry: entry.order), CutResults(cuts)
    fleet = _Fleet(revoked, today, results, {printable(host): profile for host, profile in (profiles or {}).items()})
    by_place: dict[tuple[str, str, str], list[Volume]] = {}
    for volume in sorted(volumes(entries), key=lambda volume: volume.newest.order):
        by_place.setdefault(volume.newest.place, []).append(volume)
    newest_by_name = {
        place[:2]: place for place in sorted(by_place, key=lambda place: by_place[place][-1].newest.order)
    }
    unplaced: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        if not entry.identity and entry.sha256 not in revoked:
            unplaced.setdefault((entry.host, entry.volume), []).append(entry)
    found = [
        status
        for place, known in by_place.items()
        for status in fleet.states_of(known, unplaced.get(place[:2], []) if newest_by_name[place[:2]] == place else [])
    ]
    found += [fleet.state_of_unplaced(*name, own[-1]) for name, own in unplaced.items() if name not in newest_by_name]
    found += fleet.of_cuts_alone({(line.host, line.volume) for line in found}, set(by_place))
    return sorted(_told_apart(found), key=_urgency)


@dataclass(frozen=True)
class _Fleet:
    """The data that determines the states of all volumes."""

    revoked: Collection[str]
    today: Today
    cuts: CutResults
    profiles: Mapping[str, str]

    def states_of(self, known: list[Volume], unplaced: list[Entry]) -> Iterator[Status]:
        """Yield the states of a volume's present content."""
        volume, replaced = known[-1], known[-2] if len(known) > 1 else None
        valid = [entry for entry in volume.entries if entry.sha256 not in self.revoked]
        loss, kept = self._losses_and_kept(self._results(volume))
        fact = standing_fact(volume.entries, self.revoked)
        if not (valid or loss or any(chain.deciding for chain in volume.chains)):
            return  # all entries of the volume were withdrawn
        asked = self.profiles.get(volume.newest.host) or _profile_of(valid or volume.entries)
        for chain in _relevant(volume, asked):
            state = chain.state(self.revoked, self.today)
            if chain.profile != asked and state in (EXPIRED, REVOKED) and _moved_on(chain, volume):
                continue
            attempts = [
                entry
                for entry in (*chain.entries, *unplaced)
                if entry.effect == ATTEMPT and entry.profile == chain.profile
            ]
            attempts = [entry for entry in attempts if entry.sha256 not in self.revoked]
            last = max(attempts, key=lambda entry: entry.order, default=None)
            counting = (None, None) if state == REVOKED else (loss, fact)
            yield Status(
                host=volume.newest.host,
                volume=volume.newest.volume,
                profile=chain.profile,
                state=FAILED if any(counting) else state,
                entry=chain.deciding,
                attempt=last if last and (not chain.deciding or last.order > chain.deciding.order) else None,
                clones=volume.clones,
                replaced=replaced,
                loss=counting[0],
                kept=kept,
                fact=counting[1],
                mount_point=volume.newest.path,
                is_asked=chain.profile == asked,
            )

    def state_of_unplaced(self, host: str, volume: str, attempt: Entry) -> Status:
        """Return the state of a name whose volume was never identified. It is failed if writes were lost on a volume of
        this name that was not identified either."""
        loss = standing_loss(self.cuts.of(host, volume, None, None))
        return Status(host, volume, attempt.profile, FAILED if loss else NONE, None, attempt, loss=loss)

    def of_cuts_alone(
        self, names: Collection[tuple[str, str]], places: Collection[tuple[str, str, str]]
    ) -> Iterator[Status]:
        """Yield the states of volumes whose power was cut but that were never judged."""
        for results in self.cuts.groups():
            newest, (loss, kept) = results[-1], self._losses_and_kept(results)
            known = newest.place in places if newest.identity else (newest.host, newest.volume) in names
            if (loss or kept) and not known:
                state, path = FAILED if loss else NONE, newest.path
                yield Status(newest.host, newest.volume, "", state, None, None, loss=loss, kept=kept, mount_point=path)

    def _losses_and_kept(self, results: Sequence[Result]) -> tuple[Result | None, Result | None]:
        """Return the loss that counts against a volume or, if there is none, the power cuts without a loss."""
        loss = standing_loss(results)
        return loss, None if loss else newest_kept(results, self.today.valid_days, self.today.date)

    def _results(self, volume: Volume) -> list[Result]:
        names = {(entry.host, entry.volume) for entry in volume.entries}
        results = {
            result.sha256: result for name in names for result in self.cuts.of(*name, volume.volume_id, volume.disk_id)
        }
        return sorted(results.values(), key=lambda result: result.order) if results else []


def _told_apart(lines: Iterable[Status]) -> list[Status]:
    """Return the states, each marked if the host has several volumes of this name."""
    lines = list(lines)
    mount_points: dict[tuple[str, str], set[str]] = {}
    for line in lines:
        mount_points.setdefault((line.host, line.volume), set()).add(line.mount_point)
    return [
        replace(line, is_one_of_several=True) if len(mount_points[line.host, line.volume]) > 1 else line
        for line in lines
    ]


def _profile_of(entries: Collection[Entry]) -> str:
    """Return the profile of the newest run that measured in order to certify. If there is no such run, return the
    profile of the newest judgement that was not an attempt."""
    to_certify = [entry for entry in entries if entry.can_certify]
    deciding = [entry for entry in entries if entry.effect != ATTEMPT]
    return max(to_certify or deciding or entries, key=lambda entry: entry.order).profile


def _relevant(volume: Volume, asked: str) -> list[Chain]:
    """Return the chain of the requested profile, and the chains of other profiles that certified the volume, or else
    those that failed it."""
    others = [chain for chain in volume.chains if chain.profile != asked]
    own = next((chain for chain in volume.chains if chain.profile == asked), Chain(asked, ()))
    certified = [chain for chain in others if chain.certificate]
    return [own, *(certified or ([] if own.deciding else [chain for chain in others if chain.deciding]))]


def _moved_on(chain: Chain, volume: Volume) -> bool:
    """Return whether another profile's certificate of the volume is newer than the certificate of a chain."""
    certificates = [each.certificate.order for each in volume.chains if each.certificate]
    return chain.certificate is not None and chain.certificate.order < max(certificates)


def _urgency(status: Status) -> tuple[int | str, ...]:
    until = (status.entry.valid_until or "") if status.entry else ""
    return (
        MOST_URGENT_FIRST.index(status.state),
        until,
        status.host,
        status.volume,
        status.mount_point,
        not status.is_asked,
        status.profile,
    )
