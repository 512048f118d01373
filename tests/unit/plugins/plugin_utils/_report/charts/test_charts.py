# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The charts of a host: which figures are drawn, where, and their text alternatives."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.line import fit_line
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.axes import LogAxis, thinned
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.distribution import (
    distribution_charts,
    percentile_points,
    quantile_ns,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.dots import first_pass_charts, worker_charts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.heat import Heat
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.latency import (
    latency_charts,
    line_sentence,
    load_chart,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.plot import (
    end_labels,
    labels_beside,
    level_places,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.rows import limit_bar
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.seconds import (
    Seconds,
    seconds_charts,
    stalls,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import build_model
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.page.host import host_section
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.words import words_of
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

COUNTS = {100_000: 4000, 200_000: 900, 1_000_000: 90, 5_000_000: 10}


def host_of(tmp_path, rows=None, counts=COUNTS, stalls=(), **tables):
    """Return the model of a measured host."""
    rows = fabricate.sweep_rows() if rows is None else rows
    files = {
        **fabricate.tables(rows),
        "histogram.csv": fabricate.histogram_table(rows, counts),
        "stalls.csv": fabricate.stalls_table(rows, stalls),
        **tables,
    }
    return build_model(fabricate.run_directory(tmp_path, {"db07": files}, queue_managers=("QMA", "QMB", "QMC"))).hosts[
        0
    ]


def parsed(chart):
    """Return a chart's picture as XML."""
    return ET.fromstring(re.search(r"<svg.*?</svg>", str(chart), re.DOTALL)[0])


def texts(chart):
    return [element.text for element in parsed(chart).iter("text")]


def paths(chart, name):
    return [element for element in parsed(chart).iter("path") if element.get("class") == name]


def test_the_fit_is_said_in_words():
    assert line_sentence(fit_line([(4096, 193_251), (65536, 242_013), (1048576, 1_022_203)])) == (
        "Each write costs about 190 us plus 1 us per 1.26 KB (1,260 MB/s); the means follow this within 1 %."
    )


def test_latency_over_block_size_shows_limits_and_the_fit(tmp_path):
    (chart,) = latency_charts(host_of(tmp_path, fabricate.sweep_rows(latency_ns=190_000, bandwidth=1.26e9)))
    assert [name for name in ("max", "p99", "mean", "p50") if len(paths(chart, f"line {name}")) == 1] == [
        "max",
        "p99",
        "mean",
        "p50",
    ]
    assert len(paths(chart, "line fit")) == 1
    assert {
        "Latency",
        "Block size",
        "4 KiB",
        "1 MiB",
        "limit of p99 2 ms",
        "limit of mean 1 ms",
        "limit of max 100 ms",
    } <= {*texts(chart)}
    title, description = (parsed(chart).find(name).text for name in ("title", "desc"))
    assert title == "Latency over block size"
    assert "Mean 193 us at 4 KiB and 1.02 ms at 1 MiB" in description
    assert "190 us plus 1 us per 1.26 KB" in description


def test_a_limit_is_drawn_over_the_block_sizes_that_it_judges(tmp_path):
    (chart,) = latency_charts(host_of(tmp_path))
    points = re.findall(r"[ML]([\d.]+) ", paths(chart, "line p99")[0].get("d"))
    left, right = re.fullmatch(r"M([\d.]+) [\d.]+H([\d.]+)", paths(chart, "limit p99")[0].get("d")).groups()
    assert (float(left) + 6, float(right) - 6) == pytest.approx((float(points[0]), float(points[4])), abs=0.1)


def test_a_single_block_size_has_no_chart_over_block_sizes(tmp_path):
    assert latency_charts(host_of(tmp_path, fabricate.sweep_rows(block_sizes=(4096,)))) == []


@pytest.mark.parametrize(
    ("heights", "course", "places"),
    [
        ([100, 130], [], [(60, 97), (60, 127)]),
        ([100, 105], [], [(60, 97), (60, 117)]),
        ([100], [(60, 95), (390, 95)], [(60, 112)]),
        ([100], [(60, 95), (110, 95), (120, 30), (390, 30)], [(128, 97)]),
        ([24], [], [(60, 36)]),
    ],
    ids=["each above its line", "close together", "under another line", "beside another line", "at the edge"],
)
def test_the_label_of_a_limit_covers_neither_another_one_nor_a_line(heights, course, places):
    words = "limit of p99 2 ms"
    levels = [[(60, y), (240, y)] for y in heights]
    labels = labels_beside([("limit", words, level_places(60, 240, y, words)) for y in heights], [course, *levels])
    assert [(round(float(x)), round(float(y))) for x, y in re.findall(r'x="([\d.]+)" y="([\d.]+)"', labels)] == places


def test_a_label_of_a_limit_ends_within_the_chart():
    words = "limit of p99 2 ms"
    (start,) = re.findall(r'x="([\d.]+)"', labels_beside([("limit", words, level_places(390, 402, 100, words))], []))
    assert float(start) < 300


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1), (0.5, 1), (0.51, 2), (0.9, 2), (0.91, 3), (1.0, 3)])
def test_a_quantile_is_the_bound_that_the_share_does_not_exceed(share, expected):
    assert quantile_ns([(1, 5), (2, 4), (3, 1)], [share]) == [expected]


@pytest.mark.parametrize(("writes", "longer"), [(100, 0.1), (10_000, 1e-3), (100_000, 1e-4), (10**7, 1e-5)])
def test_the_percentile_curve_ends_if_fewer_than_ten_writes_lie_beyond(writes, longer):
    points = percentile_points([(1000, writes - 10), (2000, 10)])
    assert points[0][0] == pytest.approx(0.5)
    assert points[-1][0] == pytest.approx(longer)
    assert percentile_points([(1000, 19)]) == []


def test_each_block_size_has_its_own_limit(tmp_path):
    limits = [("1 ms", {"max": "64K"}), ("2 ms", {"min": "256K"}), ("5 ms", {"min": "1M"})]
    profile = {
        "name": "mine",
        "limits": [{"metric": "latency_mean", "max": value, "block_size": sizes} for value, sizes in limits],
    }
    directory = fabricate.run_directory(tmp_path, {"db07": fabricate.tables()}, profile=profile)
    (chart,) = latency_charts(build_model(directory).hosts[0])
    assert [each for each in texts(chart) if each.startswith("limit")] == ["limit of mean 1 ms", "limit of mean 2 ms"]


def test_the_percentile_curve_shows_limits(tmp_path):
    percentiles, strips = distribution_charts(host_of(tmp_path))
    assert {"50 %", "90 %", "99 %", "99.9 %", "1 MiB", "Share of writes that took no longer"} <= {*texts(percentiles)}
    assert "99.99 %" not in texts(percentiles)
    (crosses,) = paths(percentiles, "limit mark")
    assert crosses.get("d").count("M") == 2
    assert "2 ms at 99 %, 10 ms at 99.9 %" in parsed(percentiles).find("desc").text
    assert len(paths(strips, "bars s0")) == 1
    assert "4 KiB 100 us to 200 us" in parsed(strips).find("desc").text


def test_without_histograms_there_are_no_distributions(tmp_path):
    assert distribution_charts(host_of(tmp_path, **{"histogram.csv": fabricate.histogram_table([], {})})) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("histogram.csv", b"a,b\n1,2\n"),
        ("histogram.csv", b"load_point,block_size_bytes,operation,latency_upper_ns,operations\n1,4096,write,-1,2\n"),
        ("histogram.csv", b"load_point,block_size_bytes,operation,latency_upper_ns,operations\n1,x,write,1,2\n"),
        ("stalls.csv", b"a,b\n1,2\n"),
    ],
)
def test_a_table_that_cannot_be_read_leaves_charts_out(tmp_path, name, content):
    host = host_of(tmp_path, **{name: content})
    assert any(note.startswith(f"Some charts are left out: {name}") for note in host.notes)


