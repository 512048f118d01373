# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The verdict on a run that was filed: the records of its hosts and of those that never reported, and verdict.json."""

from __future__ import annotations

import itertools
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.fleet import judge_fleet
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import NEVER_REPORTED, UNCLAIMED, missing
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord

GATE = "gate"
REPORT = "report"
"""Who asked for a verdict: the gate, or the report of a run that did not reach its gate."""


def judge_run(directory: RunDirectory, asked_by: str) -> dict[str, Any]:
    """Judge the fleet and write the verdict, which is returned. The gate also files the records of missing hosts. Raises OSError."""
    if asked_by == GATE:
        for record in missing_hosts(directory):
            directory.records.write(record)
    verdict = {**judge_fleet(directory.run, itertools.chain(judged_records(directory), missing_hosts(directory))), "asked_by": asked_by}
    directory.write_verdict(verdict)
    return verdict


def missing_hosts(directory: RunDirectory) -> list[HostRecord]:
    """Return the records of the expected volumes of hosts for which none has been filed."""
    unclaimed = set(directory.run.get("unclaimed_hosts") or [])
    return [missing(directory.run, host, volume, UNCLAIMED if host in unclaimed else NEVER_REPORTED) for host, volume in directory.missing()]
