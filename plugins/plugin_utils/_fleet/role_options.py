# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of the roles: defaults and argument specs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

ROLES = Path(__file__).parents[3] / "roles"


def defaults_of(role: str) -> dict[str, Any]:
    """Return the defaults of one role. Raises OSError if the role does not exist."""
    return yaml.safe_load((ROLES / role / "defaults/main.yml").read_text(encoding="utf-8"))


def role_defaults() -> dict[str, Any]:
    """Return the defaults of all roles; those that are templates are left out."""
    found: dict[str, Any] = {}
    for role in sorted(ROLES.iterdir()):
        found.update((name, value) for name, value in defaults_of(role.name).items() if "{{" not in str(value))
    return found


def option_specs() -> dict[str, Any]:
    """Return the argument spec of every option of the roles; required options, which only certify.yml sets, are left out."""
    found: dict[str, Any] = {}
    for path in sorted(ROLES.glob("*/meta/argument_specs.yml")):
        for entry in yaml.safe_load(path.read_text(encoding="utf-8"))["argument_specs"].values():
            found.update(
                (name, {key: value for key, value in option.items() if key != "description"})
                for name, option in entry["options"].items()
                if not option.get("required")
            )
    return found


def option_problem(variables: Mapping[str, Any], specs: Mapping[str, Any]) -> str:
    """Return why a role would later refuse the ``variables`` of a host; empty if no role would."""
    given = {name: variables[name] for name in specs if name in variables}
    return "; ".join(ArgumentSpecValidator({name: specs[name] for name in given}).validate(given).error_messages)
