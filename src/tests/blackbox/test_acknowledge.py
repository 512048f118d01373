# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""--acknowledge: what is guaranteed before and after `ready`, counts that are never early, and files that survive."""

import fcntl
import os
import pty
import re
import signal
import subprocess

from support import (
    LOGDISK,
    PATIENCE_S,
    Result,
    consistent,
    contains,
    equal,
    holds,
    read,
    refused,
    strace,
    test,
    traced,
    until,
    warnings,
    write,
)

BLOCK_BYTES, SECTOR_BYTES, FILE_BYTES, FILES = 4096, 512, 262144, 3
SECTORS = BLOCK_BYTES // SECTOR_BYTES
RING = FILE_BYTES // BLOCK_BYTES * FILES
READY = re.compile(
    r"ready (\S+) (\S+) seed=(\d+) bsize=4096 file_size=262144 files=3 qm=(\d+) prefix=mqldt_testfile layout=2\Z"
)
NAMES = ["mqldt_testfile.%04d" % number for number in range(FILES)] + ["mqldt_testfile.acknowledge"]


def writes_in(block):
    """(queue manager, number of the write, sector) of each sector, according to its stamp."""
    for at in range(0, len(block), SECTOR_BYTES):
        index = int.from_bytes(block[at : at + 8], "little") * 0xF1DE83E19937733D % (1 << 64)
        number = (index & (1 << 48) - 1) - 1
        yield index >> 48, number // SECTORS, number % SECTORS


def block_at(directory, position):
    file, block = divmod(position, FILE_BYTES // BLOCK_BYTES)
    with open("%s/mqldt_testfile.%04d" % (directory, file), "rb") as stream:
        stream.seek(block * BLOCK_BYTES)
        return stream.read(BLOCK_BYTES)


def written(directory, queue_manager):
    """Returns the number of writes, according to the files. Every sector in the files must be from the run and in its
    own place."""
    newest = -1
    for position in range(RING):
        for sector, (owner, number, of_block) in enumerate(writes_in(block_at(directory, position))):
            if owner:
                equal((owner, number % RING, of_block), (queue_manager, position, sector), "the write in a sector")
                newest = max(newest, number)
    return newest + 1


def counts_of(lines):
    """Returns the last count of each queue manager; counts and the times of ticks never decrease."""
    counts, ticked = {}, 0
    for line in lines:
        word, *values = line.split()
        if word == "ack":
            queue_manager, count = map(int, values)
            assert count > counts.get(queue_manager, 0), (counts, line)
            counts[queue_manager] = count
        elif word == "tick":
            assert int(values[0]) > ticked, line
            ticked = int(values[0])
    assert ticked > 0, "no tick"
    return counts


def remove(place, *options, **keywords):
    command = [LOGDISK, "--removeAcknowledged", "--dir=" + keywords.get("dir", place.dir)] + list(options)
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=PATIENCE_S
    )
    return Result(done.returncode, done.stdout, done.stderr, place.tables)


@test
def acknowledges_every_write(place):
    result = place.logdisk("--acknowledge", "--duration=1", "--qm=2", "--createDirs", dir=place.dir + "/q")
    equal(result.status, 0, result.err)
    run = consistent(result)
    lines = result.out.splitlines()
    ready = READY.match(lines[0])
    assert ready, lines[0]
    boot_id = read("/proc/sys/kernel/random/boot_id").strip()
    equal(ready.groups(), (run["option_run_id"], boot_id, run["option_seed"], "2"), "ready")
    equal({line.split()[0] for line in lines[1:-1]}, {"ack", "tick"})
    equal(lines[-1], "end time")
    operations = {
        int(row["worker"]): int(row["operations"]) for row in result.rows("results.csv") if row["worker"] != "all"
    }
    equal(counts_of(lines), operations, "writes")
    contains(result.err, "Creating files...", "Avg latency of write")
    for queue_manager in (1, 2):
        directory = "%s/q%d" % (place.dir, queue_manager)
        equal(sorted(os.listdir(directory)), NAMES)
        equal(read(directory + "/mqldt_testfile.acknowledge"), lines[0] + "\n", "the mark")
        equal(written(directory, queue_manager), operations[queue_manager], "in the files")
    removed = remove(place, "--qm=2", dir=place.dir + "/q")
    equal((removed.status, removed.out), (0, "8 files removed\n"), removed.err)
    equal([os.listdir(place.dir + name) for name in ("/q1", "/q2")], [[], []])
    equal(remove(place).out, "0 files removed\n", "nothing there")


