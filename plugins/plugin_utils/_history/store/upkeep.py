# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Maintains a history: rebuilds it from run directories, and prunes it together with them."""

from __future__ import annotations

import datetime
import os
import shutil
from collections.abc import Iterable

from ..._run.directory import RunDirectory
from ..._run.run_files import RunDirectoryError
from ..result import PLAN
from .filing import certificates_of
from .history import History

_RUN_FILE = "run.json"


def run_directories(path: str) -> list[str]:
    """Return the run directories that a path names: the path itself, or the run directories directly below it. Raises
    RunDirectoryError if there are none."""
    path = os.path.realpath(path)
    if os.path.lexists(os.path.join(path, _RUN_FILE)):
        return [path]
    try:
        below = sorted(entry.path for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False))
    except OSError as error:
        raise RunDirectoryError(f"{path} cannot be read: {error.strerror or error}.") from None
    found = [each for each in below if os.path.lexists(os.path.join(each, _RUN_FILE))]
    if not found:
        raise RunDirectoryError(f"{path} is not a run directory and contains none.")
    return found


def import_runs(history: History, paths: Iterable[str]) -> tuple[int, int, list[str]]:
    """Store the certificates and other results of the run directories at the given paths, each run as a whole.

    Returns the number of results, how many of them were new to the history, and a sentence for each that could not be
    stored. Raises HistoryError.
    """
    total, added, problems = 0, 0, []
    for path in paths:
        try:
            directories = run_directories(path)
        except RunDirectoryError as error:
            problems.append(str(error))
            continue
        for each in directories:
            try:
                directory = RunDirectory.open(each)
                certificates, damaged = certificates_of(directory)
                results = directory.kind.memory.of_run(directory)
            except RunDirectoryError as error:
                problems.append(str(error))
                continue
            problems += [f"{each}/{problem}" for problem in damaged]
            added += history.store(certificates, results)
            total += len(certificates) + sum(each.kind != PLAN for each in results)
    return total, added, problems


def prune(history: History, report_dir: str, before: datetime.date) -> tuple[int, list[str], int]:
    """Remove the entries that were judged before a day, and the older run directories, below ``report_dir`` and in the
    history, that no longer have an entry.

    Returns how many entries were removed, which run directories were removed, and how many run directories were removed
    from the history. Entries that determine a state are kept, together with their runs. Runs below ``report_dir`` that
    are not in the history are also kept. Raises HistoryError and RunDirectoryError.
    """
    old = [
        directory
        for directory in _below(report_dir)
        if str(directory.run.get("created_at", "")) < before.isoformat() and history.of_run(directory.run["run_id"])
    ]
    removed = history.prune(before)
    gone = []
    for directory in old:
        if not history.of_run(directory.run["run_id"]):
            try:
                shutil.rmtree(directory.path)
            except OSError as error:
                raise RunDirectoryError(f"{directory.path} cannot be removed: {error.strerror or error}.") from None
            gone.append(directory.run["run_id"])
    return removed, gone, history.prune_kept_runs(before)


def _below(report_dir: str) -> list[RunDirectory]:
    """Return the runs of a directory of reports; directories whose names are not run IDs are ignored."""
    try:
        paths = run_directories(report_dir)
    except RunDirectoryError:
        return []
    found = []
    for path in paths:
        try:
            directory = RunDirectory.open(path)
        except RunDirectoryError:
            continue
        if directory.run["run_id"] == os.path.basename(path):
            found.append(directory)
    return found
