# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The summary fits the terminal for any fleet."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.terminal import (
    DETAIL,
    MOST_LINES,
    TABLE,
    fit,
    head,
    verdict_of,
)

WORDS = "latency_p99 <= 2 ms broken by 4 of 200 hosts at 4 to 64 KiB: db000 to db003; worst 30.1 ms on db003 at 64 KiB"
REPORT = f"  report   /{'x' * 200}/index.html"


def summary(causes, details=3, verdicts=("fail", "error", "inconclusive")):
    lines = [
        "FAIL: This run does not certify.",
        "  run      20261122T035743Z-b63e67",
        f"{TABLE}Block size  Mean",
        f"{TABLE}     4 KiB  2 ms",
    ]
    for number in range(causes):
        lines.append(
            head(verdicts[min(number * len(verdicts) // max(causes, 1), len(verdicts) - 1)], f"cause {number}: {WORDS}")
        )
        lines.extend(f"{DETAIL}detail {place} of {number}: {WORDS}" for place in range(details))
    return "".join(f"{line}\n" for line in (*lines, REPORT))


@pytest.mark.parametrize("width", [1, 60, 80, 200, 100_000])
@pytest.mark.parametrize("causes", [0, 1, 3, 9, 400])
def test_it_is_never_longer_or_wider_and_keeps_what_matters_most(width, causes):
    text = fit(summary(causes), width)
    lines = text.splitlines()
    assert len(lines) <= MOST_LINES
    assert all(len(line) <= max(width, 40) for line in lines if line != REPORT)
    assert lines[-1] == REPORT
    assert fit(text, width) == text
    shown = [line for line in lines if line.startswith(("  fail", "  error", "  inconclusive"))]
    assert len(shown) >= min(causes, 2 if width < 60 else 3)
    if causes:
        assert "detail 0 of 0" in text
    if causes > len(shown):
        assert f"  and {causes - len(shown)} more, in the report" in lines


def test_each_verdict_has_its_first_cause_before_any_has_its_second():
    lines = fit(summary(30), 80).splitlines()
    assert {"fail", "error", "inconclusive"} <= {verdict_of(line) for line in lines}


def test_what_was_left_out_before_is_counted_again():
    text = fit(summary(400))
    assert text.count("more, in the report") == fit(text, 60).count("more, in the report") == 1
    shown = fit(text, 60).count("\n  fail") + fit(text, 60).count("\n  error") + fit(text, 60).count("\n  inconclusive")
    assert f"and {400 - shown} more" in fit(text, 60)


def test_a_table_loses_columns_and_is_not_wrapped():
    table = [
        f"{TABLE}{'Block size':>10}  {'Mean':>30}  {'Max':>30}",
        f"{TABLE}{'4 KiB':>10}  {'2 ms':>30}  {'9 ms':>30}",
    ]
    assert fit("\n".join(table), 50).splitlines() == [line[:13] + line[45:] for line in table]


@pytest.mark.parametrize(
    ("width", "titles"),
    [
        (100, "Block size QMs Writes Writes/s Throughput Mean p50 p99 p99.9 Max"),
        (80, "Block size QMs Writes Writes/s Mean p50 p99 p99.9 Max"),
        (70, "Block size QMs Writes Mean p50 p99 p99.9 Max"),
        (62, "Block size QMs Mean p50 p99 p99.9 Max"),
        (46, "Block size QMs p99 p99.9 Max"),
    ],
)
def test_the_figures_that_decide_are_kept_longest(width, titles):
    cells = ("64 KiB", "1", "98,986", "4,950", "20.3 MB/s", "202 us", "202 us", "404 us", "808 us", "4.04 ms")
    names = ("Block size", "QMs", "Writes", "Writes/s", "Throughput", "Mean", "p50", "p99", "p99.9", "Max")
    widths = [max(len(cell), len(name), 6) for cell, name in zip(cells, names, strict=True)]
    table = ["  ".join(text.rjust(wide) for text, wide in zip(line, widths, strict=True)) for line in (names, cells)]
    first, second = fit("".join(f"{TABLE}{line}\n" for line in table), width).splitlines()
    assert " ".join(first.split()) == titles
    assert len(first) <= width
    assert second.split()[-1] == "ms" and "404 us" in second


def test_the_remedy_at_the_end_of_a_message_is_not_cut():
    message = " ".join([WORDS] * 10)[:380] + " set workspace_path to another directory"
    text = fit(f"{head('error', message)}\n{DETAIL}Next: {message}\n{REPORT}\n", 80)
    assert " ".join(text.split()).count("set workspace_path to another directory") == 2


def test_the_middle_of_a_message_is_cut_if_not_all_causes_fit():
    message = f"{WORDS} {WORDS} {WORDS} set workspace_path to another directory"
    text = fit("".join(f"{head('error', f'{number} {message}')}\n" for number in range(9)) + REPORT, 80)
    assert " ".join(text.split()).count("... ") == text.count("another directory") > 5


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("FAIL: This run", "fail"),
        ("PASS, but", "pass"),
        ("READY: 2 hosts.", "ready"),
        ("NOT READY: 1 of 2 hosts. A", "not ready"),
        ("INTERNAL: the run", "internal"),
        (head("not measured", "x"), "not measured"),
        (head("unreachable", "x"), "unreachable"),
        ("  result   1 fail", ""),
        (f"{DETAIL}fail", ""),
        ("FAILED", ""),
    ],
)
def test_the_verdict_of_a_line(line, verdict):
    assert verdict_of(line) == verdict
