# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The figure of a volume that comes closest to its limit. The certificate contains this figure."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.closest_limit import closest_limit


def judgement(metric, value, limit_value, bound="max", unit="ns"):
    return {"metric": metric, "bound": bound, "limit_value": limit_value, "unit": unit, "value": value, "worker": 1}


MEAN, P99 = judgement("latency_mean", 0.2e6, 1e6), judgement("latency_p99", 1.5e6, 2e6)
RATE = judgement("bytes_per_s", 500e6, 250e6, "min", "bytes/s")
CARRIED = judgement("target_commits", -0.1, 0.0, "min", "margin")


@pytest.mark.parametrize(
    ("judgements", "metric", "share"),
    [
        ([MEAN, P99, RATE], "latency_p99", 0.75),
        ([MEAN, RATE], "bytes_per_s", 0.5),
        ([MEAN, P99, CARRIED], "target_commits", 1 / 0.9),
        ([judgement("latency_max", None, 2e6), MEAN], "latency_mean", 0.2),
    ],
)
def test_the_largest_share_of_a_limit_decides(judgements, metric, share):
    found = closest_limit(judgements)
    assert (found["metric"], found["share"]) == (metric, pytest.approx(share))
    assert "worker" not in found and found["load_point"] is None


@pytest.mark.parametrize("judgements", [[], [judgement("latency_max", None, 2e6)]])
def test_without_a_judged_figure_there_is_none(judgements):
    assert closest_limit(judgements) is None
