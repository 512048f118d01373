# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A comparison on the screen and as a page: its size is limited for any fleet, and host names are harmless in it."""

from __future__ import annotations

import math
import re

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.changes import interval, percent, row_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.rows import (
    WIDTH,
    ChangeAxis,
    change_picture,
    change_scale,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history.comparison import (
    comparison_text,
    render_comparison,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.table_reader import printable
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.pages import HARMLESS_TAGS, HOSTILE, Page

ROW = {"block_size_bytes": 65536, "load_point": 1, "stream": "log", "operation": "write"}
KERNEL = {"name": "kernel", "before": "6.1", "after": "6.12"}


def host(name, outcome="non-inferior", **fields):
    known = {
        "runs_before": 3,
        "runs_after": 3,
        "earlier_runs": 0,
        "change": 0.31,
        "lower_bound": 0.25,
        "upper_bound": 0.38,
        "beyond_class": 0.3,
    }
    more = {
        "worst_row": {**ROW, "change": 0.4},
        "p_value": 0.001,
        "smallest_named": 0.08,
        "runs_needed": None,
        "after_needed": None,
        "reason": "",
        "changes": [KERNEL],
        "class": 0,
    }
    return {"host": name, "outcome": outcome, **known, **more, **fields}


def unknown(name, reason):
    """Return a host for which the variation between runs is unknown."""
    fields = ("lower_bound", "upper_bound", "beyond_class", "worst_row", "p_value", "smallest_named")
    return host(name, "inconclusive", **dict.fromkeys(fields), reason=reason)


def part(name, **fields):
    known = {
        "outcome": "non-inferior",
        "hosts": 10,
        "worse_hosts": 0,
        "runs_before": 3,
        "runs_after": 3,
        "hold_against_class": True,
        "correlation": 0.3,
        "assumption": None,
        "shift": [],
    }
    return {
        "class": name,
        **known,
        "moved_together": False,
        "worse_together": False,
        "change": 0.0,
        "lower_bound": -0.01,
        "upper_bound": 0.01,
        **fields,
    }


def comparison(hosts, classes=(), changes=(), left_out=(), outcome="worse"):
    runs = [
        {"run_id": f"run-{number}", "judged_at": f"2026-01-{number:02}T10:00:00Z", "volumes": 10}
        for number in range(1, 8)
    ]
    return {
        "schema": 1,
        "created_at": "2026-02-01T00:00:00Z",
        "figure": "latency_mean_ns",
        "margin": 0.1,
        "confidence": 0.95,
        "outcome": outcome,
        "before": {"selected": ["2026-01-01"], "runs": runs},
        "after": {"selected": ["2026-02-01"], "runs": []},
        "classes": list(classes),
        "hosts": list(hosts),
        "changes": list(changes),
        "left_out": list(left_out),
    }


def left_out(name, reason):
    return {
        "host": name,
        "side": "after",
        "certificate": "ab" * 32,
        "run_id": "run-1",
        "judged_at": "2026-01-01T00:00:00Z",
        "reason": reason,
    }


def page_of(data):
    return Page("".join(render_comparison(data, "the statement")))


def test_runs_of_one_day_are_told_apart_by_their_times():
    data = comparison([host("db07")])
    for side, hour in (("before", 10), ("after", 14)):
        data[side]["runs"] = [{"run_id": side, "judged_at": f"2026-01-01T{hour}:00:00Z", "volumes": 1}]
    text = comparison_text(data, "", "p")
    assert "1 run, 2026-01-01 10:00: before" in text and "1 run, 2026-01-01 14:00: after" in text


def test_the_screen_names_the_worst_and_what_else_changed():
    changes = [{**KERNEL, "hosts": 9}]
    text = comparison_text(
        comparison([host("db07", "worse")], [part("PM1743")], changes, [left_out("db09", "it was disturbed")]),
        "1 of 1.",
        "x/comparison.html",
    )
    assert text.splitlines() == [
        "WORSE: 1 of 1.",
        "  figure        latency_mean, margin 10 %, confidence 95 %",
        "  before        7 runs, 2026-01-01 to 2026-01-07: run-1, run-2, run-3, ...",
        "  after         none of these hosts (2026-02-01)",
        (
            "  worse         db07: +31 % (+25 % to +38 %), +30 % beyond its class, worst at 64 "
            "KiB (+40 %); changed: kernel"
        ),
        "                6.1 -> 6.12",
        "  class         PM1743 (10 volumes): they did not move together, +0.0 % (-1.0 % to +1.0 %)",
        "  changed       kernel 6.1 -> 6.12 on 9 volumes",
        "  left out      1 certificate: it was disturbed",
        "  page          x/comparison.html",
    ]


def test_inconclusive_hosts_say_what_would_decide():
    hosts = [
        host("a", "inconclusive", runs_needed=5, after_needed=9),
        host("b", "inconclusive"),
        unknown("c", "one run cannot tell"),
        unknown("d", "one run cannot tell"),
    ]
    text = comparison_text(comparison(hosts), "", "")
    assert "  inconclusive  one run cannot tell: c +31 %, d +31 %" in text
    assert "  inconclusive  5 runs on either side, or 9 after alone, should decide it: a +31 %" in text
    assert "  inconclusive  its change is too close to the margin: more runs will not decide it: b +31 %" in text


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"hold_against_class": False},
            "fewer than 8 volumes were in every run, so each one is compared with its own runs",
        ),
        ({"moved_together": True}, "all moved together, +0.0 % (-1.0 % to +1.0 %)"),
        (
            {"worse_hosts": 2, "outcome": "worse"},
            "2 worse; the others did not move together, +0.0 % (-1.0 % to +1.0 %)",
        ),
        ({"worse_hosts": 2, "lower_bound": None}, "2 worse; too few other volumes for a result"),
        ({"outcome": "inconclusive"}, "they did not move together, +0.0 % (-1.0 % to +1.0 %), inconclusive"),
        (
            {"worse_together": True},
            (
                "all became worse together, +0.0 % (-1.0 % to +1.0 %). Only runs in turn (before, after, "
                "before, ...) tell the change"
            ),
        ),
    ],
)
def test_what_is_said_about_a_class(fields, sentence):
    data = comparison([], [part("c", **fields)])
    assert sentence in " ".join(comparison_text(data, "", "").split())
    assert sentence in " ".join(page_of(data).texts)


