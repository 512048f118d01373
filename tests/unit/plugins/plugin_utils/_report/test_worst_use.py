# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The figure that comes closest to its limit, and the sentence about it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.headroom import (
    share_text,
    used_limits,
    worst_use_text,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import Host, build_model
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.words import words_of

STREAM = {"block_size_bytes": None, "load_point": 8, "stream": "database", "operation": "read"}


def limit(metric, value, limit_value, bound="max", unit="ns", **worst):
    row = {"block_size_bytes": 65536, "load_point": 1, "stream": "log", "operation": "write", "value_at_least": False}
    return {
        "metric": metric,
        "bound": bound,
        "limit_value": limit_value,
        "unit": unit,
        "worst": {**row, **worst, "value": value},
    }


def host(name, *limits, load_unit="queue managers"):
    words = words_of(load_unit)
    return Host(name, "log", "", "pass", True, "", "", "", "", [], [], {}, {}, {}, [*limits], words)


def told(*hosts):
    return worst_use_text(SimpleNamespace(verdict="pass", hosts=hosts))


def test_the_largest_share_of_all_limits_on_all_hosts():
    near = host("db07", limit("latency_mean", 0.2e6, 1e6), limit("latency_p99", 1.5e6, 2e6))
    rate = limit("bytes_per_s", 500e6, 250e6, "min", "bytes/s")
    assert used_limits(near) == [(0.75, near.limits[1]), (0.2, near.limits[0])]
    assert told(host("db06", rate), near) == "the worst uses 75 % of its limit (p99 at 64 KiB) on db07"
    assert told(near) == "it uses at most 75 % of any limit (p99 at 64 KiB)"


@pytest.mark.parametrize("hosts", [[], [host("db01")], [host("db01", limit("latency_p99", None, 2e6))]])
def test_nothing_is_said_if_nothing_was_judged(hosts):
    assert told(*hosts) == ""


@pytest.mark.parametrize(
    ("worst", "text"),
    [
        (limit("latency_p99_9", 30e6, 2e6), "takes 15 times its limit (p99.9 at 64 KiB)"),
        (limit("latency_mean", 1.0004e6, 1e6), "takes 1.0004 times its limit (mean at 64 KiB)"),
        (limit("latency_max", 2e6, 2e6), "uses 100 % of its limit (maximum at 64 KiB)"),
        (limit("latency_max", 1.9999e6, 2e6), "uses 99.995 % of its limit (maximum at 64 KiB)"),
        (limit("latency_max", 3e6, 2e6, value_at_least=True), "takes at least 1.5 times its limit (maximum at 64 KiB)"),
        (limit("bytes_per_s", 67e6, 250e6, "min", "bytes/s"), "reaches only 27 % of its limit (throughput at 64 KiB)"),
        (limit("latency_time_weighted_p99", 1e6, 10e6), "uses 10 % of its limit (time-weighted p99 at 64 KiB)"),
        (
            limit("cpu_steal_share", 0.05, 0.1, unit="ratio", load_point=None, block_size_bytes=None),
            "uses 50 % of its limit (cpu steal share)",
        ),
    ],
)
def test_the_sentence_about_a_figure(worst, text):
    assert told(host("db01", worst), host("db02")) == f"the worst {text} on db01"


@pytest.mark.parametrize(("share", "text"), [(0.51, "51 %"), (1.99, "199 %"), (2.0, "2 \u00d7"), (12.34, "12 \u00d7")])
def test_a_share_of_twice_the_limit_is_a_multiple(share, text):
    assert share_text(share) == text


def test_the_step_of_a_stream():
    of_stream = host("db1", limit("response_mean", 1e6, 2e6, **STREAM), load_unit="threads")
    assert told(of_stream) == "it uses at most 50 % of any limit (mean response of database reads at 8 threads)"


def test_the_load_is_named_if_there_are_several(rendered):
    assert worst_use_text(build_model(rendered("certified"))).endswith(" with 2 queue managers) on db08")
