# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pictures of a fleet: they have a mark for every host, limits and names, and their size does not grow with the
fleet."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.fleet import (
    Mark,
    Strip,
    fleet_chart,
    limit_use_chart,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.marks import WIDTH

MS = 1_000_000


def marks(count, p99_ns=MS, spread=0.001, **fields):
    slower = [1 + number * spread for number in range(count)]
    return [
        Mark(f"db{number:03d}", p99_ns * share, p99_ns * share / 2, **{"fails": False, **fields})
        for number, share in enumerate(slower)
    ]


def drawn(chart):
    """Return the paths of a picture by their class, and its tree."""
    tree = ET.fromstring(f"<div>{chart}</div>")
    paths = {}
    for path in tree.iter("path"):
        name = re.sub(" (bar|size[0-9])$", "", path.get("class"))
        paths.setdefault(name, []).append(path.get("d"))
    return paths, tree


def headings(strips):
    return [" ".join("".join(each.itertext()).split()) for each in drawn(fleet_chart(strips))[1].iter("p")]


def points(path):
    return [tuple(map(float, point)) for point in re.findall(r"M([0-9.]+) ([0-9.]+)(?:h0|v[46])", path)]


def test_every_host_is_a_mark_of_its_own_for_p99_and_for_the_mean():
    paths, dummy = drawn(fleet_chart([Strip("4 KiB", marks(30, spread=0.2), 2 * MS, MS)]))
    (p99,), (mean,) = paths["p99"], paths["mean"]
    (line,) = {float(path.split(" ")[1].split("H")[0]) for path in paths["line"]}
    for path, above in ((p99, True), (mean, False)):
        assert len(points(path)) == len(set(points(path))) == 30
        assert all((y < line) == above for dummy, y in points(path))
    assert len(paths["limit"]) == 2


def test_a_heading_names_the_step_its_limits_and_the_worst_hosts():
    assert headings([Strip("4 KiB", marks(10), 2 * MS, MS)]) == ["4 KiB limit of p99 2 ms and of mean 1 ms"]
    loud = Strip("4 KiB", [*marks(10), Mark("far", 4 * MS, MS, False), Mark("slow", 2 * MS, MS, True)])
    assert headings([loud]) == ["4 KiB worst p99: slow 2 ms, far 4 ms"]
    many = Strip("4 KiB", [*marks(10), *marks(5, 20 * MS, fails=True)])
    assert headings([many]) == ["4 KiB worst p99: db004 20.1 ms, db003 20.1 ms, db002 20 ms, and 2 more"]


def test_marks_that_would_leave_the_strip_become_a_bar_within_it():
    strip = Strip("4 KiB", [Mark(f"db{number}", MS, MS / 2, number < 300) for number in range(1000)])
    paths = drawn(fleet_chart([strip]))[0]
    (good,), (bad,) = paths["p99"], paths["p99 fails"]
    (first, good_height), (second, bad_height) = (
        map(float, re.fullmatch(r"M[0-9.]+ ([0-9.]+)v([-0-9.]+)", path).groups()) for path in (good, bad)
    )
    assert second == pytest.approx(first + good_height, abs=0.2)
    assert good_height / (good_height + bad_height) == pytest.approx(0.7, abs=0.02)
    assert 20 < -(good_height + bad_height) < 26


def test_a_single_host_can_be_seen_beside_a_thousand():
    strip = Strip("4 KiB", [*marks(1000, spread=0), Mark("slow", 30 * MS, 15 * MS, True)])
    (bad,) = drawn(fleet_chart([strip]))[0]["p99 fails"]
    assert bad.endswith("v-3.0")


def test_ten_thousand_hosts_take_no_more_room_than_a_thousand():
    sizes = [len(fleet_chart([Strip(f"{size} KiB", marks(count)) for size in (4, 8, 16)])) for count in (1000, 10_000)]
    assert sizes[1] < 30_000


