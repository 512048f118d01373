# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Limits on streams: to which rows they apply, and what the result is."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._english.findings import in_words
from ansible_collections.mqops.logdisk.plugins.plugin_utils._english.phrases import deviation_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.target import (
    operations_target_of,
    read_target,
    target_of,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.fidelity import deviations, fidelity_notes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.notes import confidence_notes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile, of_every_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.throttling import plateaus
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import judge_record, measurement
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.definitions import DefinitionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.table_reader import TablesError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.plugins.plugin_utils._workload.reader import load_workload

from tests.unit.plugins.plugin_utils import fabricate

MS = 1_000_000
READS = ("database", "read")
WRITES = ("database", "write")
LOG = ("log", "write")
MEAN = {"metric": "latency_mean", "max": "20 ms"}


def profile(*limits, **keys):
    return load_profile({"name": "database", "limits": list(limits), **keys})


def mailbox(loads=(1, 2), reads_ns=8 * MS, writes_ns=4 * MS, log_ns=2 * MS, **figures):
    """Return the rows of a mailbox database with a log. loads are the numbers of threads of the database."""
    return fabricate.stream_rows(
        {
            load: {
                READS: (load, reads_ns, figures),
                WRITES: (load, writes_ns, figures),
                LOG: (1, log_ns, {"block_size_bytes": 4096}),
            }
            for load in loads
        }
    )


def tables(rows, **keys):
    return fabricate.tables(rows, **{**fabricate.STREAMS_RUN, "over": [], **keys})


def judge(files, *limits, **record):
    return judge_record(HostRecord("db07", **record), parse_tables(files), profile(*limits), fabricate.TODAY)


def judged(part, metric):
    return [
        (row["load_point"], row["stream"], row["operation"], row["worker"], row["verdict"])
        for row in part["judgements"]
        if row["metric"] == metric and not row["hard"]
    ]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ({}, [(1, "log", "write", "all"), (2, "log", "write", "all")]),
        ({"operation": "write"}, [(1, "log", "write", "all"), (2, "log", "write", "all")]),
        ({"stream": "database", "operation": "read"}, [(1, "database", "read", "all"), (2, "database", "read", "all")]),
        ({"stream": "database", "load_point": 2}, [(2, "database", "read", "all"), (2, "database", "write", "all")]),
        ({"stream": "all"}, [(1, "all", "all", "all"), (2, "all", "all", "all")]),
        # Streams have sizes, although their steps have none.
        ({"block_size": {"max": "4K"}}, [(1, "log", "write", "all"), (2, "log", "write", "all")]),
    ],
)
def test_a_limit_judges_the_rows_that_it_names(rows, expected):
    part = judge(tables(mailbox()), {**MEAN, **rows})
    assert judged(part, "latency_mean") == [(*row, "pass") for row in expected]
    assert part["verdict"] == "pass"


@pytest.mark.parametrize(
    "rows",
    [
        {"stream": "maintenance"},
        {"operation": "read"},
        {"block_size": "8K"},
        {"stream": "log", "message_size": "2K"},
        {"stream": "maintenance", "metric": "response_p99"},
    ],
)
def test_a_limit_that_judges_no_row_decides_nothing(rows):
    part = judge(tables(mailbox()), {**MEAN, **rows})
    assert part["verdict"] == "inconclusive"
    assert "no row to which it applies was measured" in part["reasons"][0]
    assert "claim" not in part["judgements"][0]["details"]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            {"stream": "database", "operation": "read"},
            "latency_mean 8 ms > 5 ms for reads of database at 2 threads (150,000 reads)",
        ),
        ({"stream": "all"}, "latency_mean 5.45 ms > 5 ms for the whole workload at 2 threads (550,000 operations)"),
        ({}, "latency_mean 6 ms > 5 ms for writes of log at 2 threads (100,000 writes)"),
    ],
)
def test_the_sentence_names_stream_operation_and_load(rows, sentence):
    part = judge(tables(mailbox(loads=(2,), log_ns=6 * MS), over=None), {**MEAN, "max": "5 ms", **rows})
    assert part["reasons"][0].startswith(sentence)


