# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import datetime

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.notes import clock_notes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import (
    collection_version,
    error,
    measurement,
    preflight,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.findings import FORESEEN, finding
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

PROFILE = {"name": "mine", "version": 1, "limits": [{"metric": "latency_p99", "max": "2 ms"}]}
STRICT = {"name": "strict", "version": 1, "limits": [{"metric": "latency_p99", "max": "1 ns"}]}
RUN = {"run_id": "R", "profile": load_profile(PROFILE, "").as_dict()}
TODAY = datetime.date(2026, 11, 21)


def measured(files, run=RUN, host="db07", facts=None):
    return measurement(run, host, "log", facts or {}, {"load_point": ["QM1"]}, files, TODAY)


def test_a_measurement_is_judged_and_says_what_was_tested():
    record = measured(fabricate.tables(fabricate.sweep_rows(), filesystem_type="xfs", device_model="X1"))
    assert record.kind == "measurement" and record.verdict == "pass"
    assert record.facts["filesystem_type"] == "xfs" and record.facts["device_model"] == "X1"
    assert record.tester["exit_status"] == 0


def test_a_plateau_is_noted_and_changes_no_verdict():
    rows = fabricate.step_rows(1, 4096, seconds=40)
    seconds = fabricate.intervals_table(rows).decode().splitlines(keepends=True)
    position = seconds[0].split(",").index("bytes")

    def slowed(line):
        fields = line.split(",")
        return ",".join([*fields[:position], str(int(fields[position]) // 2), *fields[position + 1 :]])

    intervals = "".join([*seconds[:21], *map(slowed, seconds[21:])]).encode()
    (whole, plateau) = (
        measured({**fabricate.tables(rows), "intervals.csv": table}) for table in ("".join(seconds).encode(), intervals)
    )
    assert (whole.notes, whole.verdict) == ([], plateau.verdict)
    assert plateau.notes[0].startswith(
        "At 4 KiB with 1 queue manager, from second 21 on, the rate stayed at 50 % of the "
        "rate before, with 0 % variation"
    )


def test_a_wrong_setting_is_a_finding_with_its_id_and_can_be_waived():
    facts = {"mount_options": "rw,vers=3,soft,wsize=4096"}
    files = fabricate.tables(fabricate.sweep_rows(), filesystem_type="nfs4")
    record = measured(files, facts=facts)
    found = [each for each in record.findings if each["kind"] == "setting"]
    assert [(each["limit_id"], each["verdict"]) for each in found] == [("SET-002", "fail"), ("SET-001", "warn")]
    assert "NFS version: 3, expected: 4 or later" in record.reasons
    assert (record.verdict, record.certified) == ("fail", False)
    assert [each["id"] for each in record.settings if each["verdict"] is None] == ["SET-010"]

    def waived(until, host="db07"):
        waiver = {"host": host, "id": "SET-002", "until": until, "reason": "a test"}
        run = {**RUN, "profile": load_profile({**PROFILE, "waivers": [waiver]}, "").as_dict()}
        return measured(files, run=run, facts=facts)

    made = waived("2026-11-21")
    assert made.verdict == "warn"
    assert "NFS mount (hard or soft): soft, expected: hard (waived: a test)" in made.reasons
    assert waived("2026-11-20").verdict == waived("2026-11-21", "db08").verdict == "fail"


def test_a_preflight_says_which_settings_are_wrong_without_a_verdict():
    facts = {"filesystem_type": "ext4", "mount_options": "rw,barrier=0"}
    plan = {"steps": 1, "planned_s": 60, "format_s": 0, "footprint_bytes": 1, "notes": []}
    record = preflight({**RUN, "created_at": "2026-11-21T00:00:00Z"}, "db07", "log", facts, plan, {})
    assert record.verdict is None
    assert record.reasons[1] == "SET-012 would warn: write barriers of the file system: 0, expected: on"


def test_a_host_with_a_profile_of_its_own_is_judged_by_it():
    run = {**RUN, "host_profiles": {"db07": load_profile(STRICT, "").as_dict()}}
    files = fabricate.tables(fabricate.sweep_rows())
    assert measured(files, run).verdict == "fail"
    assert measured(files, run, "db08").verdict == "pass"


def test_only_the_inventory_says_what_a_host_cannot_see_of_its_array():
    run, said = {**RUN, "host_array_settings": {"db07": "pool=gold1"}}, {"array_settings": "pool=made up"}
    hosts = {host: measured(fabricate.tables(), run, host, said).facts["array_settings"] for host in ("db07", "db08")}
    assert hosts == {"db07": "pool=gold1", "db08": ""}
    assert error(run, "db07", "log", {"reason": "it broke"}, {}).facts == {"array_settings": "pool=gold1"}


def test_only_the_inventory_says_what_a_volume_is_asked_to_carry():
    target = {"target_message_bytes": 2048, "target_messages_per_s": 5000.0, "target_clients": 60}
    run, said = {**RUN, "host_targets": {"db07": target}}, {"target_clients": 1}
    for host, expected in (("db07", target), ("db08", {})):
        facts = measured(fabricate.tables(), run, host, said).facts
        assert {key: facts[key] for key in target if key in facts} == expected


@pytest.mark.parametrize("files", [{}, {"run.csv": b""}, {"run.csv": b"key,value\n", "results.csv": b"\xff\0"}])
def test_tables_that_cannot_be_read_are_an_error(files):
    record = measured(files)
    assert record.kind == "error" and record.verdict == "error" and record.error["stage"] == "collect"


def test_a_preflight_has_no_verdict_and_says_what_would_be_done():
    plan = {
        "steps": 7,
        "planned_s": 467.0,
        "format_s": 10.7,
        "footprint_bytes": 1 << 30,
        "notes": [finding(FORESEEN, None, cause="commits")],
    }
    facts = {"mount_point": "/fut", "filesystem_type": "xfs", "filesystem_free_bytes": 40 << 30}
    record = preflight(RUN, "db07", "log", facts, plan, {"unknown": ["the log path of QM9"]})
    assert record.verdict is None
    assert record.reasons == [
        "ready: 7 steps in about 8 min, 1 GiB on /fut (xfs, 40 GiB free)",
        "with sweep_workload commit this run cannot certify",
        "unknown: the log path of QM9",
    ]


@pytest.mark.parametrize("shared, told", [("log2 log3", True), ("", False), (None, False)])
def test_a_volume_that_shared_its_disk_is_said_to(shared, told):
    notes = [
        note
        for note in measured(fabricate.tables(), RUN, "db07", {"disk_shared_with_volumes": shared}).notes
        if "same disk" in note
    ]
    assert [note.endswith(": log2, log3") for note in notes] == [True] * told


@pytest.mark.parametrize(
    "offset_s, error_s, told",
    [
        (0.0, 0.5, False),
        (0.9, 0.1, False),
        (1.5, 0.2, True),
        (-90.0, 0.2, True),
        (2.0, 5.0, False),
        (None, None, False),
    ],
)
def test_a_clock_that_is_off_is_told(offset_s, error_s, told):
    assert bool(clock_notes({}, {"clock_offset_s": offset_s, "clock_offset_error_s": error_s})) is told


def test_the_version_is_that_of_the_collection():
    assert collection_version()[0].isdigit()
