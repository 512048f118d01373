# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page in a browser: it prints nothing on the console, sorts, filters, follows its anchors and the keyboard, can
be printed, and is accessible."""

from __future__ import annotations

import itertools
import json
import os
import re

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.template import read_resource
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.browser import (
    needs_a_browser,
    pale_texts,
    touching_labels,
    width_of,
)
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.pages import HOSTILE, LONG, parsed

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """The path of the page of a fleet: hostile names, three verdicts, two classes and two volumes."""
    slow = fabricate.tables(fabricate.sweep_rows((4096, 1048576), latency_ns=15_000_000), over=())
    fast = [
        fabricate.tables(fabricate.sweep_rows((4096, 1048576), latency_ns=100_000 + 7_000 * number), over=())
        for number in range(12)
    ]
    directory = RunDirectory.create(str(tmp_path_factory.mktemp("fleet")), fabricate.run_data([*HOSTILE, "gone"]))
    for number, (name, volume) in enumerate(itertools.product(HOSTILE, ("log", "data"))):
        files = slow if number % 11 == 3 else fast[number % len(fast)]
        facts = {
            "device_model": ("Array A", "Array <B>")[number % 3 == 0],
            "filesystem_type": "xfs",
            "mount_point": "/m",
        }
        directory.records.write(fabricate.judged(directory.run, name, files, volume=volume, facts=facts), files)
    directory.records.write(fabricate.failed("gone"))
    judge_run(directory, GATE)
    return render(directory)["index.html"]


@pytest.fixture
def page(browser, fleet):
    """The browser with the fleet's page; it must not report any problem."""
    browser.messages.clear()
    browser.open(fleet)
    yield browser
    assert browser.messages == []


def shown(page):
    """Return the names of the matrix's rows that can be seen, in order."""
    return page.run(
        "[...document.querySelectorAll('.matrix tbody tr')].filter(row => !row.hidden).map(row "
        "=> row.cells[0].textContent)"
    )


def column(page, number):
    return page.run(f"[...document.querySelectorAll('.matrix tbody tr')].map(row => row.cells[{number}].textContent)")


def figures(texts):
    units = {"us": 1, "ms": 1000, "s": 1e6}
    found = (re.search(r"([0-9.]+) (us|ms|s)", text) for text in texts)
    return [float(match[1]) * units[match[2]] if match else None for match in found]


def sort_by(page, title):
    page.run(
        "[...document.querySelectorAll('.matrix thead button')].find(button => "
        f"button.textContent === '{title}').click()"
    )


@needs_a_browser
def test_a_figure_sorts_the_matrix_both_ways_and_what_was_not_measured_is_last(page):
    assert page.run("document.querySelectorAll('[aria-sort]').length") == 0
    for direction, sign in (("descending", -1), ("ascending", 1)):
        sort_by(page, "1 MiB")
        values = figures(column(page, 4))
        known = [value for value in values if value is not None]
        assert values == [*sorted(known, key=lambda value: sign * value), None]
        assert page.run(
            "[...document.querySelectorAll('[aria-sort]')].map(header => [header.textContent, header.ariaSort])"
        ) == [["1 MiB", direction]]


@needs_a_browser
def test_verdicts_are_sorted_by_how_bad_they_are(page):
    sort_by(page, "Verdict")
    verdicts = [text.split()[-1] for text in column(page, 1)]
    assert list(dict.fromkeys(verdicts)) == ["fail", "unreachable", "pass"]


@needs_a_browser
def test_the_keyboard_reaches_a_header_and_sorts_by_it(page):
    page.run("document.querySelector('.matrix').parentElement.focus()")
    page.press("Tab")
    assert page.run("document.activeElement.textContent") == "Host"
    page.press("Enter")
    names = shown(page)
    page.press(" ")
    assert shown(page)[:3] == names[::-1][:3]
    assert page.run("document.activeElement.parentElement.ariaSort") == "descending"


@needs_a_browser
def test_filters_narrow_the_matrix_and_the_details_alike(page):
    everything = shown(page)
    page.run("document.querySelector('#filter input[value=pass]').click()")
    assert set(shown(page)) < set(everything) and "gone" in shown(page)
    details = "[...document.querySelectorAll('details.host')].filter(host => !host.hidden).length"
    assert page.run(details) == len(shown(page))
    page.run(
        "{ const list = document.querySelector('[data-filter=volume]'); list.value = '1'; "
        "list.dispatchEvent(new Event('change')); }"
    )
    assert shown(page) and all(name.endswith("/data") for name in shown(page))
    assert (
        page.run("document.getElementById('filter-shown').textContent")
        == f"{len(shown(page))} of {len(everything)} shown"
    )