@pytest.mark.parametrize("count", [20, 1000])
def test_each_pile_of_marks_has_values(count):
    picture = str(fleet_chart([Strip("4 KiB", marks(count))]))
    paths = re.findall(r'<path class="(?:p99|mean)[^"]*" d="([^"]*)"(?: data-v="([^"]*)")?', picture)
    assert paths
    for course, values in paths:
        texts = [re.match(r"(?:(\d+)\*)?(.+)", value) for value in values.split("|")]
        assert sum(int(text[1] or 1) for text in texts) == course.count("M")
        assert all(re.search(r"(p99|mean) [0-9.]+ [mu]s$", text[2]) for text in texts)


def test_a_longer_latency_lies_further_to_the_right_by_its_logarithm():
    strip = Strip("4 KiB", [Mark(name, value, None, False) for name, value in (("a", 1e5), ("b", 1e6), ("c", 1e7))])
    (x1, dummy), (x2, dummy), (x3, dummy) = points(drawn(fleet_chart([strip]))[0]["p99"][0])
    assert x2 - x1 == pytest.approx(x3 - x2, abs=12)
    assert x2 - x1 > 200


def test_failing_hosts_and_those_far_from_the_others_are_named():
    assert Strip("4 KiB", marks(10)).worst() == []
    loud = Strip("4 KiB", [*marks(10), Mark("far", 4 * MS, MS, False), Mark("slow", 2 * MS, MS, True)])
    assert [mark.label for mark in loud.worst()] == ["slow", "far"]
    assert [mark.label for mark in Strip("4 KiB", marks(2)).worst()] == ["db001", "db000"]


def test_the_picture_says_in_words_what_it_shows():
    tree = drawn(fleet_chart([Strip("4 KiB", [*marks(10), Mark("slow", 30 * MS, 15 * MS, True)], 2 * MS)]))[1]
    (picture,) = [each for each in tree.iter("svg") if each.get("role") == "img"]
    assert (
        picture.get("aria-label")
        == "4 KiB: 11 hosts, p99 median 1 ms, from 1 ms to 30 ms, limit 2 ms; worst: slow 30 ms."
    )
    assert Strip("4 KiB", []).sentence() == "4 KiB: nothing was measured."


def test_without_a_figure_there_is_no_picture():
    assert fleet_chart([Strip("4 KiB", [Mark("db07", None, None, False)])]) == ""


def test_a_name_cannot_leave_its_place():
    text = str(fleet_chart([Strip("<b>", [Mark("<script>" + "x" * 5000, MS, MS, True)])]))
    assert "<script>" not in text and "<b><b>" not in text
    assert len(text) < 3000


def test_hosts_are_right_of_the_limit_if_they_use_more_than_all_of_it():
    uses = [("pass", 0.5), ("fail", 15.0), ("inconclusive", 1.1), ("fail", 1e9)]
    paths, tree = drawn(limit_use_chart(uses, "what it shows"))
    limit = float(paths["limit"][0][1:].split(" ")[0])
    ((good, dummy),), ((unsure, dummy),) = points(paths["passes"][0]), points(paths["neither"][0])
    bad = [x for x, dummy in points(paths["fails"][0])]
    assert good < limit <= unsure < bad[0] < bad[1] <= WIDTH
    texts = [text.text for text in tree.iter("text")]
    assert "the limit" in texts and "100 %" not in texts
    assert tree.find("svg").get("aria-label") == "what it shows"


def test_no_tick_runs_into_the_text_of_the_lane_of_hosts_without_figures():
    dummy, tree = drawn(limit_use_chart([("pass", 0.5)], "what it shows", ["fail"]))
    ticks, lane = [float(text.get("x")[:-1]) for text in tree.iter("text")][:-1], list(tree.iter("text"))[-1]
    assert (lane.text, lane.get("text-anchor")) == ("no figure", "end")
    assert max(ticks) <= 75
