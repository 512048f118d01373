# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The same tests of the history with SQLite and with a real PostgreSQL server: nothing is lost, nothing changes, and
every failure is reported."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import datetime
import multiprocessing
import os
import random
import re
import signal
import socket
import sys
import threading
import time

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history import overview
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.overview import changed_since
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import Today, fleet_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store import history as store
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store import postgresql as postgresql_store
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.history import HistoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import (
    open_history,
    place_of,
    try_history,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.sqlite import SqliteHistory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.effect import ATTEMPT, CERTIFIES, EFFECTS, FAILS
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up

SPAWN = multiprocessing.get_context("spawn")
SMALL = made_up.changed(made_up.certificate(), rows=[])
DAY = datetime.date(2026, 1, 1)


def small(number=0, **fields):
    return made_up.changed(SMALL, **{"host": f"db{number}", "volume_id": f"v{number}", **fields})


def judged(day, effect=CERTIFIES, number=0, **fields):
    """Return a small certificate of a volume that was judged this many days after DAY."""
    date = DAY + datetime.timedelta(days=day)
    until = (date + datetime.timedelta(days=90)).isoformat() if effect == CERTIFIES else None
    times = {"judged_at": f"{date}T10:00:00Z", "valid_from": date.isoformat() if until else None, "valid_until": until}
    return small(
        number, effect=effect, verdict=made_up.VERDICTS.get(effect, "error"), run_id=f"run{day}", **times, **fields
    )


@pytest.fixture
def history(place):
    with open_history(place, create=True) as history:
        yield history


def test_what_was_stored_is_found_again_after_reopening(place):
    certificate = made_up.certificate()
    with open_history(place, create=True) as history:
        assert history.store([certificate]) == 1
    with open_history(place) as history:
        assert history.newest() == [certificate.entry]
        assert (
            history.of_name("db07", "log")
            == history.of_volume(certificate.entry.identity)
            == history.of_run("R1")
            == [certificate.entry]
        )
        assert history.certificate(certificate.sha256[:8]).text == certificate.text


def test_days_and_contents_are_found(history):
    certificates = [judged(day) for day in range(5)]
    history.store(certificates)
    for first, last, runs in ((1, 3, ["run1", "run2", "run3"]), (4, 9, ["run4"]), (7, 9, [])):
        days = [DAY + datetime.timedelta(days=day) for day in (first, last)]
        assert [entry.run_id for entry in history.between(*days)] == runs
    assert len(history.between()) == 5
    wanted = [certificates[number].sha256 for number in (3, 0, 3)]
    assert [content["run_id"] for content in history.contents(wanted)] == ["run3", "run0", "run3"]
    assert history.contents([]) == []


@pytest.mark.parametrize("text", [None, "{}", "\u00e9"])
def test_a_content_that_was_lost_or_changed_is_told(history, text):
    certificate = small()
    history.store([certificate])
    with history._transaction():
        history._execute("DELETE FROM logdisk_contents")
        if text is not None:
            history._execute("INSERT INTO logdisk_contents (sha256, content) VALUES (?, ?)", (certificate.sha256, text))
    with pytest.raises(HistoryError, match="is damaged"):
        history.contents([certificate.sha256])


def test_storing_twice_changes_nothing(history):
    certificates = [small(number) for number in range(5)]
    assert history.store(certificates[:3]) == 3
    assert history.store(certificates) == 2
    before = history.newest()
    assert history.store(certificates + certificates) == 0
    assert sorted(history.newest(), key=lambda entry: entry.host) == sorted(before, key=lambda entry: entry.host)


def test_entries_come_in_the_order_of_judging_not_of_storing(history):
    certificates = [judged(day) for day in (5, 1, 3)]
    for certificate in certificates:
        history.store([certificate])
    assert [entry.run_id for entry in history.of_name("db0", "log")] == ["run1", "run3", "run5"]
    assert [entry.run_id for entry in history.newest()] == ["run5"]


def test_the_newest_entries_say_the_same_as_all(history):
    """The store reads only a part of the history. The states must not depend on that."""
    rng = random.Random("history")
    certificates = []
    for number in range(400):
        name = rng.randrange(20)
        changes = {
            "volume_id": rng.choice([f"v{name}", f"v{name}", f"v{name % 7}", None]),
            "machine": {"boot_id": f"boot{rng.randrange(4)}", "hostname": ""},
            "profile": {"name": rng.choice(["gold", "silver", "look"]), "version": "1", "sha256": ""},
            "volume_facts": rng.choice([[], [], ["io_error"], ["wrong_data"]]),
            "parameters": {"option_verify": rng.choice(["0", "1"])},
            "can_certify": rng.choice([True, True, False]),
        }
        certificates.append(
            judged(rng.randrange(200), rng.choice(EFFECTS), name, collection_version=str(number), **changes)
        )
    history.store(certificates)
    today = Today(DAY + datetime.timedelta(days=230), 14)
    states = [dataclasses.replace(line, replaced=None) for line in fleet_status(history.newest(), (), today)]
    assert len(states) > 20
    assert states == [
        dataclasses.replace(line, replaced=None)
        for line in fleet_status((each.entry for each in certificates), (), today)
    ]


def test_what_changed_since_the_certificate_before_is_told(history):
    def version(day, effect=CERTIFIES, number=0, kernel="6.1", **fields):
        return judged(day, effect, number, environment={**SMALL.content["environment"], "kernel": kernel}, **fields)

    before, fail = version(1), version(3, FAILS, kernel="6.12")
    replaced = version(4, ATTEMPT, 1, volume_id="new", identity={**SMALL.content["identity"], "device_ids": "naa.2"})
    unreachable = judged(9, ATTEMPT, 2, volume_id=None, identity=None)
    history.store(
        [
            version(0, kernel="5.14"),
            before,
            version(2, ATTEMPT, kernel="7"),
            fail,
            version(1, number=1),
            replaced,
            version(2, number=2),
            unreachable,
        ]
    )
    lines = fleet_status(history.newest(), (), Today(DAY, 14))
    found = changed_since(history, lines)
    assert {key[0]: [tuple(change.values()) for change in since["changes"]] for key, since in found.items()} == {
        "db0": [("kernel", "6.1", "6.12")],
        "db1": [("device_ids", "naa.1", "naa.2")],
    }
    assert found[overview.key_of(lines[0])]["certificate"] == before.sha256
    assert changed_since(history, [lines[-1]] * overview.MOST_CHANGED + lines) == {}


@pytest.mark.parametrize(
    "beginning, message", [("", "more than one"), ("zz", "no certificate"), ("'; --", "no certificate")]
)
def test_a_certificate_is_found_only_by_a_beginning_of_its_own(history, beginning, message):
    history.store([small(0), small(1)])
    with pytest.raises(HistoryError, match=message):
        history.certificate(beginning)


def test_hostile_names_are_stored_as_they_are(history):
    names = ["'; DROP TABLE logdisk_results; --", "ü\u202e", "%s", "?", "{text}", "a\x00b", "\ud800"]
    history.store([made_up.certificate(host=name) for name in names])
    for name in names:
        assert len(history.of_name(name, "log")) == 1
    assert len(history.newest()) == len(names)


def test_a_revocation_needs_a_reason_and_a_certificate_and_is_final(history):
    certificate, attempt = small(0), judged(1, ATTEMPT, 1)
    history.store([certificate, attempt])
    for sha256, reason in ((certificate.sha256, " "), ("f" * 64, "x"), (attempt.sha256, "x")):
        with pytest.raises(HistoryError):
            history.revoke(sha256, reason, "ops")
    history.revoke(certificate.sha256, "firmware recalled", "ops")
    history.revoke(certificate.sha256, "another", "somebody")
    ((sha256, revocation),) = history.revocations().items()
    assert (sha256, revocation["reason"], revocation["by"]) == (certificate.sha256, "firmware recalled", "ops")


def test_pruning_removes_the_old_and_changes_no_state(history):
    certificates = [judged(day) for day in (1, 2, 3)] + [
        judged(1, FAILS, 1),
        judged(2, FAILS, 1),
        judged(2, ATTEMPT, 1),
    ]
    history.store(certificates)
    newest = sorted(history.newest(), key=lambda entry: entry.order)
    assert history.prune(DAY + datetime.timedelta(days=3)) == 3
    assert [entry.run_id for entry in history.of_name("db0", "log")] == ["run3"]
    assert sorted(history.newest(), key=lambda entry: entry.order) == newest
    with pytest.raises(HistoryError):
        history.certificate(certificates[0].sha256)
    assert history.certificate(certificates[2].sha256).text == certificates[2].text


def test_the_closest_limit_of_each_certificate_is_read_without_its_content(history):
    closest = {**SMALL.content["closest_limit"], "share": 0.25}
    history.store([judged(1, closest_limit=closest), judged(1, number=1, closest_limit=None)])
    assert sorted((entry.host, entry.closest_limit) for entry in history.newest()) == [("db0", closest), ("db1", None)]


def opened(run_id, workflow="16", day=1):
    """Return the content of run.json for a run of a workflow's job."""
    return {
        "run_id": run_id,
        "created_at": f"2026-01-0{day}T10:00:00Z",
        "controller": {"job": {"id": "17", "workflow_job_id": workflow}},
    }


def test_a_run_is_kept_as_it_was_last(history, monkeypatch):
    moments = (f"2026-01-01T10:00:0{second}Z" for second in range(10))
    monkeypatch.setattr(store, "utc_now", lambda: next(moments))
    archive = bytes(range(256)) * 40_000
    history.keep_run(opened("run1"), b"opened", store.OPENED)
    assert history.kept_run("run1") == b"opened"
    for content in (b"judged", archive, archive):
        history.keep_run(opened("run1"), content, store.JUDGED)
    history.keep_run(opened("run1"), b"late", store.STARTED)
    assert history.kept_run("run1") == archive
    assert (
        history._execute("SELECT count(*) FROM logdisk_kept_runs WHERE stage = ?", (store.JUDGED,)).fetchone()[0] == 1
    )
    with pytest.raises(HistoryError, match="does not contain the report of the run 'run2'"):
        history.kept_run("run2")


def test_the_runs_of_workflows_are_found(history):
    for run_id, workflow, day in (("late", "16", 2), ("early", "16", 1), ("other", "12", 3), ("strange", "9", 4)):
        history.keep_run(opened(run_id, workflow, day), run_id.encode(), store.OPENED)
    history.keep_run({"run_id": "%s?{text}'", "controller": None}, b"no job", store.OPENED)
    history.keep_run(opened("early", "16", 1), b"judged", store.JUDGED)
    found = history.kept_runs(["16", "12", "12", ""])
    assert found == ["early", "late", "other"]
    assert history.kept_run("early") == b"judged"
    assert history.kept_runs([]) == history.kept_runs([""]) == []
    assert history.kept_run("%s?{text}'") == b"no job"


def test_two_controllers_that_keep_a_run_at_once_lose_nothing(place):
    open_history(place, create=True).close()
    ready = threading.Barrier(2)

    def keep(content):
        with open_history(place) as history:
            ready.wait(60)
            for number in range(20):
                history.keep_run(opened("run1"), f"{content} {number}".encode(), store.JUDGED)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(keep, "ab"))
    with open_history(place) as history:
        assert history.kept_run("run1") in (b"a 19", b"b 19")


