# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""I/O errors, short writes and missing threads: the run ends with status 3 or 4 and keeps what it measured."""

import errno
import os

from support import consistent, contains, equal, strace, test


@test
def io_error(place):
    result = place.logdisk("--duration=5", before=strace(place, "pwritev:error=EIO:when=100", calls="pwritev"))
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal(
        (run["exit_reason"], run["error_call"], run["error_errno"], run["error_errno_name"]),
        ("io_error", "pwritev", "5", "EIO"),
    )
    equal((result.all()["operations"], run["error_operation_number"]), ("99", "100"))
    equal((run["error_file"], run["error_offset_bytes"]), (place.dir + "/mqldt_testfile.0001", str((99 - 64) * 4096)))
    contains(result.err, "Input/output error", "mqldt_testfile.0001")
    equal(os.listdir(place.dir), [])


@test
def io_error_in_the_warm_up(place):
    result = place.logdisk(
        "--duration=1", "--warmup=5", before=strace(place, "pwritev:error=EIO:when=100", calls="pwritev")
    )
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal((run["error_operation_number"], result.all()["operations"]), ("100", "0"))
    contains(run["exit_message"], "write 100 of the warm-up")


@test
def io_error_while_formatting(place):
    result = place.logdisk("--duration=5", before=strace(place, "pwritev:error=EIO:when=3", calls="pwritev"))
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal((run["error_errno_name"], run["steps_measured"], result.rows("results.csv")), ("EIO", "0", []))


@test
def short_write(place):
    result = place.logdisk("--duration=5", before=strace(place, "pwritev:retval=512:when=46", calls="pwritev"))
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal((run["error_errno"], run["error_errno_name"], result.all()["operations"]), ("", "SHORT_WRITE", "45"))


@test
def flush_error(place):
    result = place.logdisk("--duration=5", "--sync=fdatasync", before=strace(place, "fdatasync:error=EIO:when=20"))
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal((run["error_call"], run["error_errno_name"], result.all()["operations"]), ("fdatasync", "EIO", "19"))


@test
def one_writer_fails_others_are_kept(place):
    for i in (1, 2):
        os.mkdir(place.dir + str(i))
    trace = strace(place, "pwritev:error=EIO:when=30", calls="pwritev")  # counted separately for each thread
    result = place.logdisk("--qm=2", "--duration=20", before=trace)
    equal(result.status, 3, result.err)
    run = consistent(result)
    failed = [row for row in result.rows("results.csv") if row["worker"] == run["error_worker"]][0]
    equal((failed["operations"], run["error_operation_number"]), ("29", "30"))


@test
def error_of_the_first_calls(place):
    """Also before the first step, the error is recorded with its call, file and offset."""
    names = "error_call", "error_errno", "error_errno_name", "error_message", "error_file", "error_offset_bytes"
    first = place.dir + "/mqldt_testfile.0000"
    for inject, call, file, options in (
        ("pwritev:error=EIO:when=1", "pwritev", first, []),
        ("pwritev:error=EREMOTEIO:when=2", "pwritev", first, []),
        ("pwrite64:error=EIO:when=1", "the sync probe", first, []),
        ("pread64:error=EIO:when=1", "pread", first, ["--verify", "--keepFiles"]),
    ):
        traced = strace(place, inject, calls="pwritev,pwrite64,pread64")
        # The loader of the program reads as well.
        traced += ["-P", first] if "--keepFiles" in options else []
        result = place.logdisk("--duration=1", *options, before=traced)
        equal(result.status, 3, result.err)
        run = consistent(result)
        name = inject.split("=")[1].split(":")[0]
        error = getattr(errno, name)
        equal(tuple(run[key] for key in names), (call, str(error), name, os.strerror(error), file, "0"), inject)
        equal((run["exit_reason"], run["steps_measured"]), ("io_error", "0"))
        contains(run["exit_message"], file, os.strerror(error))