def test_hostile_histograms_are_bounded(tmp_path):
    lines = [
        f"{load},log,{size},write,{upper},{count}"
        for load in range(1, 40)
        for size in range(40)
        for upper, count in ((0, 0), (1 << 63, 1 << 63))
    ]
    table = "load_point,stream,block_size_bytes,operation,latency_upper_ns,operations\n" + "\n".join(lines) + "\n"
    found = distribution_charts(host_of(tmp_path, **{"histogram.csv": table.encode()}))
    assert 0 < len(found) <= 8
    assert sum(map(len, found)) < 100_000


@pytest.mark.parametrize(
    ("low", "high", "ticks"), [(1e5, 1e7, [1e5, 3e5, 1e6, 3e6, 1e7]), (1e5, 2.1e5, [1e5, 2e5]), (1, 1e18, 6)]
)
def test_an_axis_has_a_few_round_ticks(low, high, ticks):
    found = LogAxis.around([low, high], 0, 100).ticks()
    assert found == ticks if isinstance(ticks, list) else 2 <= len(found) <= ticks


def test_labels_do_not_overlap():
    marks = re.findall(
        r'y="([\d.]+)"', str(end_labels([(50, "a", "a"), (51, "b", "b"), (220, "c", "c"), (221, "d", "d")], 222))
    )
    heights = [float(mark) for mark in marks]
    assert all(after - before >= 12.9 for before, after in zip(heights, heights[1:], strict=False))
    assert max(heights) <= 226


