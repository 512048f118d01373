# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A history of schema 3, as tests/fixtures/history/README.md describes it: it reports the same states as before,
except those that were wrong."""

from __future__ import annotations

import datetime
import json
import sqlite3
from contextlib import closing

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import Today, fleet_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store import history as store
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.history import HistoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.upkeep import import_runs
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

FIXTURES = fabricate.PROJECT / "tests/fixtures/history"
TODAY = Today(datetime.date(2026, 6, 1), 14)
BEFORE = {
    (host, volume, profile): state
    for host, volume, profile, state, *dummy in json.loads((FIXTURES / "states_3.json").read_text())
}
BETTER_KNOWN = {
    ("eio", "log", "mq-log-silver"): "failed",  # an I/O error under another profile
    ("corrupt", "log", "mq-log-silver"): "failed",  # wrong data, and then a pass that did not read data back
    ("grown", "log", "mq-log-silver"): "valid",  # the size is not part of the identity
    ("lost-grown", "log", "mq-log-silver"): "failed",
    ("lost-unplaced", "log", "mq-log-silver"): "failed",  # nothing shows that the loss was on another volume
    ("moved", "log", "mq-log-silver", "/var/mqm/log"): "failed",  # the next run measured another mount point
    ("moved", "log", "mq-log-silver", "/"): "valid",
    ("weaker", "log", "mq-log-gold"): "failed",  # the newest run required more than bronze
}
"""The states that were wrong."""


@pytest.fixture
def old(place, monkeypatch):
    """The location of a history with schema version 3, filled from the fixture schema_3.sql."""
    file = sqlite3.connect(place if "://" not in place else ":memory:")
    with closing(file):
        file.executescript((FIXTURES / "schema_3.sql").read_text())
        if "://" in place:
            with monkeypatch.context() as patch:
                patch.setattr(store, "MIGRATIONS", store.MIGRATIONS[:3])
                with open_history(place, create=True) as history, history._transaction():
                    for table in ("certificates", "contents", "revocations", "power_cuts"):
                        rows = file.execute(f"SELECT * FROM logdisk_{table}").fetchall()
                        history._execute_many(
                            f"INSERT INTO logdisk_{table} VALUES ({', '.join('?' * len(rows[0]))})", rows
                        )
    return place


def states(history):
    return fleet_status(history.newest(), history.revocations(), TODAY, history.power_cuts())


def test_the_states_are_those_of_before_except_where_they_were_wrong(old):
    with open_history(old) as history:
        lines = states(history)
    found = {
        (line.host, line.volume, line.profile, *([line.mount_point] if line.is_one_of_several else [])): line.state
        for line in lines
    }
    expected = {**BEFORE, **BETTER_KNOWN}
    del expected["moved", "log", "mq-log-silver"]
    assert found == expected
    assert [line.host for line in lines if line.replaced] == ["replaced", "reinstalled"]


def test_a_second_opening_finds_what_the_first_one_left(old):
    with open_history(old) as history:
        entries, cuts = history.between(), history.power_cuts()
    with open_history(old) as history:
        assert (history.between(), history.power_cuts()) == (entries, cuts)
    assert len(entries) == len(json.loads((FIXTURES / "states_3.json").read_text())) + 12 and len(cuts) == 5


def test_whoever_changes_nothing_does_not_update_it_and_says_so(old):
    with (
        open_history(old, migrate=False) as history,
        pytest.raises(HistoryError, match="older version of this collection"),
    ):
        history.newest()
    with open_history(old) as history:
        assert history.newest()


def test_a_damaged_history_is_left_as_it_is(old):
    with open_history(old, migrate=False) as history, history._transaction():
        history._execute(
            "DELETE FROM logdisk_contents WHERE sha256 IN (SELECT sha256 FROM logdisk_certificates WHERE host = 'eio')"
        )
    for _attempt in range(2):
        with pytest.raises(HistoryError, match="is damaged: it contains no certificate under"):
            open_history(old)


def test_runs_of_that_time_are_imported_with_what_they_showed(tmp_path):
    with open_history(str(tmp_path / "history.sqlite"), create=True) as history:
        assert import_runs(history, [str(FIXTURES / "runs")]) == (4, 4, [])
        assert import_runs(history, [str(FIXTURES / "runs")]) == (4, 0, [])
        assert {entry.host: (entry.effect, entry.volume_facts) for entry in history.between()} == {
            "db07": ("certifies", ""),
            "db08": ("fails", ""),
            "db09": ("fails", "io_error"),
        }
        lines = fleet_status(history.newest(), (), Today(datetime.date(2026, 11, 22), 14), history.power_cuts())
        assert {line.host: (line.state, bool(line.loss), bool(line.fact)) for line in lines} == {
            "db07": ("failed", True, False),
            "db08": ("failed", False, False),
            "db09": ("failed", False, True),
        }
        assert {host: [(each.volume, each.mount_point) for each in plan] for host, plan in history.plans().items()} == {
            host: [("log", "/var/mqm/log")] for host in ("db07", "db08", "db09")
        }
