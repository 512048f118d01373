# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A search for the capacity, round by round, from the order of each round to the final record."""

from __future__ import annotations

import base64
import dataclasses
import json
import types
import zlib

import pytest
from ansible_collections.mqops.logdisk.plugins.action import start
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.plan import plan_host
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.volumes import read_volumes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import collect, next_round, record
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._judge.test_capacity import MEAN

VARIABLES = {
    "sweep_block_sizes": ["4K"],
    "sweep_queue_managers": [2],
    "sweep_duration": 60,
    "sweep_warmup": 5,
    "sweep_file_size": "1M",
    "sweep_files": 2,
}
QUEUE_MANAGERS = [f"QM{number}" for number in range(1, 41)]
TESTER = {
    "path": "/t/logdisk",
    "source_hash": "ab" * 32,
    "facts": {"hostname": "db07", "machine_id": "", "clock_offset_s": 0.0, "clock_offset_error_s": 0.1},
}
LIMITS = {"name": "mine", "qualifies": {"confidence": "none"}, "limits": [MEAN]}
"""A load passes if the mean is at most 5 ms."""


class Fleet:
    """Hosts whose latency reaches the limit at their capacity, and the state of the play between two rounds."""

    def __init__(self, base, capacities, climb="each", rounds=24, volumes=("log",)):
        self.directory = RunDirectory.create(str(base), fabricate.run_data(capacities, profile="look"))
        self.directory.run["profile"] = load_profile(LIMITS).as_dict()
        (base / self.directory.run["run_id"] / "run.json").write_text(json.dumps(self.directory.run))
        self.capacities = capacities
        self.search = {
            "climb": climb,
            "group": "array 1" if climb == "together" else None,
            "largest": 40,
            "rounds": rounds,
        }
        self.volumes = volumes
        self.tried = {}
        self.number = 1
        for host in capacities:
            self.directory.volumes.write(host, [{"name": name} for name in volumes])

    def plan(self):
        volumes = read_volumes(
            [{"name": name, "path": f"/{name}/ws", "queue_managers": QUEUE_MANAGERS} for name in self.volumes], DEFAULTS
        )
        plan = plan_host(volumes, VARIABLES, {})
        return {**plan, "volumes": [{**volume, "search": self.search} for volume in plan["volumes"]]}

    def action(self, module, host, **arguments):
        plugin = (plugin_class := getattr(module, "Step", None) or module.ActionModule).__new__(plugin_class)
        plugin._task = types.SimpleNamespace(args={"run_path": self.directory.path, **arguments}, check_mode=False)
        plugin._display = types.SimpleNamespace(warning=lambda text: None, display=lambda text, color=None: None)
        return plugin, {"inventory_hostname": host}

    def start(self, host, loads):
        """Order a round on a host, and return the module's arguments."""
        layouts = [
            {"name": name, "path": f"/{name}", "directories": [f"/{name}/r/{qm}" for qm in QUEUE_MANAGERS]}
            for name in self.volumes
        ]
        more = {"facts": {}, "paths": [], "run_directories": [], "made_paths": []}
        workspace = {
            "volumes": [
                {**layout, **more, "given": layout["directories"], "disks": [layout["name"]]} for layout in layouts
            ]
        }
        plugin, variables = self.action(
            start, host, plan=self.plan(), tester=TESTER, workspace=workspace, run_id=self.directory.run["run_id"]
        )
        return plugin.prepare({**plugin._task.args, "round": self.number, "loads": loads}, variables)["volumes"]

    def collect(self, host, sent, **run_keys):
        """Collect the results of a host that was sent an order."""
        answers = {}
        for volume in sent:
            order = self.directory.orders.read(host, volume["name"])
            load = int(order["options"]["option_load_points"])
            self.tried.setdefault((host, volume["name"]), []).append(load)
            rows = fabricate.step_rows(
                1, 4096, load, seconds=60, latency_ns=int(5_000_000 * load / self.capacities[host])
            )
            directories = {f"directory_{number}": path for number, path in enumerate(order["directories"], 1)}
            known = {
                "option_run_id": order["run_id"],
                "hostname": "db07",
                "start_time_epoch_s": f"{order['ordered_epoch_s']:.3f}",
            }
            tables = fabricate.tables(rows, over=None, **{**order["options"], **known, **directories, **run_keys})
            packed = {name: base64.b64encode(zlib.compress(content)).decode() for name, content in tables.items()}
            began = {"order": {key: order[key] for key in ("run_id", "host", "volume")}, "machine": order["machine"]}
            answers[volume["name"]] = {"state": "finished", "tables": packed, "start": began}
        plugin, variables = self.action(collect, host, volumes=list(answers))
        return plugin.take_in({"machine": {"hostname": "db07", "machine_id": ""}, "volumes": answers}, variables)

    def decide(self, number=None):
        plugin, variables = self.action(next_round, None)
        options = {
            "run_path": self.directory.path,
            "hosts": list(self.capacities),
            "round": self.number if number is None else number,
        }
        return plugin.answer(options, variables)

    def round(self, loads=None, **run_keys):
        """Run a round on the hosts that have a load (in the first round, these are all hosts), and return the loads of
        the next round."""
        for host in self.capacities if loads is None else loads:
            self.collect(host, self.start(host, (loads or {}).get(host, {})), **run_keys)
        decided = self.decide()
        self.number = decided["number"]
        return decided["loads"]

    def climb(self):
        loads = self.round()
        while loads:
            loads = self.round(loads)
        return {(each.host, each.volume): each for each in judged_records(self.directory)}