@needs_a_browser
def test_names_are_found_by_any_part_of_them(page):
    page.run(
        "document.getElementById('filter-text').value = 'ETC/x'; "
        "document.getElementById('filter-text').dispatchEvent(new Event('input'))"
    )
    page.run("new Promise(done => setTimeout(done, 300))")
    assert sorted(shown(page)) == ["../../etc/x", "../../etc/x/data"]


@needs_a_browser
def test_the_address_keeps_sorting_and_filters(page, fleet):
    sort_by(page, "4 KiB")
    page.run("document.querySelector('#filter input[value=pass]').click()")
    rows, address = shown(page), page.run("location.hash")
    assert address.startswith("#?")
    page.open(fleet, fragment=address)
    assert shown(page) == rows
    page.open(fleet, fragment="#?verdict=%&sort=99&class=7")
    assert page.run("document.querySelectorAll('[aria-sort]').length") == 0


@needs_a_browser
def test_an_anchor_opens_the_host_and_every_anchor_has_its_target(page):
    missing = (
        "[...document.querySelectorAll('a[href^=\"#\"]')].filter(link => "
        "!document.getElementById(decodeURIComponent(link.hash.slice(1)))).length"
    )
    assert page.run(missing) == 0
    anchor = page.run("document.querySelector('.matrix tbody tr:nth-child(3) a').hash.slice(1)")
    page.run("document.querySelector('.matrix tbody tr:nth-child(3) a').click()")
    page.run("new Promise(done => setTimeout(done, 100))")
    section = f"document.getElementById({json.dumps(anchor)})"
    assert page.run(f"{section}.open && {section}.getBoundingClientRect().top < innerHeight")


@needs_a_browser
@pytest.mark.parametrize("width", [360, 1280, 2560, 3840])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_wider_than_the_window(browser, fleet, width, dark):
    assert width_of(browser, fleet, width, dark) <= width


@needs_a_browser
def test_the_verdict_and_its_first_cause_are_on_the_first_screen(browser, fleet):
    browser.open(fleet, width=1280, height=800)
    assert browser.run("document.querySelector('.cause').getBoundingClientRect().bottom") < 800
    browser.open(fleet, width=360, height=740)
    assert browser.run("document.querySelector('header.verdict').getBoundingClientRect().bottom") < 740


@needs_a_browser
@pytest.mark.parametrize("width", [360, 1280, 2560])
def test_the_first_screen_answers_before_any_text_explains(browser, fleet, width):
    """The verdict comes first, then the figure that is worst, the picture of the fleet, and only then the causes."""
    browser.open(fleet, width=width, height=740)
    parts = [".result", ".worst-use", ".limit-use svg.marks", ".counts", "#causes"]
    tops = browser.run(f"{json.dumps(parts)}.map(part => document.querySelector(part).getBoundingClientRect().top)")
    assert tops == sorted(tops) and tops[2] < 400
    picture = browser.run("document.querySelector('.limit-use svg.marks').getBoundingClientRect().width")
    assert picture > 0.8 * width


@needs_a_browser
@pytest.mark.parametrize("width", [360, 1280, 2560])
def test_what_is_wider_than_the_window_says_that_it_can_be_scrolled(browser, fleet, width):
    browser.open(fleet, width=width)
    browser.run("document.querySelectorAll('details.host').forEach((part, number) => { part.open = number < 3; })")
    browser.run("new Promise(done => setTimeout(done, 100))")
    wide, hinted = browser.run(
        "[part => part.clientWidth && part.scrollWidth > part.clientWidth + 1, part => "
        "getComputedStyle(part, '::before').content.includes('scroll it sideways')].map(is => "
        "[...document.querySelectorAll('.scroll')].map((part, place) => is(part) ? place : -1).filter(n => n >= 0))"
    )
    assert wide == hinted and bool(wide) == (width == 360)
    beyond = (
        "[...document.querySelectorAll('main *')].filter(part => !part.closest('.scroll, pre') && "
        "part.getBoundingClientRect().right > innerWidth + 1).map(part => part.outerHTML.slice(0, 200))"
    )
    assert browser.run(beyond) == []


@needs_a_browser
@pytest.mark.parametrize("width", [360, 1280])
def test_labels_of_pictures_do_not_touch_each_other(browser, fleet, width):
    browser.open(fleet, width=width)
    assert touching_labels(browser) == []


@needs_a_browser
@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read_in_either_scheme(browser, fleet, dark):
    assert pale_texts(browser, fleet, dark) == {}


def test_marks_can_be_told_from_the_page_in_either_scheme_and_in_print():
    """WCAG 2 AA requires a contrast of 3 for everything that is not text. Marks also differ by place and shape."""
    blocks = re.findall(r":root \{(.*?)\}", read_resource("page/page.css"), re.DOTALL)
    schemes = [dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{3,6})\b", block)) for block in blocks if "--card" in block]
    assert len(schemes) == 3
    for colours in schemes:
        for name in ("p50", "mean", "p99", "max", "limit", "ok", "alert"):
            assert min(contrast(colours[name], colours[behind]) for behind in ("page", "card", "zebra")) >= 3, name


