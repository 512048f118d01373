# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What happens to the samples of an observation that has ended."""

from __future__ import annotations

import base64
import json
import zlib
from types import SimpleNamespace

import pytest
from ansible_collections.mqops.logdisk.plugins.action import observed
from ansible_collections.mqops.logdisk.plugins.action.observed import STATUS, ActionModule, _OfHost
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import RemoteAction
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import COLLECTED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import KINDS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps.open_run import stops_gate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

WATCHED = {"watched": {"streams": ["MQPUT"], "pid": 7, "duration_s": 60, "probe_overhead_ns": {}}}
SECOND = {
    "number": 1,
    "late": False,
    "streams": {
        "MQPUT": {"buckets": {"513": 2}, "sum_ns": 1032, "bytes": 0, "errors": 0, "min_ns": 516, "max_ns": 516}
    },
}
TEXTS = (WATCHED, {"base": 1}, {"end": 700_000_001}, {"second": SECOND})


def filed(tmp_path, texts, **end):
    """Store the record of an observation by bpftrace whose observer ended in a given way."""
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h"], kind="observation"))
    of_host = _OfHost(
        directory.path,
        "h",
        "log",
        {"facts": {}, "source": "bpftrace", "asked": {"interval": 10, "duration": 60, "calls": []}},
    )
    samples = [{"epoch_s": 1_795_258_000.0, "monotonic_ns": 1, "text": json.dumps(text)} for text in texts]
    sent = b"".join(json.dumps(line).encode() + b"\n" for line in (*samples, end))
    of_host.directory.samples.add("h", "log", sent)
    return of_host.file("")


def test_what_the_source_says_about_an_early_end_is_kept(tmp_path):
    record = filed(tmp_path, TEXTS, end="finished", reason="")
    assert record.notes[0] == "the observation ended early: process 7 ended"
    assert record.tester["exit_status"] == 4
    assert record.worker_names == []  # no queue manager is known


@pytest.mark.parametrize(("give_up", "ask"), [(False, "poll"), (True, "finish")])
def test_an_observation_is_cut_off_only_when_its_host_is_given_up(tmp_path, give_up, ask):
    """bpftrace needs some seconds to begin and to end, in addition to the duration."""
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h"], kind="observation"))
    started = {"observed": {"log": {"facts": {}, "source": "bpftrace"}}, "asked": {}}
    plugin = ActionModule.__new__(ActionModule)
    plugin._known = {}
    arguments = {"run_path": directory.path, "started": started, "give_up": give_up}
    assert plugin.prepare(arguments, {"inventory_hostname": "h"})["ask"] == ask


def polled(monkeypatch, tmp_path, directory, answers, known, give_up=False):
    """Poll a host with two queue managers once. ``answers`` contains the module's answer for each volume. Return the
    result and the calls to the host."""
    asked, calls = {"interval": 10, "duration": 60, "calls": ["MQPUT"]}, []

    def call(self, arguments, task_vars):
        calls.append((arguments["ask"], arguments.get("volume")))
        return dict(answers.get(arguments.get("volume"), {}))

    monkeypatch.setattr(RemoteAction, "call", call)
    monkeypatch.setattr(observed, "say", lambda *dummy: None)
    plugin = ActionModule.__new__(ActionModule)
    started = {
        "observed": {volume: {"facts": {"queue_manager": volume}, "source": "bpftrace"} for volume in ("QM1", "QM2")},
        "asked": asked,
    }
    plugin._task = SimpleNamespace(args={"run_id": "r", "state_dir": "~/x", "user": ""})
    plugin._display, plugin._known = None, known
    arguments = plugin.prepare(
        {"run_path": directory.path, "started": started, "give_up": give_up}, {"inventory_hostname": "h"}
    )
    return plugin.take_in(plugin.call(arguments, {}), {}), calls


def lines(*texts, **end):
    samples = [{"epoch_s": 1_795_258_000.0, "monotonic_ns": 1, "text": json.dumps(text)} for text in texts]
    return base64.b64encode(
        zlib.compress(b"".join(json.dumps(line).encode() + b"\n" for line in (*samples, end)))
    ).decode()


def test_each_queue_manager_of_a_host_has_its_record(monkeypatch, tmp_path):
    """The host is polled until the last observation has ended. Only then are the files of the observations removed,
    because the observations share them."""
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h"], kind="observation"))
    directory.volumes.write("h", [{"name": "QM1"}, {"name": "QM2"}])
    ended = {"state": "ended", "samples": lines(*TEXTS, end="finished", reason="")}
    first, calls = polled(
        monkeypatch, tmp_path, directory, {"QM1": ended, "QM2": {"state": "running"}}, {"host": "h", "run_id": "r"}
    )
    assert (first["state"], first["volumes"]["QM1"]["state"], first["volumes"]["QM2"]["state"]) == (
        "running",
        "finished",
        "running",
    )
    assert (COLLECTED in first, calls) == (False, [("poll", "QM1"), ("poll", "QM2")])
    last, calls = polled(
        monkeypatch, tmp_path, directory, {"QM2": ended}, {key: first[key] for key in STATUS if key in first}
    )
    assert (last["state"], sorted(last[COLLECTED]), calls) == (
        "finished",
        ["QM1", "QM2"],
        [("poll", "QM2"), ("remove", None)],
    )
    assert {(record.volume, record.kind_data["queue_manager"]) for record in list(judged_records(directory))} == {
        ("QM1", "QM1"),
        ("QM2", "QM2"),
    }


def test_a_queue_manager_of_which_nothing_came_does_not_stop_the_others(monkeypatch, tmp_path):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h"], kind="observation"))
    directory.volumes.write("h", [{"name": "QM1"}, {"name": "QM2"}])
    nothing = {"state": "ended", "samples": lines(end="failed", reason="the exporter stopped")}
    first, dummy = polled(
        monkeypatch, tmp_path, directory, {"QM1": nothing, "QM2": {"state": "running"}}, {"host": "h", "run_id": "r"}
    )
    assert (first["state"], first["problems"]) == ("running", ["the exporter stopped"])
    ended = {"state": "ended", "samples": lines(*TEXTS, end="finished", reason="")}
    last, dummy = polled(
        monkeypatch, tmp_path, directory, {"QM2": ended}, {key: first[key] for key in STATUS if key in first}
    )
    assert (last["failed"], last["msg"]) == (True, "the exporter stopped")
    assert {record.volume: record.verdict for record in list(judged_records(directory))} == {
        "QM1": "error",
        "QM2": None,
    }


def test_an_observation_that_decides_nothing_stops_the_gate_and_one_that_certifies_nothing_does_not():
    asked = ["fail", "inconclusive", "unqualified"]
    assert stops_gate(asked, KINDS["measurement"]) == asked
    assert stops_gate(asked, KINDS["observation"]) == ["fail", "inconclusive"]
