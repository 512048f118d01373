# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""IDs of limits: each shipped limit has one. Documentation and records name it, waivers may name it, and it is not part
of a profile's hash."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import all_criteria, load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.power_cut.record import findings_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.definitions import DefinitionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.host_settings import profile_key
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import KINDS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.lock_steps import STEPS
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate, lock_pairs

CRITERIA = all_criteria()
NAMES = sorted(path.stem for path in Path(fabricate.PROFILES).glob("*.yml"))
SHIPPED = [(name, limit) for name in NAMES for limit in load_profile(name, fabricate.PROFILES).limits]
CRITERION_ROW = re.compile(r"^\| `([A-Z]+-[0-9]{3})` \| `(\w+)`(?:, ([\w ]+))? \| [^|`]+ \|$", re.M)
PAGE = (fabricate.PROJECT / "docs/limit_ids.md").read_text(encoding="utf-8")


def mine(*limits, **keys):
    return {"name": "mine", "limits": [{"metric": "latency_mean", "max": "1 ms", **limit} for limit in limits], **keys}


def test_each_shipped_limit_has_an_id_of_its_own_and_hard_limits_the_same_one_everywhere():
    assert all(limit.id for _name, limit in SHIPPED)
    own = {(limit.id, limit) for _name, limit in SHIPPED if not limit.hard}  # some profiles extend others
    assert len({limit_id for limit_id, _limit in own}) == len(own)
    assert {(limit.id, limit.text) for _name, limit in SHIPPED if limit.hard} == {
        ("HARD-001", "latency_mean <= 10 ms"),
        ("HARD-002", "latency_max < 10 s"),
    }


def test_the_id_of_a_limit_of_a_kind_names_the_same_metric_in_every_profile():
    limits = [limit for name in NAMES for limit in load_profile(name, fabricate.PROFILES).kind_limits]
    named = {(limit.id, limit.metric.name) for limit in limits}
    assert len(named) == len({limit_id for limit_id, _metric in named}) == len({metric for _id, metric in named})
    assert {metric for _id, metric in named} >= {
        metric.name for kind in KINDS.values() for metric in kind.criteria.metrics
    }


def test_the_documentation_lists_each_criterion_that_no_limit_holds():
    documented = CRITERION_ROW.findall(PAGE)
    assert {(kind, cause or None): limit_id for limit_id, kind, cause in documented} == CRITERIA
    assert len(documented) == len(CRITERIA) == len(set(CRITERIA.values()) - {limit.id for _name, limit in SHIPPED})


def test_the_documentation_names_tests_that_exist():
    assert all(callable(globals()[name]) for name in re.findall(r"`(test_\w+)`", PAGE))


@pytest.mark.parametrize(
    ("ending", "limit_id"),
    [
        ({"exit_status": 3, "error_errno_name": "EIO"}, "IO-001"),
        ({"exit_status": 3, "error_errno_name": "SHORT_WRITE"}, "IO-002"),
        ({"exit_status": 3, "error_errno_name": "CORRUPT"}, "IO-003"),
        ({"exit_status": 4, "exit_reason": "deadline", "in_flight_age_ns": 10**10}, "IO-004"),
        ({"exit_status": 4, "exit_reason": "interrupted"}, None),
    ],
)
def test_a_tester_that_ends_early_names_its_criterion(ending, limit_id):
    tables = fabricate.tables(fabricate.sweep_rows(block_sizes=(4096,)), **ending)
    record = fabricate.judged(fabricate.run_data(["db07"]), "db07", tables)
    found = [each for each in record.findings if each["kind"] not in ("limit", "qualification")]
    assert [each.get("limit_id") for each in found] == [limit_id]
    assert (record.verdict == "fail") == bool(limit_id)


def test_power_cuts_name_their_criteria():
    lost, undecided = (
        {"outcome": outcome, "number": 1, "reason": "why", "rows": []} for outcome in ("lost", "inconclusive")
    )
    named = [
        [(each["verdict"], each["limit_id"]) for each in findings_of(cuts, 2)]
        for cuts in ([undecided, lost], [undecided])
    ]
    assert named == [
        [("fail", "CUT-001"), ("inconclusive", "CUT-002")],
        [("inconclusive", "CUT-002"), ("inconclusive", "CUT-003")],
    ]


@pytest.mark.parametrize(
    ("columns", "limit_ids"),
    [
        ({"lost_tail_writes": "3", "lost_out_of_order_writes": "1", "lost_tail_bytes": "12288"}, ["CUT-001"]),
        ({"torn_positions": "1"}, ["CUT-004"]),
        ({"misdirected_positions": "1"}, ["CUT-005"]),
        ({"unreadable_positions": "1"}, ["CUT-006"]),
        ({"zeroed_positions": "1"}, ["CUT-007"]),
        ({"corrupt_positions": "1"}, ["CUT-008"]),
        ({"metadata_lost": "1"}, ["CUT-009"]),
        (
            {"lost_tail_writes": "3", "torn_positions": "2", "corrupt_positions": "0", "metadata_lost": "1"},
            ["CUT-009", "CUT-001", "CUT-004"],
        ),
        ({}, ["CUT-001"]),
    ],
)
def test_each_kind_of_damage_has_a_criterion_of_its_own(columns, limit_ids):
    found = findings_of(
        [
            {
                "outcome": "lost",
                "number": 1,
                "reason": "all of it",
                "rows": [{"worker": "all", "outcome": "lost", **columns}],
            }
        ],
        2,
    )
    assert ([each["limit_id"] for each in found], {each["verdict"] for each in found}) == (limit_ids, {"fail"})


