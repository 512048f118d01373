# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The utilisation of the logger and its trend."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.interval import (
    LOG,
    Interval,
    Observation,
    Utilisation,
    utilisation,
)


def observed(*intervals, stream=LOG):
    return Observation(
        "amqsrua",
        intervals=tuple(Interval(1000 + 10 * n, 10, stream, **figures) for n, figures in enumerate(intervals)),
    )


def writing(share):
    """Return an interval in which the logger wrote for a share of the time, with writes of 1 ms and 8 KiB."""
    return {
        "operations": round(share * 10_000),
        "bytes": round(share * 10_000) * 8192,
        "latency_mean_ns": 1e6,
        "write_size_mean_bytes": 8192,
    }


def test_bytes_over_the_size_times_the_latency():
    """IBM's example: 59,871,780 bytes/s in writes of 36,809 bytes and 280 us."""
    operations = round(598_717_800 / 36_809)
    found = utilisation(
        observed(
            {"operations": operations, "bytes": 598_717_800, "latency_mean_ns": 280e3, "write_size_mean_bytes": 36_809}
        )
    )
    assert found.share == pytest.approx(59_871_780 / 36_809 * 280e-6, rel=1e-4) == pytest.approx(0.4554, abs=1e-4)


def test_an_exact_sum_comes_before_an_average():
    assert (
        utilisation(observed({"operations": 10, "latency_mean_ns": 1.0, "latency_sum_ns": 4_000_000_000})).share == 0.4
    )


@pytest.mark.parametrize(
    ("shares", "wanted"),
    [
        ([0.5], Utilisation(0.5, 0.5, None)),
        ([0.2, 0.4], Utilisation(0.3, 0.4, None)),
        ([0.2, 0.3, 0.4], Utilisation(0.3, 0.4, 36.0)),
        ([0.4, 0.3, 0.2, 0.1], Utilisation(0.25, 0.4, -36.0)),
        ([0.3, 0.3, 0.3], Utilisation(0.3, 0.3, 0.0)),
        ([0.9, 1.2, 1.5], Utilisation(1.2, 1.5, 108.0)),
    ],
)
def test_the_trend_is_the_slope_per_hour(shares, wanted):
    found = utilisation(observed(*(writing(share) for share in shares)))
    assert (found.share, found.highest_share) == (pytest.approx(wanted.share), pytest.approx(wanted.highest_share))
    assert found.share_per_hour == (
        None if wanted.share_per_hour is None else pytest.approx(wanted.share_per_hour, abs=1e-9)
    )


def test_an_interval_that_is_not_known_is_left_out():
    found = utilisation(observed(writing(0.2), {}, {"bytes": 1}, {"operations": 3}, writing(0.4), {"operations": 0}))
    assert (found.share, found.highest_share) == (pytest.approx(0.2), pytest.approx(0.4))


def test_nothing_known_is_nothing_said():
    assert (
        utilisation(observed())
        == utilisation(observed({}))
        == utilisation(observed(writing(0.5), stream="MQPUT"))
        == Utilisation(None, None, None)
    )
