# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import re

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _plan

ROLES = pathlib.Path(_plan.__file__).resolve().parents[2] / "roles"
OPTIONS = {"block_sizes": ["4K", "1M"], "load_points": [], "duration_s": 60, "warmup_s": 5, "file_size": "64M", "files": 16}


def plan(queue_managers=1, **changes):
    return _plan.make_plan({**OPTIONS, **changes}, queue_managers)


def test_a_plan_counts_steps_space_and_time():
    made = plan(queue_managers=3, load_points=[1, 3])
    assert made["steps"] == 4
    assert made["footprint_bytes"] == 3 * 16 * 64 << 20
    assert made["planned_s"] == 4 * (60 + 5) + 3 * _plan.STEP_GAP_S
    assert made["load_points"] == [1, 3]


def test_without_load_points_all_queue_managers_write_together():
    assert plan(queue_managers=5)["load_points"] == [5]


def test_verifying_takes_time_after_each_step():
    made = plan(verify=True)
    assert made["arguments"][-1] == "--verify"
    assert made["planned_s"] > plan()["planned_s"] + 2 * made["footprint_bytes"] / _plan.VERIFY_BYTES_PER_S - 1


def test_the_deadline_leaves_room_for_a_slow_disk_unless_it_is_given():
    made = plan()
    assert made["deadline_s"] >= 2 * made["planned_s"] + made["format_s"] + 60
    assert plan(deadline_s=77)["deadline_s"] == 77
    assert plan(duration_s=86400, block_sizes=[str(4096 * (number + 1)) for number in range(1000)])["deadline_s"] == 31536000      # more, the tester refuses


def test_strings_of_a_survey_are_taken_as_numbers():
    assert plan(duration_s="60", files="16", load_points=["1"], warmup_s="5") == plan(load_points=[1])


def test_arguments_name_every_option_of_the_tester():
    made = plan(sync="fdatasync", direct="no", rate_per_s=0.5, delay_us=1000000)
    assert made["arguments"] == [
        "--bsize=4096,1048576", "--qm=1", "--duration=60", "--warmup=5", "--fileSize=67108864", "--numFiles=16",
        "--filePrefix=logdisk", "--sync=fdatasync", "--direct=no", "--rate=0.5", "--delay=1000000"]


@pytest.mark.parametrize("changes, queue_managers, word", [
    ({"block_sizes": []}, 1, "sweep_block_sizes"),
    ({"block_sizes": ["4Q"]}, 1, "sweep_block_sizes"),
    ({"block_sizes": ["4K", "64K", "4096"]}, 1, "sweep_block_sizes names 4 KiB twice"),
    ({"rate_per_s": -1}, 1, "sweep_rate"),
    ({"block_sizes": ["128M"]}, 1, "sweep_file_size"),
    ({"file_size": "100"}, 1, "sweep_file_size"),
    ({"files": 0}, 1, "sweep_files"),
    ({"files": "many"}, 1, "sweep_files"),
    ({"duration_s": 0}, 1, "sweep_duration"),
    ({"warmup_s": -1}, 1, "sweep_warmup"),
    ({"load_points": [3]}, 2, "sweep_queue_managers"),
    ({"load_points": [2, 2]}, 2, "sweep_queue_managers"),
    ({}, 0, "workspace_queue_managers"),
    ({}, 1001, "workspace_queue_managers"),
])
def test_an_option_that_cannot_be_is_named(changes, queue_managers, word):
    with pytest.raises(_plan.PlanError, match=word):
        plan(queue_managers, **changes)


@pytest.mark.parametrize("direct, sizes", [("yes", [4096, 1 << 20]), ("", [4096, 1 << 20]), ("no", [])])
def test_only_direct_writes_depend_on_the_device(direct, sizes):
    assert plan(direct=direct)["direct_sizes_bytes"] == sizes


def test_the_gap_between_steps_is_the_testers_own():
    sources = pathlib.Path(_plan.__file__).resolve().parents[2] / "src"
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(sources.rglob("*.[ch]")))
    assert re.findall(r"#define STEP_GAP_S\s+(\d+)", text) == [str(_plan.STEP_GAP_S)]
