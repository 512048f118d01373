# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""--workload=commit: tables that agree with each other, the writes, and the effect of faults on commits."""

import re

from support import (
    consistent,
    contains,
    equal,
    frozen,
    mounted,
    near,
    read,
    refused,
    root_test,
    strace,
    test,
    traced,
    wait_until_measuring,
)

OVERHEAD = 1464
PAGE = 4096


def commit(apps, message, *options):
    return ("--workload=commit", "--apps=" + apps, "--msgSize=" + message, "--logBuffer=64K") + options


def agree(result, step=1):
    """Checks the two streams against each other. Returns the row of the log and that of the commits."""
    run, log, commits = result.run(), result.all(step), result.all(step, "commit")
    equal((commits["operation"], log["operation"]), ("commit", "write"))
    record = int(run["option_puts_per_commit"]) * (int(log["block_size_bytes"]) + OVERHEAD)
    loggers = int(run["option_load_points"])
    # At the beginning and at the end of the measured time, a write contains records of commits that are counted outside
    # this time or not at all.
    slack = loggers * 2 * max(record, int(run["option_log_buffer_bytes"]))
    near(int(log["log_record_bytes"]), int(commits["operations"]) * record, slack, "bytes of records")
    assert int(log["bytes"]) >= int(log["log_record_bytes"]) > 0, log
    near(
        float(commits["messages_per_s"]),
        float(commits["operations_per_s"]) * int(run["option_puts_per_commit"]),
        0.1,
        "messages",
    )
    near(float(log["write_size_mean_bytes"]), int(log["bytes"]) / int(log["operations"]), 1, "mean size")
    sizes = [
        int(log["write_size_%s_bytes" % name] or log["write_size_max_bytes"]) for name in ("min", "p50", "p99", "max")
    ]
    equal(sizes, sorted(sizes), "sizes rise")
    equal([size for size in sizes if size % PAGE], [], "whole pages")
    assert 0.05 < float(log["logger_utilisation_share"]) <= 1, log
    equal((log["messages_per_s"], commits["log_record_bytes"], commits["logger_utilisation_share"]), ("", "", ""))
    return log, commits


