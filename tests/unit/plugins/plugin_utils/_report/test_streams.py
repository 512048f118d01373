# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report of workloads of streams: rows have the names of streams, reads are not called writes, and charts show
figures by load."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes.consequences import (
    consequence_of,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes.groups import causes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.distribution import distribution_charts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.latency import capacity_chart, load_charts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.figures import (
    cells,
    fidelity_of,
    shown_loads,
    shown_series,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import JudgedRow, build_model
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.overview import steps_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.page.fleet import strips_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.page.host import host_section
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.series import Series
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.words import words_of
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.browser import needs_a_browser, width_of
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.pages import (
    HARMLESS_TAGS,
    HOSTILE,
    LONG,
    Page,
    parsed,
)

CUT_OFF = """
[...document.querySelectorAll('figure svg.chart')].flatMap(svg => {
  const box = svg.getBoundingClientRect();
  const leaves = own => own.left < box.left - 1 || own.right > box.right + 1;
  const texts = [...svg.querySelectorAll('text')];
  return texts.filter(text => leaves(text.getBoundingClientRect())).map(text => text.textContent);
})
"""
"""The texts that extend beyond their chart."""
IS_NOT = "Not Jetstress and not a Jetstress result."


@pytest.fixture(scope="module")
def model(rendered):
    return build_model(rendered("streams"))


def host_of(model, name):
    return next(host for host in model.hosts if host.host == name)


def one_host(tmp_path, files, profile=runs.MAILBOX_PROFILE):
    """Return the run of a single host."""
    return fabricate.run_directory(tmp_path, {"db07": files}, queue_managers=(), profile=profile)


def titles(charts):
    return [ET.fromstring(re.search(r"<svg.*?</svg>", str(chart), re.DOTALL)[0]).find("title").text for chart in charts]


def texts(chart):
    return [
        element.text for element in ET.fromstring(re.search(r"<svg.*?</svg>", str(chart), re.DOTALL)[0]).iter("text")
    ]


@pytest.mark.parametrize("name", ["summary.txt", "report.md", "evidence.md", "index.html"])
def test_every_format_for_people_says_what_the_workload_is_and_what_it_is_not(rendered, name):
    text = runs.content(rendered("streams"), name)
    assert "mailbox-2010, version 1" in text and IS_NOT in text
    assert "IBM MQ recovery logs" not in text


def test_nothing_is_said_in_terms_of_logs_alone(rendered):
    for name in ("summary.txt", "report.md"):
        text = runs.content(rendered("streams"), name)
        assert not re.search(r"(?i)block size|queue managers|persistent|1 threads", text)
    page = runs.content(rendered("streams"), "index.html")
    assert not re.search(
        r"(?i)block sizes?\b|queue managers\b|Writes/s|>Writes<|1 threads", page.partition("<body>")[2]
    )
    evidence = runs.content(rendered("streams"), "evidence.md")
    assert (
        "database writes, 32 KiB; database reads, 32 KiB; maintenance reads, own sizes; log writes, 8 KiB" in evidence
    )
    assert (
        "2, 4 and 8 (threads)" in evidence
        and "as MQ's logger does" not in evidence
        and "| Not covered | other programs" in evidence
    )
    assert "| latency_max \\< 10 s | every stream |" in evidence


def test_the_matrix_has_the_whole_workload_under_the_worst_verdict_of_its_streams(model):
    found = cells(host_of(model, "db02"))
    whole = {
        figures["load_point"]: figures["latency_mean_ns"]
        for row, figures in host_of(model, "db02").results()
        if figures["stream"] == "all"
    }
    assert {step: (cell.verdict, cell.mean_ns) for step, cell in found.items()} == {
        (2, None): ("pass", whole[2]),
        (4, None): ("pass", whole[4]),
        (8, None): ("fail", whole[8]),
    }


def test_the_fleet_at_a_glance_shows_each_stream_that_a_limit_judges(model):
    steps, names = steps_of(model)
    strips = strips_of(model, steps, names)
    assert [(strip.title, strip.subtitle, strip.figures) for strip in strips][:3] == [
        ("2 threads", "database reads", ""),
        ("2 threads", "maintenance reads", "response"),
        ("2 threads", "log writes", ""),
    ]
    assert [(strip.mean_limit_ns, strip.p99_limit_ns) for strip in strips][-3:] == [
        (20e6, None),
        (200e6, None),
        (10e6, None),
    ]
    assert [[mark.label for mark in strip.marks if mark.fails] for strip in strips[-3:]] == [["db02"], [], ["db03"]]
    assert strips[1].marks[0].p99_ns == 18e6
    assert strips[-1].sentence().startswith("8 threads, log writes: 3 hosts, p99 median 8 ms, from 8 ms to 32 ms")


def test_without_a_limit_on_a_duration_the_fleet_at_a_glance_shows_the_whole_workload(tmp_path):
    profile = {
        "name": "mine",
        "qualifies": {"confidence": "none"},
        "limits": [{"stream": "database", "metric": "operations_per_s", "min": 1}],
    }
    model = build_model(one_host(tmp_path, runs.mailbox(), profile))
    assert {strip.subtitle for strip in strips_of(model, *steps_of(model))} == {"whole workload"}


def test_a_limit_on_the_rate_of_a_stream_colours_its_step(tmp_path):
    profile = {
        "name": "mine",
        "qualifies": {"confidence": "none"},
        "limits": [{"stream": "database", "metric": "operations_per_s", "min": 1e6}],
    }
    host = build_model(one_host(tmp_path, runs.mailbox(), profile)).hosts[0]
    assert {cell.verdict for cell in cells(host).values()} == {"fail"}


def test_figures_have_the_names_of_streams_and_responses_beside_latencies(model):
    section = host_section(host_of(model, "db01"), False, {}, {})
    assert (section["of"].words.row_title, section["of"].words.worker_title) == ("Stream", "Load")
    assert section["figure_titles"] == [
        *(
            "Operations",
            "Operations/s",
            "Throughput",
            "Mean",
            "Mean response",
            "p50",
            "p99",
            "p99 response",
            "p99.9",
            "Max",
            "Not started",
        ),
    ]
    assert [(row["step"], row["who"]) for row in section["figures"]][:5] == [
        ("database writes, 32 KiB", "2 threads"),
        ("database reads, 32 KiB", "2 threads"),
        ("maintenance reads, own sizes", "2 threads"),
        ("log writes, 8 KiB", "2 threads"),
        ("whole workload", "2 threads"),
    ]
    late = [row["texts"] for row in section["figures"] if row["step"].startswith("maintenance")][-1]
    assert (late[4], late[7], late[10]) == ("\u2265 32 ms", "\u2265 72 ms", "5")


def test_charts_are_drawn_over_the_load_with_the_limit_on_each_line(model):
    host = host_of(model, "db02")
    drawn = titles(host_section(host, False, {}, {})["latency_charts"])
    found = dict(zip(titles(load_charts(host)), load_charts(host), strict=True))
    assert list(found) == [
        "Mean response over the load, without confidence",
        "p99 of the latency over the load",
        "p99 of the response over the load, without confidence",
    ]
    assert [title for title in drawn if " over " in title] == list(found)
    assert {"Response", "Load in threads", "2", "4", "8", "maintenance reads", "maintenance reads \u2264 200 ms"} <= {
        *texts(found["Mean response over the load, without confidence"])
    }
    assert "lower bounds" in found["p99 of the response over the load, without confidence"]
    decisive = capacity_chart(host)
    assert titles([decisive]) == ["Mean latency over the load"]
    assert {
        "database reads",
        "log writes",
        "whole workload",
        "database reads \u2264 20 ms",
        "log writes \u2264 10 ms",
        "passed up to here",
    } <= {*texts(decisive)}
    assert "The upright strokes are at 4 threads, the highest load that passed." in decisive


def test_a_stream_has_one_colour_in_all_charts_of_a_host(model):
    host = host_of(model, "db02")

    def colours(chart):
        return {
            element.text: element.get("class").split()[1]
            for element in ET.fromstring(re.search(r"<svg.*</svg>", str(chart))[0]).iter("text")
            if "name" in element.get("class", "")
        }

    charts = [capacity_chart(host), *load_charts(host), distribution_charts(host)[0]]
    for chart in charts:
        for name, colour in colours(chart).items():
            assert colours(charts[0]).get(name, colour) == colour
    assert len({*colours(charts[0]).values()}) == 5


def test_a_single_load_has_distributions_but_no_chart_over_the_load(tmp_path):
    host = build_model(one_host(tmp_path, runs.mailbox(loads=(4,)))).hosts[0]
    assert load_charts(host) == [] and capacity_chart(host) == "" and host.capacity is None
    assert titles(distribution_charts(host)) == ["Percentiles", "Distribution"]
    assert "Nine of ten operations took: database writes 1 ms to 6 ms; database reads" in distribution_charts(host)[1]


def test_many_streams_and_loads_have_charts_of_those_that_limits_judge_around_the_capacity(model):
    host = host_of(model, "db02")
    many = [Series(f"s{number}", "read", None, "") for number in range(20)] + [
        Series("log", "write", 8192, "log writes")
    ]
    assert [series.stream for series in shown_series(host, many)] == [f"s{number}" for number in range(7)] + ["log"]
    assert shown_loads(host, range(1, 101)) == [1, 4, 8, 100]


@pytest.mark.parametrize(
    ("metric", "stream", "operation", "values", "expected"),
    [
        (
            "latency_mean",
            "database",
            "read",
            [21.3e6],
            "Database reads take 21.3 ms on average, and users wait for the data.",
        ),
        (
            "latency_mean",
            "log",
            "write",
            [11e6, 12e6],
            "On the worst of these hosts, log writes take 12 ms on average, and commits of the database or queue "
            "manager to which this log belongs wait for them.",
        ),
        (
            "response_mean",
            "all",
            "all",
            [31e6],
            "All operations of the workload take 31 ms on average, counted from the instant at which they were due.",
        ),
        ("latency_p99_9", "wal", "write", [31e6], "0.1 % of the wal writes take 31 ms or longer."),
        (
            "latency_max",
            "database",
            "read",
            [2e9],
            "One of the database reads took 2 s, and users wait for the data.",
        ),
        (
            "operations_per_s",
            "database",
            "all",
            [900],
            "All operations of database reach only 900 operations per second.",
        ),
        ("capacity", None, None, [4], "No load above 4 threads keeps all limits."),
        (
            "operations_not_started_share",
            "maintenance",
            "all",
            [0.06],
            (
                "6 % of all operations of maintenance that were due did not start: the storage "
                "does not keep up with this load."
            ),
        ),
        (
            "target_operations_share",
            "database",
            "all",
            [0.9],
            "All operations of database reach only 90 % of the required rate.",
        ),
        ("latency_cv", "database", "read", [2], ""),
        ("latency_mean", "database", "read", [None], ""),
    ],
)
def test_what_follows_is_said_of_those_who_wait(metric, stream, operation, values, expected):
    rows = [[JudgedRow(8192, 8, "all", value, stream, operation)] for value in values]
    assert consequence_of(words_of("threads"), metric, rows, operation, stream) == expected


def test_causes_name_the_criterion_the_stream_and_the_load(model):
    found = {cause.hosts: cause for cause in causes(model) if cause.verdict == "fail"}
    assert found[("db02",)].statement == (
        "db02 is slow throughout: mean of database reads 24 ms at 8 threads (limit 20 ms)"
    )
    assert found[("db03",)].statement == (
        "db03 is slow throughout: mean of log writes 16 ms at 8 threads (limit 10 ms)"
    )
    assert all("at 8 threads)" in cause.seen for cause in found.values())


def test_limits_of_several_streams_that_are_open_are_one_cause_that_names_all_of_them(tmp_path):
    profile = {
        "name": "mine",
        "limits": [{"stream": stream, "metric": "latency_mean", "max": "1 s"} for stream in ("maintenance", "log")],
    }
    rows = fabricate.stream_rows(
        {load: {runs.SCANS: (1, 10**6, {}), runs.LOG: (1, 10**6, {})} for load in (1, 2)}, seconds=3
    )
    found = causes(build_model(one_host(tmp_path, fabricate.tables(rows, over=(), **fabricate.STREAMS_RUN), profile)))
    (cause,) = [cause for cause in found if "beyond chance" in cause.statement]
    assert "for log writes and maintenance reads; measuring for" in cause.statement


def test_a_limit_on_a_stream_that_was_not_measured_says_what_to_do(tmp_path):
    profile = {
        "name": "mine",
        "qualifies": {"confidence": "none"},
        "limits": [{"stream": "index", "metric": "latency_mean", "max": "1 ms"}],
    }
    (cause,) = [
        cause for cause in causes(build_model(one_host(tmp_path, runs.mailbox(), profile))) if cause.kind == "limit"
    ]
    assert cause.next_step.startswith(
        "Measure a workload with the stream and the operation that the limit names (sweep_workload)"
    )


def test_an_error_of_a_workload_of_streams_is_no_matter_of_messages(tmp_path):
    files = {**runs.mailbox()}
    files["run.csv"] = fabricate.run_table(
        **fabricate.STREAMS_RUN, exit_status=3, exit_reason="io_error", error_errno_name="EIO", error_call="preadv"
    )
    (cause,) = [cause for cause in causes(build_model(one_host(tmp_path, files))) if cause.kind == "measurement"]
    assert "a read or a write failed" in cause.consequence and cause.next_step.startswith("Put no database there.")


def test_the_summary_of_one_host_has_the_judged_streams_around_the_capacity(tmp_path):
    directory = one_host(tmp_path, runs.mailbox(reads_ms=3, loads=(1, 2, 4, 8, 16)))
    render(directory)
    lines = runs.content(directory, "summary.txt").splitlines()
    assert len(lines) <= 23
    (head,) = [
        number for number, line in enumerate(lines) if line.startswith("   ") and " Stream  threads  Operations" in line
    ]
    rows = [tuple(re.split(r"  +", line.strip())[:2]) for line in lines[head + 1 : head + 7]]
    streams = ("database reads, 32 KiB", "maintenance reads, own sizes", "log writes, 8 KiB")
    assert rows == [(stream, load) for load in ("4", "8") for stream in streams]


def test_the_summary_has_the_whole_workload_if_limits_judge_too_much(tmp_path):
    streams = [(f"s{number}", "read") for number in range(10)]
    rows = fabricate.stream_rows(
        {load: {stream: (1, load * 10**6, {}) for stream in streams} for load in range(1, 30)}, seconds=10
    )
    profile = {
        "name": "mine",
        "qualifies": {"confidence": "none"},
        "limits": [{"stream": name, "metric": "latency_mean", "max": "1 s"} for name, _op in streams],
    }
    directory = one_host(tmp_path, fabricate.tables(rows, **fabricate.STREAMS_RUN), profile)
    render(directory)
    assert runs.content(directory, "summary.txt").count("whole workload") == 8


@pytest.mark.parametrize("unit", [HOSTILE[0], HOSTILE[2], "a|b", LONG])
def test_hostile_names_of_streams_and_units_are_harmless(tmp_path, unit):
    names = [name for name in HOSTILE if name.isprintable() and name]
    rows = fabricate.stream_rows(
        {load: {(name, "read"): (1, load * 10**6, {}) for name in names} for load in (1, 2)}, seconds=10
    )
    directory = one_host(tmp_path, fabricate.tables(rows, **{**fabricate.STREAMS_RUN, "load_unit": unit}))
    paths = render(directory)
    page = Page(runs.content(directory, "index.html"))
    parsed(paths["index.html"])
    assert set(page.tags) <= HARMLESS_TAGS and not [
        name for tag, name, value in page.attributes if name.startswith("on")
    ]
    assert os.path.getsize(paths["index.html"]) < 1 << 20 and os.path.getsize(paths["report.md"]) < 1 << 16
    (head,) = [line for line in runs.content(directory, "report.md").splitlines() if line.startswith("| host |")]
    assert len(re.findall(r"(?<!\\)\|", head)) == 6 and not re.search(r"(?<!\\)<", head)


def test_machines_get_streams_by_name(rendered):
    directory = rendered("streams")
    prom = runs.content(directory, "logdisk.prom")
    assert "# HELP logdisk_run_latency_seconds Latency of a stream's operations" in prom
    suite = ET.fromstring(runs.content(directory, "junit.xml"))[0]
    assert suite.get("time") == "180.000"
    host = json.loads(runs.content(directory, "report.json"))["hosts"][0]
    assert {(row["stream"], row["operation"]) for row in host["results"]} >= {
        ("all", "all"),
        ("database", "read"),
        ("log", "write"),
    }
    assert host["estimates"] is None


def test_what_was_asked_and_achieved_is_a_table_with_a_column_for_each_load(tmp_path):
    files = runs.mailbox(loads=(2, 4))
    given = fabricate.fidelity_rows(parse_tables(files).results)
    given += [fabricate.fidelity_row(2, 4, "maintenance", "operations_per_s", 40, 36, 100)]
    given += [fabricate.fidelity_row(1, 2, "maintenance", "size_share", 0.4, 0.402, 100, item=4096)]
    given += [fabricate.fidelity_row(1, 2, "all", "capacity_share", 0.9, 0.9, None, item="database")]
    host = build_model(one_host(tmp_path, {**files, "fidelity.csv": fabricate.fidelity_table(given)})).hosts[0]
    assert host.notes == []
    loads, properties = fidelity_of(host)
    found = {(each["stream"], each["title"]): each["cells"] for each in properties}
    assert loads == ["2 threads", "4 threads"]
    rate = found["maintenance", "operations per second"]
    assert rate[0] is None and rate[1] == {"achieved": "36", "asked": "40", "is_far": True}
    assert not found["maintenance", "operations of 4 KiB"][0]["is_far"]
    assert found["all", "capacity of place database"][0]["achieved"] == "90 %"


def test_the_tester_measures_the_same_streams_again(model):
    section = host_section(host_of(model, "db01"), False, {}, {})
    assert section["reproduction"].tester == (
        "logdisk --dir=/var/mqm/log/logdisk/repeat --createDirs "
        "--place=name=database,dir=/mnt/1/repeat-database,share=90%,direct=yes"
        " --stream=name=database,place=database,pattern=random,size=32K,read=60%,sync=none,workers=load "
        "--loadUnit=threads"
        " --workload=streams --fileSize=67108864 --numFiles=16 --load=2,4,8"
    )


@needs_a_browser
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_fits_and_no_name_leaves_its_chart(browser, rendered, width):
    path = os.path.join(rendered("streams").path, "index.html")
    browser.messages.clear()
    assert width_of(browser, path, width) == width
    browser.run("document.querySelectorAll('details.host').forEach(part => { part.open = true; })")
    assert browser.run("document.querySelectorAll('figure.load').length") == 12
    assert browser.run(CUT_OFF) == []
    assert browser.messages == []
