# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A result in a history, of any kind of run, and which of several results is the newest.

A date comes from the clock of a controller, which may be wrong. Therefore, a history gives each result a position when
it stores the result, and never changes it. What a run has just measured is newer than everything that was stored
before, whatever the clocks show. What is imported is placed by its date among what was measured live: a pass as early,
and anything else as late, as the clocks that were read when the others were stored allow.

A date that is later than a clock that was read afterwards is wrong, unless the difference is within the tolerance. A
pass then certifies and clears nothing, but a failure and a fact about a volume still count.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .._run.directory import RunDirectory
from .._run.files import fingerprint
from .._run.kinds import kind_named
from .._run.moment import is_moment
from .._run.record import HostRecord, host_label
from .._run.run_files import RunDirectoryError
from .._run.table_reader import printable
from .._run.verdicts import GOOD, INCONCLUSIVE

PLAN = "plan"
"""The kind of a result that only says that a volume must be certified. The mount point is empty if the run did not find
it, and the date is empty if it is malformed."""


@dataclass(frozen=True)
class Result:
    """What a run found out about its subject: a volume, or a directory that several hosts share. Texts are untrusted
    and printable.

    ``kind`` is the name of the kind of run that can make such results; its ``memory`` says what they mean. ``hosts``
    are the hosts of the subject, ``volume`` is the name of the volume, and ``path`` is its mount point, or the shared
    directory; empty if unknown. ``identity`` identifies the volume, None if it is unknown. ``valid_until`` is the last
    day on which a pass counts, None if it counts indefinitely or is not a pass. ``data`` is plain data that only
    results of this kind have. The newest result of a ``chain`` replaces the earlier ones; empty if each one counts.

    Only the history knows ``position``, the place of the result in the order, and ``misdated``, the clock that
    contradicts its date (empty if none does). A result that is not stored yet is newer than all that are.
    """

    kind: str
    sha256: str
    run_id: str
    hosts: tuple[str, ...]
    volume: str
    path: str
    judged_at: str
    verdict: str
    identity: str | None = None
    valid_until: str | None = None
    chain: str = ""
    data: Mapping[str, Any] = field(default_factory=dict, hash=False)
    position: int = field(default=sys.maxsize, compare=False)
    misdated: str = field(default="", compare=False)

    @property
    def host(self) -> str:
        """The first of its hosts; a volume has only one."""
        return self.hosts[0]

    @property
    def label(self) -> str:
        """The displayed name of the subject."""
        several = len(self.hosts) > 1
        return f"{' and '.join(self.hosts)} on {self.path}" if several else host_label(self.host, self.volume)

    @property
    def place(self) -> tuple[str, str, str]:
        """The place of a volume as people know it: the host's name in the inventory, the name of the volume, and its
        mount point."""
        return self.host, self.volume, self.path

    @property
    def subject(self) -> tuple[Any, ...]:
        """What the result is about: results about the same subject clear each other."""
        return self.kind, tuple(sorted(self.hosts)), self.volume, self.path, self.identity

    @property
    def order(self) -> tuple[int, str, str, str]:
        """The sort key of results, oldest first."""
        return self.position, self.judged_at, self.run_id, self.sha256

    @property
    def is_good(self) -> bool:
        """Whether its verdict is a pass, perhaps with a warning."""
        return self.verdict in GOOD

    @property
    def passes(self) -> bool:
        """Whether it certifies or clears something, and nothing in it counts against its subject."""
        return kind_named(self.kind).memory.passes(self)

    def void(self) -> Result:
        """Return the result so that it neither certifies nor clears anything, because it is misdated."""
        return kind_named(self.kind).memory.void(self)

    def without_pass(self, **data: Any) -> Result:
        """Return the result as inconclusive if it is a pass, with these changes of its data."""
        verdict = INCONCLUSIVE if self.is_good else self.verdict
        return replace(self, verdict=verdict, valid_until=None, data={**self.data, **data})

    def date_text(self) -> str:
        """Return the date of a misdated result, and what it contradicts."""
        return f"dated {self.judged_at}, but a clock that was read later showed {self.misdated}"


class Datum:
    """A field of a class of results that is stored in their data."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, result: Result, owner: type) -> Any:
        return result.data[self._name]


def result_of(directory: RunDirectory, record: HostRecord, **fields: Any) -> Result:
    """Return the result of a record of a run, with these fields in addition to those that tell its kind, its run, its
    subject and its date. Raises RunDirectoryError."""
    known = {
        "kind": record.kind,
        "run_id": record.run_id or str(directory.run["run_id"]),
        "hosts": (printable(record.host),),
        "volume": printable(record.volume),
        "judged_at": date_of(directory, record),
        "verdict": record.verdict or "",
        **fields,
    }
    return Result(sha256=fingerprint(known), **known)


def date_of(directory: RunDirectory, record: HostRecord) -> str:
    """Return the date of a record of a run. Raises RunDirectoryError if it is malformed, because dates are compared as
    text."""
    if not is_moment(record.created_at):
        raise RunDirectoryError(f"{directory.path} does not state when {printable(record.host)} was tested.")
    return record.created_at


def facts(of: Any, *names: str) -> dict[str, Any]:
    """Return some fields of an object, each None if there is no object."""
    return {name: getattr(of, name, None) for name in names}


def wrong_dates(results: Iterable[Result]) -> list[dict[str, str]]:
    """Return, in the form of status.json, the misdated results that no later pass replaces: what each is about, its
    run, its date, the clock that the date contradicts, and a sentence."""
    known = list(results)
    if not any(each.misdated for each in known):
        return []
    found: dict[tuple[Any, ...], list[Result]] = {}
    for result in sorted(known, key=lambda result: result.order):
        if result.passes:
            found.pop(result.subject, None)
        elif result.misdated:
            found.setdefault(result.subject, []).append(result)
    once = {(each.label, each.run_id): each for own in found.values() for each in own}
    return [
        {
            "label": label,
            "run_id": run_id,
            "judged_at": each.judged_at,
            "clock": each.misdated,
            "text": f"{label}: run {run_id} is {each.date_text()}, so it certifies nothing",
        }
        for (label, run_id), each in sorted(once.items())
    ]
