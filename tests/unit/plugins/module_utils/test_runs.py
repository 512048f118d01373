# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _runs

RUN = "20261121T104935Z-1f0c2a"


@pytest.fixture
def run(tmp_path):
    run = _runs.Run(str(tmp_path / "state"), RUN, "log")
    run.create()
    return run


def sleeper(*arguments, stubborn=False):
    code = (
        "import signal,sys,time\n"
        + ("signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" if stubborn else "")
        + "print(1, flush=True)\ntime.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE)
    process.stdout.read(1)
    return process


def reap(process):
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_new_run_has_a_private_directory(run):
    assert os.stat(run.path).st_mode & 0o777 == 0o700 and run.exists() and run.state() == "dead"


@pytest.mark.parametrize("run_id", ["", "../x", "a/b", ".hidden", "a b", "a\n", "a" * 118])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, run_id):
    with pytest.raises(_runs.RunError):
        _runs.Run(str(tmp_path), run_id, "log")


def test_states_of_a_run(run, tmp_path):
    assert _runs.Run(str(tmp_path), RUN, "other").state() == "absent"
    process = sleeper("--tables=" + run.tables_path)
    try:
        assert run.state() == "running" and run.processes() == [process.pid]
        open(os.path.join(run.tables_path, "run.csv"), "w").close()
        assert run.state() == "finished"
    finally:
        reap(process)


def test_a_tester_without_tables_is_found_by_the_argument_that_its_start_recorded(run):
    run.write_start({"tester_argument": "--runId=R9"})
    process = sleeper("--runId=R9")
    try:
        assert run.state() == "running" and run.processes() == [process.pid]
        run.ask_to_end(signal.SIGKILL)
        assert process.wait(timeout=120) == -signal.SIGKILL
    finally:
        reap(process)


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_tester_is_ended_even_where_it_does_not_listen(run, stubborn):
    process = sleeper("--tables=" + run.tables_path, stubborn=stubborn)
    waiter = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import os,sys,time\nwhile os.path.exists('/proc/%s/cmdline' % sys.argv[1]): time.sleep(0.05)",
            str(process.pid),
        ]
    )
    try:
        end = time.time() + 120
        while run.processes() and time.time() < end:
            _runs.terminate([run], 0.2)
            process.poll()
        assert process.wait(timeout=120) != 0
    finally:
        reap(process)
        waiter.kill()
        waiter.wait()


def test_the_supervisor_outlives_the_tester(run):
    supervisor = sleeper(run.path, "--tables=" + run.tables_path)
    tester = sleeper("--tables=" + run.tables_path)
    try:
        run.ask_to_end(signal.SIGKILL)
        assert tester.wait(timeout=120) == -signal.SIGKILL
        assert supervisor.poll() is None
    finally:
        reap(supervisor)
        reap(tester)


def test_a_detached_process_has_a_session_of_its_own_and_only_the_lock(run, tmp_path):
    noise = os.open(str(tmp_path), os.O_RDONLY)
    os.set_inheritable(noise, True)
    lock = run.lock()
    # The process stops itself, so that it can be inspected.
    pid = _runs.detach(["/bin/sh", "-c", "kill -STOP $$", "sh", run.path], lock)
    try:
        assert os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])
        assert run.processes() == [pid]
        assert os.getsid(pid) == pid and os.readlink("/proc/%d/cwd" % pid) == "/"
        links = [os.readlink("/proc/%d/fd/%s" % (pid, name)) for name in os.listdir("/proc/%d/fd" % pid)]
        assert sorted(set(links)) == sorted(["/dev/null", os.path.join(run.state_dir, "lock")])
        os.close(lock)
        with pytest.raises(_runs.RunError):
            run.lock()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(noise)
    os.close(run.lock())


def test_a_second_name_of_the_same_machine_is_told_so(run):
    descriptor = run.lock()
    for act in (run.create, _runs.Run(run.state_dir, run.run_id, "data").lock):
        with pytest.raises(_runs.RunError, match="under another name:"):
            act()
    os.close(descriptor)


def test_the_lock_names_its_holder(run):
    descriptor = run.lock()
    with pytest.raises(_runs.RunError, match=RUN):
        _runs.Run(run.state_dir, "other", "log").lock()
    os.close(descriptor)
    os.close(run.lock())


@pytest.mark.parametrize("text, status", [("0\n", 0), ("137\n", 137), ("", None), ("x", None), ("99999", None)])
def test_the_exit_status_is_what_the_supervisor_noted(run, text, status):
    with open(os.path.join(run.path, "exit"), "w") as stream:
        stream.write(text)
    assert run.exit_status() == status


def test_only_a_marked_state_is_removed(run):
    assert [other.path for other in _runs.runs_below(run.state_dir)] == [run.path]
    os.mkdir(os.path.join(run.state_dir, "runs", "foreign-log"))
    assert len(_runs.runs_below(run.state_dir)) == 1
    assert run.remove() and not run.remove()
    assert os.listdir(os.path.join(run.state_dir, "runs")) == ["foreign-log"]


@pytest.mark.parametrize("mode, refused", [(0o700, False), (0o755, False), (0o775, True), (0o777, True)])
def test_a_state_directory_that_others_can_change_is_refused(tmp_path, mode, refused):
    path = tmp_path / "state"
    path.mkdir()
    path.chmod(mode)
    if refused:
        with pytest.raises(_runs.RunError, match="writable"):
            _runs.own_directory(str(path))
    else:
        assert _runs.own_directory(str(path)) == str(path)
