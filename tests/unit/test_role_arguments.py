# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A role's argument_specs document the defaults that the role has."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

ROLES = sorted((Path(__file__).parents[2] / "roles").iterdir())


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("role", ROLES, ids=lambda path: path.name)
def test_defaults_are_those_that_the_argument_specs_document(role):
    defaults = load(role / "defaults/main.yml")
    # What is computed is described there, not repeated.
    defaults = {name: value for name, value in defaults.items() if "{{" not in str(value)}
    documented = {}
    for entry in load(role / "meta/argument_specs.yml")["argument_specs"].values():
        for name, option in entry.get("options", {}).items():
            if "default" in option:
                assert documented.setdefault(name, option["default"]) == option["default"], name
    assert documented == defaults
