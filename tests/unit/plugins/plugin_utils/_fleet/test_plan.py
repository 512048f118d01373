# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import plan as _plan
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tester_options import (
    OptionError,
    command_line,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._workload.reader import load_workload
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

WORKLOADS = fabricate.PROJECT / "roles/sweep/files/workloads"
VARIABLES = {
    "block_sizes": ["4K", "1M"],
    "queue_managers": [],
    "duration": 60,
    "warmup": 5,
    "file_size": "64M",
    "files": 16,
}


def plan(queue_managers=1, options=None, workload="mq-log", **changes):
    variables = {f"sweep_{name}": value for name, value in {**VARIABLES, **changes}.items()}
    return _plan.make_plan(variables, queue_managers, options or {}, workload=load_workload(workload, str(WORKLOADS)))


def test_a_plan_counts_steps_space_and_time():
    made = _plan.make_plan(
        {**{f"sweep_{name}": value for name, value in VARIABLES.items()}, "sweep_queue_managers": [1, 3]}, 3, {}
    )
    assert made["steps"] == 4
    assert made["footprint_bytes"] == 3 * 16 * 64 << 20
    assert made["planned_s"] == 4 * (60 + 5) + 3 * _plan.STEP_GAP_S
    assert made["load_points"] == [1, 3]


@pytest.mark.parametrize(
    ("duration", "min_duration_s", "measured_s", "certify_s"),
    [
        (0, 600, 600, 600),
        ("0", 600, 600, 600),
        (0, 0, 60, 60),
        (0, 0.5, 1, 1),
        (60, 600, 60, 600),
        ("900", 600, 900, 900),
    ],
)
def test_without_a_duration_the_profiles_is_measured(duration, min_duration_s, measured_s, certify_s):
    made = _plan.make_plan(
        {f"sweep_{name}": value for name, value in {**VARIABLES, "duration": duration}.items()}, 1, {}, min_duration_s
    )
    assert (made["sweep_duration"], f"--duration={measured_s}" in command_line(made["tester_options"])) == (
        measured_s,
        True,
    )
    assert made["planned_s"] == plan(duration=measured_s)["planned_s"]
    assert made["certify_s"] == plan(duration=certify_s)["planned_s"]
    assert made["deadline_s"] > 2 * made["planned_s"]


def test_verifying_takes_time_after_each_step():
    made = plan(verify=True)
    assert command_line(made["tester_options"])[-1] == "--verify"
    assert made["planned_s"] > plan()["planned_s"] + 2 * made["footprint_bytes"] / _plan.VERIFY_BYTES_PER_S - 1


def test_the_deadline_leaves_room_for_a_slow_disk_unless_it_is_given():
    made = plan()
    assert made["deadline_s"] >= 2 * made["planned_s"] + made["format_s"] + 60
    assert plan(deadline=77)["deadline_s"] == 77
    assert (
        plan(duration=86400, block_sizes=[4096 * (number + 1) for number in range(1000)])["deadline_s"]
        == _plan.LONGEST_DEADLINE_S
    )


def test_arguments_name_every_option_of_the_tester():
    made = plan(sync="fdatasync", direct=False, rate=0.5, delay=1000000)
    assert command_line(made["tester_options"]) == [
        "--bsize=4096,1048576",
        "--qm=1",
        "--duration=60",
        "--warmup=5",
        "--fileSize=67108864",
        "--numFiles=16",
        "--filePrefix=logdisk",
        "--sync=fdatasync",
        "--direct=no",
        "--rate=0.5",
        "--delay=1000000",
    ]


def test_any_other_option_of_the_tester_is_passed_through():
    assert command_line(plan(options={"alignment": 512, "createDirs": True})["tester_options"])[-2:] == [
        "--alignment=512",
        "--createDirs",
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *((name, "the collection sets it") for name in ("runId", "startAt", "filePrefix", "over")),
        *((name, "set sweep_state_dir instead") for name in ("tables", "progress")),
        ("dir", "set workspace_path instead"),
        ("shareDevice", "set workspace_allow instead"),
        ("eraseDevice", "set sweep_devices_erase instead"),
        ("eraseD", "must not set eraseDevice: set sweep_devices_erase instead"),
        ("stre", "must not set stream: set sweep_workload instead"),
        ("duration", "set sweep_duration instead"),
        ("deadline", "set sweep_deadline instead"),
        ("x y", "is not the name of an option"),
    ],
)
def test_an_option_that_must_not_be_passed_through_is_named(name, said):
    with pytest.raises(OptionError, match=f"sweep_options.*{said}"):
        plan(options={name: 1})


