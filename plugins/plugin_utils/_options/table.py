# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options: one list, made from the argument specs and defaults of the roles, and the variables that the playbooks read besides."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_COLLECTION = Path(__file__).parents[3]
ROLES = _COLLECTION / "roles"
ROLE_NAMES = tuple(sorted(path.parents[1].name for path in ROLES.glob("*/defaults/main.yml")))

OF_PLAYBOOKS = {
    "certify_hosts": "gate_hosts",
    "cleanup_run_id": "workspace_cleanup_run",
    "cleanup_uncollected_days": "workspace_uncollected_days",
    "stop_run_id": "sweep_stop_run",
}
"""The variables of playbooks that are read as an option of a role, and have its default."""

OF_COMMANDS = (
    "awx_setup_api_path",
    "awx_setup_data",
    "awx_setup_modules",
    "certify_preflight",
    "collect_run",
    "compare_after",
    "compare_before",
    "compare_figure",
    "drift_figure",
    "drift_since",
    "history_import",
    "history_import_mqldt",
    "history_mqldt_dates",
    "history_mqldt_host",
    "history_mqldt_volume",
    "history_prune_before",
    "history_reason",
    "history_revoke",
    "logdisk_sliced",
    "report_run",
    "report_runs",
    "report_workflow",
    "status_today",
    "verify_date",
    "verify_principal",
    "verify_run",
    "verify_signers",
)
"""The variables of playbooks that are an option of no role."""

FROM_HOSTS = frozenset(("sweep_discovered", "workspace_host_facts", "workspace_collected"))
"""The variables of roles that hold what a host answered. They are handed on as they are."""

_REGISTERED = re.compile(r"^ *register: (\w+)$", re.MULTILINE)
_SET = re.compile(r"^( *)ansible\.builtin\.set_fact:\n((?:\1 +\S.*\n)+)", re.MULTILINE)
_NAME = re.compile(r"^( +)(\w+):", re.MULTILINE)


@cache
def defaults_of(role: str) -> dict[str, Any]:
    """Return the defaults of one role. Raises OSError if the role does not exist."""
    return yaml.safe_load((ROLES / role / "defaults/main.yml").read_text(encoding="utf-8"))


@cache
def raw_defaults() -> dict[str, Any]:
    """Return the defaults of all roles as they are written, templates among them."""
    return {name: value for role in ROLE_NAMES for name, value in defaults_of(role).items()}


@cache
def role_defaults() -> dict[str, Any]:
    """Return the defaults of all roles; those that are templates are left out."""
    return {name: value for name, value in raw_defaults().items() if "{{" not in str(value)}


@cache
def _all_specs() -> dict[str, Any]:
    """Return the argument spec of every variable of the roles."""
    found: dict[str, Any] = {}
    for role in ROLE_NAMES:
        for entry in yaml.safe_load((ROLES / role / "meta/argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"].values():
            found.update((name, {key: value for key, value in option.items() if key != "description"}) for name, option in entry["options"].items())
    return found


@cache
def option_specs() -> dict[str, Any]:
    """Return the argument spec of every option of the roles; required options, which only certify.yml sets, are left out."""
    return {name: spec for name, spec in _all_specs().items() if not spec.get("required")}


def option_names() -> list[str]:
    """Return the names of all options, and of the variables of playbooks that are read as one."""
    return [*option_specs(), *OF_PLAYBOOKS]


def settable_names() -> list[str]:
    """Return the names of all variables that a user may set."""
    return [name for name in (*option_names(), *OF_COMMANDS) if name not in FROM_HOSTS]


@cache
def own_facts() -> frozenset[str]:
    """Return what tasks of this collection set and register. An earlier playbook of the same command leaves it with the hosts."""
    found: set[str] = set()
    for path in (*(_COLLECTION / "playbooks").rglob("*.yml"), *ROLES.glob("*/tasks/*.yml")):
        text = path.read_text(encoding="utf-8")
        found.update(_REGISTERED.findall(text))
        for dummy, facts in _SET.findall(text):
            names = _NAME.findall(facts)
            found.update(name for indent, name in names if indent == names[0][0])
    return frozenset(found)


@cache
def known_names() -> frozenset[str]:
    """Return the names of all variables that this collection reads or sets for hosts."""
    return frozenset((*_all_specs(), *settable_names(), *own_facts()))