@test
def counts_are_never_early(place):
    """Each write is delayed, so an acknowledgement that does not wait for its return would find an older block."""
    slow = strace(place, "pwritev:delay_enter=20000", calls="pwritev")
    command = slow + place.command("--acknowledge", "--duration=2", "--qm=2", "--createDirs", dir=place.dir + "/q")
    checked = 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True
    ) as process:
        for line in process.stdout:
            word, *values = line.split()
            if word == "ack":
                queue_manager, count = map(int, values)
                found = list(writes_in(block_at("%s/q%d" % (place.dir, queue_manager), (count - 1) % RING)))
                equal(found, [(queue_manager, count - 1, sector) for sector in range(SECTORS)], line)
                checked += 1
    equal((process.returncode, checked > 0), (0, True))


@test
def everything_is_durable_before_ready(place):
    """All data, and every name on the path to it, is synced before `ready` is sent."""
    calls = [
        "strace",
        "-f",
        "-qq",
        "-y",
        "--seccomp-bpf",
        "-s",
        "8",
        "-o",
        place.path + "/trace",
        "-e",
        "trace=pwritev,openat,fsync,write,mkdir",
    ]
    result = place.logdisk(
        "--acknowledge", "--duration=1", "--delay=5000", "--createDirs", dir=place.dir + "/new", before=calls
    )
    equal(result.status, 0, result.err)
    lines = traced(place)
    ready = next(number for number, line in enumerate(lines) if re.search(r'write\(\d+<pipe[^>]*>, "ready', line))

    # Only preparing calls fsync. The thread that writes the line "ready" may do so after the first measured write.
    prepared = max(number for number, line in enumerate(lines[:ready]) if "fsync(" in line) + 1

    def last(call, path):
        found = [
            number
            for number, line in enumerate(lines[:prepared])
            if re.search(r"%s\(\d+<%s>" % (call, re.escape(path)), line)
        ]
        assert found, (call, path)
        return found[-1]

    directory = os.path.realpath(place.dir) + "/new"
    for name in NAMES:
        assert last("write" if name == NAMES[-1] else "pwritev", directory + "/" + name) < last(
            "fsync", directory + "/" + name
        ), name
        created = next(
            number for number, line in enumerate(lines) if "O_EXCL" in line and '"' + name[:8] in line and name in line
        )
        assert created < last("fsync", directory), name
    for above in (directory, os.path.dirname(directory), os.path.dirname(os.path.dirname(directory))):
        assert last("fsync", above) < ready, above


@test
def killed_run_leaves_whole_files(place):
    process = place.start("--acknowledge", "--duration=60")
    lines = [process.stdout.readline()]
    while not lines[-1].startswith("ack") or int(lines[-1].split()[2]) <= 2 * RING:
        lines.append(process.stdout.readline())
    busy = remove(place)
    equal(busy.status, 2)
    contains(busy.err, "still runs")
    process.kill()
    out, err = process.communicate(timeout=PATIENCE_S)
    whole = "".join(lines + [out]).rpartition("\n")[0].splitlines()
    assert READY.match(whole[0]), whole[0]
    equal([line for line in whole if line.startswith("end")], [], "no line `end`")
    count = counts_of(whole)[1]
    found = written(place.dir, 1)
    assert 2 * RING < count <= found, (count, found, err)
    equal([os.path.getsize(os.path.join(place.dir, name)) for name in NAMES[:-1]], [FILE_BYTES] * FILES)
    equal(remove(place).out, "4 files removed\n")


