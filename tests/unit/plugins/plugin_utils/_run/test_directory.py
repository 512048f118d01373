# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The run directory: stored data is complete, no matter which process stores it and what the name of the host is."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import multiprocessing
import os
import re

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_record, judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.merged_run import merge_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import fleet_verdict, missing_hosts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import note
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run import orders
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.files import read_file, write_file, written_aside
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.findings import SOURCE_MESSAGE, finding
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.host_settings import (
    VARIES,
    profile_key,
    profiles_by_sha256,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.names import safe_name
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import RunDirectoryError, with_seal
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from hypothesis import given
from hypothesis import strategies as st

HOSTILE_NAMES = (
    "..",
    ".",
    "",
    "/",
    "/etc/passwd",
    "../../x",
    ".hidden",
    "a/b",
    "a\\b",
    "a" * 300,
    "ünï",
    "db07\n",
    "DB07",
    "Db07",
    "<script>",
    "=cmd()",
    "a b",
    "con~1",
    "\x00",
    "\u202edb",
    "db07~0123456789abcdef",
    "-rf",
    "{{ 7*7 }}",
    "record.json/..",
)


@pytest.fixture
def directory(tmp_path):
    return RunDirectory.create(str(tmp_path), fabricate.run_data(["db07", "db08"]))


def record(host="db07", **keys):
    return dataclasses.replace(fabricate.failed(host), **keys)


def leftovers(path):
    return [name for folder, dummy, names in os.walk(path) for name in names if name.startswith(".")]


def test_a_new_run(tmp_path):
    directory = RunDirectory.create(str(tmp_path / "a" / "reports"), fabricate.run_data(["db07"]))
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{6}", directory.run["run_id"])
    assert directory.path == str(tmp_path / "a" / "reports" / directory.run["run_id"])
    assert directory.run["schema"] == 1
    assert RunDirectory.open(directory.path).run == directory.run
    assert os.readlink(tmp_path / "a" / "reports" / "latest") == directory.run["run_id"]
    assert RunDirectory.open(str(tmp_path / "a" / "reports" / "latest")).path == directory.path
    assert leftovers(tmp_path) == []


def test_a_run_id_is_never_used_twice(tmp_path):
    run = fabricate.run_data(["db07"], run_id="r1")
    RunDirectory.create(str(tmp_path), run)
    with pytest.raises(RunDirectoryError, match="File exists"):
        RunDirectory.create(str(tmp_path), run)


@pytest.mark.parametrize("run_id", ["../x", "", ".x", "a/b", "a" * 101, None, "a\n"])
def test_a_run_id_is_a_name(tmp_path, run_id):
    with pytest.raises(RunDirectoryError, match="run ID"):
        RunDirectory.create(str(tmp_path / "reports"), {"run_id": run_id})
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize("run_id", ["", "../x", "R1\x1b[2J"])
def test_the_run_id_of_a_directory_from_elsewhere_is_a_name(tmp_path, run_id):
    path = RunDirectory.create(str(tmp_path), {}).path
    write_file(os.path.join(path, "run.json"), json.dumps({"schema": 1, "run_id": run_id}).encode())
    with pytest.raises(RunDirectoryError, match="no usable run_id"):
        RunDirectory.open(path)


def test_a_base_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="cannot be created"):
        RunDirectory.create(str(tmp_path / "file" / "reports"), {})


def test_latest_follows_the_newest_run_and_never_replaces_anything_else(tmp_path):
    first = RunDirectory.create(str(tmp_path), {})
    second = RunDirectory.create(str(tmp_path), {})
    assert os.readlink(tmp_path / "latest") == second.run["run_id"] != first.run["run_id"]
    os.unlink(tmp_path / "latest")
    (tmp_path / "latest").write_text("mine")
    RunDirectory.create(str(tmp_path), {})
    assert (tmp_path / "latest").read_text() == "mine"
    os.unlink(tmp_path / "latest")
    (tmp_path / "latest").mkdir()
    RunDirectory.create(str(tmp_path), {})
    assert (tmp_path / "latest").is_dir()
    assert not (tmp_path / "latest").is_symlink()


