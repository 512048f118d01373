# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Standard output and standard error: text, numbers, terminals, pipes, and streams that cannot be written to."""

import contextlib
import fcntl
import os
import pty
import re
import shutil
import signal
import subprocess
import time

from support import (
    LOGDISK,
    PATIENCE_S,
    RUN_ID,
    Result,
    consistent,
    contains,
    equal,
    holds,
    mounted,
    read,
    root_test,
    strace,
    test,
    until,
    wait_until_measuring,
    write,
)


def read_all(master):
    """Everything that a terminal shows until its last user has closed it."""
    seen = b""
    with contextlib.suppress(OSError):
        while True:
            part = os.read(master, 4096)
            if not part:
                break
            seen += part
    return seen


def on_terminal(place, *options):
    """Returns the text that a run shows on a terminal."""
    shutil.rmtree(place.tables, ignore_errors=True)
    master, slave = pty.openpty()
    process = subprocess.Popen(place.command(*options), stdout=slave, stderr=slave, stdin=subprocess.DEVNULL)
    os.close(slave)
    seen = read_all(master)
    process.wait()
    os.close(master)
    return seen.decode()


@test
def screen_plain_and_live(place):
    result = place.logdisk("--duration=2", "--bsize=128K")
    contains(
        result.out,
        "Write blocksize             (--bsize)              : 128K",
        "Executing test for write blocksize 131072 (128K), 1 queue manager. Seconds elapsed -> 2/2\n",
        "Total writes to files",
        "Max bytes/sec written to files (over 1 sec interval)",
        "Avg latency of write (ns)",
    )
    assert "\r" not in result.out
    writes = re.search(r"Total writes to files +: +([\d,]+)", result.out).group(1)
    equal(writes, result.all()["operations"], "no thousands separators in the C locale")
    contains(on_terminal(place, "--duration=2"), "Seconds elapsed -> 1/2\r", "-> 2/2\r")


def microseconds(ns):
    return (ns + 500) // 1000


def rows_by_tables(seconds, every):
    """Returns the rows of --monitor, computed from intervals.csv: a partial second at the end joins the last row."""
    whole = sum(second["partial"] == "0" for second in seconds)
    rows = []
    for begin in range(0, whole, every):
        end = begin + every if begin + every < whole else len(seconds)
        (count, longest, dummy, mean), step = figures(seconds[begin:end]), figures(seconds[:end])
        rows.append((min(end, whole), count, *step, longest, mean))
    return rows


def figures(seconds):
    """Count, maximum, minimum and mean of some seconds, the times in microseconds."""
    seconds = [second for second in seconds if int(second["operations"])]
    count = sum(int(second["operations"]) for second in seconds)
    mean = sum(int(second["latency_sum_ns"]) for second in seconds) // count
    longest = max(int(second["latency_max_ns"]) for second in seconds)
    return (
        count,
        microseconds(longest),
        microseconds(min(int(second["latency_min_ns"]) for second in seconds)),
        microseconds(mean),
    )


@test
def monitor_agrees_with_the_tables(place):
    """For all queue managers together, in each step; a long write in the third second or later increases the
    maximum."""
    before = strace(place, "pwritev:delay_enter=300000:when=350", calls="pwritev")
    result = place.logdisk(
        "--duration=5", "--monitor=2", "--qm=2", "--bsize=4K,8K", "--delay=8000", "--createDirs", before=before
    )
    equal(result.status, 0, result.err)
    steps = result.out.split("Seconds   2s Count        Total    MaxTime  MinTime  AvgTime     2s Max   2s Avg\n")[1:]
    equal(len(steps), 2, result.out)
    for number, text in enumerate(steps, 1):
        seconds = [row for row in result.rows("intervals.csv") if row["step"] == str(number)]
        rows = [tuple(map(int, line.split())) for line in re.findall(r"^ +\d+(?: +\d+){7}$", text, re.MULTILINE)]
        equal(rows, rows_by_tables(seconds, 2), "rows of step %d" % number)
        bars = re.findall(r"^ *([\d.]+) - +([\d.]+) +(\d+) +[\d.]+%(?:  =+)?$", text, re.MULTILINE)
        equal(sum(int(count) for _, _, count in bars), rows[-1][2], "operations in the histogram")
        buckets = [row for row in result.rows("histogram.csv") if row["step"] == str(number)]
        for low, high, count in bars:
            exact = [
                int(b["operations"])
                for b in buckets
                if float(low) * 1000 <= int(b["latency_upper_ns"]) < float(high) * 1000 * 1.008
            ]
            assert 0 < int(count) <= sum(exact), (low, high, count)
    grown = re.search(
        r"^Maximum increased from (\d+) to (\d+) us in second (\d+), at (\d\d):(\d\d):(\d\d) UTC$",
        steps[0],
        re.MULTILINE,
    )
    second = result.rows("intervals.csv")[int(grown.group(3)) - 1]
    equal(int(grown.group(2)), microseconds(int(second["latency_max_ns"])), grown.group(0))
    assert int(grown.group(1)) < 300000 <= int(grown.group(2)), grown.group(0)
    hours, minutes, at = (int(part) for part in grown.groups()[3:])
    begin = int(float(result.all()["start_time_epoch_s"])) + int(second["second"]) - 1
    equal((hours * 60 + minutes) * 60 + at, begin % 86400, grown.group(0))


