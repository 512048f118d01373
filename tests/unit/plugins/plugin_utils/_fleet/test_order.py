# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The comparison of collected tables with the order."""

from __future__ import annotations

import copy
import json

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import order as _order
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.plan import make_plan
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import RunDirectoryError, with_seal
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tester_options import OPTIONS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._workload.reader import load_workload
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

RUN_ID = "20261121T114430Z-1f0c2a"
MACHINE = {"machine_id": "0f3c9a2b6e1d4c5f8a7b0c1d2e3f4a5b", "boot_id": "11-22", "hostname": "db07"}
FACTS = {**MACHINE, "cpus": 2, "clock_offset_error_s": 0.5}
DIRECTORIES = [f"/var/tmp/logdisk/logdisk-{RUN_ID}-log/QM{number}" for number in (1, 2, 3)]
ORDERED, START, DEADLINE = 1795258100.0, 1795258110.25, 1795260000.0
PLAN = {
    "block_sizes": ["4K", "8K", "16K"],
    "queue_managers": [1, 2],
    "duration": 20,
    "warmup": 5,
    "file_size": "64M",
    "files": 16,
    "sync": "dsync",
    "direct": True,
    "rate": 0.5,
}


def order(workload="mq-log", directories=DIRECTORIES, more=None, mount=None, **changes):
    shipped = str(fabricate.PROJECT / "roles/sweep/files/workloads")
    plan = make_plan(
        {f"sweep_{name}": value for name, value in {**PLAN, **changes}.items()},
        3,
        {},
        workload=load_workload(workload, shipped),
    )
    told = {**plan["tester_options"], "deadline": 300, "startAt": f"{START:.3f}", **(more or {})}
    return _order.make_order(RUN_ID, "h7", "log", FACTS, "ab" * 32, told, directories, ORDERED, DEADLINE, mount=mount)


ANSWERED = {
    "option_run_id": RUN_ID,
    "hostname": "db07",
    "start_time_epoch_s": f"{ORDERED + 1:.6f}",
    "option_block_sizes_bytes": "4096 8192 16384",
    "option_load_points": "1 2",
    "option_duration_s": 20,
    "option_warmup_s": 5,
    "option_file_size_bytes": 64 << 20,
    "option_files": 16,
    "option_file_prefix": "logdisk",
    "option_rate_per_s": "0.500000",
    "option_verify": 0,
    "option_deadline_s": 300,
    "option_start_at_epoch_s": f"{START:.9f}",
    "directory_1": DIRECTORIES[0],
    "directory_2": DIRECTORIES[1],
}


def answered(block_sizes=(4096, 8192, 16384), loads=(1, 2), **run_keys):
    return parse_tables(fabricate.tables(fabricate.sweep_rows(block_sizes, loads), **{**ANSWERED, **run_keys}))


def test_what_was_ordered_comes_home():
    assert _order.table_differences(order(), answered()) == []


@pytest.mark.parametrize(
    ("run_keys", "said"),
    [
        ({"hostname": "db08"}, "hostname in run.csv db08 instead of db07"),
        ({"hostname": None}, "hostname in run.csv nothing instead of db07"),
        ({"source_hash": "cd" * 32}, f"hash of the tester's sources {'cd' * 32} instead of {'ab' * 32}"),
        ({"option_block_sizes_bytes": "4096 16384"}, "block sizes 4096, 16384 instead of 4096, 8192, 16384"),
        ({"option_duration_s": 1}, "duration 1 s instead of 20 s"),
        ({"option_duration_s": None}, "duration nothing instead of 20 s"),
        ({"option_file_size_bytes": 1 << 20}, "file size 1048576 bytes instead of 67108864 bytes"),
        ({"option_rate_per_s": ""}, "rate nothing instead of 0.5 writes/s"),
        ({"option_start_at_epoch_s": f"{START + 1:.9f}"}, "start 1795258111.250000000 instead of 1795258110.250"),
        (
            {"directory_2": "/var/tmp/logdisk/logdisk-other-log/QM2"},
            f"directory 2 /var/tmp/logdisk/logdisk-other-log/QM2 instead of {DIRECTORIES[1]}",
        ),
        ({"start_time_epoch_s": ORDERED - 3600}, "it began 3600 s before it was ordered"),
        ({"start_time_epoch_s": DEADLINE + 100}, "it began 100 s after its deadline"),
        ({"start_time_epoch_s": None}, "its run.csv does not contain start_time_epoch_s"),
    ],
)
def test_tables_of_another_order_are_named(run_keys, said):
    assert _order.table_differences(order(), answered(**run_keys)) == [said]


