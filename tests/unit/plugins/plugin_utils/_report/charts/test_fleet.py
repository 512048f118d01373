# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The picture of a fleet: it has a mark for every host, limits and names, and its size does not grow with the fleet."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.fleet import Mark, Strip, fleet_chart

MS = 1_000_000


def marks(count, p99_ns=MS, spread=0.001, **fields):
    slower = [1 + number * spread for number in range(count)]
    return [
        Mark(f"db{number:03d}", p99_ns * share, p99_ns * share / 2, **{"fails": False, **fields})
        for number, share in enumerate(slower)
    ]


def drawn(strips):
    """Return the paths of the marks by their class, and the texts of a picture."""
    tree = ET.fromstring(str(fleet_chart(strips)))
    paths = {}
    for path in tree.iter("path"):
        paths.setdefault(path.get("class"), []).append(path.get("d"))
    return paths, ["".join(text.itertext()) for text in tree.iter("text")], tree


def points(path):
    return [tuple(map(float, point)) for point in re.findall(r"M([0-9.]+) ([0-9.]+)h0", path)]


def test_every_host_is_a_mark_of_its_own_for_p99_and_for_the_mean():
    paths, texts, dummy = drawn([Strip("4 KiB", marks(30, spread=0.2), 2 * MS, MS)])
    (p99,), (mean,) = paths["p99"], paths["mean"]
    (line,) = {float(path.split(" ")[1].split("H")[0]) for path in paths["line"]}
    for path, above in ((p99, True), (mean, False)):
        assert len(points(path)) == len(set(points(path))) == 30
        assert all((y < line) == above for dummy, y in points(path))
    assert len(paths["limit"]) == 2
    assert {"limit of p99 2 ms", "limit of mean 1 ms", "4 KiB"} <= set(texts)


def test_marks_that_would_leave_the_strip_become_a_bar_within_it():
    strip = Strip("4 KiB", [Mark(f"db{number}", MS, MS / 2, number < 300) for number in range(1000)])
    paths = drawn([strip])[0]
    (good,), (bad,) = paths["p99"], paths["p99 fails"]
    heights = [list(map(float, re.fullmatch(r"M[0-9.]+ ([0-9.]+)V([0-9.]+)", path).groups())) for path in (good, bad)]
    top, bottom = heights[1][1], heights[0][0]
    assert heights[0][1] - heights[1][0] == pytest.approx(0, abs=0.2)
    assert (heights[0][0] - heights[0][1]) / (bottom - top) == pytest.approx(0.7, abs=0.02)
    assert bottom - top < 26


def test_ten_thousand_hosts_take_no_more_room_than_a_thousand():
    sizes = [len(fleet_chart([Strip(f"{size} KiB", marks(count)) for size in (4, 8, 16)])) for count in (1000, 10_000)]
    assert sizes[1] < 12_000


def test_a_longer_latency_lies_further_to_the_right_by_its_logarithm():
    strip = Strip("4 KiB", [Mark(name, value, None, False) for name, value in (("a", 1e5), ("b", 1e6), ("c", 1e7))])
    (x1, dummy), (x2, dummy), (x3, dummy) = points(drawn([strip])[0]["p99"][0])
    assert x2 - x1 == pytest.approx(x3 - x2, abs=6)
    assert x2 - x1 > 100


def test_failing_hosts_and_those_far_from_the_others_are_named():
    quiet = Strip("4 KiB", marks(10))
    assert quiet.worst() == []
    loud = Strip("4 KiB", [*marks(10), Mark("far", 4 * MS, MS, False), Mark("slow", 2 * MS, MS, True)])
    assert [mark.label for mark in loud.worst()] == ["slow", "far"]
    texts = drawn([loud])[1]
    assert {"2 ms slow", "4 ms far"} <= set(texts)
    many = Strip("4 KiB", [*marks(10), *marks(5, 20 * MS, fails=True)])
    assert {"20.1 ms db004", "20.1 ms db003", "and 3 more"} <= set(drawn([many])[1])
    few = Strip("4 KiB", marks(2))
    assert [mark.label for mark in few.worst()] == ["db001", "db000"]


def test_the_picture_says_in_words_what_it_shows():
    tree = drawn([Strip("4 KiB", [*marks(10), Mark("slow", 30 * MS, 15 * MS, True)], 2 * MS)])[2]
    assert (
        tree.find("desc").text == "4 KiB: 11 hosts, p99 median 1 ms, from 1 ms to 30 ms, limit 2 ms; worst: slow 30 ms."
    )
    assert tree.get("aria-labelledby").split() == [tree.find("title").get("id"), tree.find("desc").get("id")]
    assert Strip("4 KiB", []).sentence() == "4 KiB: nothing was measured."


def test_without_a_figure_there_is_no_picture():
    assert fleet_chart([Strip("4 KiB", [Mark("db07", None, None, False)])]) == ""


def test_a_name_cannot_leave_its_place():
    text = str(fleet_chart([Strip("<b>", [Mark("<script>" + "x" * 5000, MS, MS, True)])]))
    assert "<script>" not in text and "<b>" not in text
    assert len(text) < 3000
