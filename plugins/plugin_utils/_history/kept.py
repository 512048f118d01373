# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run directories that the history keeps: for a job whose own directory is deleted."""

from __future__ import annotations

import os

from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store import History
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.archive import pack, unpack
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory, is_run_id


def keep(history: History, directory: RunDirectory, stage: int) -> None:
    """Keep a run directory as it is at a stage of the run. Raises HistoryError, and ArchiveError if it is too large."""
    history.keep_run(directory.run, pack(directory.path), stage)


def fetch(history: History, run_id: str, report_dir: str) -> RunDirectory:
    """Return the run with an ID: the one in report_dir if it is there, else the kept one, which is brought there. Raises HistoryError, ArchiveError and
    RunDirectoryError.
    """
    path = os.path.join(report_dir, run_id)
    if is_run_id(run_id) and os.path.lexists(os.path.join(path, "run.json")):
        return RunDirectory.open(path)
    return unpack(history.kept_run(run_id), report_dir, run_id)
