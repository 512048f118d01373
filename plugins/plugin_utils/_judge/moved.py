# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A volume that was measured at another mount point than before. Its file system may have moved, or it may not be
mounted, so that the disk below its mount point was measured instead."""

from __future__ import annotations

from ...module_utils import _mounts
from .._run.findings import MOVED, Finding
from .._run.record import HostRecord
from .._run.verdicts import INCONCLUSIVE


def moved_unasked(record: HostRecord) -> Finding | None:
    """Return the note about the other mount point, unless the user named the new one."""
    named = _mounts.points_in(str(record.workspace.get("expect_mount") or ""))
    return next((note for note in record.noted if note["kind"] == MOVED and note["mount_point"] not in named), None)


def doubt_about_mount(record: HostRecord) -> dict[str, str] | None:
    """Return a verdict with its reason if it is not known whether the right file system was measured; otherwise
    None."""
    note = moved_unasked(record)
    if note is None:
        return None
    return {
        "verdict": INCONCLUSIVE,
        "reason": f"it measured {note['volume']} at {note['mount_point']}, and not at {note['before']}, as the run "
        f"{note['run_id']} did: mount the file system and measure it again or, if it has moved, set "
        f"workspace_expect_mount: {note['mount_point']}",
    }
