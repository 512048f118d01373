# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job of AWX or Automation Platform that runs this playbook, and the runs of its workflow: in the directory of
reports, and in the history, which keeps the runs of jobs whose own directory is deleted."""

from __future__ import annotations

import contextlib
import datetime
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ._history.store.history import History
from ._history.store.kept import fetch
from ._history.store.open import open_history
from ._history.store.postgresql import SCHEMES
from ._run.directory import RunDirectory
from ._run.moment import MOMENT
from ._run.names import is_run_id
from ._run.run_files import RunDirectoryError
from ._run.shapes import as_dict
from ._run.table_reader import printable

_Found = TypeVar("_Found")


class RunSources:
    """The runs in ``report_dir`` and in the history at ``place``. Neither of these needs to exist. Runs that exist only
    in the history are restored to ``fetched_dir``.

    ``problems`` contains a sentence for everything that could not be read. ``unopened`` says why the history could not
    be opened.
    """

    def __init__(self, report_dir: str, place: str, fetched_dir: str) -> None:
        self.report_dir = report_dir
        self.place = place
        self.fetched_dir = fetched_dir
        self.problems: list[str] = []
        self.unopened = ""

    @property
    def text(self) -> str:
        """Describes the places that are searched."""
        return (
            f"{self.report_dir} or in the history {self.place}"
            if self._has_history()
            else f"{self.report_dir}, and there is no history {self.place}"
        )

    def of_workflow(self, workflow_job_id: str, artifacts: Iterable[JobArtifact]) -> list[RunDirectory]:
        """Return the runs of a workflow: those that its jobs reported,
        and all runs that belong to its workflow job or to the workflow job of a reported run.

        A run that cannot be found or read is left out, and is mentioned in the problems.
        """
        with contextlib.ExitStack() as stack:
            history = self._opened(stack) if self._has_history() else None
            reported = [artifact for artifact in artifacts if artifact.run_id]
            named = [
                run
                for artifact in reported
                if (run := self._tried(lambda artifact=artifact: self._reported(artifact, history)))
            ]
            workflows = {workflow_job_id, *map(workflow_job_of, named)} - {""}
            found = {
                run.run["run_id"]: run for run in _runs_below(self.report_dir) if workflow_job_of(run) in workflows
            }
            found.update((run.run["run_id"], run) for run in named)
            kept = self._tried(lambda: history.kept_runs(workflows)) or [] if history else []
            for run_id in sorted(set(kept) - set(found)):
                run = self._tried(lambda run_id=run_id: fetch(history, run_id, self.fetched_dir))
                found.update({run_id: run} if run else {})
        # Merged runs are not merged again.
        return [found[run_id] for run_id in sorted(found) if not found[run_id].run.get("merged_from")]

    def _opened(self, stack: contextlib.ExitStack) -> History | None:
        try:
            return stack.enter_context(open_history(self.place))
        except OSError as error:
            self.unopened = str(error)
        return None

    def _reported(self, artifact: JobArtifact, history: History | None) -> RunDirectory:
        """Return the run that a job reported. Raises OSError."""
        local = os.path.join(self.report_dir, artifact.run_id)
        if os.path.lexists(local):
            return RunDirectory.open(local)
        try:
            if history:
                return fetch(history, artifact.run_id, self.fetched_dir)
        except OSError as error:
            raise RunDirectoryError(
                f"The run {artifact.run_id} of job {artifact.job_id} is not in {self.report_dir}, and {error}."
            ) from None
        raise RunDirectoryError(f"The run {artifact.run_id} of job {artifact.job_id} is not in {self.text}.")

    def _tried(self, find: Callable[[], _Found]) -> _Found | None:
        try:
            return find()
        except OSError as error:
            self.problems.append(str(error))
        return None

    def _has_history(self) -> bool:
        return self.place.startswith(SCHEMES) or os.path.lexists(self.place)


def _runs_below(report_dir: str) -> Iterator[RunDirectory]:
    """Yield the runs in a directory. A run that cannot be read cannot be merged."""
    with contextlib.suppress(OSError), os.scandir(report_dir) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if is_run_id(entry.name) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    yield RunDirectory.open(entry.path)


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
