# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""--tables and --progress: files are complete or absent, and no other program's file is replaced."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import zlib

from support import (
    IN_MEMORY,
    LOGDISK,
    RUN_ID,
    consistent,
    contains,
    equal,
    read,
    refused,
    root_test,
    strace,
    test,
    tmpfs,
    traced,
    wait_until_measuring,
    write,
)


@test
def run_table_comes_last(place):
    """run.csv is given its name only after all other tables have been synced."""
    result = place.logdisk("--duration=1", before=strace(place, calls="renameat,renameat2,fsync"))
    equal(result.status, 0, result.err)
    calls = [re.search(r" (\w+)\(", line).group(1) for line in traced(place) if "renameat" in line or "fsync(" in line]
    equal(calls[-9:], ["fsync"] * 7 + ["renameat2", "fsync"])


@test
def run_table_of_another_origin_is_kept(place):
    """Another run.csv appears during the run; this also works on file systems that cannot rename without replacing."""
    for broken in ([], ["renameat2:error=EINVAL"]):
        shutil.rmtree(place.tables, ignore_errors=True)
        before = strace(place, *broken, calls="renameat,renameat2") if broken else []
        process = subprocess.Popen(
            before + place.command("--duration=1"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
        place.wait_for(".run.csv.tmp", "", process)
        write(place.tables + "/run.csv", "precious")
        result = place.finish(process)
        equal((result.status, read(place.tables + "/run.csv")), (2, "precious"), result.err)
        contains(read(place.tables + "/.run.csv.tmp"), "complete,1")
        contains(result.err, "cannot write run.csv: File exists")
        if broken:
            fine = place.logdisk("--duration=1", before=before)
            equal(fine.status, 0, fine.err)
            consistent(fine)
            equal([name for name in os.listdir(place.tables) if name.startswith(".")], [])


def without_tables(result, *missing):
    """Checks a run that measured but could not write some tables: the others exist, and run.csv names the missing
    ones."""
    equal(result.status, 2, result.err)
    run = result.run()
    equal(
        (run["complete"], run["tables_missing"], run["exit_status"], run["exit_reason"]),
        ("0", " ".join(missing), "2", "tables_missing"),
    )
    all_tables = [
        "batches.csv",
        "histogram.csv",
        "intervals.csv",
        "over.csv",
        "results.csv",
        "rounds.csv",
        "run.csv",
        "stalls.csv",
    ]
    equal(sorted(set(os.listdir(result.tables)) | set(missing)), all_tables)
    assert not any(os.path.exists(os.path.join(result.tables, name)) for name in missing), missing
    assert int(result.all()["operations"]) > 0
    return run


def first_complaint(process):
    """Returns the first line on standard error, except the warning about tmpfs."""
    return next(line for line in process.stderr if not IN_MEMORY.match(line))


@test
def table_that_cannot_be_written_costs_no_other(place):
    """A message immediately reports that a table is missing, while the run continues."""
    command = strace(place, "write:error=ENOSPC", calls="write") + ["-P", place.tables + "/histogram.csv"]
    process = subprocess.Popen(
        command + place.command("--bsize=4K,8K", "--duration=2"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    line = first_complaint(process)
    contains(line, "histogram.csv", "No space left", "measuring continues")
    equal(process.poll(), None, "still running")
    result = place.finish(process)
    run = without_tables(result, "histogram.csv")
    contains(run["exit_message"], "histogram.csv", "No space left")
    equal(run["steps_measured"], "2")


def fill(point):
    with contextlib.suppress(OSError), open(point + "/filler", "ab", buffering=0) as filler:
        while True:
            filler.write(b"x" * 4096)


@root_test
def full_file_system_of_the_tables(place):
    """The file system fills up while the run continues: small tables have space reserved from the start."""
    with tmpfs(place, "size=1m") as point:
        place.tables = point + "/tables"
        process = place.start("--bsize=4K,8K", "--duration=3", "--progress=" + place.path + "/progress")
        wait_until_measuring(place, process)
        fill(point)
        line = first_complaint(process)
        contains(line, "No space left", "measuring continues")
        equal(process.poll(), None, "still running")
        result = place.finish(process)
        run = result.run()
        equal((result.status, run["exit_status"], run["steps_measured"], run["complete"]), (2, "2", "2", "0"))
        contains(run["tables_missing"], "histogram.csv")
        equal(len(result.rows("results.csv")), 4)
        shutil.rmtree(place.tables)
        fill(point)
        refused(place, place.logdisk("--duration=1"), "--tables", "no space for results.csv", "No space left")


@test
def what_a_killed_run_left_aside_is_named(place):
    left = {
        "--progress=" + place.path + "/p": place.path + "/.p.tmp",
        "--tables=" + place.tables: place.tables + "/.run.csv.tmp",
    }
    os.mkdir(place.tables)
    for option, path in left.items():
        write(path, "")
        done = subprocess.run(
            [LOGDISK, "--dir=" + place.dir, "--bsize=4K", "--duration=1", "--runId=" + RUN_ID, option],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
        equal(done.returncode, 2, done.stderr)
        contains(done.stderr, path + " already exists", "remove it")
        equal(os.listdir(os.path.dirname(path)).count(os.path.basename(path)), 1)
        os.unlink(path)
    equal(os.listdir(place.tables), [])


@test
def progress_is_one_line(place):
    progress = os.path.join(place.path, "progress")
    process = place.start("--bsize=4K,16K", "--duration=1", "--progress=" + progress)
    wait_until_measuring(place, process)
    result = place.finish(process)
    equal(result.status, 0, result.err)
    with open(progress) as file:
        lines = file.read().splitlines()
    equal(len(lines), 1)
    pairs = dict(word.split("=") for word in lines[0].split(" "))
    equal((pairs["state"], pairs["percent"], pairs["error"], pairs["steps"]), ("finished", "100.0", "0", "2"))
    assert int(pairs["writes"]) > 0
    rows = [result.all(step) for step in (1, 2)]
    columns = ("block_size_bytes", "load_point", "latency_p99_ns", "latency_max_ns")
    equal(pairs["done"], ",".join(":".join(row[name] for name in columns) for row in rows))
    with open(progress, "w") as file:
        file.write("precious")
    refused = place.logdisk("--duration=1", "--progress=" + progress)
    equal(refused.status, 2)
    with open(progress) as file:
        equal(file.read(), "precious")


@test
def replaced_progress_file_keeps_its_mode(place):
    name = place.path + "/p"
    write(name, "state=finished\n")
    os.chmod(name, 0o600)
    result = place.logdisk("--duration=1", "--progress=" + name)
    equal(result.status, 0, result.err)
    equal(oct(os.stat(name).st_mode & 0o777), "0o600")


def printed_tables(screen):
    """Returns the tables that --tables=- printed among other lines, and the number of tables that it reported."""
    tables, name, count = {}, None, None
    for line in screen.splitlines(True):
        head = re.match(r"\|= (\S+) (\d+)(?: ([0-9a-f]{8}))?\n", line)
        if head and head.group(1) == "end":
            count = int(head.group(2))
        elif head:
            name = head.group(1)
            tables[name] = ("", int(head.group(2)), int(head.group(3), 16))
        elif line.startswith("|"):
            tables[name] = (tables[name][0] + line[1:].replace("\t", "\n"),) + tables[name][1:]
    for text, length, crc in tables.values():
        equal((len(text.encode()), zlib.crc32(text.encode())), (length, crc))
    return {name: text for name, (text, _length, _crc) in tables.items()}, count


@test
def tables_are_printed(place):
    """Only the tables are printed on standard output, with the same content as in files, and with their sizes and
    checksums. The rest is printed on standard error, with the summary last. No file is created."""
    run = place.logdisk("--bsize=4K,16K", "--duration=1", "--tables=-", "--seed=7")
    equal((run.status, {line[:1] for line in run.out.splitlines()}), (0, {"|"}), run.err)
    tables, count = printed_tables(run.out)
    names = [
        "results.csv",
        "intervals.csv",
        "histogram.csv",
        "stalls.csv",
        "rounds.csv",
        "over.csv",
        "batches.csv",
        "run.csv",
    ]
    equal((list(tables), count, os.path.exists(place.tables)), (names, 8, False))
    contains(
        tables["run.csv"], "key,value\n", "exit_status,0\n", "option_block_sizes_bytes,4096 16384\n", "complete,1\n"
    )
    os.makedirs(place.tables)
    for name, text in tables.items():
        write(os.path.join(place.tables, name), text)
    consistent(run)
    end = run.err.splitlines()[-5:]
    equal([line.split()[:3] for line in end[2:4]], [["4K", "1", "log"], ["16K", "1", "log"]])
    equal(
        (end[0].split(" ")[0], end[2].split()[4], end[4]), ("Summary", run.all()["operations"], "2 of 2 steps measured")
    )


@test
def printed_tables_of_a_run_that_was_stopped(place):
    process = place.start("--duration=60", "--tables=-", "--progress=" + place.path + "/progress")
    wait_until_measuring(place, process)
    process.terminate()
    run = place.finish(process)
    equal(run.status, 4, run.err)
    tables, count = printed_tables(run.out)
    equal((len(tables), count), (8, 8))
    contains(tables["run.csv"], "exit_reason,interrupted\n", "complete,1\n")
    contains(run.err, "1 of 1 steps measured\n")


@test
def tables_that_cannot_be_printed(place):
    """If there is not enough memory at the start, the run is refused. If it runs out later, the last line names the
    missing table. If nobody reads the output, the run fails."""
    refused(
        place,
        place.logdisk("--tables=-", before=strace(place, "memfd_create:error=ENOSYS", calls="memfd_create")),
        "--tables=-",
        "results.csv",
    )
    before = strace(place, "write:error=ENOSPC", calls="write") + ["-P", "/memfd:results.csv"]
    lost = place.logdisk("--duration=1", "--tables=-", before=before)
    tables, count = printed_tables(lost.out)
    equal((lost.status, "results.csv" in tables, count), (2, False, 7), lost.err)
    contains(tables["run.csv"], "tables_missing,results.csv\n", "complete,0\n")
    unread = place.logdisk(
        "--duration=1", "--tables=-", before=strace(place, "mmap:error=ENOMEM", calls="mmap") + ["-P", "/memfd:run.csv"]
    )
    equal((unread.status, printed_tables(unread.out)[1]), (2, None), unread.err)
    contains(
        unread.err,
        "cannot print run.csv: Cannot allocate memory",
        "the result was not printed in full",
    )
    for other in ((), ("--csvFile=" + place.path + "/result.csv",)):
        with open("/dev/full", "w") as full:
            process = subprocess.run(
                place.command("--duration=1", "--tables=-", *other),
                stdout=full,
                stderr=subprocess.PIPE,
                universal_newlines=True,
                timeout=120,
                stdin=subprocess.DEVNULL,
            )
        equal(process.returncode, 2, process.stderr)
        contains(process.stderr, "cannot write to standard output: No space left on device")


def without_tables_option(place, *options):
    """Returns a command line that names no directory for tables."""
    return [word for word in place.command(*options) if not word.startswith("--tables=")]


def print_document(place, *options):
    """Runs the tester with --json, and returns its status, the document, and what it printed on standard error."""
    done = subprocess.run(
        without_tables_option(place, "--json", *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, json.loads(done.stdout), done.stderr


@test
def document_has_the_tables(place):
    """The document of --json contains what the tables contain: a number is a number, an unknown value is null, 0/1 is
    false or true, and everything else is text."""
    units = {}
    for line in subprocess.check_output([LOGDISK, "--columns"], universal_newlines=True).splitlines()[1:]:
        table, name, unit = line.split(",")
        units[table[: -len(".csv")], name] = unit
    kinds = {"text": str, "0/1": (bool, type(None))}
    for options in (["--stream=name=a,pattern=random,size=4K,workers=2"], ["--bsize=4K,16K"]):
        status, document, err = print_document(place, *options, "--duration=1", "--createDirs", "--over=1us")
        equal((status, document.pop("schema")), (0, 1), err)
        contains(err, "2 of 2 steps measured" if len(options[0]) < 20 else "1 of 1 steps measured")
        run = document.pop("run")
        equal((run["complete"], run["exit_reason"]), (True, "measured"))
        for table, rows in document.items():
            for row in rows:
                for name, value in row.items():
                    wanted = kinds.get(units[table, name], (int, float, type(None)))
                    equal(isinstance(value, wanted), True, (table, name, value))
        equal(document["results"][0]["step"], 1)
    table = place.logdisk("--bsize=4K,16K", "--duration=1")
    equal(set(run), set(table.run()))
    equal(set(document["results"][0]), set(table.rows("results.csv")[0]))


@test
def document_of_hostile_names(place):
    """Names with quotes, backslashes, control characters and bytes that are not UTF-8 are valid in the document."""
    directory = os.path.join(place.path.encode(), b'q"uo\\te\n\x01\xff')
    os.makedirs(directory)
    words = [word for word in without_tables_option(place, "--json", "--duration=1") if not word.startswith("--dir=")]
    done = subprocess.run(words + [b"--dir=" + directory], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    equal(done.returncode, 0, done.stderr)
    contains(json.loads(done.stdout.decode())["run"]["directory_1"], 'q"uo\\te\\x0A\\x01\\xFF')


@test
def quiet_prints_only_the_result(place):
    done = subprocess.run(
        without_tables_option(place, "--json", "--quiet", "--duration=1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=120,
    )
    equal((done.returncode, IN_MEMORY.sub("", done.stderr), json.loads(done.stdout)["run"]["exit_status"]), (0, "", 0))
    nothing = subprocess.run(
        without_tables_option(place, "--quiet"), stderr=subprocess.PIPE, universal_newlines=True, timeout=60
    )
    equal(nothing.returncode, 1)
    contains(nothing.stderr, "--quiet: nothing would show the result; add --json, --tables or --csvFile")
    both = place.logdisk("--json")
    equal(both.status, 1)
    contains(both.err, "--json and --tables exclude each other")


@root_test
def memory_is_not_a_disk(place):
    with tmpfs(place, "size=64M") as memory:
        run = place.logdisk("--duration=1", dir=memory)
    equal(run.status, 0, run.err)
    contains(run.all_err, "is in memory (tmpfs), so the figures say nothing about a disk")
