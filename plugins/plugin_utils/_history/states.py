# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What certificates say on a given day: which ones belong to the same volume, and in which state each of them is.

All of it follows from the entries, whatever the order in which they were stored. There is one chain for each volume and name of a profile: in it, a
certificate supersedes the one before, a fail ends its validity, and attempts change nothing. The newest entry of each effect decides the state of a chain,
so that a store need not read the others.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.certificate import ATTEMPT, CERTIFIES, FAILS, Entry
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.cut_result import CutResult, Losses

FAILED = "failed"
EXPIRED = "expired"
NONE = "none"
REVOKED = "revoked"
EXPIRING = "expiring"
VALID = "valid"
SUPERSEDED = "superseded"

MOST_URGENT_FIRST = (FAILED, EXPIRED, NONE, REVOKED, EXPIRING, VALID)
"""States of a volume. none is that of a volume that nothing certified yet."""

CURRENT = (EXPIRING, VALID)
"""States of a volume that is certified today."""


@dataclass(frozen=True)
class Today:
    """The day for which states are asked, and for how many days before its end a certificate is expiring (its last day included)."""

    date: datetime.date
    expiring_days: int


def day_of(text: str | None) -> datetime.date:
    """Return a day from ISO 8601, or today in UTC. Raises ValueError."""
    if not text:
        return datetime.datetime.now(datetime.timezone.utc).date()
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a day such as 2026-11-21") from None


def entry_states(entries: Iterable[Entry], revoked: Collection[str], today: Today) -> dict[str, str]:
    """Return the state of each certificate and each fail of one chain by its SHA-256; attempts have none. revoked are the SHA-256 of revoked certificates."""
    found: dict[str, str] = {}
    later: set[str] = set()
    for entry in sorted(entries, key=lambda entry: entry.order, reverse=True):
        if entry.effect == ATTEMPT:
            continue
        found[entry.sha256] = _state(entry, later, revoked, today)
        later.add(entry.effect)
    return found


def _state(entry: Entry, later: Collection[str], revoked: Collection[str], today: Today) -> str:
    """Return the state of an entry after which entries of some effects came."""
    if entry.sha256 in revoked:
        return REVOKED
    if CERTIFIES in later:
        return SUPERSEDED
    if entry.effect == FAILS or FAILS in later:
        return FAILED
    remaining_days = (datetime.date.fromisoformat(entry.valid_until or "") - today.date).days
    if remaining_days < 0:
        return EXPIRED
    return EXPIRING if remaining_days < today.expiring_days else VALID


@dataclass(frozen=True)
class Chain:
    """The entries of one volume and one profile, the oldest first."""

    profile: str
    entries: tuple[Entry, ...]

    @property
    def deciding(self) -> Entry | None:
        """The entry that decides the state: the newest certificate or fail; None if there are only attempts."""
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
    """One volume: its entries, the oldest first, and the inventory names of other machines that have the same identity."""

    volume_id: str
    entries: tuple[Entry, ...]
    clones: tuple[str, ...] = ()

    @property
    def newest(self) -> Entry:
        """The newest entry, whose names the volume has today."""
        return self.entries[-1]

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """The chains by the name of their profile."""
        by_profile: dict[str, list[Entry]] = {}
        for entry in self.entries:
            by_profile.setdefault(entry.profile, []).append(entry)
        return tuple(Chain(profile, tuple(entries)) for profile, entries in sorted(by_profile.items()))


def volumes(entries: Iterable[Entry]) -> list[Volume]:
    """Return the volumes that entries are about, each with the entries of its own; those that name no volume are left out.

    Machines that share an identity are told apart by their boot IDs: the same identity under another inventory name is the same machine if a boot ID is
    shared, and a clone otherwise.
    """
    by_id: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.order):
        if entry.volume_id:
            by_id.setdefault(entry.volume_id, []).append(entry)
    return [volume for volume_id, own in by_id.items() for volume in _machines(volume_id, own)]


def _machines(volume_id: str, entries: list[Entry]) -> Iterator[Volume]:
    """Yield a volume for each machine among the entries of one identity."""
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
        yield Volume(volume_id, tuple(entry for entry in entries if entry.host in hosts), tuple(sorted(every - hosts)))


