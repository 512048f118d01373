# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Looking closer at a page in a browser: values of marks, the heat map, pictures, the ticket text and raw files."""

from __future__ import annotations

import dataclasses
import os
import re
from urllib.parse import unquote

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.page.parts import anchor_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.template import read_resource
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.browser import needs_a_browser
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.pages import HOSTILE

TIP = "document.querySelector('.tip')"
SECONDS = "document.querySelector('figure.seconds svg')"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The run directory of a rendered run of one host: 20 seconds of 1,000 writes, of which 7 in second 5 took longer
    than 10 ms, and 40 longer than 0.2 ms in each."""
    known = {"operations": 20_000, "latency_sum_ns": 3_000_000_000, "first_pass_latency_mean_ns": 400_000}
    known.update(seconds=20, latency_ns=150_000, later_passes_latency_mean_ns=140_000)
    rows = [
        each
        for step, size in ((1, 4096), (2, 65536))
        for each in fabricate.step_rows(step, size, 2, **known, bytes=size * 20_000)
    ]
    row = rows[2]
    over = [
        each
        for bound in fabricate.OVER_NS[:7]
        for each in fabricate.over_rows(row, bound, 900 if bound == 100_000 else 40, range(1, 21))
        if bound <= 200_000 or each["second"] == 5
    ]
    over = [{**each, "operations": 7} if each["over_ns"] > 200_000 else each for each in over]
    files = {
        **fabricate.tables(rows, over=over),
        "stalls.csv": fabricate.stalls_table(rows, [(4_500_000_000, 3 * 10**7)]),
        "histogram.csv": fabricate.histogram_table(rows, {100_000: 4000, 200_000: 900, 5_000_000: 10}),
    }
    directory = fabricate.run_directory(tmp_path_factory.mktemp("closer"), {"Db <07>": files})
    render(directory)
    return directory


@pytest.fixture
def page(browser, made):
    """The browser with the page; it must not report any problem."""
    browser.messages.clear()
    browser.open(f"{made.path}/index.html")
    yield browser
    assert browser.messages == []


def hover(page, x, y):
    """Move the mouse to a place in the coordinates of the first chart of seconds."""
    page.run(f"{SECONDS}.scrollIntoView({{block: 'center'}})")
    page.run("new Promise(done => setTimeout(done, 100))")
    at = page.run(
        f"(() => {{ const at = new DOMPoint({x}, {y}).matrixTransform({SECONDS}.getScreenCTM()); "
        "return [at.x, at.y]; })()"
    )
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=at[0], y=at[1])
    return page.run(f"{TIP}.style.display === 'block' ? {TIP}.textContent : ''")


@needs_a_browser
def test_a_column_of_the_heat_map_shows_its_writes_on_hover(page):
    width = 334 / 20
    assert hover(page, 60 + 4.5 * width, 120) == (
        "Second 5: p99 328 us, max 10 ms; writes: 100 up to 100 us, 860 up to 200 us, 33 up to 500 us, 7 above 10 ms"
    )
    assert "100 up to 100 us, 860 up to 200 us, 40 " in hover(page, 60 + 9.5 * width, 120)


@needs_a_browser
def test_a_stall_shows_its_time_and_latency_on_hover(page):
    x, y = page.run(
        f"{SECONDS}.querySelector('.stall').getAttribute('d').match(/M(\\S+) ([\\d.]+)/).slice(1).map(Number)"
    )
    assert hover(page, x, y - 4) == "stall, at 4.5 s: 30 ms"


@needs_a_browser
def test_the_keyboard_reaches_each_mark_of_each_chart(page):
    reached = page.run(
        """[...document.querySelectorAll('[data-v], [data-c]')].map(part => {
             const svg = part.closest('svg'), focused = svg.closest('summary') || svg;
             focused.focus();
             return document.activeElement === focused;
           })"""
    )
    assert len(reached) > 5 and all(reached)
    page.run(f"{SECONDS}.closest('summary').focus()")
    shown = []
    for _ in range(3):
        page.run(
            "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))"
        )
        shown.append(page.run(f"{TIP}.textContent"))
    assert [text.split(":")[0] for text in shown] == ["Second 1", "Second 2", "Second 3"]
    page.run("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'End', bubbles: true}))")
    assert page.run(f"{TIP}.textContent").startswith("Second 20: ") and page.run(f"{TIP}.role") == "status"
    page.run("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))")
    assert page.run(f"{TIP}.style.display") == "none"


@needs_a_browser
def test_each_point_of_each_path_has_its_own_value(page):
    odd = page.run(
        """[...document.querySelectorAll('[data-v]')].filter(path =>
             path.getAttribute('d').match(/[ML]/g).length !== path.dataset.v.split('|').length).length"""
    )
    assert odd == 0
    assert page.run("document.querySelectorAll('[data-v]').length") > 3


@needs_a_browser
def test_a_saved_chart_says_where_it_comes_from_and_needs_no_style(page, made):
    saved = page.run(
        """new Promise(done => {
             URL.createObjectURL = blob => { blob.text().then(done); return '#'; };
             HTMLAnchorElement.prototype.click = function () { window.saved = this.download; };
             document.querySelector('figure.seconds .save').click();
           })"""
    )
    assert saved.startswith("<svg ") and "class=" not in saved and "data-c" not in saved
    assert f"Db &lt;07&gt; \u00b7 run {made.run['run_id']} \u00b7 2026-11-21T10:49:35Z" in saved
    assert re.search(r'stroke="rgb\(\d+, \d+, \d+\)"', saved) and "currentColor" not in saved and "var(" not in saved
    assert re.fullmatch(r"Db-07--run-[A-Za-z0-9-]+-seconds\.svg", page.run("window.saved"))


@needs_a_browser
def test_the_ticket_text_is_copied_as_report_md_has_it(page, made):
    with open(f"{made.path}/report.md", encoding="utf-8") as file:
        text = file.read()
    page.run(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: text => { window.copied = text; "
        "return Promise.resolve(); }}})"
    )
    page.run("document.querySelector('button.copy').click()")
    page.run("new Promise(done => setTimeout(done, 50))")
    assert page.run("window.copied") == text
    assert page.run("document.querySelector('button.copy').textContent") == "Copied"
    assert not page.run("document.getElementById('ticket').checkVisibility()")


@needs_a_browser
def test_raw_files_are_linked_by_the_names_that_they_have(page, made):
    found = page.run(
        "[...document.querySelectorAll('.raw a')].map(link => [link.textContent, link.getAttribute('href')])"
    )
    assert {"record.json", "results.csv", "intervals.csv.gz"} <= {name for name, address in found}
    assert all(os.path.isfile(os.path.join(made.path, unquote(address))) for name, address in found)


@needs_a_browser
def test_buttons_and_values_are_not_printed(page):
    hover(page, 100, 120)
    page.call("Emulation.setEmulatedMedia", media="print")
    visible = (
        "[...document.querySelectorAll('.save, .copy, .tip, .ring')].filter(part => part.checkVisibility()).length"
    )
    assert page.run(visible) == 0
    page.call("Emulation.setEmulatedMedia", media="")


def test_the_script_of_a_page_is_small():
    assert sum(len(read_resource(f"page/{name}.js")) for name in ("page", "closer")) <= 30_000


def test_the_previous_run_is_shown_beside_this_one(tmp_path):
    directory = fabricate.run_directory(tmp_path, {"db07": fabricate.tables(over=[])}, gate=False)
    row = {"block_size_bytes": 4096, "load_point": 1, "stream": "log", "operation": "write"}
    figures = {"latency_p50_ns": 98_000, "latency_p99_ns": 345_000, "latency_max_ns": None}
    hostile = {**row, "block_size_bytes": ["<b>"], "latency_p50_ns": "<script>"}
    data = {"run_id": "run-<1>", "judged_at": "2026-10-01T00:00:00Z", "verdict": "pass", "rows": [{**row, **figures}]}
    directory.previous.write(directory.records.folders()[0], {**data, "rows": [*data["rows"], hostile, 7]})
    judge_run(directory, GATE)
    with open(render(directory)["index.html"], encoding="utf-8") as file:
        page = file.read()
    assert "Run run-&lt;1&gt; of 2026-10-01T00:00:00Z (pass)" in page
    cells = "<td>98 us</td><td>202 us</td><td>345 us</td><td>404 us</td><td>\u2013</td><td>4.04 ms</td>"
    assert f'<th class="name" scope="row">4 KiB</th>{cells}' in page
    assert page.count(" before</th>") == 3


@pytest.mark.parametrize(
    ("host", "volume", "anchor"),
    [
        ("db01.example.com", "log", "host-db01.example.com"),
        ("db01", "data", "host-db01/data"),
        ("fleet", "log", "host-fleet"),
    ],
)
def test_a_section_is_named_after_its_host(host, volume, anchor):
    assert anchor_of(host, volume) == anchor


def test_names_of_sections_are_safe_and_unique():
    names = [anchor_of(host, volume) for host in (*HOSTILE, "A", "a", "a/log", "a/data") for volume in ("log", "data")]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"host-[a-z0-9_.~-]+(/data)?", name) for name in names)


def test_twenty_hosts_with_long_runs_stay_below_a_megabyte(tmp_path):
    rows = fabricate.sweep_rows()
    over = [
        each
        for row in rows
        if row["worker"] == "all"
        for place, bound in enumerate(fabricate.OVER_NS[:8])
        for each in fabricate.over_rows(row, bound, 10 ** (8 - place), range(1 + place, 601, 1 + 3 * place))
    ]
    files = {
        **fabricate.tables(rows, over=over),
        "histogram.csv": fabricate.histogram_table(rows, {int(50_000 * 1.05**number): 1000 for number in range(150)}),
        "stalls.csv": fabricate.stalls_table(rows, [(10**9, 10**9)] * 20),
    }
    directory = fabricate.run_directory(
        tmp_path, {"db00": files}, gate=False, expected=[f"db{n:02d}" for n in range(20)]
    )
    record = directory.records.read(directory.records.folders()[0])
    for number in range(1, 20):
        directory.records.write(dataclasses.replace(record, host=f"db{number:02d}"), files)
    judge_run(directory, GATE)
    with open(render(directory)["index.html"], encoding="utf-8") as file:
        page = file.read()
    assert len(page.encode()) < 1_000_000
    assert page.count('<figure class="seconds">') == 20 * 7
