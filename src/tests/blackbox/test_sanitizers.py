# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same program under the address, undefined-behaviour and thread sanitizers, and under valgrind."""

import contextlib
import os
import signal
import time

from support import BUILD, UNPRIVILEGED, consistent, equal, frozen, mounted, test, wait_until_measuring

CHECKED_RUNS = (
    ["--qm=3", "--createDirs", "--bsize=4K,64K", "--duration=1", "--warmup=1"],
    ["--rate=500", "--duration=1", "--monitor=1", "--sync=fdatasync", "--direct=no"],
    ["--duration=1", "--delay=100", "--keepFiles", "--backgroundThreads=1", "--cpu=0"],
    ["--duration=1", "--qm=1,2", "--createDirs", "--bsize=16K", "--verify"],
    ["--acknowledge", "--duration=1", "--warmup=1"],
    [
        "--workload=commit",
        "--apps=1,50",
        "--msgSize=2K",
        "--logBuffer=64K",
        "--tripleWrite",
        "--thinkTime=50",
        "--remoteDelay=100",
        "--duration=1",
    ],
)


@test
def sanitizers(place):
    for kind in ("asan", "tsan"):
        for number, options in enumerate(CHECKED_RUNS):
            result = place.logdisk(
                *options,
                dir="%s/%s%d" % (place.dir, kind, number) if "--createDirs" in options else place.dir,
                logdisk=os.path.join(BUILD, kind, "logdisk"),
            )
            assert "Sanitizer" not in result.err and "runtime error" not in result.err, result.err
            equal(result.status, 0, result.err)
            consistent(result)
            for name in os.listdir(place.dir):
                os.unlink(os.path.join(place.dir, name))
        process = place.start(
            "--duration=20", "--progress=%s/%s" % (place.path, "progress"), logdisk=os.path.join(BUILD, kind, "logdisk")
        )
        wait_until_measuring(place, process)
        process.send_signal(signal.SIGTERM)
        result = place.finish(process)
        assert "Sanitizer" not in result.err and "runtime error" not in result.err, result.err
        equal(result.status, 4, result.err)
        os.unlink(place.path + "/progress")


@test
def stalls_under_thread_sanitizer(place):
    """Main repeatedly takes over the slots of writers that hang in a call, and abandons one of the writers."""
    tsan = os.path.join(BUILD, "tsan", "logdisk")
    with contextlib.ExitStack() as stack:
        point = stack.enter_context(mounted(place)) if not UNPRIVILEGED else place.dir
        process = place.start(
            "--duration=4",
            "--deadline=8",
            "--qm=2",
            "--createDirs",
            "--progress=" + place.path + "/progress",
            dir=point + "/q",
            logdisk=tsan,
        )
        wait_until_measuring(place, process)
        for last in (False, False, True):
            if not UNPRIVILEGED:
                with frozen(point):
                    time.sleep(0.8 if not last else 7)
                time.sleep(0.2)
        result = place.finish(process)
        assert "Sanitizer" not in result.err, result.err
        equal(result.status, 0 if UNPRIVILEGED else 4, result.err)
        consistent(result)


@test
def valgrind(place):
    result = place.logdisk(
        "--qm=2",
        "--createDirs",
        "--duration=1",
        "--delay=1000",
        before=["valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "--track-origins=no"],
    )
    assert "==" not in result.err, result.err
    equal(result.status, 0, result.err)
    consistent(result)
