# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The causes of a run: each appears once, with all its hosts and the consequences of its figures."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.machines import doubles
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes import advice
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes.consequences import consequence_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes.groups import causes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes.limits import _besides
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import JudgedRow, build_model
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.findings import FORESEEN, PREFLIGHT, finding
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import KINDS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import PASS, rank
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.words import words_of
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

SMALL = {"max": "64K"}
PROFILE = {
    "name": "mine",
    "qualifies": {"min_duration_s": 20},
    "limits": [
        {"metric": "latency_mean", "max": "1 ms", "block_size": SMALL},
        {"metric": "latency_p99", "max": "2 ms", "block_size": SMALL},
        {"metric": "latency_p99_9", "max": "10 ms", "block_size": SMALL},
        {"metric": "bytes_per_s", "min": "250 MB/s", "block_size": "1M"},
    ],
    "waivers": [
        {"host": "waived", "metric": metric, "until": "2027-01-31", "reason": "CHG7"}
        for metric in ("latency_mean", "latency_p99")
    ],
}

CONFIDENT = {"name": "mine", "qualifies": {"confidence": 0.95}}


def measured(seconds=20, **keys):
    return fabricate.tables(fabricate.sweep_rows(seconds=seconds, **keys))


def found(directory):
    return causes(build_model(directory))


def statements(directory, verdict):
    return [cause.statement for cause in found(directory) if cause.verdict == verdict]


@pytest.mark.parametrize("names", [("db01", "db01-alias", "db01.example.com"), ("primary", "standby", "spare")])
def test_the_names_of_one_machine_are_one_cause(tmp_path, names):
    said = doubles({name: {"machine_id": "0f3c", "boot_id": "11-22", "hostname": "db01"} for name in names})
    other = doubles({name: {"machine_id": "0f3d", "boot_id": "33-44", "hostname": "x1"} for name in ("x1", "x2")})
    directory = fabricate.run_directory(
        tmp_path,
        {"good1": measured()},
        [fabricate.failed(host, "error", reason=text) for host, text in {**said, **other}.items()],
    )
    judge_run(directory, GATE)
    of_machines = [cause for cause in found(directory) if "the same machine" in cause.statement]
    assert sorted(sorted(cause.hosts) for cause in of_machines) == sorted([sorted(names), ["x1", "x2"]])
    assert all("for example" not in cause.statement for cause in of_machines)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """A run with a host for each verdict, and several hosts with the same problem."""
    hosts = {
        **{f"good{number}": measured() for number in range(5)},
        **{f"db{number:03d}": measured(latency_ns=15_000_000 + 3_000_000 * number) for number in range(4)},
        "waived": measured(latency_ns=1_400_000),
        "few": measured(latency_p99_9_ns=None),
        "ended": fabricate.tables(
            fabricate.sweep_rows(seconds=20),
            exit_status=4,
            exit_reason="interrupted",
            exit_message="interrupted by a signal",
        ),
        "brief": measured(seconds=10),
    }
    unmeasured = [
        *(
            fabricate.failed(f"dead{number}", stage="tester", reason=f"ssh: connect to host 10.0.0.{number}: timed out")
            for number in range(3)
        ),
        fabricate.failed("broken1", "error", "tester", "no compiler on broken1"),
        fabricate.failed("broken2", "error", "tester", "no compiler on broken2"),
    ]
    expected = [*hosts, *(record.host for record in unmeasured), "never"]
    directory = fabricate.run_directory(
        tmp_path_factory.mktemp("fleet"), hosts, unmeasured, expected=expected, profile=PROFILE
    )
    directory.records.note_leftovers("good1", "log", ["/var/mqm/x"])
    judge_run(directory, GATE)
    return directory


def test_every_host_that_does_not_pass_or_certify_has_a_cause_and_none_has_one_twice(fleet):
    model = build_model(fleet)
    with_cause = {label for cause in causes(model) for label in cause.hosts}
    assert {
        host.label for host in model.hosts if host.verdict != PASS or not host.certified or host.leftovers
    } == with_cause
    assert (
        len({cause.statement for cause in causes(model)})
        == len({cause.key for cause in causes(model)})
        == len(causes(model))
    )
    assert causes(model) is causes(model)


def test_slow_writes_and_the_slow_commits_that_follow_are_one_cause(tmp_path):
    files = fabricate.tables(
        fabricate.commit_rows({(2048, 60): (2500, 8192, 3_000_000, 6_000_000)}), **fabricate.COMMIT_RUN
    )
    limits = [{"metric": "latency_p99", "max": "2 ms"}, {"stream": "commit", "metric": "latency_p99", "max": "5 ms"}]
    directory = fabricate.run_directory(tmp_path, {"db07": files}, profile={"name": "commits", "limits": limits})
    assert statements(directory, "fail") == [
        "Slow throughout: p99 6 ms at 2 KiB (limit 2 ms) and p99 of commits 12 ms at 2 KiB (limit 5 ms)"
    ]