@pytest.mark.parametrize(
    "content",
    ["", "x", "[]", "{}", '{"schema": 1}', '{"schema": 1, "run_id": "../r"}', '{"schema": NaN}', "[" * 100000],
)
def test_what_is_no_run_directory(tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(RunDirectoryError):
        RunDirectory.open(str(tmp_path))


def in_schema_2(path):
    """Change the version of the format of a JSON file, with a SHA-256 that matches."""
    with open(path, encoding="utf-8") as file:
        data = {**json.load(file), "schema": 2}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(with_seal(data) if data.pop("sha256", None) else data, file)


def test_another_schema_is_refused_with_both_versions(tmp_path):
    directory, folder = compared_directory(tmp_path)
    directory.write_verdict({"run_id": directory.run["run_id"]})
    directory.volumes.write("db07", [{"name": "log"}, {"name": "data"}])
    words = "has schema 2, but this version of the collection reads schema 1."
    for name, read in (
        ("verdict.json", directory.verdict),
        ("hosts/db07/volumes.json", lambda: directory.volumes.expected("db07")),
        ("run.json", lambda: RunDirectory.open(directory.path)),
    ):
        path = os.path.join(directory.path, name)
        in_schema_2(path)
        with pytest.raises(RunDirectoryError, match=f"{re.escape(path)} {words}"):
            read()
    path = os.path.join(directory.path, folder, "record.json")
    in_schema_2(path)
    (reason,) = directory.records.read(folder).reasons
    assert reason == f"its record cannot be read: {path} {words}"
    with open(path, "w", encoding="utf-8") as file:
        file.write("{}")
    (reason,) = directory.records.read(folder).reasons
    assert "has no schema, but this version" in reason


@pytest.mark.parametrize(
    ("key", "value"),
    [("kind", "other"), ("controller", ["x"]), ("expected_hosts", "db01"), ("created_at", 1), ("policy", "fail")],
)
def test_a_run_whose_json_has_another_type_is_named(tmp_path, key, value):
    (tmp_path / "run.json").write_text(json.dumps({"schema": 1, "run_id": "r", "kind": "measurement", key: value}))
    with pytest.raises(RunDirectoryError, match=f"no usable {key}"):
        RunDirectory.open(str(tmp_path))


def test_a_record_and_its_tables_come_back_as_they_were(directory):
    files = fabricate.tables()
    filed = fabricate.judged(directory.run, "db07", files)
    folder = directory.records.write(filed, files)
    assert folder == "hosts/db07/log"
    (read,) = list(judged_records(directory))
    assert dataclasses.replace(read, tables={}, run_id="") == filed
    assert read.profile == profile_key(directory.run["profile"])
    assert read.tables["results.csv"] == {
        "bytes": len(files["results.csv"]),
        "sha256": hashlib.sha256(files["results.csv"]).hexdigest(),
    }
    assert directory.records.tables(read) == files
    assert leftovers(directory.path) == []


def test_files_are_for_everybody_to_read(directory):
    umask = os.umask(0o022)
    try:
        directory.records.write(record())
    finally:
        os.umask(umask)
    folder = os.path.join(directory.path, "hosts", "db07")
    assert os.stat(folder).st_mode & 0o777 == 0o755
    assert os.stat(os.path.join(folder, "log", "record.json")).st_mode & 0o777 == 0o644


def test_figures_that_json_cannot_hold_become_null(directory):
    directory.records.write(record(facts={"a": float("nan"), "b": [float("inf")], "c": 1.5}))
    assert next(iter(judged_records(directory))).facts == {"a": None, "b": [None], "c": 1.5}


@pytest.mark.parametrize("name", ["../x.csv", "x", "record.json", "Results.csv", ".csv", "a/b.csv", "x.csv\n"])
def test_only_tables_are_filed_beside_a_record(directory, name):
    with pytest.raises(RunDirectoryError, match="not the name of a table"):
        directory.records.write(record(), {name: b""})
    assert list(judged_records(directory)) == []


def test_missing_hosts(directory):
    assert directory.missing() == [("db07", "log"), ("db08", "log")]
    directory.records.write(record("db07"))
    os.makedirs(os.path.join(directory.path, "hosts", "db08", "log"))
    assert directory.missing() == [("db08", "log")]


def test_a_volume_that_was_noted_and_not_reported_is_missing(directory):
    directory.volumes.write("db08", [{"name": "log1", "path": "/a"}, {"name": "Log 2"}])
    assert directory.volumes.read("db07") is None
    assert directory.volumes.read("db08") == [{"name": "log1", "path": "/a"}, {"name": "Log 2"}]
    directory.records.write(record("db07", volume="data"))
    directory.records.write(record("db08", volume="log1"))
    assert directory.missing() == [("db08", "Log 2")]
    assert [(each.host, each.volume, each.verdict) for each in missing_hosts(directory)] == [
        ("db08", "Log 2", "missing")
    ]
    assert [directory.volumes.expected(host) for host in ("db07", "db08", "db09")] == [
        ["data"],
        ["log1", "Log 2"],
        ["log"],
    ]


def test_the_default_volume_alone_needs_no_note(directory):
    directory.volumes.write("db07", [{"name": "log", "path": "/a"}])
    assert os.listdir(os.path.join(directory.path, "hosts")) == []
    directory.volumes.write("db07", [{"name": "log1"}])
    directory.volumes.write("db07", [{"name": "log"}])
    assert directory.volumes.expected("db07") == ["log"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        '{"host": "db08", "volumes": [{"name": "a"}]}',
        '{"host": "db07", "volumes": []}',
        '{"host": "db07", "volumes": [{"name": 1}]}',
    ],
)
def test_a_note_of_volumes_that_cannot_be_used_never_makes_the_expectation_smaller(directory, content):
    directory.records.write(record("db07"))
    with open(os.path.join(directory.path, "hosts", "db07", "volumes.json"), "w") as file:
        file.write(content)
    with pytest.raises(RunDirectoryError, match=r"volumes\.json"):
        directory.missing()


