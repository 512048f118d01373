# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The models compared with their closed forms."""

from __future__ import annotations

import math
import random

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.commits import (
    DEFAULT_BUFFER_BYTES,
    OVERHEAD_BYTES,
    Load,
    estimate_commits,
    estimate_round_trips,
    mean_commit_wait_ns,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.line import fit_line

MIB = 1 << 20
SAN = fit_line([(size, 193_000 + size / 1.26) for size in (4096, 65536, MIB, 4 * MIB)])


def one_ms(size_bytes):
    """Return a disk that takes exactly 1 ms for every write."""
    return 1e6


def pages(data_bytes):
    return math.ceil(data_bytes / 4096) * 4096


@pytest.mark.parametrize(
    ("applications", "message_bytes", "commits_per_s"),
    [
        (1, 100, 1000),
        (2, 100, 1000),
        (10, 100, 5000),
        (100, 2048, 50_000),
        # 500 records of 3,512 bytes are less than the buffer of 2 MiB, and 500 of 21,944 are more.
        (1000, 2048, 500_000),
        (1000, 20480, 1000 * DEFAULT_BUFFER_BYTES / 21944),
        (100, MIB, 1000 * DEFAULT_BUFFER_BYTES / (MIB + OVERHEAD_BYTES)),
        # A commit of 3 MiB needs two writes.
        (1, 3 * MIB, 500),
    ],
)
def test_commits_with_a_constant_write_latency(applications, message_bytes, commits_per_s):
    found = estimate_commits(one_ms, Load(applications, message_bytes))
    assert found.commits_per_s == pytest.approx(commits_per_s)
    assert found.commit_latency_ns == pytest.approx(1e9 * applications / commits_per_s)
    assert found.bytes_per_s == pytest.approx(commits_per_s * message_bytes)
    assert found.log_bytes_per_s == pytest.approx(commits_per_s * (message_bytes + OVERHEAD_BYTES))
    assert found.buffer_limited == (
        applications > 1 and applications * (message_bytes + OVERHEAD_BYTES) > 2 * DEFAULT_BUFFER_BYTES
    )


@pytest.mark.parametrize("applications", [2, 10, 60, 100])
def test_two_cohorts_alternate(applications):
    size = pages(applications / 2 * (2048 + OVERHEAD_BYTES))
    found = estimate_commits(SAN.latency_ns, Load(applications, 2048))
    assert found.write_bytes == size
    assert found.cycle_ns == pytest.approx(193_000 + size / 1.26)
    assert found.commits_per_s == pytest.approx(1e9 * applications / (2 * found.cycle_ns))


def test_the_cohorts_of_three_applications_differ():
    large, small = pages(2 * (2048 + OVERHEAD_BYTES)), pages(2048 + OVERHEAD_BYTES)
    assert estimate_commits(SAN.latency_ns, Load(3, 2048)).commits_per_s == pytest.approx(
        3e9 / (2 * 193_000 + (large + small) / 1.26)
    )


def test_a_larger_buffer_helps_only_if_the_buffer_limits():
    def rate(applications, buffer_bytes):
        return estimate_commits(SAN.latency_ns, Load(applications, 20480, buffer_bytes=buffer_bytes)).commits_per_s

    assert rate(1000, 16 * MIB) > 1.05 * rate(1000, 2 * MIB)
    assert rate(10, 16 * MIB) == rate(10, 2 * MIB)


def test_several_puts_share_a_commit():
    found = estimate_commits(one_ms, Load(10, 1000, puts_per_commit=4))
    assert (found.commits_per_s, found.messages_per_s) == pytest.approx((5000, 20_000))
    assert found.write_bytes == pages(5 * 4 * (1000 + OVERHEAD_BYTES))


@pytest.mark.parametrize(("applications", "commits_per_s"), [(1, 1e9 / 1.5e6), (10, 10 * 1e9 / (2 * 1.5e6))])
def test_a_remote_delay_adds_to_each_write(applications, commits_per_s):
    assert estimate_commits(one_ms, Load(applications, 2048, remote_delay_ns=500_000)).commits_per_s == pytest.approx(
        commits_per_s
    )


def test_round_trips_take_six_and_a_half_writes():
    found = estimate_round_trips(SAN.latency_ns, 60, 2048)
    assert found.write_bytes == pages(60 * (2048 + OVERHEAD_BYTES) * 2 / 6.5)
    assert found.round_trips_per_s == pytest.approx(1e9 * 60 / (6.5 * found.write_ns))
    assert found.peak_log_bytes_per_s == pytest.approx(
        1e9 * 0.95 * found.write_bytes / SAN.latency_ns(found.write_bytes)
    )


def test_round_trips_write_no_more_than_the_buffer():
    found = estimate_round_trips(SAN.latency_ns, 1000, MIB)
    assert found.write_bytes == 16 * MIB
    assert found.round_trips_per_s * 2 * (MIB + OVERHEAD_BYTES) == pytest.approx(
        1e9 * 16 * MIB / SAN.latency_ns(16 * MIB)
    )


def simulated_wait_ns(line, commits_per_s, record_bytes, variation, commits=60_000):
    """Simulate, event by event, commits that arrive at random times at a logger with one outstanding write, and return
    their mean wait. The latencies of large writes deviate no more than those of small writes."""
    chance = random.Random(f"{commits_per_s}/{variation}")
    shape = 1 / variation**2 if variation else 0
    deviation = line.latency_ns(pages(record_bytes))
    arrives, now, waited, done = chance.expovariate(commits_per_s / 1e9), 0.0, 0.0, 0
    while done < commits:
        now, batch = max(now, arrives), []
        while arrives <= now:
            batch.append(arrives)
            arrives += chance.expovariate(commits_per_s / 1e9)
        latency = line.latency_ns(pages(len(batch) * record_bytes))
        now += latency + (chance.gammavariate(shape, deviation / shape) - deviation if shape else 0.0)
        waited += sum(now - each for each in batch)
        done += len(batch)
    return waited / done


NFS = fit_line([(size, 231_000 + size / 0.109) for size in (4096, 65536, MIB, 4 * MIB)])


@pytest.mark.parametrize("variation", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(
    ("line", "commits_per_s"),
    [
        (SAN, 100),
        (SAN, 1500),
        (SAN, 5000),
        (SAN, 70_000),
        (SAN, 250_000),
        (NFS, 100),
        (NFS, 1000),
        (NFS, 6000),
        (NFS, 25_000),
    ],
    ids=lambda value: value if isinstance(value, int) else "SAN" if value is SAN else "NFS",
)
def test_the_wait_of_commits_that_arrive_is_that_of_a_simulation(line, commits_per_s, variation):
    found = mean_commit_wait_ns(line, Load(1, 2048), commits_per_s, variation)
    assert found == pytest.approx(simulated_wait_ns(line, commits_per_s, 2048 + OVERHEAD_BYTES, variation), rel=0.08)


@pytest.mark.parametrize(
    "load",
    [Load(1, 2048), Load(1, 2048, puts_per_commit=4), Load(1, 2048, remote_delay_ns=1e6), Load(1, 3 * MIB)],
    ids=str,
)
def test_a_rare_commit_takes_what_one_application_waits_for_it(load):
    assert mean_commit_wait_ns(SAN, load, 1e-3, 1.0) == pytest.approx(
        estimate_commits(SAN.latency_ns, load).commit_latency_ns, rel=1e-4
    )


def test_commits_that_are_larger_than_the_log_buffer_wait_longer_the_more_there_are():
    load = Load(1, 3 * MIB)
    most = estimate_commits(SAN.latency_ns, Load(1000, 3 * MIB)).commits_per_s
    waits = [mean_commit_wait_ns(SAN, load, share * most, 0.0) for share in (0.1, 0.5, 0.9)]
    assert waits == sorted(waits) and waits[2] > 2 * waits[0]


@pytest.mark.parametrize("buffer_bytes", [65536, 2 * MIB])
def test_a_log_that_cannot_keep_up_has_no_mean_wait(buffer_bytes):
    load = Load(1000, 2048, buffer_bytes=buffer_bytes)
    full = buffer_bytes / SAN.latency_ns(buffer_bytes) / (2048 + OVERHEAD_BYTES) * 1e9
    assert mean_commit_wait_ns(SAN, load, 0.99 * full, 0.0) is not None
    assert mean_commit_wait_ns(SAN, load, 1.01 * full, 0.0) is None
