# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Seconds from the kernel become intervals, histograms, thresholds, maxima and slow operations;
invalid data is left out."""

from __future__ import annotations

import json

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.buckets import bucket_of, upper_ns
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.interval import Maximum, Options, Over
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.samples import Sample
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.sources import bpftrace
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.write_sizes import WriteSizes, read_write_sizes

S, MS = 1_000_000_000, 1_000_000
BASE = 500 * S
EPOCH = 1_800_000_000.0
WATCHED = {"watched": {"streams": ["log"], "pid": 0, "duration_s": 3, "probe_overhead_ns": {"log": 400}}}
CALLS = {
    "watched": {"streams": ["log", "MQPUT"], "pid": 0, "duration_s": 3, "probe_overhead_ns": {"log": 400, "call": 9000}}
}
START = {"base": BASE}


def counted(*latencies_ns, size=4096, errors=0):
    """Return the kernel's output for operations with these latencies."""
    if not latencies_ns:
        return {"buckets": {}, "sum_ns": 0, "bytes": 0, "errors": errors}
    buckets = {}
    for latency_ns in latencies_ns:
        buckets[str(bucket_of(latency_ns))] = buckets.get(str(bucket_of(latency_ns)), 0) + 1
    extremes = {"min_ns": min(latencies_ns), "max_ns": max(latencies_ns)}
    return {
        "buckets": buckets,
        "sum_ns": sum(latencies_ns),
        "bytes": size * len(latencies_ns),
        "errors": errors,
        **extremes,
    }


def second(number, *latencies_ns, late=False, **content):
    return {"second": {"number": number, "late": late, "streams": {"log": counted(*latencies_ns), **content}}}


def maximum(at_s, latency_ns, stream="log"):
    return {
        "maximum": {
            "stream": stream,
            "at_ns": BASE + int(at_s * S),
            "latency_ns": latency_ns,
            "bytes": 4096,
        }
    }


def read(*texts, **options):
    """Read texts that were written when the observation began, at which time the clocks agree."""
    samples = [Sample(EPOCH, BASE, text if isinstance(text, str) else json.dumps(text)) for text in texts]
    return bpftrace.read(samples, Options("QM1", **options))


def test_seconds_become_intervals_with_exact_figures():
    observation = read(WATCHED, START, second(1, 300_000, 500_000), second(2), second(3, 1 * MS), interval_s=2)
    first, last = observation.intervals
    assert (first.start_epoch_s, first.elapsed_s, first.operations, first.bytes) == (EPOCH, 2.0, 2, 8192)
    assert (first.latency_mean_ns, first.latency_min_ns, first.latency_max_ns, first.write_size_mean_bytes) == (
        400_000,
        300_000,
        500_000,
        4096,
    )
    assert (last.start_epoch_s, last.elapsed_s, last.operations) == (EPOCH + 2, 1.0, 1)
    assert [each.operations for each in observation.seconds] == [2, 0, 1]
    assert observation.seconds[1].latency_max_ns is None
    assert (observation.elapsed_ns, observation.problems, observation.ending) == (3 * S, (), "")


def test_an_interval_that_is_not_over_waits():
    assert read(WATCHED, START, second(1, MS), second(2, MS), interval_s=3).intervals == ()


def test_a_histogram_for_each_batch_and_thresholds_for_each_second():
    observation = read(
        WATCHED,
        START,
        *(second(number, 150_000, number * MS) for number in range(1, 61)),
        thresholds_ns=(2 * MS, 59 * MS),
    )
    assert sorted(batch for dummy, batch in observation.histograms) == list(range(1, 31))
    assert observation.histograms["log", 30] == {
        upper_ns(bucket_of(150_000)): 2,
        upper_ns(bucket_of(59 * MS)): 1,
        upper_ns(bucket_of(60 * MS)): 1,
    }
    assert [over.second for over in observation.over if over.over_ns == 59 * MS] == [60]
    assert observation.over[0] == Over(3, "log", 2 * MS, 1, pytest.approx(3 * MS, rel=0.01))