def test_a_merged_run_expects_the_volumes_of_all_its_runs(tmp_path):
    older = RunDirectory.create(
        str(tmp_path / "a"), fabricate.run_data(["db07", "db08"], created_at="2026-11-20T00:00:00Z")
    )
    newer = RunDirectory.create(str(tmp_path / "b"), fabricate.run_data(["db07"], created_at="2026-11-21T00:00:00Z"))
    older.volumes.write("db07", [{"name": "a", "path": "/old"}, {"name": "b"}])
    older.records.write(record("db07", volume="b"))
    older.records.write(record("db08", volume="data"))
    newer.volumes.write("db07", [{"name": "a", "path": "/new"}, {"name": "c"}])
    merged = merge_runs([newer.path, older.path], str(tmp_path / "c"))
    assert merged.volumes.read("db07") == [{"name": "a", "path": "/new"}, {"name": "b"}, {"name": "c"}]
    assert merged.volumes.expected("db08") == ["data"]
    assert merged.missing() == [("db07", "a"), ("db07", "c")]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_stay_inside_and_true(tmp_path, name):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data([name]))
    directory.records.write(record(name, volume=name))
    inside = os.listdir(os.path.join(directory.path, "hosts"))
    assert len(inside) == 1
    assert re.fullmatch(r"[a-z0-9_~][a-z0-9_.~-]*", inside[0])
    assert len(inside[0]) <= 80
    assert sorted(os.listdir(tmp_path)) == sorted([directory.run["run_id"], "latest"])
    assert [(read.host, read.volume, read.verdict) for read in list(judged_records(directory))] == [
        (name, name, "unreachable")
    ]
    assert directory.missing() == []


