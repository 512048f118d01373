# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The settings that a host reports, which may be wrong or malicious."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.steps.settings import read_settings


@pytest.mark.parametrize("address", ["10.1.0.1", "fd00::1", "fe80::1"])
def test_an_address_of_a_server(address):
    assert read_settings({"server_address": address})["server_address"] == address


@pytest.mark.parametrize(
    "address",
    ['*};include"/tmp/x.nft"#', 'fe80::1%*};include"/tmp/x.nft"#', "fe80::1%eth0", "nas1", "\u0661.1.1.1", "", 7, None],
)
def test_what_is_not_an_address_is_an_unknown_one(address):
    assert read_settings({"server_address": address})["server_address"] == ""


def test_texts_are_short_and_printable():
    found = read_settings({"hostname": "a\x1b[2Jb\n", "machine_id": "f" * 5000, "mount_options": "x" * 5000})
    assert found["hostname"] == "a\\x1b[2Jb\\x0a"
    assert (len(found["machine_id"]), len(found["mount_options"])) == (256, 4096)


@pytest.mark.parametrize("name", ["uid", "gid", "lease_s"])
@pytest.mark.parametrize("value", ["0", -1, 1.5, True, 1 << 32, [0]])
def test_what_is_not_a_number_is_an_unknown_one(name, value):
    assert read_settings({name: value})[name] is None
    assert read_settings({name: 90})[name] == 90


@pytest.mark.parametrize("given", [None, "x", [], {"hostname": ["x"], "directory_exists": "yes", "more": "x"}])
def test_values_of_other_types_and_other_names_are_left_out(given):
    found = read_settings(given)
    assert (found["hostname"], found["directory_exists"]) == ("", False) and "more" not in found
