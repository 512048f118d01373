# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds queue managers that all hosts left out because their logs are not there. Each of them must be tested on at
least one host of the run."""

from __future__ import annotations

from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.host import SKIPPED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds import CHECK_MODE, kind_named
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.findings import UNTESTED, Finding, finding
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord


class Absences:
    """Collects the records of a run one by one."""

    def __init__(self) -> None:
        self._tested: set[str] = set()
        self._without: dict[str, list[str]] = {}

    def take_in(self, record: HostRecord) -> None:
        """Record for which queue managers a volume was tested, or which queue manager is absent."""
        kind = kind_named(record.kind)
        if kind.tests_storage or kind is CHECK_MODE:
            self._tested.update(map(str, record.worker_names))
        elif record.error and record.error.get(SKIPPED):
            self._without.setdefault(str(record.error[SKIPPED]), []).append(record.host)

    def problems(self) -> list[Finding]:
        """Return a finding for each queue manager that all hosts left out."""
        return [
            finding(UNTESTED, None, queue_manager=name, hosts=hosts)
            for name, hosts in self._without.items()
            if name not in self._tested
        ]