EXT4 = {"mount_point": "/mqm/log", "mount_source": "/dev/sdb1", "device_number": "8:17", "filesystem_type": "ext4"}
BTRFS = {**EXT4, "device_number": "0:39", "filesystem_type": "btrfs"}


@pytest.mark.parametrize(
    ("mount", "run_keys", "said"),
    [
        (EXT4, {}, []),
        (EXT4, {"mount_point": "/mqm"}, ["mount point /mqm instead of /mqm/log"]),
        (EXT4, {"mount_point": None}, ["mount point nothing instead of /mqm/log"]),
        (EXT4, {"mount_source": "/dev/sda1"}, ["mount source /dev/sda1 instead of /dev/sdb1"]),
        (EXT4, {"device_number": "8:1"}, ["device number 8:1 instead of 8:17"]),
        # The tester names the block device of a file system that has a number without one.
        (BTRFS, {}, []),
        (BTRFS, {"mount_source": "/dev/sda1"}, ["mount source /dev/sda1 instead of /dev/sdb1"]),
        # The mount could not be determined, or the tester's first directory is on a device or another path.
        (dict.fromkeys(EXT4), {}, []),
        ({}, {"mount_point": "/mqm"}, []),
    ],
)
def test_a_file_system_that_was_not_ordered_is_named(mount, run_keys, said):
    found = {key: EXT4[key] for key in ("mount_point", "mount_source", "device_number")}
    assert _order.table_differences(order(mount=mount), answered(**{**found, **run_keys})) == said


@pytest.mark.parametrize("began", [ORDERED - 60, ORDERED, START, DEADLINE + 60])
def test_a_clock_may_be_off_by_a_little(began):
    assert _order.table_differences(order(), answered(start_time_epoch_s=began)) == []


@pytest.mark.parametrize(
    ("block_sizes", "loads", "status", "said"),
    [
        ((4096, 16384), (1, 2), 0, ["no rows of 8 KiB with 1 queue manager", "no rows of 8 KiB with 2 queue managers"]),
        ((4096, 8192, 16384), (1,), 0, [f"no rows of {size} KiB with 2 queue managers" for size in (4, 8, 16)]),
        ((4096, 8192, 16384, 32768), (1,), 4, ["rows of 32 KiB with 1 queue manager, which was not ordered"]),
        ((4096,), (1,), 3, []),
        ((4096,), (1,), 4, []),
        ((512,), (1,), 4, ["rows of 512 B with 1 queue manager, which was not ordered"]),
    ],
)
def test_every_ordered_step_is_there_unless_the_tester_was_stopped(block_sizes, loads, status, said):
    assert _order.table_differences(order(), answered(block_sizes, loads, exit_status=status)) == said


def test_what_is_not_ordered_is_at_the_testers_default():
    plain = order(sync="", rate=0)
    assert _order.table_differences(plain, answered(option_rate_per_s="")) == []
    assert _order.table_differences(plain, answered(option_rate_per_s="", option_sync="none")) == [
        "sync mode none instead of dsync"
    ]
    assert _order.table_differences(order(verify=True), answered(option_verify=1)) == []


def test_the_testers_keys_and_options_are_its_own():
    taken = (fabricate.PROJECT / "src/base/options.c").read_text(encoding="utf-8")
    assert [name for name in (each.name for each in OPTIONS) if f'"{name}"' not in taken] == []
    assert [key for key in (each.key for each in OPTIONS) if key not in fabricate.recorded_run("measured")] == []


START_JSON = {"order": {"run_id": RUN_ID, "host": "h7", "volume": "log"}, "machine": MACHINE}


def start_json(**order):
    return {**START_JSON, "order": {**START_JSON["order"], **order}}


@pytest.mark.parametrize(
    ("start", "machine", "said"),
    [
        (START_JSON, MACHINE, []),
        (START_JSON, {**MACHINE, "boot_id": "33-44"}, []),
        (start_json(host="h8"), MACHINE, ["host in start.json h8 instead of h7"]),
        (START_JSON, {**MACHINE, "hostname": "db08"}, ["hostname of the machine that answers db08 instead of db07"]),
        (
            START_JSON,
            {**MACHINE, "machine_id": ""},
            [f"machine_id of the machine that answers nothing instead of {MACHINE['machine_id']}"],
        ),
        (
            {**START_JSON, "machine": {**MACHINE, "hostname": "db08"}},
            MACHINE,
            ["hostname in start.json db08 instead of db07"],
        ),
        (
            START_JSON,
            {**MACHINE, "hostname": "\x1b[2J"},
            ["hostname of the machine that answers \\x1b[2J instead of db07"],
        ),
    ],
)
def test_another_machine_is_named(start, machine, said):
    assert _order.machine_differences(order(), start, machine) == said


