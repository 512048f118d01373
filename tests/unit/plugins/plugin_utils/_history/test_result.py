# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Wrong clocks: the order of storing decides what is newest, and a date that a clock contradicted certifies nothing,
hides nothing, and is reported."""

from __future__ import annotations

import datetime
import tempfile

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._english.findings import in_words
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.machines import clock_of_hosts, disagree
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.baseline import comparable_with
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.fleet_drift import fleet_drift
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.overview import status_json
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.planned import planned_by
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.problems import problems_by_host
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.result import wrong_dates
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import Today, fleet_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.status_txt import status_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store import history as store
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.postgresql import PostgresqlHistory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.sqlite import SqliteHistory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge import merged_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.effect import ATTEMPT, CERTIFIES, FAILS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.locks.memory import pair_states
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history.drift import drift_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history.status_html import render_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.moment import MOMENT
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import RunDirectoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.words import words_of
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LATEST = "9999-12-31T23:59:59Z"
SMALL = made_up.changed(made_up.certificate(), rows=[])
NOW = datetime.datetime(2026, 11, 27, 10)
AHEAD, BEHIND, A_BIT = 365, -365, 0.003
"""By how many days the controller's clock is wrong. Four minutes are within the tolerance."""

YEAR_S = 365 * 86400


class Clocks:
    """The true time, and the error of the controller's clock, in days. The clock of a database server is right."""

    def __init__(self, monkeypatch):
        self.true, self.error = NOW, 0
        monkeypatch.setattr(store, "utc_now", lambda: self.text(self.error))
        monkeypatch.setattr(PostgresqlHistory, "server_clock", lambda history: self.text(0), raising=False)

    def text(self, days):
        return (self.true + datetime.timedelta(days=days)).strftime(MOMENT)

    def set(self, days_ago, error=0):
        self.true, self.error = NOW - datetime.timedelta(days=days_ago), error


@pytest.fixture
def clocks(monkeypatch):
    return Clocks(monkeypatch)


@pytest.fixture
def history(place, clocks):
    clocks.set(40)
    with open_history(place, create=True) as history:
        history.expect_live()
        yield history


def judged(moment, effect, facts=(), host="db07", volume_id="v1", **fields):
    """Return a certificate that is dated with a moment."""
    day = datetime.date.fromisoformat(moment[:10])
    until = (day + datetime.timedelta(days=90)).isoformat() if effect == CERTIFIES else None
    times = {"judged_at": moment, "valid_from": until and day.isoformat(), "valid_until": until}
    verdict = made_up.VERDICTS.get(effect, "inconclusive")
    known = {"effect": effect, "verdict": verdict, "volume_facts": list(facts), "run_id": f"run-{moment}"}
    return made_up.changed(SMALL, host=host, volume_id=volume_id, **known, **times, **fields)


def of_cuts(moment, verdict):
    own = judged(moment, FAILS).entry
    return made_up.cuts_of(
        own, moment[:10], verdict, 3, judged_at=moment, run_id=own.run_id, sha256=f"{moment}{verdict}"
    )


def of_locks(moment, verdict):
    until = (datetime.date.fromisoformat(moment[:10]) + datetime.timedelta(days=90)).isoformat()
    failed = "cut_off" if verdict == "fail" else ""
    keys = {"judged_at": moment, "run_id": f"run-{moment}"}
    return made_up.pair_result(moment, verdict, failed, "cut_off", until, **keys)


def imported(history, certificates):
    """Import certificates, on the same controller."""
    with open_history(history.place) as other:
        return other.store(certificates)


# What a run stores: a function of the history and the date.


def passes(history, moment):
    history.store([judged(moment, CERTIFIES)])


def fails(history, moment):
    history.store([judged(moment, FAILS)])


def io_error(history, moment):
    history.store([judged(moment, ATTEMPT, ["io_error"])])


def elsewhere(history, moment):
    history.store([judged(moment, CERTIFIES, host="db99", volume_id="v99")])