@given(st.text(max_size=90), st.text(max_size=90))
def test_two_names_never_share_a_folder(one, other):
    safe_one, safe_other = safe_name(one), safe_name(other)
    assert (safe_one.lower() == safe_other.lower()) is (one == other)
    assert "/" not in safe_one
    assert safe_one not in ("", ".", "..")


@pytest.mark.parametrize("name", ["volumes.json", "workspace_volumes.yml"])
def test_a_volume_may_be_called_like_a_file_of_its_host(tmp_path, name):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h7"]))
    directory.volumes.write("h7", [{"name": name}])
    directory.volumes.write_discovered("h7", "---\n")
    directory.orders.write({"host": "h7", "volume": name})
    assert directory.missing() == [("h7", name)]


def hostile(directory, change):
    """Store a record, and then change its text without using the directory's functions. Data that is still an object
    has its right SHA-256."""
    files = fabricate.tables()
    folder = directory.records.write(fabricate.judged(directory.run, "db07", files), files)
    path = os.path.join(directory.path, folder, "record.json")
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    del data["sha256"]
    content = change(data)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content if isinstance(content, str) else json.dumps(with_seal(data)))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: "",
        lambda data: "null",
        lambda data: "[" * 100000,
        lambda data: '{"schema": 1, "a": NaN}',
        lambda data: '{"schema": 1, "a": ' + "9" * 5000 + "}",
        lambda data: data.update(schema=2),
        lambda data: data.update(host="db08"),
        lambda data: data.update(host=None),
        lambda data: data.pop("kind"),
        lambda data: data.pop("findings"),
        lambda data: data.pop("volume_facts"),
        lambda data: data["judgements"][0].pop("cause"),
        lambda data: data.update(reasons=[1]),
        lambda data: data.update(leftovers=[{}]),
        lambda data: data.update(judgements=["x"]),
        lambda data: data["judgements"][0].update(value="x"),
        lambda data: data["judgements"][0].update(value=10**30),
        lambda data: data["judgements"][0].update(verdict=None),
        lambda data: data["judgements"][0].update(waiver=["x"]),
        lambda data: data.update(verdict=7),
        lambda data: data.update(tables={"results.csv": "x"}),
        lambda data: data.update(workspace={"queue_managers": {"1": "x"}}),
    ],
)
def test_a_record_that_cannot_be_trusted_becomes_an_error(directory, change):
    hostile(directory, change)
    (read,) = list(judged_records(directory))
    assert (read.host, read.volume, read.kind, read.verdict, read.certified) == ("db07", "log", "error", "error", False)
    assert "its record cannot be read" in read.reasons[0]
    assert fleet_verdict(directory.run, [read])["gate_failed"] is True


def test_the_true_name_of_an_unreadable_record_is_the_expected_one(tmp_path):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["DB07"]))
    folder = directory.records.write(record("DB07"))
    with open(os.path.join(directory.path, folder, "record.json"), "w", encoding="utf-8") as file:
        file.write("x")
    assert next(iter(judged_records(directory))).host == "DB07"


def test_links_are_not_followed(directory, tmp_path):
    outside = tmp_path / "outside"
    (outside / "log").mkdir(parents=True)
    (outside / "log" / "record.json").write_text("{}")
    os.symlink(outside, os.path.join(directory.path, "hosts", "db08"))
    assert list(judged_records(directory)) == []
    with pytest.raises(RunDirectoryError, match="File exists"):
        directory.records.write(record("db08"))
    directory.records.write(record("db07"))
    path = os.path.join(directory.path, "hosts", "db07", "log", "record.json")
    os.unlink(path)
    os.symlink(outside / "log" / "record.json", path)
    assert next(iter(judged_records(directory))).verdict == "error"
    directory.records.write(record("db07"))
    assert (outside / "log" / "record.json").read_text() == "{}"


