# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The line of latency over write size: IBM's published figures, exact lines, and means that do not follow a line."""

from __future__ import annotations

import random
import statistics

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.line import NoLine, fit_line

IBM_KB = {
    # "Persistent Messaging Performance in IBM MQ for Linux", 2017, tables 12 to 14: us at the average write size in KB.
    "SAN": [(5, 172), (59, 302), (197, 589), (414, 693), (1272, 1367), (3704, 3263)],
    "NFS 1G": [(5, 270), (63, 793), (196, 2089), (410, 4036), (1260, 11577), (3662, 32854)],
    "NFS 10G": [(5, 97), (63, 262), (196, 717), (413, 1073), (1255, 2006), (3716, 7012)],
    "local RAID cache": [(5, 26), (44, 39), (119, 111), (388, 93), (1252, 267), (3768, 806)],
}


def exact_line(base_ns, bytes_per_ns, sizes=(4096, 65536, 1048576)):
    return [(size, base_ns + size / bytes_per_ns) for size in sizes]


@pytest.mark.parametrize(
    ("storage", "base_us", "gb_per_s"), [("SAN", 193, 1.26), ("NFS 1G", 231, 0.109), ("NFS 10G", 98, 0.49)]
)
def test_ibms_tables_follow_the_published_lines(storage, base_us, gb_per_s):
    # The published lines were fitted to more loads than these six, so they agree within the error, and not exactly.
    line = fit_line([(1000 * kilobytes, 1000 * microseconds) for kilobytes, microseconds in IBM_KB[storage]])
    assert line.base_ns == pytest.approx(1000 * base_us, rel=0.05)
    assert line.bytes_per_ns == pytest.approx(gb_per_s, rel=0.18)
    assert line.bytes_per_ns == pytest.approx(gb_per_s, abs=1.5 * line.bytes_per_ns_error)


@pytest.mark.parametrize(
    ("base_ns", "bytes_per_ns"), [(193_000, 1.26), (98_000, 0.49), (231_000, 0.109), (20_000, 5.0)]
)
def test_means_on_a_line_are_found_exactly(base_ns, bytes_per_ns):
    line = fit_line(exact_line(base_ns, bytes_per_ns))
    assert (line.base_ns, line.bytes_per_ns) == (pytest.approx(base_ns), pytest.approx(bytes_per_ns))
    assert (line.base_error_ns / base_ns, line.bytes_per_ns_error / bytes_per_ns, line.worst) == pytest.approx(
        (0, 0, 0), abs=1e-9
    )
    assert (line.smallest_bytes, line.largest_bytes) == (4096, 1048576)
    assert line.latency_ns(262144) == pytest.approx(base_ns + 262144 / bytes_per_ns)


def test_the_errors_are_those_of_repeated_measurements():
    noise = random.Random("line")
    sizes = [4096 << number for number in range(9)]
    lines = [
        fit_line([(size, mean * noise.gauss(1, 0.03)) for size, mean in exact_line(200_000, 1.0, sizes)])
        for dummy in range(400)
    ]
    for found, error in (("base_ns", "base_error_ns"), ("bytes_per_ns", "bytes_per_ns_error")):
        spread = statistics.stdev(getattr(line, found) for line in lines)
        assert statistics.mean(getattr(line, error) for line in lines) == pytest.approx(spread, rel=0.15)


@pytest.mark.parametrize(
    ("points", "why"),
    [
        ([], "measured 0"),
        ([(4096, 100_000), (8192, 110_000)], "measured 2"),
        ([(4096, 100_000)] * 3, "measured 1"),
        ([(4096, 300_000), (65536, 200_000), (1048576, 100_000)], "does not grow"),
        ([(4096, 1_000), (65536, 900_000), (1048576, 14_400_000)], "not positive"),
        (
            [(4096, 100_000), (65536, 900_000), (262144, 300_000), (1048576, 3_000_000)],
            r"scatter around the line by \d+ % .*at most 25 %",
        ),
        (
            [(1000 * kilobytes, 1000 * microseconds) for kilobytes, microseconds in IBM_KB["local RAID cache"]],
            "scatter",
        ),
        ([(1_000_000, 100_000), (1_000_001, 101_000), (1_000_002, 102_000)], "too close|not positive"),
    ],
    ids=["nothing", "two sizes", "one size", "falls", "no base", "bent", "a cache that IBM measured", "alike"],
)
def test_other_means_follow_none(points, why):
    with pytest.raises(NoLine, match=why):
        fit_line(points)