def test_of_many_lines_the_first_and_the_last_are_kept():
    assert thinned(range(100), 4) == [0, 33, 66, 99]
    assert thinned([1, 2], 4) == [1, 2]


SECOND = {
    "step": 1,
    "stream": "log",
    "operation": "write",
    "block_size_bytes": 4096,
    "load_point": 1,
    "partial": 0,
    "latency_p99_ns": 2_000_000,
    "latency_max_ns": 3_000_000,
}


@pytest.mark.parametrize(
    ("latency_ns", "p99_ns", "is_stall"),
    [
        (9_999_999, 100_000, False),
        (10_000_000, 100_000, True),
        (19_999_999, 2_000_000, False),
        (20_000_000, 2_000_000, True),
    ],
)
def test_a_stall_is_long_in_itself_and_for_its_step(latency_ns, p99_ns, is_stall):
    write = {"step": 1, "start_offset_ns": 2_500_000_000, "latency_ns": latency_ns}
    assert stalls([{**SECOND, "latency_p99_ns": p99_ns}], [write]) == ([(2.5, latency_ns)] if is_stall else [])


def test_stalls_are_marked_in_their_second(tmp_path):
    host = host_of(
        tmp_path,
        fabricate.sweep_rows(block_sizes=(4096,)),
        stalls=[(int(300.6e9), 400_000_000), (10**9, 90_000_000), (2 * 10**9, 1_000_000)],
    )
    (chart,) = seconds_charts(Seconds(host.intervals, host.stalls), host.words)
    marks = re.findall(r"M([\d.]+) ", paths(chart, "stall")[0].get("d"))
    assert [round(float(mark)) for mark in marks] == [round(60 + 300.6 / 600 * 334), round(60 + 1 / 600 * 334)]
    assert "2 stalls marked, the longest: 400 ms at 301 s, 90 ms at 1 s." in str(chart)
    assert {"Latency", "Second", "200 s", "600 s"} <= {*texts(chart)}


def test_the_tick_of_a_second_is_at_its_end():
    (chart,) = seconds_charts(Seconds([SECOND] * 600), words_of("queue managers"))
    (last,) = [each for each in parsed(chart).iter("text") if each.text == "600 s"]
    assert float(last.get("x")) == 394  # the right end of the plot, where second 600 ends


