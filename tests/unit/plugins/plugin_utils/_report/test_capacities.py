# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The capacity of volumes in reports: the sentence and the table about it, and where they are shown."""

from __future__ import annotations

import json

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.capacity import shown_capacity
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.latency import capacity_chart
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.headroom import SHOWN, capacity_lines
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import build_model
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs

BROKEN = "latency_mean 21.3 ms >= 20 ms for reads of database at 13 threads (1,234 reads)"
LADDER = {"load_target": 1}


FINDING = {
    "kind": "limit",
    "verdict": "fail",
    "limit": "latency_mean < 20 ms",
    "metric": "latency_mean",
    "bound": "max",
    "limit_value": 20_000_000,
    "unit": "ns",
    "stream": "database",
    "operation": "read",
    "load_point": 13,
    "block_size_bytes": None,
    "worker": "all",
    "worker_name": "all",
    "value": 21_300_000,
    "value_at_least": False,
    "samples": 1234,
    "details": {"operator": "<", "kept": False},
}


def record(highest, lowest, reason="", following=None, points=(), finding=None, **keys):
    capacity = {
        "load_unit": "threads",
        "highest_passed": highest,
        "lowest_not_passed": lowest,
        "reason": reason,
        "next_load": following,
        "finding": finding,
    }
    return HostRecord(
        "db07",
        capacity={
            **capacity,
            "points": [{"load_point": load, "verdict": verdict, "reason": ""} for load, verdict in points],
        },
        **keys,
    )


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (record(12, 13, BROKEN), f"12 threads passed, 13 did not: {BROKEN}."),
        (
            record(12, 13, f"{BROKEN}: with 95 % confidence at most 23 ms. Covered: nothing.", finding=FINDING),
            f"12 threads passed, 13 did not: {BROKEN}.",
        ),
        (
            record(8, 16, f"{BROKEN}; waived until 2027", 12, finding=FINDING),
            f"8 threads passed, 16 did not: {BROKEN}. Next to try: 12 threads.",
        ),
        (
            record(
                8,
                16,
                "latency_mean 5 ms < 20 ms at 16 threads (9 reads): too few seconds.",
                points=[(8, "pass"), (16, "inconclusive")],
            ),
            "8 threads passed, 16 is undecided: latency_mean 5 ms < 20 ms at 16 threads (9 reads): too few seconds.",
        ),
        (record(None, 1, "it ended early."), "no load passed: 1 thread did not: it ended early."),
        (record(64, None, "", 128), "64 threads passed, and no higher load was tried. Next to try: 128 threads."),
        (record(None, None), "no load passed."),
    ],
)
def test_the_sentence_says_what_passed_what_did_not_and_what_to_try(found, sentence):
    assert shown_capacity(found).sentence == sentence


def test_a_record_of_one_load_has_no_capacity():
    assert shown_capacity(HostRecord("db07")) is None


@pytest.fixture(scope="module")
def capacities(rendered):
    return {host.host: host.capacity for host in build_model(rendered("streams")).hosts}


def test_the_table_has_the_figures_of_the_criterion_that_decides(capacities):
    slow_reads, slow_log = capacities["db02"], capacities["db03"]
    assert slow_reads.criterion == "latency_mean < 20 ms (reads of stream database)"
    assert [(point.load_point, point.verdict, point.figure) for point in slow_reads.points] == [
        (2, "pass", "6 ms"),
        (4, "pass", "12 ms"),
        (8, "fail", "24 ms"),
    ]
    assert slow_log.criterion == "latency_mean < 10 ms" and [point.figure for point in slow_log.points] == [
        "4 ms",
        "8 ms",
        "16 ms",
    ]
    # If all loads pass, the criterion that comes closest to its limit is shown.
    assert capacities["db01"].criterion == "latency_mean < 20 ms (reads of stream database)"


def test_loads_above_the_target_are_marked():
    found = shown_capacity(record(8, None, points=[(4, "pass"), (8, "pass"), (16, "fail")], facts={"load_target": 8}))
    assert [point.explores for point in found.points] == [False, False, True]


def test_every_format_has_the_capacity_of_each_volume(rendered):
    directory = rendered("streams")
    for name in ("summary.txt", "report.md", "evidence.md", "index.html"):
        assert "Next to try: 16 threads." in runs.content(directory, name)
    assert (
        "  capacity db02: 4 threads passed, 8 did not: latency_mean 24 ms >= 20 ms for reads of database"
        in runs.content(directory, "summary.txt")
    )
    page = runs.content(directory, "index.html")
    assert page.count("<h3>Capacity</h3>") == 3 and "the capacity</span>" in page and "passed up to here" in page
    assert 'logdisk_run_capacity{host="db02",volume="log",load_unit="threads"} 4' in runs.content(
        directory, "logdisk.prom"
    )
    hosts = {host["host"]: host["capacity"] for host in json.loads(runs.content(directory, "report.json"))["hosts"]}
    assert {
        name: (capacity["highest_passed"], capacity["lowest_not_passed"], capacity["next_load"])
        for name, capacity in hosts.items()
    } == {
        "db01": (8, None, 16),
        "db02": (4, 8, 6),
        "db03": (4, 8, 6),
    }


def test_the_smallest_capacities_come_first_and_the_rest_is_counted(tmp_path):
    model = build_model(
        fabricate.run_directory(
            tmp_path,
            {f"db{number:02}": runs.mailbox(reads_ms=1 + number) for number in range(SHOWN + 2)},
            queue_managers=(),
        )
    )
    model.hosts[3].capacity = None
    lines = capacity_lines(model)
    assert len(lines) == SHOWN + 1 and lines[-1] == "and 1 more that carry as much or more"


@pytest.mark.parametrize(("facts", "shown"), [({}, 0), (LADDER, 1)])
def test_people_see_the_capacity_of_queue_managers_only_if_it_was_asked_for(tmp_path, facts, shown):
    files = fabricate.tables(
        fabricate.sweep_rows(block_sizes=(4096, 65536), queue_managers=(1, 2, 4), latency_ns=700_000)
    )
    run = fabricate.run_data(["db07"])
    directory = fabricate.run_directory(tmp_path, {"db07": files}, queue_managers=("QMA", "QMB", "QMC", "QMD"))
    made = fabricate.judged(run, "db07", files, queue_managers=("QMA", "QMB", "QMC", "QMD"), facts=facts)
    directory.records.write(made, files)
    fabricate.judge_run(directory, fabricate.GATE)
    render(directory)
    assert runs.content(directory, "summary.txt").count("\n  capacity ") == shown
    assert runs.content(directory, "index.html").count("<h3>Capacity</h3>") == shown
    assert "logdisk_run_capacity{" in runs.content(directory, "logdisk.prom")
    chart = str(capacity_chart(build_model(directory).hosts[0]))
    assert ("Load in queue managers" in chart, "limit any" in chart) == ((True, True) if shown else (False, False))
