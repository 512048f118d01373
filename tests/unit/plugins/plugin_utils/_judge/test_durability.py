# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A single loss fails, a single cut that shows nothing is inconclusive, and cuts without a loss give a bound, not a
proof."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.cut import Cut
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import certify
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.durability import chance_bound, claim_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.merged_run import merge_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.power_cut.record import LOSSES, cut_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import KINDS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord, RecordError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import RunDirectoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps.open_run import stops_gate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

CHECKED = (
    b"key,value\nschema_version,1\nexit_status,%d\nfilesystem_uuid,u-1\ndevice_model,Disk\noption_seed,7\ncomplete,1\n"
)


def cut(number, outcome="kept", reason="why", row=(), **keys):
    total = {"worker": "all", "outcome": outcome, **dict(row)}
    return Cut(
        number, outcome, reason, **{"visible_from_ns": 2_000_000, "visible_from_writes": 20, "rows": [total], **keys}
    ).as_dict()


def record(*cuts, asked=None, facts=None, files=None, profile="mq-log-silver"):
    run = {**fabricate.run_data(["h"], profile, kind="durability"), "run_id": "r"}
    durability = {"cut_count": asked or len(cuts), "cuts": list(cuts), "tests": "It tests the guest."}
    return cut_record(run, "h", "log", facts or {}, {"path": "/l", "queue_managers": ["QM1"]}, files or {}, durability)


def run_of(tmp_path, *records):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h"], kind="durability", history={"place": "x"}))
    for each in records:
        directory.records.write(each, {"durability_1.csv": b"worker\nall\n", "run_1.csv": CHECKED % 0})
    return directory


def test_all_cuts_kept_is_a_pass_with_the_bound_that_follows():
    made = record(cut(1), cut(2, visible_from_ns=1_000_000, visible_from_writes=31))
    assert (made.kind, made.verdict, made.certified, made.reasons, made.kind_data["losses"]) == (
        "durability",
        "pass",
        False,
        [],
        [],
    )
    assert made.kind_data["claim"] == (
        "2 cuts without a loss: with 95 % confidence, the chance of a loss is at most 78 % per cut, if later cuts are "
        "like these. A loss at the end of less than 2 ms or 31 writes could not be seen."
    )


def test_one_loss_outweighs_all_else():
    made = record(
        cut(1), cut(2, "inconclusive", "it did not come back"), cut(3, "lost", row={"lost_tail_writes": "63"}), asked=5
    )
    assert (made.verdict, made.kind_data["claim"]) == ("fail", "")
    assert made.reasons == ["cut 3: 63 acknowledged writes at the end are gone", "cut 2: it did not come back"]
    (loss,) = made.kind_data["losses"]
    assert (loss["loss"], loss["cuts"]) == ("lost tail", [3])


@pytest.mark.parametrize(
    "cuts, asked, reason",
    [
        ([cut(1), cut(2, "inconclusive", "the boot id is unchanged")], 2, "cut 2: the boot id is unchanged"),
        ([cut(1)], 2, "1 of 2 cuts were made"),
        ([], 2, "0 of 2 cuts were made"),
    ],
)
def test_what_shows_nothing_is_inconclusive(cuts, asked, reason):
    made = record(*cuts, asked=asked)
    assert (made.verdict, made.reasons, made.kind_data["claim"]) == ("inconclusive", [reason], "")


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_each_kind_of_loss_has_a_consequence_and_a_next_step(loss):
    made = record(cut(1, "lost", row={loss.column: "1"}))
    (found,) = made.kind_data["losses"]
    assert (found["loss"], found["cause"], found["cuts"]) == (loss.name, made.findings[0]["cause"], [1])
    assert found["consequence"].endswith(".") and found["next_step"].endswith(".")


def test_what_was_lost_in_a_cut_that_was_kept_is_not_believed():
    assert record(cut(1, row={"lost_tail_writes": "63"})).kind_data["losses"] == []


