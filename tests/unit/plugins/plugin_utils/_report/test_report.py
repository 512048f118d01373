# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report: every format agrees with the tables, and text from a host is harmless in it."""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import unicodedata
import xml.etree.ElementTree as ET

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _report
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import certify
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.merged_run import merge_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import note
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import finish, model, render, summary, template
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.seconds import Seconds, seconds_charts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.formats import (
    RENDERERS,
    index_html,
    report_md,
    results_csv,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.findings import SOURCE_MESSAGE, finding
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.table_reader import printable
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import WORST_FIRST, worst
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.words import words_of
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.pages import HARMLESS_TAGS, HOSTILE, Page
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.runs import (
    EVERY_VERDICT,
    content,
    fast,
    slow,
)
from hypothesis import given
from hypothesis import strategies as st

WORDS = words_of("queue managers")


def shown(directory):
    """Return the callback's output."""
    finish(directory)
    return summary(directory)


def read_csv(directory):
    with open(os.path.join(directory.path, "results.csv"), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_format_has_every_host_under_its_verdict(every_verdict):
    report = render(every_verdict)
    described = re.findall(
        r"^    (\S+) +the (?:report|figures|record|text) ",
        (fabricate.PROJECT / "docs/report.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert sorted(report) == sorted(described) and len(report) > 7
    data = json.loads(content(every_verdict, "report.json"))
    assert {host["host"]: host["verdict"] for host in data["hosts"]} == EVERY_VERDICT
    assert {row["host"]: row["host_verdict"] for row in read_csv(every_verdict)} == EVERY_VERDICT
    suites = ET.parse(report["junit.xml"]).getroot()
    assert {
        suite.get("name"): suite.find("properties/property[@name='verdict']").get("value") for suite in suites
    } == EVERY_VERDICT
    listed = re.findall(r"^\| (\w+) \| (\w+) \| (?:yes|no) \|", content(every_verdict, "report.md"), re.MULTILINE)
    assert dict(listed) == EVERY_VERDICT
    assert Page(content(every_verdict, "index.html")).verdicts() == EVERY_VERDICT
    text = shown(every_verdict)
    for host, verdict in EVERY_VERDICT.items():
        assert verdict == "pass" or re.search(rf"^  {verdict} .*\b{host}\b", text, re.MULTILINE)


def test_every_format_has_the_same_counts(every_verdict):
    text = shown(every_verdict)
    assert "7 hosts: 1 fail, 1 error, 1 unreachable, 1 missing, 1 inconclusive, 1 warn, 1 pass" in text
    assert json.loads(content(every_verdict, "report.json"))["fleet"]["counts"] == dict.fromkeys(WORST_FIRST, 1)
    markdown = content(every_verdict, "report.md")
    page = " ".join(Page(content(every_verdict, "index.html")).texts)
    for verdict in WORST_FIRST:
        assert re.search(rf"\W 1 {verdict}\b", markdown)
        assert re.search(rf"\W 1 {verdict}\b", page)


def test_figures_are_those_of_the_tables(every_verdict):
    render(every_verdict)
    data = {host["host"]: host for host in json.loads(content(every_verdict, "report.json"))["hosts"]}
    rows = read_csv(every_verdict)
    for record in judged_records(every_verdict):
        if not record.tables:
            continue
        results = parse_tables(every_verdict.records.tables(record)).results
        assert len(results) == len(data[record.host]["results"])
        of_host = [row for row in rows if row["host"] == record.host]
        for expected, in_json, in_csv in zip(results, data[record.host]["results"], of_host, strict=True):
            for column, value in expected.items():
                assert in_json.get(column) == value
                assert in_csv[column] == ("" if value is None else str(value))


def test_row_verdicts_agree_with_the_judgements(every_verdict):
    render(every_verdict)
    rows = read_csv(every_verdict)
    for record in judged_records(every_verdict):
        for row in (row for row in rows if row["host"] == record.host and row["step"]):
            judgements = [
                judgement
                for judgement in record.judgements
                if [str(judgement[key]) for key in ("block_size_bytes", "load_point")]
                == [row["block_size_bytes"], row["load_point"]]
                and (str(judgement["worker"]) == row["worker"] or row["load_point"] == "1")
            ]
            assert row["row_verdict"] == worst(judgement["verdict"] for judgement in judgements)
            assert row["reasons"] == "; ".join(
                judgement["reason"] for judgement in judgements if judgement["verdict"] != "pass"
            )
            assert row["worker_name"] == {"1": "QMA", "2": "QMB", "all": "all"}[row["worker"]]


def test_the_last_column_of_the_results_names_the_profile_that_judged(every_verdict):
    render(every_verdict)
    rows = read_csv(every_verdict)
    expected = {record.host: "{name} {version}".format(**record.profile) for record in judged_records(every_verdict)}
    assert {row["host"]: row["judged_by"] for row in rows} == expected
    assert list(rows[0])[-1] == "judged_by"


def test_the_matrix_shows_p99_and_mean_of_each_block_size(every_verdict):
    render(every_verdict)
    page = Page(content(every_verdict, "index.html"))
    header = next(row for row in page.rows if row[:2] == ["Host", "Verdict"])
    assert header[3:6] == ["1 QM × 4 KiB", "1 QM × 8 KiB", "1 QM × 16 KiB"]
    assert len(header) == 3 + 14
    slow_row = next(row for row in page.rows if row[0] == "slow")
    assert slow_row[3] == "✗ 2.8 ms1.4 ms · 140 %"
    assert slow_row[8].startswith("✓")
    assert next(row for row in page.rows if row[0] == "gone")[3:] == ["–"] * 14
    assert "| slow | fail | no | **fail** 2.8 ms / 1.4 ms |" in content(every_verdict, "report.md")


def test_a_host_in_detail(tmp_path):
    files = fabricate.tables(
        fabricate.sweep_rows(block_sizes=(4096, 1048576), queue_managers=(1, 2), latency_max_in_flight=1)
    )
    directory = fabricate.run_directory(tmp_path, {"db07": files}, queue_managers=("QMA", "QMB"))
    render(directory)
    page = Page(content(directory, "index.html"))
    first = next(index for index, row in enumerate(page.rows) if row[:2] == ["Block size", "Queue manager"])
    assert [row[:2] for row in page.rows[first + 1 : first + 9]] == [
        ["4 KiB", "all"],
        ["1 MiB", "all"],
        ["4 KiB", "QMA"],
        ["4 KiB", "QMB"],
        ["4 KiB", "all 2"],
        ["1 MiB", "QMA"],
        ["1 MiB", "QMB"],
        ["1 MiB", "all 2"],
    ]
    assert page.rows[first + 1][2:] == [
        "2,969,591",
        "4,950",
        "20.3 MB/s",
        "202 us",
        "202 us",
        "404 us",
        "808 us",
        "≥ 4.04 ms",
        "? inconclusive",
    ]
    assert [
        "latency_p99 <= 2 ms",
        "block size <= 64 KiB",
        "✓ pass",
        "0 of 4",
        "figure 0.286 times the limit",
        "latency_p99 571 us <= 2 ms at 4 KiB, queue manager QMA of 2 (2,099,818 writes)",
    ] in page.rows
    stalled = (
        "latency_max at least 20.5 ms (limit < 10 s) at 1 MiB, queue manager QMA of 2 (585,767 writes): the "
        "slowest write was still in flight"
    )
    assert [
        "latency_max < 10 s",
        "every row",
        "? inconclusive",
        "8 of 8",
        "figure 0.00205 times the limit",
        stalled,
    ] in page.rows
    assert ["Memory", "62.8 GiB"] in page.rows
    assert ["gate_report_only", "no"] in page.rows
    assert ["sweep_block_sizes", "4K, 64K, 1M"] in page.rows
    assert page.tags.count("figure") == 9


def test_a_figure_that_is_missing_is_said_to_be(every_verdict):
    report = render(every_verdict)
    page = Page(content(every_verdict, "index.html"))
    assert [
        "latency_p99_9 <= 10 ms",
        "block size <= 64 KiB",
        "? inconclusive",
        "5 of 5",
        "",
        (
            "latency_p99_9 <= 10 ms has no figure at 4 KiB, queue manager QMA (2,969,591 writes): "
            "too few writes for this figure"
        ),
    ] in page.rows
    cases = ET.parse(report["junit.xml"]).getroot().findall("testsuite[@name='few']/testcase/failure")
    assert [case.get("message").split(" at ")[0] for case in cases] == ["latency_p99_9 <= 10 ms has no figure"]


def test_the_worst_hosts_come_first(every_verdict):
    render(every_verdict)
    order = ["slow", "broken", "gone", "never", "few", "waived", "good"]
    assert [host["host"] for host in json.loads(content(every_verdict, "report.json"))["hosts"]] == order
    assert list(dict.fromkeys(row["host"] for row in read_csv(every_verdict))) == order
    assert list(Page(content(every_verdict, "index.html")).verdicts()) == order


def test_junit_shows_everything_that_is_not_good_as_a_failure(every_verdict):
    report = render(every_verdict)
    root = ET.parse(report["junit.xml"]).getroot()
    kinds = {
        suite.get("name"): {child.tag for case in suite.findall("testcase") for child in case} - {"system-out"}
        for suite in root
    }
    assert kinds == {
        "good": set(),
        "waived": set(),
        "slow": {"failure"},
        "few": {"failure"},
        "gone": {"error"},
        "broken": {"error"},
        "never": {"error"},
    }
    for element, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        total = sum(int(suite.get(attribute)) for suite in root)
        assert int(root.get(attribute, total)) == len(root.findall(f".//{element}")) == total
    assert int(root.get("tests")) == len(root.findall(".//testcase"))
    case = root.find("testsuite[@name='slow']/testcase[@name='latency_p99 <= 2 ms (block size <= 64 KiB)']/failure")
    assert re.match(
        r"latency_p99 [0-9.]+ ms > 2 ms at 64 KiB, queue manager QM[AB] of 2 \([0-9,]+ writes\); \d+ "
        r"more of its rows did not pass$",
        case.get("message"),
    )
    passed = root.find(
        "testsuite[@name='good']/testcase[@name='latency_p99 <= 2 ms (block size <= 64 KiB)']/system-out"
    ).text
    assert re.match(r"latency_p99 [0-9.]+ us <= 2 ms at 64 KiB, queue manager QMA of 2 \([0-9,]+ writes\)$", passed)


def test_one_host_tells_its_reasons_alike_everywhere(every_verdict):
    render(every_verdict)
    (record,) = [record for record in judged_records(every_verdict) if record.host == "slow"]
    page = " ".join(Page(content(every_verdict, "index.html")).texts)
    data = next(host for host in json.loads(content(every_verdict, "report.json"))["hosts"] if host["host"] == "slow")
    assert data["reasons"] == record.reasons
    for reason in record.reasons:
        assert reason in page
        assert f'message="{reason.replace(">", "&gt;")}"' in content(every_verdict, "junit.xml")


def test_hostile_text_is_harmless_in_html(hostile):
    page = Page(content(hostile, "index.html"))
    assert set(page.tags) <= HARMLESS_TAGS
    assert page.tags.count("script") == page.tags.count("style") == 1
    assert not [
        name
        for dummy, name, dummy in page.attributes
        if name.startswith("on") or name in ("src", "style", "srcdoc", "action")
    ]
    links = [value for dummy, name, value in page.attributes if name == "href"]
    assert all(re.fullmatch(r"#[A-Za-z0-9_.~/-]+|hosts/[a-z0-9_.~/-]+", link) for link in links)
    assert "49" not in {cell for row in page.rows for cell in row}
    for name in HOSTILE:
        assert any(printable(name) in text for text in page.texts)


def test_html_loads_nothing_and_runs_only_its_own_script(hostile):
    text = content(hostile, "index.html")
    assert "default-src 'none'" in text
    assert not re.search(r"@import|url\(", text)
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/]{43}='", text.replace("&#39;", "'"))


def test_hostile_text_is_harmless_in_csv(hostile):
    rows = read_csv(hostile)
    assert len(rows) == 3 * len(HOSTILE)
    for row in rows:
        assert None not in row
        assert not [
            cell
            for cell in row.values()
            if cell.lstrip()[:1] in ("=", "+", "-", "@") and not re.fullmatch(r"-[0-9.]+", cell)
        ]
        assert all(cell.isprintable() for cell in row.values())


def test_hostile_text_is_harmless_in_xml(hostile):
    root = ET.fromstring(content(hostile, "junit.xml"))
    assert {suite.get("name") for suite in root} >= {printable(name) for name in HOSTILE}


def test_hostile_text_is_harmless_on_a_terminal(hostile):
    for text in (shown(hostile), content(hostile, "report.json")):
        assert all(line.isprintable() for line in text.splitlines())
        assert "\x1b" not in text


@pytest.mark.parametrize("name", ["report.md", "evidence.md"])
def test_hostile_text_is_harmless_in_markdown(hostile, name):
    text = content(hostile, name)
    assert not re.search(r"(?<!\\)[<`]", text)
    assert "http://" not in text
    assert "www." not in text
    for is_table, lines in itertools.groupby(text.splitlines(), lambda line: line.startswith("|")):
        assert not is_table or len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1


@pytest.mark.parametrize("name", sorted(RENDERERS))
def test_every_format_shows_what_cannot_be_seen(hostile, name):
    text = content(hostile, name)
    if name == "index.html":
        text = " ".join(Page(text).texts)
    assert not [
        letter
        for letter in set(text) - {"\n"}
        if unicodedata.category(letter)[0] == "C" or letter in "\u2028\u3164\ufe0f"
    ]


def test_hostile_names_lead_nowhere(hostile):
    folders = [
        os.path.join(root, name) for root, dummy, names in os.walk(os.path.dirname(hostile.path)) for name in names
    ]
    assert len([path for path in folders if path.endswith("record.json")]) == 2 * len(HOSTILE)
    assert all(path.startswith((hostile.path + "/hosts/", hostile.path + "/")) for path in folders)


@given(st.text(max_size=60))
def test_markdown_shows_any_text_on_one_line_without_markup(text):
    shown = template.markdown(text)
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)(?:\\\\)*[<|`*\[\]~&$@#]", shown)
    assert re.sub(r"\\(.)", r"\1", shown) == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("5.99 ms", "5.99 ms"),
        ("1. x", "1\\. x"),
        ("12)", "12\\)"),
        ("www.x", "www\\.x"),
        ("-3 %", "-3 %"),
        ("- x", "\\- x"),
        ("---", "\\---"),
        ("+", "\\+"),
        ("> x", "\\> x"),
    ],
)
def test_markdown_escapes_what_would_be_a_list_a_line_or_a_link(text, shown):
    assert template.markdown(text) == shown


@pytest.mark.parametrize(
    ("cell", "harmless"),
    [
        ("=1", "'=1"),
        (" =1", "' =1"),
        ("+1", "'+1"),
        ("-1", "-1"),
        ("-1.5", "-1.5"),
        ("-1+1", "'-1+1"),
        ("-1\n", "'-1\n"),
        ("@x", "'@x"),
        ("\uff1dx", "'\uff1dx"),
        ("db07", "db07"),
        (-1, -1),
        (1.5, 1.5),
        ("", ""),
    ],
)
def test_cells_that_a_spreadsheet_would_run(cell, harmless):
    assert results_csv.harmless(cell) == harmless


def test_only_what_the_gate_did_not_come_to_is_finished(tmp_path):
    directory = fabricate.run_directory(tmp_path, {"db07": fast()})
    finish(directory)
    before = {name: os.stat(os.path.join(directory.path, name)).st_ino for name in RENDERERS}
    finish(directory)
    assert {name: os.stat(os.path.join(directory.path, name)).st_ino for name in RENDERERS} == before


def test_a_record_makes_an_earlier_verdict_and_report_untrue(tmp_path):
    directory = fabricate.run_directory(tmp_path, {"db07": fast()})
    finish(directory)
    directory.records.write(fabricate.failed("db08"))
    assert directory.verdict() is None
    assert "1 unreachable" in shown(directory)


def test_a_report_that_breaks_off_is_not_taken_for_a_complete_one(tmp_path, monkeypatch):
    directory = fabricate.run_directory(tmp_path, {"db07": fast()})
    render(directory)
    monkeypatch.setitem(RENDERERS, "junit.xml", lambda model: iter([1]))
    with pytest.raises(AttributeError):
        render(directory)
    assert not os.path.lexists(os.path.join(directory.path, "summary.txt"))


def test_rendering_leaves_no_other_files(every_verdict):
    before = set(os.listdir(every_verdict.path))
    render(every_verdict)
    assert set(os.listdir(every_verdict.path)) - before == set(RENDERERS)


def test_a_report_that_cannot_be_written_is_an_error(tmp_path):
    directory = fabricate.run_directory(tmp_path, {"db07": fast()})
    os.mkdir(os.path.join(directory.path, "report.md"))
    with pytest.raises(OSError, match=r"report\.md"):
        render(directory)


def test_without_a_gate_the_verdict_is_made_from_the_records(tmp_path):
    directory = fabricate.run_directory(tmp_path, {"db07": fast()}, expected=["db07", "db08"], gate=False)
    text = shown(directory)
    assert text.startswith(
        "INTERNAL: the run ended before its gate. Its records say missing: db08: it was expected but never reported; "
        "nothing is known about the storage. This run does not certify: of 2 hosts, 1 missing.\n"
    )
    assert "The gate did not run" in text
    data = json.loads(content(directory, "report.json"))
    assert (data["fleet"]["gate_ran"], data["fleet"]["verdict"], data["fleet"]["gate_failed"]) == (
        False,
        "missing",
        True,
    )
    assert directory.verdict()["asked_by"] == "report"
    for name in ("index.html", "report.md"):
        assert "The gate did not run" in content(directory, name)


def test_a_record_that_nobody_judged_is_an_error_everywhere(tmp_path):
    directory = fabricate.run_directory(tmp_path, {}, [fabricate.failed("db07", verdict=None)], gate=False)
    assert shown(directory).startswith("INTERNAL: the run ended before its gate. Its records say error: ")
    assert read_csv(directory)[0]["host_verdict"] == "error"


def test_a_merged_report_says_so(tmp_path):
    files = fabricate.tables(over=())
    runs = [fabricate.run_directory(tmp_path / name, {f"db0{name}": files}) for name in ("1", "2")]
    merged = merge_runs([run.path for run in runs], str(tmp_path / "merged"))
    assert shown(merged).splitlines()[:2] == [
        "PASS: This run certifies 2 hosts against mq-log-silver 3.",
        "  Merged from 2 runs. The gate did not run; this verdict is based on the records that were filed.",
    ]


def test_check_mode_is_not_measured(tmp_path):
    planned = HostRecord("db07", kind="preflight")
    directory = fabricate.run_directory(tmp_path, {}, [planned], expected=["db07", "db08"], check_mode=True)
    text = shown(directory)
    assert text.startswith("READY: 2 hosts. A preflight measures nothing and has no verdict.\n")
    assert "not measured" not in text
    data = json.loads(content(directory, "report.json"))
    assert (data["fleet"]["verdict"], data["fleet"]["check_mode"]) == (None, True)
    root = ET.parse(os.path.join(directory.path, "junit.xml")).getroot()
    assert [root.get(key) for key in ("tests", "failures", "errors")] == ["2", "0", "0"]
    assert [suite.get("skipped") for suite in root] == ["1", "1"]
    assert "not measured" in content(directory, "index.html")
    assert "certifies" not in text


def test_a_refusal_in_check_mode_is_told(tmp_path):
    records = [
        fabricate.failed("db07", "error", "workspace", "it holds a queue manager"),
        HostRecord("db08", kind="preflight"),
    ]
    directory = fabricate.run_directory(tmp_path, {}, records, check_mode=True)
    text = shown(directory)
    assert text.startswith("NOT READY: 1 of 2 hosts. A preflight measures nothing and has no verdict.\n")
    assert content(directory, "report.md").startswith("# NOT READY: 1 of 2 hosts (IBM MQ recovery logs")
    assert "<strong>NOT READY: 1 of 2 hosts</strong>" in content(directory, "index.html")
    assert "workspace: it holds a queue manager" in text
    assert "The gate fails this run: ansible-playbook ends with status 2." in text


@pytest.mark.parametrize(
    ("seconds", "hosts", "first"),
    [
        (600, 1, "PASS: This run certifies 1 host against mq-log-silver 3."),
        (600, 2, "PASS: This run certifies 2 hosts against mq-log-silver 3."),
        (550, 1, "PASS, but this run does not certify: it measured 550 s per row, but mq-log-silver requires 600 s."),
        (
            550,
            3,
            (
                "PASS, but this run does not certify: h0 (and 2 more): it measured 550 s per row, but "
                "mq-log-silver requires 600 s."
            ),
        ),
    ],
)
def test_the_first_line_says_whether_the_run_certifies(tmp_path, seconds, hosts, first):
    files = fabricate.tables(fabricate.sweep_rows(seconds=seconds), over=())
    directory = fabricate.run_directory(tmp_path, {f"h{number}": files for number in range(hosts)})
    assert shown(directory).splitlines()[0] == first


def test_what_chance_may_have_failed_is_told_of_hosts_near_a_limit(tmp_path):
    good = {f"h{number}": fabricate.tables(fabricate.sweep_rows((4096,))) for number in range(25)}
    near, far = (
        fabricate.tables(fabricate.sweep_rows((4096,), latency_ns=latency)) for latency in (1_150_000, 5_000_000)
    )
    said = "just fails by at most 25 %. In a fleet of this size, up to 1 of such hosts may fail by chance"
    directory = fabricate.run_directory(tmp_path / "a", {**good, "just": near, "slow": far})
    assert said in shown(directory)
    assert said in content(directory, "index.html") and said in content(directory, "report.md")
    for place, measured in (("b", good), ("c", {**good, "slow": far})):
        assert "by chance" not in shown(fabricate.run_directory(tmp_path / place, measured))


def test_no_host_at_all(tmp_path):
    directory = fabricate.run_directory(tmp_path, {})
    assert shown(directory).startswith("ERROR: This run does not certify: no host was expected and none reported.")


def test_the_summary_stays_short(tmp_path):
    directory = fabricate.run_directory(tmp_path, {}, [fabricate.failed(f"h{number:03d}") for number in range(300)])
    text = shown(directory)
    assert re.search(r"^  unreachable  300 of 300 hosts \(h000 to h299\): probe: no route to host$", text, re.MULTILINE)
    assert len(text.splitlines()) <= 25


@pytest.mark.parametrize("hosts", [1, 100])
def test_the_markdown_stays_short(tmp_path, hosts):
    run = {
        "profile": {
            "name": "x",
            "limits": [{"metric": "latency_mean", "max": f"{number} us"} for number in range(1, 30)],
        }
    }
    measured = {
        f"h{number * 2}": fabricate.tables(fabricate.sweep_rows((4096, 8192), seconds=20, latency_ns=3000 * number))
        for number in range(1, min(hosts, 8))
    }
    unmeasured = [
        fabricate.failed(f"x{number * 2}", reason=f"reason {'abcdefghij'[number % 10]}") for number in range(hosts)
    ]
    directory = fabricate.run_directory(tmp_path, measured, unmeasured, **run)
    render(directory)
    lines = content(directory, "report.md").splitlines()
    assert len(lines) <= 60
    assert len([line for line in lines if re.match(r"\| [xh]\d+ ", line)]) == min(20, len(measured) + hosts)
    assert lines[-1].startswith("Not shown here: ")


def test_one_host_has_its_figures_in_the_summary(tmp_path):
    text = shown(
        fabricate.run_directory(tmp_path, {"db07": fabricate.tables(fabricate.sweep_rows(latency_max_in_flight=1))})
    )
    assert re.search(r"^ +4 KiB +1 +[0-9,]+ .* 202 us .* 404 us .*>= 4.04 ms$", text, re.MULTILINE)


def test_notes_of_a_single_host_are_in_the_summary_even_if_it_passes(tmp_path):
    directory = fabricate.run_directory(tmp_path, {"db07": fast()})
    assert re.search(r"^  result   db07: pass$", shown(directory), re.MULTILINE)
    note(directory, "db07", "log", [finding(SOURCE_MESSAGE, None, text="its clock is wrong")])
    assert re.search(r"^  note     its clock is wrong$", shown(directory), re.MULTILINE)


def test_report_only_is_said(tmp_path):
    directory = fabricate.run_directory(tmp_path, {"db07": slow()}, policy={"report_only": True})
    assert "The gate only reports" in shown(directory)


def test_tables_that_were_changed_are_not_shown(tmp_path):
    directory = fabricate.run_directory(tmp_path, {"db07": fast()})
    with open(os.path.join(directory.path, "hosts", "db07", "log", "results.csv"), "ab") as file:
        file.write(b"x")
    render(directory)
    (host,) = json.loads(content(directory, "report.json"))["hosts"]
    assert host["results"] == []
    assert "SHA-256" in host["notes"][0]
    assert host["notes"][0] in " ".join(Page(content(directory, "index.html")).texts)


def test_unreadable_seconds_leave_the_figures(tmp_path):
    directory = fabricate.run_directory(tmp_path, {"db07": {**fast(), "intervals.csv": b"nonsense\n"}})
    render(directory)
    (host,) = json.loads(content(directory, "report.json"))["hosts"]
    assert len(host["results"]) == 35
    assert "intervals.csv" in host["notes"][0]


def test_notes_leftovers_and_own_profiles_are_told(tmp_path):
    files = fabricate.tables(
        warning_1="on a file system under test: --tables, --progress; another file system is better"
    )
    directory = fabricate.run_directory(
        tmp_path, {"db07": files}, host_profiles={"db07": {"name": "theirs", "version": 2}}
    )
    directory.records.note_leftovers("db07", "log", ["/var/mqm/x"])
    assert "left behind on the host: /var/mqm/x" in shown(directory)
    page = " ".join(Page(content(directory, "index.html")).texts)
    for text in (
        "another file system is better (set by sweep_state_dir)",
        "Left behind on the host: /var/mqm/x",
        "profile theirs 2",
    ):
        assert text in page
    suite = ET.parse(os.path.join(directory.path, "junit.xml")).getroot().find("testsuite")
    assert suite.find("properties/property[@name='profile']").get("value") == "theirs 2"


def test_what_the_tester_reported_beside_the_limits_is_a_case_of_its_own(tmp_path):
    files = fabricate.tables(exit_status=4, exit_reason="deadline", in_flight_age_ns=12 * 10**9)
    directory = fabricate.run_directory(tmp_path, {"db07": files})
    report = render(directory)
    case = ET.parse(report["junit.xml"]).getroot().find(".//testcase[@name='measurement']/failure")
    assert case.get("message").startswith("IO-004: a write had not returned after 12 s")


def test_a_policy_that_stops_what_does_not_certify_fails_a_case(tmp_path):
    files = fabricate.tables(fabricate.sweep_rows(seconds=10))
    directory = fabricate.run_directory(tmp_path, {"db07": files}, policy={"fail_on": ["fail", "unqualified"]})
    report = render(directory)
    case = ET.parse(report["junit.xml"]).getroot().find(".//testcase[@name='qualification']/failure")
    assert "it measured 10 s per row" in case.get("message")


def test_a_large_fleet_keeps_the_page_usable(tmp_path, monkeypatch):
    monkeypatch.setattr(index_html, "SHOWN_HOSTS", 3)
    monkeypatch.setattr(report_md, "SHOWN_HOSTS", 3)
    monkeypatch.setattr(model, "CHARTED_HOSTS", 3)
    files = fabricate.tables()
    directory = fabricate.run_directory(tmp_path, {f"h{number}": files for number in range(5)})
    render(directory)
    page = Page(content(directory, "index.html"))
    assert len(page.verdicts()) == 3
    charts = [value for dummy, name, value in page.attributes if name == "class" and value in ("limit-use", "chart")]
    assert charts == ["limit-use"]
    text = " ".join(page.texts)
    assert "2 more hosts, none of them with a worse verdict, are left out here and below" in text
    assert "4 KiB: 5 hosts" in text
    assert {value for dummy, name, value in page.attributes if name == "href" and value.startswith("#host-")} == {
        "#host-h0",
        "#host-h1",
        "#host-h2",
    }
    assert "Not shown here: 2 more hosts; see index.html and report.json." in content(directory, "report.md")
    assert len(json.loads(content(directory, "report.json"))["hosts"]) == 5


def test_hosts_in_detail_stop_when_the_page_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(index_html, "MOST_DETAILS", 20_000)
    monkeypatch.setattr(model, "CHARTED_HOSTS", 0)
    directory = fabricate.run_directory(tmp_path, {f"h{number}": fabricate.tables() for number in range(5)})
    render(directory)
    page = Page(content(directory, "index.html"))
    sections = [value for tag, name, value in page.attributes if tag == "details" and name == "id"]
    assert 1 <= len(sections) < 5
    assert {value for dummy, name, value in page.attributes if name == "href" and value.startswith("#host-")} == {
        f"#{section}" for section in sections
    }
    assert len(page.verdicts()) == 5
    assert f"{5 - len(sections)} hosts of the table above are left out here" in " ".join(page.texts)


def test_a_chart_shows_each_step_and_breaks_where_there_was_no_write():
    seconds = [
        {
            "step": 1,
            "stream": "log",
            "operation": "write",
            "block_size_bytes": 4096,
            "load_point": 1,
            "partial": 0,
            "latency_p99_ns": value,
            "latency_max_ns": value,
        }
        for value in (1000, 2000, None, 4000, 5000)
    ]
    (figure,) = seconds_charts(Seconds(seconds), WORDS)
    lines = re.findall(r'class="line [^"]*" d="([^"]*)"', figure)
    assert [(path.count("M"), path.count("L")) for path in lines] == [(2, 2), (2, 2)]
    assert "slowest write 5 us" in figure
    assert seconds_charts(Seconds([{**seconds[0], "partial": 1}, {**seconds[1], "partial": 1}]), WORDS) == []
    assert seconds_charts(Seconds(seconds[:1]), WORDS) == []


def test_a_chart_of_a_long_step_stays_small_and_keeps_its_highest_second():
    second = {
        "step": 1,
        "stream": "log",
        "operation": "write",
        "block_size_bytes": 4096,
        "load_point": 1,
        "partial": 0,
        "latency_p99_ns": 1000,
    }
    seconds = [{**second, "latency_max_ns": 10**9 if number == 777 else 2000} for number in range(86400)]
    (figure,) = seconds_charts(Seconds(seconds), WORDS)
    assert len(figure) < 8000
    assert "slowest write 1 s" in figure


def test_until_when_a_host_is_certified_comes_from_its_certificate(tmp_path):
    directory = fabricate.run_directory(
        tmp_path, {"db07": fabricate.tables(over=()), "db08": fabricate.tables(over=())}
    )
    (first, second), problems = certify(directory)
    assert problems == []
    built = model.build_model(directory)
    assert [(host.valid_until, host.certificate) for host in built.hosts] == [
        ("2027-02-19", first.sha256),
        ("2027-02-19", second.sha256),
    ]
    assert built.valid_until == "2027-02-19"
    for text in ("no JSON", "[]", "{}"):
        directory.certificates.write("hosts/db08/log", text)
        built = model.build_model(directory)
        assert (built.hosts[1].valid_until, built.valid_until) == ("", "")
        assert built.hosts[1].notes[0].startswith("Its certificate cannot be read: ")
    directory.certificates.write("hosts/db08/log", '{"valid_until": "<script>"}')
    assert model.build_model(directory).valid_until == ""


def test_a_row_uses_the_share_of_the_limit_that_it_comes_closest_to(tmp_path):
    directory = fabricate.run_directory(
        tmp_path,
        {"db07": fabricate.tables(fabricate.sweep_rows(block_sizes=(4096, 1048576), latency_p99_ns=1_500_000))},
    )
    (host,) = model.build_model(directory).hosts
    used = {figures["block_size_bytes"]: row.used for row, figures in host.results() if figures["worker"] == "all"}
    assert used[4096] == 0.75
    assert used[1048576] == pytest.approx(
        250e6 / dict(zip(host.columns, host.rows[-1].values, strict=True))["bytes_per_s"]
    )


def test_if_all_rows_pass_the_worst_is_one_with_confidence(tmp_path):
    files = fabricate.tables(fabricate.sweep_rows(queue_managers=(2,)), over=())
    directory = fabricate.run_directory(tmp_path, {"db07": files}, queue_managers=("QM1", "QM2"))
    (host,) = model.build_model(directory).hosts
    (entry,) = (entry for entry in host.limits if entry["metric"] == "latency_p99")
    assert (entry["verdict"], entry["worst"]["worker_name"], entry["worst"]["method"]) == (
        "pass",
        "all",
        "share of operations",
    )


def test_the_summary_says_where_the_report_is(tmp_path, monkeypatch):
    directory = fabricate.run_directory(tmp_path, {"db07": fast()})
    finish(directory)
    page = f"  report   {directory.path}/index.html"
    kept = (
        "  kept     in the history: playbooks/report.yml -e "
        f"report_run={directory.run['run_id']} brings the report back"
    )
    url = "https://storage.example/run.tar.gz"
    assert summary(directory).splitlines()[-1] == page
    assert summary(directory, url, True).splitlines()[-3:] == [f"  report   {url}", kept, page]
    monkeypatch.setattr(_report, "vanishes", lambda path: path == directory.path)
    assert summary(directory, url, True).splitlines()[-2:] == [f"  report   {url}", kept]
    assert directory.path not in summary(directory, url, True) + summary(directory)
    assert (
        summary(directory)
        .splitlines()[-1]
        .startswith("  report   deleted with this job: keep it with gate_keep_report, ")
    )


def test_the_criteria_of_a_profile_that_never_certifies_say_so(tmp_path):
    directory = fabricate.run_directory(tmp_path, {"db07": fabricate.tables()}, profile="look")
    render(directory)
    text = content(directory, "index.html")
    assert "This profile never certifies" in text and "A run certifies if" not in text
