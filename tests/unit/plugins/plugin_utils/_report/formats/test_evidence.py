# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""evidence.md contains what an auditor needs to know about a run, on a few pages."""

from __future__ import annotations

import hashlib
import json
import re

from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import SHOWN
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.runs import content

MOST_LINES = 200


def rows_of(text):
    """Return the rows of all tables as lists of cells, without the escapes of Markdown."""
    lines = [line.replace("\\", "") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_kind_of_run_fits_and_promises_nothing(of_each_kind):
    text = content(of_each_kind, "evidence.md")
    assert "compliant" not in text.lower() and "signed by" not in text.lower()
    assert len(text.splitlines()) <= MOST_LINES
    assert [line for line in text.splitlines() if line.startswith("## ")][-1] == "## 8. Signatures"


def test_the_digests_are_those_of_the_files(of_each_kind):
    rows = rows_of(content(of_each_kind, "evidence.md"))
    for name in ("run.json", "verdict.json", "results.csv", "report.json"):
        assert [name, hashlib.sha256(content(of_each_kind, name).encode("utf-8")).hexdigest()] in rows


def test_each_finding_is_waived_or_to_be_decided(rendered):
    directory = rendered("every_verdict")
    text, causes = content(directory, "evidence.md"), json.loads(content(directory, "report.json"))["causes"]
    found = re.findall(
        r"^\d+\. \*\*(\w+)\*\*: .*\n(?:    - (?:Limits|Consequence|Next step): .*\n)*    - (Waived|Decision): ",
        text,
        re.MULTILINE,
    )
    assert [verdict for verdict, dummy in found] == [cause["verdict"] for cause in causes]
    assert [kind for dummy, kind in found] == [
        "Waived" if "; waived (CHG7)" in cause["statement"] else "Decision" for cause in causes
    ]
    assert ["waived", "latency_mean", "storage", "2027-01-31", "CHG7", "yes"] in rows_of(text)
    assert ["waived", "latency_p99_9", "storage", "2027-01-31", "CHG7", "no"] in rows_of(text)


def test_a_waiver_is_offered_only_if_it_could_excuse_the_finding(tmp_path):
    limits = [{"metric": "latency_mean", "max": "1 ms"}, {"metric": "latency_p99", "max": "2 ms"}]
    hosts = {"slow": {"latency_ns": 15_000_000}, "mild": {"latency_ns": 1_200_000}, "few": {"latency_p99_ns": None}}
    measured = {name: fabricate.tables(fabricate.sweep_rows((4096,), **keys)) for name, keys in hosts.items()}
    directory = fabricate.run_directory(
        tmp_path, measured, [fabricate.failed("gone")], profile={"name": "mine", "limits": limits}
    )
    render(directory)
    pattern = (
        r"^\d+\. \*\*(\w+)\*\*: ([\w\\]+).*\n(?:    - (?:Limits|Consequence|Next step): "
        r".*\n)*    - Decision: (\w+)"
    )
    found = re.findall(pattern, content(directory, "evidence.md").replace("\\", ""), re.MULTILINE)
    assert found == [
        ("fail", "slow", "retest"),
        ("fail", "mild", "waiver"),
        ("unreachable", "gone", "retest"),
        ("inconclusive", "latency_p99", "retest"),
    ]


def test_a_criterion_that_no_limit_holds_is_named_in_each_format(tmp_path):
    failed = fabricate.tables(fabricate.sweep_rows((4096,)), exit_status=3, error_errno_name="CORRUPT")
    directory = fabricate.run_directory(tmp_path, {"db07": failed})
    render(directory)
    (cause,) = json.loads(content(directory, "report.json"))["causes"]
    assert cause["limit_id"] == "IO-003"
    statement = cause["statement"]
    assert f"1. **fail**: {statement} (criterion IO-003)" in content(directory, "evidence.md").replace("\\", "")
    assert f'message="IO-003: {statement}"' in content(directory, "junit.xml")
    assert f' {statement} <span class="dim">(criterion IO-003)</span></h3>' in content(directory, "index.html")


def test_a_waiver_by_id_covers_the_finding_on_its_rows_alone(tmp_path):
    by_size = [
        {"id": f"LOG-00{size[0]}", "metric": "latency_mean", "max": "1 ms", "block_size": size, "severity": how}
        for size, how in (("4K", "fail"), ("8K", "warn"))
    ]
    waivers = [{"host": "db07", "id": "LOG-004", "until": "2027-01-31", "reason": "CHG7"}]
    tables = fabricate.tables(fabricate.sweep_rows((4096, 8192), latency_ns=3_000_000))
    directory = fabricate.run_directory(
        tmp_path, {"db07": tables}, profile={"name": "mine", "limits": by_size, "waivers": waivers}
    )
    render(directory)
    text, page = content(directory, "evidence.md"), content(directory, "index.html")
    assert text.count("    - Waived: CHG7 (section 6)") == 1
    assert ["db07", "LOG-004", "not recorded", "2027-01-31", "CHG7", "yes"] in rows_of(text)
    assert "failure of one metric, or of the one limit that it names by its id, on one host" in text
    assert "db07: LOG-004 until 2027-01-31: CHG7" in page


def test_scope_method_criteria_and_results_are_told(rendered):
    rows = rows_of(content(rendered("certified"), "evidence.md"))
    profile = json.loads(content(rendered("certified"), "run.json"))["profile"]
    unnamed = {
        **profile,
        "limits": [{key: value for key, value in limit.items() if key != "id"} for limit in profile["limits"]],
    }
    canonical = json.dumps(unnamed, indent=1, sort_keys=True) + "\n"
    for row in (
        ["Operator", "ops on controller"],
        ["Certificates", "valid until 2027-02-19"],
        ["Expected", "2: db07 and db08"],
        ["Left out by the limit", "1: db09"],
        ["Not measured", "none"],
        ["Load points", "1 and 2 (queue managers that wrote at the same time)"],
        ["Tester", "logdisk 1.0.0, method 1, sources abababababababab (3 of 3 volumes)"],
        ["SHA-256", hashlib.sha256(canonical.encode("ascii")).hexdigest()],
        [
            "LOG-202 latency_p99 <= 2 ms",
            "block size <= 64 KiB",
            "fail",
            next(limit["source"] for limit in profile["limits"] if limit["metric"] == "latency_p99"),
        ],
        ["gate_report_only", "no"],
        ["pass", "3", "db07, db08 and db08/audit"],
        ["latency_p99 <= 2 ms", "block size <= 64 KiB", "0", "0", "0", "3", "658 us at 64 KiB on db08"],
    ):
        assert rows.count(row) == 1
    assert "There is nothing to decide." in content(rendered("certified"), "evidence.md")


def test_an_awx_job_is_named(tmp_path):
    directory = fabricate.run_directory(
        tmp_path, {}, controller={"hostname": "awx", "user": "", "job": {"id": "77", "launched_by": "ana"}}
    )
    render(directory)
    assert ["Operator", "not recorded on awx, AWX job 77 of ana"] in rows_of(content(directory, "evidence.md"))


def test_the_worst_fleet_fits(tmp_path):
    letters = "abcdefghijklmnopqrstuvwxyz"
    limits = [{"metric": "latency_max", "max": f"{number} us"} for number in range(1, 50)]
    waivers = [
        {"host": letter, "metric": "latency_p99", "until": "2027-01-31", "reason": letter * 999} for letter in letters
    ]
    unmeasured = [fabricate.failed(f"h{letter}", reason=f"{letter} " * 999) for letter in letters]
    profile = {"name": "long", "limits": [*limits, {"metric": "latency_p99", "max": "1 us"}], "waivers": waivers}
    directory = fabricate.run_directory(
        tmp_path, {"db07": fabricate.tables()}, unmeasured, profile=profile, parameters=dict.fromkeys(SHOWN, 1)
    )
    render(directory)
    text = content(directory, "evidence.md")
    assert len(text.splitlines()) <= MOST_LINES
    for left in ("more in report.json (causes)", "more in run.json", "more in report.json\n"):
        assert left in text
    assert max(map(len, text.splitlines())) < 2000
