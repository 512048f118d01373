# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines how this command was started, and how to stop a run and collect its results after its controller ended."""

from __future__ import annotations

import os

from ansible import context

from ...module_utils._command_lines import command, extra_variable
from .._run.environment import has_playbooks, in_awx, vanishes


def commands(run_path: str, kept: bool = False) -> str:
    """Return a sentence and the two commands, with the inventory of this command line. kept: whether the history keeps
    the run directory."""
    run_id = os.path.basename(run_path)
    if in_awx():
        return _jobs(run_id, lost=vanishes(run_path) and not kept)
    start = _command()
    return (
        f"If this command ends, run {run_id} continues on its hosts. To stop it there and to collect its results, "
        "repeat this command's -e options with\n"
        f"{start}playbooks/stop.yml {extra_variable('stop_run_id', run_id)}\n"
        f"{start}playbooks/collect.yml {extra_variable('collect_run', run_path)}"
    )


def without_results(run_path: str, what_becomes: str) -> str:
    """Return a sentence about a run whose results cannot be collected later, and how to remove its files from hosts.
    what_becomes describes the outcome of the run."""
    run_id = os.path.basename(run_path)
    lost = f"If this {'job is cancelled' if in_awx() else 'command ends'}, {what_becomes.format(run_id)}"
    if in_awx():
        return f"{lost}, start a job with playbooks/cleanup.yml and cleanup_run_id: {run_id}"
    return (
        f"{lost}, repeat this command's -e options with\n"
        f"{_command()}playbooks/cleanup.yml {extra_variable('cleanup_run_id', run_id)}"
    )


def playbook_command() -> str:
    """Return the beginning of a command line, with the inventory of this one."""
    return command(["ansible-playbook", *(word for source in inventory_sources() for word in ("-i", source))])


def inventory_sources() -> tuple[str, ...]:
    """Return the inventories that the command line names."""
    return tuple(context.CLIARGS.get("inventory") or ())


def _command() -> str:
    return f"  {playbook_command()} "


def _jobs(run_id: str, lost: bool) -> str:
    end = (
        f"If this job is cancelled, run {run_id} continues on its hosts. To stop it there, start a job with "
        f"playbooks/stop.yml and stop_run_id: {run_id}"
    )
    if lost:
        return (
            f"{end}\nIts results are lost then. With gate_keep_report, or a gate_report_dir that outlives the job, "
            "playbooks/collect.yml could collect them."
        )
    return f"{end}\nTo collect its results, start one with playbooks/collect.yml and collect_run: {run_id}"


def playbooks_in() -> str | None:
    """Return the directory of the playbooks in the form used by this command; empty if the command uses their names in
    the collection. The result is None if there is no command."""
    arguments = context.CLIARGS.get("args") or ()
    directories = (os.path.dirname(argument) or "." for argument in map(str, arguments) if argument.endswith(".yml"))
    return next(filter(has_playbooks, directories), "") if arguments else None
