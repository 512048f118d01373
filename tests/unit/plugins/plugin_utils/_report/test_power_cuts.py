# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reports about power cuts: the result of each cut, the losses and what they mean, and the losses that would not have
been detected."""

from __future__ import annotations

import json
import re

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.power_cut.record import LOSSES
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import RunDirectoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps.reopen_run import measured
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.pages import HOSTILE, empty_columns

CLAIM = (
    "2 cuts without a loss: with 95 % confidence, the chance of a loss is at most 78 % per "
    "cut, if later cuts are like these."
)
UNSEEN = "A loss at the end of less than 2.3 ms or 9 writes could not be seen."


@pytest.fixture
def cuts(rendered):
    return rendered("power_cuts")


def test_the_summary_says_what_was_kept_lost_and_not_seen(cuts):
    text = runs.content(cuts, "summary.txt")
    assert text.startswith(
        "FAIL: db02: cut 2: 63 acknowledged writes at the end are gone (258,048 bytes, 20.2 ms of writing). Power cuts "
        "on 4 hosts: 1 fail, 1 missing, 1 inconclusive, 1 pass. They measure no latency, so they certify none."
    )
    told = [line.split("cuts     ")[1] for line in text.splitlines() if line.startswith("  cuts")]
    assert told == [
        "db02: 2 of 2 cuts, 1 kept, 1 lost",
        "db03: 1 of 2 cuts, 1 inconclusive",
        "db01: 2 of 2 cuts, 2 kept",
        f"db01: {CLAIM} {UNSEEN}",
        "Cutting the power of the chassis tests the host, its controller and its local drives.",
    ]
    assert "cut 2: 63 acknowledged writes at the end are gone (258,048 bytes, 20.2 ms of writing)" in text
    assert (
        LOSSES[0].consequence in text and f"Next: {LOSSES[0].next_step} (Talk to: storage, operating system.)" in text
    )
    assert "collect.yml" not in text
    assert (
        "1 of 2 cuts were made" in text
        and "Nothing is proven: this storage may keep what it acknowledged or lose it." in text
    )


TEN = {"name": "durable", "durability": {"cuts": 10}, "limits": [{"metric": "latency_p99", "max": "2 ms"}]}
FEW = "too few to certify"


@pytest.mark.parametrize(
    ("count", "profile", "hosts", "headline"),
    [
        (1, None, ("db01",), f"0 of 1 cut lost writes: {FEW}"),
        (58, None, ("db01",), f"0 of 58 cuts lost writes: {FEW}"),
        (
            59,
            None,
            ("db01",),
            "0 of 59 cuts lost writes: with 95 % confidence, the chance of a loss is at most 5 % per cut",
        ),
        (2, None, ("db01", "db02"), f"0 of 4 cuts on 2 hosts lost writes: {FEW}"),
        (9, TEN, ("db01",), "0 of 9 cuts lost writes: too few, the profile asks for 10"),
        (10, TEN, ("db01",), ""),
    ],
)
def test_cuts_that_certify_nothing_are_headed_by_their_count(tmp_path, count, profile, hosts, headline):
    directory = runs.kept_cuts(tmp_path, count, profile, hosts)
    render(directory)
    statement = f"Power cuts on {len(hosts)} host{'s' if len(hosts) > 1 else ''}: {len(hosts)} pass."
    assert runs.content(directory, "summary.txt").startswith(
        f"{headline}. {statement}" if headline else f"PASS: {statement}"
    )
    assert runs.content(directory, "report.md").startswith(f"# {headline} (" if headline else "# PASS: ")
    assert f"<title>{headline or 'PASS'}: storage" in runs.content(directory, "index.html")
    assert f"<strong>{headline or '✓ pass'}</strong>" in runs.content(directory, "index.html")
    fleet = json.loads(runs.content(directory, "report.json"))["fleet"]
    assert (fleet["verdict"], fleet["gate_failed"], fleet["statement"].startswith(headline or "Power cuts")) == (
        "pass",
        False,
        True,
    )


def test_a_table_without_latencies_has_no_legend_of_them(cuts):
    assert "## Hosts\n\n| host | verdict | certified |\n" in runs.content(cuts, "report.md")


def test_the_page_has_each_cut_with_its_figures(cuts):
    text = runs.page_text(cuts)
    assert f"2 of 2 cuts, 2 kept. {CLAIM} {UNSEEN}" in text
    assert "1 kept 31,200 3,120/s 10 s 92 us, 540 us 1.3 ms 2.3 ms, 9 writes new 61.5 s" in text
    assert (
        "2 number 1 31,200 31,201 63 252 KiB, 20.2 ms of writing lost tail at 8192 of /var/mqm/log/QM1/x-1: write "
        "31138 was due, write 2 is there" in text
    )
    assert "LogWriteIntegrity=SingleWrite is not safe here" in text


def test_cuts_losses_and_the_bound_are_one_picture_without_empty_tables(cuts):
    content, text = runs.content(cuts, "index.html"), runs.page_text(cuts)
    assert "2 of 2 cuts, 1 kept, 1 lost 63 writes lost tail lost in 1 of 2" in text
    assert "2 of 2 cuts, 2 kept at most 78 % 62,400 2.3 ms" in text
    assert 'aria-label="chance of a loss per cut: at most 78 %"' in content
    assert "Dashed: 5 %; with a higher bound, the cuts are too few to certify." in text
    assert empty_columns(f"{cuts.path}/index.html") == []
    assert "No latency was measured" not in text and "Hosts and block sizes" not in text


@pytest.mark.parametrize(("count", "marks"), [(3, ["h7", "h7", "h7"]), (200, ["h186.0"])])
def test_each_cut_has_a_mark_and_many_cuts_are_a_bar(tmp_path, count, marks):
    directory = runs.kept_cuts(tmp_path, count)
    render(directory)
    # On the first screen, and in the table of all hosts.
    path, dummy = re.findall(r'<path class="kept" d="([^"]+)"', runs.content(directory, "index.html"))
    assert re.findall(r"(?<=\d)h\d[\d.]*", path) == marks


def test_what_the_profile_asks_for_is_the_dashed_line(tmp_path):
    directory = runs.kept_cuts(tmp_path, 10, TEN)
    render(directory)
    assert "Dashed: what is proven by as many cuts as the profile asks for (26 %)." in runs.page_text(directory)


def test_nothing_about_certifying_is_said_of_power_cuts(cuts):
    for name in ("index.html", "report.md", "summary.txt"):
        assert "not certif" not in runs.content(cuts, name)


def test_all_formats_say_what_was_lost(cuts):
    for name in ("index.html", "report.md", "summary.txt", "junit.xml"):
        assert "63 acknowledged writes at the end are gone" in runs.content(cuts, name), name
    (host,) = (host for host in json.loads(runs.content(cuts, "report.json"))["hosts"] if host["host"] == "db02")
    assert (host["kind"], host["verdict"], host["durability"]["losses"][0]["loss"]) == (
        "durability",
        "fail",
        "lost tail",
    )


def test_each_kind_of_damage_is_a_cause_with_its_own_criterion(tmp_path):
    directory = runs.power_cuts(tmp_path, lambda number: runs.lost_tail(number, torn_positions="2"))
    render(directory)
    causes = json.loads(runs.content(directory, "report.json"))["causes"]
    said = {each["limit_id"]: each["consequence"] for each in causes if each["verdict"] == "fail"}
    assert said.keys() == {"CUT-001", "CUT-004"}
    assert ["parts of two writes" in said[limit_id] for limit_id in sorted(said)] == [False, True]


def test_monitoring_has_the_outcomes_and_the_bound(cuts):
    text = runs.content(cuts, "logdisk.prom")
    assert 'logdisk_run_power_cuts{host="db02",volume="log",outcome="lost"} 1' in text
    assert 'logdisk_run_power_cuts{host="db03",volume="log",outcome="inconclusive"} 1' in text
    assert re.search(r'logdisk_run_power_cut_loss_bound_ratio{host="db01",volume="log"} 0\.776', text)
    assert 'logdisk_run_power_cut_loss_bound_ratio{host="db02"' not in text


def test_what_a_host_says_about_its_files_is_only_text(tmp_path):
    directory = runs.power_cuts(
        tmp_path, lambda number: runs.lost_tail(number, finding_file=HOSTILE[0], in_flight=HOSTILE[0])
    )
    render(directory)
    assert "<script>alert(1)</script>" not in runs.content(directory, "index.html")


def test_power_cuts_cannot_be_collected(cuts):
    with pytest.raises(RunDirectoryError, match="is a run of power cuts, which cannot be collected"):
        measured(cuts)


def test_the_documentation_names_every_kind_of_loss():
    text = (fabricate.PROJECT / "docs/power_cut.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| [^|]+ \| ([^|]+) \| lost", text, re.M)
    assert [name for cell in table for name in cell.split(", ")] == [loss.name for loss in LOSSES]