@test
def monitor_replaces_the_live_line(place):
    """A write that ends after the last second is added to the row of that second."""
    seen = on_terminal(place, "--duration=2", "--monitor=1")
    contains(seen, "Seconds elapsed -> 0/2\r\nSeconds   1s Count", "Seconds elapsed -> 2/2\r\n")
    assert "-> 1/2" not in seen, seen
    equal(re.findall(r"^ +(\d)(?: +\d+){7}\r$", seen, re.MULTILINE), ["1", "2"], seen)


@test
def numbers_are_grouped_as_the_locale_does(place):
    """This applies only to the screen: output for programs keeps its decimal points."""
    write(
        place.path + "/numeric",
        'LC_NUMERIC\ndecimal_point "<U002C>"\nthousands_sep "<U00A0>"\ngrouping 3;2\nEND LC_NUMERIC\n',
    )
    compiled = ["localedef", "-c", "-i", place.path + "/numeric", "-f", "UTF-8", place.path + "/indian.utf8"]
    equal(
        subprocess.run(compiled, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode,
        1,
        "no warning of missing categories",
    )
    locale = ["env", "LOCPATH=" + place.path, "LC_ALL=indian.utf8"]
    result = place.logdisk("--duration=1", "--fileSize=4M", before=locale)
    equal(result.status, 0, result.err)
    contains(result.out, "preformatting): 1\u00a025\u00a082\u00a0912 bytes in 0.")
    consistent(result)


@test
def names_are_harmless_for_a_terminal(place):
    for name in ("\x1b[2J\nlogdisk: all is well", "\u009b31m", "\udcff"):
        for options in (["--createDirs"], []):
            command = [LOGDISK, "--bsize=4K", "--duration=1", "--runId=" + RUN_ID, "--dir=" + place.dir + "/" + name]
            result = subprocess.run(
                command + options, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE_S
            )
            for stream in (result.stdout, result.stderr):
                assert not re.search(
                    rb"[\x00-\x09\x0b-\x1f\x7f\xff]|\xc2[\x80-\x9f]|^logdisk: all", stream, re.MULTILINE
                ), stream
            equal(result.returncode, 0 if options else 2, result.stderr)
    usage = subprocess.run([LOGDISK, "--bsize=\x1b[2J"], stderr=subprocess.PIPE)
    equal(usage.returncode, 1)
    contains(usage.stderr, b"\\x1B[2J")


@test
def closed_standard_streams(place):
    """No output for the screen gets into tables or test files."""

    def close_all():
        for fd in (0, 1, 2):
            os.close(fd)

    shutil.rmtree(place.tables, ignore_errors=True)
    done = subprocess.run(
        place.command("--duration=1", "--keepFiles"), preexec_fn=close_all, timeout=PATIENCE_S, close_fds=True
    )
    result = Result(done.returncode, "", "", place.tables)
    equal(result.status, 0)
    consistent(result)
    for folder in (place.tables, place.dir):
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            assert b"Executing test" not in data and b"Creating files" not in data, name


@test
def parent_and_output_gone(place):
    read, write = os.pipe()
    process = subprocess.Popen(place.command("--duration=2"), stdout=write, stderr=write, start_new_session=True)
    os.close(write)
    os.close(read)
    process.wait(timeout=PATIENCE_S)
    result = Result(process.returncode, "", "", place.tables)
    equal(result.status, 0)
    consistent(result)


@test
def pipe_that_nobody_reads(place):
    """If standard output is a full pipe, the run still ends at its deadline or on a signal, with all tables."""
    for end in ("deadline", "interrupted"):
        shutil.rmtree(place.tables, ignore_errors=True)
        reader, writer = os.pipe()
        try:
            size = fcntl.fcntl(writer, 1031, 4096)  # F_SETPIPE_SZ
            os.write(writer, b"x" * size)
            process = subprocess.Popen(
                place.command(
                    "--duration=60",
                    "--deadline=%d" % (3 if end == "deadline" else 50),
                    "--progress=" + place.path + "/" + end,
                ),
                stdout=writer,
                stderr=subprocess.PIPE,
                universal_newlines=True,
            )
            if end == "interrupted":
                until(lambda: holds(place.path + "/interrupted", "state=measuring"), "it measures", process)
                time.sleep(1)
                process.send_signal(signal.SIGTERM)
            result = place.finish(process)
        finally:
            os.close(reader)
            os.close(writer)
            process.kill()
        equal(result.status, 4, result.err)
        equal(consistent(result)["exit_reason"], end)
        assert int(result.all()["operations"]) > 0
        contains(result.err, "cannot write to standard output")


@test
def reader_that_has_gone(place):
    """If nobody reads the only result, the run fails. If there is another result, it does not matter."""
    only = [word for word in place.command("--duration=1") if not word.startswith("--tables=")]
    for command, status in ((only, 2), ([*only, "--json"], 2), (place.command("--duration=1"), 0)):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, universal_newlines=True, timeout=120)
        finally:
            os.close(writer)
        equal(done.returncode, status, done.stderr)
        equal("cannot write to standard output: Broken pipe" in done.stderr, status == 2)