def test_each_maximum_once_with_the_one_before_it():
    """Events of two processors may arrive in the wrong order."""
    observation = read(
        WATCHED,
        START,
        maximum(0.5, 2 * MS),
        maximum(1.5, 5 * MS),
        maximum(1.4, 4 * MS),
        maximum(2.5, 6 * MS),
        *(second(n, MS) for n in (1, 2, 3)),
    )
    assert observation.maxima == (
        Maximum(EPOCH + 0.5, "log", None, 2 * MS),
        Maximum(EPOCH + 1.5, "log", 2 * MS, 5 * MS),
        Maximum(EPOCH + 2.5, "log", 5 * MS, 6 * MS),
    )


def test_a_maximum_waits_for_the_end_of_its_second():
    """Lines on the screen are only added at the end, and an interval that ends earlier comes first."""
    texts = (WATCHED, START, maximum(0.5, 2 * MS), maximum(1.01, 5 * MS), second(1, 2 * MS))
    assert [len(read(*texts).maxima), len(read(*texts, second(2, 5 * MS)).maxima)] == [1, 2]


def test_the_slowest_operations_and_those_in_flight():
    stalls = [
        {"stall": {"stream": "log", "at_ns": BASE + S, "latency_ns": (20 + n) * MS, "bytes": 4096}} for n in range(20)
    ]
    observation = read(WATCHED, START, *stalls, second(1, 20 * MS), {"in_flight": {"log": [BASE - S]}}, second(2))
    assert [stall.latency_ns for stall in observation.stalls] == [3 * S, *(n * MS for n in range(39, 30, -1))]
    assert (observation.stalls[0].in_flight, observation.stalls[0].epoch_s) == (True, EPOCH - 1)
    assert observation.stalls[1].epoch_s == pytest.approx(EPOCH + 1 - 0.039)


def test_calls_are_streams_of_their_own_without_bytes():
    observation = read(CALLS, START, second(1, MS, MQPUT=counted(3 * MS, size=0)), interval_s=1)
    assert [(each.stream, each.operations, each.bytes) for each in observation.intervals] == [
        ("log", 1, 4096),
        ("MQPUT", 1, None),
    ]
    assert observation.facts == {"probe_overhead_ns": 400, "probe_overhead_call_ns": 9000}