def test_the_worst_verdict_comes_first_and_then_what_concerns_most_hosts(fleet):
    order = [(rank(cause.verdict), -len(cause.hosts)) for cause in found(fleet)]
    assert order == sorted(order)


def test_hosts_with_the_same_fault_are_one_cause_with_the_worst_figure_of_each_limit(fleet):
    (slow,) = [cause for cause in found(fleet) if cause.verdict == "fail"]
    assert slow.statement == (
        "4 of 19 hosts (db000 to db003) are slow throughout; the worst is db003: mean 24 ms at 64 KiB (limit 1 ms), "
        "p99 48.1 ms at 64 KiB (limit 2 ms), p99.9 96.1 ms at 64 KiB (limit 10 ms) and throughput 42.7 MB/s at 1 MiB "
        "(limit 250 MB/s)"
    )
    assert slow.hosts == ("db003", "db002", "db001", "db000")
    assert slow.detail.startswith("latency_mean 24 ms > 1 ms at 64 KiB, queue manager QM1 (")
    assert slow.symptom == "steady" and slow.next_step.startswith(advice.SYMPTOMS["steady"].next_step)
    assert slow.limits[:2] == ("latency_mean <= 1 ms", "latency_mean <= 10 ms") and len(slow.limits) == 5
    assert "wait 15 ms or more on average" in slow.consequence and "On the worst of these hosts" in slow.consequence


def faulty(tmp_path, *limits, verdict="fail", profile=None, **hosts):
    """Return the causes of hosts with these figures, with this verdict."""
    files = {host: measured(**figures) for host, figures in hosts.items()}
    made = {"name": "mine", "limits": list(limits), **(profile or {})}
    return [
        cause for cause in found(fabricate.run_directory(tmp_path, files, profile=made)) if cause.verdict == verdict
    ]


def test_hosts_with_other_faults_and_hosts_that_only_just_fail_are_causes_of_their_own(tmp_path):
    tail = {"latency_ns": 300_000, "latency_p99_ns": 9_000_000, "latency_p99_9_ns": 30_000_000}
    said = faulty(
        tmp_path,
        *PROFILE["limits"][:3],
        good={},
        slow={"latency_ns": 5_000_000},
        near={"latency_ns": 1_150_000},
        tail=tail,
    )
    assert {cause.hosts: cause.symptom for cause in said} == {
        ("slow",): "steady",
        ("near",): "steady",
        ("tail",): "tail",
    }
    assert {cause.statement for cause in said if cause.symptom == "tail"} == {
        "tail is fast in most writes, and very slow in a few: p99 9 ms at 4 KiB (limit 2 ms) and p99.9 30 ms at 4 KiB "
        "(limit 10 ms)"
    }


def test_a_figure_that_only_some_of_the_hosts_have_says_how_many(tmp_path):
    (cause,) = faulty(tmp_path, *PROFILE["limits"][:2], a={"latency_ns": 3_000_000}, b={"latency_ns": 12_000_000})
    assert "mean 12 ms at 64 KiB (limit 1 ms)" in cause.statement
    (cause,) = faulty(
        tmp_path / "2",
        PROFILE["limits"][0],
        {"metric": "latency_p50", "max": "6 ms"},
        a={"latency_ns": 3_000_000},
        b={"latency_ns": 9_000_000},
    )
    assert cause.statement.endswith("and p50 9.52 ms at 1 MiB (limit 6 ms, on 1 of them)")


