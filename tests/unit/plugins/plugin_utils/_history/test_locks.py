# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The locks of pairs in the history: what is stored, which state follows from it on a given day, and what the status
shows."""

from __future__ import annotations

import dataclasses
import datetime
import json
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.overview import status_json
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.planned import planned_by
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.problems import host_states, problems_by_host
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import Today, fleet_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.status_txt import status_prom, status_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import certificates_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.history import HistoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.upkeep import import_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.locks.memory import pair_problems, pair_states
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.locks.record import lock_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history.status_html import render_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.lock_steps import BASICS
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate, lock_pairs
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history.made_up import entry
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.metrics import samples_of

TODAY = Today(datetime.date(2026, 6, 1), 14)
EVERY = made_up.EVERY
VALID = [entry("2026-05-01", host=host, volume_id=host) for host in ("db01", "db02", "db03")]


result = made_up.pair_result


def results_of(directory):
    return directory.kind.memory.of_run(directory)


GRANTED = result("2026-05-02", "fail", "second_refused")


@pytest.mark.parametrize(
    ("results", "state", "decides"),
    [
        ([result("2026-05-01")], "valid", 0),
        ([result("2026-05-01", until="2026-06-10")], "expiring", 0),
        ([result("2026-05-01", until="2026-06-01")], "expiring", 0),
        ([result("2026-05-01", until="2026-05-31")], "expired", 0),
        ([result("2026-05-01", until=None)], "valid", 0),
        ([result("2026-05-01", "warn")], "valid", 0),
        ([result("2026-05-01", "inconclusive")], "none", None),
        ([result("2026-05-01"), result("2026-05-02", "inconclusive")], "valid", 0),
        ([result("2026-05-01"), GRANTED], "failed", 1),
        # A fail never expires, and only a test that passes the step that failed clears it.
        ([result("2020-05-01", "fail", "cut_off")], "failed", 0),
        ([GRANTED, result("2026-05-03")], "valid", 1),
        ([GRANTED, result("2026-05-03", "warn")], "valid", 1),
        (
            [result("2026-05-02", "fail", "cut_off"), result("2026-05-03", passed=" ".join(BASICS))],
            "failed",
            0,
        ),
        (
            [result("2026-05-02", "fail", "cut_off second_refused"), result("2026-05-03", passed="cut_off")],
            "failed",
            0,
        ),
        # Only a test that passes as a whole ends a fail.
        ([result("2026-05-01"), GRANTED, result("2026-05-03", "inconclusive")], "failed", 1),
        ([GRANTED, result("2026-05-03", "inconclusive"), result("2026-05-04", passed=" ".join(BASICS))], "valid", 2),
        ([GRANTED, result("2026-05-03", "fail", "cut_off")], "failed", 1),
        # The pair is the same, whichever host comes first in the inventory.
        ([GRANTED, result("2026-05-03", first="db02", second="db01")], "valid", 1),
    ],
)
def test_the_state_of_a_pair_follows_from_its_results(results, state, decides):
    for given in (results, results[::-1]):
        (status,) = pair_states(given, TODAY)
        assert (status.state, status.deciding) == (state, None if decides is None else results[decides])


def test_another_directory_or_another_host_is_another_pair():
    results = [GRANTED, result("2026-05-03", second="db03"), result("2026-05-03", path="/MQHA/QM2/log")]
    assert [(status.label, status.state) for status in pair_states(results, TODAY)] == [
        ("db01 and db02 on /MQHA/QM1/log", "failed"),
        ("db01 and db02 on /MQHA/QM2/log", "valid"),
        ("db01 and db03 on /MQHA/QM1/log", "valid"),
    ]


def test_a_run_stores_one_result_for_each_pair(tmp_path):
    late = lock_pairs.changed(lock_pairs.pair("db03", "db04"), "cut_off", "broken", "late_write_landed", "db03")
    directory = lock_pairs.run_of(tmp_path, [lock_pairs.pair(), late, lock_pairs.pair("db01", "db03")])
    found = {each.hosts: each for each in results_of(directory)}
    assert list(found) == [("db01", "db02"), ("db01", "db03"), ("db03", "db04")]
    kept, failed = found["db01", "db02"], found["db03", "db04"]
    assert (kept.verdict, kept.path) == ("pass", lock_pairs.DIRECTORY)
    known = [kept.data[key] for key in ("failed_steps", "passed_steps", "takeover_ns", "server", "profile")]
    assert known == [[], EVERY.split(), 12 * 10**9, "10.1.0.9:/mq", "mq-locks-gold 1"]
    assert datetime.date.fromisoformat(kept.valid_until) == datetime.date.fromisoformat(
        kept.judged_at[:10]
    ) + datetime.timedelta(days=90)
    assert kept.data["text"] == "takeover 12 s (limit 15 s), 0 late writes, 1,000 of 1,000 updates kept"
    assert (failed.verdict, failed.data["failed_steps"], failed.valid_until) == ("fail", ["cut_off"], None)
    assert "cut_off" not in failed.data["passed_steps"]
    assert "late write" in failed.data["reason"]


def test_a_step_that_was_not_made_or_is_open_has_not_passed(tmp_path):
    results = lock_pairs.changed(lock_pairs.pair(), "server_failover", "not_covered", "no_command")
    results = lock_pairs.changed(results, "under_load", load_s=1)
    (found,) = results_of(lock_pairs.run_of(tmp_path, [lock_pairs.without(results, "host_lost", "db02")]))
    assert set(lock_pairs.OF_HOSTS) - set(found.data["passed_steps"]) == {"server_failover", "under_load", "host_lost"}
    assert (found.verdict, found.data["failed_steps"]) == ("inconclusive", [])


def test_a_waived_limit_has_passed(tmp_path):
    profile = {
        "name": "mine",
        "extends": "mq-locks-gold",
        "waivers": [{"host": "db01", "id": "LOCK-103", "until": "2026-12-31", "reason": "CHG7"}],
    }
    late = lock_pairs.changed(lock_pairs.pair(), "host_lost", takeover_ns=31 * 10**9)
    (found,) = results_of(lock_pairs.run_of(tmp_path, [late], profile))
    assert (found.verdict, found.data["passed_steps"]) == ("warn", EVERY.split())


def test_a_withdrawn_directory_has_no_state(place):
    results = [
        GRANTED,
        result("2026-05-03", path="/MQHA/QM2/log"),
        result("2026-05-03", "fail", "cut_off", second="db03"),
    ]
    with open_history(place, create=True) as history:
        history.store([], results)
        assert history.take_out("db02", lock_pairs.DIRECTORY, "retired", "ops") == 1
        assert history.results("locks") == results[1:]
        with pytest.raises(HistoryError, match="does not contain the volume db02:/elsewhere"):
            history.take_out("db02", "/elsewhere", "retired", "ops")


def test_a_run_is_imported_once(tmp_path):
    directory = lock_pairs.run_of(tmp_path, [lock_pairs.pair()])
    with open_history(str(tmp_path / "history.sqlite"), create=True) as history:
        assert import_runs(history, [directory.path]) == (1, 1, [])
        assert import_runs(history, [directory.path]) == (1, 0, [])
        assert [each.verdict for each in history.results("locks")] == ["pass"]


# The status.

RESULTS = [
    GRANTED,
    result("2026-05-03", second="db03"),
    result("2026-01-03", first="db03", second="db04", until="2026-04-03"),
]
PAIRS = pair_states(RESULTS, TODAY)
FOUND = list(pair_problems(PAIRS))
PAIRS_OF = {"locks": RESULTS}
LINES = fleet_status(VALID, (), TODAY)
HOSTS = ["db01", "db02", "db03"]


def test_a_failed_or_expired_pair_is_a_problem_of_its_hosts():
    problems = problems_by_host(LINES, HOSTS, {}, None, FOUND)
    texts = {host: [problem.text for problem in own] for host, own in problems.items()}
    failed = (
        "db01 and db02 on /MQHA/QM1/log: locks failed on 2026-05-02 (run run-2026-05-02): db02 got the lock while db01 "
        "held it"
    )
    assert texts["db01"] == texts["db02"] == [failed]
    assert texts["db03"][0].startswith("db03 and db04 on /MQHA/QM1/log: locks: takeover 12 s")
    assert host_states(LINES, HOSTS, problems) == {"db01": "failed", "db02": "failed", "db03": "expired"}
    assert problems_by_host(LINES, HOSTS, {}, None, pair_problems(PAIRS[2:])) == {}


def test_the_screen_says_who_shares_with_whom_and_what_to_do():
    problems = problems_by_host(LINES, HOSTS, {}, None, FOUND)
    text = status_text(status_json(LINES, HOSTS, problems, TODAY, {}, {}, PAIRS_OF), "/h").splitlines()
    assert text[0] == "NOT CERTIFIED on 2026-06-01: 3 valid; hosts expected: 3."
    assert text[-5:-2] == [
        "  failed    db01 and db02 on /MQHA/QM1/log  locks failed on 2026-05-02 (run run-2026-05-02): db02 got the "
        "lock while db01 held it",
        "  expired   db03 and db04 on /MQHA/QM1/log  locks: takeover 12 s (limit 15 s), 0 late writes; mq-locks-gold 1 "
        "until 2026-04-03 (run run-2026-01-03)",
        "  valid     db01 and db03 on /MQHA/QM1/log  locks: takeover 12 s (limit 15 s), 0 late writes; mq-locks-gold 1 "
        "until 2026-08-01 (run run-2026-05-03)",
    ]
    assert text[-1] == (
        "Next: after correcting what failed, test the locks again: ansible-playbook playbooks/locks.yml --limit "
        "db01,db02,db03"
    )
    assert "certify again" not in text[-2]


def test_a_fail_that_no_test_passed_since_is_a_problem():
    pairs = pair_states([result("2026-05-01"), GRANTED, result("2026-05-03", "inconclusive")], TODAY)
    problems = problems_by_host(LINES, HOSTS, {}, None, pair_problems(pairs))
    assert list(problems) == ["db01", "db02"]
    assert problems["db01"][0].reason == "no test of locks has passed since one failed"
    assert problems["db01"][0].text.endswith("while db01 held it; inconclusive on 2026-05-03")


def test_an_attempt_is_told_beside_the_state():
    results = [
        *[result("2026-05-01"), result("2026-05-02", "inconclusive")],
        result("2026-05-02", "inconclusive", second="db03"),
    ]
    text = status_text(status_json([], [], {}, TODAY, {}, {}, {"locks": results}))
    assert "until 2026-08-01 (run run-2026-05-01); inconclusive on 2026-05-02" in text
    assert "locks are not certified: inconclusive on 2026-05-02 (run run-2026-05-02)" in text


def test_programs_and_monitoring_get_every_pair():
    problems = problems_by_host(LINES, HOSTS, {}, None, FOUND)
    status = status_json(LINES, HOSTS, problems, TODAY, {}, {}, PAIRS_OF)
    assert json.loads(json.dumps(status)) == status
    assert [(each["state"], each["days_left"], each["failed_steps"]) for each in status["locks"]] == [
        ("failed", None, ["second_refused"]),
        ("expired", -59, []),
        ("valid", 61, []),
    ]
    assert {(reason["state"], reason["playbook"]) for reason in status["reasons"]} == {
        ("failed", "locks"),
        ("expired", "locks"),
    }
    assert status["host_states"]["db01"] == "failed"
    samples = samples_of(status_prom(status_json(LINES, HOSTS, {}, TODAY, {}, {}, PAIRS_OF)).decode())
    assert len(samples["logdisk_lock_state"]) == 3 * 5
    assert len(samples["logdisk_lock_takeover_seconds"]) == len(samples["logdisk_lock_end_timestamp_seconds"]) == 2


def test_the_page_lists_the_pairs():
    problems = problems_by_host(LINES, HOSTS, {}, None, FOUND)
    many = {"locks": [*RESULTS, *[result("2026-05-01", second=f"<i>{number}") for number in range(20)]]}
    page = "".join(render_status(status_json(LINES, HOSTS, problems, TODAY, {}, {}, many)))
    assert 'id="locks"' in page and "13 more" in page and "<i>" not in page
    assert "(61 days left)" in page
    assert 'href="#locks"' in page
    without = "".join(render_status(status_json(LINES, HOSTS, {}, TODAY, {}, {})))
    assert 'id="locks"' not in without


def test_the_locks_of_a_claim_have_a_record_beside_its_measurement(tmp_path):
    """Without the record, the run has no pass. With it, the run certifies the claim, and the history keeps both."""
    expected = [{"name": "log"}, {"name": "log_locks", "kind": "locks"}]
    directories, files = [], fabricate.tables()
    for number in range(2):
        directory = fabricate.run_directory(tmp_path / str(number), {"prod": files}, gate=False)
        measured = fabricate.judged(directory.run, "prod", files)
        directory.records.write(dataclasses.replace(measured, certified=True, qualification=""), files)
        directory.volumes.write("prod", expected)
        directories.append(directory)
    absent, complete = directories
    missing = judge_run(absent, GATE)
    assert (missing["gate_failed"], [host["verdict"] for host in missing["hosts"]]) == (True, ["missing", "pass"])

    pair = lock_pairs.pair("pod 1 of prod", "pod 2 of prod", "/data/log", made=[*BASICS, "pod_deleted"])
    record = lock_record(complete.run, "prod", "log_locks", {}, {"path": "/data/log"}, {"pairs": [pair]})
    complete.records.write(record)
    verdict = judge_run(complete, GATE)
    assert (verdict["verdict"], verdict["certified"], verdict["gate_failed"]) == ("pass", True, False)
    certificates, problems = certificates_of(complete)
    assert [each for each in certificates if each.entry.volume == "log_locks"] == []
    assert [problem for problem in problems if "log_locks" in problem] == []
    remembered = complete.kind.memory.of_run(complete)
    with open_history(str(tmp_path / "history.sqlite"), create=True) as history:
        assert history.store([], remembered) == 1
        (found,) = history.results("locks")
    assert (found.hosts, found.volume, found.verdict) == (("pod 1 of prod", "pod 2 of prod"), "log_locks", "pass")
    assert [each.volume for each in planned_by(complete)] == ["log"]
    render(complete)
    page = (Path(complete.path) / "index.html").read_text(encoding="utf-8")
    assert "pod 2 of prod" in page and "pod deleted by force" in page