@test
def stopped_terminal(place):
    """Ctrl-S delays neither the run nor its tables; after Ctrl-Q, the complete text appears."""
    master, slave = pty.openpty()
    os.write(master, b"\x13")
    process = subprocess.Popen(
        place.command("--duration=2", "--bsize=4K,8K"), stdout=slave, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    os.close(slave)
    try:
        place.wait_for("run.csv", "complete,1", process)
        consistent(Result(None, "", "", place.tables))
        equal(process.poll(), None, "waits for the terminal")
        os.write(master, b"\x11")
        seen = read_all(master)
        process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        os.close(master)
    equal((process.returncode, seen.count(b"Passes over the test files")), (0, 2))


@root_test
def screen_in_a_file_on_the_file_system_under_test(place):
    """Writing to it would disturb the test, so its text is written after the tables."""
    with mounted(place) as point, open(point + "/screen", "w") as screen:
        process = subprocess.Popen(
            place.command("--duration=2", "--progress=" + place.path + "/progress", dir=point),
            stdout=screen,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
        wait_until_measuring(place, process)
        time.sleep(0.5)
        equal(read(point + "/screen"), "", "while it measures")
        result = place.finish(process)
        equal(result.status, 0, result.err)
        consistent(result)
        contains(read(point + "/screen"), "Options (specified", "Passes over the test files")


@test
def slow_reader_gets_everything(place):
    """All screen output is delivered, no matter how late it is read."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, 1031, 4096)
    process = subprocess.Popen(
        place.command("--duration=1", "--bsize=4K,8K,12K,16K"), stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    try:
        place.wait_for("run.csv", "complete,1", process)
        time.sleep(4)
        with os.fdopen(reader) as file:
            out = file.read()
        process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    equal(process.returncode, 0)
    equal(out.count("Passes over the test files"), 4)
    assert out.endswith("\n\n"), out[-100:]


@test
def unwritable_screen(place):
    """If nothing else was requested, the screen output is the only result."""
    command = [LOGDISK, "--dir=" + place.dir, "--bsize=4K", "--duration=1", "--runId=" + RUN_ID]
    for options, status in (([], 2), (["--csvFile=" + place.path + "/m.csv"], 0), (["--tables=" + place.tables], 0)):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                command + options, stdout=full, stderr=subprocess.PIPE, universal_newlines=True, timeout=PATIENCE_S
            )
        equal(done.returncode, status, done.stderr)
        contains(done.stderr, "cannot write to standard output: No space left")


@test
def completion_for_bash(place):
    """Words are completed to the options of the program itself, and values to files or to the known ones."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "completion", "logdisk.bash")
    for words, wanted in (
        (["--dur"], "--duration="),
        (["--mon"], "--monitor"),
        (["--js"], "--json"),
        (["--sync", "=", "fd"], "fdatasync"),
        (["--dir", place.path + "/d"], place.path + "/dir"),
    ):
        program = "source %s; compopt() { :; }; COMP_WORDS=(%s); COMP_CWORD=%d; _logdisk; echo ${COMPREPLY[*]}" % (
            script,
            " ".join([LOGDISK, *words]),
            len(words),
        )
        equal(subprocess.check_output(["bash", "-c", program], universal_newlines=True).strip(), wanted)
