# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads which variables the inventory itself sets.

The variables of a task do not say where a value comes from, and an extra variable or a fact replaces the value of the
inventory. So the inventory is read again. This takes as long as at the start of the command, so it is done only if a
problem is likely.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible import context
from ansible.inventory.helpers import get_group_vars, sort_groups
from ansible.inventory.manager import InventoryManager
from ansible.vars.plugins import get_vars_from_inventory_sources, get_vars_from_path


def inventory_variables(loader: Any, hosts: Iterable[str], folders: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return, by host, the variables that the inventory and the files beside it set, without evaluation: those of all
    groups, of narrower groups, and of the host, each overriding the ones before. ``folders`` are other places of
    group_vars and host_vars. A host that a task has added has no variables."""
    sources = context.CLIARGS["inventory"]
    inventory = InventoryManager(loader=loader, sources=sources)
    found: dict[str, dict[str, Any]] = {}
    for name in hosts:
        host = inventory.get_host(name)
        found[name] = {}
        if host is None:
            continue
        # As in Ansible, the variables of all hosts are also those of a localhost that the inventory does not name.
        groups = [inventory.groups["all"], *sort_groups(each for each in host.get_groups() if each.name != "all")]
        for variables, owners in ((get_group_vars(groups), groups), (host.get_vars(), [host])):
            found[name] |= variables | get_vars_from_inventory_sources(loader, sources, owners, "task")
            for folder in folders:
                found[name] |= get_vars_from_path(loader, folder, owners, "task")
    return found
