# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keeps run directories in the history, for jobs whose own directory is deleted."""

from __future__ import annotations

import os

from ..._run.archive import pack, unpack
from ..._run.directory import RunDirectory
from ..._run.names import is_run_id
from ..._run.run_files import RunDirectoryError
from .history import History
from .open import open_history


def keep_if_asked(path: str, stage: int, place: str = "") -> str:
    """Keep the directory of a run in its history, or in the history at another place, if the run requests this. Returns
    the reason if it failed; otherwise an empty string."""
    if not is_kept(path):
        return ""
    try:
        directory = RunDirectory.open(path)
        with open_history(place or directory.run["history"]["place"]) as history:
            keep(history, directory, stage)
    except OSError as error:
        return f"the report was not kept in the history: {error}"
    return ""


def is_kept(path: str) -> bool:
    """Return whether the history is to keep the directory of a run. A preflight does not change the history."""
    try:
        directory = RunDirectory.open(path)
    except RunDirectoryError:
        return False
    return bool((directory.run.get("history") or {}).get("keep_report")) and not directory.is_check_mode


def keep(history: History, directory: RunDirectory, stage: int) -> None:
    """Keep the present state of a run directory, with the stage of the run. Raises HistoryError, and ArchiveError if
    it is too large."""
    history.keep_run(directory.run, pack(directory.path), stage)


def fetch(history: History, run_id: str, report_dir: str) -> RunDirectory:
    """Return the run with an ID: from ``report_dir`` or, if it is not there, from the history, from which it is
    restored to ``report_dir``. Raises HistoryError, ArchiveError and RunDirectoryError.
    """
    path = os.path.join(report_dir, run_id)
    if is_run_id(run_id) and os.path.lexists(os.path.join(path, "run.json")):
        return RunDirectory.open(path)
    return unpack(history.kept_run(run_id), report_dir, run_id)


def find(named: str, report_dir: str, place: str) -> RunDirectory:
    """Return the run that a path or a run ID names, from ``report_dir`` or from the history at a place. Raises
    RunDirectoryError, which names the places that were searched."""
    path = os.path.expanduser(named)
    if os.path.lexists(path) or not is_run_id(named):
        return RunDirectory.open(path)
    if os.path.lexists(os.path.join(report_dir, named)):
        return RunDirectory.open(os.path.join(report_dir, named))
    try:
        with open_history(place) as history:
            return fetch(history, named, report_dir)
    except OSError as error:
        raise RunDirectoryError(f"The run {named} is neither in {report_dir} nor kept: {error}.") from None