@test
def tables_of_commits_agree(place):
    result = place.logdisk(
        *commit("1,7", "100,20K", "--qm=2", "--createDirs", "--putsPerCommit=2", "--duration=1", "--warmup=1")
    )
    equal(result.status, 0, result.err)
    run = consistent(result)
    equal(
        (run["workload"], run["load_unit"], run["step_size"], run["steps_measured"]),
        ("commit", "applications", "message", "4"),
    )
    equal(
        (run["option_applications"], run["option_message_sizes_bytes"], run["option_block_sizes_bytes"]),
        ("1 7", "100 20480", ""),
    )
    contains(result.out, "Commits/sec", "Messages/sec", "messages of 20480 (20K), 7 applications")
    for step in range(1, 5):
        log, commits = agree(result, step)
        record = 2 * (int(log["block_size_bytes"]) + OVERHEAD)
        cohort = 1 if log["load_point"] == "1" else 4  # the halves of 7 are 3 and 4
        equal(int(log["write_size_max_bytes"]), min(-(-cohort * record // PAGE) * PAGE, 65536), "largest write")
        if cohort == 1 and record < 65536:
            equal(log["operations"], commits["operations"], "a write for each commit")
        assert int(commits["latency_min_ns"]) >= int(log["latency_min_ns"]), (log, commits)


@test
def mq_log_has_no_columns_of_commits(place):
    result = place.logdisk("--duration=1")
    row, run = result.all(), result.run()
    equal(
        (row["messages_per_s"], row["log_record_bytes"], row["write_size_mean_bytes"], row["logger_utilisation_share"]),
        ("", "", "", ""),
    )
    equal((run["step_size"], run["option_applications"], run["option_log_buffer_bytes"]), ("block", "", ""))


def writes_of(place):
    """Returns (file descriptor, offset, bytes) of the test's writes. Leaves out the writes that preformat files, which
    are larger, and those that try the block sizes, which come earlier."""
    pattern = re.compile(r"pwritev\((\d+), .*iov_len=(\d+)\}\], 1, (\d+)\) = (\d+)")
    return [
        (fd, int(offset), int(size))
        for fd, size, offset, done in (pattern.search(line).groups() for line in traced(place) if pattern.search(line))
    ]


@test
def partial_page_is_rewritten_only_if_asked(place):
    """The kernel sees writes in order and in whole pages. They go from file to file, and never cross a file's end."""
    for extra in ([], ["--tripleWrite"]):
        result = place.logdisk(*commit("1", "2K", "--duration=1", *extra), before=strace(place, calls="pwritev"))
        equal(result.status, 0, result.err)
        agree(result)
        writes = [write for write in writes_of(place) if write[2] in (PAGE, 2 * PAGE)][
            1:
        ]  # the first write tests whether the disk accepts a page
        assert len(writes) > 50, len(writes)
        tail = 0
        for (fd, offset, size), (next_fd, next_offset, next_size) in zip(writes, writes[1:]):
            used = tail + 2048 + OVERHEAD
            equal(size, -(-used // PAGE) * PAGE, "size")
            tail = used % PAGE if extra else 0
            wanted = offset + (used // PAGE * PAGE if extra else size)
            if (next_fd, next_offset) != (fd, wanted):  # the next write would have crossed the end of the file
                assert wanted + -(-(tail + 2048 + OVERHEAD) // PAGE) * PAGE > 256 * 1024 and next_fd != fd, (
                    wanted,
                    next_fd,
                )
                equal((next_offset, next_size), (0, PAGE), "beginning of a file")
                tail = 0


@test
def slow_writes_are_shared_by_cohorts(place):
    """A delay of 20 ms dominates the duration of a write on any machine. A single application waits for one write. If
    there are several, each waits for two."""
    before = strace(place, "pwritev:delay_enter=20000:when=20+", calls="pwritev")
    result = place.logdisk(*commit("1,40", "1K", "--duration=2"), before=before)
    equal(result.status, 0, result.err)
    for step, applications, turns in ((1, 1, 1), (2, 40, 2)):
        log, commits = agree(result, step)
        write_s = float(log["latency_mean_ns"]) / 1e9
        near(
            float(commits["operations_per_s"]) * write_s,
            applications / turns,
            0.1 * applications / turns,
            "commits in a write",
        )
        near(float(commits["latency_mean_ns"]) / 1e9, turns * write_s, 0.15 * turns * write_s, "latency of a commit")
        assert float(log["logger_utilisation_share"]) > 0.9, log


@test
def remote_delay_holds_commits_and_not_writes(place):
    result = place.logdisk(*commit("1", "1K", "--duration=1", "--remoteDelay=30000"))
    equal(result.status, 0, result.err)
    log, commits = agree(result)
    assert int(commits["latency_min_ns"]) >= 30_000_000 > int(log["latency_p50_ns"]), (log, commits)
    assert 20 < int(commits["operations"]) <= 34, commits
    assert float(log["logger_utilisation_share"]) > 0.9, log


@test
def logger_that_waits_for_a_remote_side_at_the_end_is_busy(place):
    result = place.logdisk(*commit("1", "1K", "--duration=5", "--remoteDelay=700000", "--deadline=1"))
    equal(result.status, 4, result.err)
    log, commits = result.all(), result.all(1, "commit")
    equal((log["operations"], commits["operations"]), ("2", "1"))
    assert float(log["logger_utilisation_share"]) > 0.99, log


@test
def thinking_leaves_the_logger_idle(place):
    result = place.logdisk(*commit("1", "1K", "--duration=1", "--thinkTime=50000"))
    equal(result.status, 0, result.err)
    log, commits = result.all(), result.all(1, "commit")
    assert 10 <= int(commits["operations"]) <= 20 and float(log["logger_utilisation_share"]) < 0.5, (log, commits)


@test
def io_error_ends_the_run(place):
    result = place.logdisk(
        *commit("10", "1K", "--duration=5"), before=strace(place, "pwritev:error=EIO:when=40", calls="pwritev")
    )
    equal(result.status, 3, result.err)
    run = result.run()
    equal((run["exit_reason"], run["error_errno_name"]), ("io_error", "EIO"))


@root_test
def commits_of_a_hung_write_count_with_their_age(place):
    with mounted(place) as point:
        progress = place.path + "/progress"
        options = ("--qm=2", "--duration=60", "--deadline=4", "--progress=" + progress)
        process = place.start(*commit("10", "1K", *options), dir=point + "," + place.dir)
        wait_until_measuring(place, process)
        contains(read(progress), "block_size_bytes=1024 load_point=10 ")
        with frozen(point):
            place.wait_for("run.csv", "complete,1", process)
        result = place.finish(process)
    equal(result.status, 4, result.err)
    log, commits = result.all(), result.all(1, "commit")
    equal((log["latency_max_in_flight"], commits["latency_max_in_flight"]), ("1", "1"))
    assert int(commits["latency_max_ns"]) >= int(log["latency_max_ns"]) > 1_000_000_000, (log, commits)
    # The other queue manager stopped a second before, when the deadline had passed.
    shares = [float(row["logger_utilisation_share"]) for row in result.rows("results.csv") if row["stream"] == "log"]
    near(shares[2], (shares[0] + shares[1]) / 2, 2e-6, "share of all")
    contains(result.err, "had been in flight")


@test
def options_of_two_workloads_are_refused_together(place):
    result = place.logdisk(*commit("1", "1K", "--verify"))
    equal(result.status, 1)
    contains(result.err, "--verify is not for --workload=commit")
    before = strace(place, "pwritev:error=EINVAL:when=1", calls="pwritev")
    refused(place, place.logdisk(*commit("1", "1K"), before=before), "--logBuffer", "4096")
