# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An observation in the form of the tester's tables: the same figures from the same operations, and empty fields for
unknown figures."""

from __future__ import annotations

import contextlib
import csv
import random
import subprocess
from collections import Counter
from dataclasses import replace

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.buckets import (
    THRESHOLDS_NS,
    bucket_of,
    operations_over,
    upper_ns,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.interval import (
    LOG,
    Interval,
    Observation,
    Options,
    Over,
    Second,
    Stall,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.samples import Sample
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.sources import amqsrua, prometheus
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.tables import COLUMNS, tables_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.text import final_lines, live_lines
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import judge_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.table_reader import TablesError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

MEASURED = fabricate.PROJECT / "tests/fixtures/tables/measured"
EXACT = Options("QM1", log_path="/var/mqm/log/QM1", thresholds_ns=THRESHOLDS_NS, hostname="db07")
START_EPOCH_S = 1794470399.5


@pytest.fixture(scope="module")
def printed():
    subprocess.run(["make", "-s", "-C", str(fabricate.PROJECT / "src")], check=True, capture_output=True)
    done = subprocess.run(
        [fabricate.PROJECT / "src/build/logdisk", "--columns"], check=True, capture_output=True, text=True
    )
    return [(row["table"], row["name"]) for row in csv.DictReader(done.stdout.splitlines())]


@pytest.mark.parametrize("table", sorted(COLUMNS))
def test_the_columns_are_the_testers_in_its_order(table, printed):
    assert list(COLUMNS[table]) == [name for of, name in printed if of == table and name in COLUMNS[table]]


def test_the_keys_of_run_csv_are_the_testers_but_for_those_of_an_observation(printed):
    run = parse_tables(tables_of(exact(), EXACT)).run
    assert run.keys() - {name for of, name in printed if of == "run.csv"} == {"source", "queue_manager", "log_path"}


def rows(files, name):
    return list(csv.DictReader(files[name].decode().splitlines()))


def recorded(step):
    """Convert the recorded tables of a step with one queue manager to the samples that a source would have sent."""
    files = {path.name: path.read_bytes() for path in MEASURED.iterdir()}
    of_step = {name: [row for row in rows(files, name) if row["step"] == step] for name in COLUMNS}
    seconds = [
        Second(
            int(row["second"]),
            LOG,
            *(
                int(row[column])
                for column in ("operations", "bytes", "latency_sum_ns", "latency_min_ns", "latency_max_ns")
            ),
            partial=row["partial"] == "1",
        )
        for row in of_step["intervals.csv"]
    ]
    histograms = {}
    for row in of_step["histogram.csv"]:
        histograms.setdefault((LOG, int(row["batch"])), {})[int(row["latency_upper_ns"])] = int(row["operations"])
    stalls = [
        Stall(
            START_EPOCH_S + int(row["start_offset_ns"]) / 1e9,
            int(row["latency_ns"]),
            in_flight=row["in_flight"] == "1",
            file=row["file"],
        )
        for row in of_step["stalls.csv"]
    ]
    over = [
        Over(int(row["second"]), LOG, *(int(row[column]) for column in ("over_ns", "operations", "latency_sum_ns")))
        for row in of_step["over.csv"]
    ]
    found = Observation(
        "bpftrace",
        START_EPOCH_S,
        int(of_step["results.csv"][0]["elapsed_ns"]),
        seconds=tuple(seconds),
        histograms=histograms,
        over=tuple(over),
        stalls=tuple(stalls),
    )
    return of_step, found


@pytest.mark.parametrize("step", ["1", "2"])
def test_what_the_tester_saw_gives_the_testers_figures(step):
    """The tester's rows of seconds and its histograms add up to its own results. Percentiles of single seconds are not
    recorded."""
    wanted, observation = recorded(step)
    thresholds = tuple(
        int(text)
        for text in parse_tables({path.name: path.read_bytes() for path in MEASURED.iterdir()})
        .run["option_over_ns"]
        .split()
    )
    files = tables_of(observation, replace(EXACT, thresholds_ns=thresholds))
    parse_tables(files)
    for name in COLUMNS:
        loose = ("step", "start_time_epoch_s", "start_offset_ns") + (
            ("latency_p50_ns", "latency_p99_ns", "latency_p99_9_ns") if name == "intervals.csv" else ()
        )
        ours = {
            "write_size_mean_bytes",
            "logger_utilisation_share",
        }  # the tester only has these for the log of commits
        found = rows(files, name)
        assert len(found) == len(wanted[name]) > 0
        for row, expected in zip(found, wanted[name], strict=True):
            assert {key: value for key, value in row.items() if key not in {*loose, *ours}} == {
                key: expected[key] for key in COLUMNS[name] if key not in {*loose, *ours}
            }
    for row, expected in zip(rows(files, "stalls.csv"), wanted["stalls.csv"], strict=True):
        assert (
            abs(int(row["start_offset_ns"]) - int(expected["start_offset_ns"])) < 1000
        )  # an instant since 1970 is a float


def second(number, latencies, size=4096, stream=LOG, partial=False):
    counts = Counter(map(bucket_of, latencies))
    extremes = (min(latencies), max(latencies)) if latencies else (None, None)
    return Second(
        number,
        stream,
        len(latencies),
        size * len(latencies),
        sum(latencies),
        *extremes,
        partial=partial,
        buckets=counts,
    )


def over_of(each):
    for threshold_ns in THRESHOLDS_NS:
        operations, sum_ns = operations_over(each.buckets, threshold_ns, each.latency_max_ns or 0)
        if operations:
            yield Over(each.number, each.stream, threshold_ns, operations, sum_ns)


def exact(by_second=((200_000, 300_000), (250_000,) * 5), stream=LOG, stalls=(), size=4096):
    """Return the observation of an exact source, from the latencies of each second."""
    seconds = tuple(
        second(number, list(latencies), size, stream) for number, latencies in enumerate(by_second, start=1)
    )
    histograms = {
        (stream, each.number): {upper_ns(bucket): count for bucket, count in each.buckets.items()}
        for each in seconds
        if each.operations
    }
    over = tuple(over for each in seconds for over in over_of(each))
    intervals = (Interval(START_EPOCH_S, len(seconds), stream, sum(each.operations for each in seconds)),)
    return Observation(
        "bpftrace", START_EPOCH_S, len(seconds) * 10**9, intervals, seconds, histograms, over, stalls=stalls
    )


def whole(observation, options=EXACT):
    """Return the tables, and for each step the row for all workers together."""
    tables = parse_tables(tables_of(observation, options))
    return tables, [row for row in tables.results if row["worker"] == "all"]


@pytest.mark.parametrize("seed", range(5))
def test_figures_agree_with_the_operations(seed):
    source = random.Random(seed)
    by_second = [
        [int(source.lognormvariate(12, 1)) + 1 for dummy in range(source.randrange(400))] for dummy in range(30)
    ]
    everything = sorted(latency for latencies in by_second for latency in latencies)
    tables, (row,) = whole(exact(by_second))
    assert (row["operations"], row["latency_sum_ns"], row["latency_min_ns"], row["latency_max_ns"]) == (
        len(everything),
        sum(everything),
        everything[0],
        everything[-1],
    )
    assert row["latency_mean_ns"] == pytest.approx(sum(everything) / len(everything), abs=0.001)
    for column, share in (("latency_p50_ns", 0.5), ("latency_p90_ns", 0.9), ("latency_p99_ns", 0.99)):
        true_ns = everything[max(0, -(-len(everything) * round(share * 100) // 100) - 1)]
        assert true_ns <= row[column] <= true_ns * 129 / 128
    assert row["bytes_per_s"] == pytest.approx(4096 * len(everything) / 30, abs=1)
    assert row["logger_utilisation_share"] == pytest.approx(sum(everything) / 30e9, abs=1e-6)
    assert sum(count for dummy, count in tables.latencies_of(row)) == row["operations"]
    assert sum(each["latency_sum_ns"] for each in tables.seconds_of(row)) == row["latency_sum_ns"]
    assert tables.counts_over


def test_seconds_without_a_write():
    tables, (row,) = whole(exact([[], [500_000], []]))
    assert [each["operations"] for each in tables.intervals] == [0, 1, 0]
    assert (row["interval_bytes_per_s_min"], row["interval_bytes_per_s_max"]) == (0, 4096)
    tables, (row,) = whole(exact([[], []]))
    assert (row["operations"], row["latency_mean_ns"], row["latency_max_ns"], row["block_size_bytes"]) == (
        0,
        None,
        None,
        None,
    )


def test_a_second_that_was_cut_short_is_not_the_slowest():
    whole_seconds = exact([[500_000] * 4, [500_000] * 3])
    cut = replace(
        whole_seconds, seconds=(*whole_seconds.seconds, second(3, [500_000], partial=True)), elapsed_ns=2_100_000_000
    )
    dummy, (row,) = whole(replace(cut, histograms={(LOG, 1): {upper_ns(bucket_of(500_000)): 8}}))
    assert (row["interval_bytes_per_s_min"], row["interval_bytes_per_s_max"], row["operations"]) == (
        3 * 4096,
        4 * 4096,
        8,
    )


def test_by_time_a_bucket_weighs_what_its_middle_says():
    dummy, (row,) = whole(exact([[255] * 1000 + [257] * 994]))
    assert (row["latency_time_weighted_p50_ns"], row["latency_p50_ns"]) == (255, 255)
    dummy, (row,) = whole(exact([[255] * 1000 + [257] * 995]))
    assert (row["latency_time_weighted_p50_ns"], row["latency_p50_ns"]) == (257, 255)


def test_a_write_still_in_flight_is_the_slowest():
    stalls = (Stall(START_EPOCH_S + 1.5, 10**9, in_flight=True), Stall(START_EPOCH_S + 0.5, 300_000))
    tables, (row,) = whole(exact(stalls=stalls))
    assert (row["latency_max_ns"], row["latency_max_in_flight"]) == (10**9, 1)
    assert [
        (each["rank"], each["latency_ns"], each["in_flight"], each["start_offset_ns"]) for each in tables.stalls
    ] == [
        (1, 10**9, 1, 1_500_000_000),
        (2, 300_000, 0, 500_000_000),
    ]


def test_calls_are_steps_of_their_own_that_no_limit_on_the_log_judges():
    log, calls = exact(), exact([[9_000_000] * 5, [8_000_000]], stream="MQPUT", size=0)
    both = replace(
        log,
        intervals=calls.intervals + log.intervals,
        seconds=calls.seconds + log.seconds,
        histograms={**log.histograms, **calls.histograms},
        over=calls.over + log.over,
    )
    tables, found = whole(both)
    assert [
        (row["step"], row["stream"], row["operation"], row["block_size_bytes"], row["operations"]) for row in found
    ] == [
        (1, LOG, "write", 4096, 7),
        (2, "MQPUT", "call", None, 6),
    ]
    assert (found[1]["bytes_per_s"], found[1]["logger_utilisation_share"], found[1]["latency_p50_ns"]) == (
        None,
        None,
        pytest.approx(9e6, rel=0.01),
    )
    profile = load_profile({"name": "mine", "limits": [{"metric": "latency_max", "max": "1 ms"}]})
    judged = judge_record(HostRecord("db07"), tables, profile, fabricate.TODAY)
    assert {(each["block_size_bytes"], each["worker"]) for each in judged["judgements"]} == {(4096, "all")}
    assert judged["verdict"] == "pass"


def published(*figures, **keys):
    intervals = tuple(
        Interval(START_EPOCH_S + 10 * n, 10, LOG, *each[:3], write_size_mean_bytes=each[3], **keys)
        for n, each in enumerate(figures)
    )
    facts = {"operations_are_estimated": 1, "logical_bytes_per_s": 1 / 3}
    return Observation(
        "amqsrua",
        START_EPOCH_S,
        10**10 * len(figures),
        intervals,
        facts=facts,
        problems=("One thing.", "Another \x1b\nthing."),
    )


def test_rolling_averages_have_no_percentiles():
    observation = published(
        (1000, 8_192_000, 300_000.0, 8192), (3000, 12_288_000, 500_000.0, 4096), (0, 0, 500_000.0, 4096)
    )
    tables, (row,) = whole(observation)
    assert set(tables_of(observation, EXACT)) == {"run.csv", "results.csv"}
    assert {key: value for key, value in row.items() if value is not None} == {
        "step": 1,
        "block_size_bytes": 5120,
        "load_point": 1,
        "stream": LOG,
        "operation": "write",
        "worker": "all",
        "start_time_epoch_s": START_EPOCH_S,
        "elapsed_ns": 30 * 10**9,
        "operations": 4000,
        "bytes": 20_480_000,
        "bytes_per_s": 682667,
        "operations_per_s": 133.333,
        "latency_sum_ns": 1_800_000_000,
        "latency_mean_ns": 450_000,
        "latency_max_in_flight": 0,
        "write_size_mean_bytes": 5120,
        "logger_utilisation_share": 0.06,
    }
    assert tables.run["operations_are_estimated"] == "1"
    assert tables.run["logical_bytes_per_s"] == "0.333"
    assert tables.run["warning_2"] == "Another \\x1b\\x0athing."
    assert (tables.run["program"], tables.run["source"], tables.run["queue_manager"], tables.run["hostname"]) == (
        "observe",
        "amqsrua",
        "QM1",
        "db07",
    )
    assert (tables.run["exit_status"], tables.run["start_time_utc"], tables.run["end_time_utc"]) == (
        "0",
        "2026-11-12T07:59:59Z",
        "2026-11-12T08:00:29Z",
    )
    assert not tables.counts_over


def test_limits_on_what_mq_does_not_publish_are_inconclusive():
    limits = [{"metric": name, "max": "10 ms"} for name in ("latency_mean", "latency_p99", "latency_max")]
    tables, dummy = whole(published((1000, 8_192_000, 300_000.0, 8192)))
    judged = judge_record(
        HostRecord("db07"),
        tables,
        load_profile({"name": "mine", "limits": limits, "qualifies": {"confidence": "none"}}),
        fabricate.TODAY,
    )
    found = {each["metric"]: each["verdict"] for each in judged["judgements"] if not each["hard"]}
    assert found == {"latency_mean": "pass", "latency_p99": "inconclusive", "latency_max": "inconclusive"}


def test_a_slowest_write_in_the_window_is_its_maximum():
    dummy, (row,) = whole(published((1000, 8_192_000, 300_000.0, 8192), latency_max_ns=187_000_000))
    assert (row["latency_max_ns"], row["latency_min_ns"]) == (187_000_000, None)


@pytest.mark.parametrize(
    ("figures", "wanted"),
    [
        (((1000, 8_192_000, None, 8192),), (1000, None, None, None)),
        (((1000, 8_192_000, 300_000.0, 8192), (1000, 8_192_000, None, 8192)), (2000, None, None, 0.03)),
        (((None, 8_192_000, 300_000.0, None), (1000, 8_192_000, 300_000.0, 8192)), (1000, 300_000_000, 300_000, 0.03)),
        (((None, None, 300_000.0, 8192), (1000, 8_192_000, 300_000.0, 8192)), (1000, 300_000_000, 300_000, 0.03)),
        (((0, 0, None, None),), (0, 0, None, 0)),
    ],
)
def test_what_is_not_published_is_empty(figures, wanted):
    dummy, (row,) = whole(published(*figures))
    assert (row["operations"], row["latency_sum_ns"], row["latency_mean_ns"], row["logger_utilisation_share"]) == wanted


@pytest.mark.parametrize(
    ("observation", "wanted"),
    [
        (Observation("amqsrua"), "the source reported nothing"),
        (Observation("amqsrua", problems=("It is so.",)), "It is so."),
        (published((None, 8_192_000, 300_000.0, None)), "One thing."),
        (
            replace(published((1000, 8_192_000, 300_000.0, 8192)), ending="the queue manager ended"),
            "the queue manager ended",
        ),
    ],
)
def test_an_observation_that_ended_early_says_so(observation, wanted):
    tables = parse_tables(tables_of(observation, EXACT))
    reason = "interrupted" if observation.ending else "no_figures"
    assert (tables.exit_status, tables.run["exit_message"], tables.run["exit_reason"]) == (4, wanted, reason)


EXTREMES = ("0", "5e-324", "1", "4096", "1e18", "9.2e18", "1e300", "NaN", "9" * 40)


@pytest.mark.parametrize("seed", range(40))
def test_extreme_figures_of_a_host_break_nothing(seed):
    """The reader refuses impossible tables, as it would a tester's, and nothing else fails."""
    source = random.Random(seed)
    names = (
        "physical_written_bytes",
        "write_size_bytes",
        "write_latency_seconds",
        "slowest_write_since_restart_seconds",
        "timestamp_of_slowest_write",
    )
    texts = ["\n".join(f"ibmmq_qmgr_log_{name} {source.choice(EXTREMES)}" for name in names) for dummy in range(5)]
    words = [
        f"Interval:{source.choice(('10', '999999999999', '0'))}.000 seconds\nLog - physical bytes "
        f"written {source.choice(EXTREMES)}"
        for dummy in range(5)
    ]
    printed = [
        f"Publication received PutDate:{source.choice(('20261112', '00010101', '99991231'))} PutTime:08000000 "
        f"{each}\nLog - write latency"
        f" {source.choice(EXTREMES)} uSec\nLog - write size {source.choice(EXTREMES)}\nLog - timestamp of slowest "
        f"write {source.choice(EXTREMES)}\n"
        for each in words
    ]
    for reader, said in ((prometheus.read, texts), (amqsrua.read, printed)):
        times = sorted(source.choice((0, 1, 10**10, (1 << 63) - 1)) for dummy in said)
        observation = reader(
            [Sample(source.choice((0.0, 1.8e9, 1e11)), at, text) for at, text in zip(times, said, strict=True)],
            Options(""),
        )
        assert isinstance(live_lines(observation) + final_lines(observation), list)
        with contextlib.suppress(TablesError):
            parse_tables(tables_of(observation, EXACT))


def test_text_of_a_host_breaks_no_table():
    nasty = 'a,"b\n\x00\x1b\ud800=cmd'
    observation = replace(
        exact(stalls=(Stall(START_EPOCH_S, 5, file=nasty),)),
        facts={"log_bytes_max": nasty, "no key!": 1, "program": "x"},
        ending=nasty,
    )
    tables = parse_tables(tables_of(observation, Options(nasty, log_path=nasty, hostname=nasty)))
    assert tables.run["queue_manager"] == tables.stalls[0]["file"] == 'a,"b\\x0a\\x00\\x1b\\ud800=cmd'
    assert tables.run["program"] == "observe"