@pytest.mark.parametrize("step", STEPS)
def test_locks_name_their_criteria(step):
    outcomes = {"broken": ("fail", CRITERIA["lock_broken", step]), "undecided": ("inconclusive", "LOCK-011")}
    for outcome, named in {**outcomes, "not_covered": ("inconclusive", "LOCK-012")}.items():
        made = dict.fromkeys((*lock_pairs.OF_HOSTS, step))
        results = lock_pairs.changed(lock_pairs.pair(made=tuple(made)), step, outcome, "granted")
        required = {"name": "mine", "extends": f"{fabricate.PROFILES}/mq-locks-gold.yml", "locks": {"steps": [step]}}
        found = lock_pairs.record(results, profile=required).findings
        assert {(each["verdict"], each["limit_id"]) for each in found} == {named}


@pytest.mark.parametrize("limit_id", CRITERIA.values())
def test_no_waiver_and_no_limit_has_the_id_of_such_a_criterion(limit_id):
    refused = (
        f"id {limit_id} is that of a criterion that is part of every run: no limit can have this "
        "id, and no waiver excuses it"
    )
    with pytest.raises(DefinitionError, match=refused):
        load_profile(mine({}, waivers=[{"host": "db07", "id": limit_id, "until": "2027-01-31", "reason": "CHG7"}]))
    with pytest.raises(DefinitionError, match=refused):
        load_profile(mine({"id": limit_id}))


@pytest.mark.parametrize(("name", "limit"), SHIPPED)
def test_every_limit_of_a_shipped_profile_fails_the_row_that_breaks_it(name, limit):
    beyond = limit.value * (0.5 if limit.bound == "min" else 2)
    assert (limit.broken_by(beyond), limit.broken_by(limit.value * (2 if limit.bound == "min" else 0.5))) == (
        True,
        False,
    )


@pytest.mark.parametrize("value", ["", "log-001", "LOG001", "LOG-1", "L-001", "LOG-0001", 7, None])
def test_an_id_of_another_form_is_refused(value):
    with pytest.raises(
        DefinitionError, match=r"limits\[0\]\.id .* must be 2 to 12 capital letters and digits, a dash and three digits"
    ):
        load_profile(mine({"id": value}))


def test_an_id_names_one_limit_of_a_profile():
    with pytest.raises(DefinitionError, match="Two limits have the id LOG-001"):
        load_profile(mine({"id": "LOG-001"}, {"id": "LOG-001", "load_point": 2}))


def test_a_profile_with_ids_is_read_back_and_has_the_hash_of_the_one_without():
    profile = load_profile("mq-log-silver", fabricate.PROFILES)
    data = profile.as_dict()
    assert load_profile(data) == profile
    without = copy.deepcopy(data)
    for limit in without["limits"]:
        del limit["id"]
    assert profile_key(without) == profile_key(data)
    without["limits"][0]["max"] = "2 ms"
    assert profile_key(without) != profile_key(data)


@pytest.mark.parametrize("about", [{}, {"id": "LOG-001", "metric": "latency_mean"}])
def test_a_waiver_names_a_metric_or_an_id(about):
    with pytest.raises(DefinitionError, match=r"waivers\[0\] must give exactly one of metric and id"):
        load_profile(
            mine({"id": "LOG-001"}, waivers=[{"host": "db07", "until": "2027-01-31", "reason": "CHG7", **about}])
        )


@pytest.mark.parametrize(("waived", "verdict"), [("LOG-001", "warn"), ("LOG-002", "fail")])
def test_a_waiver_by_id_excuses_that_limit_alone(waived, verdict):
    limits = ({"id": "LOG-001", "load_point": 1}, {"id": "LOG-002", "load_point": 2})
    profile = load_profile(
        mine(*limits, waivers=[{"host": "db07", "id": waived, "until": "2027-01-31", "reason": "CHG7"}])
    )
    assert load_profile(profile.as_dict()) == profile
    run = fabricate.run_data(["db07"])
    run["profile"] = profile.as_dict()
    record = fabricate.judged(
        run, "db07", fabricate.tables(fabricate.sweep_rows(block_sizes=(4096,), latency_ns=3_000_000))
    )
    (broken,) = [
        judgement
        for judgement in record.judgements
        if judgement["limit_id"] == "LOG-001" and judgement["worker"] == "all"
    ]
    assert broken["verdict"] == verdict