@pytest.mark.parametrize("change", ["changed", "gone", "link", "name"])
def test_tables_that_are_not_what_was_collected(directory, change):
    files = fabricate.tables()
    folder = directory.records.write(fabricate.judged(directory.run, "db07", files), files)
    path = os.path.join(directory.path, folder, "results.csv")
    read = next(iter(judged_records(directory)))
    if change == "changed":
        with open(path, "ab") as file:
            file.write(b"x")
    elif change == "name":
        read.tables = {"../record.json": {"sha256": ""}}
    else:
        os.rename(path, path + ".moved")
        if change == "link":
            os.symlink(path + ".moved", path)
    with pytest.raises(RunDirectoryError):
        directory.records.tables(read)


def test_leftovers_are_noted_in_a_filed_record(directory):
    directory.records.note_leftovers("db07", "log", ["/x"])
    assert directory.records.folders() == []
    files = fabricate.tables()
    directory.records.write(fabricate.judged(directory.run, "db07", files), files)
    directory.records.note_leftovers("db07", "log", ["/x"])
    (read,) = list(judged_records(directory))
    assert read.leftovers == ["/x"]
    assert directory.records.tables(read) == files


X_IS_1 = finding(SOURCE_MESSAGE, None, text="x is 1")


def test_facts_and_notes_join_a_filed_record(directory):
    assert note(directory, "db07", "log", [X_IS_1], {"x": 1}) is False
    directory.records.write(fabricate.judged(directory.run, "db07", fabricate.tables(), notes=["first"]))
    assert note(directory, "db07", "log", [X_IS_1], {"x": 1}) is True
    (read,) = list(judged_records(directory))
    assert (read.facts["os"], read.facts["x"], read.notes, read.noted) == (
        "Rocky Linux 9.4",
        1,
        ["first", "x is 1"],
        [X_IS_1],
    )
    assert (
        note(directory, "db07", "log", [X_IS_1, finding(SOURCE_MESSAGE, None, text="out of range", value=1e30)]) is True
    )
    assert next(judged_records(directory)) == read


@pytest.mark.parametrize(
    "change",
    [
        {"gate_failed": "false"},
        {"hosts": None},
        {"policy": []},
        {"asked_by": 1},
        {"counts": 1},
        {"reasons": [1]},
        *(
            {"hosts": [each]}
            for each in (
                "db07",
                {"verdict": "good"},
                {"verdict": []},
                {"stops_gate": 0},
                {"profile": "x"},
                {"findings": [{}]},
                {"reasons": None},
            )
        ),
    ],
)
def test_a_verdict_of_another_shape_is_refused(directory, change):
    judged = {**fleet_verdict(directory.run, [fabricate.failed("db07")]), "asked_by": "gate"}
    changed = {**judged, **change}
    if isinstance(changed["hosts"], list) and isinstance(changed["hosts"][0], dict):
        changed["hosts"] = [{**judged["hosts"][0], **changed["hosts"][0]}]
    directory.write_verdict(changed)
    with pytest.raises(RunDirectoryError, match=f"has no usable {next(iter(change))}"):
        directory.verdict()


def file_many(path, start):
    directory = RunDirectory.open(path)
    for number in range(start, start + 25):
        for _again in range(2):
            directory.records.write(fabricate.failed(f"h{number % 40}"), {"run.csv": b"x" * 5000})


