# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two names in the inventory that belong to one machine are detected."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.machines import disagree, doubles

DB01 = {"machine_id": "0f3c", "boot_id": "11-22", "hostname": "db01"}


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (DB01, True),
        ({**DB01, "cpus": 4}, True),
        ({**DB01, "hostname": "db02"}, False),  # containers of one host, or clones
        ({**DB01, "boot_id": "33-44"}, False),  # clones of one machine under one name
        ({**DB01, "machine_id": "0f3d"}, False),
        ({**DB01, "machine_id": ""}, False),
        ({}, False),
    ],
)
def test_one_machine_has_one_identity(other, same):
    found = doubles({"db01": DB01, "db01-alias": other, "db09": {**DB01, "hostname": "db09"}})
    assert sorted(found) == (["db01", "db01-alias"] if same else [])


def test_a_machine_without_a_machine_id_is_known_by_boot_and_name():
    plain = {**DB01, "machine_id": ""}
    assert "the same machine (hostname db01):" in doubles({"a": plain, "b": plain})["a"]


def test_what_a_host_says_of_itself_is_made_harmless():
    rude = {**DB01, "hostname": "\x1b[31m" + "x" * 5000}
    sentence = doubles({"a": rude, "b": rude})["a"]
    assert sentence.isprintable()
    assert len(sentence) < 500


@pytest.mark.parametrize(("far", "near", "expected"), [(2, 1, True), (1, 1, False), (0, 1, False)])
def test_the_clock_of_the_controller_is_doubted_only_by_most_hosts(far, near, expected):
    facts = [{"clock_offset_s": offset, "clock_offset_error_s": 0.1} for offset in (*[3600.0] * far, *[0.0] * near)]
    assert disagree([*facts, {}]) is expected
