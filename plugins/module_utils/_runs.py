# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One detached run of the tester on this host: its state directory, processes and files.

Layout below the state directory (``sweep_state_dir``)::

    lock                      held by flock as long as a run lives; contains its ID
    runs/<run id>-<volume>/   start.json progress stdout stderr exit tables/ removed released

Private to this collection; it may change at any time.
"""

import base64
import errno
import fcntl
import json
import os
import re
import shutil
import signal
import stat
import time
import zlib

from . import _machine, _marks, _mounts, _process, _time_limit

TABLE_NAMES = (
    "run.csv",
    "results.csv",
    "intervals.csv",
    "histogram.csv",
    "stalls.csv",
    "rounds.csv",
    "over.csv",
    "batches.csv",
    "responses.csv",
    "fidelity.csv",
)
"""Every table that the tester may write; no other file is ever collected."""

RELEASED_NAME = "released"
"""This file exists if a clean-up kept only the state of a run, whose tables are no longer needed."""

REMOVED_NAME = "removed"
"""The supervisor creates this file last, if the run has left nothing on the file systems under test."""

MOUNT_LIMIT_S = 3
SMALL_FILE_MAX_BYTES = 65536
TABLE_MAX_BYTES = 64 << 20
RUN_NAME = re.compile(r"\A[0-9A-Za-z][0-9A-Za-z._-]{0,120}\Z")

MEASURES_ALREADY = (
    "this run is already measuring on this host, under another name: remove one of the names from the inventory, and "
    "certify it in a separate run"
)


class RunError(Exception):
    """Something that stops a run on this host; the message says what to do."""


class SameRunError(RunError):
    """The run is blocked by a process of the same run."""


def own_directory(path):
    """Create ``path`` (mode 0700) if it does not exist; refuse a directory that others could write to.

    Raises RunError if it is a symlink, not a directory, not owned by this user, or writable by group
    or others.
    """
    try:
        os.makedirs(path, 0o700)
    except OSError as error:
        if error.errno != errno.EEXIST:
            raise RunError("cannot create the directory %s: %s" % (path, os.strerror(error.errno)))
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise RunError("%s is not a directory" % path)
    if status.st_uid != os.geteuid():
        raise RunError("%s belongs to another user (uid %d): choose another directory" % (path, status.st_uid))
    if status.st_mode & 0o022:
        raise RunError("%s is writable by group or others: chmod go-w it, or choose another directory" % path)
    return path


class Run:
    """The state of one run on this host, by run id and volume."""

    def __init__(self, state_dir, run_id, volume):
        name = "%s-%s" % (run_id, volume)
        if not RUN_NAME.match(name):
            raise RunError("not a run id and volume: %r" % name)
        self.state_dir = os.path.abspath(os.path.expanduser(state_dir))
        self.run_id = run_id
        self.volume = volume
        self.path = os.path.join(self.state_dir, "runs", name)
        self.tables_path = os.path.join(self.path, "tables")
        self.progress_path = os.path.join(self.path, "progress")

    def create(self):
        """Create the state directory of this run. It must not exist."""
        self.create_directory()
        os.mkdir(self.tables_path, 0o700)

    def create_directory(self):
        own_directory(self.state_dir)
        own_directory(os.path.dirname(self.path))
        try:
            os.mkdir(self.path, 0o700)
        except OSError as error:
            raise RunError(
                MEASURES_ALREADY
                if error.errno == errno.EEXIST
                else "cannot create %s: %s" % (self.path, os.strerror(error.errno))
            )
        _marks.write_mark(self.path, dict(run_id=self.run_id))

    def follow(self, number):
        """Create the state directory of a later round of this run. It replaces the directory of the previous round,
        whose tables have been collected."""
        if self.exists():
            if not self.finished() or self.read_start().get("round") != number - 1:
                raise RunError("the state of this run is not that of its round %d: %s" % (number - 1, self.path))
            self.remove()
        self.create()

    def lock(self, patience_s=0):
        """Return a descriptor that holds the lock of this state directory. Only one run at a time can hold it, until
        its supervisor has cleaned up.

        A process that inherits the descriptor keeps the lock. Raises RunError, which names the run that holds the lock.
        If it is this run itself, waits up to ``patience_s`` seconds first. The lock does not prevent two runs from
        using the same disk, because they may have different state directories. The tester prevents that.
        """
        end = time.time() + patience_s
        while True:
            try:
                return self._lock()
            except SameRunError:
                if time.time() >= end:
                    raise
            time.sleep(0.1)

    def _lock(self):
        path = os.path.join(self.state_dir, "lock")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(descriptor, 200).decode("utf-8", "replace").strip()
            os.close(descriptor)
            if holder == self.run_id:
                raise SameRunError(MEASURES_ALREADY)
            raise RunError(
                "another certification is running on this host: %s. Wait for it, or end it with playbooks/stop.yml"
                % (holder or "unknown run")
            )
        os.ftruncate(descriptor, 0)
        os.write(descriptor, self.run_id.encode("ascii"))
        return descriptor

    def write_start(self, content):
        """Write a dict to start.json that describes what was started, with the mount points of its ``paths``."""
        if "mount_points" not in content:
            content = dict(content, mount_points=_mount_points(content.get("paths", ())))
        write_aside(os.path.join(self.path, "start.json"), json.dumps(content, sort_keys=True))

    def read_start(self):
        """Return what :meth:`write_start` stored, or an empty dict."""
        try:
            content = json.loads(self.read_text("start.json") or "{}")
        except ValueError:
            return {}
        return content if isinstance(content, dict) else {}

    def missing_mounts(self):
        """Return the paths of the workspace that are no longer on the mount point on which they were when the run was
        started, with that mount point. The directories of the run cannot be seen there, so they may still exist."""
        points = self.read_start().get("mount_points")
        return dict(
            (path, point)
            for path, point in (points.items() if isinstance(points, dict) else ())
            if isinstance(point, str) and point and point != _mounts.mount_point_of(path)
        )

    def read_text(self, name, limit=SMALL_FILE_MAX_BYTES):
        """Return the last ``limit`` bytes of a small file as text; empty if there is none."""
        try:
            with open(os.path.join(self.path, name), "rb") as stream:
                stream.seek(0, os.SEEK_END)
                stream.seek(max(0, stream.tell() - limit))
                return stream.read().decode("utf-8", "replace")
        except (IOError, OSError):
            return ""

    def exists(self):
        """True if this run has a state directory that has the collection's mark, and this machine created it or runs a
        process of it. Another machine has its state there as well if they share the file system."""
        mark = self.mark()
        return mark is not None and (_machine.is_this(mark.get("machine"), self.path) or bool(self.processes()))

    def mark(self):
        """Return the mark of the state directory, or None if it has none."""
        return None if os.path.islink(self.path) else _marks.read_mark(self.path)

    def finished(self):
        """True once the tables are complete: run.csv is renamed into place last."""
        return os.path.isfile(os.path.join(self.tables_path, "run.csv"))

    def removed(self):
        """True if the run has ended and has left nothing on this host except its state directory."""
        return os.path.isfile(os.path.join(self.path, REMOVED_NAME))

    def release(self):
        """Note in the state directory, which must exist, that the tables are no longer needed."""
        write_aside(os.path.join(self.path, RELEASED_NAME), "")

    def is_released(self):
        return os.path.isfile(os.path.join(self.path, RELEASED_NAME))

    def exit_status(self):
        """Return the tester's exit status as the supervisor recorded it, or None."""
        text = self.read_text("exit").strip()
        return int(text) if re.match(r"\A[0-9]{1,3}\Z", text) else None

    def processes(self):
        """Return the pids of this run's processes: its supervisor and its tester."""
        return processes_with((self.path, self.tester_argument()))

    def tester_argument(self):
        """Return the argument that identifies the process of this run's tester: the one in start.json if the tester
        writes no tables."""
        argument = self.read_start().get("tester_argument")
        return argument if isinstance(argument, str) and argument else "--tables=" + self.tables_path

    def state(self):
        """Return ``absent``, ``running``, ``finished`` (tables complete) or ``dead`` (ended without tables)."""
        if not self.exists():
            return "absent"
        if self.finished():
            return "finished"
        alive = self.processes()
        # The tables may have been completed between the two checks.
        if self.finished():
            return "finished"
        return "running" if alive else "dead"

    def ask_to_end(self, number=signal.SIGTERM):
        """Send the tester a signal; on SIGTERM, the tester writes the tables with what it has measured, and ends.

        Its supervisor, whose arguments include those of the tester, must not receive the signal.
        """
        supervisors = processes_with((self.path,))
        for pid in processes_with((self.tester_argument(),)):
            if pid not in supervisors:
                _process.send(pid, number)

    def remove(self):
        """Remove this run's state directory, but only if it has the collection's mark."""
        if not self.exists():
            return False
        shutil.rmtree(self.path)
        return True


