# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tables of several rounds, joined into the tables of one run."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.joined_tables import join_tables
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.table_reader import TablesError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

RECORDED = {
    path.name: path.read_bytes() for path in (fabricate.PROJECT / "tests/fixtures/tables/measured").glob("*.csv")
}


def a_round(load, over=(), **keys):
    rows = fabricate.sweep_rows(block_sizes=(4096, 8192), queue_managers=(load,), seconds=5)
    found = fabricate.over_rows(rows[-1], 10**6, 3, [2]) if over else []
    return fabricate.tables(rows, over=found, option_load_points=load, **keys)


def joined(*rounds):
    return parse_tables(join_tables(rounds))


def test_one_round_is_left_as_it_is():
    assert join_tables([RECORDED]) == RECORDED


def test_steps_are_numbered_on_in_every_table():
    tables = joined(a_round(1, over=True), a_round(4, over=True), a_round(2, over=True))
    assert [(row["step"], row["load_point"]) for row in tables.results if row["worker"] == "all"] == [
        (1, 1),
        (2, 1),
        (3, 4),
        (4, 4),
        (5, 2),
        (6, 2),
    ]
    assert {row["step"] for row in tables.intervals} == {1, 2, 3, 4, 5, 6}
    assert [row["step"] for row in tables.over] == [2, 4, 6]
    assert (tables.run["steps_planned"], tables.run["rounds"]) == ("6", "3")


def test_what_all_rounds_did_is_united_and_added_up():
    run = joined(
        a_round(
            1,
            planned_duration_s=70,
            start_time_epoch_s="1.5",
            end_time_epoch_s="9.5",
            own_written_bytes=100,
            device_read_bytes=5,
        ),
        a_round(
            4,
            planned_duration_s=70,
            start_time_epoch_s="11.5",
            end_time_epoch_s="19.5",
            own_written_bytes=400,
            device_read_bytes="",
        ),
    ).run
    assert run["option_load_points"] == "1 4"
    assert (run["planned_duration_s"], run["own_written_bytes"], run["device_read_bytes"]) == ("140", "500", "")
    assert (run["start_time_epoch_s"], run["end_time_epoch_s"]) == ("1.5", "19.5")


@pytest.mark.parametrize("shares", [("0.1", "0.3"), ("0.3", "0.1"), ("0.3", "")])
def test_the_worst_disturbance_of_the_rounds_counts(shares):
    first, second = (
        a_round(1, cpu_steal_share=share, foreign_io_share=share, cpu_idle_share=share) for share in shares
    )
    run = joined(first, second).run
    assert (run["cpu_steal_share"], run["foreign_io_share"]) == ("0.3", "0.3")
    assert run["cpu_idle_share"] == min(filter(None, shares))


@pytest.mark.parametrize(("frozen", "longest", "step"), [((7, 3), "7", "1"), ((3, 7), "7", "3")])
def test_the_longest_freeze_keeps_its_step(frozen, longest, step):
    run = joined(*(a_round(1, oversleep_max_ns=each, oversleep_max_step=1) for each in frozen)).run
    assert (run["oversleep_max_ns"], run["oversleep_max_step"]) == (longest, step)


def test_the_last_round_says_how_the_search_ended():
    tables = joined(a_round(1), a_round(2, exit_status=3, exit_reason="io_error", error_errno_name="EIO"))
    assert (tables.exit_status, tables.run["error_errno_name"]) == (3, "EIO")


def test_the_directories_of_the_largest_load_are_kept():
    run = joined(a_round(2, directory_1="/a", directory_2="/b"), a_round(1, directory_1="/a")).run
    assert (run["directory_1"], run["directory_2"]) == ("/a", "/b")


def without(name, tables):
    return {each: content for each, content in tables.items() if each != name}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda tables: a_round(2, source_hash="cd" * 32), "differ in source_hash"),
        (lambda tables: a_round(2, load_unit="BSU"), "differ in load_unit"),
        (lambda tables: without("intervals.csv", tables), "intervals.csv is missing in one of the rounds"),
        (lambda tables: {**tables, "rounds.csv": b"step\n"}, "rounds.csv is missing in one of the rounds"),
        (
            lambda tables: {**tables, "intervals.csv": tables["intervals.csv"].replace(b"second", b"hour", 1)},
            "intervals.csv has different columns",
        ),
        (lambda tables: a_round(2, complete=None), "not complete"),
    ],
)
def test_rounds_that_do_not_belong_together_are_refused(change, reason):
    with pytest.raises(TablesError, match=reason):
        join_tables([a_round(1), change(a_round(2))])


def test_a_round_before_that_does_not_say_its_steps_is_refused():
    with pytest.raises(TablesError, match="how many steps"):
        join_tables([a_round(1, steps_planned=""), a_round(2)])