def test_an_end_before_its_time_cuts_the_last_second_short():
    observation = read(WATCHED, START, second(1, MS), {"end": BASE + S + S // 4}, second(2, MS))
    assert (observation.elapsed_ns, observation.ending) == (S + S // 4, "bpftrace ended early")
    assert [each.partial for each in observation.seconds] == [False, True]
    assert observation.intervals[-1].elapsed_s == 1.25


@pytest.mark.parametrize(
    ("program", "ending"),
    [
        ({"status": 0, "words": "ended with status 0"}, ""),
        ({"status": None, "words": "was still running at the end of the observation, and was stopped"}, ""),
        ({"status": -9, "words": "was killed by signal 9"}, "the program was killed by signal 9"),
    ],
)
def test_how_the_program_ended(program, ending):
    observation = read(WATCHED, START, {"end": BASE + S // 2}, second(1, MS), {"program": program})
    assert (observation.facts["program"], observation.ending) == (program["words"], ending)


def test_extremes_of_another_second_give_way_to_the_bounds_of_the_buckets():
    content = second(1, MS)
    content["second"]["streams"]["log"].update(max_ns=77 * MS, min_ns=None)
    (found,) = read(WATCHED, START, content).seconds
    assert bucket_of(found.latency_max_ns) == bucket_of(found.latency_min_ns) == bucket_of(MS)


def test_problems_say_what_is_doubtful():
    observation = read(
        CALLS,
        START,
        second(1, 300_000, late=True, MQPUT=counted(40_000)),
        second(2, MQPUT=counted()),
        {"second": {"number": 3, "streams": {}}},
        {"lost": 7},
    )
    assert observation.problems == (
        "1 samples of bpftrace are invalid and are left out.",
        (
            "The host was too busy to read 1 seconds in time: every operation is counted, but "
            "some of them in another second."
        ),
        (
            "bpftrace lost 7 events: some lines about maxima and slow operations may be missing. "
            "The counts are not affected."
        ),
        "Watching adds about 9.0 us to each MQPUT, 22% of its mean of 40.0 us.",
    )
    failed = {"second": {"number": 1, "late": False, "streams": {"log": counted(errors=3)}}}
    assert read(WATCHED, START, failed).problems == (
        "3 log writes failed. No figure includes them.",
        "No write to a log file was seen: was the queue manager idle, and is observe_log_path its log?",
    )


UNSEEN = (
    "writes to log files were not made by a write call but in another way, such as io_uring or asynchronous I/O (AIO), "
    "which bpftrace does not time."
)


def test_a_log_that_is_written_another_way_has_no_figures_at_all():
    """Figures of only those writes that were timed would be mistaken for figures of all writes."""
    stall = {"stall": {"stream": "log", "at_ns": BASE + S, "latency_ns": 20 * MS, "bytes": 4096}}
    texts = (
        CALLS,
        START,
        maximum(0.5, 2 * MS),
        stall,
        *(second(n, MS, MQPUT=counted(3 * MS)) for n in (1, 2, 3)),
        {"unseen": {"log": 7, "MQPUT": 0}},
    )
    found = read(*texts, interval_s=3, thresholds_ns=(MS // 2,))
    assert found.problems[0] == f"About 7 {UNSEEN} So there are no figures for the log."
    assert [(each.stream, each.operations, each.bytes, each.latency_mean_ns) for each in found.intervals] == [
        ("log", None, None, None),
        ("MQPUT", 3, None, 3 * MS),
    ]
    assert (
        {each.stream for each in (*found.seconds, *found.over)}
        == {"MQPUT"}
        == {name for name, dummy in found.histograms}
    )
    assert (found.maxima, found.stalls) == ((), ())


def test_very_few_writes_that_come_another_way_are_named():
    found = read(WATCHED, START, second(1, *[MS] * 2000), {"unseen": {"log": 2}}, second(2), second(3))
    assert (found.problems, sum(each.operations for each in found.seconds)) == (
        (f"About 2 {UNSEEN} No figure includes them.",),
        2000,
    )


def test_writes_that_wait_for_no_disk_are_in_no_figure():
    assert read(WATCHED, START, second(1), {"unflushed": {"log": 500}}).problems == (
        "500 writes to log files were neither synchronous (O_DSYNC) nor flushed when the observation ended."
        " They did not wait for the disk, and no figure includes them.",
    )
    # The last write waits for the flush that comes after the end.
    assert read(WATCHED, START, second(1, MS), {"unflushed": {"log": 1}}).problems == ()


def test_a_kernel_that_cannot_notice_other_writes_is_named():
    watched = {"watched": {**WATCHED["watched"], "notices_unseen": False}}
    assert [problem.partition(" (AIO)")[0] for problem in read(watched, START, second(1, MS)).problems] == [
        "Writes by io_uring or asynchronous I/O"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "no JSON",
        "[" * 100_000,
        {"unknown": 1},
        {"_epoch_s": 1},
        {"watched": {"streams": ["MQPUT\n"], "pid": 0, "duration_s": 3, "probe_overhead_ns": {}}},
        {"base": -1},
        {"end": 1},
        {"lost": True},
        {"unseen": {"log": -1}},
        {"unflushed": 3},
        {"maximum": {"stream": "MQGET", "at_ns": 1, "latency_ns": 1, "bytes": 1}},
        {"stall": {"stream": "log", "at_ns": 1 << 70, "latency_ns": 1, "bytes": 1}},
        {"in_flight": {"log": ["x"]}},
        {"in_flight": [1]},
        {"program": None},
        second(3, MS),
        {
            "second": {
                "number": 2,
                "late": False,
                "streams": {"log": {"buckets": {"4608": 1}, "sum_ns": 1, "bytes": 1, "errors": 0}},
            }
        },
        {
            "second": {
                "number": 2,
                "late": False,
                "streams": {"log": {"buckets": {"1": 1}, "sum_ns": 1.5, "bytes": 1, "errors": 0}},
            }
        },
    ],
)
def test_what_does_not_fit_changes_nothing(text):
    good = (WATCHED, START, second(1, MS))
    observation = read(*good, text)
    assert observation.problems == ("1 samples of bpftrace are invalid and are left out.",)
    assert (observation.seconds, observation.stalls, observation.facts) == (read(*good).seconds, (), read(*good).facts)


def test_the_discovery_takes_no_write_sizes_from_it():
    texts = [WATCHED, START, *(second(number, 2 * MS) for number in range(3))]
    samples = [{"epoch_s": EPOCH, "monotonic_ns": BASE, "text": json.dumps(text)} for text in texts]
    answer = {"source": "bpftrace", "samples": samples}
    assert read_write_sizes(answer) == WriteSizes(problem="the host did not answer")
