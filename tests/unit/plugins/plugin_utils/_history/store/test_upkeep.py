# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A history can be rebuilt from run directories, and is pruned together with them."""

from __future__ import annotations

import dataclasses
import datetime
import json
import types
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.certificate import Certificate
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import Today, fleet_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store import kept
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import import_runs, prune
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.history import JUDGED, HistoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import with_seal
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import gate, history
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history.mqldt.test_import_files import ONE

GOOD = fabricate.tables(over=[])
BEFORE = datetime.date(2026, 3, 1)


def make_run(base, place, day, hosts=("db07",), files=GOOD, volumes=("log",), measured=None, skipped=(), **keys):
    """Make a run of one day whose hosts pass, in the state after its gate."""
    run = {
        **fabricate.run_data(hosts, **keys),
        "created_at": f"{day}T10:00:00Z",
        "run_id": f"run-{day}",
        "history": {"place": place, "required": True},
    }
    directory = RunDirectory.create(str(base), run)
    for host in hosts:
        if volumes != ("log",):
            directory.volumes.write(
                host, [*({"name": name} for name in volumes), *({"name": name, "skipped": True} for name in skipped)]
            )
        for volume in volumes if measured is None else measured:
            record = fabricate.judged(run, host, files, volume=volume, created_at=f"{day}T11:00:00Z")
            directory.records.write(
                dataclasses.replace(record, facts={**record.facts, "machine_id": f"{host:x<32}"}), files
            )
    assert gate.remember(directory, *gate.make_certificates(directory)) == ""
    return directory


@pytest.fixture
def base(tmp_path):
    return tmp_path / "reports"


@pytest.fixture
def place(tmp_path):
    """The location of an empty history."""
    place = str(tmp_path / "history.sqlite")
    open_history(place, create=True).close()
    return place


@pytest.fixture
def runs(base, place):
    """db07 was certified three times, db08 only once, in the first run."""
    return [
        make_run(base, place, day, hosts)
        for day, hosts in (("2026-01-01", ["db07", "db08"]), ("2026-02-01", ["db07"]), ("2026-05-01", ["db07"]))
    ]


def newest(place):
    with open_history(place) as opened:
        return sorted(opened.newest(), key=lambda entry: entry.order)


def test_the_history_is_rebuilt_from_the_reports_and_twice_changes_nothing(runs, base, place):
    other = place + ".other"
    with open_history(other, create=True) as rebuilt:
        assert import_runs(rebuilt, [str(base)]) == (4, 4, [])
        assert import_runs(rebuilt, [str(base), runs[0].path]) == (6, 0, [])
    assert newest(other) == newest(place)


def edited(path, **keys):
    """Change keys of a file as another version of this collection would write it, with its SHA-256."""
    content = json.loads(path.read_text())
    del content["sha256"]
    path.write_text(json.dumps(with_seal({**content, **keys})))


SLOW = fabricate.tables(fabricate.sweep_rows(latency_ns=4_000_000), over=[])
PASSED = {"verdict": "pass", "certified": True, "qualification": "", "reasons": [], "judgements": []}


@pytest.mark.parametrize(
    "files, changes, said",
    [
        (SLOW, PASSED, "states pass, but its tables result in fail: latency_mean 4"),
        (GOOD, {"verdict": "fail", "certified": False}, "states fail, but its tables result in pass"),
        (
            fabricate.tables(over=[], exit_status=4, exit_reason="interrupted"),
            PASSED,
            "states pass, but its tables result in inconclusive",
        ),
        (fabricate.tables(fabricate.sweep_rows(seconds=30), over=[]), PASSED, "its tables "),
        (
            fabricate.tables(over=[], exit_status=3, error_errno_name="EIO"),
            {"volume_facts": []},
            "contradicts its tables about the volume",
        ),
    ],
)
def test_a_record_that_its_tables_contradict_is_not_imported(base, place, files, changes, said):
    run = make_run(base, place, "2026-01-01", files=files)
    record, certificate = (Path(run.path) / "hosts/db07/log" / name for name in ("record.json", "certificate.json"))
    edited(record, **changes)
    certificate.unlink()
    with open_history(place + ".other", create=True) as rebuilt:
        total, added, (problem,) = import_runs(rebuilt, [run.path])
        assert (total, added) == (0, 0) and said in problem and rebuilt.newest() == []