def loses(history, moment):
    history.store([], [of_cuts(moment, "fail")])


def keeps(history, moment):
    history.store([], [of_cuts(moment, "pass")])


def locks_pass(history, moment):
    history.store([], [of_locks(moment, "pass")])


def locks_fail(history, moment):
    history.store([], [of_locks(moment, "fail")])


def run(history, clocks, steps):
    """Make runs, one per day until yesterday: what each stores, and the error of its controller's clock."""
    for place, (stores, error) in enumerate(steps):
        clocks.set(len(steps) - place, error)
        stores(history, clocks.text(error))
    clocks.set(0)


def state(history, day=None):
    """Return the state of the volume under test, and of its pair if there is one."""
    today = Today(day or NOW.date(), 14)
    if history.results("locks"):
        return pair_states(history.results("locks"), today)[0].state
    found = [
        {
            line.host: line.state
            for line in fleet_status(entries, history.revocations(), today, history.results("durability"))
        }
        for entries in (history.newest(), history.between())
    ]
    assert found[0] == found[1]
    return found[0].get("db07", "none")


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        # Certificates. A pass that is dated in the future neither hides a later fail nor certifies.
        ([(passes, AHEAD), (fails, 0)], "failed"),
        ([(passes, 0), (passes, AHEAD), (fails, 0)], "failed"),
        ([(passes, AHEAD)], "none"),
        ([(passes, 0), (passes, AHEAD)], "valid"),
        ([(passes, AHEAD), (passes, 0)], "valid"),
        # A fail that is dated in the future counts until something that is stored later ends it.
        ([(passes, 0), (fails, AHEAD)], "failed"),
        ([(fails, AHEAD), (passes, 0)], "valid"),
        ([(passes, AHEAD), (fails, AHEAD)], "failed"),
        # A fail counts although it is dated before an earlier pass.
        ([(passes, 0), (fails, BEHIND)], "failed"),
        ([(fails, BEHIND), (passes, 0)], "valid"),
        # Within the tolerance, the order of storing decides, and everything certifies.
        ([(passes, A_BIT), (fails, A_BIT)], "failed"),
        ([(fails, A_BIT), (passes, 0)], "valid"),
        ([(passes, A_BIT)], "valid"),
        # Facts about the volume.
        ([(passes, 0), (io_error, AHEAD)], "failed"),
        ([(io_error, AHEAD), (passes, 0)], "valid"),
        ([(io_error, 0), (passes, AHEAD)], "failed"),
        ([(passes, AHEAD), (io_error, 0)], "failed"),
        ([(passes, 0), (io_error, BEHIND)], "failed"),
        # Lost writes.
        ([(passes, 0), (loses, 0), (keeps, AHEAD)], "failed"),
        ([(passes, 0), (keeps, AHEAD), (loses, 0)], "failed"),
        ([(passes, 0), (loses, AHEAD), (keeps, 0)], "valid"),
        ([(passes, 0), (keeps, 0), (loses, BEHIND)], "failed"),
        # Locks.
        ([(locks_pass, AHEAD), (locks_fail, 0)], "failed"),
        ([(locks_pass, AHEAD)], "none"),
        ([(locks_fail, 0), (locks_pass, AHEAD)], "failed"),
        ([(locks_fail, AHEAD), (locks_pass, 0)], "valid"),
        ([(locks_pass, 0), (locks_fail, BEHIND)], "failed"),
    ],
)
def test_the_order_of_storing_decides_and_a_wrong_date_certifies_nothing(history, clocks, steps, expected):
    run(history, clocks, steps)
    assert state(history) == expected


