# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The drift of a fleet on the screen and as a page: its size is limited for any fleet, and host names are harmless in
it."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.drift import chart
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history import drift as shown_drift
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history.drift import drift_text, render_drift
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.table_reader import printable
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.pages import HARMLESS_TAGS, HOSTILE, Page

KERNEL = {"name": "kernel", "before": "6.1", "after": "6.12"}
SIZE = {"block_size_bytes": 65536, "load_point": 1, "stream": "log", "operation": "write"}


def row(values, conspicuous=(), **fields):
    known = {
        "judged": len(values),
        "usual": 100_000.0,
        "limit": 110_000.0,
        "gates": False,
        "newest_is_conspicuous": False,
        "change_points": [],
    }
    return {**SIZE, "values": values, "conspicuous": list(conspicuous), **known, **fields}


def certificates(count, changes=None, imported=()):
    return [
        {
            "certificate": "ab",
            "run_id": f"r{number}",
            "judged_at": f"{date(2026, 1, 1) + timedelta(number)}T10:00:00Z",
            "verdict": "pass",
            "imported": number in imported,
        }
        | {"changes": (changes or {}).get(number, [])}
        for number in range(count)
    ]


def series(rows, figure="latency_mean_ns", left_out=()):
    return {
        "figure": figure,
        "left_out": [{"place": place, "reason": reason} for place, reason in left_out],
        "rows": rows,
    }


def event(place=3, changes=(KERNEL,), preliminary=False, figure="latency_mean_ns", moved=(0.2, 0.25)):
    rows = [{**SIZE, "change": change} for change in moved]
    return {
        "figure": figure,
        "place": place,
        "judged_at": f"2026-01-{place + 1:02}T10:00:00Z",
        "rows": rows,
        "preliminary": preliminary,
        "changes": list(changes),
    }


def volume(host="db07", state="drifting", events=(), **fields):
    slow = row([100_000.0] * 4 + [120_000.0, 130_000.0], [4, 5], gates=True, newest_is_conspicuous=True)
    known = {"certificates": certificates(6, {3: [KERNEL]}), "series": [series([slow, row([100_000.0] * 6)])]}
    return {"host": host, "volume": "log", "class": "PM1743", "state": state, "events": list(events), **known, **fields}


def drift(*volumes, classes=()):
    counts = {
        state: sum(each["state"] == state for each in volumes)
        for state in ("drifting", "conspicuous", "changed", "steady", "short")
    }
    known = {"schema": 1, "created_at": "2026-02-01T00:00:00Z", "figure": "latency_mean_ns", "margin": 0.1}
    known.update(nights=[], wrong_dates=[])
    return {**known, "states": counts, "volumes": list(volumes), "classes": list(classes)}


def part(name, unlike=()):
    return {
        "class": name,
        "volumes": 12,
        "middle": 2e5,
        "lowest": 1e5,
        "highest": 4e5,
        "unlike": [{"host": host, "deviation": 1.0} for host in unlike],
    }


def page_of(data):
    return Page("".join(render_drift(data)))


def test_the_screen_says_what_drifts_and_what_changed():
    steady = volume("db08", "steady", series=[series([row([100_000.0] * 6)])])
    text = drift_text(drift(volume(events=[event()]), steady, classes=[part("PM1743", ["db07"])]), "x/drift.html")
    assert text.splitlines() == [
        "DRIFT: 1 of 2 volumes drifted beyond the control limit, two certificates in a row.",
        "  volumes       1 drifting, 1 steady; latency_mean, margin 10 %",
        "  drifting      db07: 1 of 2 rows beyond the limit, most latency_mean at 64 KiB: +30 % (limit +10 %)",
        "  changed       db07: 2026-01-04 latency_mean +20 % to +25 % at 2 rows; changed then: kernel 6.1 -> 6.12",
        "  unlike        PM1743 (12 volumes): 100 us to 400 us, median 200 us; unlike the others: db07 2 ×",
        "  page          x/drift.html",
    ]


