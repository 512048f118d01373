# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report of applications that commit: sizes are message sizes, load points are numbers of applications, and commits
are not mistaken for writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.latency import latency_charts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.seconds import Seconds, seconds_charts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.figures import cells
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import build_model
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs

LIMITS = [
    {"stream": "commit", "metric": "latency_p99", "max": "700 us", "load_point": 60},
    {"metric": "latency_p99", "max": "5 ms"},
]


@pytest.fixture
def directory(tmp_path):
    measured = {(size, load): (2500, 8192, 200_000, 400_000) for size in (2048, 20480) for load in (1, 60)}
    files = fabricate.tables(fabricate.commit_rows(measured, 2), **fabricate.COMMIT_RUN)
    profile = load_profile({"name": "commits", "limits": LIMITS}).as_dict()
    return fabricate.run_directory(tmp_path, {"db07": files}, queue_managers=("QMA", "QMB"), profile=profile)


def test_a_cell_has_the_figures_of_the_commits_and_the_worst_verdict(directory):
    found = cells(build_model(directory).hosts[0])
    assert {step: (cell.mean_ns, cell.verdict) for step, cell in found.items() if step[1] == 2048} == {
        (1, 2048): (400_000, "pass"),
        (60, 2048): (400_000, "fail"),
    }


def test_charts_have_the_limits_of_commits_and_no_seconds_of_both(directory):
    host = build_model(directory).hosts[0]
    texts = "".join(map(str, latency_charts(host)))
    assert (
        "Latency of commits over message size" in texts
        and "limit of p99 700 us" in texts
        and "limit of p99 5 ms" not in texts
    )
    seconds = "".join(map(str, seconds_charts(Seconds(host.intervals), host.words)))
    assert (
        "2 KiB, commits, 60 app, 60 s: slowest commit" in seconds
        and "2 KiB, writes, 60 app, 60 s: slowest write" in seconds
    )


def test_every_format_names_messages_and_applications(directory):
    written = {name: Path(path).read_text(encoding="utf-8") for name, path in render(directory).items()}
    assert "Message size  apps" in written["summary.txt"] and "2 KiB, commits    60" in written["summary.txt"]
    assert "## Hosts and message sizes" in written["report.md"]
    assert "all, 60 applications" in written["index.html"] and "QMA, 60 applications" in written["index.html"]
    assert "1 and 60 (applications of each queue manager)" in written["evidence.md"]
    for text in (written["summary.txt"], written["report.md"]):
        assert "60 queue managers" not in text and "lock size" not in text


def test_charts_and_causes_are_about_commits(rendered):
    directory = rendered("commits")
    summary, page = runs.content(directory, "summary.txt"), runs.content(directory, "index.html")
    assert re.search(r"^ +Message size +apps +Operations +Operations/s ", summary, re.MULTILINE)
    assert "1 % of the commits take 2.12 ms or longer, and the applications wait for them." in summary
    assert "Latency of commits over message size, 1 app." in page and "Dashed: limit of p99 1 ms" in page
    assert (
        "Share of commits that took no longer" in page
        and "2 KiB: 820 us at 1 application and 1.1 ms at 60 applications, and" in page
    )
    assert "all together commit 3.72 MB/s instead of 5 MB/s" in page and "Latency of commits over message size" in page
    assert "The dotted line shows this" not in page


def test_nothing_calls_commits_writes_or_messages_blocks(rendered):
    page = runs.content(rendered("commits"), "index.html")
    assert (
        re.search(r'title="fail: Commits [0-9,]+, Commits/s ', page)
        and "the share of operations that took longer" in page
    )
    assert page.count("every row of the log&#39;s writes") == 6
    assert "measured 950/s (+0 %)" in page
    assert "lock size" not in page and "every row<" not in page and "Writes" not in page
