# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reports about locks: each pair appears once, problems are explained in terms of MQ, takeovers are drawn, and many
pairs are folded."""

from __future__ import annotations

import json
import re

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.locks import english
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.locks.advice import (
    LOCK_CAUSES,
    OF_METRICS,
    advice_on_locks,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.locks.timeline import takeover_chart
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes.advice import together
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import RunDirectoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps.reopen_run import measured
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.pages import HOSTILE, empty_columns
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.lock_pairs import (
    S,
    changed,
    pair,
    row,
    run_of,
)

KEPT = "takeover 12 s (limit 15 s), 0 late writes, 1,000 of 1,000 updates kept"


@pytest.fixture
def locks(rendered):
    return rendered("locks")


def reported(base, *pairs, **keys):
    directory = run_of(base, pairs, **keys)
    render(directory)
    return directory


def test_the_summary_has_a_line_for_each_pair_and_what_is_wrong_in_terms_of_mq(locks):
    text = runs.content(locks, "summary.txt")
    assert text.startswith(
        "FAIL: db03 and db04: 88 late writes of db03 landed after db04 had taken over. Locks on 9 hosts in 4 pairs: "
        "4 fail, 1 missing, 2 inconclusive, 2 pass. No latency was measured"
    )
    told = [line.split("locks    ")[1] for line in text.splitlines() if line.startswith("  locks")]
    assert told == [
        "db03 and db04 on /MQHA/QM1/log: fail, 88 late writes, takeover 12 s (limit 15 s), 1,000 of 1,000 updates kept",
        "db05 and db06 on /MQHA/QM1/log: fail, takeover 31 s (limit 15 s), 0 late writes, 1,000 of 1,000 updates kept; "
        "not tested: failover of the file server",
        f"db07 and db08 on /MQHA/QM1/log: inconclusive, {KEPT}",
        f"db01 and db02 on /MQHA/QM1/log: pass, {KEPT}",
    ]
    assert "2 of 9 hosts (db03 and db04): 88 late writes of db03 landed after db04 had taken over" in text
    assert LOCK_CAUSES["late_write"].consequence in text and "(Talk to: storage, operating system.)" in text
    assert "collect.yml" not in text


@pytest.mark.parametrize(
    ("left_out", "told"),
    [
        ((), ": 6 pass."),
        (
            ((0, "server_failover"), (1, "server_failover"), (2, "server_failover")),
            ": 6 pass; not tested: failover of the file server.",
        ),
        (
            ((0, "server_failover"), (1, "server_failover"), (2, "server_failover"), (1, "cut_off")),
            ": 6 pass; not tested: host cut off and back (in 1 of 3 pairs), failover of the file server.",
        ),
    ],
)
def test_the_first_line_of_a_pass_names_what_was_not_tested(tmp_path, left_out, told):
    pairs = [pair(f"db{2 * number:03}", f"db{2 * number + 1:03}") for number in range(3)]
    for number, step in left_out:
        pairs[number] = changed(pairs[number], step, "not_covered", "no_command")
    profile = {"name": "mine", "extends": "mq-locks-gold", "locks": {"steps": ["host_lost"]}}
    directory = reported(tmp_path, *pairs, profile=profile)
    line = f"Locks on 6 hosts in 3 pairs{told} No latency was measured or certified."
    assert runs.content(directory, "summary.txt").splitlines()[0].startswith(f"PASS: {line}")
    assert line in runs.page_text(directory)


def test_what_a_failed_pair_was_not_tested_for_is_not_in_the_first_line(tmp_path):
    broken = changed(pair(), "second_refused", "broken", "granted")
    directory = reported(tmp_path, changed(broken, "cut_off", "not_covered", "second_granted"))
    first, *_rest = runs.content(directory, "summary.txt").splitlines()
    assert first.startswith(
        "FAIL: db01 and db02: db02 got the lock while db01 held it. Locks on 2 hosts in 1 pair: 2 fail."
    )


def test_the_criteria_on_the_page_list_the_limits_on_locks(locks):
    text = runs.page_text(locks)
    for told in (
        "LOCK-103 lock_takeover <= 15 s",
        "LOCK-106 lock_verification_at_failover <= 10 s",
        "LOCK-105 lock_notification <= 1 s",
        "load_s: minimum time in seconds of full load: 600",
        "under full log load, host lost, host cut off and back",
    ):
        assert told in text


def test_one_fault_that_breaks_several_steps_is_one_cause(tmp_path):
    broken = pair("db01", "db02")
    for step in ("second_refused", "hand_over", "under_load"):
        broken = changed(broken, step, "broken", "granted")
    directory = reported(tmp_path, broken)
    causes = [line for line in runs.content(directory, "summary.txt").splitlines() if line.startswith("  fail ")]
    assert len(causes) == 1 and "2 hosts (db01 and db02): for example db01: db02 got the lock while db01" in causes[0]
    assert "(criterion LOCK-002, LOCK-004, LOCK-006)" in runs.page_text(directory)


@pytest.mark.parametrize(("count", "lines"), [(1, 1), (5, 5), (20, 6), (300, 6)])
def test_many_pairs_are_folded(tmp_path, count, lines):
    pairs = [pair(f"db{2 * number:03}", f"db{2 * number + 1:03}") for number in range(count)]
    pairs[-1] = changed(pairs[-1], "second_refused", "broken", "granted")
    directory = reported(tmp_path, *pairs)
    summary = runs.content(directory, "summary.txt")
    told = [line for line in summary.splitlines() if line.startswith("  locks")]
    assert len(told) == lines
    assert told[0].startswith(f"  locks    db{2 * count - 2:03} and db{2 * count - 1:03} on ")
    assert told[-1].endswith(f"and {count - 5} more pairs" if count > 5 else "updates kept")
    assert runs.content(directory, "index.html").count('<tr data-verdict="') == count
    assert len(runs.content(directory, "index.html")) < 2_000_000


def test_a_host_with_many_others_has_them_folded(tmp_path):
    names = [f"db{number}" for number in range(6)]
    directory = reported(tmp_path, *(pair(one, other) for one in names for other in names if one < other))
    page = runs.content(directory, "index.html")
    assert page.count('<details class="pair">') == 2 * 15
    assert runs.page_text(directory).count(f"with db1 : {KEPT}") == 5


def test_all_formats_say_what_is_wrong(locks):
    for name in ("index.html", "report.md", "summary.txt", "junit.xml"):
        assert "88 late writes of db03 landed after db04 had taken over" in runs.content(locks, name), name
    (host,) = (each for each in json.loads(runs.content(locks, "report.json"))["hosts"] if each["host"] == "db04")
    assert (host["kind"], host["verdict"], host["locks"]["pairs"][0]["verdict"]) == ("locks", "fail", "fail")
    assert 'name="locks"' in runs.content(locks, "junit.xml")
    assert f"<system-out>{KEPT}</system-out>" in runs.content(locks, "junit.xml")


def test_the_page_shows_each_step_with_its_figures_and_what_is_not_covered(locks):
    text = runs.page_text(locks)
    assert "With db04 on /MQHA/QM1/log, from 10.1.0.9:/mq" in text
    assert (
        "hand-over ✓ pass db03 holds, db04 wants waiting 20 ms, polling 1.5 s, one request 1 ms, after unlock" in text
    )
    assert "under full log load ✓ pass db03 holds, db04 wants 10 min of load, 300 verifications, the longest" in text
    assert (
        "host cut off and back ✗ fail db03 holds, db04 wants takeover 12 s, refused 12 times, back after 31 s, "
        "then refused 24 times, late writes: 88 in the locked log (704 sectors), 0 in the log without a lock, its "
        "pending write ended with EIO, 0 of 5,000 acknowledged writes lost 88 late writes of db03 landed after db04 "
        "had taken over"
    ) in text
    assert "– not covered db05 holds, db06 wants longest pause of" in text
    assert "not covered: locks_server_command is not set" in text
    assert (
        "db05 and db06 /MQHA/QM1/log ✗ fail host lost not covered: failover of the file server at most 31 s 0" in text
    )
    assert empty_columns(f"{locks.path}/index.html") == []
    assert "No latency was measured" in text and "Hosts and block sizes" not in text


def test_a_required_step_that_is_missing_has_a_line_of_its_own(tmp_path):
    results = {**pair(), "steps": [each for each in pair()["steps"] if each["step"] != "host_lost"]}
    assert "host lost ? inconclusive db02 holds, db01 wants it was not carried out" in runs.page_text(
        reported(tmp_path, results)
    )


@pytest.mark.parametrize(
    ("step", "outcome", "cause", "figures", "marks", "title"),
    [
        ("host_lost", "kept", "", {}, [], "db01 is lost: db02 has the lock after 11 s"),
        ("cut_off", "kept", "", {}, ["fenced"], "db01 is cut off: db02 has the lock after 12 s"),
        ("cut_off", "broken", "not_fenced", {}, ["landed"], "db01 is cut off: db02 has the lock after 12 s"),
        (
            "cut_off",
            "broken",
            "late_write_landed",
            {"unlocked_late_writes": 1},
            ["landed"],
            "db01 is cut off: db02 has the lock after 12 s",
        ),
        (
            "host_lost",
            "broken",
            "never_taken_over",
            {"takeover_ns": 600 * S},
            ["landed"],
            "db01 is lost: db02 has no lock after 10 min",
        ),
    ],
)
def test_each_takeover_is_a_picture(step, outcome, cause, figures, marks, title):
    results = changed(pair(), step, outcome, cause, "db01", **figures)
    (drawn,) = (each for each in results["steps"] if each["step"] == step and each["holder"] == "db01")
    picture = str(takeover_chart(drawn, 15))
    assert f"<title>{title}</title>" in picture
    assert re.findall(r'class="(fenced|landed)"', picture) == marks
    assert ('class="fill mean"' in picture) == (cause != "never_taken_over")
    places = [float(x) for x in re.findall(r"[MH](-?[0-9.]+)", picture)]
    assert all(0 <= x <= 460 for x in places)
    drawn = re.findall(r'<path class="(?:fill|gone|refused|fenced|landed)[^>]*>', picture)
    assert all(re.search(r' data-v="db0[12][ :][^|"]+"', path) for path in drawn)


def test_a_takeover_of_unknown_length_has_no_picture():
    assert takeover_chart(row("host_lost", "db01", "db02", "undecided", "not_cut"), 15) == ""


def test_each_cause_has_a_consequence_and_a_next_step():
    codes = {*english._BROKEN, "not_covered", "undecided"}
    found = [{"kind": "lock_broken", "code": code, "step": "second_refused"} for code in codes]
    used = {advice_on_locks([each]) for each in found}
    unknown = advice_on_locks([{"kind": "lock_broken", "code": "of_a_later_version", "step": "cut_off"}])
    assert unknown == advice_on_locks([{"kind": "lock_undecided", "code": "lock_not_free", "step": "cut_off"}])
    for code in {*english._BROKEN} - {"setting"}:
        assert advice_on_locks([{"kind": "lock_broken", "code": code, "step": "cut_off"}]) != unknown, code
    of_setting = advice_on_locks(
        [{"kind": "lock_broken", "code": "setting", "step": "settings", "limit_id": "SET-002"}]
    )
    assert of_setting[1].startswith("Mount with hard")
    assert all(consequence.endswith(".") and next_step for consequence, next_step in used)
    shown = {
        advice_on_locks([{"kind": "lock_broken", "code": "granted", "step": step}])
        for step in ("same_host", "server_failover", "second_refused")
    }
    assert len(shown) == 3


@pytest.mark.parametrize("code", ["late_write_landed", "not_fenced"])
def test_late_writes_to_a_file_without_a_lock_are_a_question_to_ibm(code):
    finding = {"kind": "lock_broken", "code": code, "step": "cut_off"}
    unlocked = {"log": "unlocked", "late_writes": 0, "unlocked_late_writes": 1024}
    of_locked = advice_on_locks([{**finding, "figures": {"log": "locked", "late_writes": 3}}])
    assert advice_on_locks([{**finding, "figures": unlocked}])[1].startswith("Ask IBM Support")
    assert advice_on_locks([{**finding, "figures": {**unlocked, "late_writes": 3}}]) == of_locked
    assert of_locked[1].startswith("Put no queue manager there.")


@pytest.mark.parametrize("code", ["seen_again", "not_permitted", "other_path", "no_failover_seen"])
def test_an_open_question_with_a_known_cause_has_its_own_advice(code):
    undecided = {"kind": "lock_undecided", "code": code, "step": "settings"}
    advice = LOCK_CAUSES[code]
    assert advice_on_locks([undecided]) == (advice.consequence, together([advice]))
    assert advice_on_locks([{**undecided, "code": "refused_by_error"}])[0] == LOCK_CAUSES["undecided"].consequence


@pytest.mark.parametrize("code", ["write_error", "verification_error"])
def test_an_error_at_a_failover_is_a_matter_of_the_file_server(code):
    """A client that cannot reclaim its lock ends writes with an error, even on a hard mount."""
    at_failover, under_load = (
        advice_on_locks([{"kind": "lock_broken", "code": code, "step": step}])
        for step in ("server_failover", "under_load")
    )
    assert "server scope" in at_failover[1] and "instead of soft" not in at_failover[1]
    assert "instead of soft" in under_load[1]


@pytest.mark.parametrize(
    ("step", "figures", "key"),
    [
        ("host_lost", {"takeover_ns": 31 * S}, "lock_takeover"),
        ("under_load", {"verification_max_ns": 12 * S}, "lock_verification"),
        ("hand_over", {"wait_ns": 3 * S, "poll_ns": 3 * S}, "lock_hand_over"),
        ("hand_over", {"wait_ns": 1.9 * S, "poll_ns": 0}, "lock_notification"),
        ("lock_count", {"locks_held": 1}, "lock_count"),
        ("under_load", {"write_pause_max_ns": 12 * S}, "lock_write_pause"),
        ("server_failover", {"verification_max_ns": 59 * S}, "lock_verification_at_failover"),
        ("server_failover", {"write_pause_max_ns": 240 * S}, "lock_write_pause_at_failover"),
    ],
)
def test_each_limit_has_its_own_advice(tmp_path, step, figures, key):
    directory = reported(tmp_path, changed(pair(), step, **figures))
    (cause,) = json.loads(runs.content(directory, "report.json"))["causes"]
    advice = OF_METRICS[key]
    assert (cause["consequence"], cause["next_step"]) == (advice.consequence, advice.text)


def test_a_waived_limit_is_a_warning_with_the_same_figures(tmp_path):
    profile = {
        "name": "mine",
        "extends": "mq-locks-gold",
        "waivers": [{"host": "db01", "id": "LOCK-103", "until": "2026-12-31", "reason": "CHG7"}],
    }
    directory = reported(tmp_path, changed(pair(), "host_lost", takeover_ns=31 * S), profile=profile)
    text = runs.content(directory, "summary.txt")
    assert text.startswith(
        "WARN: db01 and db02: db02 had the lock 31 s after db01 was lost (limit 15 s); waived until 2026-12-31"
    )
    assert "waived (CHG7)" in text


def test_monitoring_has_the_verdicts_the_takeover_and_late_writes(locks):
    text = runs.content(locks, "logdisk.prom")
    assert 'logdisk_run_lock_pairs{host="db03",volume="log",verdict="fail"} 1' in text
    assert 'logdisk_run_lock_pairs{host="db03",volume="log",verdict="pass"} 0' in text
    assert 'logdisk_run_lock_takeover_seconds{host="db05",volume="log"} 31' in text
    assert 'logdisk_run_lock_late_writes{host="db04",volume="log"} 88' in text


def test_what_hosts_say_is_only_text(tmp_path):
    evil = HOSTILE[0]
    results = changed(pair(directory=evil, server=evil), "cut_off", "broken", evil, errno=evil)
    results = changed(results, "hand_over", "undecided", evil, way=evil)
    results = changed(results, "lock_count", evil, evil)
    results["steps"].append(row(evil, "db01", "db02", evil, evil))
    directory = reported(tmp_path, results)
    assert "<script>alert(1)</script>" not in runs.content(directory, "index.html")


def test_a_test_of_locks_cannot_be_collected(locks):
    with pytest.raises(RunDirectoryError, match="is a test of locks, which cannot be collected"):
        measured(locks)
