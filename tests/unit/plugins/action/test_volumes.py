# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host's answer about one of its volumes affects only that volume."""

from __future__ import annotations

import time

import pytest
from ansible.errors import AnsibleConnectionFailure
from ansible_collections.mqops.logdisk.plugins.action import probe, start, workspace
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import workspaces
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.plan import (
    IN_TURN,
    TOGETHER,
    VOLUME_GAP_S,
    of_tester,
    plan_host,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.volumes import read_volumes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.early_end import stops_above
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import role_defaults
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.findings import SOURCE_MESSAGE, finding
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import look, record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._workload.reader import load_workload
from ansible_collections.mqops.logdisk.tests.unit.plugins.action.test_actions import action
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

SOURCES = str(fabricate.PROJECT / "src")
WORKLOADS = str(fabricate.PROJECT / "roles/sweep/files/workloads")
HOST = {"inventory_hostname": "h7"}
SWEEP = {
    "sweep_block_sizes": ["4K"],
    "sweep_duration": 60,
    "sweep_warmup": 5,
    "sweep_file_size": "1M",
    "sweep_files": 2,
}
NAMES = ("a", "b", "c")
DEFAULTS = {"name": "log", "path": "/ws", "places": {}, "queue_managers": ["QM1"], "owner": "", "expect_mount": ""}
TESTER = {
    "path": "/t/logdisk",
    "source_hash": "ab" * 32,
    "facts": {"hostname": "db07", "clock_offset_s": 0.0, "clock_offset_error_s": 0.1},
}


@pytest.fixture
def directory(tmp_path):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h7"]))
    directory.volumes.write("h7", [{"name": name} for name in NAMES])
    return directory


def planned(order=TOGETHER, names=NAMES):
    volumes = read_volumes([{"name": name, "path": f"/{name}/ws"} for name in names], DEFAULTS)
    return plan_host(volumes, SWEEP, {}, 0, order)


def result_of(plugin):
    arguments = plugin.prepare(dict(plugin._task.args), HOST)
    answer = plugin.call(arguments, HOST)
    return answer if answer.get("failed") else plugin.take_in(answer, HOST)


def reasons(directory):
    return {each.volume: each.reasons[0] for each in list(judged_records(directory))}


def of_workspace(directory, known=None, privileged=False, **options):
    return {
        "run_id": "R",
        "run_path": directory.path,
        "state_dir": "/s",
        "volumes": planned()["volumes"],
        "facts": {"os": "x", "user": "mqm"},
        "options": {**role_defaults(), **options},
        "known": known or {},
        "privileged": privileged,
    }


def created(directory, answers, known=None, privileged=False, **options):
    answer = answers if isinstance(answers, Exception) else {"volumes": answers}
    return result_of(action(workspace, answer, **of_workspace(directory, known, privileged, **options)))


def found(name, **changes):
    part = {
        "path": f"/{name}/ws",
        "run_directory": f"/{name}/ws/r",
        "directories": [f"/{name}/ws/r/QM1"],
        "made_path": True,
    }
    return {
        "error": "",
        "facts": {"mount_point": f"/{name}", "disk_shared_with_volumes": "what the host says"},
        "disks": [name],
        "unknown": [],
        "workspace": {"parts": [part]},
        "needs_privilege": False,
        **changes,
    }


def test_a_refused_volume_gets_its_record_and_the_others_go_on(directory):
    layout = created(directory, {"a": found("a"), "b": found("b", error="refused: too\x1b full")})
    assert [volume["name"] for volume in layout["volumes"]] == ["a"]
    assert (layout["volumes"][0]["directories"], layout["volumes"][0]["facts"]["mount_point"]) == (
        ["/a/ws/r/QM1"],
        "/a",
    )
    assert reasons(directory) == {
        "b": "workspace: refused: too full",
        "c": "workspace: the host did not answer for this volume",
    }
    assert (
        next(iter(judged_records(directory))).facts["os"] == "x"
        and next(iter(judged_records(directory))).facts["mount_point"] == "/b"
    )


@pytest.mark.parametrize(
    ("kind", "names"), [("measurement", "sweep_files, sweep_file_size"), ("durability", "cut_files, cut_file_size")]
)
def test_a_refusal_names_the_variables_of_its_kind_of_run(tmp_path, kind, names):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data([HOST["inventory_hostname"]], kind=kind))
    result = created(
        directory,
        {name: found(name, error="use fewer or smaller files (sweep_files, sweep_file_size)") for name in NAMES},
    )
    assert f"({names})" in result["msg"] and all(f"({names})" in reason for reason in reasons(directory).values())