def test_a_fleet_without_drift_says_so():
    short = volume(
        "db08", "short", series=[series([row([100_000.0], usual=None, limit=None)])], certificates=certificates(1)
    )
    steady = volume("db09", "steady", series=[series([row([100_000.0] * 6)])], certificates=certificates(6))
    text = drift_text(drift(short, steady), "p")
    assert text.startswith(
        "NO DRIFT: no volume of 2 is beyond its control limit twice in a row; 1 cannot be judged yet."
    )
    assert drift_text(drift(short), "p").startswith("UNKNOWN: 1 volume cannot be judged yet, because there are too few")
    assert '<header class="verdict v-inconclusive" id="verdict">' in "".join(render_drift(drift(short)))


def test_a_rate_is_told_as_its_reciprocal():
    slow = row([100.0] * 5 + [50.0], [5], usual=100.0, limit=90.0, newest_is_conspicuous=True)
    text = drift_text(drift(volume(state="conspicuous", series=[series([slow], "bytes_per_s")])), "p")
    assert "1 of 1 rows beyond the limit, most 1 / bytes_per_s at 64 KiB: 2 × (limit +11 %)" in text


def test_the_throughput_of_imported_results_is_named_as_well():
    imported = volume(
        "db08",
        "steady",
        series=[series([row([100.0] * 6)], "bytes_per_s")],
        certificates=certificates(6, imported=range(6)),
    )
    known = "latency_mean (with imported results also 1 / bytes_per_s)"
    assert f"; {known}, margin 10 %" in drift_text(drift(volume(), imported), "p")
    assert any(known in text for text in page_of(drift(volume(), imported)).texts)


def test_the_screen_is_bounded():
    name = "a-rather-long-name-of-a-host-{}.department.location.example.com"
    volumes = [
        volume(name.format(number), state, [event(changes=[KERNEL] * 20)])
        for state in ("drifting", "conspicuous")
        for number in range(300)
    ]
    text = drift_text(drift(*volumes, classes=[part("class " * 30, [name] * 90)] * 20), "p")
    assert len(text.splitlines()) <= 46
    assert max(map(len, text.splitlines())) <= 110


def test_the_page_has_a_chart_for_each_volume_and_says_what_changed():
    data = drift(volume(events=[event(), event(place=5, preliminary=True, changes=[])]), volume("db08", "steady"))
    page = page_of(data)
    assert page.tags.count("svg") == 3
    assert [value for tag, name, value in page.attributes if (tag, name) == ("details", "id")] == ["v1", "v2"]
    assert [row[:5] for row in page.rows if row[0].startswith("db")] == [
        ["db07", "✗ drifting", "+30 %latency_mean at 64 KiB", "+10 %", "6"],
        ["db08", "✓ steady", "+30 %latency_mean at 64 KiB", "+10 %", "6"],
    ]
    text = " ".join(page.texts)
    assert "2026-01-04 latency_mean +20 % to +25 % at 2 rows; changed then: kernel 6.1 → 6.12" in text
    assert "preliminary: it may be a spike" in text


def test_a_large_fleet_has_charts_of_the_worst_volumes(monkeypatch):
    monkeypatch.setattr(shown_drift, "DRAWN_VOLUMES", 3)
    page = page_of(drift(*(volume(f"h{number}") for number in range(5))))
    assert page.tags.count("svg") == 4
    assert any("2 volumes are left out here" in text for text in page.texts)


def test_a_chart_marks_what_counts_what_does_not_and_what_is_beyond():
    rows = [row([100_000.0, 120_000.0, None, 90_000.0], [1]), row([100_000.0] * 4)]
    marked = certificates(
        4, {1: [KERNEL, {**KERNEL, "name": "cpus"}], 3: [{**KERNEL, "name": "device_firmware"}]}, imported=[0]
    )
    svg = chart(series(rows, left_out=[(3, "disturbed")]), marked, [event(place=1), event(place=3, preliminary=True)])
    assert svg.count('class="ring"') == 1
    assert svg.count('class="dots pale') == 2
    assert svg.count('class="limit"') == 1
    assert re.findall(r'class="mark"[^>]*>([^<]+)<', svg) == ["◇", "K•", "F"]
    assert re.findall(r'class="point"[^>]*>([^<]+)<', svg) == ["level +25 %", "level +25 %?"]
    assert svg.count('path class="point preliminary"') == 1