def test_workers_of_a_stream_are_not_judged_but_those_of_the_log_are():
    rows = fabricate.stream_rows({2: {READS: (2, 8 * MS, {}), LOG: (2, 2 * MS, {})}})
    part = judge(tables(rows), {**MEAN, "stream": "database"}, {**MEAN}, workspace={"queue_managers": ["QM1", "QM2"]})
    workers = [
        (row["stream"], row["worker"])
        for row in part["judgements"]
        if row["metric"] == "latency_mean" and not row["hard"]
    ]
    assert workers == [("database", "all"), ("log", 1), ("log", 2), ("log", "all")]
    assert {row["worker_name"] for row in part["judgements"]} == {"all", "1", "2"}


@pytest.mark.parametrize(
    ("rows", "rate", "operation"),
    [
        ({"stream": "database"}, 375, "all"),
        ({"stream": "database", "operation": "write"}, 250, "write"),
        ({"stream": "all"}, 875, "all"),
        ({}, 500, "write"),
    ],
)
def test_a_rate_of_a_stream_is_that_of_its_reads_and_writes(rows, rate, operation):
    limit = {"metric": "operations_per_s", "min": rate, **rows}
    (judgement,) = (
        row for row in judge(tables(mailbox(loads=(1,))), limit)["judgements"] if row["metric"] == "operations_per_s"
    )
    assert (judgement["value"], judgement["operation"], judgement["unit"]) == (rate, operation, "operations/s")
    # These tables are so steady that the seconds are clear evidence.
    assert judge(tables(mailbox(loads=(1,))), {**limit, "min": rate * 0.98})["verdict"] == "pass"
    assert judge(tables(mailbox(loads=(1,))), {**limit, "min": rate * 1.02})["verdict"] == "fail"


def test_the_slowest_second_of_a_stream_is_that_of_its_reads_and_writes():
    limit = {"metric": "interval_bytes_per_s_min", "min": "1 MB/s", "stream": "database"}
    (judgement,) = (
        row
        for row in judge(tables(mailbox(loads=(1,))), limit)["judgements"]
        if row["metric"] == "interval_bytes_per_s_min"
    )
    assert (judgement["value"], judgement["verdict"]) == (375 * 8192, "pass")


def test_the_hard_limits_of_streams():
    """The hard limit on stalls applies to every stream, but the hard limit on the mean applies only to the log."""
    slow = judge(tables(mailbox(loads=(1,), reads_ns=12 * MS)), MEAN)
    assert slow["verdict"] == "pass"
    assert "latency_mean" in judge(tables(mailbox(loads=(1,), log_ns=12 * MS), over=None), MEAN)["reasons"][0]
    stalled = judge(tables(mailbox(loads=(1,), latency_max_ns=11_000 * MS)), MEAN)
    assert stalled["verdict"] == "fail"
    assert stalled["reasons"] == [
        "latency_max 11 s >= 10 s for reads of database at 1 thread (75,000 reads); 1 more of its rows did not pass"
    ]


def test_without_a_log_the_limits_of_every_profile_on_it_are_not_judged():
    rows = fabricate.stream_rows({1: {READS: (1, 30 * MS, {})}})
    limit = {"stream": "database", "metric": "latency_p99", "max": "1 s"}
    assert {row["metric"] for row in judge(tables(rows), limit)["judgements"]} == {"latency_p99", "latency_max"}
    # But a profile's own limit on the log still applies.
    assert (
        judge(tables(rows), limit, {"metric": "latency_mean", "max": "9 ms", "hard": True})["verdict"] == "inconclusive"
    )


def test_a_percentile_of_the_whole_workload_comes_from_all_streams():
    rows = mailbox(loads=(1,))
    counted = fabricate.histogram_table([row for row in rows if row["operation"] != "all"], {5 * MS: 1, 9 * MS: 1})
    files = {**tables(rows), "histogram.csv": counted}
    parsed = parse_tables(files)
    whole = next(row for row in parsed.results if row["stream"] == "all")
    assert sorted(parsed.latencies_of(whole)) == [(5 * MS, 1)] * 6 + [(9 * MS, 1)] * 6
    assert parsed.workers_of(whole) == 2