def test_a_heat_map_counts_the_operations_between_thresholds():
    seconds = [{**SECOND, "second": number, "operations": 100} for number in (1, 2, 3)]
    counts = {1: {100_000: 10, 150_000: 9, 200_000: 1}, 3: {100_000: 100}}
    heat = Heat(seconds, counts, 2, "write")
    assert heat.bounds_ns == [100_000, 200_000, 400_000]  # 150 us is a limit of the profile
    assert heat.cells == [[190, 9, 1], [0, 100, 0]]
    assert heat.sentence() == "190 of 300 writes took up to 100 us; 1 took longer than 200 us, in 1 of 2 columns."


def test_the_second_from_which_the_rate_stayed_low_is_marked():
    fall = {"block_size_bytes": 4096, "load_point": 1, "stream": "log", "operation": "write", "from_second": 41}
    known = Seconds([SECOND] * 100, plateaus=[{**fall, "share": 0.4}, {**fall, "share": 0.9, "load_point": 2}])
    (chart,) = seconds_charts(known, words_of("queue managers"))
    (line,) = paths(chart, "fall")
    assert float(re.match(r"M([\d.]+) ", line.get("d"))[1]) == pytest.approx(60 + 0.4 * 334, abs=0.1)
    assert line.get("data-v") == "From second 41 on, the rate stayed at 40 % of the rate before."


def test_a_quiet_step_has_no_mark():
    (chart,) = seconds_charts(Seconds([SECOND, SECOND]), words_of("queue managers"))
    assert paths(chart, "stall") == []


def test_queue_managers_are_compared_with_each_other(tmp_path):
    rows = fabricate.sweep_rows(block_sizes=(4096, 65536), queue_managers=(1, 3))
    for row in rows:
        if (row["worker"], row["block_size_bytes"]) == (2, 65536):
            row["latency_p99_ns"] *= 4
    host = host_of(tmp_path, rows)
    (fairness,) = worker_charts(host)
    assert parsed(fairness).find("title").text == "p99 of each queue manager, 3 QM"
    assert parsed(fairness).find("desc").text.startswith("They differ most at 64 KiB: QMB has 3.23 ms and ")
    assert [path.get("d").count("M") for path in paths(fairness, "dots p99")] == [1, 2]
    over_load = load_chart(host, "latency_p99")
    assert parsed(over_load).find("desc").text.startswith("64 KiB: 466 us at 1 queue manager and 806 us at 3 queue ")
    assert {"1", "3", "Load in queue managers"} <= {*texts(over_load)}


def test_alike_queue_managers_are_called_so(tmp_path):
    (fairness,) = worker_charts(host_of(tmp_path, fabricate.sweep_rows(queue_managers=(2,))))
    assert (
        parsed(fairness).find("desc").text == "All queue managers are alike: their p99 latencies differ by at most 1 %."
    )


def test_a_single_queue_manager_is_compared_with_nothing(tmp_path):
    assert worker_charts(host_of(tmp_path)) == []


def test_the_first_pass_is_compared_with_later_ones(tmp_path):
    rows = fabricate.sweep_rows(first_pass_latency_mean_ns=50_000, later_passes_latency_mean_ns=200_000)
    (chart,) = first_pass_charts(host_of(tmp_path, rows))
    assert "They differ most at 4 KiB: 50 us, later 200 us." in parsed(chart).find("desc").text
    assert first_pass_charts(host_of(tmp_path / "other")) == []


