# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Facts as people read them."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.facts import ShownFact, grouped_facts


def shown(**facts):
    """Return the displayed facts of each group, as (title, value, hint)."""
    return {
        group: [(fact.title, fact.value, fact.hint) for fact in found] for group, found in grouped_facts(facts, {}, {})
    }


@pytest.mark.parametrize(
    ("name", "value", "group", "expected"),
    [
        ("memory_bytes", 25276514304, "Host", ("Memory", "23.5 GiB", "")),
        ("clock_offset_s", -0.033, "Host", ("Clock", "33 ms behind the controller", "")),
        ("clock_offset_error_s", 0.468, "Host", ("Uncertainty of the clock's offset", "468 ms", "")),
        ("filesystem_size_bytes", "270553174016", "File system", ("Size", "252 GiB", "")),
        ("mount_options", "rw,relatime", "File system", ("Mount options", "rw,relatime", "")),
        (
            "device_write_cache",
            "write through",
            "Device",
            ("Write cache", "write through", "no volatile cache that the kernel must flush"),
        ),
        ("device_scheduler", "none", "Device", ("Scheduler", "none", "")),
        ("device_rotational", "0", "Device", ("Kind", "not rotational", "")),
        ("device_nomerges", "2", "Device", ("Merging of requests (nomerges)", "none (2)", "")),
        ("device_wbt_lat_us", "0", "Device", ("Writeback throttling (wbt_lat_usec)", "off", "")),
        ("device_member_name", "sda", "Device", ("Disk below: name", "sda", "")),
        ("tester_method", "compile", "Tester", ("How it was installed", "compiled on the host", "")),
        ("device_new_bytes", "8192", "Device", ("device_new_bytes", "8 KiB", "")),
        ("something", True, "Host", ("something", "yes", "")),
    ],
)
def test_a_fact_has_a_group_a_title_and_a_unit(name, value, group, expected):
    assert shown(**{name: value}) == {group: [expected]}


@pytest.mark.parametrize(
    ("facts", "hint"),
    [
        ({"device_write_cache": "write back"}, "power-loss protection not known"),
        ({"device_scheduler": "mq-deadline"}, "usually use the scheduler none"),
        ({"device_rotational": "1"}, "although they are not hard disks"),
        ({"device_nomerges": "0"}, "IBM's own measurements"),
        ({"device_wbt_lat_us": "75000"}, "not the direct writes of a log"),
        ({"device_logical_block_bytes": "8192"}, "MQ cannot write to it with direct I/O"),
        ({"device_physical_block_bytes": "16384", "device_logical_block_bytes": "4096"}, "less than 16 KiB"),
        ({"mount_options": "rw,nobarrier"}, "a power failure may lose writes"),
        ({"sync_probe_ratio": "1.041"}, "no flush is sent, or it costs nothing"),
        ({"sync_probe_ratio": "1.91"}, "flushes complete at once"),
        ({"sync_probe_ratio": "39.37"}, "a flush does real work"),
        ({"filesystem_type": "tmpfs"}, "memory, not storage"),
        ({"filesystem_type": "nfs4"}, "waits for the network"),
        ({"filesystem_free_bytes": 25, "filesystem_size_bytes": 100}, "25 % of the file system"),
        ({"volume_limits_volume_iops_s": 246.0, "volume_limits_elapsed_s": 600.0}, "41 % of the time"),
    ],
)
def test_a_value_that_says_something_has_a_hint(facts, hint):
    name = next(iter(facts))
    hints = [
        found.hint
        for group, shown_facts in grouped_facts({name: facts[name], **facts}, {}, {})
        for found in shown_facts
    ]
    assert any(hint in text for text in hints)


@pytest.mark.parametrize(
    "value", ["", "9" * 5000, -5, 10**400, float("nan"), float("inf"), "-1", "0x10", ["list"], False]
)
@pytest.mark.parametrize(
    "name",
    [
        "memory_bytes",
        "clock_offset_s",
        "device_wbt_lat_us",
        "filesystem_free_bytes",
        "volume_limits_volume_iops_s",
        "cpus",
    ],
)
def test_an_impossible_value_is_shown_as_it_is(name, value):
    for facts in ({name: value}, {name: value, "filesystem_size_bytes": 0, "volume_limits_elapsed_s": value}):
        assert all(isinstance(fact.value, str) for group, found in grouped_facts(facts, {}, {}) for fact in found)


def test_known_facts_are_in_the_order_of_the_table_and_unknown_ones_follow():
    groups = grouped_facts(
        {"zz": 1, "kernel": "6.1", "hostname": "db07", "os": None},
        {"path": "/log"},
        {"exit_reason": "measured", "error": None},
    )
    assert groups == [
        ("Host", [ShownFact("Host name", "db07"), ShownFact("Kernel", "6.1"), ShownFact("zz", "1")]),
        ("Tester", [ShownFact("Path under test", "/log"), ShownFact("Ended", "measured")]),
    ]