def test_a_kept_run_that_was_changed_is_refused(history):
    history.keep_run(opened("run1"), b"archive", store.JUDGED)
    history._execute(
        "INSERT INTO logdisk_kept_runs SELECT 'f', run_id, 9, kept_at, created_at, job_id, workflow_job_id, "
        "archive FROM logdisk_kept_runs"
    )
    with pytest.raises(HistoryError, match="damaged: the report of the run run1 differs from the one that was kept"):
        history.kept_run("run1")


def test_kept_runs_are_pruned_with_their_certificates(history):
    history.store([judged(1), judged(2), judged(3)])
    for run_id in ("run1", "run3", "killed"):
        history.keep_run(opened(run_id), run_id.encode(), store.OPENED)
    history.keep_run(opened("new", day=9), b"new", store.OPENED)
    before = DAY + datetime.timedelta(days=7)
    assert history.prune(before) == 2
    assert history.prune_kept_runs(before) == 2
    assert history.kept_runs(["16"]) == ["run3", "new"]


def test_the_database_itself_refuses_changes(history):
    certificate = small()
    history.store([certificate])
    history.expect_live()
    cuts, pair = made_up.cuts_of(certificate.entry, "2026-05-30"), made_up.pair_result("2026-05-30")
    plan = made_up.planned("db0", "log", "/var/mqm/log", "9999-01-01T00:00:00Z")  # a date that the clock contradicts
    results = [cuts, pair, made_up.observation("2026-05-30"), plan]
    assert (history.store([], results), history.store([], results)) == (3, 0)
    history.keep_run(opened("run1"), b"archive", store.JUDGED)
    history.revoke(certificate.sha256, "firmware recalled", "ops")
    never_deleted = ("results", "revocations", "storings", "wrong_dates")
    for table in ("contents", "kept_runs", *never_deleted):
        column = "number" if table == "storings" else "sha256"
        statements = [f"UPDATE logdisk_{table} SET {column} = {column}", f"DELETE FROM logdisk_{table}"]
        for statement in statements if table in never_deleted else statements[:1]:
            with pytest.raises(HistoryError, match="append-only"), history._reported("cannot be written"):
                history._execute(statement)
    assert history.newest() == [certificate.entry] and history.certificate(certificate.sha256) == certificate
    assert (history.results("durability"), history.results("locks")) == ([cuts], [pair])
    assert [revocation["reason"] for revocation in history.revocations().values()] == ["firmware recalled"]


