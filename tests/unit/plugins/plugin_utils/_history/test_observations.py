# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Observations in the history: what is stored, to which volume of the status it belongs, and what the status shows."""

from __future__ import annotations

import dataclasses
import datetime
import json

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.overview import status_json
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.problems import problems_by_host
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import Today, fleet_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.status_txt import status_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import import_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.effect import ATTEMPT, FAILS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.observation.memory import observed_volumes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.observation.record import observed
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import gate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history.made_up import entry
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history.made_up import observation as result

TODAY = Today(datetime.date(2026, 6, 1), 14)
TWELVE = result("2026-05-01").data["text"]
HELD = {"outcome": "slower", "ratio": 12.04, "text": TWELVE, "caveats": []}


def results_of(directory):
    return directory.kind.memory.of_run(directory)


def run_of(tmp_path, held=HELD, place="", **changes):
    """Return the directory of a run that observed db07, with the given comparison with its certificate."""
    keys = {"kind": "observation", "history": {"place": place, "required": False}}
    directory = RunDirectory.create(str(tmp_path / "seen"), fabricate.run_data(["db07"], **keys))
    files = fabricate.tables(fabricate.step_rows(1, 32768), program="observe")
    workspace = {"path": "/var/mqm/log", "queue_managers": ["QM1"]}
    facts, seen = {"mount_point": "/var/mqm/log"}, {"queue_manager": "QM\x1b1", "certificate": held}
    record = observed(directory.run, "db07", "log", facts, workspace, files, seen, fabricate.TODAY)
    directory.records.write(dataclasses.replace(record, **changes), files)
    return directory


def test_a_run_stores_how_each_queue_manager_compares_with_its_certificate(tmp_path):
    (found,) = results_of(run_of(tmp_path))
    assert (found.host, found.volume, found.path) == ("db07", "log", "/var/mqm/log")
    assert [found.data[key] for key in ("outcome", "ratio", "text")] == ["slower", 12.04, TWELVE]
    assert found.verdict == "" and found.data["disk_id"]
    assert found.data["queue_manager"] == "QM\\x1b1" and found.data["profile"].startswith("mq-log-silver")


@pytest.mark.parametrize("held", [None, {"outcome": "slower", "ratio": "fast"}, {"ratio": 1e300, "text": None}])
def test_what_cannot_be_compared_has_no_ratio(tmp_path, held):
    (found,) = results_of(run_of(tmp_path, held))
    assert (found.data["ratio"], found.data["text"]) == (None, "")


def test_a_verdict_is_stored_and_a_record_without_observation_is_not(tmp_path):
    assert [each.verdict for each in results_of(run_of(tmp_path / "a", verdict="fail"))] == ["fail"]
    assert results_of(run_of(tmp_path / "b", kind="error", kind_data=None, verdict="error")) == []


def test_the_gate_stores_observations_beside_the_certificates_and_changes_none(place, tmp_path):
    valid = entry("2026-05-01")
    with open_history(place, create=True) as history, history._transaction():
        history._add_rows([valid])
    assert gate.remember(run_of(tmp_path, place=place), [], []) == ""
    with open_history(place) as history:
        assert [each.data["text"] for each in history.results("observation")] == [TWELVE]
        assert history.newest() == [valid]


def test_a_run_is_imported_once_and_one_without_a_time_is_refused(tmp_path):
    directory = run_of(tmp_path)
    with open_history(str(tmp_path / "history.sqlite"), create=True) as history:
        assert import_runs(history, [directory.path]) == (1, 1, [])
        assert import_runs(history, [directory.path]) == (1, 0, [])
        (problem,) = import_runs(history, [run_of(tmp_path / "old", created_at="yesterday").path])[2]
    assert problem.endswith("does not state when db07 was tested.")


def test_the_newest_observation_of_each_volume_is_read(place):
    results = [
        result("2026-05-03"),
        result("2026-05-01"),
        result("2026-05-02", path="/mnt/new"),
        result("2026-05-01", host="db08", ratio=None, outcome="unknown", disk_id=None),
    ]
    with open_history(place, create=True) as history:
        assert (history.store([], results), history.store([], results)) == (4, 0)
        with pytest.raises(history.errors), history._transaction():
            history._execute("UPDATE logdisk_results SET verdict = 'pass'")
        assert history.results("observation") == [results[3], results[2], results[0]]