def test_what_is_over_a_limit_is_counted_in_all_that_a_row_adds_up():
    rows = fabricate.stream_rows({1: {READS: (1, 8 * MS, {}), LOG: (1, 2 * MS, {})}})
    slow = [
        each
        for row in rows
        if row["worker"] == "all" and row["operation"] != "all"
        for each in fabricate.over_rows(row, 50 * MS, 2, [3, 309])
    ]
    limits = [
        {"metric": metric, "max": "50 ms", "stream": "all"} for metric in ("latency_p99", "latency_time_weighted_p99")
    ]
    part = judge(tables(rows, over=slow), *limits)
    shares = {row["metric"]: (row["share"], row["verdict"]) for row in part["judgements"] if "share" in row}
    assert shares["latency_p99"] == (pytest.approx(8 / 375_000), "pass")
    assert shares["latency_time_weighted_p99"] == (pytest.approx(8 * 62.5 / 1_200_000), "pass")
    sentences = [row["reason"] for row in part["judgements"] if row["metric"] == "latency_time_weighted_p99"]
    assert "of the time went into operations that took longer" in sentences[0]


def open_rows(not_started=0, **figures):
    """Return the rows of reads at a fixed rate: 60,000 in 600 s."""
    known = {
        "operations": 60_000,
        "bytes": 60_000 * 8192,
        "operations_per_s": 100.0,
        "latency_sum_ns": 60_000 * MS,
        "latency_mean_ns": MS,
        **figures,
    }
    responses = {
        "operations_not_started": not_started,
        "response_mean_ns": 2 * MS,
        "response_p99_ns": 7 * MS,
        "response_max_ns": 90 * MS,
    }
    return fabricate.stream_rows({1: {READS: (2, MS, {**known, **responses})}})


def test_response_times_are_judged_as_they_stand_and_say_so():
    part = judge(tables(open_rows()), {"metric": "response_p99", "max": "8 ms", "stream": "database"})
    (judgement,) = (row for row in part["judgements"] if row["metric"] == "response_p99")
    assert (judgement["verdict"], judgement["value"], judgement["method"]) == ("pass", 7 * MS, "as it stands")
    assert (
        judgement["reason"]
        == "response_p99 7 ms <= 8 ms for reads of database at 1 thread (60,000 reads), without confidence"
    )


def with_responses(counts, not_started=0):
    rows = open_rows(not_started)
    row = next(row for row in rows if row["worker"] == "all" and row["stream"] == "database")
    return {**tables(rows), "responses.csv": fabricate.responses_table(row, counts)}


def test_any_percentile_of_the_response_times():
    files = with_responses({2 * MS: 57_000, 3 * MS: 2_940, 100 * MS: 60})
    for metric, value in (("response_p95", 2 * MS), ("response_p99_5", 3 * MS), ("response_p99_95", 90 * MS)):
        (judgement,) = (
            row
            for row in judge(files, {"metric": metric, "max": "1 s", "stream": "database"})["judgements"]
            if row["metric"] == metric
        )
        assert judgement["value"] == value


def test_response_times_that_are_not_those_of_the_operations_are_refused():
    limit = {"metric": "response_p95", "max": "1 s", "stream": "database"}
    assert "responses.csv and results.csv differ" in judge(with_responses({2 * MS: 59_999}), limit)["reasons"][0]
    # An operation that has not started counts with the time for which it has waited.
    assert judge(with_responses({2 * MS: 60_010}, not_started=10), limit)["verdict"] == "pass"


def test_a_closed_stream_has_no_response_times():
    assert (
        judge(tables(mailbox()), {"metric": "response_p95", "max": "1 s", "stream": "database"})["verdict"]
        == "inconclusive"
    )


@pytest.mark.parametrize(
    ("not_started", "verdict"),
    [
        (0, "pass"),
        (245, "pass"),  # the square root of the number of operations that were due
        (246, "fail"),
        (20_000, "fail"),
    ],
)
def test_a_load_that_cannot_be_kept_fails(not_started, verdict):
    part = judge(tables(open_rows(not_started)), {"metric": "response_p99", "max": "8 ms", "stream": "database"})
    assert (
        part["verdict"],
        [row["verdict"] for row in part["judgements"] if row["metric"] == "operations_not_started_share"],
    ) == (verdict, [verdict])
    if not_started == 20_000:
        assert part["reasons"] == [
            "operations_not_started_share 25 % > 0.1 % for reads of database at 1 thread (60,000 reads)"
        ]
        disturbed = judge(
            tables(open_rows(not_started), cpu_steal_share="0.05"),
            {"metric": "response_p99", "max": "8 ms", "stream": "database"},
        )
        assert disturbed["verdict"] == "inconclusive"


