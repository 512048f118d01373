# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What becomes of the samples of an observation that has ended."""

from __future__ import annotations

import json

import pytest
from ansible_collections.mqops.logdisk.plugins.action.observed import ActionModule, _OfHost
from ansible_collections.mqops.logdisk.plugins.action.open_run import stops_gate
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

WATCHED = {"watched": {"streams": ["MQPUT"], "pid": 7, "duration_s": 60, "probe_overhead_ns": {}}}
SECOND = {"number": 1, "late": False, "streams": {"MQPUT": {"buckets": {"513": 2}, "sum_ns": 1032, "bytes": 0, "errors": 0, "min_ns": 516, "max_ns": 516}}}
TEXTS = (WATCHED, {"base": 1}, {"end": 700_000_001}, {"second": SECOND})


def filed(tmp_path, texts, **end):
    """File the record of an observation by bpftrace whose observer ended in some way."""
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h"], kind="observation"))
    of_host = _OfHost(directory.path, "h", "log", {"facts": {}, "source": "bpftrace", "asked": {"interval": 10, "duration": 60, "calls": []}})
    samples = [{"epoch_s": 1_795_258_000.0, "monotonic_ns": 1, "text": json.dumps(text)} for text in texts]
    of_host.add(b"".join(json.dumps(line).encode() + b"\n" for line in (*samples, end)))
    return of_host.file("")


def test_what_the_source_says_about_an_early_end_is_kept(tmp_path):
    record = filed(tmp_path, TEXTS, end="finished", reason="")
    assert record.notes[0] == "the observation ended before its time: process 7 ended"
    assert record.tester["exit_status"] == 4
    assert record.worker_names == []  # no queue manager is known


def test_how_the_observer_ended_comes_first(tmp_path):
    assert filed(tmp_path, TEXTS, end="stopped", reason="it was ended by request").observation["ending"] == "it was ended by request"


@pytest.mark.parametrize(("give_up", "ask"), [(False, "poll"), (True, "finish")])
def test_an_observation_is_cut_off_only_when_its_host_is_given_up(tmp_path, give_up, ask):
    """bpftrace takes some seconds to begin and to end, which come on top of the duration."""
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h"], kind="observation"))
    started = {"facts": {}, "source": "bpftrace", "asked": {}}
    plugin = ActionModule.__new__(ActionModule)
    arguments = {"run_path": directory.path, "volume": "log", "started": started, "give_up": give_up}
    assert plugin.prepare(arguments, {"inventory_hostname": "h"})["ask"] == ask


def test_an_observation_that_decides_nothing_stops_the_gate_and_one_that_certifies_nothing_does_not():
    asked = ["fail", "inconclusive", "unqualified"]
    assert stops_gate(asked, "measurement") == asked
    assert stops_gate(asked, "observation") == ["fail", "inconclusive"]