@pytest.mark.parametrize(
    "start", [{}, {"order": "x", "machine": [1]}, {"order": {"host": {}}, "machine": {"hostname": 7}}]
)
def test_a_machine_that_knows_nothing_of_the_order_is_another(start):
    found = _order.machine_differences(order(), start, {})
    assert "host in start.json nothing instead of h7" in found
    assert "hostname of the machine that answers nothing instead of db07" in found


def test_an_order_survives_its_recording(tmp_path):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h7"]))
    made = order()
    directory.orders.write(copy.deepcopy(made))
    assert directory.orders.read("h7", "log") == made
    assert directory.records.folders() == []
    assert directory.missing() == [("h7", "log")]
    with pytest.raises(RunDirectoryError, match=r"order\.json"):
        directory.orders.read("h7", "data")


@pytest.mark.parametrize(
    "change",
    [
        {"host": None},
        {"machine": {"hostname": "db07"}},
        {"options": {"option_files": 16}},
        {"texts": []},
        {"directories": [1]},
        {"deadline_epoch_s": "soon"},
        {"clock_error_s": True},
        {"facts": "x"},
        {"search": {"round": 0}},
    ],
)
def test_an_order_of_another_shape_is_refused(tmp_path, change):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h7"]))
    folder = tmp_path / directory.run["run_id"] / "hosts/h7/log"
    folder.mkdir(parents=True)
    (folder / "order.json").write_text(json.dumps(with_seal({**order(), **change})))
    with pytest.raises(RunDirectoryError, match=f"order.json of 'h7' has no usable {next(iter(change))}"):
        directory.orders.read("h7", "log")


COMMITS = {
    "workload": "commit",
    "apps": [1, 60],
    "message_sizes": ["2K"],
    "puts_per_commit": 1,
    "log_buffer": "2M",
    "remote_delay": 0,
    "rate": 0,
}


def commits(**run_keys):
    """Return the tables of a tester that was ordered to measure commits of three queue managers."""
    rows = fabricate.commit_rows({(2048, count): (2500, 8192, 200_000, 400_000) for count in (1, 60)}, 3)
    of_commits = {
        "option_applications": "1 60",
        "option_message_sizes_bytes": "2048",
        "option_block_sizes_bytes": "",
        "option_load_points": "3",
    }
    of_the_log = dict.fromkeys(("option_rate_per_s", "option_delay_us", "option_verify"), "")
    keys = {
        **ANSWERED,
        **fabricate.COMMIT_RUN,
        **of_commits,
        **of_the_log,
        "option_triple_write": 0,
        "directory_3": DIRECTORIES[2],
        **run_keys,
    }
    return parse_tables(fabricate.tables(rows, **keys))


def test_an_order_of_commits_comes_home():
    assert _order.table_differences(order(**COMMITS), commits()) == []
    assert _order.table_differences(
        order(**COMMITS), commits(option_applications="1 61", option_remote_delay_us=500)
    ) == [
        "applications 1, 61 instead of 1, 60",
        "remote delay 500 us instead of 0 us",
    ]
    assert "rows of 2 KiB with 1 application, which was not ordered" in _order.table_differences(
        order(**{**COMMITS, "apps": [60]}), commits()
    )
    assert "workload commit instead of mq-log" in _order.table_differences(order(), commits())


ROWS = {("log", "write"): (1, 200_000, {})}


def streams(rows=None, **run_keys):
    """Return the tables of a tester that was ordered to measure the workload of etcd's log."""
    keys = {
        **ANSWERED,
        **fabricate.STREAMS_RUN,
        "load_unit": "members",
        "option_block_sizes_bytes": "",
        "option_load_points": "1",
        "option_loads": "1",
        **dict.fromkeys(("option_rate_per_s", "option_delay_us", "option_verify"), ""),
        "place_1": "name=log,direct=no",
        "stream_1": "name=log,place=log,pattern=ring,size=2300,sync=fdatasync,workers=1*load",
        "directory_1": "/x/log",
        "directory_2": "/y/log",
        **run_keys,
    }
    return parse_tables(fabricate.tables(fabricate.stream_rows({1: rows or ROWS}), **keys))


@pytest.mark.parametrize(
    ("run_keys", "said"),
    [
        ({}, []),
        ({"place_1": "name=log,direct=yes"}, ["place 1 name=log,direct=yes instead of name=log,direct=no"]),
        ({"stream_2": "name=db"}, ["stream 2 name=db instead of nothing"]),
        ({"load_unit": "threads"}, ["load unit threads instead of members"]),
        ({"option_loads": "2"}, ["loads 2 instead of 1"]),
        ({"directory_2": "/z/log"}, ["directory 2 /z/log instead of /y/log"]),
    ],
)
def test_tables_of_another_workload_are_named(run_keys, said):
    made = order("etcd-wal", ["/x/log", "/y/log"], rate=0)
    assert _order.table_differences(made, streams(**run_keys)) == said


