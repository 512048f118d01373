# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of presets fits the options. test_check_options.py tests their precedence."""

from __future__ import annotations

import re

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.certificate import can_certify
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._option_meanings import PROFILES
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.reading import (
    DECIDED,
    PRESET,
    PRESETS,
    read_option,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import ROLES, options


def test_every_preset_can_be_chosen_and_the_default_changes_nothing():
    assert options()[PRESET].spec["choices"] == list(PRESETS)
    assert PRESETS[options()[PRESET].default] == {}


@pytest.mark.parametrize("preset", [name for name, values in PRESETS.items() if values])
def test_a_preset_has_values_as_they_are_read_and_its_documentation_names_them(preset):
    values = PRESETS[preset]
    assert {name: read_option(name, value) for name, value in values.items()} == values
    assert set(DECIDED) <= set(values)
    text = (ROLES / "sweep/meta/argument_specs.yml").read_text(encoding="utf-8")
    documented = dict(re.findall(r"C\((\w+)=(\w+)\)", text.partition(f"{PRESET}:")[2].partition("type:")[0]))
    assert documented == {name: str(value) for name, value in values.items()}


def test_a_look_never_certifies():
    assert not can_certify(load_profile(PRESETS["look"]["gate_profile"], PROFILES).as_dict())