def record_of(directory, failed_result, **more):
    options = {
        "run_path": directory.path,
        "failed_result": failed_result,
        "plan": {},
        "workspace": {},
        "facts": {},
        **more,
    }
    return action(record, {}).answer(options, HOST)


def test_a_host_that_fails_as_a_whole_has_a_record_for_each_volume_of_which_nothing_is_known(directory):
    directory.records.write(fabricate.failed("h7", "error", "workspace", "no space", "b"))
    key = record_of(
        directory, {"msg": "no python"}, workspace={"volumes": [{"name": "c", "facts": {"mount_point": "/c"}}]}
    )["logdisk"]
    assert reasons(directory) == {"a": "tester: no python", "b": "workspace: no space", "c": "tester: no python"}
    assert key["volumes"] == {"a": "tester: no python", "c": "tester: no python"}
    assert list(judged_records(directory))[2].facts["mount_point"] == "/c"
    assert record_of(directory, {"msg": "again"}) == {}


def test_a_preflight_tells_each_volume_what_it_takes(directory):
    layout = created(directory, {name: found(name) for name in NAMES})
    plan = planned()
    for volume in plan["volumes"]:
        volume["notes"] = [finding(SOURCE_MESSAGE, None, text=f"note {volume['name']}")]
    record_of(directory, {}, plan=plan, workspace=layout)
    assert {
        each.volume: (each.reasons[0].split(", ")[1], each.reasons[1]) for each in list(judged_records(directory))
    } == {name: (f"2 MiB on /{name}", f"note {name}") for name in NAMES}


def test_only_the_volumes_that_want_privilege_are_asked_for_with_it(directory):
    first = created(
        directory, {"a": found("a"), "b": found("b", needs_privilege=True), "c": found("c", needs_privilege=True)}
    )
    assert (first["needs_privilege"], first["wanting"], first["privileged"]) == (True, ["b", "c"], False)
    plugin = action(workspace, {}, **of_workspace(directory, first, privileged=True))
    assert [volume["name"] for volume in plugin.prepare(dict(plugin._task.args), HOST)["volumes"]] == ["b", "c"]
    second = created(directory, {"b": found("b"), "c": found("c", error="refused")}, known=first, privileged=True)
    assert [(volume["name"], volume["privileged"]) for volume in second["volumes"]] == [("a", False), ("b", True)]
    assert (second["needs_privilege"], second["privileged"]) == (False, True)
    assert list(reasons(directory)) == ["c"]


def test_a_host_that_may_not_ask_for_privilege_does_not_get_it(directory):
    """The volume gets a record, because a preflight considers a volume without a record to be ready."""
    answers = {"a": found("a"), "b": found("b", needs_privilege=True), "c": found("c")}
    layout = created(directory, answers, workspace_become="never")
    assert (layout["wanting"], layout["needs_privilege"], [volume["name"] for volume in layout["volumes"]]) == (
        [],
        False,
        ["a", "c"],
    )
    assert reasons(directory) == {"b": "workspace: the host asks for a privilege that it already has or must not get"}