@pytest.mark.parametrize("version", [7, 9])
@pytest.mark.parametrize("how", [{"create": True}, {"make_tables": False}])
def test_another_schema_is_refused_with_both_versions_and_left_as_it_is(place, monkeypatch, version, how):
    with monkeypatch.context() as patch:
        patch.setattr(store, "SCHEMA_VERSION", version)
        with open_history(place, create=True) as history:
            history.store([small()])
    refused = f"{re.escape(place)} has schema {version}, but this version of the collection reads schema 8: use the "
    for dummy in range(2):
        with pytest.raises(HistoryError, match=refused):
            open_history(place, **how)
    monkeypatch.setattr(store, "SCHEMA_VERSION", version)
    with open_history(place) as history:
        assert history.newest() == [small().entry]


def test_tables_that_cannot_be_made_leave_the_database_empty(place, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(store, "STATEMENTS", (*store.STATEMENTS, "nonsense"))
        with pytest.raises(HistoryError, match="nonsense"):
            open_history(place, create=True)
    with open_history(place) as history:
        assert history.store([small()]) == 1


def write_runs(place, writer, runs, started):
    """Store runs of 100 certificates. This function runs in a separate process."""
    started.wait()
    with open_history(place, create=True) as history:
        for run in range(runs):
            history.store([small(number, run_id=f"w{writer}r{run}") for number in range(100)])


def test_two_controllers_at_once_lose_nothing(place):
    started = SPAWN.Event()
    writers = [SPAWN.Process(target=write_runs, args=(place, writer, 5, started)) for writer in range(2)]
    for process in writers:
        process.start()
    started.set()
    for process in writers:
        process.join(120)
    assert [process.exitcode for process in writers] == [0, 0]
    with open_history(place) as history:
        assert {len(history.of_run(f"w{writer}r{run}")) for writer in range(2) for run in range(5)} == {100}


def test_a_history_that_is_made_twice_at_once_is_made_once(place, monkeypatch):
    making = threading.Event()

    def slowly(real=store.utc_now):
        """Called when all tables were created, but are not visible to others yet."""
        making.set()
        time.sleep(0.3)
        return real()

    monkeypatch.setattr(store, "utc_now", slowly)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        first = pool.submit(lambda: open_history(place, create=True).close())
        assert making.wait(30)
        open_history(place, create=True).close()
        first.result()


def test_two_controllers_with_the_same_certificates_do_not_block_each_other(place):
    certificates = [small(number) for number in range(1000)]
    open_history(place, create=True).close()
    ready = threading.Barrier(2)

    def write(own):
        with open_history(place) as history:
            ready.wait(30)
            return history.store(own)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        assert sum(pool.map(write, (certificates, certificates[::-1]))) == 1000


def test_a_killed_controller_leaves_whole_runs(place):
    started = SPAWN.Event()
    open_history(place, create=True).close()
    process = SPAWN.Process(target=write_runs, args=(place, 0, 100_000, started))
    process.start()
    started.set()
    deadline = time.monotonic() + 60
    with open_history(place) as history:
        while len(history.of_run("w0r2")) == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
    time.sleep(random.Random().uniform(0, 0.05))
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    with open_history(place) as history:
        counts = [len(history.of_run(f"w0r{run}")) for run in range(3)]
        assert counts == [100, 100, 100]
        assert len(history._execute("SELECT run_id FROM logdisk_results").fetchall()) % 100 == 0
        assert (
            history._execute("SELECT count(*) FROM logdisk_results").fetchone()
            == history._execute("SELECT count(*) FROM logdisk_contents").fetchone()
        )
        assert history.store([small(number, run_id="after") for number in range(100)]) == 100


def test_a_run_is_stored_as_a_whole_or_not_at_all(history, monkeypatch):
    monkeypatch.setattr(store, "_INSERT_CONTENT", "INSERT INTO nowhere VALUES (?, ?)")
    with pytest.raises(HistoryError, match="nowhere"):
        history.store([small(0), small(1)])
    monkeypatch.undo()
    assert history.newest() == []
    assert history.store([small(0), small(1)]) == 2


def test_a_full_disk_is_reported_and_loses_nothing(tmp_path):
    with SqliteHistory(str(tmp_path / "history"), create=True) as history:
        history.store([small(0)])
        pages = history._execute("PRAGMA page_count").fetchone()[0]
        history._execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(HistoryError, match="is full"):
            history.store([small(number) for number in range(100)])
        assert history.newest() == [small(0).entry]
        history._execute(f"PRAGMA max_page_count = {pages + 1000}")
        assert history.store([small(1)]) == 1


def test_a_lock_that_is_never_released_is_reported(place):
    with (
        open_history(place, create=True) as holder,
        open_history(place, patience_s=0.1) as history,
        holder._transaction(),
    ):
        holder._execute(store._INSERT_CONTENT, (small().sha256, small().text))
        with pytest.raises(HistoryError, match="lock"):
            history.store([small()])


@pytest.mark.parametrize("content", [b"this is not a database, " * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_not_a_history_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "history"
    path.write_bytes(content)
    with pytest.raises(HistoryError, match=r"/history cannot be opened: .+"):
        open_history(str(path), create=True)
    assert path.read_bytes() == content


@pytest.mark.parametrize("create", [True, False])
def test_a_history_that_can_be_written_is_tried_without_a_trace(place, create, monkeypatch):
    try_history(place, create)
    if create:
        with open_history(place) as history:
            assert history.newest() == [] and history.store([small()]) == 1
        try_history(place, create=False)
        with open_history(place) as history:
            assert history._execute("SELECT count(*) FROM logdisk_contents").fetchone()[0] == 1
    else:
        with open_history(place, create=True, make_tables=False) as history:
            assert not history._has_schema()


@pytest.mark.parametrize("create", [True, False])
def test_a_history_that_cannot_be_written_is_found_by_trying(place, create):
    with open_history(place, create=True) as history:
        history._execute("CREATE TRIGGER logdisk_unwritable BEFORE INSERT ON logdisk_contents " + history.refuse)
    with pytest.raises(HistoryError, match="cannot be written: the history is append-only"):
        try_history(place, create)


@pytest.mark.parametrize("create", [True, False])
def test_a_file_that_cannot_be_made_is_found_by_trying(tmp_path, create):
    with pytest.raises(HistoryError, match=r"/none/history cannot be created: /.*/none is not a directory"):
        try_history(str(tmp_path / "none/history"), create)
    if not create:
        try_history(str(tmp_path / "history"), create)
        assert list(tmp_path.iterdir()) == []


def test_a_history_that_does_not_exist_is_not_made_by_reading(tmp_path):
    for path in (tmp_path / "none", tmp_path / "no directory/none"):
        with pytest.raises(HistoryError, match="does not exist"):
            open_history(str(path))
        assert not path.exists()
    with pytest.raises(HistoryError, match="cannot be opened"):
        open_history(str(tmp_path / "no directory/none"), create=True)


def test_a_path_may_have_characters_that_mean_something_in_a_url(tmp_path):
    path = tmp_path / "a?mode=memory#b%20"
    open_history(str(path), create=True).close()
    assert path.exists()


def test_a_server_that_goes_away_is_reported(postgresql, monkeypatch):
    monkeypatch.setenv("LOGDISK_HISTORY_PASSWORD", "a secret")
    place = postgresql.new_database()
    with open_history(place, create=True) as history, open_history(place) as other:
        other._execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
            "current_database() AND pid <> pg_backend_pid()"
        )
        with pytest.raises(HistoryError, match="cannot be written"):
            history.store([small()])


def test_a_server_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(HistoryError, match="cannot be opened"):
        open_history(f"postgresql://logdisk@/postgres?host={tmp_path}", create=True)


def test_a_wrong_password_is_reported_without_showing_it(postgresql, monkeypatch):
    monkeypatch.setenv("LOGDISK_HISTORY_PASSWORD", "hunter2")
    with pytest.raises(HistoryError, match="authentication failed") as caught:
        open_history(postgresql.url("postgres"))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        *(
            f"postgresql://u:{password}@h/db"
            for password in ("hunter2", "hun@ter2", "hun#ter2", "hun?ter2", "hun/ter2", "12/ter2", "12?s=ter2")
        ),
        *(
            f"postgres://u@h/db?{option}=hunter2"
            for option in ("x=1&password", "Password", "pass%77ord", "sslpassword")
        ),
        "postgresql://u@h/db?application_name=x#&password=hunter2",
    ],
)
def test_a_password_in_the_url_is_refused_and_not_shown(url):
    for use in (open_history, lambda url: place_of(url, "reports")):
        with pytest.raises(HistoryError, match="LOGDISK_HISTORY_PASSWORD") as caught:
            use(url)
        assert "ter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://",
        "postgresql://u%40d@a:1,[::1]:2,%2Ftmp%2Fx/d-b?target_session_attrs=read-write",
        "postgres://h?user=me%40there",
    ],
)
def test_any_other_url_is_a_place(url):
    assert place_of(url, "reports") == url