@pytest.mark.parametrize(
    ("loads", "limit", "said"),
    [
        ([1, 2, 4], "log:write:latency_mean:1ns", []),
        (
            [2, 1, 4],
            "log:write:latency_mean:1ns",
            ["loads 1, 2, 4 instead of 2, 1, 4", "no rows of 2 members", "rows of 1 member, which was not ordered"],
        ),
        ([1, 2, 4], "", ["stop above 1 log:write:latency_mean:1ns instead of nothing"]),
    ],
)
def test_only_a_tester_that_was_told_to_may_leave_out_the_last_loads(loads, limit, said):
    made = order("etcd-wal", ["/x/log", "/y/log"], rate=0, loads=loads)
    made["texts"].update({"stop_above_1": limit} if limit else {})
    keys = {
        "exit_reason": "stopped_above",
        "stop_above_1": "log:write:latency_mean:1ns",
        "steps_planned": 3,
        "steps_measured": 1,
    }
    assert _order.table_differences(made, streams(option_loads="1 2 4", **keys)) == said


EARLY = {"exit_reason": "ended_early", "steps_planned": 6, "fail_above_1": "latency_max:1ns", "fail_odds": 20}


@pytest.mark.parametrize(
    ("steps", "told", "said"),
    [
        ([(4096, 1), (8192, 1)], {"failAbove": ["latency_max:1ns"], "failOdds": 20}, []),
        ([(4096, 1), (8192, 1), (16384, 1), (4096, 2)], {"failAbove": ["latency_max:1ns"], "failOdds": 20}, []),
        (
            [(8192, 1)],
            {"failAbove": ["latency_max:1ns"], "failOdds": 20},
            ["no rows of 4 KiB with 1 queue manager", "rows of 8 KiB with 1 queue manager, which was not ordered"],
        ),
        (
            [(4096, 1)],
            {"failAbove": ["latency_max:2ns"], "failOdds": 560},
            ["fail above 1 latency_max:1ns instead of latency_max:2ns", "fail odds 20 instead of 560"],
        ),
        ([(4096, 1)], {}, ["fail above 1 latency_max:1ns instead of nothing", "fail odds 20 instead of nothing"]),
        (
            [(4096, 1)],
            {"failAbove": ["latency_max:1ns"], "failOdds": 20, "passAfter": 900, "passOdds": 20},
            ["pass after s nothing instead of 900", "pass odds nothing instead of 20"],
        ),
    ],
)
def test_a_tester_may_leave_out_the_steps_after_a_broken_limit_that_it_was_given(steps, told, said):
    made = order(more=told)
    rows = [row for number, (size, load) in enumerate(steps, 1) for row in fabricate.step_rows(number, size, load)]
    keys = {**EARLY, "steps_measured": len(steps), "ended_early_step": len(steps)}
    assert _order.table_differences(made, parse_tables(fabricate.tables(rows, **{**ANSWERED, **keys}))) == said


def test_a_tester_may_end_a_step_that_keeps_its_limits_only_if_it_was_told_to():
    assert _order.table_differences(order(), answered(pass_after_s=1, pass_odds=2)) == [
        "pass after s 1 instead of nothing",
        "pass odds 2 instead of nothing",
    ]


RATE = {"operations_not_started": 0}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({("db", "read"): RATE, ("db", "write"): RATE}, []),
        ({("db", "write"): RATE}, ["no reads of db at 1 member"]),
        (
            {("db", "read"): RATE, ("db", "write"): {}},
            ["no operations_not_started for the writes of db at 1 member, which have a rate"],
        ),
        (
            {("db", "read"): RATE, ("db", "write"): RATE, ("log", "read"): {}},
            ["reads of log at 1 member, which were not ordered"],
        ),
    ],
)
def test_rows_of_streams_that_would_not_be_judged_are_named(rows, said):
    db = "name=db,place=log,pattern=random,size=8K,read=60%,sync=none,arrival=even,rate=5*load"
    made = order("etcd-wal", ["/x/log", "/y/log"], rate=0)
    made["texts"]["stream_2"] = db
    rows = {**ROWS, **{key: (1, 200_000, figures) for key, figures in rows.items()}}
    assert _order.table_differences(made, streams(rows, stream_2=db)) == said
    stopped = {"exit_status": 4, "exit_reason": "interrupted"}
    assert _order.table_differences(made, streams(ROWS, stream_2=db, **stopped)) == []