def test_an_operation_of_each_worker_may_be_about_to_start():
    known = {"operations": 400, "bytes": 400 * 8192, "latency_sum_ns": 400 * MS, "operations_not_started": 30}
    limit = {**MEAN, "stream": "database"}
    assert [
        judge(tables(fabricate.stream_rows({1: {READS: (workers, MS, known)}})), limit)["verdict"]
        for workers in (29, 30)
    ] == ["fail", "pass"]


def test_a_small_share_that_did_not_start_passes():
    """After a stall at the end of a step, the number of operations that have not started is larger than the square root
    of the number that were due."""
    known = {"operations": 9_000_000, "bytes": 9_000_000 * 8192, "latency_sum_ns": 9_000_000 * MS}
    parts = [
        judge(
            tables(fabricate.stream_rows({1: {READS: (2, MS, {**known, "operations_not_started": left})}})),
            {**MEAN, "stream": "database"},
        )
        for left in (9_000, 9_100)
    ]
    assert [part["verdict"] for part in parts] == ["pass", "fail"]


def test_the_pace_of_a_stream_is_that_of_its_reads_and_writes():
    known = {"operations": 30_000, "bytes": 30_000 * 8192, "latency_sum_ns": 30_000 * MS, "operations_not_started": 140}
    rows = fabricate.stream_rows({1: {READS: (2, MS, known), WRITES: (2, MS, known)}})
    part = judge(tables(rows), {**MEAN, "stream": "database"})
    (judgement,) = (row for row in part["judgements"] if row["metric"] == "operations_not_started_share")
    assert (judgement["operation"], judgement["value"], judgement["verdict"]) == (
        "all",
        pytest.approx(280 / 60_280),
        "fail",
    )


def off(share, operations, workers=1, asked=0.6, row=None):
    """Return the judged part of a run whose database read a different share than requested, and its tables; row is an
    additional row of fidelity.csv."""
    counted = {"operations": operations, "bytes": operations * 8192, "latency_sum_ns": operations * 8 * MS}
    rows = fabricate.stream_rows({1: {READS: (workers, 8 * MS, counted)}})
    found = fabricate.fidelity_row(1, 1, "database", "read_share", asked, share, operations)
    files = {
        **tables(rows, over=None),
        "fidelity.csv": fabricate.fidelity_table([found, *([{**found, **row}] if row else [])]),
    }
    return judge(files, {**MEAN, "stream": "database"}), parse_tables(files)


@pytest.mark.parametrize(
    ("share", "operations", "workers", "verdict"),
    [
        (0.6, 75_000, 1, "pass"),
        (0.575, 75_000, 1, "pass"),  # within 5 %
        (0.565, 75_000, 1, "inconclusive"),
        (0.635, 75_000, 1, "inconclusive"),
        (0.565, 2_000, 1, "pass"),  # 3.2 standard deviations
        (0.563, 2_000, 1, "inconclusive"),  # 3.4
        (0.563, 2_000, 32, "pass"),  # the last operation of each worker was cut off
    ],
)
def test_a_step_that_did_something_else_does_not_pass(share, operations, workers, verdict):
    part, dummy = off(share, operations, workers)
    assert part["verdict"] == verdict
    if verdict != "pass":
        assert (
            f"the step did not do what its workload requires: reads of database {share * 100:g} % instead of 60 %"
            in part["reasons"][0].replace("The", "the")
        )


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (
            {"property": "size_share", "item": "8192", "asked": 0.4, "achieved": 0.5},
            "operations of 8192 bytes of database 50 % instead of 40 %",
        ),
        ({"property": "operations_share", "asked": 0.5, "achieved": 1}, "operations of database 100 % instead of 50 %"),
        (
            {"property": "capacity_share", "stream": "all", "item": "data", "asked": 0.5, "achieved": 0.4},
            "capacity of place data 40 % instead of 50 %",
        ),
        ({"property": "operations_per_s", "asked": 500, "achieved": 100}, ""),
        ({"property": "something_new", "asked": 1, "achieved": 0.5}, ""),
    ],
)
def test_what_a_step_has_to_do_as_asked(row, text):
    part, parsed = off(0.6, 75_000, row=row)
    assert [(step, *map(deviation_text, found)) for step, found in deviations(parsed).items()] == (
        [(1, text)] if text else []
    )
    assert part["verdict"] == ("inconclusive" if text else "pass")