def test_a_url_may_have_options_or_name_a_service(postgresql, tmp_path, monkeypatch):
    monkeypatch.setenv("LOGDISK_HISTORY_PASSWORD", "a secret")
    place = postgresql.new_database()
    name = place.partition("?")[0].rpartition("/")[2]
    (tmp_path / "services").write_text(f"[history]\nhost={postgresql.directory}\nuser=logdisk\ndbname={name}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    for number, url in enumerate((f"{place}&sslmode=require&connect_timeout=5", "postgresql://?service=history")):
        with open_history(url, create=True) as history:
            assert history.store([small(number)]) == 1
            used = history._connection.info.get_parameters()
            assert (used["connect_timeout"], used["tcp_user_timeout"]) == ("10" if number else "5", "60000")
    with open_history(place) as history:
        assert len(history.newest()) == 2


def test_a_server_that_never_answers_is_reported_in_the_time_of_the_url():
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(HistoryError, match="cannot be opened"):
        begin = time.monotonic()
        try:
            open_history(f"postgresql://u@127.0.0.1:{silent.getsockname()[1]}/db?connect_timeout=2")
        finally:
            assert time.monotonic() - begin < postgresql_store.CONNECT_TIMEOUT_S


def test_without_psycopg_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(HistoryError, match="pip install"):
        open_history("postgresql://h/db")


def test_the_place_is_a_url_or_an_absolute_path_beside_the_reports(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ops")
    assert place_of("", "reports") == f"{tmp_path}/reports/history.sqlite"
    assert place_of("~/h", "reports") == "/home/ops/h"
    assert place_of("h", "reports") == f"{tmp_path}/h"
    assert place_of("postgresql://h/db", "reports") == "postgresql://h/db"
    with pytest.raises(HistoryError, match="must be a path or begin with postgresql://, not mysql://"):
        place_of("mysql://h/db", "reports")