def test_many_workers_file_at_once(tmp_path):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data([f"h{number}" for number in range(40)]))
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=file_many, args=(directory.path, 10 * worker)) for worker in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert directory.missing() == []
    assert {read.verdict for read in judged_records(directory)} == {"unreachable"}
    assert all(directory.records.tables(read) == {"run.csv": b"x" * 5000} for read in judged_records(directory))
    assert leftovers(directory.path) == []


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = str(tmp_path / "file")
    write_file(path, b"old")
    with pytest.raises(KeyboardInterrupt), written_aside(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"


def test_reading_has_an_end(tmp_path):
    write_file(str(tmp_path / "file"), b"12345")
    assert read_file(str(tmp_path / "file"), 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_file(str(tmp_path / "file"), 4)


COMPARED = {"baseline": {"kind": "last", "margin": 0.1, "accept": False, "named": [], "certificates": []}}
PASSED = {"outcome": "non-inferior", "verdict": "pass", "reason": "not worse"}
WORSE = {"outcome": "worse", "verdict": "fail", "reason": "30 % more"}


def compared_directory(tmp_path, **tables):
    """Return a run that is compared with a baseline, with the record of a host that meets its limits, and the folder of
    this record."""
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["db07"], **COMPARED))
    files = fabricate.tables(**tables)
    return directory, directory.records.write(fabricate.judged(directory.run, "db07", files), files)


@pytest.mark.parametrize(
    "comparison, verdict, reason, limits_verdict",
    [
        (
            None,
            "inconclusive",
            "it has not been compared with its baseline, because the gate ended before the comparison",
            "pass",
        ),
        (WORSE, "fail", "30 % more", "pass"),
        ({**PASSED, "outcome": "inconclusive", "verdict": "inconclusive"}, "inconclusive", "not worse", "pass"),
        (
            {"verdict": "fail", "reason": 1},
            "inconclusive",
            "its comparison.json cannot be used, so the result of the comparison is not known",
            "pass",
        ),
    ],
)
def test_a_host_is_judged_by_its_comparison_as_well(tmp_path, comparison, verdict, reason, limits_verdict):
    directory, folder = compared_directory(tmp_path)
    if comparison is not None:
        directory.comparisons.write(folder, comparison)
    record = judged_record(directory, folder)
    assert (record.verdict, record.reasons, record.certified, record.qualification) == (
        verdict,
        [reason],
        False,
        f"the verdict is {verdict}",
    )
    assert record.comparison["limits_verdict"] == limits_verdict == directory.records.read(folder).verdict
    assert fleet_verdict(directory.run, judged_records(directory))["verdict"] == verdict


def test_a_comparison_that_passes_changes_nothing(tmp_path):
    directory, folder = compared_directory(tmp_path)
    limits = directory.records.read(folder)
    directory.comparisons.write(folder, PASSED)
    record = judged_record(directory, folder)
    assert (record.verdict, record.certified, record.reasons, record.notes) == (
        "pass",
        limits.certified,
        [],
        [*limits.notes, "not worse"],
    )


def test_the_worse_of_limits_and_comparison_counts_and_is_named_first(tmp_path):
    directory, folder = compared_directory(tmp_path, exit_status=4, exit_reason="interrupted")
    (ending,) = directory.records.read(folder).reasons
    directory.comparisons.write(folder, {**WORSE, "verdict": "inconclusive"})
    assert judged_record(directory, folder).reasons == [ending, "30 % more"]
    directory.comparisons.write(folder, WORSE)
    assert (judged_record(directory, folder).verdict, judged_record(directory, folder).reasons) == (
        "fail",
        ["30 % more", ending],
    )


def test_a_host_that_was_not_measured_is_not_compared(tmp_path):
    directory, dummy = compared_directory(tmp_path)
    folder = directory.records.write(fabricate.failed("db08"))
    assert (judged_record(directory, folder).verdict, judged_record(directory, folder).comparison) == (
        "unreachable",
        None,
    )


def test_what_follows_from_a_comparison_is_removed_with_it(tmp_path):
    directory, folder = compared_directory(tmp_path)
    path = os.path.join(directory.path, folder)
    directory.certificates.write(folder, "{}")
    directory.write_verdict({"schema": 1})
    directory.comparisons.write(folder, WORSE)
    assert directory.verdict() is None and not os.path.exists(os.path.join(path, "certificate.json"))
    directory.records.note_leftovers("db07", "log", ["a file"])
    assert (directory.records.read(folder).verdict, judged_record(directory, folder).verdict) == ("pass", "fail")
    files = fabricate.tables()
    directory.records.write(fabricate.judged(directory.run, "db07", files), files)
    assert directory.comparisons.read(folder) is None


