# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""If the history fails after a run was opened and before its gate, the report is kept, the run fails and gives the
reason, and an import completes the history."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sqlite3
import tempfile
import types
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store import open as opening
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.history import HistoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.sqlite import SqliteHistory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import KINDS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import gate, history, open_run
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate, small_disk
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import postgresql_server

HOSTS = 5


def answer(module, **options):
    """Return an action's result."""
    plugin = module.Step.__new__(module.Step)
    plugin._task = types.SimpleNamespace(check_mode=False)
    plugin._display = types.SimpleNamespace(display=lambda *dummy, **more: None, warning=lambda text: None)
    return plugin.answer(options, {"groups": {"all": []}})


def opened(reports, place, required=True, **keys):
    """Open a run while the history works, do everything except the gate, and return the run directory."""
    assert open_run.tried_history({"place": place, "required": required}, str(reports), create=True) == ("", None)
    files = fabricate.tables(fabricate.sweep_rows((4096, 1048576), seconds=60))
    measured = {f"db{number}": files for number in range(HOSTS)}
    return fabricate.run_directory(
        reports, measured, gate=False, profile="look", history={"place": place, "required": required}, **keys
    )


def gated(directory):
    return answer(
        gate,
        run_path=directory.path,
        judged_hosts=directory.expected_hosts,
        sign_key="",
        upload_url="",
        history="",
        policy={},
    )


def outcome(directory):
    return json.loads((Path(directory.path).parent / "outcome.json").read_text())["outcome"]


def assert_told(directory, result, *parts, was_read=True):
    """Assert that the run fails only because of the history, that the message explains how to complete it, and that
    everything else exists. If the history could not be read either, nothing passes."""
    (problem,) = result["fleet_problems"]
    assert result["warnings"] == [problem]
    for part in (
        "certificates of this run were not stored in the history: ",
        f"history_import={directory.path}",
        *parts,
    ):
        assert part in problem
    assert (result["logdisk"]["gate_failed"], result["logdisk"]["verdict"]) == (
        (False, "pass") if was_read else (True, "inconclusive")
    )
    assert outcome(directory) == result["artifacts"]["logdisk_local"]["outcome"] == "internal"
    assert {"index.html", "summary.txt", "verdict.json"} <= set(os.listdir(directory.path))


def assert_completed(directory, place):
    """Assert that nothing has been stored so far, and that an import completes the history."""
    nothing_else = dict.fromkeys(("import_mqldt", "revoke", "prune_before"))
    asked = {
        **nothing_else,
        "import": [directory.path],
        "history": place,
        "report_dir": str(Path(directory.path).parent),
    }
    assert answer(history, **asked)["done"] == [
        f"The history {place} had 0 of {HOSTS} entries, and {HOSTS} were added."
    ]
    with open_history(place) as store:
        assert len(store.of_run(directory.run["run_id"])) == HOSTS


def assert_only_warned(directory, part):
    """Assert that a failure of an optional history is reported, and does not fail the run."""
    directory.run["history"]["required"] = False
    (Path(directory.path) / "run.json").write_text(json.dumps(directory.run))
    result = gated(directory)
    (warning,) = result["warnings"]
    assert part in warning and "were not stored" in warning
    assert (result["fleet_problems"], outcome(directory)) == ([], "verdict")


def full_history(disk, reports, leave_bytes):
    place = os.path.join(disk, "history.sqlite")
    directory = opened(reports, place)
    small_disk.fill(disk, leave_bytes)
    assert_told(directory, gated(directory), f"the history {place} cannot be written: database or disk is full")
    assert len(list(Path(directory.path).rglob("certificate.json"))) == HOSTS
    assert_only_warned(directory, "database or disk is full")
    with open_history(place) as store:
        assert store.newest() == []
    small_disk.clear(disk)
    assert_completed(directory, place)


# Without any space, the journal cannot be created. With a little space, the disk becomes full during the transaction.
@pytest.mark.parametrize("leave_bytes", [0, 8 << 10])
def test_a_disk_that_fills_up_below_the_history(tmp_path, leave_bytes):
    (tmp_path / "disk").mkdir()
    small_disk.on_a_small_disk(str(tmp_path / "disk"), full_history, str(tmp_path / "reports"), leave_bytes)


def full_reports(disk, place):
    directory = opened(disk, place)
    small_disk.fill(disk)
    (problem,) = gated(directory)["fleet_problems"]
    assert (
        "the report cannot be written" in problem
        and "No space left" in problem
        and "certificates of this run were not stored" in problem
    )
    small_disk.clear(disk)
    assert gated(directory)["fleet_problems"] == []
    assert outcome(directory) == "verdict"
    with open_history(place) as store:
        assert len(store.of_run(directory.run["run_id"])) == HOSTS


@pytest.mark.parametrize("place", ["history.sqlite", "disk/history.sqlite"])
def test_a_disk_that_fills_up_below_the_reports(tmp_path, place):
    (tmp_path / "disk").mkdir()
    small_disk.on_a_small_disk(str(tmp_path / "disk"), full_reports, str(tmp_path / place))