def _mount_points(paths):
    """Return the mount point of each path; empty if it is unknown or if its storage does not answer."""
    found = _time_limit.call_all([lambda path=path: _mounts.mount_point_of(path) for path in paths], MOUNT_LIMIT_S)
    return dict((path, point if isinstance(point, str) else "") for path, point in zip(paths, found))


def terminate(runs, patience_s):
    """End the testers of runs: SIGTERM, then SIGKILL after ``patience_s`` seconds.
    Their supervisors then end by themselves.

    Returns, for each run, the pids of the remaining processes. A thread inside a hung write keeps its process alive
    until the disk responds. The supervisor, which will remove the directories, also remains until then.
    """
    pids = [run.processes() for run in runs]
    for number, wait_s in ((signal.SIGTERM, patience_s), (signal.SIGKILL, 2.0)):
        if not any(pids):
            break
        for run in runs:
            run.ask_to_end(number)
        _process.wait_until(lambda: not any(run.processes() for run in runs), wait_s)
        pids = [run.processes() for run in runs]
    return pids


def detach(arguments, lock):
    """Start a program in its own session, without open files except the descriptor ``lock``. Return its pid.

    The program and its children inherit the lock, and hold it as long as any of them lives. The caller must close its
    own descriptor.
    """

    def execute():
        os.chdir("/")
        os.set_inheritable(lock, True)
        os.execv(arguments[0], arguments)

    return _process.detached(execute, (lock,))


