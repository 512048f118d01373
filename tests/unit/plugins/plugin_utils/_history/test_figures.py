# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The data that comparisons read from certificates: figures, classes, which certificates are comparable, and what
changed."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.figures import (
    LATENCY_MEAN,
    THROUGHPUT,
    Change,
    changes,
    class_of,
    figure_named,
    rows_of,
    why_incomparable,
    why_unusable,
)
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up

CONTENT = {**made_up.certificate().content, "method_version": 1}
IMPORTED = {**CONTENT, "source": "mqldt", "method_version": None, "verdict": "inconclusive", "parameters": {}}
SMALL = (4096, 1, "log", "write")


def with_(content=CONTENT, **parts):
    """Return a copy of a certificate's content with different values for some fields. A dictionary is merged into the
    existing one."""
    return {
        **content,
        **{key: {**content[key], **value} if isinstance(value, dict) else value for key, value in parts.items()},
    }


def test_a_figure_by_row_is_the_higher_the_worse():
    first = CONTENT["rows"][0]
    assert len(rows_of(CONTENT)) == len(CONTENT["rows"])
    assert rows_of(CONTENT)[SMALL] == first["latency_mean_ns"]
    assert rows_of(CONTENT, "latency_p99_ns")[SMALL] == first["latency_p99_ns"]
    assert rows_of(CONTENT, THROUGHPUT)[SMALL] == 1 / first["bytes_per_s"]


def test_a_row_without_the_figure_is_left_out():
    rows = [{**CONTENT["rows"][0], "latency_p99_9_ns": None}, {**CONTENT["rows"][1], "latency_p99_9_ns": 5}]
    assert list(rows_of(with_(rows=rows), "latency_p99_9_ns").values()) == [5]


def test_figures_are_named_with_or_without_their_unit():
    assert figure_named("latency_p99") == figure_named("latency_p99_ns") == "latency_p99_ns"
    assert figure_named("bytes_per_s") == THROUGHPUT
    with pytest.raises(ValueError, match="'elapsed' is not a figure that can be compared: use one of latency_mean, "):
        figure_named("elapsed")


def test_a_class_is_given_or_follows_from_the_device_and_file_system():
    facts = {
        "environment": {"device_model": "PM1743", "filesystem_type": "xfs"},
        "identity": {"filesystem_size_bytes": 100 << 30},
    }
    assert class_of(with_(**facts)) == "PM1743, 100 GiB, xfs"
    assert class_of({**with_(**facts), "class": "gold"}) == "gold"
    facts["environment"].update(device_model=None, device_member_model="PM9A3")
    assert class_of(with_(**facts)) == "PM9A3, 100 GiB, xfs"
    assert class_of({**CONTENT, "identity": None, "environment": {}}) == "unknown device"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, ""),
        ({"verdict": "warn"}, ""),
        ({"verdict": "fail", "limits_verdict": "fail"}, "it does not keep its limits (verdict fail)"),
        ({"verdict": "fail", "limits_verdict": "pass"}, ""),  # the comparison failed, but the limits are met
        ({"verdict": "pass", "limits_verdict": "inconclusive"}, "it does not keep its limits (verdict inconclusive)"),
        ({"disturbances": ["steal"]}, "its measurement was disturbed"),
        ({"method_version": None}, "its tester names no version of its method"),
        ({"rows": []}, "it has no row with latency_mean_ns"),
    ],
)
def test_what_can_be_compared_at_all(fields, reason):
    assert why_unusable(with_(**fields)) == why_incomparable(with_(**fields), CONTENT) == reason


def test_certificates_need_the_same_method_and_parameters():
    assert why_incomparable(CONTENT, CONTENT) == ""
    assert why_incomparable(with_(method_version=2), CONTENT) == "its method version is 2, not 1"
    other = with_(parameters={"option_files": "3", "sweep_mode": "isolated"})
    assert why_incomparable(other, CONTENT) == "it was measured with another files, sweep_mode"


def test_what_mqldt_measured_is_compared_by_the_figures_that_are_right():
    for figure in (LATENCY_MEAN, "latency_p99_ns", "operations_per_s"):
        assert (
            why_unusable(IMPORTED, figure)
            == "it was imported from mqldt, so only bytes_per_s, latency_min, latency_max can be compared"
        )
    pairs = ((IMPORTED, CONTENT), (CONTENT, IMPORTED), (IMPORTED, IMPORTED))
    assert {
        why_incomparable(one, other, figure) for one, other in pairs for figure in (THROUGHPUT, "latency_max_ns")
    } == {""}
    elsewhere = {**IMPORTED, "rows": [{**row, "load_point": 9} for row in IMPORTED["rows"]]}
    assert why_incomparable(elsewhere, CONTENT, THROUGHPUT) == "the two have no row in common"


def test_what_changed_is_told_if_both_sides_are_known():
    before = with_(environment={"kernel": "6.1", "mount_options": "rw", "device_firmware": None})
    after = with_(
        environment={"kernel": "6.12", "mount_options": "rw", "device_firmware": "7"},
        identity={"device_ids": "naa.2"},
        method_version=2,
    )
    assert changes(before, after) == [
        Change("device_ids", "naa.1", "naa.2"),
        Change("kernel", "6.1", "6.12"),
        Change("method_version", 1, 2),
    ]
    assert changes({**before, "identity": None}, before) == []


def test_a_capacity_that_changed_is_shown_in_the_unit_of_its_load():
    before, after, none = (
        {**CONTENT, "capacity": {"load_unit": "BSU", "highest_passed": load, "lowest_not_passed": 90}}
        for load in (40, 84, None)
    )
    assert changes(before, after) == [Change("capacity", "40 BSU", "84 BSU")]
    assert changes(before, none) == [Change("capacity", "40 BSU", "below 90 BSU")]
    assert changes(before, {**after, "capacity": None}) == []