def _boots_by_host(entries: Iterable[Entry]) -> dict[str, set[str]]:
    """Return the boot IDs seen under each inventory name; an empty one says nothing."""
    found: dict[str, set[str]] = {}
    for entry in entries:
        found.setdefault(entry.host, set()).update({entry.boot_id} - {""})
    return found


@dataclass(frozen=True)
class Status:
    """What is known today of a host's volume under one profile.

    entry decides the state (None: nothing does), unless a power cut lost writes (loss). attempt is a newer entry that changed nothing, and replaced is the
    volume that was under the same name before.
    """

    host: str
    volume: str
    profile: str
    state: str
    entry: Entry | None
    attempt: Entry | None
    clones: tuple[str, ...] = ()
    replaced: Volume | None = None
    loss: CutResult | None = None


def fleet_status(entries: Iterable[Entry], revoked: Collection[str], today: Today, losses: Losses | None = None) -> list[Status]:
    """Return the states of the fleet on a day, the most urgent first: of each host's volume, those of the volume that is there now, for each profile.

    Profiles that never certified a volume are left out if another one did. So is one whose certificate is expired or revoked if that of another one is newer:
    the volume has moved on to that. A volume against which a loss in a power cut counts is failed, unless what decided its state was revoked.
    """
    entries = list(entries)
    by_name: dict[tuple[str, str], list[Volume]] = {}
    for volume in sorted(volumes(entries), key=lambda volume: volume.newest.order):
        by_name.setdefault((volume.newest.host, volume.newest.volume), []).append(volume)
    unplaced: dict[tuple[str, str], list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.order):
        if not entry.volume_id and entry.sha256 not in revoked:
            unplaced.setdefault((entry.host, entry.volume), []).append(entry)
    found = [status for name, known in by_name.items() for status in _placed(known, unplaced.get(name, []), revoked, today, losses or {})]
    found += [Status(host, volume, own[-1].profile, NONE, None, own[-1]) for (host, volume), own in unplaced.items() if (host, volume) not in by_name]
    return sorted(found, key=_urgency)


def _placed(known: list[Volume], unplaced: list[Entry], revoked: Collection[str], today: Today, losses: Losses) -> Iterator[Status]:
    """Yield the states of the newest of the volumes that a name has had."""
    volume, replaced = known[-1], known[-2] if len(known) > 1 else None
    lost = next((losses[key] for entry in volume.entries if (key := (volume.volume_id, entry.host)) in losses), None)
    for chain in _relevant(volume):
        state = chain.state(revoked, today)
        if state in (EXPIRED, REVOKED) and _moved_on(chain, volume):
            continue
        attempts = [entry for entry in (*chain.entries, *unplaced) if entry.effect == ATTEMPT and entry.profile == chain.profile]
        last = max(attempts, key=lambda entry: entry.order, default=None)
        newer = last if last and (not chain.deciding or last.order > chain.deciding.order) else None
        loss = None if state == REVOKED else lost
        yield Status(volume.newest.host, volume.newest.volume, chain.profile, FAILED if loss else state, chain.deciding, newer, volume.clones, replaced, loss)


def _relevant(volume: Volume) -> list[Chain]:
    """Return the chains that say what the volume is: those that ever certified it; else those that failed it; else that of the newest attempt."""
    certified = [chain for chain in volume.chains if chain.certificate]
    failed = [chain for chain in volume.chains if chain.deciding]
    return certified or failed or [chain for chain in volume.chains if chain.profile == volume.newest.profile]


def _moved_on(chain: Chain, volume: Volume) -> bool:
    """Whether another profile's certificate of the volume is newer than that of a chain."""
    certificates = [each.certificate.order for each in volume.chains if each.certificate]
    return chain.certificate is not None and chain.certificate.order < max(certificates)


def _urgency(status: Status) -> tuple[int, str, str, str, str]:
    until = (status.entry.valid_until or "") if status.entry else ""
    return MOST_URGENT_FIRST.index(status.state), until, status.host, status.volume, status.profile
