# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file system that freezes under the test files or under the tester's own files."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time

from support import (
    PATIENCE_S,
    Result,
    consistent,
    contains,
    equal,
    frozen,
    holds,
    mounted,
    read,
    root_test,
    until,
    wait_until_measuring,
    warnings,
)


@root_test
def frozen_file_system(place):
    for kind in ("ext4", "xfs"):
        with mounted(place, kind, size_mb=320 if kind == "xfs" else 64) as point:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(place.path + "/progress")
            process = place.start("--duration=3", "--deadline=6", "--progress=" + place.path + "/progress", dir=point)
            wait_until_measuring(place, process)
            time.sleep(1.2)
            with frozen(point):
                until(lambda: os.path.exists(place.tables + "/run.csv"), "complete tables")
                result = Result(None, "", "", place.tables)
                run = consistent(result)  # complete while the disk is still frozen
            status = place.finish(process).status
            equal((status, run["exit_status"], run["exit_reason"]), (4, "4", "deadline"))
            contains(run["in_flight_file"], point)
            row = result.all()
            equal((row["latency_max_in_flight"], row["latency_max_ns"]), ("1", run["in_flight_age_ns"]))
            equal(result.rows("stalls.csv")[0]["in_flight"], "1")
            assert int(row["operations"]) > 0
            equal([name for name in os.listdir(point) if name != "lost+found"], [], "left after the thaw")
        os.rmdir(place.path + "/mount")


@root_test
def frozen_in_the_warm_up(place):
    """All three tables contain the hanging write."""
    with mounted(place) as point:
        process = place.start("--duration=1", "--warmup=30", "--progress=" + place.path + "/progress", dir=point)
        until(lambda: holds(place.path + "/progress", "state=warmup"), "it warms up", process)
        with frozen(point):
            time.sleep(0.5)
            process.send_signal(signal.SIGTERM)
            place.wait_for("run.csv", "complete,1", process)
        result = place.finish(process)
    equal(result.status, 4, result.err)
    run, row = consistent(result), result.all()
    age = run["in_flight_age_ns"]
    equal((row["operations"], row["latency_max_in_flight"], row["latency_max_ns"]), ("0", "1", age))
    equal([(r["in_flight"], r["latency_ns"]) for r in result.rows("stalls.csv")], [("1", age)])


@root_test
def frozen_while_the_files_are_made(place):
    """The hanging file is named in the message, and no file appears after the thaw."""
    with mounted(place) as point:
        with frozen(point):
            process = place.start("--duration=1", "--deadline=2", dir=point)
            place.wait_for("run.csv", "complete,1", process)
        result = place.finish(process)
        equal(result.status, 4, result.err)
        contains(result.run()["exit_message"], "openat of %s/mqldt_testfile.0000 had been in flight" % point)
        time.sleep(0.2)
        equal(os.listdir(point), ["lost+found"], "left after the thaw")


@root_test
def frozen_for_a_while(place):
    """A stall that ends. Rows with 0 writes are printed during the stall, and then the run continues."""
    with mounted(place) as point:
        process = place.start("--duration=5", "--progress=" + place.path + "/progress", dir=point)
        wait_until_measuring(place, process)
        with frozen(point):
            time.sleep(2.3)
        result = place.finish(process)
        equal(result.status, 0, result.err)
        consistent(result)
        assert int(result.all()["latency_max_ns"]) > 2000000000
        assert "0" in [row["operations"] for row in result.rows("intervals.csv")]


@root_test
def one_frozen_disk_does_not_hold_up_the_figures_of_others(place):
    progress = place.path + "/progress"

    def writes():
        with open(progress) as file:
            return int(re.search(r"writes=(\d+)", file.read()).group(1))

    with mounted(place) as point:
        process = place.start("--duration=5", "--qm=2", "--progress=" + progress, dir=place.dir + "," + point)
        wait_until_measuring(place, process)
        with frozen(point):
            time.sleep(1.5)
            before = writes()
            time.sleep(1.5)
            after = writes()
        result = place.finish(process)
        equal(result.status, 0, result.err)
        consistent(result)
    assert after > before, "no second came out while one disk was frozen: %d writes, then %d" % (before, after)


