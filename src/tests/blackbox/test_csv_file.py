# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""--csvFile: mqldt's table, written in place to whatever the name refers to."""

import os
import shutil
import signal
import subprocess
import time

from support import MQLDT, PATIENCE_S, consistent, contains, equal, read, refused, root_test, test, warnings, write


@test
def mqldt_table(place):
    path = os.path.join(place.path, "out.csv")
    result = place.logdisk("--duration=1", "--bsize=4K,64K", "--csvFile=" + path)
    equal(result.status, 0, result.err)
    with open(path) as file:
        lines = file.read().splitlines()
    equal(lines[0], MQLDT)
    equal([line.split(",")[0] for line in lines[1:]], ["4096", "65536"])
    row = result.all(1)
    equal(lines[1].split(",")[1:3], [row["operations"], row["bytes"]])
    equal(lines[1].split(",")[6:8], [row["latency_max_ns"], row["latency_min_ns"]])
    equal(int(lines[1].split(",")[8]), round(float(row["latency_mean_ns"])))


@test
def csv_file_is_what_mqldt_writes_to(place):
    """Written in place: links, mounts and the owner are kept, and a pipe and the screen work as well."""
    path, target, link = place.path + "/link.csv", place.path + "/target.csv", place.path + "/hard.csv"
    write(target, "old text, much longer than a row of results" * 100)
    os.chmod(target, 0o640)
    if os.geteuid() == 0:
        os.chown(target, 12, 34)
    os.symlink(target, path)
    os.link(target, link)
    before = os.stat(target)
    result = place.logdisk("--duration=1", "--csvFile=" + path)
    equal(result.status, 0, result.err)
    after = os.stat(link)
    for key in ("st_ino", "st_mode", "st_uid", "st_gid", "st_nlink"):
        equal(getattr(after, key), getattr(before, key), key)
    equal((os.path.islink(path), read(link).splitlines()[0]), (True, MQLDT))
    equal(len(read(link).splitlines()), 2)
    # Several queue managers: the rows are appended to the existing content.
    equal(place.logdisk("--duration=1", "--qm=2", "--createDirs", "--csvFile=" + path).status, 0)
    equal(read(link).splitlines()[2], "Running MQLDT over 2 Queue Managers")
    # The output can be a pipe with a reader, or the screen.
    pipe = place.path + "/pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, universal_newlines=True)
    result = place.logdisk("--duration=1", "--csvFile=" + pipe)
    equal(result.status, 0, result.err)
    contains(reader.communicate(timeout=PATIENCE_S)[0], MQLDT + "\n4096,")
    with open(place.path + "/screen", "w") as screen:
        shutil.rmtree(place.tables)
        subprocess.run(
            place.command("--duration=1", "--csvFile=/dev/stdout"), stdout=screen, check=True, timeout=PATIENCE_S
        )
    text = read(place.path + "/screen")
    assert text.index("Options (specified") < text.index("Total writes to files  ") < text.index(MQLDT + "\n4096,"), (
        text
    )
    assert "\0" not in text
    # An output that cannot be written is refused at the start, before anything is created or changed.
    for wrong in (place.dir, place.path + "/no/where.csv"):
        refused(place, place.logdisk("--duration=1", "--csvFile=" + wrong), "--csvFile=" + wrong, "cannot be written")
    refused(
        place,
        place.logdisk("--duration=1", "--csvFile=" + place.path + "/new.csv", dir=place.dir + "/none"),
        "does not exist",
    )
    equal(os.path.exists(place.path + "/new.csv"), False, "a refusal leaves a file")


@test
def csv_file_on_a_pipe_without_a_reader(place):
    pipe = place.path + "/pipe"
    os.mkfifo(pipe)
    process = place.start("--duration=1", "--csvFile=" + pipe)
    place.wait_for("run.csv", "complete,1", process)
    with open(pipe) as file:
        contains(file.read(), MQLDT + "\n4096,")
    result = place.finish(process)
    equal(result.status, 0, result.err)
    contains(warnings(result.run()), "nobody reads --csvFile=" + pipe)
    process = place.start("--duration=1", "--csvFile=" + pipe)
    place.wait_for("run.csv", "complete,1", process)
    process.send_signal(signal.SIGTERM)
    time.sleep(1.2)
    process.send_signal(signal.SIGTERM)
    result = place.finish(process)
    contains(result.err, "--csvFile")
    consistent(result)


@root_test
def csv_file_that_is_mounted(place):
    """A single file is mounted over the name, as container runtimes do. No other file can be renamed over it."""
    inner, outer = place.path + "/inner.csv", place.path + "/outer.csv"
    write(inner, "")
    write(outer, "")
    subprocess.check_call(["mount", "--bind", outer, inner])
    try:
        result = place.logdisk("--duration=1", "--csvFile=" + inner)
    finally:
        subprocess.check_call(["umount", inner])
    equal(result.status, 0, result.err)
    equal((read(inner), read(outer).splitlines()[0]), ("", MQLDT))


@test
def interrupt_before_the_first_result_keeps_the_csv_file(place):
    path = place.path + "/out.csv"
    for options in ([], ["--qm=2", "--createDirs"]):
        write(path, MQLDT + "\n4096,1,2,3,4,5,6,7,8,9,10\n")
        before = read(path)
        process = place.start(
            "--duration=1",
            "--csvFile=" + path,
            "--startAt=%.3f" % (time.time() + 60),
            *options,
            dir=place.dir + "/q" if options else place.dir,
        )
        place.wait_for(".run.csv.tmp", "", process)
        process.send_signal(signal.SIGTERM)
        result = place.finish(process)
        equal((result.status, read(path)), (4, before), result.err)
