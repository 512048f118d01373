# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Limits on the load that a volume can carry beyond its target: when they pass or fail, and when they are
inconclusive."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import judge_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

# With 60 clients and messages of 2 KiB, each write of the log contains 104 KiB and takes 278 us: 60 / (2 x 278 us)
# = 108,000 messages per second.
SAN = fabricate.sweep_rows(latency_ns=193_000, bandwidth=1.26e9)
LIMIT = {"metric": "headroom_margin", "min": "20 %"}


def target(messages_per_s, message_bytes=2048, clients=60):
    return {"target_message_bytes": message_bytes, "target_messages_per_s": messages_per_s, "target_clients": clients}


def judged(facts, rows=SAN, limit=LIMIT, waivers=(), columns=(), **run_keys):
    profile = load_profile({"name": "mine", "limits": [limit], "waivers": list(waivers)})
    tables = parse_tables(fabricate.tables(rows, columns, **run_keys))
    found = judge_record(HostRecord("db07", facts=facts), tables, profile, fabricate.TODAY)
    (judgement,) = (each for each in found["judgements"] if each["metric"] == "headroom_margin")
    return judgement


@pytest.mark.parametrize(
    ("messages_per_s", "verdict", "figure"),
    [
        (5000, "pass", "2,060 % >= 20 %"),
        (88_000, "pass", "22.8 % >= 20 %"),
        (92_000, "fail", "17.5 % < 20 %"),
        (150_000, "fail", "-27.9 % < 20 %"),
    ],
)
def test_an_estimate_decides_and_says_so(messages_per_s, verdict, figure):
    judgement = judged(target(messages_per_s))
    assert judgement["verdict"] == verdict
    assert judgement["reason"].startswith(f"headroom_margin {figure} in this run: 108,000 messages/s carried, ")
    assert judgement["reason"].endswith("messages/s of 2 KiB from 60 clients required (an estimate)")
    assert judgement["value"] == pytest.approx(108_100 / messages_per_s - 1, abs=0.002 * 108_100 / messages_per_s)


@pytest.mark.parametrize(
    ("facts", "rows", "why"),
    [
        ({}, SAN, "has no figure in this run: sweep_target does not state what the volume must carry"),
        (
            target(5000),
            fabricate.sweep_rows(block_sizes=(4096, 8192)),
            "has no figure in this run: there is no estimate: a line needs the means of at least 3 write sizes",
        ),
        (
            target(1, 1 << 20, 100),
            SAN,
            "(an estimate; the log's writes are larger than the largest writes that were measured)",
        ),
        (target(1, 100, 1), fabricate.sweep_rows(block_sizes=(65536, 262144, 1 << 20)), "smaller than the smallest"),
    ],
    ids=["no target", "no line", "larger writes", "smaller writes"],
)
def test_what_the_model_does_not_claim_is_inconclusive(facts, rows, why):
    judgement = judged(facts, rows)
    assert (judgement["verdict"], why in judgement["reason"]) == ("inconclusive", True)


def test_a_fast_volume_may_pass():
    judgement = judged(target(5000), fabricate.sweep_rows(latency_ns=30_000))
    assert judgement["verdict"] == "pass" and "the processor is the limit" in judgement["reason"]


def test_a_measurement_takes_the_place_of_the_estimate():
    rates = {
        (2048, 60): (6500, 8192, 200_000, 9e6),
        (2048, 1): (4000, 4096, 250_000, 250_000),
        (20480, 60): (6000, 65536, 260_000, 1e7),
    }
    judgement = judged(target(5000), fabricate.commit_rows(rates), **fabricate.COMMIT_RUN)
    assert (judgement["verdict"], judgement["value"]) == ("pass", pytest.approx(0.3))
    assert (
        "6,500 messages/s carried, 5,000 messages/s of 2 KiB from 60 clients required (measured by the commit workload)"
        in judgement["reason"]
    )
