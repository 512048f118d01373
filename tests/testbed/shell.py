# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs tools of the machine, and waits for their effects."""

import subprocess
import time
from collections.abc import Callable


class TestbedError(Exception):
    """A failure of the test bed, in one sentence."""

    __test__ = False  # tells pytest that this is not a test, although its name begins like one


def run(*command: str, stdin: str = "") -> str:
    """Return what the command prints; if it fails, raise its message as an error."""
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TestbedError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip() or done.returncode}")
    return done.stdout


def attempt(*command: str) -> bool:
    """Run a command that may fail, such as one that removes something that may not exist."""
    return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False).returncode == 0


def wait_for(condition: Callable[[], object], what: str, timeout_s: float = 300.0) -> None:
    """Wait until the condition is true. The time limit is only for hopeless cases, and is not the expected duration."""
    end = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end:
            raise TestbedError(f"waited {timeout_s:g} s in vain: {what}")
        time.sleep(0.02)
