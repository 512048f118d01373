# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The load that volumes can carry, compared with the required load, in every format."""

from __future__ import annotations

import json

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes.groups import causes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.headroom import headroom_lines
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import build_model
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.runs import content

SAN = fabricate.sweep_rows(latency_ns=193_000, bandwidth=1.26e9)
PROFILE = {
    "name": "mine",
    "limits": [{"metric": "headroom_margin", "min": "20 %"}, {"metric": "latency_mean", "max": "9 ms"}],
}


def run(base, asked, rows=SAN):
    """Return a run whose hosts, by name, are required to carry that many messages per second."""
    targets = {
        host: {"target_message_bytes": 2048, "target_messages_per_s": rate, "target_clients": 60}
        for host, rate in asked.items()
        if rate
    }
    return fabricate.run_directory(
        base, {host: fabricate.tables(rows) for host in asked}, host_targets=targets, profile=PROFILE
    )


def test_every_format_has_the_margin_of_a_volume(tmp_path):
    directory = run(tmp_path, {"db07": 5000.0})
    render(directory)
    line = (
        "db07: margin 2,060 %, 108,000 messages/s carried, 5,000 messages/s of 2 KiB from 60 "
        "clients required (an estimate)"
    )
    assert f"  headroom {line}\n" in content(directory, "summary.txt")
    assert f"- {line}\n" in content(directory, "report.md")
    page = content(directory, "index.html")
    assert "<h4>Headroom</h4>" in page and '<td class="left">2,060 %</td>' in page and "270 us" in page
    headroom = json.loads(content(directory, "report.json"))["hosts"][0]["estimates"]["headroom"]
    assert headroom["margin"] == pytest.approx(20.6, rel=0.01)
    assert {
        key: headroom[key] for key in ("message_bytes", "messages_per_s", "clients", "measured", "reservations")
    } == {
        "message_bytes": 2048,
        "messages_per_s": 5000.0,
        "clients": 60,
        "measured": False,
        "reservations": [],
    }


def test_the_smallest_margins_come_first_and_the_rest_is_counted(tmp_path):
    asked = {f"db{number}": 10_000.0 * number for number in range(1, 8)}
    lines = headroom_lines(build_model(run(tmp_path, {**asked, "other": None})))
    assert [line.split(":")[0] for line in lines] == [
        "db7",
        "db6",
        "db5",
        "db4",
        "db3",
        "and 2 more with a larger margin",
    ]


def test_an_unknown_margin_says_why(tmp_path):
    directory = run(tmp_path, {"db07": 5000.0}, fabricate.sweep_rows(block_sizes=(4096, 8192)))
    render(directory)
    summary = content(directory, "summary.txt")
    assert (
        "headroom db07: margin not known, because there is no estimate: a line needs the "
        "means of at least 3 write sizes" in summary
    )
    assert "The margin over the target is not known" in content(directory, "index.html")


@pytest.mark.parametrize(
    ("rate", "rows", "statement", "consequence", "next_step"),
    [
        (
            150_000.0,
            SAN,
            "headroom_margin >= 20 % broken; worst -27.9 %",
            "carries 27.9 % less than required",
            "a lower latency",
        ),
        (
            95_000.0,
            SAN,
            "headroom_margin >= 20 % broken; worst 13.8 %",
            "carries only 13.8 % more than required",
            "a lower latency",
        ),
        (
            None,
            SAN,
            "headroom_margin >= 20 % cannot be judged; sweep_target does not state",
            "Nothing is proven",
            "Set sweep_target",
        ),
        (
            5000.0,
            fabricate.sweep_rows(block_sizes=(4096, 8192)),
            "cannot be judged; there is no estimate",
            "Nothing is proven",
            "sweep block sizes",
        ),
        (
            1000.0,
            fabricate.sweep_rows(block_sizes=(4096, 8192, 16384)),
            "(an estimate; the log's writes are larger",
            "Nothing is proven",
            "sweep block sizes",
        ),
    ],
    ids=["too little", "too close", "no target", "no line", "beyond the model"],
)
def test_the_cause_says_what_follows_and_what_to_do(tmp_path, rate, rows, statement, consequence, next_step):
    (cause,) = (cause for cause in causes(build_model(run(tmp_path, {"db07": rate}, rows))) if cause.kind == "limit")
    assert statement in cause.statement and consequence in cause.consequence and next_step in cause.next_step


def test_the_share_used_of_a_margin_compares_what_is_carried(tmp_path):
    directory = run(tmp_path, {"db07": 150_000.0})
    render(directory)
    (line,) = (line for line in content(directory, "logdisk.prom").splitlines() if 'metric="headroom_margin"' in line)
    assert float(line.rpartition(" ")[2]) == pytest.approx(1 - 1.2 / 0.7207, abs=0.01)
