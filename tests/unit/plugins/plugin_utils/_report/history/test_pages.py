# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pages of comparison, drift and status in a browser: they fit any window, can be read in either scheme, sort and
filter, and print nothing on the console."""

from __future__ import annotations

import json

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history.comparison import render_comparison
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history.drift import render_drift
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history.status_html import render_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.table_reader import printable
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.browser import (
    needs_a_browser,
    pale_texts,
    touching_labels,
    width_of,
)
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.history import (
    test_comparison,
    test_drift,
    test_status,
)
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.pages import (
    HOSTILE,
    empty_columns,
    parsed,
)

NAMES = [*map(printable, HOSTILE), "x" * 300, "db07.example.com"]
OUTCOMES = ("worse", "inconclusive", "non-inferior")
STATES = ("drifting", "conspicuous", "changed", "steady", "short")


def compared():
    """Return the page of a comparison with each outcome, hostile names and a host that could not be compared."""
    hosts = [test_comparison.host(name, OUTCOMES[number % 3], change=number / 50) for number, name in enumerate(NAMES)]
    hosts.append(test_comparison.unknown("alone", "one run before and one after cannot tell"))
    parts = [test_comparison.part(name, outcome=OUTCOMES[number % 3]) for number, name in enumerate(NAMES)]
    changes = [{**test_comparison.KERNEL, "before": name, "hosts": 2} for name in NAMES]
    data = test_comparison.comparison(hosts, parts, changes, [test_comparison.left_out(name, name) for name in NAMES])
    return "".join(render_comparison(data, "3 of 21 volumes became worse by at least 10 %."))


def drifted():
    """Return a drift page that has volumes in every state, with hostile names."""
    events = [test_drift.event(), test_drift.event(place=5, preliminary=True)]
    volumes = [
        test_drift.volume(name, STATES[number % 5], events, **{"class": name}) for number, name in enumerate(NAMES)
    ]
    return "".join(render_drift(test_drift.drift(*volumes, classes=[test_drift.part(name, [name]) for name in NAMES])))


def alone():
    """Return the page of a comparison of two volumes that decides nothing: there is no interval, no class and no
    change."""
    hosts = [{**test_comparison.unknown(name, "one run cannot tell"), "change": None, "changes": []} for name in "ab"]
    part = test_comparison.part("PM1743", hold_against_class=False, hosts=2)
    return "".join(render_comparison(test_comparison.comparison(hosts, [part]), "2 volumes cannot be judged."))


def unmoved():
    """Return the drift page of volumes without a limit and without an event."""
    rows = [test_drift.row([1e5], usual=None, limit=None)]
    volumes = [
        test_drift.volume(name, "short", series=[test_drift.series(rows)], certificates=test_drift.certificates(1))
        for name in "ab"
    ]
    return "".join(render_drift(test_drift.drift(*volumes)))


def reported():
    """Return the status page of a fleet in every state, with hostile names."""
    return "".join(render_status(test_status.status_of(NAMES, unknown=["x" * 300, "never"]), ["ansible-core 2.18.1"]))


@pytest.mark.parametrize("make", [compared, drifted, alone, unmoved, reported])
def test_no_column_is_empty(make, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(make(), encoding="utf-8")
    assert empty_columns(path) == []


@pytest.fixture(scope="module", params=[compared, drifted, reported], ids=["comparison", "drift", "status"])
def page(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(request.param(), encoding="utf-8")
    return path


@needs_a_browser
@pytest.mark.parametrize("width", [360, 1280, 2560])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_wider_than_the_window(browser, page, width, dark):
    browser.messages.clear()
    assert (width_of(browser, page, width, dark) <= width, browser.messages) == (True, [])


@needs_a_browser
@pytest.mark.parametrize("width", [360, 1280, 2560])
def test_the_first_screen_of_the_status_answers_before_any_text_explains(browser, tmp_path, width):
    path = tmp_path / "status.html"
    path.write_text("".join(render_status(test_status.fleet(200))), encoding="utf-8")
    browser.open(path, width=width, height=740)
    parts = [".result", ".result + p", ".expiry svg.marks", ".lanes", ".counts", "#causes", "#next", "#volumes"]
    tops = browser.run(f"{json.dumps(parts)}.map(part => document.querySelector(part).getBoundingClientRect().top)")
    assert tops == sorted(tops) and tops[4] < 740
    assert touching_labels(browser) == []


def a_comparison():
    """Return the page of a comparison with a volume that became much worse, one that is undecided and one that is as
    before."""
    hosts = [
        test_comparison.host(f"db{number}.prod.example.com", outcome, change=change)
        for number, (outcome, change) in enumerate(zip(OUTCOMES, (3.2, 0.09, 0.01), strict=True))
    ]
    return "".join(render_comparison(test_comparison.comparison(hosts), "1 of 3 volumes became worse."))


def a_drift():
    """Return the drift page of a volume that drifts, and one of each other state."""
    volumes = [
        test_drift.volume(f"db{number}.prod.example.com", state, [test_drift.event()] if not number else [])
        for number, state in enumerate(STATES)
    ]
    return "".join(render_drift(test_drift.drift(*volumes)))


TALK_TO = "(Talk to: storage, operating system.)"


@needs_a_browser
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize(
    ("make", "verdict", "parts", "told"),
    [
        (
            a_comparison,
            "\u2717 worse",
            [".result", ".counts", "#causes", "#hosts", "#changes"],
            [
                "1 volume (db0.prod.example.com) became slower, the most: db0.prod.example.com 4.2 \u00d7",
                "Next:",
                TALK_TO,
            ],
        ),
        (
            a_drift,
            "\u2717 drift",
            [".result", ".worst svg.drift", ".counts", "#causes", "#volumes", "#charts"],
            [
                "db0.prod.example.com: 1 of 2 rows beyond the limit",
                "Next: Undo what changed",
                "kernel 6.1 \u2192 6.12",
                TALK_TO,
            ],
        ),
    ],
)
def test_the_first_screen_says_what_is_bad_and_what_to_do(browser, tmp_path, make, verdict, parts, told, width):
    path = tmp_path / "page.html"
    path.write_text(make(), encoding="utf-8")
    browser.open(path, width=width, height=800)
    tops = browser.run(f"{json.dumps(parts)}.map(part => document.querySelector(part).getBoundingClientRect().top)")
    assert tops == sorted(tops) and tops[parts.index("#causes")] < 800
    assert browser.run("document.querySelector('.result strong').textContent") == verdict
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.querySelector('.result').scrollWidth <= document.querySelector('.result').clientWidth")
    text = browser.run("document.querySelector('.causes').textContent").replace("\n", " ")
    assert [words for words in told if words not in text] == []
    # The consequence precedes the next step.
    assert text.index("Whatever waits for these writes") < text.index("Next:")
    names = browser.run(
        "[...document.querySelectorAll('#volumes ~ .scroll th.name, #hosts ~ .scroll th.name')]"
        ".map(cell => cell.textContent)"
    )
    assert not [name for name in names if "example" in name]
    assert "all in prod.example.com" in browser.run("document.querySelector('#verdict').textContent")


@needs_a_browser
def test_factors_and_percentages_are_sorted_together(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(a_comparison(), encoding="utf-8")
    browser.open(path)
    changes = browser.run("""(() => {
      [...document.querySelectorAll('th button')].find(button => button.textContent.startsWith('Change')).click();
      return [...document.querySelectorAll('tr[data-verdict]')].map(row => row.cells[1].firstChild.textContent.trim());
    })()""")
    assert sorted([changes, changes[::-1]])[-1] == ["\u2717 4.2 \u00d7", "? +9.0 %", "\u2713 +1.0 %"]


@needs_a_browser
def test_the_status_can_be_filtered_by_profile_and_its_address_remembers_that(browser, tmp_path):
    path = tmp_path / "status.html"
    path.write_text("".join(render_status(test_status.fleet(80))), encoding="utf-8")
    browser.open(path)
    browser.run(
        "(select => { select.value = '1'; select.dispatchEvent(new Event('change')); })"
        "(document.querySelector('select[data-filter=profile]'))"
    )
    shown = "[...document.querySelectorAll('.matrix tbody tr')].filter(row => !row.hidden).map(row => row.innerText)"
    assert [row.count("mq-log-gold") for row in browser.run(shown)] == [1] * 6
    fragment = browser.run("location.hash")
    browser.open(path, fragment=fragment)
    assert (fragment, len(browser.run(shown))) == ("#?profile=1", 6)


@needs_a_browser
@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read_in_either_scheme(browser, page, dark):
    assert pale_texts(browser, page, dark) == {}


@needs_a_browser
def test_each_sheet_of_paper_has_its_number_and_what_can_be_opened_is_printed(browser, page):
    browser.open(page)
    assert '@bottom-right { content: "Page " counter(page) " of " counter(pages); }' in browser.run(
        "[...document.styleSheets[0].cssRules].map(rule => rule.cssText).join()"
    )
    browser.call("Emulation.setEmulatedMedia", media="print")
    browser.run("document.querySelectorAll('details').forEach(part => { part.open = false; })")
    assert browser.run(
        "[...document.querySelectorAll('details:not(.host) > :not(summary)')].every(part => part.checkVisibility())"
    )
    told = browser.run("[...document.querySelectorAll('.print-only')].map(part => part.innerText).join()")
    assert browser.run("document.querySelectorAll('details.host').length") == 0 or "drift.json" in told
    browser.call("Emulation.setEmulatedMedia", media="")


@needs_a_browser
def test_the_table_is_sorted_and_filtered_and_keeps_its_pictures(browser, page):
    browser.open(page)
    rows = "[...document.querySelectorAll('.matrix tbody tr')].filter(row => !row.hidden).length"
    pictures = "document.querySelectorAll('.matrix svg').length"
    before, drawn = browser.run(rows), browser.run(pictures)
    browser.run("document.querySelectorAll('.matrix thead button')[2].click()")
    browser.run("document.querySelector('#filter input[type=checkbox]').click()")
    browser.run("new Promise(done => setTimeout(done, 300))")
    assert (0 < browser.run(rows) < before, browser.run(pictures), drawn in (0, len(NAMES) + 2)) == (True, drawn, True)
    shown = "[...document.querySelectorAll('section > details.host')].filter(host => !host.hidden).length"
    details = browser.run("document.querySelectorAll('section > details.host').length")
    assert not details or browser.run(shown) == browser.run(rows)


def test_the_page_is_valid_and_each_part_of_it_can_be_named_once(page):
    tree = parsed(page)
    ids = [each.get("id") for each in tree.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    assert {name for each in tree.iter() for name in (each.get("aria-labelledby") or "").split()} <= set(ids)
    assert {each.get("href")[1:] for each in tree.iter("a") if each.get("href").startswith("#")} <= set(ids)
    assert all(header.get("scope") in ("col", "row") for header in tree.iter("th"))