def contrast(one, other):
    light = sorted(map(luminance, (one, other)))
    return (light[1] + 0.05) / (light[0] + 0.05)


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    shares = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@needs_a_browser
def test_it_prints_as_a_document_with_lines_to_sign(page):
    page.call("Emulation.setEmulatedMedia", media="print")
    visible = "selector => [...document.querySelectorAll(selector)].filter(part => part.checkVisibility()).length"
    assert page.run(f"({visible})('.approval tbody tr')") == 3
    assert page.run(f"({visible})('.filter, nav, .on-screen')") == 0
    assert page.run(f"({visible})('.matrix tbody tr')") == 40
    page.call("Emulation.setEmulatedMedia", media="")
    pdf = page.printed()
    assert pdf.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 8


SHEETS = """
[...document.styleSheets].flatMap(style => [...style.cssRules]).filter(rule => rule instanceof CSSPageRule)
  .flatMap(rule => [...rule.cssRules]).map(box => [box.name, box.style.content])
"""
"""The boxes in the margins of each sheet of paper, and their content."""


@needs_a_browser
@pytest.mark.parametrize("run_id", ["20261121T104935Z-1f0c2a", 'a"; } </style><script>alert(1)</script>', "a\\5c "])
def test_each_sheet_of_paper_has_the_run_and_its_number(browser, tmp_path, run_id):
    directory = fabricate.run_directory(tmp_path, {"db07": fabricate.tables()})
    directory.run["run_id"] = run_id
    browser.messages.clear()
    browser.open(render(directory)["index.html"])
    boxes = dict(browser.run(SHEETS))
    assert boxes["bottom-left"] == '"Run {}"'.format(run_id.replace("\\", "\\\\").replace('"', '\\"'))
    assert boxes["bottom-right"] == '"Page " counter(page) " of " counter(pages)'
    assert browser.messages == [] and browser.run("document.querySelectorAll('style').length") == 1


@needs_a_browser
def test_what_can_only_be_opened_is_printed_or_named(page):
    page.run("document.querySelectorAll('details').forEach(part => { part.open = false; })")
    page.call("Emulation.setEmulatedMedia", media="print")
    assert (
        page.run(
            "[...document.querySelectorAll('details:not(.host, .host *, .figures) > :not(summary)')]"
            ".filter(part => !part.checkVisibility() && !part.querySelector(':scope > li:only-child'))"
            ".map(part => part.outerHTML)"
        )
        == []
    )
    assert "The details of a host are printed if its section is open" in page.run(
        "document.querySelector('.hosts .print-only').innerText"
    )
    page.call("Emulation.setEmulatedMedia", media="")


def test_the_page_is_valid_and_each_part_of_it_can_be_named_once(fleet):
    tree = parsed(fleet)
    ids = [each.get("id") for each in tree.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    referred = [
        name for each in tree.iter() for key in ("aria-labelledby", "for") for name in (each.get(key) or "").split()
    ]
    assert set(referred) <= set(ids)
    assert {href[1:] for each in tree.iter("a") if (href := each.get("href")).startswith("#")} <= set(ids)


def test_every_picture_and_control_has_a_text(fleet):
    tree = parsed(fleet)
    pictures = [each for each in tree.iter(f"{SVG}svg") if each.get("aria-hidden") != "true"]
    assert pictures
    assert all(
        each.get("role") == "img" and (each.get("aria-label") or each.get("aria-labelledby")) for each in pictures
    )
    labelled = {id(control) for label in tree.iter("label") for control in label.iter()}
    controls = [each for kind in ("input", "select") for each in tree.iter(kind)]
    assert all(each.get("aria-label") or id(each) in labelled for each in controls)
    assert all(header.get("scope") in ("col", "row") for header in tree.iter("th"))
    assert tree.get("lang") == "en"


def test_without_a_script_the_page_says_the_same(fleet):
    tree = parsed(fleet)
    assert next(tree.iter("form")).get("hidden") is not None
    (matrix,) = [table for table in tree.iter("table") if "matrix" in (table.get("class") or "")]
    assert len(list(matrix.iter("tr"))) == 1 + 2 * len(HOSTILE) + 1


def test_a_name_of_any_length_takes_little_room(fleet):
    with open(fleet, encoding="utf-8") as file:
        text = file.read()
    outside = text.split('<section class="hosts"')[0]
    assert LONG[:1001] not in outside
    assert os.path.getsize(fleet) < 2_000_000
