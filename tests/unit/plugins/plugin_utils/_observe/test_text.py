# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lines that an observation shows on a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.buckets import bucket_of, upper_ns
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.interval import LOG, Interval, Maximum, Observation
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.text import (
    BAR_WIDTH,
    HISTOGRAM_ROWS,
    final_lines,
    histogram_lines,
    live_lines,
    newest_lines,
)

START_EPOCH_S = 1794470400.0


def exact(number, operations, shortest_ns, longest_ns, sum_ns, stream=LOG):
    mean_ns = sum_ns / operations if operations else None
    return Interval(
        START_EPOCH_S + 10 * number, 10, stream, operations, operations * 4096, mean_ns, shortest_ns, longest_ns, sum_ns
    )


WATCHED = Observation(
    "bpftrace",
    intervals=(
        exact(0, 40174, 81_000, 260_430_000, 40174 * 159_000),
        exact(1, 40430, 85_000, 190_000_000, 40430 * 173_000),
        exact(2, 19396, 90_000, 280_000_000, 19396 * 145_000),
    ),
    maxima=(
        Maximum(START_EPOCH_S + 3, LOG, None, 260_430_000),
        Maximum(START_EPOCH_S + 25.5, LOG, 260_430_000, 280_000_000),
    ),
)


def words(lines):
    return [" ".join(line.split()) for line in lines]


def test_the_table_of_intervals():
    """Count and utilisation refer to the interval, and everything else refers to the whole observation."""
    assert words(live_lines(WATCHED))[1:] == [
        "** New maximum of log: 260430.0 us, the first one, at 2026-11-12T08:00:03Z",
        "Time 10s Count Total MaxTime MinTime AvgTime Utilisation",
        "08:00:10 40174 40174 260430 81 159 63.9 %",
        "08:00:20 40430 80604 260430 81 166 69.9 %",
        "** New maximum of log: 280000.0 us, previously 260430.0 us, at 2026-11-12T08:00:25Z",
        "08:00:30 19396 100000 280000 81 162 28.1 %",
    ]


def test_rows_that_begin_in_the_middle_have_titles():
    lines = live_lines(WATCHED)
    titles = next(line for line in lines if line.startswith("Time "))
    assert newest_lines(lines, 0, 2) == [titles, lines[-1]]
    assert newest_lines(lines, 4, 2) == lines[-2:]
    assert newest_lines(lines, 0, 5) == lines[-5:] and titles in lines[-5:]
    assert (newest_lines(lines, 0, 1), newest_lines(lines, 0, 0), newest_lines(lines, 0, 99)) == (lines[-1:], [], lines)


def test_an_observation_that_goes_on_only_adds_lines():
    whole = live_lines(WATCHED)
    for intervals, maxima in ((0, 0), (0, 1), (1, 1), (2, 1), (2, 2), (3, 2)):
        part = live_lines(replace(WATCHED, intervals=WATCHED.intervals[:intervals], maxima=WATCHED.maxima[:maxima]))
        assert part == whole[: len(part)]


def test_titles_come_again():
    many = Observation("bpftrace", intervals=tuple(exact(number, 1, 1000, 1000, 1000) for number in range(25)))
    lines = live_lines(many)
    assert [index for index, line in enumerate(lines) if "AvgTime" in line] == [1, 12, 23]


def test_what_is_not_known_is_a_dash():
    rolling = Observation(
        "amqsrua",
        intervals=(
            Interval(START_EPOCH_S, 10, LOG, 1000, 8_192_000, 280_400.0),
            Interval(START_EPOCH_S + 10, 10, LOG, 0, 0, 280_400.0),
            Interval(START_EPOCH_S + 20, 10, LOG, None, 8_192_000, 300_000.0),
            Interval(START_EPOCH_S + 30, 10, LOG, 1000, 8_192_000, None),
        ),
        facts={"operations_are_estimated": 1},
    )
    lines = words(live_lines(rolling))
    assert "estimates" in lines[1]
    assert lines[3:] == [
        "08:00:10 1000 1000 - - 280 2.8 %",
        "08:00:20 0 1000 - - 280 0 %",
        "08:00:30 - - - - 280 -",
        "08:00:40 1000 - - - 280 -",
    ]
    uncounted = Observation("prometheus", intervals=(Interval(START_EPOCH_S, 10, LOG, None, 8192, 512_000.0),))
    assert words(live_lines(uncounted))[-1] == "08:00:10 - - - - 512 -"


def test_nothing_seen_is_no_line():
    assert live_lines(Observation("amqsrua")) == final_lines(Observation("amqsrua")) == []


@pytest.mark.parametrize(
    "latencies", [(1000,), (1, 2, 3), (1, 1 << 43), tuple(range(1, 100_000, 37)), (5000,) * 1000 + (5100,)]
)
def test_the_histogram_has_every_operation_in_few_rows(latencies):
    counts = {}
    for latency in latencies:
        upper = upper_ns(bucket_of(latency))
        counts[upper] = counts.get(upper, 0) + 1
    half = {upper: count for upper, count in counts.items() if upper % 2}
    rest = {upper: count for upper, count in counts.items() if not upper % 2}
    observation = Observation("bpftrace", histograms={(LOG, 1): half, (LOG, 2): rest, ("MQPUT", 1): {1023: 7}})
    title, *rows = [line.split() for line in histogram_lines(observation, LOG)]
    assert title[-1] == LOG
    assert "Frequency" in "".join(final_lines(replace(WATCHED, histograms=observation.histograms)))
    assert "Frequency" not in "".join(
        final_lines(replace(WATCHED, histograms=observation.histograms), histograms=False)
    )
    assert len(rows) <= HISTOGRAM_ROWS
    assert sum(int(row[1]) for row in rows) == len(latencies)
    assert float(rows[-1][0]) == pytest.approx(upper_ns(bucket_of(max(latencies))) / 1000, abs=0.05)
    bounds = [float(row[0]) for row in rows]
    assert bounds == sorted(bounds)
    bars = {int(row[1]): len(row[2]) if len(row) > 2 else 0 for row in rows}
    assert bars[max(bars)] == BAR_WIDTH
    assert all((count > 0) == (length > 0) for count, length in bars.items())


def test_the_end_says_how_busy_the_logger_was_and_its_slowest_write():
    observation = replace(
        WATCHED, facts={"slowest_write_since_restart_ns": 280_000_000, "slowest_write_at_epoch_s": START_EPOCH_S + 25.5}
    )
    assert final_lines(observation) == [
        (
            "The logger was writing 54 % of the time, in the busiest interval 69.9 %, falling (trend: "
            "53.6 percentage points in 30 s)."
        ),
        "Slowest log write since the queue manager started: 280 ms, at 2026-11-12T08:00:25Z.",
    ]
    steep = replace(
        WATCHED, intervals=tuple(exact(number, 100, 1, 2, 10**9 + number * 2 * 10**11) for number in range(3))
    )
    assert final_lines(steep)[0].endswith("rising (trend: 6,000 percentage points in 30 s).")
    steady = replace(WATCHED, intervals=tuple(exact(number, 100, 1, 2, 10**9) for number in range(4)))
    assert final_lines(steady) == ["The logger was writing 10 % of the time, in the busiest interval 10 %."]