def test_a_second_call_that_fails_costs_only_the_volumes_that_it_is_for(directory):
    first = created(
        directory, {"a": found("a"), "b": found("b", needs_privilege=True), "c": found("c", error="refused")}
    )
    second = created(directory, AnsibleConnectionFailure("sudo: a password is required"), known=first, privileged=True)
    assert [volume["name"] for volume in second["volumes"]] == ["a"]
    assert reasons(directory) == {"b": "workspace: sudo: a password is required", "c": "workspace: refused"}


def inspected(directory, answers):
    """Return the known facts about a host with these workspaces, which are inspected but not created yet."""
    options = {**role_defaults(), "workspace_owner": "mqm"}
    arguments = {
        "options": of_tester(options),
        "run": {"run_id": "R", "path": directory.path},
        "plan": {**planned(), "options": options},
    }
    known = {"facts": {"os": "x"}, "time_epoch_s": 0.0, "observed_s": 0.0, "tester": {"path": "/t", "source_hash": "a"}}
    plugin = action(probe, {})
    plugin._task.args = plugin.as_single_values({**arguments, "source_dir": SOURCES}, HOST)
    sent = plugin.prepare(dict(plugin._task.args), HOST)["workspace"]
    assert (sent["run_id"], [volume["name"] for volume in sent["volumes"]]) == ("R", list(NAMES))
    return plugin.take_in({**known, "workspaces": answers}, HOST)


def test_workspaces_that_are_inspected_with_the_host_need_no_call_of_their_own(directory):
    answers = {"a": found("a"), "b": found("b", error="refused: full"), "c": found("c", disks=["sda"])}
    layout = inspected(directory, answers)["workspace"]
    of_its_own = created(directory, answers, workspace_owner="mqm")
    asked = layout.pop("asked")
    assert layout == {key: of_its_own[key] for key in layout} and layout["owner"] == "mqm"
    assert reasons(directory) == {"b": "workspace: refused: full"}

    dummy, sent = started(directory, {"a": {"error": ""}}, layout={**layout, "asked": asked})
    assert [volume["name"] for volume in sent["workspace"]["volumes"]] == ["a", "c"]
    dummy, sent = started(directory, {}, layout={**layout, "asked": asked}, round=2)
    assert sent["workspace"] == {}


def test_workspaces_that_take_privilege_are_left_to_a_call_of_their_own(directory):
    answers = {"a": found("a", needs_privilege=True), "b": found("b"), "c": found("c", error="refused: full")}
    assert inspected(directory, answers)["workspace"] == {} and reasons(directory) == {}


def test_a_host_whose_workspaces_are_all_refused_fails_when_it_is_inspected(directory):
    result = inspected(directory, {name: found(name, error=f"no {name}") for name in NAMES})
    assert (result["failed"], result["logdisk"]["stage"], result["msg"]) == (
        True,
        "workspace",
        "a: no a; b: no b; c: no c",
    )
    assert reasons(directory) == {name: f"workspace: no {name}" for name in NAMES}


@pytest.mark.parametrize(("stage", "filed"), [("workspace", "workspace"), ("gate", "sweep"), (["workspace"], "sweep")])
def test_a_workspace_that_cannot_be_created_when_the_tester_is_started_is_filed_as_such(directory, stage, filed):
    plugin, sent = started(directory, {"a": {"error": "full", "stage": stage}, "b": {"error": ""}, "c": {"error": ""}})
    status = plugin.take_in(plugin.call(sent, HOST), HOST)
    assert sorted(status["volumes"]) == ["b", "c"] and reasons(directory) == {"a": f"{filed}: full"}


def started(directory, answers, order=TOGETHER, disks=None, layout=None, **more):
    answer = {"volumes": answers} if isinstance(answers, dict) else answers
    layout = layout or created(directory, {name: found(name, disks=(disks or {}).get(name, [name])) for name in NAMES})
    plugin = action(
        start,
        answer,
        run_id="R",
        run_path=directory.path,
        plan=planned(order),
        workspace=layout,
        **{"tester": TESTER, **more},
    )
    return plugin, plugin.prepare(dict(plugin._task.args), HOST)