def full_server(disk, reports):
    os.environ["LOGDISK_HISTORY_PASSWORD"] = postgresql_server.PASSWORD
    tempfile.tempdir = disk
    with postgresql_server.running_server("fsync=off") as server:
        place = server.new_database()
        directory = opened(reports, place)
        small_disk.fill(disk)
        assert_told(
            directory,
            gated(directory),
            f"the history {place} cannot be written: could not extend file",
            "No space left on device",
        )
        small_disk.clear(disk)
        assert_completed(directory, place)


def test_a_disk_that_fills_up_below_the_server(tmp_path):
    with tempfile.TemporaryDirectory() as disk:
        os.chmod(disk, 0o755)  # the server may run as another user
        small_disk.on_a_small_disk(disk, full_server, str(tmp_path / "reports"), size_bytes=128 << 20)


def test_a_server_that_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setenv("LOGDISK_HISTORY_PASSWORD", postgresql_server.PASSWORD)
    with postgresql_server.running_server("fsync=off") as server:
        place = server.new_database()
        directory = opened(tmp_path, place)
        server.stop()
        result = gated(directory)
        assert_told(directory, result, f"the history {place} cannot be opened: ", was_read=False)
        assert postgresql_server.PASSWORD not in repr(result)
        assert_only_warned(directory, "cannot be opened")
        server.start()
        assert_completed(directory, place)


def test_a_file_that_somebody_keeps_locked(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "SqliteHistory", functools.partial(SqliteHistory, patience_s=0.2))
    place = str(tmp_path / "history.sqlite")
    directory = opened(tmp_path, place)
    with contextlib.closing(sqlite3.connect(place, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        assert_told(directory, gated(directory), "database is locked", was_read=False)
        assert_only_warned(directory, "database is locked")
    assert_completed(directory, place)


def test_a_history_that_disappears_is_not_begun_anew(tmp_path):
    place = tmp_path / "mounted/history.sqlite"
    place.parent.mkdir()
    directory = opened(tmp_path, str(place))
    place.rename(tmp_path / "unmounted")
    assert_told(directory, gated(directory), f"the history {place} does not exist", was_read=False)
    assert not place.exists()
    (tmp_path / "unmounted").rename(place)
    assert_completed(directory, str(place))


def test_a_baseline_that_cannot_be_read_is_no_pass(tmp_path):
    place = tmp_path / "history.sqlite"
    directory = opened(
        tmp_path,
        str(place),
        required=False,
        baseline={"kind": "last", "margin": 0.1, "accept": False, "named": ["last"], "certificates": []},
    )
    place.write_bytes(b"this is not a database, " * 100)
    result = gated(directory)
    assert "the hosts were not compared with their baseline: the history" in result["fleet_problems"][0]
    assert (
        outcome(directory),
        set(result["artifacts"]["logdisk_local"]["hosts"].values()),
        result["logdisk"]["certified"],
    ) == (
        "internal",
        {"inconclusive"},
        False,
    )


def test_a_run_whose_history_fails_is_refused_before_it_is_opened(tmp_path):
    place = str(tmp_path / "mistyped/history.sqlite")
    with pytest.raises(
        HistoryError,
        match=r"^certificates cannot be stored: the history .* is not a directory; correct that, or gate_history, or",
    ):
        open_run.tried_history({"place": place, "required": True}, str(tmp_path), create=True)


@pytest.mark.parametrize(
    ("kind", "needs"),
    [("measurement", True), ("durability", True), ("locks", True), ("observation", False)],
)
def test_a_run_is_refused_without_a_history_unless_it_observes_or_the_history_is_not_required(kind, needs):
    assert [open_run.needs_history(KINDS[kind], asked) for asked in (True, False)] == [needs, False]


def test_the_warning_names_what_cannot_be_stored(tmp_path):
    place = {"place": str(tmp_path / "mistyped/history.sqlite"), "required": False}
    warning, _clock = open_run.tried_history(place, str(tmp_path), create=True, stored=KINDS["observation"].stored)
    assert warning.startswith("observations cannot be stored: the history ")


def test_the_default_history_is_made_beside_the_reports_but_not_in_check_mode(tmp_path):
    place = tmp_path / "reports/history.sqlite"
    for create in (False, True):
        known = {"place": str(place), "required": True}
        assert open_run.tried_history(known, str(tmp_path / "reports"), create) == ("", None)
        assert place.exists() == create


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_preflight_makes_no_tables_to_look_for_a_baseline(tmp_path, check_mode):
    place = tmp_path / "history.sqlite"
    place.touch()
    settings = {"gate_baseline": ["abcdef"], "gate_baseline_accept": False, "gate_margin": 0.1}
    with pytest.raises(HistoryError):
        open_run._baseline(settings, str(place), make_tables=not check_mode)
    assert (place.stat().st_size == 0) == check_mode