# From (1 - p)^n = 0.05, solved by hand with a table of logarithms: ln 0.05 = -2.995732.
@pytest.mark.parametrize(
    "cuts, bound",
    [(1, 0.95), (2, 0.776393), (3, 0.631597), (10, 0.258866), (59, 0.049508), (299, 0.009969), (3000, 0.000998)],
)
def test_the_bound_is_exact(cuts, bound):
    assert chance_bound(cuts) == pytest.approx(bound, abs=5e-7)
    assert (1 - chance_bound(cuts)) ** cuts == pytest.approx(0.05)
    assert chance_bound(cuts) < 3 / cuts


@pytest.mark.parametrize(
    "cuts, text",
    [
        (1, "1 cut without a loss: with 95 % confidence, the chance of a loss is at most 95 % per cut, if"),
        (10, "at most 26 % per cut ("),
    ],
)
def test_the_bound_is_never_rounded_down(cuts, text):
    assert text in claim_of([cut(number) for number in range(cuts)])


def test_what_a_cut_could_have_missed_may_be_unknown():
    assert claim_of([cut(1), cut(2, visible_from_ns=None)]).endswith(
        "It is not known how long a loss at the end could have gone unnoticed."
    )


@pytest.mark.parametrize(
    "block_size_bytes, end",
    [
        (
            4096,
            (
                "writes of 4 KiB are not atomic, so LogWriteIntegrity=SingleWrite is not safe "
                "here: leave it at TripleWrite"
            ),
        ),
        (65536, "writes of 64 KiB are not atomic"),
        (None, "but writes are not atomic"),
    ],
)
def test_a_write_torn_in_flight_is_no_loss_but_said(block_size_bytes, end):
    made = record(cut(1, row={"in_flight": "torn"}), facts={"block_size_bytes": block_size_bytes})
    assert made.verdict == "pass"
    (note,) = made.notes
    assert note.endswith(end)


def test_the_identity_of_the_volume_comes_from_the_last_check():
    files = {"run_1.csv": CHECKED % 0, "run_2.csv": CHECKED % 5, "run_3.csv": b"no table"}
    made = record(cut(1), cut(2, "lost"), cut(3, "inconclusive"), facts={"os": "Debian"}, files=files)
    known = {key: made.facts.get(key) for key in ("os", "filesystem_uuid", "device_model", "option_seed")}
    assert known == {"os": "Debian", "filesystem_uuid": "u-1", "device_model": "Disk", "option_seed": None}


def test_a_loss_stops_the_gate(tmp_path):
    verdict = judge_run(run_of(tmp_path, record(cut(1, "lost"))), GATE)
    assert (verdict["verdict"], verdict["gate_failed"], verdict["certified"]) == ("fail", True, False)
    assert stops_gate(["unqualified", "fail"], KINDS["durability"]) == ["fail"]


def test_a_run_of_cuts_makes_no_certificate_of_latency_and_is_not_merged(tmp_path):
    directory = run_of(tmp_path, record(cut(1)))
    assert directory.kind is KINDS["durability"]
    assert judge_run(directory, GATE)["verdict"] == "pass"
    assert certify(directory) == ([], [])
    test = fabricate.run_directory(tmp_path, {"h": fabricate.tables()})
    with pytest.raises(RunDirectoryError, match="cut the power and measured no latency; it cannot be merged"):
        merge_runs([directory.path, test.path], str(tmp_path))


def test_a_record_keeps_its_cuts(tmp_path):
    directory = run_of(tmp_path, record(cut(1)))
    assert directory.records.find("h", "log").kind_data == record(cut(1)).kind_data


@pytest.mark.parametrize(
    "durability", [{}, {"cuts": [1]}, {"cuts": [{}]}, {"losses": [{"loss": 1}]}, {"claim": 5}, {"cut_count": "1"}]
)
def test_a_record_with_other_cuts_is_refused(durability):
    good = record(cut(1)).as_dict()
    broken = {**good, "durability": {**good["durability"], **durability} if durability else {}}
    with pytest.raises(RecordError, match="has no usable durability"):
        HostRecord.from_dict(broken)
