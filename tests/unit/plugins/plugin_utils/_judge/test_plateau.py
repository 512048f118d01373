# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import random

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._english.findings import in_words
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.throttling import find_plateau, plateaus
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.columns import KEY_COLUMNS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

MB = 1_000_000


def plateau_notes(parsed):
    return [in_words(finding, parsed.words) for finding in plateaus(parsed)]


def around(mean, seconds, variation, seed=7):
    """Return rates that vary normally."""
    dice = random.Random(seed)
    return [max(0, round(dice.gauss(mean, mean * variation))) for _second in range(seconds)]


def ramp(first, last, seconds):
    return [round(first + (last - first) * second / (seconds - 1)) for second in range(seconds)]


@pytest.mark.parametrize(
    "rates",
    [
        pytest.param([100 * MB] * 60, id="clean"),
        pytest.param([0] * 60, id="nothing"),
        pytest.param(around(100 * MB, 60, 0.005), id="even"),
        pytest.param(around(100 * MB, 600, 0.10), id="noise"),
        pytest.param(around(100 * MB, 600, 0.50), id="strong noise"),
        pytest.param(ramp(100 * MB, 40 * MB, 60), id="ramp down"),
        pytest.param(ramp(40 * MB, 100 * MB, 60), id="ramp up"),
        pytest.param([100 * MB] * 30 + around(61 * MB, 30, 0.10), id="step down with large variation"),
        pytest.param([61 * MB] * 30 + [100 * MB] * 30, id="step up"),
        pytest.param([100 * MB] * 30 + [81 * MB] * 30, id="small step down"),
        pytest.param([100 * MB] * 30 + [0] * 30, id="stopped"),
        pytest.param([100 * MB] * 29 + [0] * 2 + [100 * MB] * 29, id="stall"),
        pytest.param([100 * MB] * 4 + [61 * MB] * 56, id="too short before"),
        pytest.param([100 * MB] * 51 + [61 * MB] * 9, id="too short after"),
        pytest.param([100 * MB] * 7 + [61 * MB] * 8, id="too short"),
        pytest.param([], id="empty"),
    ],
)
def test_no_plateau(rates):
    assert find_plateau(rates) == {}


@pytest.mark.parametrize(
    "rates, from_second, share",
    [
        pytest.param([100 * MB] * 41 + [61 * MB] * 20, 42, 0.61, id="clean"),
        pytest.param([100 * MB] * 41 + [70 * MB] + [61 * MB] * 20, 43, 0.61, id="falls within a second"),
        pytest.param([100 * MB] * 6 + [79 * MB] * 11, 7, 0.79, id="shortest and smallest"),
        pytest.param(around(100 * MB, 41, 0.10) + around(61 * MB, 500, 0.006), 42, 0.61, id="after noise"),
        pytest.param([100 * MB] * 20 + [0] + [100 * MB] * 20 + [61 * MB] * 20, 42, 0.625, id="with a stall before"),
        pytest.param([2**62] * 20 + [2**61] * 20, 21, 0.5, id="large numbers"),
    ],
)
def test_a_plateau(rates, from_second, share):
    plateau = find_plateau(rates)
    assert (plateau["from_second"], plateau["share"]) == (from_second, pytest.approx(share, abs=0.02))
    assert plateau["variation"] < 0.01


def tables(rates, load_point=1, partial=False, **columns):
    """Return the tables of a step of 4 KiB writes with these bytes per second."""
    seconds = [
        (1, 4096, load_point, "log", "write", "all", second, 0, rate // 4096, rate, 10**9, 2000, 9000)
        for second, rate in enumerate(rates, start=1)
    ]
    if partial:
        seconds[-1] = (*seconds[-1][:7], 1, *seconds[-1][8:])
    header = (
        *KEY_COLUMNS,
        "second",
        "partial",
        "operations",
        "bytes",
        "latency_sum_ns",
        "latency_p99_ns",
        "latency_max_ns",
    )
    return parse_tables(
        {
            **fabricate.tables(fabricate.step_rows(1, 4096, load_point)),
            "intervals.csv": fabricate.table(header, seconds),
        }
    )


def test_a_plateau_is_a_suspicion_in_plain_words():
    (note,) = plateau_notes(tables([100 * MB] * 41 + [61 * MB, 62 * MB] * 10))
    assert note == (
        "At 4 KiB with 1 queue manager, from second 42 on, the rate stayed at 62 % of the rate before, with 0.81 % "
        "variation: a burst allowance may have run out, or a write cache may be full"
    )


def test_a_second_that_was_cut_short_does_not_count():
    assert len(plateau_notes(tables([100 * MB] * 41 + [61 * MB] * 20 + [9 * MB], partial=True))) == 1


def test_commits_follow_the_log_that_carries_them():
    slower = fabricate.tables(
        fabricate.commit_rows({(2048, 60): (2500, 8192, 200_000, 400_000)}), **fabricate.COMMIT_RUN
    )
    header = (
        *KEY_COLUMNS,
        "second",
        "partial",
        "operations",
        "bytes",
        "latency_sum_ns",
        "latency_p99_ns",
        "latency_max_ns",
    )
    rates = [100 * MB] * 41 + [61 * MB] * 20
    seconds = [
        (1, 2048, 60, stream, operation, "all", second, 0, rate // 4096, rate, 10**9, 2000, 9000)
        for stream, operation in (("log", "write"), ("commit", "commit"))
        for second, rate in enumerate(rates, start=1)
    ]
    (note,) = plateau_notes(parse_tables({**slower, "intervals.csv": fabricate.table(header, seconds)}))
    assert note.startswith("At 2 KiB with 60 applications, ")


def test_a_table_of_seconds_that_cannot_be_read_is_no_plateau():
    assert plateau_notes(parse_tables({**fabricate.tables(), "intervals.csv": b"step\n"})) == []
