# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a test of locks for one pair of hosts and one directory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .._run.verdicts import GOOD, INCONCLUSIVE
from .dating import Dated


@dataclass(frozen=True)
class LockResult(Dated):
    """The result of a pair of hosts in one run. Texts are untrusted and printable.

    ``failed_steps`` and ``passed_steps`` are the names of steps, separated by blanks: those that failed, and those that
    passed, including those that passed only because a waiver excused them. ``takeover_ns`` is the longest takeover,
    None if none is known; ``text`` is the line of the pair in reports, and ``reason`` is the first reason for its
    verdict. ``valid_until`` is the last day on which a pass counts, None if it counts indefinitely.
    """

    sha256: str
    run_id: str
    first: str
    second: str
    volume: str
    directory: str
    server: str
    profile: str
    judged_at: str
    verdict: str
    valid_until: str | None
    takeover_ns: int | None
    failed_steps: str
    passed_steps: str
    text: str
    reason: str

    @property
    def passes(self) -> bool:
        return self.verdict in GOOD

    def void(self) -> LockResult:
        verdict = INCONCLUSIVE if self.verdict in GOOD else self.verdict
        return replace(self, verdict=verdict, valid_until=None, passed_steps="")

    @property
    def pair(self) -> tuple[str, str, str, str]:
        """What the result is about: the hosts in a fixed order, the volume, and the directory that they share."""
        return min(self.first, self.second), max(self.first, self.second), self.volume, self.directory
