# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial

from ansible_collections.mqops.logdisk.plugins.module_utils import _time_limit


def fail():
    raise OSError(5, "Input/output error")


def test_each_call_has_its_own_answer():
    answers = _time_limit.call_all([lambda: {"a": [1, "\udcff"]}, fail, lambda: "x" * 300000, lambda: os._exit(1)], 10)
    assert answers[0] == {"a": [1, "\udcff"]} and len(answers[2]) == 300000
    assert [str(answers[1]), str(answers[3])] == ["[Errno 5] Input/output error", "its process ended without an answer"]
    assert _time_limit.call_all([], 10) == []


def test_a_call_that_hangs_costs_neither_the_others_nor_more_than_the_limit():
    # Each would hang forever.
    hanging, answer, also_hanging = _time_limit.call_all([signal.pause, lambda: 3, signal.pause], 3)
    assert answer == 3
    assert str(hanging) == str(also_hanging) == "no answer within 3 s"


def test_nobody_who_waits_for_the_output_waits_for_a_call_that_hangs(tmp_path):
    """This process cannot be killed, so it looks like one that hangs in the kernel."""
    program = tmp_path / "program.py"
    program.write_text(
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "import os, signal, time\n"
        f"from {_time_limit.__name__.rpartition('.')[0]} import _time_limit\n"
        "def hang():\n    open('pid', 'w').write(str(os.getpid())); time.sleep(90)\n"
        "kill, os.kill = os.kill, lambda pid, number: None\n"
        "print(_time_limit.call_all([hang], 1)[0])\n"
    )
    begin_s = time.monotonic()
    done = subprocess.run([sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, check=True)
    waited_s = time.monotonic() - begin_s
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert done.stdout == "no answer within 1 s\n" and waited_s < 60


def test_what_is_done_too_late_is_undone_unless_it_is_still_awaited(tmp_path):
    def make(name, delay_s):
        time.sleep(delay_s)
        (tmp_path / name).mkdir()
        return name

    def undo(name):
        (tmp_path / name).rmdir()
        (tmp_path / f"{name}-undone").mkdir()

    hanging = [partial(make, f"hanging{number}", 3.5 + number / 10) for number in range(3)]
    answers = _time_limit.call_all([*hanging, partial(make, "late", 3), partial(make, "prompt", 0)], 2, undo)
    assert [str(answer) for answer in answers] == 4 * ["no answer within 2 s"] + ["prompt"]
    wanted = {"hanging0-undone", "hanging1-undone", "hanging2-undone", "late-undone", "prompt"}
    end_s = time.monotonic() + 120
    while {path.name for path in tmp_path.iterdir()} != wanted and time.monotonic() < end_s:
        time.sleep(0.05)
    assert {path.name for path in tmp_path.iterdir()} == wanted