def test_the_share_of_a_stream_is_one_of_all_operations():
    """A deviation of 6 percentage points is beyond chance for all 1,000 operations, but would not be for the stream's
    300."""
    counts = {READS: 300, LOG: 700}
    rows = fabricate.stream_rows(
        {1: {key: (1, MS, {"operations": n, "bytes": n * 8192, "latency_sum_ns": n * MS}) for key, n in counts.items()}}
    )
    found = [
        fabricate.fidelity_row(1, 1, stream, "read_share", share, share, 1000)
        for stream, share in (("database", 1), ("log", 0))
    ]
    found.append(fabricate.fidelity_row(1, 1, "database", "operations_share", 0.36, 0.3, 300))
    (deviation,) = deviations(
        parse_tables({**tables(rows, over=None), "fidelity.csv": fabricate.fidelity_table(found)})
    )[1]
    assert deviation == {
        "property": "operations_share",
        "stream": "database",
        "item": None,
        "achieved": 0.3,
        "asked": 0.36,
    }


def test_too_few_operations_to_tell_are_a_note():
    assert fabricate.told(fidelity_notes(off(0.5, 500)[1])) == [
        "There were too few operations to tell whether these shares are off by 5 %: reads of database"
    ]
    assert fidelity_notes(off(0.5, 500, asked=0)[1]) == fidelity_notes(off(0.6, 75_000)[1]) == []
    assert off(0.5, 500)[0]["verdict"] == "inconclusive"
    assert off(0.56, 500)[0]["verdict"] == "pass"


def test_reads_that_nobody_asked_for_do_not_pass():
    assert off(0.001, 75_000, asked=0)[0]["verdict"] == "inconclusive"


TARGET = {"metric": "target_operations_share", "min": "100 %", "stream": "database"}


@pytest.mark.parametrize(
    ("asked", "verdict", "said"),
    [
        # 375 operations per second at 1 thread and 750 at 2.
        (
            700,
            "pass",
            "operations_per_s 750 operations/s >= 700 operations/s for reads and writes of database at 2 threads",
        ),
        (
            800,
            "fail",
            "operations_per_s 750 operations/s < 800 operations/s for reads and writes of database at 2 threads",
        ),
        (None, "inconclusive", "sweep_target does not state how many operations_per_s the volume must carry"),
        ("many", "inconclusive", "sweep_target does not state"),
    ],
)
def test_a_target_is_reached_at_the_highest_load_that_passes(asked, verdict, said):
    part = judge(tables(mailbox()), MEAN, TARGET, facts={"target_operations_per_s": asked})
    judgement = part["judgements"][-1]
    assert (part["verdict"], judgement["verdict"], judgement["load_point"]) == (verdict, verdict, None)
    assert said in judgement["reason"]
    assert part["capacity"]["highest_passed"] == 2


def test_a_target_does_not_count_at_a_load_that_breaks_a_limit():
    rows = mailbox(loads=(1,)) + [{**row, "step": 2} for row in mailbox(loads=(2,), reads_ns=30 * MS, writes_ns=MS)]
    part = judge(
        tables(rows, over=None), {**MEAN, "stream": "database"}, TARGET, facts={"target_operations_per_s": 700}
    )
    assert "operations_per_s 375 operations/s < 700 operations/s" in part["judgements"][-1]["reason"]
    none = judge(
        tables(mailbox(reads_ns=30 * MS), over=None),
        {**MEAN, "stream": "database"},
        TARGET,
        facts={"target_operations_per_s": 700},
    )
    assert "no load point meets all other limits" in none["judgements"][-1]["reason"]


