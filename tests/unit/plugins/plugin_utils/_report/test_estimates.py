# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The estimates of a volume in the report: which are shown, the measurements beside them, and the reservations about
them."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.commits import Load, estimate_commits
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import model, render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.estimates import estimate_section
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import build_model
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.browser import (
    needs_a_browser,
    pale_texts,
    width_of,
)
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.runs import content

SAN = fabricate.sweep_rows(latency_ns=193_000, bandwidth=1.26e9)


def latency_ns(size_bytes):
    """Return the latency of the disk in the class SAN."""
    return 193_000 + size_bytes / 1.26


def run(base, rows=SAN, columns=(), hosts=("db07",), **run_keys):
    return fabricate.run_directory(base, {host: fabricate.tables(rows, columns, **run_keys) for host in hosts})


def measured_commits(factors):
    """Return rows of the commit workload on that disk, whose rates differ from the model's by a factor for each message
    size and number of applications."""
    found = {key: estimate_commits(latency_ns, Load(key[1], key[0])) for key in factors}
    return fabricate.commit_rows(
        {
            key: (one.commits_per_s * factors[key], one.write_bytes, one.cycle_ns, one.commit_latency_ns)
            for key, one in found.items()
        }
    )


def section(directory):
    return SimpleNamespace(**estimate_section(build_model(directory).hosts[0]))


def test_a_sweep_has_its_line_charts_and_tables(tmp_path):
    shown = section(run(tmp_path))
    assert re.match(
        r"A write of S bytes takes .* L0 = 193 us ± .* and B = 1,260 MB/s ± .* from writes of 4 "
        r"KiB to 1 MiB\)\. .* within 1 %\.",
        shown.line,
    )
    assert shown.clients == ["1 client", "10 clients", "100 clients", "1,000 clients"]
    cells = {size: [cell["rate"] for cell in cells] for size, cells in shown.sizes}
    assert list(cells) == ["100 B", "1 KiB", "2 KiB", "10 KiB", "100 KiB", "1 MiB"]
    assert cells["2 KiB"] == ["5,100/s", "23,900/s", "150,000/s", "315,000/s"]
    assert [(distance, delay, cells[0]["rate"]) for distance, delay, cells in shown.distances] == [
        ("0 km", "none", "5,100/s"),
        ("10 km", "100 us", "3,380/s"),
        ("50 km", "500 us", "1,440/s"),
        ("100 km", "1 ms", "836/s"),
        ("300 km", "3 ms", "313/s"),
    ]
    assert shown.reservations == [("a", "the log's writes are larger than the largest writes that were measured")]
    assert [cell["marks"] for cell in dict(shown.sizes)["1 MiB"]] == ["", "a", "a", "a"]
    assert shown.round_trips.startswith(
        "60 clients, each with one request and one reply of 2 KiB at a time, reach about 37,700 round "
        "trips/s with log writes of 64 KiB"
    )
    assert (len(shown.charts), shown.contradictions) == (2, [])


def test_charts_are_dotted_beyond_the_model_and_end_at_the_logs_limit(tmp_path):
    throughput, messages = map(str, section(run(tmp_path)).charts)
    assert "with full writes, it takes 1,130 MB/s" in throughput
    for chart in (throughput, messages):
        assert chart.count('<path class="line limit log"') == 1
        assert {f"line s{number}" for number in range(4)} <= {*re.findall(r'class="(line s\d)"', chart)}
        assert {*re.findall(r'class="line (s\d) beyond"', chart)} == {"s1", "s2", "s3"}
        assert "Dotted:" in chart and "Dots were" not in chart


def test_measured_commits_stand_beside_their_estimates(tmp_path):
    factors = {(2048, 1): 1.1, (2048, 100): 0.6, (1 << 20, 100): 1.0, (1 << 20, 1): 0.9}
    shown = section(run(tmp_path, measured_commits(factors), **fabricate.COMMIT_RUN))
    cells = dict(shown.sizes)
    assert shown.clients == ["1 client", "100 clients"] and list(cells) == ["2 KiB", "1 MiB"]
    assert [cell["measured"] for cell in cells["2 KiB"]] == ["measured 5,610/s (+10 %)", "measured 90,100/s (-40 %)"]
    assert [cell["contradicted"] for cell in cells["2 KiB"]] == [False, True]
    assert len(shown.contradictions) == 1
    assert shown.contradictions[0].startswith(
        "With 2 KiB messages of 100 clients, the measurement is 40 % below the estimate"
    )
    assert all("Dots were measured" in str(chart) for chart in shown.charts)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (fabricate.sweep_rows(block_sizes=(4096, 8192)), "at least 3 write sizes, but the run measured 2"),
        (fabricate.sweep_rows(latency_ns=3_000_000, bandwidth=-1e9), "does not grow"),
    ],
    ids=["two sizes", "falls"],
)
def test_what_follows_no_line_has_no_estimates(tmp_path, rows, why):
    shown = section(run(tmp_path, rows))
    assert "does not fit a line" in shown.line and why in shown.line
    assert (shown.charts, shown.sizes) == ([], [])
    assert "<h3>Estimates</h3>" in content(rendered(run(tmp_path, rows)), "index.html")


def rendered(directory):
    render(directory)
    return directory


def test_programs_get_the_same_estimates(tmp_path):
    document = json.loads(content(rendered(run(tmp_path)), "report.json"))
    estimates = document["hosts"][0]["estimates"]
    assert estimates["line"]["base_ns"] == pytest.approx(193_000, rel=1e-3)
    assert estimates["line"]["bytes_per_s"] == pytest.approx(1.26e9, rel=1e-3)
    found = {(each["message_bytes"], each["applications"]): each["commits_per_s"] for each in estimates["commits"]}
    assert len(found) == 24
    assert found[2048, 10] == pytest.approx(estimate_commits(latency_ns, Load(10, 2048)).commits_per_s, rel=1e-3)
    assert {each["distance_km"] for each in estimates["distances"]} == {0, 10, 50, 100, 300}


def test_a_large_fleet_has_only_the_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(model, "CHARTED_HOSTS", 2)
    hosts = ["db01", "db02", "db03"]
    directory = rendered(run(tmp_path, hosts=hosts))
    for host in json.loads(content(directory, "report.json"))["hosts"]:
        assert host["estimates"]["line"] and "commits" not in host["estimates"]
    page = content(directory, "index.html")
    assert page.count("A write of S bytes takes") == len(hosts)
    assert "Estimated commits per second" not in page


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page with everything that estimates can show: measurements, one that contradicts the model,
    reservations and the headroom."""
    factors = {(2048, 1): 1.1, (2048, 100): 0.6, (1 << 20, 100): 1.0, (10_000_000, 1000): 0.9}
    files = fabricate.tables(measured_commits(factors), **{**fabricate.COMMIT_RUN, "option_log_buffer_bytes": 16 << 20})
    target = {"target_message_bytes": 2048, "target_messages_per_s": 5000.0, "target_clients": 60}
    return render(
        fabricate.run_directory(tmp_path_factory.mktemp("page"), {"db07": files}, host_targets={"db07": target})
    )["index.html"]


@needs_a_browser
@pytest.mark.parametrize("dark", [False, True])
def test_estimates_can_be_read_in_a_narrow_window_and_in_either_scheme(browser, page, dark):
    assert width_of(browser, page, 360, dark) <= 360
    assert pale_texts(browser, page, dark) == {}
    assert (
        browser.run(
            "['.contradicted', '.headroom', 'svg .beyond', '.estimates sup'].filter(part => "
            "!document.querySelector(part))"
        )
        == []
    )