MINUTES_A_DAY = 24 * 60
OLD, WEEKS_AGO = -3 * MINUTES_A_DAY, -20 * MINUTES_A_DAY
YEAR = 365 * MINUTES_A_DAY


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        # Each step: the minute, what is stored, by how many minutes the controller's clock is wrong, and for an import
        # the minute of its date. Two controllers, one of which is ahead:
        ([(0, "fail", 9), (2, "pass", 0), (5, "fail", 0)], "failed"),
        ([(0, "pass", 9), (2, "fail", 0), (5, "pass", 0)], "valid"),
        # An old failure that is imported does not replace a live one that was stored before.
        ([(OLD, "pass", 0), (0, "fail", 9), (2, "fail", 9, WEEKS_AGO), (4, "other", 0)], "failed"),
        ([(OLD, "pass", 0), (0, "fail", 60), (5, "fail", 60, WEEKS_AGO), (10, "other", 0)], "failed"),
        # An older pass that is imported clears nothing, whatever the clock of the import.
        ([(-60, "fail", 0), (0, "pass", 0, -360), (1, "other", 0)], "failed"),
        ([(-60, "fail", 0), (0, "pass", 0.05, -360), (0.02, "other", 0)], "failed"),
        ([(-60, "fail", 0), (0, "pass", 5, -360), (0.02, "other", 0)], "failed"),
        ([(-60, "fail", 9), (0, "pass", 0, -55)], "failed"),
        # All clocks agree that this pass is later.
        ([(-60, "fail", 0), (0, "pass", 0, -30), (1, "other", 0)], "valid"),
        # A failure that is imported counts as late as is plausible.
        ([(-60, "pass", 0), (0, "fail", 0, -30)], "failed"),
        ([(-60, "pass", 0), (0, "fail", 0, -90)], "valid"),
        ([(-60, "pass", 9), (-30, "other", -60), (0, "fail", 0, -55)], "failed"),
        ([(-60, "pass", 0), (0, "fail", 0, -30), (1, "pass", 0)], "valid"),
        ([(0, "fail", 0, -90), (1, "pass", 0, -60)], "valid"),
        ([(0, "pass", 0, -60), (1, "fail", 0, -90)], "valid"),
        # An import is no evidence about the time.
        ([(OLD, "pass", 0), (0, "other", -YEAR, WEEKS_AGO)], "valid"),
        ([(-3, "pass", 0), (0, "other", -15, WEEKS_AGO)], "valid"),
        # If it is repeated, it changes nothing.
        ([(OLD, "pass", 0), (0, "again", -YEAR)], "valid"),
    ],
)
def test_an_import_is_placed_by_its_date_and_decides_as_little_as_the_clocks_allow(history, clocks, steps, expected):
    effects = {"pass": CERTIFIES, "fail": FAILS, "other": CERTIFIES}
    last = None
    for minute, what, error, *date in steps:
        clocks.set(-minute / MINUTES_A_DAY, error / MINUTES_A_DAY)
        if what == "again":
            imported(history, [last])
            continue
        place = {"host": "db99", "volume_id": "v99"} if what == "other" else {}
        dated = clocks.text((date[0] - minute) / MINUTES_A_DAY if date else error / MINUTES_A_DAY)
        last = judged(dated, effects[what], **place)
        (imported if date else type(history).store)(history, [last])
    clocks.set(-0.05)
    assert state(history) == expected
    assert state(history, clocks.true.date()) == expected
    history.prune(datetime.date(2030, 1, 1))
    assert state(history) == expected


@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_a_date_that_the_database_server_contradicted_stays_wrong(history, clocks):
    run(history, clocks, [(passes, 20)])
    clocks.set(-25)
    with open_history(history.place) as later:
        assert state(later, clocks.true.date()) == "none"


