# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""--verify: the files are read back, and a lost, changed or unreadable block fails the run."""

import re
import time

from support import consistent, contains, equal, strace, test, traced, wait_until_measuring


@test
def verify_finds_nothing_where_all_is_well(place):
    for options in (
        ["--bsize=4K,20K", "--duration=1"],
        ["--direct=no", "--sync=fsync", "--duration=1", "--warmup=1"],
        ["--bsize=64K", "--duration=1", "--delay=50000"],
    ):
        result = place.logdisk("--verify", *options)
        equal(result.status, 0, result.err)
        run = consistent(result)
        assert int(run["verify_blocks"]) > 0
        equal(run["verify_mismatches"], "0")


@test
def verify_finds_a_lost_write(place):
    result = place.logdisk(
        "--verify",
        "--duration=1",
        "--delay=20000",
        before=strace(place, "pwritev:retval=4096:when=10", calls="pwritev"),
    )
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal((run["verify_mismatches"], run["error_errno_name"], run["error_call"]), ("1", "CORRUPT", "pread"))
    equal((run["error_offset_bytes"], run["error_operation_number"]), (str(9 * 4096), "10"))
    equal(run["error_file"], place.dir + "/mqldt_testfile.0000")
    equal(run["verify_mismatch_1"], "%d %s/mqldt_testfile.0000" % (9 * 4096, place.dir))
    contains(result.err, "not what was written")


@test
def verify_finds_a_corrupted_sector(place):
    process = place.start(
        "--verify", "--duration=2", "--delay=20000", "--keepFiles", "--progress=" + place.path + "/progress"
    )
    wait_until_measuring(place, process)
    time.sleep(0.5)
    with open(place.dir + "/mqldt_testfile.0000", "r+b") as file:
        file.seek(2 * 4096 + 3 * 512 + 100)
        file.write(b"x" * 7)
    result = place.finish(process)
    equal(result.status, 3, result.err)
    run = result.run()
    equal(
        (run["verify_mismatches"], run["error_offset_bytes"], run["error_operation_number"]),
        ("1", str(2 * 4096 + 3 * 512), "3"),
    )


@test
def read_error_while_verifying(place):
    result = place.logdisk(
        "--verify",
        "--duration=1",
        "--keepFiles",
        before=strace(place, "pread64:error=EIO", calls="pread64") + ["-P", place.dir + "/mqldt_testfile.0001"],
    )
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal((run["error_call"], run["error_errno_name"]), ("pread", "EIO"))


@test
def verify_reads_the_disk_without_any_sync(place):
    """Pages that have not been written to the disk cannot be dropped from the cache. They are written first, and this
    can fail."""
    options = ["--verify", "--sync=none", "--direct=no", "--duration=1", "--delay=5000"]
    result = place.logdisk(*options, before=strace(place, calls="fdatasync,fadvise64"))
    equal(result.status, 0, result.err)
    calls = [re.search(r"(fdatasync|fadvise64)\((\d+)", line).groups() for line in traced(place)]
    files = [fd for call, fd in calls if call == "fadvise64"]
    equal(len(files), 3, "files")
    equal(calls, [pair for fd in files for pair in (("fdatasync", fd), ("fadvise64", fd))], "written, then dropped")
    result = place.logdisk(*options, before=strace(place, "fdatasync:error=EIO:when=2", calls="fdatasync"))
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal(
        (run["error_call"], run["error_errno_name"], run["error_file"]),
        ("fdatasync", "EIO", place.dir + "/mqldt_testfile.0001"),
    )