@pytest.mark.parametrize(
    ("changes", "queue_managers", "word"),
    [
        ({"block_sizes": []}, 1, "sweep_block_sizes"),
        ({"block_sizes": ["4K", "64K", "4096"]}, 1, "sweep_block_sizes names 4096 more than once"),
        ({"block_sizes": ["4Q"]}, 1, "sweep_block_sizes"),
        ({"rate": -1}, 1, "sweep_rate"),
        ({"files": "many"}, 1, "sweep_files"),
        ({"direct": "perhaps"}, 1, "sweep_direct"),
    ],
)
def test_an_option_that_cannot_be_is_named(changes, queue_managers, word):
    with pytest.raises(OptionError, match=word):
        plan(queue_managers, **changes)


@pytest.mark.parametrize(
    ("load_points", "said"),
    [
        ([3], "sweep_queue_managers: 3 queue managers, but workspace_queue_managers names 2"),
        ([2, 1, 2], "sweep_queue_managers names 2 more than once"),
    ],
)
def test_a_load_point_that_cannot_be_is_named(load_points, said):
    with pytest.raises(OptionError, match=said):
        _plan.make_plan(
            {**{f"sweep_{name}": value for name, value in VARIABLES.items()}, "sweep_queue_managers": load_points},
            2,
            {},
        )


@pytest.mark.parametrize(("direct", "sizes"), [(True, [4096, 1 << 20]), ("no", [])])
def test_only_direct_writes_depend_on_the_device(direct, sizes):
    assert plan(direct=direct)["direct_sizes_bytes"] == sizes


def test_the_gap_between_steps_is_the_testers_own():
    sources = fabricate.PROJECT / "src"
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(sources.rglob("*.[ch]")))
    assert re.findall(r"#define STEP_GAP_S\s+(\d+)", text) == [str(_plan.STEP_GAP_S)]


COMMITS = {
    "workload": "commit",
    "apps": [1, 60],
    "message_sizes": "2K, 20K",
    "log_buffer": "2M",
    "remote_delay": 500,
    "puts_per_commit": 1,
    "rate": 0,
}


def test_a_plan_of_commits():
    made = plan(3, **COMMITS)
    assert command_line(made["tester_options"])[:7] == [
        "--workload=commit",
        "--apps=1,60",
        "--msgSize=2048,20480",
        "--putsPerCommit=1",
        "--logBuffer=2097152",
        "--remoteDelay=500",
        "--qm=3",
    ]
    assert (made["steps"], made["load_points"], made["block_sizes_bytes"], made["direct_sizes_bytes"]) == (
        4,
        [1, 60],
        [],
        [4096, 2 << 20],
    )
    given = {f"sweep_{name}": value for name, value in {**VARIABLES, **COMMITS, "queue_managers": [1, 2]}.items()}
    assert _plan.make_plan(given, 3, {}, workload=load_workload("commit", str(WORKLOADS))) == made


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"apps": []}, "sweep_apps is empty: name at least one number of applications"),
        ({"message_sizes": ["2K", 2048]}, "sweep_message_sizes names 2048 more than once"),
        ({"rate": 5}, "sweep_rate does not apply to sweep_workload commit: leave it out"),
        ({"verify": True}, "sweep_verify does not apply to sweep_workload commit"),
        ({"file_size": "1M"}, "sweep_log_buffer: a write of 2097152 bytes does not fit"),
    ],
)
def test_a_plan_of_commits_that_cannot_be_is_named(changes, word):
    with pytest.raises(OptionError, match=word):
        plan(**{**COMMITS, **changes})