def test_up_is_worse_in_a_chart_whatever_the_figure():
    def heights(values, figure):
        usual, limit = (100.0, 90.0) if figure == "bytes_per_s" else (100.0, 110.0)
        svg = chart(series([row(values, usual=usual, limit=limit)], figure), certificates(2), [])
        first, second = re.search(r'class="row c0" d="M[\d.]+ ([\d.]+)L[\d.]+ ([\d.]+)"', svg).groups()
        return float(first), float(second), float(re.search(r'class="limit" d="M\d+ ([\d.]+)H', svg)[1])

    for values, figure in (([100.0, 130.0], "latency_mean_ns"), ([100.0, 70.0], "bytes_per_s")):
        usual, worse, limit = heights(values, figure)
        assert worse < limit < usual


def test_a_volume_with_one_certificate_or_without_a_figure_has_a_page():
    single = volume(
        state="short", certificates=certificates(1), series=[series([row([100_000.0], usual=None, limit=None)])]
    )
    none = volume("h", "short", certificates=certificates(1), series=[series([row([None], usual=None, limit=None)])])
    assert page_of(drift(single, none)).tags.count("svg") == 1


def test_hostile_text_is_harmless():
    names = [printable(name) for name in HOSTILE]
    volumes = [
        volume(
            name,
            "steady",
            [event(changes=[{"name": "kernel", "before": name, "after": name}])],
            **{"class": name, "certificates": certificates(6, {2: [{"name": name, "before": name, "after": name}]})},
            series=[series([row([100_000.0] * 6)], left_out=[(0, name)])],
        )
        for name in names
    ]
    data = drift(*volumes, classes=[part(name, [name]) for name in names])
    page = page_of(data)
    assert set(page.tags) <= HARMLESS_TAGS | {"circle"}
    assert page.tags.count("script") == page.tags.count("style") == 1
    assert not [
        name
        for dummy, name, dummy in page.attributes
        if name.startswith("on") or name in ("src", "style", "srcdoc", "action")
    ]
    assert all(value.startswith("#v") for dummy, name, value in page.attributes if name == "href")
    for name in names:
        assert any(name in text for text in page.texts)
    assert all(line.isprintable() for line in drift_text(data, "p").splitlines())


def test_certificates_of_one_day_are_told_apart_by_their_times():
    known = [{**each, "judged_at": f"2026-01-01T1{number}:00:00Z"} for number, each in enumerate(certificates(6))]
    moved = {**event(), "judged_at": "2026-01-01T13:00:00Z"}
    data = drift(volume(events=[moved], certificates=known))
    text = " ".join(page_of(data).texts)
    assert "2026-01-01 10:00 to 2026-01-01 15:00" in text
    assert "2026-01-01 13:00 latency_mean +20 % to +25 %" in text
    assert "db07: 2026-01-01 13:00 latency_mean" in drift_text(data, "p")


@pytest.mark.parametrize("count", [1, 2, 8, 9, 10, 28])
def test_the_dates_below_a_chart_do_not_overlap(count):
    drawn = chart(series([row([100_000.0] * count)]), certificates(count), [])
    dates = re.findall(r'<text class="tick" x="([0-9.]+)" y="[0-9.]+" text-anchor="(\w+)">(2026-\S+?)</text>', drawn)
    lefts = [float(x) - {"start": 0, "middle": 31, "end": 62}[anchor] for x, anchor, dummy in dates]
    assert all(later - earlier >= 62 for earlier, later in zip(lefts, lefts[1:]))
    assert [dates[0][2], dates[-1][2]] == ["2026-01-01", f"2026-01-{count:02}"]
