# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds queue managers that were left out because their logs are not on a host, and whose storage was not tested
anywhere.

A name does not identify a queue manager: other hosts may have another one of the same name. A queue manager that is
absent on a host was tested if another host found the log of a queue manager of this name on a file system that was
tested there, and if the inventory says that the two hosts share storage. The file systems themselves are not compared,
because the host on which the log is absent does not see it. Anything that is not known counts as untested.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._kinds import CHECK_MODE, kind_named
from .._run.findings import UNTESTED, Finding, finding
from .._run.record import HostRecord
from .._run.shared_storage import partners_of, share_storage
from .host import SKIPPED

LOGS = "queue_manager_logs"
"""The fact that names the queue managers of a volume whose logs are on its file system, separated by blanks."""


class Absences:
    """Collects the records of a run one by one."""

    def __init__(self, run: Mapping[str, Any]) -> None:
        self._run = run
        self._tested: dict[str, list[str]] = {}
        self._without: dict[str, list[str]] = {}

    def take_in(self, record: HostRecord) -> None:
        """Record on which host the log of a queue manager was tested, or is absent."""
        kind = kind_named(record.kind)
        if kind.tests_storage or kind is CHECK_MODE:
            logs = record.facts.get(LOGS)
            for name in logs.split() if isinstance(logs, str) else ():
                self._tested.setdefault(name, []).append(record.host)
        elif record.error and record.error.get(SKIPPED):
            self._without.setdefault(str(record.error[SKIPPED]), []).append(record.host)

    def problems(self) -> list[Finding]:
        """Return a finding for each queue manager that was tested on no host that shares its storage."""
        untested = {
            name: [host for host in hosts if not self._was_tested(name, host)] for name, hosts in self._without.items()
        }
        return [finding(UNTESTED, None, queue_manager=name, hosts=hosts) for name, hosts in untested.items() if hosts]

    def _was_tested(self, name: str, host: str) -> bool:
        own = partners_of(self._run, host)
        return any(
            share_storage(host, own, other, partners_of(self._run, other)) for other in self._tested.get(name, ())
        )