def processes_with(arguments):
    """Return the pids of all other processes that have one of ``arguments`` among their arguments."""
    wanted = frozenset(argument.encode("utf-8", "surrogateescape") for argument in arguments)
    return [
        int(name)
        for name in os.listdir("/proc")
        if name.isdigit() and int(name) != os.getpid() and wanted.intersection(_arguments(name))
    ]


def _arguments(pid):
    """Return a process's arguments. If a process was killed but one of its threads still hangs in the kernel, the
    arguments of the first thread are lost. In this case, the other threads are tried."""
    names = ["/proc/%s/cmdline" % pid]
    try:
        names.extend("/proc/%s/task/%s/cmdline" % (pid, task) for task in os.listdir("/proc/%s/task" % pid))
    except OSError:
        return ()
    for name in names:
        try:
            with open(name, "rb") as stream:
                text = stream.read()
        except (IOError, OSError):
            continue
        if text:
            return text.split(b"\0")
    return ()


def names_below(state_dir):
    """Return the names of the runs' state directories below ``state_dir``."""
    parent = os.path.join(os.path.abspath(os.path.expanduser(state_dir)), "runs")
    return sorted(os.listdir(parent)) if os.path.isdir(parent) else []


def runs_below(state_dir):
    """Return the runs of this machine that have a marked state directory below ``state_dir``."""
    return [run for run in marked_runs(state_dir) if run.exists()]


def marked_runs(state_dir):
    """Return the runs of any machine that have a marked state directory below ``state_dir``."""
    found = []
    for name in names_below(state_dir):
        run_id, separator, volume = name.rpartition("-")
        if not separator or not RUN_NAME.match(name):
            continue
        run = Run(state_dir, run_id, volume)
        mark = run.mark()
        if mark is None:
            continue
        # A volume's name may also contain the separator, so the run ID comes from the mark.
        run_id = mark.get("run_id") or run_id
        if name.startswith("%s-" % run_id):
            found.append(Run(state_dir, run_id, name[len(run_id) + 1 :]))
    return found


def write_aside(path, text):
    """Replace a file atomically."""
    aside = path + ".tmp"
    with open(aside, "w") as stream:
        stream.write(text)
    os.rename(aside, path)


def packed_table(path, most_bytes=TABLE_MAX_BYTES):
    """Return a table, compressed and encoded in base64, or None if it does not exist or is not a regular file. Raises
    RunError if it is too large."""
    if not os.path.isfile(path):
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        content = stream.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise RunError("%s is larger than %d MiB" % (path, most_bytes >> 20))
    return base64.b64encode(zlib.compress(content)).decode("ascii")
