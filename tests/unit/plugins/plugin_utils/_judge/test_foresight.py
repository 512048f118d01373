# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The notes that warn, before a sweep starts, that it is too short."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.target import OperationsTarget, Target
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge import foresight
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate


def plan(seconds, block_sizes=fabricate.BLOCK_SIZES, files_bytes=1 << 30):
    return {
        "workload": "mq-log",
        "workload_name": "mq-log",
        "sweep_duration": seconds,
        "queue_manager_bytes": files_bytes,
        "block_sizes_bytes": list(block_sizes),
        "load_points": [1],
        "load_target": 0,
        "search": None,
        "certify_s": 4247,
    }


def foresee(profile, made):
    return fabricate.told(foresight.foresee(profile, made))


def foresee_without_target(profile, target):
    return fabricate.told(foresight.foresee_without_target(profile, target))


def notes(seconds, *limits, **qualifies):
    return foresee(load_profile({"name": "mine", "qualifies": qualifies, "limits": list(limits)}), plan(seconds))


P99 = {"metric": "latency_p99", "max": "2 ms", "block_size": {"max": "64K"}}
MEAN = {"metric": "latency_mean", "max": "500 us"}
MESSAGES, OPERATIONS = Target(2048, 5000.0, 60), OperationsTarget(700.0)


@pytest.mark.parametrize(
    ("limits", "needed_s", "said"),
    [
        ([P99], 139, "latency_p99 <= 2 ms if the mean is 0.4 of the limit, and fewer if it is smaller"),
        (
            [{**MEAN, "max": "1 ms"}, P99],
            139,
            "latency_p99 <= 2 ms if the mean is 0.4 of the limit, and fewer if it is smaller",
        ),
        (
            [{**MEAN, "max": "200 us"}, P99],
            36,
            "latency_p99 <= 2 ms if the mean is 0.1 of the limit, and fewer if it is smaller",
        ),
        (
            [{"metric": "latency_p99_9", "max": "2 ms"}],
            1386,
            "latency_p99_9 <= 2 ms if the mean is 0.4 of the limit, and fewer if it is smaller",
        ),
        (
            [{"metric": "latency_p99_95", "max": "50 ms"}],
            1387,
            "latency_p99_95 <= 50 ms if the mean is 0.2 of the limit, and fewer if it is smaller",
        ),
        ([{"metric": "latency_time_weighted_p99", "max": "2 ms"}], 342, "latency_time_weighted_p99 <= 2 ms"),
        ([MEAN], 20, "latency_mean <= 500 us"),
    ],
)
def test_a_limit_that_needs_longer_is_named_with_the_seconds_that_it_needs(limits, needed_s, said):
    note = f"{needed_s} s per row are needed for {said}; {needed_s - 1} s are planned"
    assert note in notes(needed_s - 1, *limits)
    assert notes(needed_s, limits[-1], *limits[:-1]) == []


@pytest.mark.parametrize(
    ("limit", "qualifies"),
    [
        (P99, {"confidence": "none"}),
        ({**P99, "block_size": {"min": "2M"}}, {}),
        ({**P99, "hard": True}, {}),
        ({"metric": "latency_max", "max": "2 ms"}, {}),
    ],
)
def test_what_no_duration_decides_is_not_named(limit, qualifies):
    assert notes(1, limit, **qualifies) == []


def test_a_run_that_is_too_short_to_certify_is_told_how_long_one_takes_that_does():
    assert notes(3, P99, min_duration_s=600, confidence="none") == [
        "mine requires 600 s per row (about 71 min): with 3 s this run cannot certify"
    ]


def test_a_run_without_the_files_and_block_sizes_of_the_profile_is_said_not_to_certify():
    profile = load_profile(
        {"name": "mine", "qualifies": {"min_footprint": "1 GiB", "block_sizes": ["4K", "64K"]}, "limits": [P99]}
    )
    assert foresee(profile, plan(600)) == []
    assert foresee(profile, plan(600, (4096,), 64 << 20)) == [
        "mine requires 1 GiB of test files per queue manager: with 64 MiB this run cannot certify",
        "mine requires the block sizes 64 KiB: without them this run cannot certify",
    ]


@pytest.mark.parametrize("name", ["mq-log-gold", "mq-log-silver", "mq-log-bronze", "look"])
def test_the_duration_of_a_shipped_profile_decides_its_limits(name):
    profile = load_profile(name, fabricate.PROFILES)
    assert foresee(profile, plan(max(60, profile.min_duration_s))) == []


