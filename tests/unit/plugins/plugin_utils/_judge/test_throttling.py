# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.throttling import limit_notes, volume_limits
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate


def volume(monotonic_s=1000, volume_iops=0, device="nvme1n1", serial="vol1", **more):
    return {"device": device, "serial": serial, "monotonic_s": monotonic_s, "volume_iops": volume_iops, **more}


def test_a_limit_is_told_with_its_share_of_the_time():
    limits = volume_limits([volume(volume_throughput=5)], [volume(1600.0004, 246_000_000, volume_throughput=5)])
    assert limits == {
        "volume_limits_devices": "nvme1n1 vol1",
        "volume_limits_elapsed_s": 600.0,
        "volume_limits_volume_iops_s": 246.0,
        "volume_limits_volume_throughput_s": 0.0,
    }
    assert fabricate.told(limit_notes(limits)) == [
        "The volume's own IOPS limit was reached for 41 % of the time: 4.1 min of the 10 min from before the test "
        "files were made to the end of the test (nvme1n1 vol1)"
    ]


@pytest.mark.parametrize(
    "limit, words",
    [
        ("volume_throughput", "The volume's own throughput limit"),
        ("instance_iops", "The instance's IOPS limit"),
        ("instance_throughput", "The instance's throughput limit"),
    ],
)
def test_each_limit_has_its_words(limit, words):
    (note,) = fabricate.told(limit_notes(volume_limits([volume(**{limit: 7})], [volume(1100, **{limit: 99_000_007})])))
    assert note.startswith(f"{words} was reached for 99 % of the time: 99 s of the 100 s ")


def test_the_volume_that_was_held_up_longest_speaks_for_all():
    before = [volume(), volume(device="nvme2n1", serial="vol2")]
    after = [volume(1100, 90_000_000, "nvme2n1", "vol2"), volume(1100, 10_000_000)]
    limits = volume_limits(before, after)
    assert (limits["volume_limits_devices"], limits["volume_limits_volume_iops_s"]) == (
        "nvme1n1 vol1, nvme2n1 vol2",
        90.0,
    )


def test_no_limit_is_reached_for_longer_than_the_time():
    assert volume_limits([volume()], [volume(1100, 500_000_000)])["volume_limits_volume_iops_s"] == 100


@pytest.mark.parametrize("limited_us, noted", [(0, 0), (99_000, 0), (100_000, 1)])
def test_a_moment_is_not_worth_a_note(limited_us, noted):
    assert len(limit_notes(volume_limits([volume()], [volume(1100, limited_us)]))) == noted


@pytest.mark.parametrize("last", [99, None, "200", -1, float("nan"), 2**65, True])
def test_a_counter_that_went_backwards_or_is_none_is_ignored(last):
    limits = volume_limits([volume(volume_iops=100)], [volume(1100, last)])
    assert limits == {"volume_limits_devices": "nvme1n1 vol1", "volume_limits_elapsed_s": 100}
    assert limit_notes(limits) == []


@pytest.mark.parametrize(
    "before, after",
    [
        ([], []),
        (None, None),
        ([volume()], None),
        ([volume()], []),
        ([], [volume()]),
        ("x", {"device": 1}),
        ([1, None], [volume(1100)]),
        ([volume()], [volume()]),
        ([volume()], [volume(900)]),
        ([volume()], [volume("soon")]),
        ([volume()], [volume(1100, serial="another")]),
    ],
)
def test_without_two_readings_of_a_volume_there_is_no_evidence(before, after):
    assert volume_limits(before, after) == {}
    assert limit_notes({}) == []


def test_names_from_a_host_are_harmless_and_short():
    limits = volume_limits([volume(serial="\x1b]0;x\x07" * 99)], [volume(1100, serial="\x1b]0;x\x07" * 99)])
    assert limits["volume_limits_devices"].isprintable() and len(limits["volume_limits_devices"]) < 400