@test
def end_is_said(place):
    process = place.start("--acknowledge", "--duration=60")
    while not process.stdout.readline().startswith("ack"):
        pass
    process.send_signal(signal.SIGTERM)
    result = place.finish(process)
    equal((result.status, result.out.splitlines()[-1]), (4, "end signal"), result.err)
    equal(sorted(os.listdir(place.dir)), NAMES, "left by design")
    equal(remove(place).status, 0)
    for inject, end, status in (
        ("pwritev:error=EIO:when=200", "end EIO", 3),
        ("pwritev:retval=512:when=200", "end SHORT_WRITE", 3),
    ):
        result = place.logdisk("--acknowledge", "--duration=60", before=strace(place, inject, calls="pwritev"))
        equal((result.status, result.out.splitlines()[-1]), (status, end), result.err)
        equal(
            counts_of(result.out.splitlines()),
            {1: int(result.all()["operations"])},
            "the write that failed does not count",
        )
        equal(remove(place).status, 0)
    result = place.logdisk("--acknowledge", "--duration=60", "--deadline=2")
    equal((result.status, result.out.splitlines()[-1]), (4, "end deadline"), result.err)


@test
def nothing_is_left_without_ready(place):
    """Incomplete files are useless, and were never reported as ready."""
    slow = strace(place, "pwritev:delay_enter=1000000", calls="pwritev,openat")
    process = subprocess.Popen(
        slow + place.command("--acknowledge", "--duration=60"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        start_new_session=True,
    )
    until(lambda: NAMES[-1] in os.listdir(place.dir), "it makes files", process)
    with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as children:
        os.kill(int(children.read().split()[0]), signal.SIGTERM)
    result = place.finish(process)
    equal((result.status, result.out), (4, ""), result.err)
    equal(os.listdir(place.dir), [])
    failing = place.logdisk(
        "--acknowledge", "--duration=1", before=strace(place, "fsync:error=EIO:when=5", calls="fsync")
    )
    equal((failing.status, failing.out), (3, ""), failing.err)
    contains(failing.err, "cannot sync " + place.dir)
    equal(os.listdir(place.dir), [])


@test
def slow_reader_never_blocks_a_writer(place):
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, 1031, 4096)  # F_SETPIPE_SZ
    process = subprocess.Popen(
        place.command("--acknowledge", "--duration=3", "--qm=4", "--createDirs", dir=place.dir + "/q"),
        stdout=write_end,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    os.close(write_end)
    until(lambda: holds(place.tables + "/run.csv", "complete,"), "the result is complete", process)
    with os.fdopen(read_end) as stream:
        lines = stream.read().splitlines()
    result = place.finish(process)
    equal((result.status, lines[-1]), (0, "end time"), result.err)
    equal(
        counts_of(lines),
        {int(row["worker"]): int(row["operations"]) for row in result.rows("results.csv") if row["worker"] != "all"},
    )
    assert len(lines) < 1500, "as if it had been read"
    assert "0" not in [row["operations"] for row in result.rows("intervals.csv")], "a second without a write"
    for queue_manager in range(1, 5):
        equal(remove(place, dir="%s/q%d" % (place.dir, queue_manager)).status, 0)


@test
def reader_that_never_reads_loses_the_end(place):
    """The tester waits for the reader until the deadline, but no longer."""
    read_end, write_end = os.pipe()
    size = fcntl.fcntl(write_end, 1031, 4096)  # F_SETPIPE_SZ
    os.write(write_end, b"x" * size)
    command = place.command("--acknowledge", "--duration=1", "--deadline=4")
    done = subprocess.run(
        command, stdout=write_end, stderr=subprocess.PIPE, universal_newlines=True, timeout=PATIENCE_S
    )
    for end in (read_end, write_end):
        os.close(end)
    assert done.returncode in (2, 4), done.stderr  # 4: the machine was too slow to measure before the deadline
    contains(done.stderr, "the end of the acknowledgements could not be written: nothing takes it")
    equal(Result(done.returncode, "", done.stderr, place.tables).run()["complete"], "1")


@test
def reader_that_has_gone_ends_the_run(place):
    process = place.start("--acknowledge", "--duration=60")
    while not process.stdout.readline().startswith("ack"):
        pass
    process.stdout.close()
    err = process.stderr.read()
    equal(process.wait(timeout=PATIENCE_S), 4, err)
    contains(err, "nothing reads the acknowledgements any more", "Broken pipe")
    result = Result(4, "", err, place.tables)
    contains(warnings(consistent(result)), "nothing reads the acknowledgements")
    equal(sorted(os.listdir(place.dir)), NAMES, "left by design")


@test
def acknowledge_refuses(place):
    for options, part in (
        (["--workload=commit", "--apps=1", "--msgSize=2K"], "--acknowledge is not for --workload=commit"),
        (["--stream=name=db,pattern=random,size=8K"], "--acknowledge is not for --workload=streams"),
        (["--bsize=4K,8K"], "one block size and one load point"),
        (["--qm=1,2"], "one block size and one load point"),
        (["--bsize=512"], "a multiple of 4096"),
        (["--alignment=512"], "an alignment of 4096"),
        (["--sync=none"], "try --sync=dsync"),
        (["--filePrefix=a b"], "--filePrefix='a b' is not allowed"),
        (["--tables=-"], "--tables=- is not allowed"),
        (["--fileSize=4K", "--numFiles=1"], "room for one block"),
        (["--bsize=36K", "--fileSize=64K", "--numFiles=1"], "room for one block"),
    ):
        result = place.logdisk("--acknowledge", "--duration=1", *options)
        equal(result.status, 1, result.err)
        contains(result.err, part)
    master, slave = pty.openpty()
    command = place.command("--acknowledge", "--duration=1")
    terminal = subprocess.run(
        command, stdout=slave, stderr=subprocess.PIPE, universal_newlines=True, timeout=PATIENCE_S
    )
    for end in (master, slave):
        os.close(end)
    refused(place, Result(terminal.returncode, "", terminal.stderr, place.tables), "standard output is a terminal")
    same = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=PATIENCE_S
    )
    refused(place, Result(same.returncode, "", same.stdout, place.tables), "are the same file")
    for name in NAMES[1], NAMES[-1]:
        write(place.path + "/victim", "precious")
        os.symlink(place.path + "/victim", os.path.join(place.dir, name))
        refused(place, place.logdisk("--acknowledge", "--duration=1"), "already ")
        equal((os.listdir(place.dir), read(place.path + "/victim")), ([name], "precious"))
        os.unlink(os.path.join(place.dir, name))


