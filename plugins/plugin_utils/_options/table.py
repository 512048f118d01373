# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of the roles: one list, made from their argument specs and defaults."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROLES = Path(__file__).parents[3] / "roles"
ROLE_NAMES = ("claim", "gate", "observe", "power_cut", "sweep", "tester", "workspace")

OF_PLAYBOOKS = {
    "certify_hosts": "gate_hosts",
    "cleanup_run_id": "workspace_cleanup_run",
    "cleanup_uncollected_days": "workspace_uncollected_days",
    "stop_run_id": "sweep_stop_run",
}
"""The variables of playbooks that are read as an option of a role, and have its default."""

FROM_HOSTS = frozenset(("sweep_discovered", "workspace_host_facts", "workspace_collected"))
"""The variables of roles that hold what a host answered. They are handed on as they are."""


@cache
def defaults_of(role: str) -> dict[str, Any]:
    """Return the defaults of one role. Raises OSError if the role does not exist."""
    return yaml.safe_load((ROLES / role / "defaults/main.yml").read_text(encoding="utf-8"))


@cache
def role_defaults() -> dict[str, Any]:
    """Return the defaults of all roles; those that are templates are left out."""
    found: dict[str, Any] = {}
    for role in ROLE_NAMES:
        found.update((name, value) for name, value in defaults_of(role).items() if "{{" not in str(value))
    return found


@cache
def option_specs() -> dict[str, Any]:
    """Return the argument spec of every option of the roles; required options, which only certify.yml sets, are left out."""
    found: dict[str, Any] = {}
    for role in ROLE_NAMES:
        for entry in yaml.safe_load((ROLES / role / "meta/argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"].values():
            found.update(
                (name, {key: value for key, value in option.items() if key != "description"})
                for name, option in entry["options"].items()
                if not option.get("required")
            )
    return found


def option_names() -> list[str]:
    """Return the names of all options, and of the variables of playbooks that are read as one."""
    return [*option_specs(), *OF_PLAYBOOKS]
