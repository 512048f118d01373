# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Limits on streams: which rows they judge, and what the judgements say."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.host import judge_host
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.definitions import DefinitionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import TablesError, parse_tables

from tests.unit.plugins.plugin_utils import fabricate

MS = 1_000_000
READS = ("database", "read")
WRITES = ("database", "write")
LOG = ("log", "write")
MEAN = {"metric": "latency_mean", "max": "20 ms"}


def profile(*limits, **keys):
    return load_profile({"name": "database", "limits": list(limits), **keys})


def mailbox(loads=(1, 2), reads_ns=8 * MS, writes_ns=4 * MS, log_ns=2 * MS, **figures):
    """Return the rows of a mailbox database with a log: by load point, the threads of the database."""
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
    return judge_host(HostRecord("db07", **record), parse_tables(files), profile(*limits), fabricate.TODAY)


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


@pytest.mark.parametrize("rows", [{"stream": "maintenance"}, {"operation": "read"}, {"block_size": "8K"}, {"stream": "log", "message_size": "2K"}])
def test_a_limit_that_judges_no_row_decides_nothing(rows):
    part = judge(tables(mailbox()), {**MEAN, **rows})
    assert part["verdict"] == "inconclusive"
    assert "no row was measured that it applies to" in part["reasons"][0]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ({"stream": "database", "operation": "read"}, "latency_mean 8 ms > 5 ms for reads of database at 2 threads (150,000 reads)"),
        ({"stream": "all"}, "latency_mean 5.45 ms > 5 ms for the whole workload at 2 threads (550,000 operations)"),
        ({}, "latency_mean 6 ms > 5 ms for writes of log at 2 threads (100,000 writes)"),
    ],
)
def test_the_sentence_names_stream_operation_and_load(rows, sentence):
    part = judge(tables(mailbox(loads=(2,), log_ns=6 * MS), over=None), {**MEAN, "max": "5 ms", **rows})
    assert part["reasons"][0].startswith(sentence)


def test_workers_of_a_stream_are_not_judged_but_those_of_the_log_are():
    rows = fabricate.stream_rows({2: {READS: (2, 8 * MS, {}), LOG: (2, 2 * MS, {})}})
    part = judge(tables(rows), {**MEAN, "stream": "database"}, {**MEAN})
    workers = [(row["stream"], row["worker"]) for row in part["judgements"] if row["metric"] == "latency_mean" and not row["hard"]]
    assert workers == [("database", "all"), ("log", 1), ("log", 2), ("log", "all")]


@pytest.mark.parametrize(
    ("rows", "rate", "operation"),
    [({"stream": "database"}, 375, "all"), ({"stream": "database", "operation": "write"}, 250, "write"), ({"stream": "all"}, 875, "all"), ({}, 500, "write")],
)
def test_a_rate_of_a_stream_is_that_of_its_reads_and_writes(rows, rate, operation):
    limit = {"metric": "operations_per_s", "min": rate, **rows}
    (judgement,) = (row for row in judge(tables(mailbox(loads=(1,))), limit)["judgements"] if row["metric"] == "operations_per_s")
    assert (judgement["value"], judgement["operation"], judgement["unit"]) == (rate, operation, "operations/s")
    # As steady as these tables are, the seconds leave no doubt.
    assert judge(tables(mailbox(loads=(1,))), {**limit, "min": rate * 0.98})["verdict"] == "pass"
    assert judge(tables(mailbox(loads=(1,))), {**limit, "min": rate * 1.02})["verdict"] == "fail"


def test_the_slowest_second_of_a_stream_is_that_of_its_reads_and_writes():
    limit = {"metric": "interval_bytes_per_s_min", "min": "1 MB/s", "stream": "database"}
    (judgement,) = (row for row in judge(tables(mailbox(loads=(1,))), limit)["judgements"] if row["metric"] == "interval_bytes_per_s_min")
    assert (judgement["value"], judgement["verdict"]) == (375 * 8192, "pass")


def test_the_hard_limits_of_streams():
    """Every stream fails with a stall, but the mean is only the log's."""
    slow = judge(tables(mailbox(loads=(1,), reads_ns=12 * MS)), MEAN)
    assert slow["verdict"] == "pass"
    assert "latency_mean" in judge(tables(mailbox(loads=(1,), log_ns=12 * MS), over=None), MEAN)["reasons"][0]
    stalled = judge(tables(mailbox(loads=(1,), latency_max_ns=11_000 * MS)), MEAN)
    assert stalled["verdict"] == "fail"
    assert stalled["reasons"] == ["latency_max 11 s >= 10 s for reads of database at 1 thread (75,000 reads); 1 more of its rows did not pass"]