@test
def only_marked_files_are_removed(place):
    equal(place.logdisk("--acknowledge", "--duration=1", "--qm=2", "--createDirs", dir=place.dir + "/q").status, 0)
    file, mark = place.dir + "/q2/mqldt_testfile.0001", place.dir + "/q2/mqldt_testfile.acknowledge"
    aside = place.path + "/aside"
    write(place.dir + "/q1/mqldt_testfile.0003", "not of the run")

    def refuses(*parts):
        before = [sorted(os.listdir(place.dir + name)) for name in ("/q1", "/q2")]
        result = remove(place, "--qm=2", dir=place.dir + "/q")
        equal((result.status, result.out), (2, ""), result.err)
        contains(result.err, *parts)
        equal([sorted(os.listdir(place.dir + name)) for name in ("/q1", "/q2")], before, "no file is removed")

    for path, part in ((file, "is not a file that the test made"), (mark, "is not a mark of --acknowledge")):
        os.rename(path, aside)
        os.symlink(aside, path)
        refuses(path, part)
        os.unlink(path)
        os.link(aside, path)
        refuses(path, part)
        os.unlink(path)
        os.mkdir(path)
        refuses(path, part)
        os.rmdir(path)
        os.rename(aside, path)
    os.truncate(file, FILE_BYTES + 1)
    refuses(file, "larger")
    text = read(mark)
    for wrong in (
        "",
        text[:-1],
        text + "x",
        text.replace("files=3", "files=03"),
        text.replace("prefix=", "prefix=../"),
        text.replace("_testfile", "_other"),
    ):
        write(mark, wrong)
        refuses(mark, "is not a mark")
    write(mark, text)
    os.truncate(file, 100)
    os.unlink(place.dir + "/q2/mqldt_testfile.0002")
    result = remove(place, "--qm=2", dir=place.dir + "/q")
    equal((result.status, result.out), (0, "7 files removed\n"), result.err)
    equal([os.listdir(place.dir + name) for name in ("/q1", "/q2")], [["mqldt_testfile.0003"], []])
    equal(remove(place, dir=place.dir + "/none").status, 2)
