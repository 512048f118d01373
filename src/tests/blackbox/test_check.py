# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""--checkAcknowledged: the state after a cut is judged by the files and by the lines that a witness stored; nothing is
written."""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess

from support import (
    BUILD,
    LOGDISK,
    PATIENCE_S,
    Result,
    contains,
    equal,
    opening,
    refused,
    strace,
    test,
    traced,
    until,
    write,
)

BLOCK_BYTES, FILE_BYTES, FILES = 4096, 262144, 3
BLOCKS = FILE_BYTES // BLOCK_BYTES
RING = BLOCKS * FILES
SANITIZED = os.path.join(BUILD, "asan", "logdisk")


def acknowledged(place, *options):
    """Lets two queue managers write a few passes. Returns the lines that a witness would store, with one count for each
    queue manager."""
    result = place.logdisk(
        "--acknowledge", "--duration=1", "--qm=2", "--createDirs", "--seed=7", *options, dir=place.dir + "/q"
    )
    equal(result.status, 0, result.err)
    lines = result.out.splitlines()
    counts = {line.split()[1]: int(line.split()[2]) for line in lines if line.startswith("ack")}
    assert min(counts.values()) > 2 * RING, counts
    ticks = [line for line in lines if line.startswith("tick")]
    return counts, [lines[0], ticks[0], ticks[-1]] + ["ack %s %d" % pair for pair in counts.items()]


def check(place, lines, *options, **keywords):
    shutil.rmtree(place.tables, ignore_errors=True)
    before = keywords.get("before", [])
    command = before + [
        LOGDISK if before else SANITIZED,
        "--checkAcknowledged=-",
        "--dir=" + keywords.get("dir", place.dir + "/q"),
    ]
    done = subprocess.run(
        command + (list(options) or ["--tables=" + place.tables]),
        input="".join(line + "\n" for line in lines),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=PATIENCE_S,
    )
    return Result(done.returncode, done.stdout, done.stderr, place.tables)


def rows(result):
    return {row["worker"]: row for row in result.rows("durability.csv")}


def path_of(place, queue_manager, number):
    """Returns the file and the offset of the last write that went to the same position as the given write."""
    file, block = divmod((number - 1) % RING, BLOCKS)
    return "%s/q%d/mqldt_testfile.%04d" % (place.dir, queue_manager, file), block * BLOCK_BYTES


def read_at(place, queue_manager, number):
    path, offset = path_of(place, queue_manager, number)
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(BLOCK_BYTES)


@contextlib.contextmanager
def damaged(place, queue_manager, number, content):
    """Replaces a write with other bytes for the duration of the with block."""
    path, offset = path_of(place, queue_manager, number)
    before = read_at(place, queue_manager, number)
    for data in (content, None):
        with open(path, "r+b") as file:
            file.seek(offset)
            file.write(data if data is not None else before)
        if data is not None:
            yield path, offset


def is_lost(result, finding, **wanted):
    """Checks that status, message, the queue manager's row and the row of all queue managers show the same single
    finding."""
    equal(result.status, 5, result.err)
    contains(result.err, "acknowledged writes were lost (%s)" % finding)
    contains(result.out, "Verdict: LOST")
    run = result.run()
    equal((run["exit_status"], run["exit_reason"], run["complete"]), ("5", "lost", "1"))
    found, every = rows(result), rows(result)["all"]
    one = [row for worker, row in found.items() if worker != "all" and row["outcome"] == "lost"]
    equal((len(one), every["outcome"], every["finding"]), (1, "lost", finding))
    equal({key: one[0][key] for key in wanted}, wanted, finding)
    equal(
        {key: every[key] for key in one[0] if key.startswith("finding")},
        {key: one[0][key] for key in one[0] if key.startswith("finding")},
    )
    return one[0]


@test
def what_a_run_left_is_kept(place):
    counts, lines = acknowledged(place)
    result = check(place, lines)
    equal((result.status, result.err), (0, ""))
    contains(result.out, "2 queue managers kept every write\n", "Verdict: kept\n")
    found, run = rows(result), result.run()
    equal(sorted(found), ["1", "2", "all"])
    for worker, count in counts.items():
        row = found[worker]
        equal(
            (row["acknowledged_writes"], row["found_writes"], row["kept_positions"]),
            (str(count), str(count), str(RING)),
            worker,
        )
        equal(
            (row["in_flight"], row["outcome"], row["finding"], row["metadata_lost"]), ("old", "kept", "", "0"), worker
        )
    equal(int(found["all"]["acknowledged_writes"]), sum(counts.values()))
    equal((run["exit_status"], run["exit_reason"], run["exit_message"], run["complete"]), ("0", "kept", "", "1"))
    equal(
        (run["option_seed"], run["option_files"], run["option_load_points"], run["option_block_sizes_bytes"]),
        ("7", "3", "2", "4096"),
    )
    equal(
        (run["acknowledged_run_id"], run["acknowledged_end"], run["check_read_bytes"]),
        (lines[0].split()[1], "", str(2 * FILES * FILE_BYTES)),
    )
    equal((run["acknowledged_boot_id"], run["boot_id"]), (lines[0].split()[2],) * 2)
    printed = check(place, lines + ["end time"], "--tables=-")
    equal(printed.status, 0, printed.err)
    contains(printed.out, "|= durability.csv ", "acknowledged_end,time", "|= end 2\n")
    contains(printed.err, "Verdict: kept\n")
    late = rows(check(place, lines[:1]))["all"]  # without the lines that were lost with the connection
    equal(
        (late["outcome"], late["in_flight"], late["lost_tail_ns"], late["acknowledged_writes"]),
        ("kept", "new", "0", "0"),
    )


@test
def each_loss_has_its_name(place):
    counts, lines = acknowledged(place)
    first, last = counts["1"], counts["2"]
    number = last - 5
    path, offset = path_of(place, 2, number)
    where = {
        "finding_file": path,
        "finding_offset_bytes": str(offset),
        "finding_expected_write": str(number),
        "finding_worker": "2",
    }
    with damaged(place, 2, number, b"\0" * BLOCK_BYTES):
        is_lost(
            check(place, lines),
            "zeroed",
            zeroed_positions="1",
            kept_positions=str(RING - 1),
            finding_found_write="",
            **where,
        )
    with damaged(place, 2, number, os.urandom(BLOCK_BYTES)):
        result = check(place, lines)
        is_lost(result, "corrupt", corrupt_positions="1", **where)
        contains(result.err, "and holds nothing that the run wrote")
    for bit in (0, 8 * 511, 8 * BLOCK_BYTES - 1):  # the first bit is in a stamp, the others in the data
        flipped = bytearray(read_at(place, 2, number))
        flipped[bit // 8] ^= 1 << bit % 8
        with damaged(place, 2, number, bytes(flipped)):
            result = check(place, lines)
            is_lost(result, "corrupt", corrupt_positions="1", **where)
            contains(result.err, "should hold write %d, and holds damaged data" % number)
    with damaged(place, 2, number, read_at(place, 1, first)):
        came_from, at = path_of(place, 1, first)
        origin = {
            "finding_from_worker": "1",
            "finding_from_file": came_from,
            "finding_from_offset_bytes": str(at),
            "finding_found_write": str(first),
        }
        is_lost(check(place, lines), "misdirected", misdirected_positions="1", **where, **origin)
    late = [line.replace("ack 2 %d" % last, "ack 2 %d" % (last + 3)) for line in lines]
    older = {
        "found_writes": str(last),
        "finding_expected_write": str(last + 1),
        "finding_found_write": str(last + 1 - RING),
    }
    row = is_lost(check(place, late), "lost tail", lost_tail_writes="3", lost_tail_bytes="12288", **older)
    assert int(row["lost_tail_ns"]) > 0, row
    unreadable = check(place, lines, before=strace(place, "pread64:error=EIO", calls="pread64") + ["-P", path])
    in_flight = path_of(place, 2, last + 1)[0] == path
    is_lost(
        unreadable,
        "unreadable",
        unreadable_positions=str(BLOCKS - in_flight),
        in_flight="damaged" if in_flight else "old",
    )
    passing = check(place, lines, before=strace(place, "pread64:error=EIO:when=1", calls="pread64") + ["-P", path])
    equal(passing.status, 0, "an error that occurs only once")
    os.truncate(path, offset)
    is_lost(
        check(place, lines),
        "metadata lost",
        metadata_lost="1",
        finding_file=path,
        kept_positions=str(RING - BLOCKS + offset // BLOCK_BYTES),
    )
    os.unlink(path)
    is_lost(
        check(place, lines), "metadata lost", metadata_lost="1", kept_positions=str(RING - BLOCKS), lost_tail_writes="0"
    )
    mark, mark_of_q2 = (place.dir + "/%s/mqldt_testfile.acknowledge" % name for name in ("q1", "q2"))
    shutil.rmtree(place.dir + "/q2")
    is_lost(
        check(place, lines),
        "metadata lost",
        metadata_lost="1",
        kept_positions="0",
        finding_file=mark_of_q2,
        in_flight="none",
    )
    write(mark, "\0" * os.path.getsize(mark))
    contains(check(place, lines).err, "(metadata lost): " + mark + " is missing, too short or unreadable")


def is_stopped(pid):
    states = set()
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/stat" % (pid, task)) as stat:
            states.add(stat.read().rpartition(")")[2].split()[0])
    return states == {"T"}


def read_acknowledgements(process, lines, count):
    while not lines[-1].startswith("ack") or int(lines[-1].split()[2]) < count:
        assert process.poll() is None, process.communicate()
        lines.append(process.stdout.readline().rstrip("\n"))


@test
def killed_run_is_kept_and_old_blocks_in_it_are_losses(place):
    """Earlier content of the files is restored: half a sector, some sectors, and the whole block."""
    process = place.start("--acknowledge", "--duration=60")
    lines = [process.stdout.readline().rstrip("\n")]
    read_acknowledgements(process, lines, RING)  # so that an earlier pass is restored instead of the preformat
    process.send_signal(signal.SIGSTOP)
    until(lambda: is_stopped(process.pid), "all its threads have stopped", process)
    shutil.copytree(place.dir, place.path + "/old")
    process.send_signal(signal.SIGCONT)
    earlier = check(place, lines, dir=place.path + "/old")
    equal(earlier.status, 0, earlier.err)
    enough = int(rows(earlier)["1"]["found_writes"]) + 2 * RING
    read_acknowledgements(process, lines, enough)
    process.kill()
    out, _err = process.communicate(timeout=PATIENCE_S)
    lines += out.rpartition("\n")[0].splitlines()
    result = check(place, lines, dir=place.dir)
    equal(result.status, 0, result.err)
    found = int(rows(result)["1"]["found_writes"])
    assert found >= max(int(line.split()[2]) for line in lines if line.startswith("ack")), (found, lines[-1])
    file, block = divmod((found - 6) % RING, BLOCKS)
    path, offset = "%s/mqldt_testfile.%04d" % (place.dir, file), block * BLOCK_BYTES
    with open(path.replace(place.dir, place.path + "/old"), "rb") as old, open(path, "r+b") as new:
        old.seek(offset)
        data = old.read(BLOCK_BYTES)
        for begin, end, finding, column in (
            (768, 1024, "corrupt", "corrupt_positions"),
            (0, 1536, "torn", "torn_positions"),
            (0, BLOCK_BYTES, "lost out of order", "lost_out_of_order_writes"),
        ):
            new.seek(offset + begin)
            new.write(data[begin:end])
            new.flush()
            where = {
                "finding_file": path,
                "finding_offset_bytes": str(offset),
                "finding_expected_write": str(found - 5),
            }
            row = is_lost(check(place, lines[:1], dir=place.dir), finding, **{column: "1"}, **where)
            assert finding == "corrupt" or int(row["finding_found_write"]) <= found - 5 - RING, row


@test
def nothing_is_concluded_from_too_little(place):
    _counts, lines = acknowledged(place)
    mark = place.dir + "/q2/mqldt_testfile.acknowledge"
    for text, *says in (
        ([], "there is no line 'ready'", "begin again"),
        (lines[1:], "comes before the line 'ready'"),
        (lines + ["end signal"], "an orderly shutdown"),
        (lines + ["ack 3 1"], "line %d, 'ack 3 1', names a queue manager" % (len(lines) + 1)),
        ([lines[0].replace("seed=7", "seed=8")] + lines[1:], "belongs to a different run", "seed 7"),
    ):
        refused(place, check(place, text), *says)
    refused(
        place,
        check(place, lines, dir="%s/q1,%s/q2,%s" % (place.dir, place.dir, place.dir)),
        "--dir names 3 directories, but the run had 2",
    )
    equal(check(place, lines, dir="%s/q1,%s/q2" % (place.dir, place.dir)).status, 0)
    for other, holder, owner in (("q2,%s/q1", "q2", 2), ("q1,%s/q1", "q1", 1)):
        mixed = check(place, lines, dir=place.dir + "/" + other % place.dir)
        refused(
            place,
            mixed,
            "%s/%s holds the files of queue manager %d" % (place.dir, holder, owner),
            "in the order of the run",
        )
    with open(mark) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused(place, check(place, lines), "has not ended")
    file = place.dir + "/q1/mqldt_testfile.0001"
    os.rename(file, file + ".kept")
    os.symlink(file + ".kept", file)
    refused(place, check(place, lines), "cannot open " + file)
    for options, says in (
        (["--bsize=4K"], "--bsize is not for --checkAcknowledged"),
        (["--removeAcknowledged"], "--removeAcknowledged is not for"),
    ):
        result = check(place, lines, *options)
        equal(result.status, 1, result.err)
        contains(result.err, says)


@test
def orderly_end_that_nobody_was_told_of_is_no_cut(place):
    command = place.command("--acknowledge", "--duration=600")
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
    lines = [run.stdout.readline().rstrip("\n"), run.stdout.readline().rstrip("\n")]
    run.send_signal(signal.SIGTERM)
    run.communicate(timeout=PATIENCE_S)
    refused(place, check(place, lines, dir=place.dir), "ended by a signal", "begin again")
    removed = subprocess.run(
        [LOGDISK, "--removeAcknowledged", "--dir=" + place.dir], stdout=subprocess.DEVNULL, timeout=PATIENCE_S
    )
    equal((removed.returncode, os.listdir(place.dir)), (0, []))


@test
def a_check_reads_the_disk_and_writes_nothing(place):
    _counts, lines = acknowledged(place)
    equal(
        check(
            place, lines, "--deadline=60", before=strace(place, calls="openat,pread64,pwritev,write,unlinkat,ftruncate")
        ).status,
        0,
    )
    calls = [line for line in traced(place) if "mqldt_testfile.0" in line]
    equal(len(calls), 2 * FILES)
    equal([line for line in calls if "O_RDONLY" not in line or "O_DIRECT" not in line], [])
    equal([line for line in traced(place) if re.search(r"(pwritev|unlinkat|ftruncate)\(", line)], [])
    result = check(place, lines, "--tables=" + place.tables, before=opening(place, "flags & O_DIRECT", "EINVAL"))
    equal((result.status, result.run()["check_buffered"]), (0, "1"), result.err)


@test
def a_check_that_is_stopped_says_nothing(place):
    _counts, lines = acknowledged(place)
    write(place.path + "/lines", "".join(line + "\n" for line in lines))
    shutil.rmtree(place.tables)
    slow = strace(place, "pread64:delay_enter=3000000", calls="pread64") + ["-P", place.dir + "/q1/mqldt_testfile.0000"]
    command = slow + [
        LOGDISK,
        "--checkAcknowledged=" + place.path + "/lines",
        "--dir=" + place.dir + "/q",
        "--tables=" + place.tables,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    until(lambda: os.path.exists(place.tables + "/.run.csv.tmp"), "it checks", process)
    with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as children:
        os.kill(int(children.read().split()[0]), signal.SIGTERM)
    result = place.finish(process)
    equal(
        (result.status, result.run()["exit_reason"], result.rows("durability.csv")), (4, "interrupted", []), result.err
    )
