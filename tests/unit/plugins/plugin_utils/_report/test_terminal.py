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
    assert fit("\n".join(table), 50).splitlines() == [line[:45] for line in table]


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
