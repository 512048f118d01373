# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a run while hosts measure, after an interruption, and at the end."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import host_status, unanswered
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import live_page, render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.browser import (
    needs_a_browser,
    pale_texts,
    width_of,
)
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.pages import HOSTILE, LONG, parsed

HOSTS = ("db01", "db02", "db03")
DONE = "4096:1:1200000:3000000,16384:1:1300000:4000000"
RELOADS = '<meta http-equiv="refresh" content="15">'


def status(host, done="", **more):
    progress = {"state": "measuring", "block_size_bytes": "65536", "load_point": "1", "done": done, **more}
    return host_status(host, "r", {"volumes": {"log": {"state": "running", "progress": progress}}})


def fleet():
    """Return the statuses of three hosts: one that measures, one that is slow, and one that no longer answers."""
    now = {"latency_p99_ns": "2000000", "latency_max_ns": "41000000"}
    return {
        "db01": status("db01", DONE, **now),
        "db02": status("db02", DONE.replace("1300000", "14000000"), **now),
        "db03": unanswered(status("db03"), "gone"),
    }


def schedule(hosts, end_s=1800.0):
    return {host: {"start_epoch_s": time.time() - 600, "end_epoch_s": time.time() + end_s} for host in hosts}


@pytest.fixture
def directory(tmp_path):
    return RunDirectory.create(str(tmp_path), fabricate.run_data([*HOSTS]))


def path_of(directory):
    return Path(directory.path, "index.html")


def text_of(browser, selector="main"):
    return browser.run(f"document.querySelector({selector!r}).innerText")


@pytest.fixture
def page(browser):
    """A browser that must not report any problem."""
    browser.messages.clear()
    yield browser
    assert browser.messages == []


@needs_a_browser
def test_a_run_that_measures(page, directory):
    live_page.write_opening(directory, ["Measuring takes about 71 min in all."])
    page.open(path_of(directory))
    text = text_of(page)
    assert "MEASURING" in text and "not judged yet" in text and "71 min" in text
    assert text.count("not started yet") == 3 and RELOADS in path_of(directory).read_text()
    live_page.write_round(directory, fleet(), schedule(HOSTS), time.time() + 100)
    page.open(path_of(directory))
    text = text_of(page)
    assert "0 of 3 hosts have finished. Worst p99 so far: 14 ms on db02." in text
    assert "(30 min left)" in text and "not judged yet" in text and not page.run("!stale.hidden")
    rows = page.run("[...document.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.innerText))")
    assert [row[:-1] for row in rows] == [
        ["db03", "did not answer", "", "", "", ""],
        ["db02", "measuring", "1.2 ms", "14 ms", "64 KiB: 2 ms", "41 ms"],
        ["db01", "measuring", "1.2 ms", "1.3 ms", "64 KiB: 2 ms", "41 ms"],
    ]


@needs_a_browser
def test_a_page_that_is_not_replaced_says_so_itself(page, directory, monkeypatch):
    monkeypatch.setattr(live_page, "ROUND_S", -9.0)
    live_page.write_round(directory, fleet(), schedule(HOSTS), time.time() + 2)
    page.open(path_of(directory))
    assert page.run("!stale.hidden && document.title.startsWith('Out of date: ')")
    assert "out of date" in text_of(page)


@needs_a_browser
def test_a_run_that_was_interrupted(page, directory):
    live_page.write_round(directory, fleet(), schedule(HOSTS), time.time() + 100)
    live_page.write_interruption(directory.path, "To stop it:\n  ansible-playbook stop.yml -e 'x=<y>'")
    live_page.write_interruption(directory.path, "To stop it:\n  ansible-playbook stop.yml -e 'x=<y>'")
    page.open(path_of(directory))
    text = text_of(page)
    assert "INTERRUPTED" in text and "MEASURING" not in text and "not a result" in text and "left)" not in text
    assert "ansible-playbook stop.yml -e 'x=<y>'" in text and "14 ms" in text
    assert "refresh" not in path_of(directory).read_text()


@needs_a_browser
def test_a_run_that_was_judged(page, directory):
    live_page.write_round(directory, fleet(), schedule(HOSTS), time.time() + 100)
    judge_run(directory, GATE)
    final = Path(render(directory)["index.html"]).read_text()
    live_page.write_interruption(directory.path, "too late")
    page.open(path_of(directory))
    assert path_of(directory).read_text() == final and "refresh" not in final
    assert "MISSING" in text_of(page) and "not judged yet" not in text_of(page)


@needs_a_browser
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_fits_a_telephone_and_has_contrast(browser, directory, dark):
    live_page.write_round(directory, fleet(), schedule(HOSTS), time.time() + 100)
    assert width_of(browser, path_of(directory), 360, dark) <= 360
    assert pale_texts(browser, path_of(directory), dark) == {}


def test_nothing_that_a_host_sends_is_markup(tmp_path):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data([*HOSTILE]))
    statuses = {
        name: host_status(
            name, "r", {"volumes": {text: {"state": text, "progress": dict.fromkeys(("state", "done", "error"), text)}}}
        )
        for name in HOSTILE
        for text in (LONG, name, "<!--/figures--><script>")
    }
    live_page.write_opening(directory, ["<b>"])
    parsed(path_of(directory))
    live_page.write_round(directory, statuses, schedule(HOSTILE), time.time() + 100)
    parsed(path_of(directory))
    text = path_of(directory).read_text()
    assert text.count("<script") == 1 and text.count(live_page._END) == 1 and "<img" not in text
    assert len(text) < 60_000


@pytest.mark.parametrize("kind", ["durability", "locks"])
def test_a_run_without_polls_is_never_said_to_be_out_of_date(tmp_path, kind):
    directory = RunDirectory.create(str(tmp_path), {**fabricate.run_data([*HOSTS]), "kind": kind})
    live_page.write_opening(directory, [])
    text = path_of(directory).read_text()
    assert 'data-stale-after=""' in text and "This page is replaced when the run ends." in text
    assert f">{directory.kind.in_progress}<" in text


def test_a_page_of_many_hosts_is_bounded(tmp_path):
    hosts = [f"db{number:05}" for number in range(5000)]
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(hosts))
    statuses = {host: status(host, ",".join(f"{4096 * n}:1:1000000:1" for n in range(1, 60))) for host in hosts}
    live_page.write_round(directory, statuses, schedule(hosts), time.time() + 100)
    assert path_of(directory).stat().st_size < 2_000_000 and "and 4,000 more" in path_of(directory).read_text()
