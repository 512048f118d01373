# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The capacity of a volume: which load points pass, which of them count for its verdict, and which load is tried
next."""

from __future__ import annotations

import random

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.capacity import (
    CLOSE_ENOUGH,
    LARGEST_LOAD,
    Capacity,
    Point,
    capacity_of,
    next_load,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import judge_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord, RecordError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

MEAN = {"metric": "latency_mean", "max": "5 ms"}
"""The limits for the load points below: 1 ms of latency for each unit of load."""


def rows_of(loads, latency_ns=1_000_000):
    return [
        row
        for step, load in enumerate(loads, 1)
        for row in fabricate.step_rows(step, 4096, load, latency_ns=load * latency_ns)
    ]


def judged(loads, facts=None, limits=(MEAN,), waivers=(), rows=None, together=None, **run_keys):
    profile = load_profile(
        {"name": "mine", "qualifies": {"confidence": "none"}, "limits": list(limits), "waivers": list(waivers)}
    )
    tables = parse_tables(fabricate.tables(rows or rows_of(loads), load_unit="BSU", **run_keys))
    return judge_record(HostRecord("db07", facts=facts or {}), tables, profile, fabricate.TODAY, together)


def points(**verdicts):
    return tuple(
        Point(int(load[1:]), verdict, None if verdict == "pass" else why(load[1:], verdict))
        for load, verdict in verdicts.items()
    )


def why(load, verdict):
    return {"kind": "unmeasured", "verdict": verdict, "text": f"why {load}"}


@pytest.mark.parametrize(
    ("highest_passed", "lowest_not_passed", "expected"),
    [
        (None, None, 2),
        (1, None, 2),
        (80, None, 160),
        (LARGEST_LOAD - 1, None, LARGEST_LOAD),
        (LARGEST_LOAD, None, None),
        (None, 80, 40),
        (None, 1, None),
        (40, 80, 60),
        (80, 85, 82),
        (80, 84, None),
        (3, 5, 4),
        (3, 4, None),
    ],
)
def test_the_next_load_is_the_double_the_half_or_the_middle(highest_passed, lowest_not_passed, expected):
    assert next_load(highest_passed, lowest_not_passed) == expected


def climb(capacity, first):
    """Return the result of a search on storage that passes every load up to its capacity, and the number of rounds."""
    passed, failed, load, rounds = None, None, first, 0
    while load is not None:
        rounds += 1
        passed, failed = (max(load, passed or 0), failed) if load <= capacity else (passed, min(load, failed or load))
        load = next_load(passed, failed)
    return passed, rounds


@pytest.mark.parametrize("first", [1, 7, 100, 4000, LARGEST_LOAD])
def test_every_capacity_is_found_in_few_rounds_from_any_first_load(first):
    choose = random.Random(first)
    for capacity in [1, 2, 3, LARGEST_LOAD, *(int(10 ** choose.uniform(0, 5)) for dummy in range(2000))]:
        found, rounds = climb(capacity, first)
        assert found <= capacity <= max(found * (1 + CLOSE_ENOUGH), found)
        assert rounds <= 23


def test_the_capacity_is_the_highest_load_that_passes_below_every_one_that_fails():
    capacity = Capacity("BSU", points(p1="pass", p2="inconclusive", p4="warn", p8="fail", p16="pass"))
    assert (capacity.highest_passed, capacity.lowest_not_passed, capacity.next_load) == (4, 8, 6)
    assert capacity.as_dict()["finding"] == why("8", "fail")


def test_what_is_inconclusive_has_not_passed():
    capacity = Capacity("BSU", points(p1="pass", p2="inconclusive"))
    assert (capacity.highest_passed, capacity.lowest_not_passed) == (1, 2)


def test_a_record_says_what_each_load_point_came_to():
    found = judged([1, 2, 6, 8])["capacity"]
    assert (found["load_unit"], found["highest_passed"], found["lowest_not_passed"], found["next_load"]) == (
        "BSU",
        2,
        6,
        4,
    )
    assert [point["verdict"] for point in found["points"]] == ["pass", "pass", "fail", "fail"]
    assert found["reason"].startswith("latency_mean 6 ms > 5 ms at 4 KiB")
    assert Capacity.from_dict(found).as_dict() == without_sentences(found)


def without_sentences(capacity):
    return {
        key: [without_sentences(point) for point in value] if key == "points" else value
        for key, value in capacity.items()
        if key != "reason"
    }


def test_a_run_with_one_load_point_has_no_capacity():
    assert judged([1])["capacity"] is None


def test_a_load_point_that_no_limit_judges_has_not_passed():
    tables = parse_tables(fabricate.tables(rows_of([1])))
    (point,) = capacity_of(tables, [], None).points
    assert (point.verdict, point.finding) == (
        "inconclusive",
        {"kind": "load_point", "verdict": "inconclusive", "cause": "no limit"},
    )


def test_a_load_point_that_lacks_a_step_has_not_passed():
    rows = [*rows_of([1, 2]), *fabricate.step_rows(3, 8192, 1, latency_ns=1_000_000)]
    found = judged([], rows=rows)["capacity"]
    assert (found["highest_passed"], found["reason"]) == (1, "not all steps of this load point were measured")


@pytest.mark.parametrize(("status", "verdict"), [(3, "fail"), (4, "inconclusive")])
def test_the_load_at_which_the_tester_ended_has_not_passed(status, verdict):
    found = judged([1, 2], exit_status=status, steps_planned=3, error_errno_name="EIO", error_call="pwritev")
    assert found["verdict"] == verdict
    assert found["capacity"]["highest_passed"] == 1
    assert found["capacity"]["points"][1]["verdict"] == verdict


@pytest.mark.parametrize(
    ("loads", "target", "verdict", "reason"),
    [
        ([1, 2, 8], 2, "pass", ""),
        ([1, 2, 8], 8, "fail", "latency_mean 8 ms > 5 ms"),
        (
            [1, 2, 8],
            4,
            "inconclusive",
            "the target of 4 BSU was not reached: the highest load point that passed is 2 BSU. Measure at 4 BSU",
        ),
        ([1, 3, 5], 4, "pass", ""),
        ([1, 3, 5], 4.5, "pass", ""),
        (
            [1, 3],
            3.5,
            "inconclusive",
            "the target of 3.5 BSU was not reached: the highest load point that passed is 3 BSU. Measure at 3.5 BSU",
        ),
        ([6, 8], 4, "inconclusive", "the target of 4 BSU was not reached: no load point passed. Measure at 4 BSU"),
        ([1, 2, 8], None, "fail", "latency_mean 8 ms > 5 ms"),
    ],
)
def test_loads_above_the_target_explore(loads, target, verdict, reason):
    found = judged(loads, {"load_target": target})
    assert found["verdict"] == verdict
    assert (found["reasons"] or [""])[0].startswith(reason)
    assert len(found["reasons"]) == bool(reason)
    assert all(judgement["load_point"] <= (target or 8) for judgement in found["judgements"])
    assert len(found["capacity"]["points"]) == len(loads)


@pytest.mark.parametrize(
    ("loads", "verdict", "counted"),
    [([1, 2, 8], "pass", {1, 2}), ([6, 8], "fail", {6}), ([2], "pass", {2})],
)
def test_of_a_search_the_loads_up_to_the_capacity_count(loads, verdict, counted):
    found = judged(loads, {"load_search": True})
    assert found["verdict"] == verdict
    assert {judgement["load_point"] for judgement in found["judgements"]} == counted
    assert len(found["reasons"]) == (verdict == "fail")


def test_a_disturbed_host_shows_no_capacity():
    found = judged([6, 8], {"load_search": True}, run_queue_wait_share=0.5)
    assert (found["verdict"], found["capacity"]["highest_passed"]) == ("inconclusive", None)


@pytest.mark.parametrize(
    ("loads", "least", "verdict", "text"),
    [
        ([1, 2, 4], 4, "pass", "capacity 4 BSU >= 4 BSU in this run"),
        ([1, 2, 8], 8, "fail", "capacity 2 BSU < 8 BSU in this run: at 8 BSU, latency_mean 8 ms > 5 ms at 4 KiB"),
        (
            [1, 2, 8],
            4,
            "inconclusive",
            "capacity 2 BSU < 4 BSU in this run: no load point from 4 BSU upwards was measured: measure there",
        ),
        (
            [1, 2],
            4,
            "inconclusive",
            "capacity 2 BSU < 4 BSU in this run: no load point from 4 BSU upwards was measured: measure there",
        ),
        ([6, 8], 7, "fail", "capacity >= 7 BSU has no figure in this run: at 6 BSU, latency_mean 6 ms > 5 ms at 4 KiB"),
        ([4], 4, "pass", "capacity 4 BSU >= 4 BSU in this run"),
    ],
)
def test_a_profile_can_ask_for_a_capacity(loads, least, verdict, text):
    found = judged(loads, {"load_search": True}, limits=[{"metric": "capacity", "min": least}, MEAN])
    (judgement,) = (each for each in found["judgements"] if each["metric"] == "capacity")
    assert judgement["verdict"] == verdict
    assert judgement["reason"].startswith(text)
    assert judgement["limit"] == f"capacity >= {least} BSU"


def test_a_load_passes_only_if_it_passes_on_all_volumes_that_climb_together():
    other = Capacity("BSU", points(p1="pass", p2="fail"))
    found = judged([1, 2, 4], {"load_search": True}, together={"db08": other})
    assert [point["verdict"] for point in found["capacity"]["points"]] == ["pass", "fail", "inconclusive"]
    assert found["capacity"]["highest_passed"] == 1
    assert found["capacity"]["finding"] == {
        "kind": "elsewhere",
        "verdict": "fail",
        "on": "db08",
        "finding": why("2", "fail"),
    }
    assert found["capacity"]["reason"] == "db08: why 2"
    assert found["verdict"] == "pass"


def test_where_no_load_passes_on_all_of_them_none_of_them_passes():
    found = judged([1], {"load_search": True}, together={"db08": Capacity("BSU", points(p1="fail"))})
    assert (found["verdict"], found["reasons"]) == ("fail", ["db08: why 1"])


@pytest.mark.parametrize(
    "change",
    [
        {"points": 1},
        {"points": [{"load_point": "1", "verdict": "pass", "reason": ""}]},
        {"points": [{}]},
        {"highest_passed": "12"},
        {"load_unit": None},
    ],
)
def test_a_record_with_another_capacity_is_refused(change):
    record = HostRecord("db07", capacity={**Capacity("BSU", points(p1="pass")).as_dict(), **change})
    with pytest.raises(RecordError, match="has no usable capacity"):
        HostRecord.from_dict(record.as_dict())
