# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who speaks for a run: the callback can be loaded twice in one process, by configuration and by the shim beside the playbooks.

Private to this collection; it may change at any time.
"""

from __future__ import annotations

_claimed: set[str] = set()


def claim(run_path: str) -> bool:
    """True for the first in this process that asks for ``run_path``, false for every other."""
    if run_path in _claimed:
        return False
    _claimed.add(run_path)
    return True
