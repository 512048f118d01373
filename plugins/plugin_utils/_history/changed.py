# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds what has changed at a host's volume since it was last certified: the kernel, the firmware, the disk, the
settings of the array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._judge.effect import CERTIFIES
from .certificate import Entry
from .figures import Change, changes
from .states import Status
from .store.history import History

MOST_LINES = 100
"""In a large fleet, only the most urgent lines are examined, because each needs two complete certificates."""

Line = tuple[str, str, str, str]
"""The host, volume, mount point and profile of a line in a status."""


@dataclass(frozen=True)
class Since:
    """The changes since a certificate. There may be none, because it is also useful to know that nothing changed."""

    certificate: Entry
    changes: tuple[Change, ...]


def key_of(line: Status) -> Line:
    """Return the key that identifies a line of the status."""
    return line.host, line.volume, line.mount_point, line.profile


def changed_since(history: History, lines: Sequence[Status]) -> dict[Line, Since]:
    """Return, for the first lines of the status, the changes from the previous certificate to the latest judgement.
    Raises HistoryError."""
    pairs = {key_of(line): pair for line in lines[:MOST_LINES] if (pair := _pair(history, line))}
    wanted = list(dict.fromkeys(entry.sha256 for pair in pairs.values() for entry in pair))
    contents = dict(zip(wanted, history.contents(wanted)))
    return {
        key: Since(before, tuple(changes(contents[before.sha256], contents[after.sha256])))
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