def undecided(p99_ns, **figures):
    """Return tables that cover too few seconds to decide a limit of 2 ms on the p99."""
    rows = fabricate.sweep_rows((4096,), seconds=4, latency_p99_ns=p99_ns, **figures)
    of_all = [row for row in rows if row["worker"] == "all"]
    over = [each for row in of_all for each in fabricate.over_rows(row, 2_000_000, row["operations"] // 200, [1])]
    return fabricate.tables(rows, over=over, option_over_ns="2000000")


def test_a_disturbed_host_near_its_limit_is_not_named_with_a_slow_one(tmp_path):
    files = {
        host: fabricate.tables(fabricate.sweep_rows((4096,), seconds=20, latency_ns=mean_ns), cpu_steal_share="0.2")
        for host, mean_ns in (("slow", 8_000_000), ("near", 1_150_000))
    }
    profile = {"name": "mine", "limits": [PROFILE["limits"][0]]}
    said = found(fabricate.run_directory(tmp_path, files, profile=profile))
    assert [(cause.verdict, cause.symptom, cause.hosts) for cause in said] == [
        ("inconclusive", "disturbed", ("slow",)),
        ("inconclusive", "disturbed", ("near",)),
    ]


def test_a_limit_that_is_open_does_not_matter_on_a_host_that_breaks_another_one(tmp_path):
    files = {"slow": undecided(1_500_000, latency_ns=15_000_000), "good": undecided(1_500_000)}
    profile = {**CONFIDENT, "limits": [{"metric": "latency_p99", "max": "2 ms"}]}
    model = build_model(fabricate.run_directory(tmp_path, files, profile=profile))
    of_p99 = {host.label: host.limits[0]["worst"]["cause"] for host in model.hosts}
    assert of_p99 == {"slow": "open", "good": "open"}
    assert [cause.hosts for cause in causes(model) if "beyond chance" in cause.statement] == [("good",)]


def test_limits_on_one_metric_at_other_block_sizes_are_named_apart(tmp_path):
    limits = [PROFILE["limits"][0], {"metric": "latency_mean", "max": "2 ms", "block_size": "1M"}]
    (cause,) = faulty(tmp_path, *limits, db07={"latency_ns": 3_000_000})
    assert cause.statement == (
        "Slow throughout: mean 3.03 ms at 64 KiB (limit 1 ms) and mean 3.52 ms at 1 MiB (limit 2 ms)"
    )


def test_sentences_that_differ_in_names_and_figures_are_one_cause(fleet):
    assert statements(fleet, "unreachable") == [
        "3 of 19 hosts (dead0 to dead2): for example dead0: tester: ssh: connect to host 10.0.0.0: timed out"
    ]
    assert statements(fleet, "error") == [
        "2 of 19 hosts (broken1 and broken2): for example broken1: tester: no compiler on broken1",
        "left behind on good1: /var/mqm/x",
    ]
    assert statements(fleet, "missing") == ["never: it was expected but never reported"]


def test_a_host_whose_name_is_a_part_of_a_word_has_the_cause_of_the_others(tmp_path):
    records = [fabricate.failed(name, "error", "tester", f"{name} could not be measured") for name in ("su", "db")]
    assert statements(fabricate.run_directory(tmp_path, {}, records), "error") == [
        "2 of 2 hosts (db and su): for example db: tester: db could not be measured"
    ]


def test_a_hanging_write_and_the_limit_that_it_breaks_are_one_cause(tmp_path):
    rows = fabricate.sweep_rows((4096,), seconds=20, latency_max_ns=12 * 10**9, latency_max_in_flight=1)
    files = fabricate.tables(rows, exit_status=4, exit_reason="deadline", in_flight_age_ns=12 * 10**9)
    directory = fabricate.run_directory(
        tmp_path, {"db07": files}, profile={"name": "mine", "limits": [{"metric": "latency_p50", "max": "1 s"}]}
    )
    (cause,) = [cause for cause in found(directory) if cause.verdict == "fail"]
    assert cause.statement.startswith("a write had not returned after 12 s")


def test_a_limit_that_a_disturbance_leaves_open_is_not_told_beside_a_harder_one_that_is_broken(tmp_path):
    files = fabricate.tables(fabricate.sweep_rows((4096,), seconds=20, latency_ns=15_000_000), cpu_steal_share="0.2")
    directory = fabricate.run_directory(
        tmp_path, {"db07": files}, profile={"name": "mine", "limits": [PROFILE["limits"][0]]}
    )
    assert [cause.statement for cause in found(directory)] == [
        "Slow throughout: mean 15 ms at 4 KiB (hard limit 10 ms)"
    ]


def test_a_limit_that_only_warns_is_not_called_broken_if_it_is_open(tmp_path):
    profile = {**CONFIDENT, "limits": [{"metric": "latency_p99", "max": "2 ms", "severity": "warn"}]}
    files = {host: undecided(p99_ns) for host, p99_ns in (("above", 3_000_000), ("below", 1_500_000))}
    above, below = statements(fabricate.run_directory(tmp_path, files, profile=profile), "warn")
    assert above == "above is fast in most writes, and very slow in a few: p99 3 ms at 4 KiB (limit 2 ms)"
    assert below.startswith(
        "latency_p99 <= 2 ms neither met nor broken beyond chance on 1 of 2 hosts at 4 KiB: below; "
    )


def test_a_preflight_groups_what_a_certification_would_do(tmp_path):
    records = [
        HostRecord(
            f"db{number}", kind="preflight", findings=[finding(PREFLIGHT, None, text=f"ready: {number} GiB free")]
        )
        for number in range(3)
    ]
    directory = fabricate.run_directory(tmp_path, {}, records, check_mode=True)
    assert statements(directory, "not measured") == ["3 of 3 hosts (db0 to db2): for example db0: ready: 0 GiB free"]


def test_a_preflight_tells_each_limit_that_the_plan_cannot_decide(tmp_path):
    seconds = {"latency_p99 <= 2 ms": 139, "latency_p99_9 <= 10 ms": 348}
    found = [
        [
            finding(FORESEEN, None, cause="too_short", limit=limit, needed_s=s + more, planned_s=3)
            for limit, s in seconds.items()
        ]
        for more in (0, 1)
    ]
    records = [HostRecord(f"db{number}", kind="preflight", findings=foreseen) for number, foreseen in enumerate(found)]
    said = [
        cause.statement
        for cause in causes(build_model(fabricate.run_directory(tmp_path, {}, records, check_mode=True)))
    ]
    assert said == [
        f"2 of 2 hosts (db0 and db1): for example db0: {s} s per row are needed for {limit}; 3 s are planned"
        for limit, s in seconds.items()
    ]


def test_the_preflight_of_an_observation_advises_as_the_observation_does(tmp_path):
    directory = fabricate.run_directory(tmp_path, {}, [fabricate.failed("gone")], check_mode=True, kind="observation")
    assert [cause.next_step for cause in found(directory)] == [KINDS["observation"].view.advice["unreachable"]]


@pytest.mark.parametrize(
    ("metric", "rows", "consequence"),
    [
        (
            "latency_mean",
            [[(4096, 15e6), (65536, 30e6)], [(4096, 20e6)]],
            "Persistent commits on these hosts wait 15 ms or more on average for a log write of 4 KiB. One queue "
            "manager makes at most about 66 such writes per second, and one application thread as many commits: only "
            "simultaneous commits share a write.",
        ),
        ("latency_mean", [[(4096, 20e9)]], "One queue manager makes at most about 0.05 such writes per second"),
        (
            "latency_p99",
            [[(4096, 4e6), (8192, 5e6)]],
            "One log write in 100 takes 5 ms or longer, and so do all persistent commits that wait for it.",
        ),
        (
            "latency_p99_9",
            [[(4096, 4e6)], [(4096, 9e6)]],
            "On the worst of these hosts, one log write in 1,000 takes 9 ms or longer",
        ),
        ("latency_p50", [[(4096, 4e6)]], "50 % of the log writes take 4 ms or longer"),
        (
            "latency_time_weighted_p99",
            [[(4096, 4e6)]],
            "For 1 % of the time, a log write that takes 4 ms or longer is under way, and all persistent commits wait.",
        ),
        ("latency_max", [[(4096, 400e6)]], "For up to 400 ms, a queue manager would complete no persistent commit"),
        (
            "bytes_per_s",
            [[(1 << 20, 120e6)]],
            "One queue manager cannot log more than 120 MB/s in writes of 1 MiB: at most about 34,000 persistent "
            "messages of 2 KiB per second, each put and got once.",
        ),
        (
            "operations_per_s",
            [[(4096, 400.0)]],
            "One queue manager cannot exceed about 400 log writes of 4 KiB per second.",
        ),
        (
            "interval_bytes_per_s_min",
            [[(4096, 1e6)]],
            "One queue manager logged only 1 MB/s in the slowest second of writes of 4 KiB.",
        ),
        ("latency_cv", [[(4096, 2.0)]], ""),
    ],
)
def test_what_follows_from_a_broken_limit_is_in_figures(metric, rows, consequence):
    judged = [[JudgedRow(size, 1, "QM1", value) for size, value in host] for host in rows]
    said = consequence_of(words_of("queue managers"), metric, judged)
    assert consequence in said and bool(consequence) == bool(said)


def test_what_several_queue_managers_reach_is_theirs_together():
    assert consequence_of(words_of("queue managers"), "bytes_per_s", [[JudgedRow(1 << 20, 4, "all", 90e6)]]).startswith(
        "4 queue managers together cannot log more than 90 MB/s"
    )


@pytest.mark.parametrize(
    ("limit", "hard", "said"),
    [
        ("latency_p99 <= 10 ms", True, "the hard limit <= 10 ms"),
        ("latency_p99_9 <= 10 ms", False, "latency_p99_9 <= 10 ms"),
        ("stall_count <= 0", False, "stall_count <= 0"),
    ],
)
def test_a_heading_names_another_metric_in_full(limit, hard, said):
    assert _besides({"limit": limit, "hard": hard}, "latency_p99") == said
