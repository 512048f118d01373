# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables and the hosts that apply to a whole command, and the variables that the inventory itself sets.

The variables of a task do not say where a value comes from, and an extra variable or a fact replaces the value of the
inventory. So the inventory is read again. This takes as long as at the start of the command, so it is done only if a
problem is likely.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ansible import constants
from ansible.inventory.helpers import get_group_vars, sort_groups
from ansible.inventory.manager import InventoryManager
from ansible.vars.plugins import get_vars_from_inventory_sources, get_vars_from_path

from .._options.reading import read_option
from .._options.table import option_names, own_names
from .._run.answers import is_empty, plain
from .expectation import SLICED
from .follow_up import inventory_sources
from .outcome import CONTROLLER
from .settings import SettingsError, agreed, one_value, same_problem_once, shown

OF_ANSIBLE = constants.INTERNAL_STATIC_VARS | {"ansible_failed_result", "ansible_failed_task"}
"""The variables that Ansible itself sets for tasks. Extra variables override some of them, for example
inventory_hostname."""
OF_THE_COLLECTION = "the playbooks of this collection"
CHECK_ONLY = "certify_preflight"
NOT_OF_HOSTS = {
    CHECK_ONLY: "set it with -e, or run playbooks/preflight.yml",
    SLICED: "only a sliced template of AWX sets it, as an extra variable",
}
"""The variables that no inventory may set, and what to do instead. If one of them were a variable of a host, it would
also apply to the other hosts."""


_OF_HISTORY = ("gate_history", "gate_report_dir")
_OF_REPORT = ("gate_sign_key", "gate_upload_url", *_OF_HISTORY)
READ_BY = {
    "cleanup": ("cleanup_run_id", "cleanup_uncollected_days"),
    "comparison": ("gate_margin", "compare_before", "compare_after", "compare_figure", *_OF_HISTORY),
    "drift": ("gate_margin", "drift_figure", *_OF_HISTORY),
    "history": (
        *("history_import", "history_revoke", "history_reason", "history_prune_before"),
        *("history_import_mqldt", "history_mqldt_host", "history_mqldt_dates", "history_mqldt_volume", *_OF_HISTORY),
    ),
    "render": (
        *("report_runs", "report_run", "report_workflow", "gate_expected_count", "gate_keep_report", *_OF_REPORT),
    ),
    "reopen_run": ("collect_run", *_OF_REPORT),
    "status": ("gate_expiring_days", "gate_valid_days", "status_today", *_OF_HISTORY),
    "stop": ("stop_run_id",),
    "verify": ("verify_run", "verify_signers", "verify_principal", "verify_date"),
}
"""The variables that each command reads, and that must have one value for all hosts. If there are other hosts, the
controller's variable is used only if the inventory contains the controller and sets the variable for it."""
OVERRIDES_OF = dict.fromkeys(("render", "reopen_run"), ("gate_fail_on", "gate_report_only"))
"""The options with which commands override what a run recorded. The values in the inventory are ignored."""


def agreed_settings(
    names: Iterable[str],
    of_play: Mapping[str, Any],
    of_hosts: Mapping[str, Mapping[str, Any]],
    inventory: Collection[str],
) -> dict[str, Any]:
    """Return the single value of each variable. If a variable is not set, its default is used, or an empty string if it
    has no default.

    ``of_play`` are the variables that the play sets for all hosts, ``of_hosts`` are the variables of each host of the
    play, and ``inventory`` names the hosts of the inventory. Raises SettingsError if hosts differ, or if a value cannot
    be read.
    """
    found = {}
    for name in names:
        values = {
            host: of_play.get(name, own.get(name))
            for host, own in of_hosts.items()
            if _has_a_say(name, host, of_hosts, inventory)
        }
        value = agreed(name, values, _REMEDY) if name in option_names() else one_value(name, values, _read, _REMEDY)
        found[name] = "" if value is None else value
    return found


_REMEDY = "A command needs a single value: set it for all hosts of the inventory, or for this command with -e"


def _has_a_say(name: str, host: str, of_hosts: Mapping[str, Mapping[str, Any]], inventory: Collection[str]) -> bool:
    """Return whether the variable of a host is used. If there are other hosts, the controller's variable is used only
    if the inventory contains the controller and sets the variable for it."""
    if host != CONTROLLER or len(of_hosts) == 1:
        return True
    return CONTROLLER in inventory and not is_empty(of_hosts[CONTROLLER].get(name))


def _read(value: Any) -> Any:
    """Return the value of a variable that is not an option of a role, or an empty string if it is not set."""
    return "" if is_empty(value) else plain(value)


def overriding(names: Iterable[str]) -> list[str]:
    """Return a sentence for the extra variables that would replace results of tasks, or other variables that only this
    collection or Ansible sets. Nothing overrides an extra variable."""
    given = set(names)
    found = {OF_THE_COLLECTION: sorted(given & own_names()), "Ansible": sorted(given & OF_ANSIBLE)}
    return [
        f"only {owner} may set {', '.join(own)}: leave {'them' if len(own) > 1 else 'it'} out of the extra variables"
        for owner, own in found.items()
        if own
    ]


def check_not_of_hosts(names: Iterable[str], of_hosts: Mapping[str, Mapping[str, Any]], extra: Collection[str]) -> None:
    """Raise SettingsError if hosts set any of the variables that only the command may set;
    ``extra`` names the extra variables."""
    for name in names:
        hosts = sorted(host for host, own in of_hosts.items() if name in own)
        if hosts and name not in extra:
            raise SettingsError(
                f"{name} is a variable of {shown(hosts)}, but it would decide for every host: remove it "
                f"there, and {NOT_OF_HOSTS[name]}"
            )


SELECTING = "certify_hosts"
WAY_OUT = (
    "the hosts of a command cannot depend on variables of hosts and groups: remove the "
    "variable there, and set it with -e"
)


def other_selections(asked: Any, said: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each pattern that differs from the one in ``asked``, with which the play was started.
    ``said`` holds the value of the variable on each host; empty means that it is not set. Raises ValueError if a
    pattern cannot be read.
    """
    pattern = read_option(SELECTING, asked)
    others = {host: read_option(SELECTING, value) for host, value in said.items() if not is_empty(value)}
    return same_problem_once(
        {
            host: [f"{SELECTING} is {other!r}, but this command has the hosts {pattern!r}: {WAY_OUT}"]
            for host, other in others.items()
            if other != pattern
        }
    )


def inventory_variables(loader: Any, hosts: Iterable[str], folders: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return, by host, the variables that the inventory and the files beside it set, without evaluation: those of all
    groups, of narrower groups, and of the host, each overriding the ones before. ``folders`` are other places of
    group_vars and host_vars. A host that a task has added has no variables."""
    sources = inventory_sources()
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