@pytest.mark.parametrize(
    "changes, key",
    [
        ({"valid_until": "2030-01-01"}, "valid_until"),
        ({"verdict": "warn", "limits_verdict": "warn"}, "verdict"),
        ({"rows": []}, "rows"),
    ],
)
def test_a_certificate_that_its_record_contradicts_is_not_imported(base, place, changes, key):
    run = make_run(base, place, "2026-01-01")
    file = Path(run.path) / "hosts/db07/log/certificate.json"
    file.write_text(Certificate.of_content({**json.loads(file.read_text()), **changes}).text)
    with open_history(place + ".other", create=True) as rebuilt:
        dummy, added, (problem,) = import_runs(rebuilt, [run.path])
    assert added == 0 and f"{key} in its certificate.json differs from its record" in problem


def test_a_record_that_says_less_than_its_tables_is_believed(base, place):
    """Different versions of this collection may judge close cases differently."""
    run = make_run(base, place, "2026-01-01")
    record, certificate = (Path(run.path) / "hosts/db07/log" / name for name in ("record.json", "certificate.json"))
    edited(record, verdict="inconclusive", certified=False)
    certificate.unlink()
    with open_history(place + ".other", create=True) as rebuilt:
        assert import_runs(rebuilt, [run.path]) == (1, 1, [])


def plans_of(place):
    with open_history(place) as opened:
        return {host: [(each.volume, each.path) for each in plan] for host, plan in opened.plans().items()}


def test_the_newest_plan_of_a_run_that_measured_to_certify_is_what_must_be_certified(base, place, tmp_path):
    planned = {"db07": [("log", "/var/mqm/log")], "db08": [("log", "/var/mqm/log")]}
    make_run(base, place, "2026-01-01", ["db07", "db08"])
    assert plans_of(place) == planned
    for day, keys in (
        ("2026-01-02", {"profile": "look"}),
        ("2026-01-03", {"check_mode": True}),
        ("2026-01-04", {"kind": "observation"}),
    ):
        make_run(base, place, day, volumes=["other"], **keys)
    elsewhere = str(tmp_path / "elsewhere.sqlite")
    open_history(elsewhere, create=True).close()
    older = make_run(base, elsewhere, "2025-12-31", volumes=["older"])
    with open_history(place) as history:
        import_runs(history, [older.path])
    assert plans_of(place) == planned
    make_run(base, place, "2026-01-05", volumes=["data", "log"], measured=["log"])
    both = [("data", ""), ("log", "/var/mqm/log")]
    assert plans_of(place) == {**planned, "db07": both}
    make_run(base, place, "2026-01-06", volumes=["data", "log"], measured=[])
    assert plans_of(place) == {**planned, "db07": both}, (
        "if a run did not find out a mount point, the known one is kept"
    )


def test_what_could_not_be_discovered_is_not_planned(base, place):
    make_run(base, place, "2026-01-01", parameters={"workspace_discover": True})
    assert plans_of(place) == {}


def test_what_is_skipped_on_a_passive_node_is_not_planned_there(base, place):
    make_run(base, place, "2026-01-01", volumes=["qm1", "qm2"])
    make_run(base, place, "2026-01-02", volumes=["qm1"], skipped=["qm2"])
    assert plans_of(place) == {"db07": [("qm1", "/var/mqm/log")]}


def test_a_volume_that_is_no_longer_wanted_is_taken_out_of_plan_and_states(base, place):
    make_run(base, place, "2026-01-01", volumes=["data", "log"])
    with open_history(place) as opened:
        with pytest.raises(HistoryError, match="requires a reason"):
            history.revoke(opened, "db07/data:/var/mqm/log", " ")
        with pytest.raises(HistoryError, match="does not contain the volume db07/data:/elsewhere"):
            history.revoke(opened, "db07/data:/elsewhere", "gone")
        assert "db07/data:/var/mqm/log is withdrawn: 2 entries" in history.revoke(
            opened, "db07/data:/var/mqm/log", "gone"
        )
        lines = fleet_status(opened.newest(), opened.revocations(), Today(datetime.date(2026, 1, 2), 14))
        assert {line.volume: line.state for line in lines} == {"data": "revoked", "log": "valid"}
    assert plans_of(place) == {"db07": [("log", "/var/mqm/log")]}
    make_run(base, place, "2026-01-03", volumes=["data", "log"])
    assert plans_of(place) == {"db07": [("data", "/var/mqm/log"), ("log", "/var/mqm/log")]}