def test_without_a_log_the_limits_of_every_profile_on_it_are_not_judged():
    rows = fabricate.stream_rows({1: {READS: (1, 30 * MS, {})}})
    limit = {"stream": "database", "metric": "latency_p99", "max": "1 s"}
    assert {row["metric"] for row in judge(tables(rows), limit)["judgements"]} == {"latency_p99", "latency_max"}
    # But a profile's own limit on the log is not forgotten.
    assert judge(tables(rows), limit, {"metric": "latency_mean", "max": "9 ms", "hard": True})["verdict"] == "inconclusive"


def test_a_percentile_of_the_whole_workload_comes_from_all_streams():
    rows = mailbox(loads=(1,))
    counted = fabricate.histogram_table([row for row in rows if row["operation"] != "all"], {5 * MS: 1, 9 * MS: 1})
    files = {**tables(rows), "histogram.csv": counted}
    parsed = parse_tables(files)
    whole = next(row for row in parsed.results if row["stream"] == "all")
    assert sorted(parsed.latencies_of(whole)) == [(5 * MS, 1)] * 6 + [(9 * MS, 1)] * 6
    assert parsed.workers_of(whole) == 2


def open_rows(not_started=0, **figures):
    """Return the rows of reads at a rate: 60,000 in 600 s."""
    known = {"operations": 60_000, "bytes": 60_000 * 8192, "operations_per_s": 100.0, "latency_sum_ns": 60_000 * MS, "latency_mean_ns": MS, **figures}
    responses = {"operations_not_started": not_started, "response_mean_ns": 2 * MS, "response_p99_ns": 7 * MS, "response_max_ns": 90 * MS}
    return fabricate.stream_rows({1: {READS: (2, MS, {**known, **responses})}})


def test_response_times_are_judged_as_they_stand_and_say_so():
    part = judge(tables(open_rows()), {"metric": "response_p99", "max": "8 ms", "stream": "database"})
    (judgement,) = (row for row in part["judgements"] if row["metric"] == "response_p99")
    assert (judgement["verdict"], judgement["value"], judgement["method"]) == ("pass", 7 * MS, "as it stands")
    assert judgement["reason"] == "response_p99 7 ms <= 8 ms for reads of database at 1 thread (60,000 reads), without confidence"


def with_responses(counts, not_started=0):
    rows = open_rows(not_started)
    row = next(row for row in rows if row["worker"] == "all" and row["stream"] == "database")
    return {**tables(rows), "responses.csv": fabricate.responses_table(row, counts)}


def test_any_percentile_of_the_response_times():
    files = with_responses({2 * MS: 57_000, 3 * MS: 2_940, 100 * MS: 60})
    for metric, value in (("response_p95", 2 * MS), ("response_p99_5", 3 * MS), ("response_p99_95", 90 * MS)):
        (judgement,) = (row for row in judge(files, {"metric": metric, "max": "1 s", "stream": "database"})["judgements"] if row["metric"] == metric)
        assert judgement["value"] == value


def test_response_times_that_are_not_those_of_the_operations_are_refused():
    limit = {"metric": "response_p95", "max": "1 s", "stream": "database"}
    assert "responses.csv and results.csv differ" in judge(with_responses({2 * MS: 59_999}), limit)["reasons"][0]
    # What had not started counts with what it had waited.
    assert judge(with_responses({2 * MS: 60_010}, not_started=10), limit)["verdict"] == "pass"


def test_a_closed_stream_has_no_response_times():
    assert judge(tables(mailbox()), {"metric": "response_p95", "max": "1 s", "stream": "database"})["verdict"] == "inconclusive"


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
    ],
)
def test_a_wrong_limit(change, message):
    with pytest.raises(DefinitionError, match=message):
        profile({**MEAN, **change})


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
        (lambda rows: [*rows[:-1], {**rows[-1], "operations": 1}], "another number of operations"),
        (lambda rows: [*rows[:-1], {**rows[-1], "bytes": 1}], "another number of bytes"),
        (lambda rows: [{**row, "operation": "erase"} if row["operation"] == "read" else row for row in rows], 'the operation "erase" of stream "database"'),
        (lambda rows: [*rows[:-1], {**rows[0], "stream": "all"}, rows[-1]], 'the operation "read" of stream "all"'),
        (lambda rows: [row for row in rows if (row["operation"], row["worker"]) != ("read", 1)], "one row for each worker"),
        (lambda rows: [{**row, "load_point": 7} if row["stream"] == "log" else row for row in rows], "two block sizes or load points"),
    ],
)
def test_rows_of_streams_that_contradict_themselves(change, message):
    with pytest.raises(TablesError, match=message):
        parse_tables(tables(change(mailbox(loads=(1,)))))


def fidelity(*rows):
    return parse_tables({**tables(mailbox(loads=(1,))), "fidelity.csv": fabricate.fidelity_table(rows)}).fidelity


READ_SHARES = [fabricate.fidelity_row(1, 1, stream, "read_share", share, share, 100) for stream, share in (("database", 0.5), ("log", 0))]


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