def test_merging_keeps_what_each_host_was_measured_with(tmp_path):
    files = fabricate.tables()
    bronze, gold = (
        {"name": name, "version": 1, "limits": [{"metric": "latency_mean", "max": limit}]}
        for name, limit in (("bronze", "9 ms"), ("gold", "1 ms"))
    )
    common = {"sweep_files": 16, "sweep_duration": 60}
    settings = (
        (
            "a",
            ["db07", "db08"],
            bronze,
            {"parameters": common, "host_classes": {"db07": "san"}, "host_targets": {"db08": {"target_clients": 3}}},
        ),
        (
            "b",
            ["db08", "db09"],
            gold,
            {"parameters": {**common, "sweep_duration": 600}, "host_parameters": {"db09": {"sweep_nice": 5}}},
        ),
    )
    runs = []
    for day, (name, hosts, profile, keys) in enumerate(settings, start=20):
        runs.append(
            RunDirectory.create(
                str(tmp_path / name),
                fabricate.run_data(hosts, created_at=f"2026-11-{day}T00:00:00Z", **{**keys, "profile": profile}),
            )
        )
    for run, host, volume in (
        (runs[0], "db07", "log"),
        (runs[0], "db08", "data"),
        (runs[1], "db08", "log"),
        (runs[1], "db09", "log"),
    ):
        run.records.write(fabricate.judged(run.run, host, files, volume), files)
    merged = merge_runs([run.path for run in runs], str(tmp_path / "c"))
    # A volume keeps its own profile even if the newest run has another profile for its host.
    assert [(read.host, read.volume, read.profile["name"]) for read in list(judged_records(merged))] == [
        ("db07", "log", "bronze"),
        ("db08", "data", "bronze"),
        ("db08", "log", "gold"),
        ("db09", "log", "gold"),
    ]
    known = profiles_by_sha256(merged.run)
    assert all(known[read.profile["sha256"]]["name"] == read.profile["name"] for read in list(judged_records(merged)))
    assert merged.run["parameters"] == {"sweep_files": 16, "sweep_duration": VARIES, "sweep_nice": VARIES}
    assert merged.run["host_parameters"] == {
        "db07": {"sweep_duration": 60},
        "db08": {"sweep_duration": 600},
        "db09": {"sweep_duration": 600, "sweep_nice": 5},
    }
    assert (merged.run["host_classes"], merged.run["host_targets"]) == ({"db07": "san"}, {})


@pytest.mark.parametrize(("opened_at", "missing"), [("2026-11-20T02:00:00Z", ["db07"]), ("2026-11-20T00:30:00Z", [])])
def test_a_record_does_not_stand_for_a_later_run_that_was_lost(tmp_path, opened_at, missing):
    files = fabricate.tables()
    kept = RunDirectory.create(str(tmp_path), fabricate.run_data(["db07", "db08"], created_at="2026-11-20T00:00:00Z"))
    for host in kept.expected_hosts:
        kept.records.write(fabricate.judged(kept.run, host, files, created_at="2026-11-20T01:00:00Z"), files)
    lost = RunDirectory.create(str(tmp_path), fabricate.run_data(["db07"], created_at=opened_at))
    merged = merge_runs([kept.path, lost.path], str(tmp_path / "merged"))
    assert merged.missing() == [(host, "log") for host in missing]


def test_merging_keeps_a_host_whose_tables_were_changed_as_an_error(directory, tmp_path):
    files = fabricate.tables()
    folder = directory.records.write(fabricate.judged(directory.run, "db07", files), files)
    with open(os.path.join(directory.path, folder, "results.csv"), "ab") as file:
        file.write(b"x")
    (read,) = judged_records(merge_runs([directory.path], str(tmp_path / "merged")))
    assert (read.host, read.verdict) == ("db07", "error")
    assert "SHA-256" in read.reasons[0]