DEFAULTS = {"name": "log", "path": "/ws", "queue_managers": ["QM1"], "owner": "", "expect_mount": ""}


def test_each_host_finds_its_own_capacity(tmp_path):
    fleet = Fleet(tmp_path, {"h1": 11, "h2": 1, "h3": 40})
    records = fleet.climb()
    assert fleet.tried == {
        ("h1", "log"): [2, 4, 8, 16, 12, 10, 11],
        ("h2", "log"): [2, 1],
        ("h3", "log"): [2, 4, 8, 16, 32, 40],
    }
    assert {host: found.capacity["highest_passed"] for (host, dummy), found in records.items()} == {
        "h1": 11,
        "h2": 1,
        "h3": 40,
    }
    assert {found.verdict for found in records.values()} == {"pass"}
    notes = {host: found.notes for (host, dummy), found in records.items()}
    largest = (
        "The search for the capacity ended after 6 rounds: 40 queue managers is the largest load "
        "that this workload can generate here"
    )
    assert notes == {"h1": [], "h2": [], "h3": [largest]}


def test_the_tables_of_each_round_are_kept_and_judged_as_one_run(tmp_path):
    fleet = Fleet(tmp_path, {"h1": 3})
    found = fleet.climb()["h1", "log"]
    folder = tmp_path / fleet.directory.run["run_id"] / "hosts/h1/log"
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == ["round-1", "round-2", "round-3"]
    rounds = [
        parse_tables({path.name: path.read_bytes() for path in (folder / f"round-{each}").glob("*.csv")})
        for each in (1, 2, 3)
    ]
    assert [each.results[0]["load_point"] for each in rounds] == [2, 4, 3]
    tables = parse_tables(fleet.directory.records.tables(found))
    assert [row["load_point"] for row in tables.results if row["worker"] == "all"] == [2, 4, 3]
    assert {judgement["load_point"] for judgement in found.judgements} == {2, 3}


def test_a_later_round_starts_the_volumes_that_go_on_with_their_load_alone(tmp_path):
    fleet = Fleet(tmp_path, {"h1": 9}, volumes=("a", "b"))
    fleet.round()
    (sent,) = fleet.start("h1", {"b": 4})
    assert sent["name"] == "b" and "--qm=4" in sent["arguments"] and "--qm=2" not in sent["arguments"]
    assert sent["keep_directories"] and len(sent["directories"]) == 4
    assert fleet.directory.orders.read("h1", "b")["search"]["round"] == 2


