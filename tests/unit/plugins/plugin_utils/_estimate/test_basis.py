# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The basis of estimates in a run's tables, and the reservations about an estimate."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.basis import basis_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.commits import DEFAULT_BUFFER_BYTES
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.line import (
    FAST,
    LARGER,
    LOOSE_LINE,
    SMALLER,
    fit_line,
    reservations,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

WRITES = {8192: 206_500, 32768: 226_000, 65536: 252_000, 2 << 20: 1_857_000}
"""Mean latencies by size of write, which follow the line of 200 us and 1.26 GB/s."""


def basis(rows=None, columns=(), facts=None, **run_keys):
    return basis_of(parse_tables(fabricate.tables(rows, columns, **run_keys)), facts or {})


def of_commits(rates, queue_managers=1, **run_keys):
    rows = fabricate.commit_rows(
        {key: (rate, size, WRITES[size], 400_000) for key, (rate, size) in rates.items()}, queue_managers
    )
    return basis(rows, **{**fabricate.COMMIT_RUN, **run_keys})


def test_a_sweep_has_its_line_from_the_smallest_load_point():
    found = basis(fabricate.sweep_rows(queue_managers=(4, 2), latency_ns=200_000, bandwidth=1e9))
    assert found.writers == 2
    assert found.line.base_ns == pytest.approx(200_000 * 2**0.5, rel=1e-3)
    assert found.line.bytes_per_ns == pytest.approx(1 / 2**0.5, rel=1e-3)
    assert (found.load.buffer_bytes, found.load.puts_per_commit, found.load.remote_delay_ns) == (
        DEFAULT_BUFFER_BYTES,
        1,
        0,
    )
    assert found.variation(4096) == 0.1
    assert found.measured == {}


def test_without_a_line_the_reason_is_kept():
    found = basis(fabricate.sweep_rows(block_sizes=(4096,)))
    assert found.line is None and "measured 1" in found.no_line


def test_a_step_without_a_write_is_no_point_of_the_line():
    rows = fabricate.sweep_rows((4096, 8192, 65536, 1 << 20))
    for row in rows[:2]:
        row.update(operations=0, latency_mean_ns=None)
    assert basis(rows).line.smallest_bytes == 8192


def test_other_streams_have_no_log():
    rows = fabricate.sweep_rows(stream="asu1-1")
    assert basis(rows, workload="spc-1-like") is None


def test_the_commit_workload_has_its_line_from_the_sizes_that_arose():
    found = of_commits({(2048, 1): (4800, 8192), (2048, 60): (120_000, 65536), (1 << 20, 100): (1100, 2 << 20)})
    assert (found.line.smallest_bytes, found.line.largest_bytes) == (8192, 2 << 20)
    assert found.line.base_ns == pytest.approx(200_000, rel=1e-3)
    assert {key: measured.commits_per_s for key, measured in found.measured.items()} == {
        (2048, 1): 4800,
        (2048, 60): 120_000,
        (1 << 20, 100): 1100,
    }


def test_an_estimate_beside_its_measurement():
    found = of_commits({(2048, 60): (60_000, 65536), (2048, 1): (4800, 8192), (1 << 20, 100): (1100, 2 << 20)})
    good, bad, unknown = found.estimate(2048, 1), found.estimate(2048, 60), found.estimate(2048, 10)
    assert good.difference == pytest.approx(4800 / (1e9 / found.line.latency_ns(4096)) - 1) and not good.contradicted
    assert bad.difference < -0.25 and bad.reservations == () and bad.contradicted
    assert unknown.measured is None and unknown.difference is None and not unknown.contradicted
    assert found.estimate(2048, 60, more_delay_ns=1e6).measured is None


def test_nothing_is_contradicted_beyond_the_model():
    found = of_commits(
        {(2048, 1): (4800, 8192), (2048, 30): (60_000, 32768), (2048, 60): (120_000, 65536), (1 << 20, 100): (1, 65536)}
    )
    beyond = found.estimate(1 << 20, 100)
    assert (beyond.reservations, beyond.contradicted) == ((LARGER,), False)
    assert beyond.difference < -0.9


def test_the_slowest_queue_manager_counts():
    found = of_commits(
        {(2048, 1): (4800, 8192), (2048, 60): (120_000, 65536), (1 << 20, 100): (1100, 2 << 20)}, queue_managers=2
    )
    assert (found.writers, found.measured[2048, 60].commits_per_s) == (2, 120_000)


def test_the_options_of_the_commit_workload_hold_for_its_estimates():
    rates = {(2048, 1): (4800, 8192), (2048, 60): (120_000, 65536), (1 << 20, 100): (1100, 2 << 20)}
    found = of_commits(rates, option_log_buffer_bytes=1 << 20, option_puts_per_commit=3, option_remote_delay_us=500)
    assert (found.load.buffer_bytes, found.load.puts_per_commit, found.load.remote_delay_ns) == (1 << 20, 3, 500_000)
    assert found.estimate(2048, 1).commits.cycle_ns == pytest.approx(found.line.latency_ns(12288) + 500_000)
    assert of_commits(rates, option_think_time_us=1000).measured == {}


@pytest.mark.parametrize(
    ("configured", "expected"),
    [(4 << 20, 4 << 20), (None, DEFAULT_BUFFER_BYTES), ("4M", DEFAULT_BUFFER_BYTES), (-1, DEFAULT_BUFFER_BYTES)],
)
def test_the_log_buffer_is_that_of_the_queue_managers(configured, expected):
    facts = {"queue_manager_log_buffer_bytes": configured}
    assert basis(facts=facts).load.buffer_bytes == expected
    assert basis(facts=facts, option_log_buffer_bytes=1 << 20).load.buffer_bytes == 1 << 20


@pytest.mark.parametrize(
    ("points", "write_bytes", "write_ns", "expected"),
    [
        ([(4096, 200), (65536, 250), (1 << 20, 1000)], 4096, 200_000, ()),
        ([(8192, 200), (65536, 250), (1 << 20, 1000)], 4096, 200_000, (SMALLER,)),
        ([(4096, 200), (65536, 250), (1 << 20, 1000)], 2 << 20, 200_000, (LARGER,)),
        ([(4096, 50), (65536, 80), (1 << 20, 500)], 8192, 99_000, (FAST,)),
        ([(4096, 100), (32768, 160), (65536, 130), (1 << 20, 900)], 4096, 120_000, (LOOSE_LINE,)),
    ],
    ids=["none", "smaller", "larger", "fast", "loose"],
)
def test_reservations(points, write_bytes, write_ns, expected):
    assert reservations(fit_line([(size, 1000 * mean) for size, mean in points]), write_bytes, write_ns) == expected


def test_streams_are_no_basis():
    """Another stream wrote at the same time as the log."""
    rows = fabricate.stream_rows({1: {("log", "write"): (1, 200_000, {"block_size_bytes": 4096})}})
    assert basis(rows, **fabricate.STREAMS_RUN) is None
