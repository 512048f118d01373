# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prepares a host for a tester that the controller starts over a separate connection, for power cuts and locks.

Private to this collection; it may change at any time.
"""

import os
import sys
import time

from . import _marks, _runs, _time_limit

SYNC_LIMIT_S = 60


def begin(run, marked, **start):
    """Create the state of a run, and return what the controller needs to start the tester. ``marked`` are directories
    with a mark of this collection, and ``start`` describes what is started. Raises OSError and RunError, also if
    another run is measuring on the host."""
    _runs.own_directory(run.state_dir)
    os.close(run.lock())
    if run.exists() and start.get("power_cut"):
        run.remove()  # the state of the previous cut
    run.create()
    run.write_start(dict(start, run_directories=marked, started_epoch_s=time.time()))
    sync_marks(marked)
    return dict(interpreter=sys.executable, lock=os.path.join(run.state_dir, "lock"), tables_path=run.tables_path)


def sync_marks(directories):
    """Write the marks of directories to the disk, so that files that survive a power cut can be identified as belonging
    to this collection. The tester does the same for the directories.

    Raises OSError if writing fails or takes too long.
    """
    answer = _time_limit.call_all([lambda: _sync(directories)], SYNC_LIMIT_S)[0]
    if isinstance(answer, _time_limit.TimeLimitError):
        raise OSError("the marks of the workspace cannot be written to its disk: %s" % answer)


def _sync(directories):
    for directory in directories:
        path = os.path.join(directory, _marks.MARK_NAME)
        if os.path.isfile(path) and not os.path.islink(path):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            with _marks.closing(descriptor):
                os.fsync(descriptor)
