# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The part of the page about the fleet: how far cells are from their limits, the strictest limits, classes of similar
volumes, and the filters for hosts."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.figures import Cell
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import build_model
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.overview import steps_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.page.fleet import (
    LEVELS,
    classes_of,
    filters_of,
    fleet_row,
    level,
    limit_use_of,
    strips_of,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs

SIZES = (4096, 1048576)


@pytest.mark.parametrize(
    ("verdict", "used", "expected"),
    [
        ("pass", 0.5, "half"),
        ("pass", 0.51, "most"),
        ("pass", 0.8, "most"),
        ("pass", 0.81, "near"),
        ("warn", 3.0, "warn"),
        ("inconclusive", 0.1, "unsure"),
        ("fail", 12.34, "broken"),
        ("", None, "none"),
    ],
)
def test_a_cell_is_coloured_by_its_verdict_and_by_what_it_uses_of_its_limits(verdict, used, expected):
    cell = Cell(verdict, used, {"latency_p99_ns": 1e6, "latency_mean_ns": 1e6}, "write")
    assert level(cell) == expected
    assert expected in {name for name, words in LEVELS} | {"none"}


def fleet(tmp_path, latencies_ns, classes=(), **keys):
    """Return the model of a run with one host for each latency, in the named classes."""
    names = [f"db{number:02d}" for number in range(len(latencies_ns))]
    directory = RunDirectory.create(
        str(tmp_path), fabricate.run_data(names, host_classes=dict(zip(names, classes, strict=False)), **keys)
    )
    for name, latency_ns in zip(names, latencies_ns, strict=True):
        files = fabricate.tables(fabricate.sweep_rows(SIZES, latency_ns=latency_ns), over=())
        directory.records.write(fabricate.judged(directory.run, name, files), files)
    fabricate.judge_run(directory, fabricate.GATE)
    return build_model(directory)


def test_a_strip_has_every_host_and_the_tightest_limits_that_judge_it(tmp_path):
    model = fleet(tmp_path, [200_000, 15_000_000])
    small, large = strips_of(model, *steps_of(model))
    assert [(mark.label, mark.p99_ns, mark.fails) for mark in small.marks] == [
        ("db01", 30_004_096, True),
        ("db00", 404_096, False),
    ]
    assert (small.title, small.p99_limit_ns, small.mean_limit_ns) == ("4 KiB", 2_000_000, 1_000_000)
    assert (large.p99_limit_ns, large.mean_limit_ns) == (None, 10_000_000)


def test_a_class_names_who_departs_from_its_median(tmp_path):
    model = fleet(tmp_path, [200_000] * 9 + [210_000, 900_000, 200_000], ["gold"] * 11 + ["tin"])
    gold, tin = classes_of(model.hosts)
    assert (gold["name"], gold["count"], gold["departing"]) == ("gold", 11, ["db10 (196 % slower)"])
    assert (tin["name"], tin["too_few"], tin["departing"]) == ("tin", True, [])


def test_hosts_without_a_class_of_their_own_are_alike_by_device_and_file_system(tmp_path):
    (only,) = classes_of(fleet(tmp_path, [200_000, 300_000]).hosts)
    assert only["name"] == "Example Disk, xfs"


def test_only_what_tells_hosts_apart_can_be_filtered(tmp_path):
    hosts = fleet(tmp_path, [200_000] * 3, ["tin", "gold", "gold"]).hosts
    (by_class,) = filters_of(hosts)
    assert (by_class.name, by_class.values) == ("class", ["gold", "tin"])
    assert [fleet_row(host, None, [], [by_class])["filters"] for host in hosts] == [
        [("class", 2)],
        [("class", 1)],
        [("class", 1)],
    ]
    assert filters_of(hosts[1:]) == []


def test_the_baseline_is_told_in_a_few_words(tmp_path):
    (host,) = fleet(tmp_path, [200_000]).hosts
    told = []
    for comparison in (
        {},
        {"outcome": None},
        {"outcome": "worse", "change": 0.31},
        {"outcome": "inconclusive", "change": None},
    ):
        host.comparison = comparison
        told.append(fleet_row(host, None, [], [])["comparison"])
    assert told == ["not compared", "not compared", "worse (+31%)", "inconclusive"]


def test_the_picture_names_the_hosts_that_it_does_not_show(tmp_path):
    use = limit_use_of(build_model(runs.every_verdict(tmp_path)))
    assert {(name, verdict) for name, number, verdict in use["without_figure"]} == {
        ("gone", "unreachable"),
        ("broken", "error"),
        ("never", "missing"),
    }
    assert use["marks"] == [("passes", "passes"), ("fails", "fails"), ("neither", "inconclusive or warn")]
