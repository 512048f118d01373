# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The first screen of locks, power cuts and observations: the verdict, who is to blame, the picture, the counts of
hosts, and then the reasons."""

from __future__ import annotations

import json

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.browser import needs_a_browser
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.lock_pairs import changed, pair, run_of

HEIGHT = 800
HEADED, WHY = [".result strong", ".result > span"], ["#causes", "#fleet"]


def locks_pass(base):
    return run_of(base, [pair("db01", "db02"), pair("db03", "db04")])


def both_held(base):
    return run_of(base, [pair("db01", "db02"), changed(pair("db03", "db04"), "second_refused", "broken", "granted")])


def cuts_pass(base):
    return runs.kept_cuts(base, 60, hosts=("db01", "db02"))


def observed_pass(base):
    return runs.observation(base, own_profile=False, latency_ns=230_000)


KINDS = {
    "locks": (
        runs.locks,
        "db03 and db04: 88 late writes of db03 landed after db04 had taken over",
        [*HEADED, ".own svg", ".counts", *WHY],
    ),
    "both held": (
        both_held,
        "db03 and db04: db04 got the lock while db03 held it",
        [*HEADED, ".own svg", ".counts", *WHY],
    ),
    "locks pass": (locks_pass, "", [*HEADED, ".own svg", ".counts", "#fleet"]),
    "cuts": (
        runs.power_cuts,
        "db02: cut 2: 63 acknowledged writes at the end are gone (258,048 bytes, 20.2 ms of writing)",
        [*HEADED, ".own svg.cuts .lost", ".counts", *WHY],
    ),
    "cuts pass": (cuts_pass, "", [*HEADED, ".own svg.cuts .kept", ".counts", "#fleet"]),
    "observation": (
        runs.observation,
        "db01 is 12 times slower than certified, and 1 more is slower",
        [*HEADED, ".counts", *WHY],
    ),
    "observation without a verdict": (observed_pass, None, [*HEADED, ".counts", "#fleet"]),
}


@pytest.fixture(scope="module", params=KINDS)
def case(request, tmp_path_factory):
    make, finding, parts = KINDS[request.param]
    directory = make(tmp_path_factory.mktemp("run"))
    render(directory)
    return directory, finding, parts


@needs_a_browser
@pytest.mark.parametrize("width", [360, 1280, 2560])
def test_the_first_screen_names_who_is_to_blame_and_shows_it(browser, case, width):
    directory, finding, parts = case
    browser.open(f"{directory.path}/index.html", width=width, height=HEIGHT)
    tops = browser.run(f"{json.dumps(parts)}.map(part => document.querySelector(part).getBoundingClientRect().top)")
    assert tops == sorted(tops) and tops[parts.index(".counts")] < HEIGHT
    told = browser.run("(document.querySelector('.finding') || {}).textContent || ''")
    assert finding is None or told == finding
    assert browser.run("document.documentElement.scrollWidth") <= width


@needs_a_browser
def test_the_statement_and_the_badges_count_the_same_hosts(browser, case):
    browser.open(f"{case[0].path}/index.html")
    badges = browser.run("[...document.querySelectorAll('.counts li')].map(item => item.textContent.slice(2))")
    statement = browser.run("document.querySelector('.result > span').textContent")
    assert badges and [count for count in badges if count.split(" (")[0] not in statement] == []


@needs_a_browser
def test_a_consequence_precedes_the_next_step(browser, case):
    browser.open(f"{case[0].path}/index.html")
    firsts = browser.run(
        "[...document.querySelectorAll('.cause')].map(cause => [...cause.querySelectorAll(':scope > p')]"
        ".map(part => part.textContent.startsWith('Next:')))"
    )
    assert all(each in ([False, True], [True], [False]) for each in firsts)
