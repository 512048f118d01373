#!/usr/bin/env python3
# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the tester and examines its behaviour: system calls, tables, refusals, and reactions to faults.

    run.py BUILD_DIR [NAME...]      runs all tests, or those whose file or function name contains one of NAME

Needs root (loop devices, mounts), strace, valgrind, e2fsprogs, xfsprogs, btrfs-progs and util-linux. A missing tool is
a failure, not a skip; LOGDISK_TEST_UNPRIVILEGED=1 leaves out the tests that need root. Mounts, loop devices and
processes are removed at the end, even after a failure. A test that fails is repeated, unless a sanitizer or valgrind
found something; each failed attempt is shown. Ends with "N passed, N failed".
"""

import concurrent.futures
import importlib
import os
import re
import shutil
import signal
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = sys.argv[2:]
ATTEMPTS = 3
# Failures that a busy machine cannot explain: the findings of sanitizers and valgrind.
FINAL = re.compile(r"Sanitizer|runtime error|==\d+==")
# Writers have separate descriptor tables, and ThreadSanitizer mistakes equal numbers for the same descriptor.
os.environ["TSAN_OPTIONS"] = "suppressions=" + os.path.join(os.path.dirname(HERE), "tsan.supp")


def require_tools(unprivileged):
    missing = [
        tool
        for tool in ("strace", "valgrind", "losetup", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "fsfreeze", "mount")
        if not shutil.which(tool)
    ]
    if missing:
        sys.exit(
            "run.py: missing on this machine: %s (Debian: strace valgrind mount e2fsprogs xfsprogs btrfs-progs "
            "util-linux locales)" % " ".join(missing)
        )
    if os.geteuid() != 0 and not unprivileged:
        sys.exit("run.py: needs root for loop devices and mounts; LOGDISK_TEST_UNPRIVILEGED=1 leaves those tests out")


def run_test(place, function, attempt=1):
    """Returns the error of a test, or None if it passed."""
    started = time.time()
    try:
        function(place(function.__name__ + (".%d" % attempt if attempt > 1 else "")))
    except Exception as error:
        lines = " > ".join(
            "%s:%d" % (os.path.basename(frame.filename), frame.lineno)
            for frame in traceback.extract_tb(error.__traceback__)[1:]
        )
        print(
            "FAILED: %s, attempt %d (%s): %s: %s" % (function.__name__, attempt, lines, type(error).__name__, error),
            flush=True,
        )
        return error
    if NAMES or os.environ.get("VERBOSE"):
        print("passed: %s (%.1f s)" % (function.__name__, time.time() - started), flush=True)
    return None


def main():
    unprivileged = os.environ.get("LOGDISK_TEST_UNPRIVILEGED") == "1"
    require_tools(unprivileged)
    os.umask(0o022)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:  # for example under nohup; the tester would inherit this
            signal.signal(number, signal.SIG_DFL)
    import support

    try:
        support.prepare()
        for name in sorted(os.listdir(HERE)):
            if name.startswith("test_") and name.endswith(".py"):
                importlib.import_module(name[:-3])
        chosen = [
            function
            for function, needs_root in support.TESTS
            if not (needs_root and unprivileged)
            and (not NAMES or any(name in "%s.%s" % (function.__module__, function.__name__) for name in NAMES))
        ]
        with concurrent.futures.ThreadPoolExecutor(max_workers=6) as pool:  # tests spend most of their time asleep
            errors = list(pool.map(lambda function: run_test(support.Place, function), chosen))
        # Other load can disturb a measurement, so failed tests are repeated with no other test running.
        for attempt in range(2, ATTEMPTS + 1):
            errors = [
                run_test(support.Place, function, attempt) if error and not FINAL.search(str(error)) else error
                for error, function in zip(errors, chosen)
            ]
    finally:
        support.cleanup()
    passed = errors.count(None)
    print("%d passed, %d failed" % (passed, len(errors) - passed))
    return 0 if errors and passed == len(errors) else 1


if __name__ == "__main__":
    sys.exit(main())