@root_test
def own_files_on_the_frozen_disk(place):
    """Standard output, standard error and the progress file hang with the disk;
    deadline and signals still work."""
    with mounted(place) as point:
        for end in ("deadline", "interrupted"):
            shutil.rmtree(place.tables, ignore_errors=True)
            command = place.command(
                "--duration=60",
                "--deadline=%d" % (5 if end == "deadline" else 50),
                "--csvFile=" + point + "/m.csv",
                "--progress=" + point + "/progress",
                dir=point,
            )
            with open(point + "/screen", "w") as screen:
                process = subprocess.Popen(command, stdout=screen, stderr=screen)
            until(lambda: holds(point + "/progress", "state=measuring"), "it measures", process)
            subprocess.check_call(["fsfreeze", "-f", point])
            try:
                if end == "interrupted":
                    time.sleep(7.5)  # main has written to the screen by now
                    process.send_signal(signal.SIGTERM)
                until(lambda: os.path.exists(place.tables + "/run.csv"), "complete tables")
                run = consistent(Result(None, "", "", place.tables))
            finally:
                subprocess.check_call(["fsfreeze", "-u", point])
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=PATIENCE_S)
                process.kill()
            equal(process.wait(timeout=PATIENCE_S), 4, end)
            equal((run["exit_status"], run["exit_reason"]), ("4", end))
            contains(warnings(run), "--csvFile, --progress, standard output, standard error")
            assert "--tables" not in warnings(run), warnings(run)
            for name in ("progress", ".progress.tmp", ".m.csv.tmp", "screen"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(point, name))


@root_test
def tables_on_a_frozen_disk(place):
    """The measurement continues, the deadline and signals end the run, and the message and the exit status show that
    results are missing."""
    with mounted(place) as point:
        for number, (options, signals, status, text) in enumerate(
            (
                (["--duration=2", "--deadline=30"], 2, 2, "finished"),
                (["--duration=60", "--deadline=3"], 2, 4, "the deadline has passed"),
                (["--duration=60", "--deadline=30"], 3, 4, "interrupted by SIGTERM"),
            )
        ):
            place.tables = "%s/t%d" % (point, number)
            with open(place.path + "/err", "w") as err:
                process = subprocess.Popen(
                    place.command(*options, "--progress=" + place.path + "/progress"),
                    stdout=subprocess.DEVNULL,
                    stderr=err,
                )
            wait_until_measuring(place, process)
            with frozen(point):
                time.sleep(3.5)
                for _ in range(signals):
                    process.send_signal(signal.SIGTERM)  # one that comes a second later ends the wait for the results
                    time.sleep(1.2)
                until(
                    lambda: holds(place.path + "/err", "results were not written"), "a message that results are missing"
                )
                contains(read(place.path + "/err"), text if status == 4 else "")
            equal(process.wait(timeout=PATIENCE_S), status, text)
            os.unlink(place.path + "/progress")


@root_test
def disk_frozen_before_the_start(place):
    with mounted(place) as point:
        subprocess.check_call(["fsfreeze", "-f", point])
        with open(place.path + "/err", "w") as err:
            process = subprocess.Popen(
                place.command("--duration=1", "--deadline=2", "--csvFile=" + point + "/m.csv", dir=point),
                stdout=subprocess.DEVNULL,
                stderr=err,
            )
        try:
            until(lambda: holds(place.path + "/err", "the deadline has passed"), "a message of the deadline")
        finally:
            subprocess.check_call(["fsfreeze", "-u", point])
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=PATIENCE_S)
            process.kill()
        equal(process.wait(timeout=PATIENCE_S), 4)