@pytest.mark.parametrize(
    ("filed", "damaged", "verdict"),
    [
        (("2026-11-20T10:30:00Z", "2026-11-20T11:30:00Z"), None, "pass"),
        (("2026-11-20T10:30:00Z", "2026-11-20T11:30:00Z"), 1, "error"),
        (("2026-11-20T12:00:00Z", "2026-11-20T11:30:00Z"), 1, "error"),
        (("2026-11-20T10:30:00Z", "2026-11-20T11:30:00Z"), 0, "pass"),
    ],
)
def test_a_damaged_record_gives_way_to_newer_ones_only(tmp_path, filed, damaged, verdict):
    files, paths = fabricate.tables(), []
    for number, (started_at, filed_at) in enumerate(
        zip(("2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z"), filed, strict=True)
    ):
        source = RunDirectory.create(str(tmp_path), fabricate.run_data(["db07"], created_at=started_at))
        folder = source.records.write(fabricate.judged(source.run, "db07", files, created_at=filed_at), files)
        if number == damaged:
            with open(os.path.join(source.path, folder, "record.json"), "w", encoding="utf-8") as file:
                file.write("x")
        paths.append(source.path)
    (read,) = judged_records(merge_runs(reversed(paths), str(tmp_path / "merged")))
    assert read.verdict == verdict


def test_a_preflight_is_not_merged_with_what_was_measured(tmp_path):
    measured = RunDirectory.create(str(tmp_path), fabricate.run_data(["db07"], created_at="2026-11-20T00:00:00Z"))
    looked = RunDirectory.create(
        str(tmp_path), fabricate.run_data(["db07"], created_at="2026-11-21T00:00:00Z", check_mode=True)
    )
    for paths in ([measured.path, looked.path], [looked.path, measured.path], [looked.path, looked.path]):
        with pytest.raises(RunDirectoryError, match=f"{looked.run['run_id']} was made in check mode"):
            merge_runs(paths, str(tmp_path / "merged"))
    assert not (tmp_path / "merged").exists()


def test_a_merged_run_says_of_its_controllers_what_they_share(tmp_path):
    paths = []
    for number, name in enumerate(("one", "two")):
        run = fabricate.run_data(["db07"], created_at=f"2026-11-2{number}T00:00:00Z")
        job = {"id": name, "workflow_job_id": "16"}
        paths.append(
            RunDirectory.create(
                str(tmp_path), {**run, "controller": {**run["controller"], "hostname": name, "job": job}}
            ).path
        )
    controller = merge_runs(paths, str(tmp_path / "merged")).run["controller"]
    assert (controller["hostname"], controller["user"], controller["check_mode"]) == (None, "ops", False)
    assert controller["job"] == {"workflow_job_id": "16"}


def test_samples_are_added_to_those_that_came_before_and_bounded(tmp_path, monkeypatch):
    run = RunDirectory.create(str(tmp_path), {"run_id": "r", "expected_hosts": ["../db07"]})
    assert (run.samples.size("../db07", "log"), run.samples.read("../db07", "log")) == (0, b"")
    run.samples.add("../db07", "log", b"one\n")
    run.samples.add("../db07", "log", b"two\n")
    assert (run.samples.size("../db07", "log"), run.samples.read("../db07", "log")) == (8, b"one\ntwo\n")
    assert run.records.folders() == []
    monkeypatch.setattr(orders, "MAX_SAMPLES_BYTES", 10)
    with pytest.raises(RunDirectoryError, match=r"sent more than"):
        run.samples.add("../db07", "log", b"three\n")


def test_the_key_of_the_hash_is_reserved():
    with pytest.raises(ValueError, match="sha256 is reserved"):
        with_seal({"sha256": "x"})