def test_the_screen_is_bounded():
    """The text has at most about 40 lines, however many hosts, classes, changes and reasons there are, and however long
    their names."""
    name = "a-rather-long-name-of-a-host-{}.department.location.example.com"
    worse = [host(name.format(number), "worse", changes=[KERNEL] * 9) for number in range(500)]
    undecided = [unknown(name.format(number), f"{number} " + "very long reason " * 30) for number in range(500)]
    parts = [part(f"{number} " + "long class " * 20) for number in range(50)]
    changes = [{**KERNEL, "before": "long " * 60, "after": number, "hosts": 5} for number in range(50)]
    text = comparison_text(
        comparison(
            worse + undecided, parts, changes, [left_out("h", f"{number} " + "long " * 50) for number in range(50)]
        ),
        "s",
        "p",
    )
    assert len(text.splitlines()) <= 46
    assert max(map(len, text.splitlines())) <= 110
    assert "and 495 more became worse" in text and "and 47 more classes" in text


def test_the_page_has_every_host_with_its_interval():
    data = comparison(
        [host("db07", "worse"), host("db08"), unknown("db09", "too few runs")],
        [part("PM1743")],
        [{**KERNEL, "hosts": 2}],
    )
    page = page_of(data)
    rows = [row for row in page.rows if len(row) > 3]
    assert [row[:4] for row in rows if row[:1] in (["db07"], ["db08"], ["db09"])] == [
        ["db07", "✗ +31 %+25 % to +38 %", "", "✗ worse"],
        ["db08", "✓ +31 %+25 % to +38 %", "", "✓ non-inferior"],
        ["db09", "? +31 %", "", "? inconclusive"],
    ]
    assert page.tags.count("svg") == 2 + 1 + 3 + 3
    assert ["kernel", "6.1", "6.12", "2"] in page.rows
    assert "the statement" in page.texts


def test_the_page_begins_with_the_worst_intervals():
    hosts = [unknown("db99", "too few runs"), *(host(f"db{number:02}", "worse") for number in range(20))]
    page = page_of(comparison(hosts))
    pictured = page.rows[1 : next(n for n, row in enumerate(page.rows) if len(row) > 3)]
    assert pictured[:12] == [[f"db{number:02}", "", "\u2717 +31 %"] for number in range(12)]
    assert "db12" not in [row[0] for row in pictured]
    assert "Farther right is slower." not in "".join(page_of(comparison(hosts[:1])).texts)


def test_hostile_text_is_harmless():
    names = [printable(name) for name in HOSTILE]
    hosts = [host(name, "worse", changes=[{"name": "kernel", "before": name, "after": name}]) for name in names] + [
        unknown(name, name) for name in names
    ]
    changes = [{"name": "kernel", "before": name, "after": name, "hosts": 1} for name in names]
    data = comparison(hosts, [part(name) for name in names], changes, [left_out(name, name) for name in names])
    page = page_of(data)
    assert set(page.tags) <= HARMLESS_TAGS | {"circle"}
    assert page.tags.count("script") == page.tags.count("style") == 1
    assert not [
        name
        for dummy, name, dummy in page.attributes
        if name.startswith("on") or name in ("src", "style", "srcdoc", "action", "href")
    ]
    for name in names:
        assert any(name in text for text in page.texts)
    assert all(line.isprintable() for line in comparison_text(data, "s", "p").splitlines())


def test_the_axis_is_logarithmic_and_has_the_margin():
    axis = ChangeAxis.around([-0.05, 1.0, None], 0.1)
    assert axis.place(0.0) < axis.place(0.1) < axis.place(1.0) < WIDTH
    assert axis.place(1.0) - axis.place(0.0) == pytest.approx(
        math.log(2) / math.log(1.1) * (axis.place(0.1) - axis.place(0.0))
    )
    assert axis.place(-0.1) > 0
    assert "2×" in change_scale(axis)


def test_what_lies_beyond_the_axis_is_an_arrow_at_its_edge():
    axis = ChangeAxis.around([50.0, -0.999999], 0.1)
    assert (axis.place(50.0), axis.place(-0.999999)) == (axis.place(4.0), axis.place(-0.75))
    assert len(re.findall("M[^ ]+ 7L", change_picture(axis, 50.0, 40.0, 60.0, "worse"))) == 2
    assert not re.findall("M[^ ]+ 7L", change_picture(axis, 0.1, 0.0, 0.2, "worse"))
    assert change_picture(axis, None, None, None, "inconclusive") == ""
    assert change_picture(axis, 0.1, None, None, "inconclusive").count("interval") == 1  # only the picture's CSS class


def test_changes_are_written_for_people():
    assert [percent(share) for share in (0.314, -0.024, 0.0, 0.99, 1.0, 12.5, None)] == [
        "+31 %",
        "-2.4 %",
        "+0.0 %",
        "+99 %",
        "2 ×",
        "14 ×",
        "–",
    ]
    assert (interval(None, 0.1), interval(-0.01, 0.1)) == ("–", "-1.0 % to +10 %")
    assert row_text({**ROW, "load_point": 2, "operation": "read"}) == "64 KiB, load point 2, log read"
