# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the runs of a workflow: in the directory of reports, and in the history, which keeps the runs of jobs whose own
directory is deleted."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ._fleet.workflow import JobArtifact, workflow_job_of
from ._history.store.history import History
from ._history.store.kept import fetch
from ._history.store.open import open_history
from ._history.store.postgresql import SCHEMES
from ._run.directory import RunDirectory
from ._run.names import is_run_id
from ._run.run_files import RunDirectoryError

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
