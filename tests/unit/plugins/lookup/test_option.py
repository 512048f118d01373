# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The values of options, from variables or from the check of a run."""

from __future__ import annotations

import types

import pytest
from ansible.errors import AnsibleLookupError
from ansible_collections.mqops.logdisk.plugins.lookup import option
from ansible_collections.mqops.logdisk.plugins.lookup.option import LookupModule
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import FROM_HOSTS, options

VARIABLES = {
    "inventory_hostname": "db01",
    "sweep_duration": "60",
    "sweep_files": "4",
    "gate_class": "from the inventory",
}
CHECKED = {
    "common": {"sweep_files": 8},
    "hosts": {"db01": {"gate_class": "read"}, "db02": {"gate_class": "of another host"}},
}


def looked_up(*terms, variables=VARIABLES, **given):
    plugin = object.__new__(LookupModule)
    plugin._loader = None
    plugin._templar = types.SimpleNamespace(template=lambda value: value)
    plugin.set_options = lambda **dummy: None
    plugin.get_option = given.get
    return plugin.run(terms, variables)


def test_a_value_is_read_from_its_variable():
    assert looked_up("sweep_duration", "sweep_warmup") == [60, 5]
    assert looked_up("sweep_duration", "sweep_warmup", only_given=True) == [60, ""]


def test_a_role_or_all_stand_for_many_options():
    (sweep,), (everything,) = looked_up("sweep"), looked_up("all")
    assert {**everything, **sweep} == everything and sweep["sweep_duration"] == 60
    assert set(everything) == set(options()) - FROM_HOSTS


def test_a_preset_completes_the_options_of_a_role_that_is_used_alone(monkeypatch):
    variables = {**VARIABLES, "sweep_preset": "look", "sweep_warmup": ""}
    (everything,), (sweep,) = looked_up("all", variables=variables), looked_up("sweep", variables=variables)
    assert {**everything, **sweep} == everything
    assert (everything["gate_profile"], everything["sweep_duration"], everything["sweep_warmup"]) == ("look", 60, 1)
    extra = {"gate_profile": "mq-log-gold"}
    monkeypatch.setattr(option, "load_extra_vars", lambda dummy: extra)
    with pytest.raises(AnsibleLookupError, match="gate_profile, an extra variable, contradicts sweep_preset: look"):
        looked_up("all", variables={**variables, **extra})


def test_what_was_checked_is_not_read_again():
    (asked,) = looked_up("all", checked=CHECKED)
    assert (asked["sweep_duration"], asked["sweep_files"], asked["gate_class"]) == (0, 8, "read")
    assert looked_up("gate_class", checked=CHECKED, variables={"inventory_hostname": "db03"}) == [""]


def test_a_value_that_cannot_be_read_fails_with_the_name_of_its_option():
    with pytest.raises(AnsibleLookupError, match="sweep_duration: '5m' is not a whole number"):
        looked_up("sweep_duration", variables={"sweep_duration": "5m"})
