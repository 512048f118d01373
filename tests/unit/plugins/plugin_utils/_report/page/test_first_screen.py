# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first screen of a measurement in a browser: what decided the verdict comes first, and no picture or figure
contradicts it."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.browser import needs_a_browser

BROKEN = {"exit_status": 3, "exit_reason": "io_error", "error_call": "pwritev2", "error_errno_name": "EIO"}
HUNG = {"exit_status": 4, "exit_reason": "deadline", "in_flight_age_ns": 12 * 10**9}
LATE = "the tester began 10.4 s late, after the planned end of its measurement"


def measured(*sizes, latency_ns=300_000, seconds=600, run=(), **columns):
    rows = fabricate.sweep_rows(sizes or fabricate.BLOCK_SIZES, seconds=seconds, latency_ns=latency_ns, **columns)
    return fabricate.tables(rows, **dict(run))


def bad(name):
    """Return the tables of the host db01, or the record that it has instead, or None if it sent neither."""
    return {
        "pass": measured(),
        "limit": measured(latency_ns=9_000_000),
        "io_error": measured(4096, run=BROKEN),
        "hang": measured(4096, run=HUNG, latency_max_ns=12 * 10**9, latency_max_in_flight=1),
        "late": fabricate.failed("db01", "error", "start", LATE),
        "missing": None,
        "inconclusive": measured(4096, latency_p99_ns=None),
    }[name]


def page_of(base, name):
    """Render a run in which db02 and db03 are good."""
    first = bad(name)
    tables = {"db02": measured(), "db03": measured(latency_ns=200_000)}
    records = [first] if hasattr(first, "verdict") else []
    if isinstance(first, dict):
        tables["db01"] = first
    directory = fabricate.run_directory(base, tables, records, expected=["db01", "db02", "db03"])
    return render(directory)["index.html"]


@needs_a_browser
@pytest.mark.parametrize(
    ("name", "first_line", "below", "has_own_lane"),
    [
        ("pass", "PASS", "The worst uses", False),
        ("limit", "FAIL", "The worst takes", False),
        ("io_error", "FAIL db01: a write failed with EIO", "Of the others, the worst uses", True),
        ("hang", "FAIL db01: a write had not returned after 12 s", "Of the others, the worst uses", True),
        ("late", f"ERROR db01: start: {LATE}", "Of the others, the worst uses", True),
        ("missing", "MISSING db01: it was expected but never reported", "Of the others, the worst uses", True),
        ("inconclusive", "INCONCLUSIVE", "The worst uses", False),
    ],
)
def test_the_first_line_says_what_decided_the_verdict(browser, tmp_path, name, first_line, below, has_own_lane):
    browser.messages.clear()
    browser.open(page_of(tmp_path, name))
    words = browser.run("document.querySelector('.result').innerText").split()[1:]  # the first is the verdict's sign
    assert " ".join(words).upper().startswith(first_line.upper())
    assert browser.run("document.querySelector('.worst-use').innerText").startswith(below)
    tops = browser.run(
        "['.result', '.worst-use', '.limit-use', '#causes'].map(each => document.querySelector(each))"
        ".filter(each => each).map(each => each.getBoundingClientRect().top)"
    )
    assert tops == sorted(tops) and tops[-1] < 700
    limit, marks = browser.run(
        "[document.querySelector('.limit-use .limit').getBoundingClientRect().left, "
        "[...document.querySelectorAll('.limit-use svg.marks :is(.fails, .neither)')]"
        ".map(each => each.getBoundingClientRect().left)]"
    )
    assert ("no figure" in browser.run("document.querySelector('.limit-use').textContent")) is has_own_lane
    if has_own_lane:
        assert marks and min(marks) > limit
    assert browser.messages == []


@needs_a_browser
@pytest.mark.parametrize("name", ["io_error", "late", "missing"])
def test_a_cause_has_its_consequence_before_the_next_step(browser, tmp_path, name):
    browser.open(page_of(tmp_path, name))
    first = browser.run("document.querySelector('.cause').innerText")
    steps = ["Next:"] if "Next:" in first else []
    consequence = {"io_error": "A queue manager cannot commit"}.get(name, "Nothing is known about this storage")
    places = [first.index(each) for each in (consequence, *steps)]
    assert places == sorted(places) and steps