SHIPPED = {
    "jetstress-2010": (
        "mailbox-2010",
        ["target_operations_share", "latency_mean", "latency_mean"],
        ["stream database", "reads of stream database", "writes"],
    ),
    "spc1-like": ("spc1-like", ["response_mean"], ["whole workload"]),
    "etcd": ("etcd-wal", ["latency_p99", "latency_p99"], ["", ""]),
    "act-3x": ("act-3x", ["response_p95", "response_p99", "response_p99_9"], ["stream reads"] * 3),
}


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_profiles_of_streams(name):
    shipped = load_profile(name, fabricate.PROFILES)
    own = [limit for limit in shipped.limits if not of_every_profile(limit)]
    assert (shipped.workload, [limit.metric.name for limit in own], [limit.rows_text for limit in own]) == SHIPPED[name]
    assert all(limit.source for limit in own)
    assert shipped.min_footprint_bytes == 1 << 30
    streams = {
        stream.name: stream.operations
        for stream in load_workload(shipped.workload, str(fabricate.PROJECT / "roles/sweep/files/workloads")).streams
    }
    for limit in own:
        assert limit.stream == "all" or (limit.stream in streams and limit.operation in ("", *streams[limit.stream]))


@pytest.mark.parametrize(
    ("slow", "said"),
    [
        ({}, None),
        ({"reads_ns": 21 * MS}, "latency_mean 21 ms >= 20 ms for reads of database at 2 threads"),
        ({"log_ns": 11 * MS}, "latency_mean 11 ms >= 10 ms for writes of log at 2 threads"),
    ],
)
def test_jetstress_names_the_criterion_that_is_broken(slow, said):
    facts = {"workload_name": "mailbox-2010", "target_operations_per_s": 300}
    part = judge_record(
        HostRecord("db07", facts=facts),
        parse_tables(tables(mailbox(loads=(2,), **slow))),
        load_profile("jetstress-2010", fabricate.PROFILES),
        fabricate.TODAY,
    )
    assert (part["verdict"], part["certified"]) == (("fail", False) if said else ("pass", True))
    assert said is None or any(reason.startswith(said) for reason in part["reasons"])


def test_a_certificate_by_response_times_says_that_they_are_without_confidence():
    (note,) = fabricate.told(confidence_notes(load_profile("spc1-like", fabricate.PROFILES)))
    assert note.endswith("without confidence")
    assert confidence_notes(load_profile("mq-log-silver", fabricate.PROFILES)) == []


def test_a_target_of_operations_is_a_fact_of_the_host():
    asked = read_target({"operations_per_s": "500"})
    assert (asked.as_facts(), operations_target_of(asked.as_facts()), target_of(asked.as_facts())) == (
        {"target_operations_per_s": 500.0},
        500.0,
        None,
    )
    for wrong in (
        {"operations_per_s": 0},
        {"operations_per_s": "many"},
        {"operations_per_s": 500, "clients": 1},
        {"operations": 500},
    ):
        with pytest.raises(ValueError, match=r"has .*operations|lacks the key|which must be above 0"):
            read_target(wrong)


def certified(change=(), facts=(), qualifies=(), limits=(MEAN,)):
    made = profile(*limits, qualifies={"workload": "mailbox-2010", "min_duration_s": 600, **dict(qualifies)})
    rows = [{**row, "ring_passes": 0.1} for row in mailbox()]  # only a share of the files, at a fixed rate
    parsed = parse_tables(tables(rows, **dict(change)))
    record = HostRecord("db07", facts={"workload_name": "mailbox-2010", **dict(facts)})
    return judge_record(record, parsed, made, fabricate.TODAY)["qualification"]


