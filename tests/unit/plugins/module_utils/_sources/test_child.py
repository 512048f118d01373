# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils._sources import SourceError, child

LIMIT_S = 90
"""Far longer than any of these tests takes, so that no result depends on durations."""


def lines_of(script, limit_s=LIMIT_S, tick_s=LIMIT_S, **options):
    return child.lines_of(["/bin/sh", "-c", script], time.monotonic() + limit_s, tick_s, **options)


def wait_until(condition):
    end = time.monotonic() + LIMIT_S
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


def is_gone(pid):
    """True if a process has ended, even if it has not been reaped yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def test_the_lines_of_a_program_that_ends():
    script = "echo one; printf 'two\\r\\n'; printf '\\377\\n\\n'; echo $COLOUR; echo seen by nobody >&2; printf last"
    assert list(lines_of(script, environment={"COLOUR": "red"})) == ["one", "two", "�", "", "red", "last"]


def test_a_program_that_collects_its_output_writes_lines_to_a_terminal():
    script = "import time; print('one'); time.sleep(900)"
    lines = child.lines_of([sys.executable, "-c", script], time.monotonic() + LIMIT_S, LIMIT_S, terminal=True)
    assert next(lines) == "one"
    lines.close()
    assert list(lines_of("echo one; printf two", terminal=True)) == ["one", "two"]
    with pytest.raises(SourceError, match=r"^/bin/sh ended with status 3: no$"):
        list(lines_of("echo no; exit 3", terminal=True))


def test_ticks_pass_between_the_lines():
    lines = lines_of("echo one; sleep 90", tick_s=0.01)
    seen = [next(lines) for dummy in range(20)]
    lines.close()
    assert None in seen and {*seen} <= {None, "one"}


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo line; echo 'no such queue manager' >&2; exit 3", "/bin/sh ended with status 3: no such queue manager"),
        (
            "echo 'MQCONNX ended with reason code 2035'; echo; exit 1",
            "/bin/sh ended with status 1: MQCONNX ended with reason code 2035",
        ),
        ("kill -9 $$", "/bin/sh was killed by signal 9"),
        (
            "head -c 1100000 /dev/zero; sleep 90",
            "/bin/sh wrote a line of more than 1 MiB: it is not the expected program",
        ),
    ],
)
def test_a_program_that_fails_is_told_with_its_last_words(script, message):
    with pytest.raises(SourceError) as caught:
        list(lines_of(script))
    assert str(caught.value) == message


def test_a_program_that_does_not_exist():
    with pytest.raises(SourceError, match=r"^cannot start /no/such: No such file or directory$"):
        next(child.lines_of(["/no/such"], time.monotonic() + LIMIT_S, 1))


def test_the_whole_group_ends_with_the_reading(tmp_path):
    """A program that ignores SIGTERM is ended, and so are its background processes."""
    lines = lines_of("trap '' TERM; sleep 900 & echo $!; echo $$; while :; do sleep 900; done")
    pids = [next(lines), next(lines)]
    lines.close()
    for pid in pids:
        wait_until(lambda pid=pid: is_gone(pid))


def test_at_the_end_the_reading_ends_without_an_error():
    assert list(lines_of("echo one; exec sleep 900", limit_s=0.5)) in ([], ["one"])


def test_a_process_left_behind_neither_holds_the_reading_nor_survives_it():
    pid = next(line for line in [*lines_of("sleep 900 & echo $!")] if line)
    wait_until(lambda: is_gone(pid))


def test_a_program_ends_with_its_killed_reader(tmp_path):
    reader = (
        "import sys, time; from ansible_collections.mqops.logdisk.plugins.module_utils._sources import child\n"
        "for line in child.lines_of(['/bin/sh', '-c', 'echo $$; exec sleep 900'], time.monotonic() + 900, "
        "900): print(line, flush=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(
        [sys.executable, "-c", reader], stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
    ) as process:
        pid = process.stdout.readline().strip()
        assert pid and not is_gone(pid)
        os.kill(process.pid, signal.SIGKILL)
    wait_until(lambda: is_gone(pid))
