# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Identifies the AWX or Automation Platform job that runs this playbook, and finds the runs of its workflow."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._run.directory import RunDirectory
from .._run.moment import MOMENT
from .._run.names import is_run_id
from .._run.shapes import as_dict
from .._run.table_reader import printable

_ARTIFACT = re.compile(r"logdisk_([0-9]{1,18})\Z")
_MOST_CHARACTERS = 300
_NEVER = datetime.datetime.min
MOST_APART = datetime.timedelta(days=7)
"""The longest time between the first and the last run of a workflow job."""


@dataclass(frozen=True)
class JobArtifact:
    """The report of a job: the run that it created, or a message that states why it created none."""

    job_id: str
    run_id: str
    message: str


def job_artifacts(variables: Mapping[str, Any]) -> list[JobArtifact]:
    """Return what the earlier jobs of the workflow reported about their runs, by job number.
    Preflights and the results of merges are left out."""
    found = {match[1]: variables[name] for name in variables if (match := _ARTIFACT.match(name))}
    jobs = [(job_id, found[job_id]) for job_id in sorted(found, key=int) if isinstance(found[job_id], Mapping)]
    return [
        _artifact(job_id, reported)
        for job_id, reported in jobs
        if reported.get("verdict", "") is not None and not reported.get("merged")
    ]


def _artifact(job_id: str, reported: Mapping[str, Any]) -> JobArtifact:
    run_id = str(reported.get("run_id") or "")
    return JobArtifact(
        job_id, run_id if is_run_id(run_id) else "", printable(str(reported.get("message") or ""))[:_MOST_CHARACTERS]
    )


def workflow_job_of(directory: RunDirectory) -> str:
    """Return the ID of the workflow job to which a run belongs; empty if there is none."""
    return str(_job_of(directory).get("workflow_job_id") or "")


def of_one_time(runs: list[RunDirectory]) -> tuple[list[RunDirectory], list[RunDirectory]]:
    """Return the runs that can belong to one workflow job, and those that are too old. The old runs may belong to
    another AWX installation that had a workflow job with the same number."""
    newest = max(map(_opened, runs), default=_NEVER)
    recent, older = (
        [run for run in runs if (newest - _opened(run) > MOST_APART) is is_older] for is_older in (False, True)
    )
    return recent, older


def _opened(directory: RunDirectory) -> datetime.datetime:
    try:
        return datetime.datetime.strptime(str(directory.run.get("created_at")), MOMENT)
    except ValueError:
        return _NEVER


def described(directory: RunDirectory) -> str:
    """Return a short description of the run."""
    hosts, job = len(directory.expected_hosts), _job_of(directory).get("id")
    of_job = f"job {printable(str(job))}, " if job else ""
    return f"{directory.run['run_id']} ({of_job}{hosts} host{'' if hosts == 1 else 's'})"


def _job_of(directory: RunDirectory) -> Mapping[str, Any]:
    return as_dict((directory.run.get("controller") or {}).get("job"))


MOST_CHARACTERS = 200
_PREFIX = "awx_"
"""The beginning of the names of the variables. Automation Platform passes each of them under a second name as well."""
_NAMES = {
    "id": "job_id",
    "template": "job_template_name",
    "workflow_job_id": "workflow_job_id",
    "launched_by": "user_name",
    "schedule": "schedule_name",
    "inventory": "inventory_name",
    "project_revision": "project_revision",
}


def job_of(variables: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts about the job, as text of limited length. Outside AWX, there are none."""
    found = {key: variables.get(_PREFIX + name) for key, name in _NAMES.items()}
    return {key: printable(str(value))[:MOST_CHARACTERS] for key, value in found.items() if value not in (None, "")}