@pytest.mark.parametrize(
    ("change", "facts", "qualifies", "said"),
    [
        ({}, {}, {}, ""),
        # The workload itself defines how it writes.
        ({"option_direct": "no", "option_sync": "none"}, {}, {}, ""),
        ({}, {"workload_name": "mine"}, {}, "its workload was mine instead of mailbox-2010"),
        ({}, {"workload_name": ""}, {}, "its record does not name its workload"),
        ({}, {}, {"workload": "mq-log"}, "its workload was mailbox-2010 instead of mq-log"),
        ({"filesystem_type": "tmpfs"}, {}, {}, "it wrote to tmpfs, which is memory"),
        ({"backing_filesystem_type": "memory"}, {}, {}, "its writes ended in memory (memory)"),
        ({}, {}, {"min_duration_s": 601}, "it measured 600 s per row, but database requires 601 s"),
        (
            {},
            {},
            {"min_footprint": "2 GiB"},
            "its files had 1 GiB in total, but database requires 2 GiB: a smaller ring may fit in a cache",
        ),
        ({}, {"queue_manager_log_set_bytes": 2 << 30}, {}, ""),
        (
            {},
            {},
            {"confidence": "none"},
            "database never certifies. To certify, leave out sweep_preset: look, or choose another gate_profile",
        ),
        (
            {},
            {},
            {"episode_s": 3600},
            (
                "latency_mean at 1 thread for writes of log covers standstills of up to 54 s, and database "
                "requires 3600 s: measure longer"
            ),
        ),
    ],
)
def test_a_profile_certifies_runs_of_its_workload(change, facts, qualifies, said):
    assert certified(change, facts, qualifies) == said


@pytest.mark.parametrize(
    ("qualifies", "message"),
    [
        ({"workload": "commit"}, "must not be commit"),
        ({"workload": "../x"}, "may contain only letters"),
        ({"workload": 7}, "must give name as text"),
        (
            {"workload": "mailbox-2010", "block_sizes": ["4K"]},
            "block_sizes is not allowed for the workload mailbox-2010",
        ),
    ],
)
def test_a_wrong_workload(qualifies, message):
    with pytest.raises(DefinitionError, match=message):
        profile(MEAN, qualifies=qualifies)


def test_the_workload_of_a_profile_is_read_back():
    made = profile(MEAN, qualifies={"workload": "mailbox-2010"})
    assert load_profile(made.as_dict()) == made
    assert "workload" not in profile(MEAN).as_dict()["qualifies"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stream": "no such name"}, "must be the name of a stream"),
        ({"stream": 7}, "must be the name of a stream"),
        ({"stream": "x" * 33}, "must be the name of a stream"),
        ({"operation": "commit"}, "operation 'commit' is not one of read, write"),
        ({"operation": ""}, "operation '' is not one of read, write"),
        ({"stream": "all", "operation": "read"}, r"operation is not allowed here: the stream all"),
        ({"stream": "all", "block_size": "4K"}, r"block_size is not allowed here: the stream all"),
        ({"stream": "commit", "operation": "write"}, "has only commits"),
        ({"stream": "database", "message_size": "2K"}, "message_size is not allowed here"),
        ({"metric": "cpu_steal_share", "max": "1 %", "operation": "read"}, "is judged once"),
        (
            {"metric": "target_operations_share", "min": 1, "max": None, "load_point": 4},
            "is judged at the highest load point",
        ),
    ],
)
def test_a_wrong_limit(change, message):
    with pytest.raises(DefinitionError, match=message):
        profile({key: value for key, value in {**MEAN, **change}.items() if value is not None})


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ({"stream": "database", "operation": "read", "load_point": 4}, "reads of stream database, load point 4"),
        ({"stream": "database"}, "stream database"),
        ({"operation": "write"}, "writes"),
        ({"stream": "all"}, "whole workload"),
    ],
)
def test_a_limit_on_a_stream_is_read_back(rows, text):
    made = profile({**MEAN, **rows})
    assert made.limits[0].rows_text == text
    assert load_profile(made.as_dict()) == made


