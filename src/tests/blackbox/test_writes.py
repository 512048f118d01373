# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The log write pattern: the calls, their flags and offsets, and the content of the files."""

import os
import re
import zlib

from support import consistent, contains, equal, refused, strace, test, traced


@test
def pattern_as_mq_writes(place):
    options = ["--bsize=4K,20K", "--duration=1", "--delay=2000", "--fileSize=256K"]
    result = place.logdisk(*options, before=strace(place))
    equal(result.status, 0, result.err)
    consistent(result)
    opened, writes, testing = {}, [], []
    for line in traced(place):
        assert "mqldt_testfile" not in line, "a name on the disk: " + line
        match = re.search(r'openat\(\w+, "\.", (\S*O_TMPFILE\S*), 0660\) += (\d+)$', line)
        if match:
            opened[match.group(2)] = "mqldt_testfile.%04d" % len(opened)
            testing.append(match.group(1))
        match = re.search(r"pwritev\((\d+), .*iov_len=(\d+)\}\], (\d+), (\d+)\) += (\d+)$", line)
        if match:
            fd, length, vectors, offset, done = match.groups()
            equal((vectors, length), ("1", done), "one vector, all written")
            writes.append((opened[fd], int(length), int(offset)))
    equal(len(testing), 3, "files created")
    assert all(
        "O_DIRECT" in flags and "O_DSYNC" in flags and "O_RDWR" in flags and "O_EXCL" in flags for flags in testing
    ), testing
    measured = writes[2 + 3 :]  # after one trial write for each block size, and one part for each of three files
    files, place_in_ring, size = 3, (0, 0), 4096
    steps = [(4096, int(result.all(1)["operations"])), (20480, int(result.all(2)["operations"]))]
    equal(len(measured), sum(count for _, count in steps), "writes seen and reported")
    for size, count in steps:
        if place_in_ring[1]:
            place_in_ring = ((place_in_ring[0] + 1) % files, 0)
        for name, length, offset in measured[:count]:
            equal(
                (name, length, offset), ("mqldt_testfile.%04d" % place_in_ring[0], size, place_in_ring[1]), "next write"
            )
            equal(offset % 4096, 0, "aligned")
            place_in_ring = (place_in_ring[0], offset + size)
            if place_in_ring[1] + size > 262144:
                place_in_ring = ((place_in_ring[0] + 1) % files, 0)
        measured = measured[count:]


@test
def sync_modes(place):
    for mode, flag, call in (
        ("sync", "O_SYNC", None),
        ("fdatasync", None, "fdatasync"),
        ("fsync", None, "fsync"),
        ("none", None, None),
    ):
        result = place.logdisk("--sync=" + mode, "--direct=no", "--duration=1", "--delay=5000", before=strace(place))
        equal(result.status, 0, result.err)
        run = consistent(result)
        equal((run["option_sync"], run["option_direct"]), (mode, "no"))
        testing = [line for line in traced(place) if "O_TMPFILE" in line]
        equal(len(testing), 3, "files")
        assert all((flag in line) if flag else ("SYNC" not in line) for line in testing), testing
        assert not any("O_DIRECT" in line for line in testing), testing
        row = result.all()
        writer = [line for line in traced(place) if "pwritev" in line][-1].split()[0]
        flushes = len([line for line in traced(place) if call and line.split()[0] == writer and call + "(" in line])
        equal(flushes, int(row["operations"]) if call else 0, mode)
        if call:
            assert 0 < int(row["flush_sum_ns"]) < int(row["latency_sum_ns"])
            assert int(row["flush_max_ns"]) <= int(row["latency_max_ns"])
        else:
            equal(row["flush_sum_ns"], "", mode)


@test
def load_points_and_several_queue_managers(place):
    for i in (1, 2, 3):
        os.mkdir(place.dir + str(i))
    result = place.logdisk("--bsize=4K,64K", "--qm=1,3", "--duration=1")
    equal(result.status, 0, result.err)
    run = consistent(result)
    equal([run["directory_%d" % i] for i in (1, 2, 3)], [place.dir + str(i) for i in (1, 2, 3)])
    equal(
        [(r["load_point"], r["block_size_bytes"]) for r in result.rows("results.csv") if r["worker"] == "all"],
        [("1", "4096"), ("1", "65536"), ("3", "4096"), ("3", "65536")],
        "steps",
    )
    assert all(int(r["operations"]) > 0 for r in result.rows("results.csv"))
    contains(result.out, "Queue manager 3:", "Avg bytes/sec written to files by all queue managers")
    for i in (1, 2, 3):
        equal(os.listdir(place.dir + str(i)), [], "left behind")
    several = place.logdisk("--qm=2", "--duration=1", dir=place.dir + "1," + place.dir + "3")
    equal(several.status, 0, several.err)
    equal(several.run()["directory_2"], place.dir + "3")


@test
def files_are_filled_and_never_alike(place):
    result = place.logdisk("--duration=1", "--keepFiles", "--seed=1")
    equal(result.status, 0, result.err)
    sectors = set()
    count = 0
    for i in range(3):
        with open(place.dir + "/mqldt_testfile.%04d" % i, "rb") as file:
            data = file.read()
        for at in range(0, len(data), 512):
            sectors.add(data[at : at + 512])
            count += 1
    equal(len(sectors), count, "different sectors")
    # At the end of the last pass, a few blocks may equal their neighbours of the previous pass.
    assert len(zlib.compress(data, 9)) > 0.85 * len(data), "compresses"


@test
def interrupted_call_is_repeated(place):
    result = place.logdisk(
        "--duration=1", "--delay=5000", before=strace(place, "pwritev:error=EINTR:when=20+10", calls="pwritev")
    )
    equal(result.status, 0, result.err)
    seen = [line for line in traced(place) if "pwritev(" in line]
    done = [line for line in seen if "EINTR" not in line]
    assert len(seen) > len(done)
    equal(len(done) - 4, int(result.all()["operations"]), "writes that succeeded")


@test
def three_hundred_queue_managers(place):
    result = place.logdisk(
        "--qm=300",
        "--createDirs",
        "--numFiles=2",
        "--fileSize=64K",
        "--duration=2",
        "--delay=5000",
        dir=place.dir + "/q",
    )
    equal(result.status, 0, result.err)
    consistent(result)
    equal(len(result.rows("results.csv")), 301)
    equal(os.listdir(place.dir), [])


@test
def pinned_writers(place):
    result = place.logdisk("--duration=1", "--cpu=0", before=strace(place, calls="sched_setaffinity"))
    equal(result.status, 0, result.err)
    equal(result.run()["option_cpus"], "0")
    assert any("[0]) = 0" in line for line in traced(place) if "sched_setaffinity" in line), traced(place)
    refused(place, place.logdisk("--duration=1", "--cpu=1000"), "--cpu", "processor 1000", "nproc")
    forbidden = place.logdisk(
        "--duration=1", "--cpu=0", before=strace(place, "sched_setaffinity:error=EPERM", calls="sched_setaffinity")
    )
    refused(place, forbidden, "--cpu", "processor 0", "Operation not permitted")