def test_a_host_that_fails_in_a_later_round_has_that_error_and_nothing_that_passes(tmp_path):
    fleet = Fleet(tmp_path, {"h1": 9, "h2": 9})
    loads = fleet.round()
    assert fleet.directory.records.find("h1", "log").verdict == "pass"
    fleet.start("h1", loads["h1"])
    assert fleet.directory.records.find("h1", "log") is None
    failed = {"failed": True, "logdisk": {"stage": "sweep", "verdict": "unreachable", "reason": "no route to host"}}
    options = {"run_path": fleet.directory.path, "failed_result": failed, "plan": {}, "workspace": {}, "facts": {}}
    plugin, variables = fleet.action(record, "h1")
    plugin.answer(options, variables)
    fleet.collect("h2", fleet.start("h2", loads["h2"]))
    found = fleet.directory.records.find("h1", "log")
    assert (found.verdict, found.reasons, found.tables, found.capacity) == (
        "unreachable",
        ["sweep: no route to host"],
        {},
        None,
    )
    assert list(fleet.decide()["loads"]) == ["h2"]
    assert not list((tmp_path / fleet.directory.run["run_id"] / "hosts/h1/log").glob("*.csv"))


def test_an_error_of_the_disk_ends_the_search(tmp_path):
    fleet = Fleet(tmp_path, {"h1": 9})
    loads = fleet.round()
    assert fleet.round(loads, exit_status=3, error_errno_name="EIO", error_call="pwritev") == {}
    found = fleet.directory.records.find("h1", "log")
    assert (found.verdict, found.reasons[0], found.notes) == ("fail", "a write failed with EIO", [])


def test_the_tables_of_another_round_are_not_accepted(tmp_path):
    fleet = Fleet(tmp_path, {"h1": 9})
    loads = fleet.round()
    fleet.start("h1", loads["h1"])
    order = fleet.directory.orders.read("h1", "log")
    fleet.directory.orders.write({**order, "options": {**order["options"], "option_start_at_epoch_s": "17"}})
    assert fleet.collect("h1", [{"name": "log"}], option_start_at_epoch_s="16")["failed"]
    assert fleet.directory.records.find("h1", "log").verdict == "error"


def test_that_a_search_has_ended_is_known_by_a_fact_and_not_by_what_the_note_says(tmp_path):
    fleet = Fleet(tmp_path, {"h1": 1, "h2": 11, "h3": 11}, rounds=3)
    fleet.round(fleet.round(fleet.round()))
    ended = fleet.directory.records.find("h2", "log")
    assert ended.facts["search_ended_after_rounds"] == 3
    fleet.directory.records.write(
        dataclasses.replace(ended, notes=["THE SEARCH WAS OVER"]), fleet.directory.records.tables(ended)
    )
    fleet.decide(4)
    assert [len(fleet.directory.records.find(host, "log").notes) for host in fleet.capacities] == [0, 1, 1]


def test_hosts_that_climb_together_find_what_all_of_them_take(tmp_path):
    fleet = Fleet(tmp_path, {"h1": 11, "h2": 5}, climb="together")
    records = fleet.climb()
    assert fleet.tried["h1", "log"] == fleet.tried["h2", "log"] == [2, 4, 8, 6, 5]
    assert {found.capacity["highest_passed"] for found in records.values()} == {5}
    first = records["h1", "log"]
    assert (first.verdict, first.capacity["lowest_not_passed"]) == ("pass", 6)
    assert first.capacity["reason"].startswith("h2: latency_mean 6 ms > 5 ms")
    assert first.notes == ["It climbed together with h2: a load passes only if it passes on all of them"]


def test_hosts_that_climb_together_stop_together(tmp_path):
    fleet = Fleet(tmp_path, {"h1": 11, "h2": 11}, climb="together")
    loads = fleet.round()
    for host in ("h1", "h2"):
        fleet.start(host, loads[host])
    fleet.collect("h1", [{"name": "log"}])
    assert fleet.decide()["loads"] == {}
    found = fleet.directory.records.find("h1", "log")
    assert (found.verdict, found.capacity["highest_passed"]) == ("inconclusive", None)
    assert "h2: this load point was not measured there" in found.reasons


@pytest.mark.parametrize("hosts", [[], ["h1"]])
def test_nothing_is_decided_before_a_first_round(tmp_path, hosts):
    fleet = Fleet(tmp_path, {"h1": 11})
    plugin, variables = fleet.action(next_round, None)
    assert plugin.answer({"run_path": fleet.directory.path, "hosts": hosts, "round": 0}, variables) == {
        "number": 1,
        "loads": {},
    }
