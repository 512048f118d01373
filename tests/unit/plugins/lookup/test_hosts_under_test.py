# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A command counts as a slice only if it can be one, and only if an extra variable declares it as one."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleLookupError
from ansible.parsing.dataloader import DataLoader
from ansible_collections.mqops.logdisk.plugins.lookup import hosts_under_test

VARIABLES = {"groups": {"all": ["a"], "ungrouped": ["a"]}, "ansible_limit": "a,b", "logdisk_sliced": True}


def hosts(monkeypatch, extra, or_slice):
    monkeypatch.setattr(hosts_under_test, "load_extra_vars", lambda loader: extra)
    lookup = hosts_under_test.LookupModule(loader=DataLoader())
    given = {"of_controller": False, "or_slice": or_slice}
    monkeypatch.setattr(lookup, "set_options", lambda **kwargs: None)
    monkeypatch.setattr(lookup, "get_option", given.get)
    return lookup.run(["all:!localhost"], VARIABLES)


def test_a_slice_has_its_hosts_of_the_limit(monkeypatch):
    assert hosts(monkeypatch, {"logdisk_sliced": "true"}, or_slice=True) == ["a"]


@pytest.mark.parametrize(
    ("extra", "or_slice"), [({}, True), ({"logdisk_sliced": False}, True), ({"logdisk_sliced": True}, False)]
)
def test_anything_else_has_all_hosts_of_the_limit_or_none(monkeypatch, extra, or_slice):
    with pytest.raises(AnsibleLookupError, match="--limit names 'b', which matches no host of the inventory"):
        hosts(monkeypatch, extra, or_slice)


@pytest.mark.parametrize(
    ("hosts", "limit", "expected"),
    [(["a", "db 01"], None, ["localhost", "all"]), (["a"], "a", ["localhost", "all"]), ([], None, ["localhost"])],
)
def test_a_play_of_the_controller_does_not_name_the_hosts_whose_variables_it_reads(monkeypatch, hosts, limit, expected):
    monkeypatch.setattr(hosts_under_test, "load_extra_vars", lambda loader: {})
    lookup = hosts_under_test.LookupModule(loader=DataLoader())
    monkeypatch.setattr(lookup, "set_options", lambda **kwargs: None)
    monkeypatch.setattr(lookup, "get_option", {"of_controller": True, "or_slice": False}.get)
    groups = {"all": hosts, "ungrouped": hosts}
    assert lookup.run(["all"], {"groups": groups, "ansible_limit": limit}) == expected