def test_old_observations_are_pruned(place):
    with open_history(place, create=True) as history:
        history.store([], [result("2026-05-01"), result("2026-05-02", host="db08")])
        assert history.prune(datetime.date(2026, 5, 2)) == 1
        assert [each.host for each in history.results("observation")] == ["db08"]


def test_a_withdrawn_volume_has_no_observation_until_the_next_one(place):
    with open_history(place, create=True) as history:
        history.store([], [result("2026-05-01")])
        assert history.take_out("db07", "/var/mqm/log", "retired", "ops") == 1
        assert history.results("observation") == []
        history.store([], [result("2026-05-02")])
        assert len(history.results("observation")) == 1


# The status.

VALID = entry("2026-05-01")
LINES = fleet_status([VALID, entry("2026-05-02", FAILS, host="db09", volume_id="v9")], (), TODAY)


@pytest.mark.parametrize(
    ("changes", "label", "is_placed"),
    [
        ({}, "db07", True),
        ({"path": "", "disk_id": None}, "db07", True),
        ({"path": "/mnt/other"}, "db07", False),
        ({"volume": "QM1"}, "db07/QM1", False),
        ({"hosts": ("db01",)}, "db01", False),
    ],
)
def test_an_observation_is_about_the_volume_with_its_names_and_mount_point(changes, label, is_placed):
    (found,) = observed_volumes([result("2026-05-03", **changes)], LINES)
    assert (found[0], bool(found[1])) == (label, is_placed)


@pytest.mark.parametrize("lines", [LINES, fleet_status([entry("2026-05-02", ATTEMPT)], (), TODAY)])
def test_an_observation_of_a_replaced_disk_is_left_out(lines):
    assert observed_volumes([result("2026-05-03", disk_id="disk of v0")], lines) == []
    assert [bool(each[1]) for each in observed_volumes([result("2026-05-03")], lines)] == [True]


FLEET = [
    result("2026-05-03"),
    result("2026-05-02"),
    result("2026-05-31", 200.0, host="db09", disk_id="disk of v9", verdict="fail", profile="mq-live 1"),
    result("2026-06-01", 0.25, "faster", host="db01"),
    result("2026-06-01", 1.02, "alike", host="db02"),
    result("2026-06-01", 90.0, "unknown", host="db03"),
]
SEEN = {"observation": FLEET}


def test_the_screen_says_beside_each_volume_what_was_observed_and_when():
    text = status_text(status_json(LINES, ["db07"], {}, TODAY, {}, {}, SEEN), "/h").splitlines()
    assert text[1:-1] == [
        "  failed    db09  failed silver on 2026-05-02 (run run-2026-05-02); observed 1 day ago: fail, 200 times "
        "slower than certified (run seen-2026-05-31)",
        "  valid     db07  silver until 2026-07-30 (run run-2026-05-01); observed 29 days ago: 12 times slower than "
        "certified (run seen-2026-05-03)",
        "  observed  db02  today: as certified (run seen-2026-06-01)",
        "  observed  db01  today: 4 times faster than certified (run seen-2026-06-01)",
        "  observed  db03  today: not compared (run seen-2026-06-01)",
    ]
    many = {"observation": [result("2026-05-03", host=f"h{number}") for number in range(130)]}
    assert status_text(status_json([], [], {}, TODAY, {}, {}, many)).endswith(
        "and 30 more observations, see status.json"
    )


def test_programs_get_every_observation_the_slowest_first_and_it_is_no_problem():
    status = status_json(LINES, ["db07"], problems_by_host(LINES, ["db07"], {}), TODAY, {}, {}, SEEN)
    assert json.loads(json.dumps(status)) == status and status["certified"]
    assert [(each["label"], each["headline"], each["age_days"]) for each in status["observations"]] == [
        ("db09", "200 times slower than certified", 1),
        ("db07", "12 times slower than certified", 29),
        ("db02", "as certified", 0),
        ("db01", "4 times faster than certified", 0),
        ("db03", "not compared", 0),
    ]
    assert [each["observation"]["run_id"] for each in status["volumes"]] == ["seen-2026-05-31", "seen-2026-05-03"]
    assert [each["verdict"] for each in status["observations"]][:2] == ["fail", None]
