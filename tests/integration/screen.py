# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of a playbook's output."""

import re

# Ansible's own lines about a task, a task on a host, and a host in the recap.
_TASK = re.compile(r"(TASK|RUNNING HANDLER) \[")
_OF_HOST = re.compile(r"(ok|changed|skipping|included|fatal|failed): |\S+ +: ok=\d")


def widest(screen: str) -> str:
    return max(screen.splitlines(), key=len)


def lines_beside_tasks(screen: str) -> list[str]:
    """Return all lines except those that Ansible prints for each task and host. These are headers of plays, messages,
    progress, empty lines and the summary."""
    lines = screen.splitlines()
    tasks = {number for number, line in enumerate(lines) if _TASK.match(line)}
    before = {number - 1 for number in tasks if not lines[number - 1]}
    return [line for number, line in enumerate(lines) if number not in tasks | before and not _OF_HOST.match(line)]