def test_nothing_is_counted_for_response_times():
    assert profile({"metric": "response_p99", "max": "8 ms", "stream": "database"}).thresholds_ns == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:-1], "does not have one row for the whole workload"),
        (lambda rows: [*rows, rows[-1]], "does not have one row for the whole workload"),
        (lambda rows: [*rows[:-1], {**rows[-1], "operations": 1}], "operations of the whole workload"),
        (lambda rows: [*rows[:-1], {**rows[-1], "bytes": 1}], "bytes of the whole workload"),
        (
            lambda rows: [*rows[:-1], {**rows[-1], "latency_mean_ns": 2 * MS}],
            "latency_mean_ns of the whole workload in step 1",
        ),
        (
            lambda rows: [*rows[:-1], {**rows[-1], "response_mean_ns": 2 * MS}],
            "response_mean_ns of the whole workload in step 1",
        ),
        (lambda rows: [{**row, "operations_not_started": -1} for row in rows], '"-1" instead of a whole number'),
        (
            lambda rows: [{**row, "operation": "erase"} if row["operation"] == "read" else row for row in rows],
            'the operation "erase" of stream "database"',
        ),
        (lambda rows: [*rows[:-1], {**rows[0], "stream": "all"}, rows[-1]], 'the operation "read" of stream "all"'),
        (
            lambda rows: [row for row in rows if (row["operation"], row["worker"]) != ("read", 1)],
            "one row for each worker",
        ),
        (
            lambda rows: [{**row, "load_point": 7} if row["stream"] == "log" else row for row in rows],
            "two block sizes or load points",
        ),
    ],
)
def test_rows_of_streams_that_contradict_themselves(change, message):
    with pytest.raises(TablesError, match=message):
        parse_tables(tables(change(mailbox(loads=(1,)))))


def fidelity(*rows):
    return parse_tables({**tables(mailbox(loads=(1,))), "fidelity.csv": fabricate.fidelity_table(rows)}).fidelity


READ_SHARES = [
    fabricate.fidelity_row(1, 1, stream, "read_share", share, share, 100)
    for stream, share in (("database", 0.5), ("log", 0))
]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (READ_SHARES[:1], 'does not have stream "log" in step 1'),
        ([*READ_SHARES, READ_SHARES[0]], "line 4 repeats"),
        ([READ_SHARES[0], {**READ_SHARES[1], "achieved": 1.5}], "line 3 has a figure that"),
        ([READ_SHARES[0], {**READ_SHARES[1], "asked": -0.5}], "line 3 has a figure that"),
        ([READ_SHARES[0], {**READ_SHARES[1], "asked": None}], "nothing in the column asked"),
    ],
)
def test_a_table_of_fidelity_that_cannot_be(rows, message):
    assert len(fidelity(*READ_SHARES)) == 2
    with pytest.raises(TablesError, match=message):
        fidelity(*rows)


def measured(files):
    run = {**fabricate.run_data(["db07"], profile="spc1-like"), "run_id": "R1"}
    return measurement(run, "db07", "log", {}, {}, files, fabricate.TODAY)


def test_notes_name_the_stream():
    rows = mailbox(loads=(2,))
    rows = [
        {**row, "steady_state": 0}
        if (row["stream"], row["operation"], row["worker"]) == ("database", "read", "all")
        else row
        for row in rows
    ]
    assert measured(tables(rows)).notes[0].startswith("Its latency was not steady at 2 threads for reads of database: ")


def test_tables_that_contradict_each_other_are_an_error_and_no_exception():
    record = measured({**tables(mailbox()), "fidelity.csv": fabricate.fidelity_table([])})
    assert (
        record.verdict,
        record.reasons[0].startswith("the tester's tables cannot be used: fidelity.csv does not have stream"),
    ) == ("error", True)


def test_a_plateau_of_a_stream_is_one_of_its_operation():
    files = tables(mailbox(loads=(1,)))
    header, *lines = files["intervals.csv"].decode().splitlines()
    reads = [line.split(",") for line in lines if ",database,read," in line][:61]
    falling = [
        ",".join([*line[:9], str(100_000_000 if second < 41 else 61_000_000), *line[10:]])
        for second, line in enumerate(reads)
    ]
    parsed = parse_tables({**files, "intervals.csv": "\n".join([header, *falling, ""]).encode()})
    (found,) = plateaus(parsed)
    assert (
        found["stream"],
        found["operation"],
        found["load_point"],
        found["from_second"],
        round(found["share"], 2),
    ) == ("database", "read", 1, 42, 0.61)
    assert in_words(found, parsed.words).startswith(
        "In reads of database with 1 thread, from second 42 on, the rate stayed at 61 %"
    )