def test_a_limit_that_needs_a_target_is_named():
    profile = load_profile({"name": "mine", "limits": [P99, {"metric": "headroom_margin", "min": "20 %"}]})
    said = [
        "headroom_margin >= 20 % cannot be judged, because sweep_target does not state which "
        "messages the volume must carry"
    ]
    assert foresee_without_target(profile, None) == foresee_without_target(profile, OPERATIONS) == said
    assert (
        foresee_without_target(profile, MESSAGES)
        == foresee_without_target(load_profile({"name": "mine", "limits": [P99]}), None)
        == []
    )


def test_load_points_below_the_target_are_named():
    look = load_profile("look", fabricate.PROFILES)
    short = {**plan(60), "load_points": [8, 4], "load_target": 8.5}
    said = (
        "the run cannot show that the volume carries sweep_load_target 8.5, because the largest load point is 8: "
        "add 9 to sweep_loads"
    )
    assert foresee(look, short) == [said]
    assert foresee(look, {**short, "workload": "commit"})[0] == said
    assert foresee(look, {**short, "load_points": [4, 9]}) == foresee(look, {**short, "search": {"rounds": 12}}) == []


def test_what_commits_cannot_decide_is_said():
    made = {**plan(60), "workload": "commit", "block_sizes_bytes": []}
    assert foresee(
        load_profile(
            {"name": "mine", "limits": [P99, MEAN, {"stream": "commit", "metric": "latency_p99", "max": "5 ms"}]}
        ),
        made,
    ) == [
        "mine has limits on block sizes, which cannot be judged with sweep_workload commit: use a profile for commits",
        "with sweep_workload commit this run cannot certify",
    ]


def of_streams(seconds, files_bytes=1 << 30, **keys):
    streams = {"database": ["read", "write"], "maintenance": ["read"], "log": ["write"]}
    return {
        **plan(seconds, (), files_bytes),
        "workload": "streams",
        "workload_name": "mailbox-2010",
        "streams": streams,
        **keys,
    }


def test_what_a_run_of_streams_cannot_decide_or_certify():
    jetstress = load_profile("jetstress-2010", fabricate.PROFILES)
    assert foresee(jetstress, of_streams(600)) == []
    assert foresee(jetstress, of_streams(10)) == [
        "20 s per row are needed for target_operations_share >= 100 %; 10 s are planned",
        "20 s per row are needed for latency_mean < 20 ms; 10 s are planned",
        "20 s per row are needed for latency_mean < 10 ms; 10 s are planned",
        "jetstress-2010 requires 600 s per row (about 71 min): with 10 s this run cannot certify",
    ]
    assert "jetstress-2010 certifies runs of sweep_workload mailbox-2010: with mine this run cannot certify" in foresee(
        jetstress, of_streams(600, workload_name="mine")
    )
    assert (
        "jetstress-2010 certifies runs of sweep_workload mailbox-2010: with mq-log this run cannot certify"
        in foresee(jetstress, plan(600))
    )
    needs_files = load_profile(
        {"name": "mine", "qualifies": {"workload": "mailbox-2010", "min_footprint": "2 GiB"}, "limits": [MEAN]}
    )
    assert foresee(needs_files, of_streams(600)) == [
        "mine requires 2 GiB of test files: with 1 GiB this run cannot certify"
    ]
    said = [
        "target_operations_share >= 100 % cannot be judged, because sweep_target does not state how many "
        "operations_per_s the volume must carry"
    ]
    assert foresee_without_target(jetstress, None) == foresee_without_target(jetstress, MESSAGES) == said
    assert foresee_without_target(jetstress, OPERATIONS) == []


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"stream": "wal"}, ["stream wal"]),
        ({"stream": "maintenance", "operation": "write"}, ["writes of stream maintenance"]),
        ({"stream": "database", "operation": "read"}, []),
        ({"stream": "database"}, []),
        ({"stream": "all"}, []),
        ({}, []),
    ],
)
def test_a_limit_on_what_the_workload_does_not_have_is_named(limit, said):
    profile = load_profile(
        {
            "name": "mine",
            "qualifies": {"workload": "mailbox-2010"},
            "limits": [{"metric": "latency_mean", "max": "1 ms", **limit}],
        }
    )
    text = "latency_mean <= 1 ms cannot be judged, because the workload mailbox-2010 has no {}"
    assert foresee(profile, of_streams(600)) == [text.format(each) for each in said]
    without_log = {"database": ["read", "write"], "maintenance": ["read"]}
    assert foresee(profile, of_streams(600, streams=without_log)) == [
        text.format(each) for each in (said if limit else ["stream log"])
    ]


def test_a_limit_on_a_stream_cannot_be_judged_in_a_run_of_the_log():
    profile = load_profile("jetstress-2010", fabricate.PROFILES)
    assert (
        "latency_mean < 20 ms cannot be judged, because the workload mq-log has no reads of stream database"
        in foresee(profile, plan(600))
    )