@pytest.mark.parametrize(
    ("limit", "words", "dot"),
    [
        ({"value": 1e6}, "figure 0.5 times the limit", 43),
        ({"value": 2e6, "value_bound": 4e6}, "figure 1 times the limit, with confidence at most 2 times", 60),
        ({"value": 1e12}, "figure 500,000 times the limit", 116),
        (
            {"unit": "margin", "bound": "min", "limit_value": 0.2, "value": -0.4},
            "what is required is 2 times the figure",
            77,
        ),
        (
            {"metric": "bytes_per_s", "bound": "min", "value": 1e6, "value_bound": 5e5},
            "what is required is 2 times the figure, with confidence at most 4 times",
            77,
        ),
        (
            {"metric": "latency_p99", "value": 9e9, "share": 0.001, "share_bound": 0.02},
            "share that took longer 0.1 times what is allowed, with confidence at most 2 times",
            4,
        ),
        (
            {"metric": "latency_p99", "value": 1e6, "share": 0.0, "share_bound": 0.01},
            "share that took longer 0 times what is allowed, with confidence at most 1 times",
            4,
        ),
    ],
)
def test_a_limit_has_a_bar_with_its_figure_and_bound(limit, words, dot):
    usual = {"metric": "latency_mean", "bound": "max", "limit_value": 2e6, "unit": "ns"}
    asked = {**{key: limit.pop(key, value) for key, value in usual.items()}, "worst": limit}
    bar = limit_bar(asked)
    assert parsed(bar).find("title").text == words
    assert float(re.match(r"M([\d.]+)", paths(bar, "dots p99")[0].get("d"))[1]) == pytest.approx(dot, abs=0.6)
    assert len(paths(bar, "reach")) == ("at most" in words)


@pytest.mark.parametrize(
    ("comparison", "expected"),
    [
        ({"change": 0.21, "bound": 0.331, "margin": 0.1, "outcome": "worse"}, "+21 %, +10 % to +33 %"),
        ({"change": None, "bound": None, "margin": 0.1, "outcome": "inconclusive"}, None),
        ({"change": -1, "bound": 0.1, "margin": 0.1, "outcome": "worse"}, None),
        ({"change": "<b>", "bound": float("nan"), "margin": 10**400, "outcome": "x"}, None),
    ],
)
def test_the_change_since_earlier_certificates_is_drawn(tmp_path, comparison, expected):
    host = host_of(tmp_path)
    host.comparison = {**comparison, "reason": "so it is"}
    drift = host_section(host, True, {}, {})["drift"]
    assert drift["reason"] == "so it is"
    assert (parsed(drift["picture"]).get("aria-label") if drift["picture"] else None) == expected


def test_formatting_the_files_is_told_apart(tmp_path):
    known = fabricate.run_table(steps_planned=7, initial_write_bytes_per_s=558373909, initial_write_slowest_ns=7009865)
    told = host_section(host_of(tmp_path, **{"run.csv": known}), True, {}, {})["initial_write"]
    assert told.startswith("The test files were formatted at 558 MB/s, and the slowest of these writes took 7.01 ms.")
    unknown = fabricate.run_table(steps_planned=7, initial_write_bytes_per_s="x", initial_write_slowest_ns="")
    assert host_section(host_of(tmp_path / "other", **{"run.csv": unknown}), True, {}, {})["initial_write"] == ""


def test_what_was_not_measured_has_no_bar():
    assert (
        limit_bar(
            {"metric": "latency_mean", "bound": "max", "limit_value": 1e6, "unit": "ns", "worst": {"value": None}}
        )
        == ""
    )


def test_the_page_of_forty_hosts_with_long_runs_stays_below_its_limit(tmp_path):
    rows = fabricate.sweep_rows()
    counts = {int(50_000 * 1.05**number): 1000 for number in range(150)}
    files = {
        **fabricate.tables(rows),
        "histogram.csv": fabricate.histogram_table(rows, counts),
        "stalls.csv": fabricate.stalls_table(rows, [(10**9, 10**9)] * 20),
    }
    report = render(fabricate.run_directory(tmp_path, {"db01": files, "db02": files}))
    with open(report["index.html"], encoding="utf-8") as page:
        assert len(page.read()) / 2 * 40 < 12_000_000