def test_places_on_several_paths_and_devices_are_ordered_as_the_tester_takes_and_lists_them(directory):
    disk = "/dev/disk/by-id/X"
    given = {"asu1": "/2/ws", "asu2": disk, "asu3": ["/3/ws", "/2/ws"]}
    options = {**SWEEP, "sweep_devices_erase": [disk]}
    (volume,) = plan_host(
        read_volumes([], {**DEFAULTS, "places": given}), options, {}, workload=load_workload("spc1-like", WORKLOADS)
    )["volumes"]
    sent = workspaces.for_module(volume)
    assert ([part["path"] for part in sent["parts"]], sent["devices"]) == (
        ["/2/ws", "/3/ws"],
        [{"place": "asu2", "path": disk}],
    )
    made = [
        {
            "path": part["path"],
            "run_directory": f"{part['path']}/r",
            "directories": [f"{part['path']}/r/{name}" for name in part["places"]],
        }
        for part in sent["parts"]
    ]
    made[1]["made_path"] = True
    layout = workspaces.volume_layout(volume, {"workspace": {"parts": made}}, False)
    assert layout["given"] == ["/2/ws/r/asu1", "/2/ws/r/asu3+/3/ws/r/asu3"]
    assert layout["directories"] == ["/2/ws/r/asu1", disk, "/2/ws/r/asu3", "/3/ws/r/asu3"]
    assert (layout["paths"], layout["made_paths"], layout["run_directories"]) == (
        ["/2/ws", "/3/ws"],
        ["/3/ws"],
        ["/2/ws/r", "/3/ws/r"],
    )


def test_the_workload_is_a_fact_that_no_host_can_change(directory):
    lying = {**TESTER, "facts": {**TESTER["facts"], "workload_name": "mine", "load_target": 7}}
    started(directory, {}, tester=lying)
    facts = directory.orders.read("h7", "a")["facts"]
    assert [facts[key] for key in ("workload_name", "workload_version", "workload_is_not", "load_target")] == [
        "mq-log",
        1,
        "",
        None,
    ]


@pytest.mark.parametrize("order", [TOGETHER, IN_TURN])
def test_each_volume_has_its_own_order_start_and_deadline(directory, order):
    at = time.time() + 1000
    dummy, sent = started(directory, {}, order, start_at_epoch_s=at)
    plans = planned(order)["volumes"]
    offsets = [volume["start_offset_s"] for volume in plans]
    assert (offsets[1] == 60 + 5 + VOLUME_GAP_S) is (order == IN_TURN)
    starts = [
        next(float(word.partition("=")[2]) for word in volume["arguments"] if word.startswith("--startAt="))
        for volume in sent["volumes"]
    ]
    deadlines = [
        next(int(word.partition("=")[2]) for word in volume["arguments"] if word.startswith("--deadline="))
        for volume in sent["volumes"]
    ]
    assert starts == pytest.approx([at + offset for offset in offsets], abs=0.01)
    assert deadlines == pytest.approx(
        [1000 + volume["start_offset_s"] + volume["deadline_s"] for volume in plans], abs=5
    )
    for name, volume in zip(NAMES, sent["volumes"], strict=True):
        kept = directory.orders.read("h7", name)
        assert volume["order"] == {"run_id": "R", "host": "h7", "volume": name}
        assert (kept["directories"], kept["workspace"]["path"]) == ([f"/{name}/ws/r/QM1"], f"/{name}/ws")
        assert kept["deadline_epoch_s"] == volume["deadline_epoch_s"]


