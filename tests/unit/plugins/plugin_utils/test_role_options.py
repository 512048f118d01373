# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _role_options

ROLES = Path(_role_options.__file__).resolve().parents[2] / "roles"
SPECS = _role_options.specs(str(ROLES))


def variables(**changes):
    return {**_role_options.defaults(str(ROLES)), **changes, "somebody_elses": "x"}


@pytest.mark.parametrize("changes", [
    {},
    {"sweep_duration": "60", "sweep_block_sizes": "4K, 64K", "workspace_queue_managers": "QM1,QM2", "sweep_verify": "true", "sweep_rate": "0.5"},
    {"workspace_queue_managers": ["QM1", "QM2"], "sweep_queue_managers": [1, 2]},
    {"sweep_block_sizes": 4096, "sweep_queue_managers": 1},
])
def test_options_as_users_and_surveys_give_them(changes):
    assert _role_options.problem(variables(**changes), SPECS) == ""


@pytest.mark.parametrize("changes, word", [
    ({"sweep_duration": "5m"}, "sweep_duration"),
    ({"sweep_rate": "fast"}, "sweep_rate"),
    ({"sweep_mode": "alone"}, "sweep_mode"),
    ({"sweep_sync": "maybe"}, "sweep_sync"),
    ({"sweep_nice": "very"}, "sweep_nice"),
    ({"sweep_direct": "perhaps"}, "sweep_direct"),
    ({"workspace_become": "sometimes"}, "workspace_become"),
    ({"workspace_allow": ["everything"]}, "workspace_allow"),
    ({"tester_method": "magic"}, "tester_method"),
])
def test_an_option_that_a_role_would_refuse_on_the_host_is_named(changes, word):
    assert word in _role_options.problem(variables(**changes), SPECS)


@pytest.mark.parametrize("role", sorted(path.name for path in ROLES.iterdir()))
def test_a_roles_defaults_are_those_of_its_argument_specs(role):
    """Templates are documented in words, and what only certify.yml gives has no default."""
    stated = yaml.safe_load((ROLES / role / "defaults/main.yml").read_text(encoding="utf-8"))
    documented = {}
    for entry in yaml.safe_load((ROLES / role / "meta/argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"].values():
        for name, option in entry["options"].items():
            if not option.get("required"):
                assert documented.setdefault(name, option.get("default")) == option.get("default"), name
    literal = {name: value for name, value in stated.items() if "{{" not in str(value)}
    assert {name: documented.get(name, "undocumented") for name in literal} == literal
    assert set(documented) - set(stated) == set()