def test_a_malformed_date_of_a_plan_is_left_out(tmp_path, history, clocks):
    run = fabricate.run_data(["db07"], created_at="soon")
    (planned,) = planned_by(RunDirectory.create(str(tmp_path / "run"), run))
    assert planned.judged_at == ""
    history.store([], [planned])
    assert history.wrong_clock() is None


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["pass", "fail", "other"]),
        st.sampled_from([1, 5, 30, 600, 2 * MINUTES_A_DAY]),  # since the step before
        st.sampled_from([0, 0, 1, -1, 5, -5, 9, -9, 60, -60, 3 * MINUTES_A_DAY, -3 * MINUTES_A_DAY, YEAR, -YEAR]),
        st.sampled_from([None, None, 0, 3, 40, 700, 20 * MINUTES_A_DAY]),  # the age of what is imported
        st.booleans(),  # whether the hosts agree with the clock
    ),
    min_size=2,
    max_size=6,
)


@pytest.mark.parametrize("has_server", [False, True])
@given(steps=STEPS, later=st.sampled_from([1, 60, 10 * MINUTES_A_DAY]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_hides_a_failure_but_what_is_later(monkeypatch, has_server, steps, later):
    clocks = Clocks(monkeypatch)
    monkeypatch.setattr(SqliteHistory, "server_clock", lambda history: clocks.text(0) if has_server else "")
    live_clocks, hiding, failed = [], [], None
    minute = 0
    with tempfile.TemporaryDirectory() as directory, open_history(f"{directory}/history", create=True) as history:
        for what, since, error, age, is_agreed in steps:
            minute += since
            clocks.set(-minute / MINUTES_A_DAY, error / MINUTES_A_DAY)
            place = {"host": "db99", "volume_id": "v99"} if what == "other" else {}
            date = clocks.text(error / MINUTES_A_DAY if age is None else -age / MINUTES_A_DAY)
            certificate = judged(date, FAILS if what == "fail" else CERTIFIES, **place)
            if history.of_run(certificate.entry.run_id):
                continue  # it is already stored
            if age is None:
                history.expect_live(is_agreed)
                history.store([certificate])
                live_clocks += [clocks.text(error / MINUTES_A_DAY), *([clocks.text(0)] if has_server else [])]
            else:
                imported(history, [certificate])
            if what == "fail" and age is None:
                failed, hiding = max(live_clocks), [date for date in hiding if date >= max(live_clocks)]
            elif what == "pass":
                hiding.append(LATEST if age is None else date)
        clocks.set(-(minute + later) / MINUTES_A_DAY)
        found = state(history, clocks.true.date())  # which compares newest() with between()
        if failed and not any(date >= failed for date in hiding):
            assert found == "failed"
        every, newest = history.between(), history.newest()
        for host, effect in {(entry.host, entry.effect) for entry in every}:
            same = [[each for each in some if (each.host, each.effect) == (host, effect)] for some in (every, newest)]
            assert max(each.order for each in same[0]) == max(each.order for each in same[1])


def test_a_wrong_date_stays_wrong_when_it_has_passed(history, clocks):
    run(history, clocks, [(passes, AHEAD), (elsewhere, 0)])
    clocks.set(-AHEAD - 10)
    assert state(history, clocks.true.date()) == "none"


def test_a_clock_that_is_behind_and_alone_does_not_end_the_certificates_of_the_others(history, clocks):
    clocks.set(5)
    passes(history, clocks.text(0))
    clocks.set(4, BEHIND)
    history.expect_live(is_clock_right=False)  # the clocks of the hosts disagree with it
    elsewhere(history, clocks.text(BEHIND))
    clocks.set(0)
    assert state(history) == "valid"


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_if_nothing_shows_which_clock_is_wrong_neither_date_certifies(history, clocks):
    run(history, clocks, [(passes, 0), (passes, BEHIND)])
    assert state(history) == "expired"


@pytest.mark.parametrize(("days_ago", "expected"), [(0, "valid"), (2, "none"), (2000, "none"), (-30, "valid")])
def test_the_status_of_an_earlier_day_does_not_rest_on_later_certificates(history, clocks, days_ago, expected):
    run(history, clocks, [(passes, 0)])
    day = (NOW - datetime.timedelta(days=days_ago)).date()
    history.look_from(day)
    assert state(history, day) == expected


def test_the_status_of_a_later_day_does_not_rest_on_dates_in_the_future(history, clocks):
    run(history, clocks, [(passes, AHEAD)])
    day = (NOW + datetime.timedelta(days=AHEAD + 5)).date()
    history.look_from(day)
    assert state(history, day) == "none"


def test_a_run_that_is_imported_keeps_its_wrong_date(history, clocks):
    clocks.set(1)
    imported(history, [judged(clocks.text(AHEAD), CERTIFIES)])
    assert state(history) == "none"
    clocks.set(-AHEAD - 10)
    assert state(history, clocks.true.date()) == "none"


def test_the_newest_plan_is_the_one_that_was_stored_last(history, clocks):
    for days_ago, error, volume in ((2, AHEAD, "old"), (1, 0, "log")):
        clocks.set(days_ago, error)
        moment = clocks.text(error)
        history.store([], [made_up.planned("db07", volume, "/var/mqm/log", moment, f"run-{moment}")])
    assert [each.volume for each in history.plans()["db07"]] == ["log"]


def test_the_newest_observation_is_the_one_that_was_stored_last(history, clocks):
    for days_ago, error, ratio in ((2, AHEAD, 9.0), (1, 0, 1.0)):
        clocks.set(days_ago, error)
        history.store([], [made_up.observation("2026-11-01", ratio=ratio, judged_at=clocks.text(error))])
    assert [each.data["ratio"] for each in history.results("observation")] == [1.0]


@pytest.mark.parametrize(
    ("steps", "named"),
    [
        ([(passes, AHEAD), (fails, 0)], [1]),
        ([(passes, 0), (passes, AHEAD)], [1]),
        ([(passes, AHEAD), (passes, 0)], []),
        ([(passes, 0)], []),
        ([(passes, 0), (keeps, AHEAD)], [1]),
        ([(locks_pass, AHEAD), (locks_fail, 0)], [1]),
    ],
)
def test_the_status_names_a_wrong_date_until_the_same_is_certified_again(history, clocks, steps, named):
    run(history, clocks, steps)
    results = {kind: history.results(kind) for kind in ("durability", "locks", "observation")}
    results["measurement"] = history.newest()
    dates = wrong_dates(each for own in results.values() for each in own)
    assert len(dates) == len(named)
    for each in dates:
        assert each["judged_at"][:4] == "2027" and each["judged_at"] in each["text"] and each["clock"][:7] == "2026-11"
    today = Today(NOW.date(), 14)
    lines = fleet_status(history.newest(), {}, today)
    text = status_text(status_json(lines, ["db07"], problems_by_host(lines, ["db07"], {}), today, {}, {}, results))
    assert ("wrong date" in text and "dated 2027-11-2" in text) == bool(named)
    status = status_json(lines, [], {}, today, {}, {}, results)
    assert ("dated 2027-11-2" in "".join(render_status(status))) == bool(named)


def test_a_volume_whose_only_certificate_has_a_wrong_date_says_so(history, clocks):
    run(history, clocks, [(passes, AHEAD)])
    lines = fleet_status(history.newest(), {}, Today(NOW.date(), 14))
    ((problem,),) = problems_by_host(lines, ["db07"], {}).values()
    assert (
        "its certificate is dated 2027-11-26T10:00:00Z, but a clock that was read later showed 2026-11" in problem.text
    )


def test_drift_and_baselines_leave_wrong_dates_out(history, clocks):
    full = made_up.certificate()
    for days_ago, error in ((3, 0), (2, AHEAD), (1, 0)):
        clocks.set(days_ago, error)
        moment = clocks.text(error)
        history.store([made_up.changed(full, judged_at=moment, run_id=f"run-{moment}")])
    clocks.set(0)
    drift = fleet_drift(history, ["db07"], figure="latency_mean_ns", margin=0.1)
    (volume,) = drift["volumes"]
    assert [each["judged_at"][:10] for each in volume["certificates"]] == ["2026-11-24", "2026-11-26"]
    assert "dated 2027-11-25" in drift_text(drift, "/page")
    entries = history.of_name("db07", "log")
    assert [entry.judged_at[:4] for entry in entries] == ["2026", "2027", "2026"]
    assert [entry.judged_at[:4] for entry in comparable_with(entries[-1], entries, ())] == ["2026", "2026"]


@pytest.mark.parametrize(("error", "is_refused"), [(AHEAD, True), (A_BIT, False), (BEHIND, False)])
def test_runs_that_are_dated_later_than_now_are_not_merged_with_others(
    tmp_path, clocks, monkeypatch, error, is_refused
):
    monkeypatch.setattr(merged_run, "utc_now", lambda: clocks.text(0))
    files = fabricate.tables(over=[])
    paths = []
    for number, days in enumerate((error, 0)):
        moment = clocks.text(days)
        directory = RunDirectory.create(
            str(tmp_path / str(number)), fabricate.run_data(["db07"], created_at=moment, run_id=f"R{number}")
        )
        directory.records.write(fabricate.judged(directory.run, "db07", files, created_at=moment), files)
        paths.append(directory.path)
    if is_refused:
        with pytest.raises(RunDirectoryError, match="run R0 is dated 2027-11-27T10:00:00Z, which is later than now"):
            merged_run.merge_runs(paths, str(tmp_path / "merged"))
    else:
        merged_run.merge_runs(paths, str(tmp_path / "merged"))
    merged_run.merge_runs(paths[:1], str(tmp_path / "alone"))


@pytest.mark.parametrize(
    ("offsets_s", "is_told", "is_distrusted"),
    [
        ([0, 0.5, -3], False, False),
        ([YEAR_S, 0, 0], True, False),
        ([-YEAR_S, 0, 0], True, False),
        ([YEAR_S, YEAR_S, 0], True, True),
        ([-YEAR_S], True, True),
        ([], False, False),
    ],
)
def test_the_clocks_of_hosts_are_compared_with_the_controllers(offsets_s, is_told, is_distrusted):
    facts = {
        f"h{number}": {"clock_offset_s": offset_s, "clock_offset_error_s": 0.1}
        for number, offset_s in enumerate(offsets_s)
    }
    note = clock_of_hosts(facts)
    assert bool(note) == is_told and disagree(facts.values()) == is_distrusted
    if note:
        far = sum(abs(offset_s) == YEAR_S for offset_s in offsets_s)
        words = f"the clocks of {far} of {len(offsets_s)} hosts differ from it, for example that of h0 by "
        assert words in in_words(note, words_of(""))
    assert not disagree([{}])


@pytest.mark.parametrize(
    ("steps", "error", "words"),
    [
        ([(passes, 0)], 0, ""),
        ([(passes, A_BIT)], 0, ""),
        (
            [(passes, 0)],
            BEHIND,
            "The controller's clock shows 2025-11-27T10:00:00Z, but the newest results in the history",
        ),
        ([(passes, AHEAD)], 0, "were stored when a controller's clock showed 2027-11-26T10:00:00Z"),
        # This was reported when the next run was opened.
        ([(passes, AHEAD), (fails, 0)], 0, ""),
    ],
)
@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_clock_that_contradicts_the_history_is_reported_when_a_run_is_opened(history, clocks, steps, error, words):
    run(history, clocks, steps)
    clocks.set(0, error)
    found = history.wrong_clock()
    assert bool(found) == bool(words)
    assert words in (in_words(found, words_of("")) if found else "")


@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
@pytest.mark.parametrize("error", [AHEAD, BEHIND])
def test_a_database_server_is_a_second_clock(history, clocks, error):
    clocks.set(0, error)
    assert "the clock of the history's database server shows 2026-11-27T10:00:00Z" in in_words(
        history.wrong_clock(), words_of("")
    )