def test_a_link_to_the_newest_run_names_that_run(runs, base, place):
    with open_history(place) as opened:
        assert import_runs(opened, [str(base / "latest")]) == (1, 0, [])


def test_what_cannot_be_imported_is_named_and_the_rest_is_imported(runs, base, place, tmp_path):
    (Path(runs[0].path) / "run.json").write_text("{}")
    (Path(runs[1].path) / "hosts/db07/log/certificate.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    with open_history(place + ".other", create=True) as rebuilt:
        total, added, problems = import_runs(rebuilt, [str(tmp_path / "none"), str(tmp_path / "empty"), str(base)])
    assert (total, added) == (1, 1)
    assert [
        words in problem
        for words, problem in zip(
            ("none cannot be read", "contains none", "schema 1", "hosts/db07/log: "), problems, strict=True
        )
    ] == [True] * 4


def test_pruning_removes_old_runs_but_none_that_says_a_present_state(runs, base, place):
    unknown = RunDirectory.create(str(base), {"run_id": "unknown", "created_at": "2025-01-01T00:00:00Z"})
    before = newest(place)
    with open_history(place) as opened:
        for run in runs:
            kept.keep(opened, run, JUDGED)
        assert prune(opened, str(base), BEFORE) == (2, ["run-2026-02-01"], 1)
        states = [line.state for line in fleet_status(opened.newest(), (), Today(datetime.date(2026, 5, 2), 14))]
    assert newest(place) == before and states == ["expired", "valid"]
    assert [Path(run.path).exists() for run in (*runs, unknown)] == [True, False, True, True]


def test_pruning_touches_nothing_that_only_looks_like_a_run(runs, base, place, tmp_path):
    moved = Path(runs[1].path).rename(base / "kept-by-hand")
    (base / "run-2026-02-01").symlink_to(moved)
    with open_history(place) as opened:
        assert prune(opened, str(base), BEFORE) == (2, [], 0)
    assert moved.exists()


def test_the_first_import_makes_the_directory_of_the_reports(tmp_path, capsys):
    file = tmp_path / "db07-2019-05-04.csv"
    file.write_bytes(ONE)
    plugin = history.Step.__new__(history.Step)
    plugin._task, plugin._display = (
        types.SimpleNamespace(check_mode=False),
        types.SimpleNamespace(display=lambda text, color=None: print(text)),
    )
    asked = {
        **dict.fromkeys(("import", "mqldt_dates", "revoke", "prune_before")),
        "history": "",
        "mqldt_host": "",
        "mqldt_volume": "log",
    }
    answer = plugin.answer(
        {**asked, "import_mqldt": [str(file)], "report_dir": str(tmp_path / "reports")}, {"groups": {"all": ["db07"]}}
    )
    assert answer["problems"] == [] and "1 run of db07, 1 added" in capsys.readouterr().out
    assert [entry.host for entry in newest(str(tmp_path / "reports/history.sqlite"))] == ["db07"]


def test_each_request_is_told(runs, base, place):
    (base / "db07-2019-05-04.csv").write_bytes(ONE)
    mqldt = {
        "import_mqldt": [str(base / "db07-2019-05-04.csv")],
        "mqldt_host": "",
        "mqldt_dates": None,
        "mqldt_volume": "data",
    }
    asked = {
        "import": [str(base)],
        **mqldt,
        "revoke": newest(place)[0].sha256[:10],
        "reason": "recalled",
        "prune_before": "2026-03-01",
    }
    with open_history(place) as opened:
        done, problems = history.keep(opened, {**asked, "report_dir": str(base)}, ["db07"])
        assert [revocation["reason"] for revocation in opened.revocations().values()] == ["recalled"]
    assert problems == [] and len(done) == 4
    assert "had 4 of 4 entries, and 0 were added" in done[0] and "1 run of db07/data, 1 added: 2019-05-04 " in done[1]
    assert "db08 (mq-log-silver) is revoked" in done[2] and "2 entries, 1 run directories and 0 reports" in done[3]