def test_a_plan_of_streams_is_for_the_whole_volume():
    made = plan(3, workload="mailbox-2010", loads=["50%", "100 %"], load_target=12)
    assert command_line(made["tester_options"])[:2] == [
        "--place=name=database,share=90%,direct=yes",
        "--place=name=log,share=10%,direct=yes",
    ]
    assert command_line(made["tester_options"])[5:] == [
        "--loadUnit=threads",
        "--workload=streams",
        "--duration=60",
        "--warmup=5",
        "--fileSize=67108864",
        "--numFiles=16",
        "--filePrefix=logdisk",
        "--load=6,12",
    ]
    assert (made["workload"], made["workload_name"], made["workload_version"]) == ("streams", "mailbox-2010", 1)
    assert (made["places"], made["load_points"], made["load_target"]) == (["database", "log"], [6, 12], 12)
    assert (made["steps"], made["footprint_bytes"], made["direct_sizes_bytes"]) == (2, 1 << 30, [8192, 32768, 262144])
    assert made["planned_s"] == 2 * 65 + _plan.STEP_GAP_S
    assert plan(workload="mailbox-2010")["load_points"] == [1, 2, 4, 8]
    assert plan(workload="etcd-wal")["direct_sizes_bytes"] == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rate": 5}, "sweep_rate does not apply to sweep_workload mailbox-2010: leave it out"),
        ({"sync": "none"}, "sweep_sync does not apply to sweep_workload mailbox-2010, which sets its own"),
        ({"direct": False}, "sweep_direct does not apply"),
        ({"loads": [5000]}, r"sweep_loads: mailbox-2010: stream database: workers: 1\*load is 5000"),
        (
            {"loads": [0]},
            (
                "sweep_loads: 0 is not a load point: write a whole number such as 8, or a percentage of "
                "sweep_load_target such as 90%"
            ),
        ),
        ({"loads": [2, "2"]}, "sweep_loads: 2 and 2 are both the load point 2: leave one out"),
        ({"loads": ["10%"]}, "sweep_loads: 10% needs sweep_load_target"),
        ({"loads": "97,5 %", "load_target": 80}, "sweep_loads: 97, 5% mixes load points and percentages"),
        (
            {"loads": ["98%", "100%"], "load_target": 6},
            "sweep_loads: 98% and 100% are both the load point 6 of sweep_load_target, 6: leave one out",
        ),
        ({"load_target": "many"}, "sweep_load_target: 'many' is not a number"),
    ],
)
def test_a_plan_of_streams_that_cannot_be_is_named(changes, said):
    with pytest.raises(OptionError, match=said):
        plan(workload="mailbox-2010", **changes)


def test_percentages_of_a_target_are_rounded_to_whole_load_points():
    ladder = ["10%", "40%", "90%", "98%", "100%", "102%", "110%"]
    assert plan(workload="spc1-like", loads=ladder, load_target=80)["load_points"] == [8, 32, 72, 78, 80, 82, 88]
    assert plan(workload="spc1-like", loads="0.1%, 12.5 %", load_target="100")["load_points"] == [1, 13]


def test_loads_are_queue_managers_or_applications_of_the_built_in_workloads():
    assert plan(8, loads=[2, 8])["load_points"] == [2, 8]
    assert plan(8, loads=["50%"], load_target=8)["load_points"] == [4]
    assert plan(1, **COMMITS, loads=[5])["load_points"] == [5]
    with pytest.raises(OptionError, match="sweep_loads: 3 queue managers, but workspace_queue_managers names 2"):
        plan(2, loads=[3])
    variables = {
        **{f"sweep_{name}": value for name, value in VARIABLES.items()},
        "sweep_queue_managers": [1],
        "sweep_loads": [2],
    }
    with pytest.raises(OptionError, match="sweep_queue_managers and sweep_loads both name load points"):
        _plan.make_plan(variables, 2, {})


@pytest.mark.parametrize(
    ("workload", "changes", "first", "largest"),
    [
        ("mq-log", {}, "--qm=1", 8),
        ("mq-log", {"load_target": 20}, "--qm=8", 8),
        ("commit", {"apps": [40, 80], "message_sizes": ["2K"], "log_buffer": "2M"}, "--apps=40", 100_000),
        ("mailbox-2010", {}, "--load=1", 4096),
        ("spc1-like", {"load_target": 25.0}, "--load=25", 4096),
    ],
)
def test_a_search_plans_a_round_with_one_load_up_to_what_the_workload_can_make(workload, changes, first, largest):
    made = plan(8, workload=workload, loads="auto", climb="each", rounds=12, **changes)
    assert first in command_line(made["tester_options"])
    assert (len(made["load_points"]), made["search"]["largest"]) == (1, largest)
    assert plan(8, workload="mq-log")["search"] is None