@pytest.mark.parametrize(
    ("order", "disks", "shared"),
    [
        (TOGETHER, {"a": ["sda"], "b": ["sda", "sdb"], "c": ["sdc"]}, {"a": "b", "b": "a", "c": None}),
        (TOGETHER, {"a": ["sda"], "b": ["sda"], "c": ["sda"]}, {"a": "b c", "b": "a c", "c": "a b"}),
        (IN_TURN, {"a": ["sda"], "b": ["sda"], "c": ["sda"]}, {"a": None, "b": None, "c": None}),
    ],
)
def test_volumes_that_share_a_disk_at_the_same_time_say_so(directory, order, disks, shared):
    started(directory, {}, order, disks)
    assert {
        name: directory.orders.read("h7", name)["facts"].get("disk_shared_with_volumes") for name in NAMES
    } == shared


def test_a_host_on_which_no_tester_starts_fails(directory):
    plugin, sent = started(directory, {name: {"error": "no room"} for name in NAMES})
    assert plugin.take_in(plugin.call(sent, HOST), HOST)["msg"] == "no room"


def test_a_host_neither_adds_a_volume_to_those_that_are_waited_for_nor_drops_one():
    known = {"host": "h7", "volumes": {name: {"state": "running", "progress": {}} for name in ("a", "b")}}
    answer = {"volumes": {"a": {"state": "finished"}, "other": {"state": "finished"}}}
    found = result_of(action(look, answer, run_id="R", known=known))
    assert {name: volume["state"] for name, volume in found["volumes"].items()} == {"a": "finished", "b": "unknown"}
    assert found["state"] == "unknown"


def limited(limit, workload="mailbox-2010", **variables):
    """Return the tester's options that follow from a profile with this limit, for a host that is measured alone with
    four load points."""
    volumes = read_volumes([], DEFAULTS)
    plan = plan_host(volumes, {**SWEEP, **variables}, {}, workload=load_workload(workload, WORKLOADS))
    profile = load_profile({"name": "mine", "limits": [limit], "waivers": WAIVERS})
    return [
        text
        for text in stops_above(profile, "h7", plan["volumes"][0]).get("stopAbove", [])
        if not text.startswith("log:")
    ]


WAIVERS = [{"host": "h7", "metric": "response_mean", "until": "2099-01-01", "reason": "CHG-1"}]
READS = {"metric": "latency_mean", "stream": "database", "operation": "read", "below": "20 ms"}


@pytest.mark.parametrize(
    ("limit", "more", "expected"),
    [
        (READS, {}, ["database:read:latency_mean:20000000ns"]),
        ({**READS, "operation": "write"}, {"sweep_loads": [4, 8]}, ["database:write:latency_mean:20000000ns"]),
        ({**READS, "severity": "warn"}, {}, []),
        ({**READS, "load_point": {"max": 2}}, {}, []),
        ({**READS, "metric": "latency_p99"}, {}, []),
        ({**READS, "stream": "journal"}, {}, []),
        ({**READS, "stream": "maintenance", "metric": "response_mean"}, {}, []),
        (READS, {"sweep_loads": [8, 4]}, []),
        (READS, {"sweep_loads": [4]}, []),
        (READS, {"sweep_loads": "auto"}, []),
    ],
    ids=[
        "reads",
        "writes",
        "warns",
        "some loads",
        "percentile",
        "another stream",
        "waived",
        "falling",
        "one load",
        "search",
    ],
)
def test_a_ladder_ends_early_only_by_limits_that_the_tester_can_hold(limit, more, expected):
    assert limited(limit, **more) == expected


@pytest.mark.parametrize(
    ("hosts", "names", "order", "mode", "alone"),
    [
        (["h7"], ["a"], TOGETHER, "together", True),
        (["h7", "h8"], ["a"], TOGETHER, "together", False),
        (["h7", "h8"], ["a"], TOGETHER, "isolated", True),
        (["h7"], ["a", "b"], TOGETHER, "together", False),
        (["h7"], ["a", "b"], IN_TURN, "together", True),
    ],
)
def test_a_ladder_ends_early_only_if_nothing_else_is_measured(hosts, names, order, mode, alone):
    assert start.runs_alone({**planned(order, names), "sweep_mode": mode}, hosts) is alone
