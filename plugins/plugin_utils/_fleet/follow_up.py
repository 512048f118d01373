# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The two commands that end a run and collect its results after its controller has ended."""

from __future__ import annotations

import os
import shlex

from ansible import context


def commands(run_path: str) -> str:
    """Return a sentence and the two commands, with the inventory of this command line."""
    run_id = os.path.basename(run_path)
    inventory = " ".join(f"-i {shlex.quote(source)}" for source in context.CLIARGS.get("inventory") or ())
    start = f"  ansible-playbook {inventory} mqops.logdisk." if inventory else "  ansible-playbook mqops.logdisk."
    return (
        f"If this command ends, run {run_id} continues on its hosts. To stop it there and to collect its results, repeat this command's -e options with\n"
        f"{start}stop -e stop_run_id={run_id}\n"
        f"{start}collect -e collect_run={shlex.quote(run_path)}"
    )
