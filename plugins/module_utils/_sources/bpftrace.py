# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Watches the kernel with bpftrace: the writes to a queue manager's log, and calls of the MQI in applications.

bpftrace always ends together with this process. Its program also ends by itself when its time is over. When bpftrace
has ended, the kernel removes all of its probes.

Private to this collection; it may change at any time.
"""

import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from .. import _machine, _mounts
from . import bpftrace_program, child
from . import SourceError
from .bpftrace_seconds import Seconds

LOG, CALL = "log", "call"
LIBRARY = "/opt/mqm/lib64/libmqm_r.so"
CALLS_MAX = 8
DIRECTORIES_MAX = 16
TICK_S = 0.5
START_S = 10.0
"""How much longer than planned bpftrace may take. It has to compile its program first."""

TRIAL_S = 60
"""The longest time that the trial may take. On an idle machine, it takes about a second."""

_ENVIRONMENT = {"BPFTRACE_MAP_KEYS_MAX": str(bpftrace_program.KEYS), "BPFTRACE_PERF_RB_PAGES": "256"}
_SIMPLE_PATH = re.compile(r"/[A-Za-z0-9_.,/+@=-]*\Z")
_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")
_TRACING = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
_BTF = "/sys/kernel/btf/vmlinux"
_LOCKDOWN = "/sys/kernel/security/lockdown"
_CAP_SYS_ADMIN, _CAP_PERFMON, _CAP_BPF = 21, 38, 39

# The shell stops itself, so that no part of the program runs unobserved.
_STOPPED = ["/bin/sh", "-c", 'kill -STOP $$; exec "$@" < /dev/null > /dev/null 2>&1', "sh"]
_NOT_STARTED = (126, 127)


class Source:
    """Source for the writes to files below ``log_path`` by any process, for the ``calls`` of a library, or for both.

    The calls can be those of all processes, of ``pid``, or of the program ``command``. The program is started here, and
    the observation ends with it.
    """

    of_averages = False

    def __init__(self, options):
        self._options = options
        self.overheads_ns = {}
        """The time that a probe adds to an operation of each kind (LOG and CALL), available after check()."""

    def check(self):
        """Measure the cost of a probe on this host, and return facts. Raises SourceError, which says what the kernel or
        the account lacks."""
        program = _bpftrace()
        self._refuse_options()
        _refuse_privilege()
        streams = self._streams()
        _refuse_kernel(streams)
        self.overheads_ns = {CALL if "library" in stream else LOG: None for dummy, stream in streams}
        for kind in self.overheads_ns:
            self.overheads_ns[kind] = _overhead_ns(program, kind)
        return dict(source_bpftrace=_version(program), source_probe_overhead_ns=max(self.overheads_ns.values()))

    def samples(self, end_monotonic):
        """Yield a JSON text that lists what is watched, and then the texts that bpftrace_seconds describes. Raises
        SourceError."""
        program = _bpftrace()
        streams = self._streams()
        names = [name for name, dummy in streams]
        duration_s = max(1, int(round(end_monotonic - time.monotonic())))
        known = dict(probe_overhead_ns=self.overheads_ns, notices_unseen=_noticed()[1])
        yield _text(watched=dict(known, streams=names, pid=self._pid(), duration_s=duration_s))
        with _Program(self._options.get("command") or []) as observed:
            command = _command(
                program,
                bpftrace_program.text_of([stream for dummy, stream in streams], duration_s),
                observed.pid or self._pid(),
            )
            seconds = Seconds(names, duration_s)
            for line in child.lines_of(command, end_monotonic + START_S, TICK_S, _ENVIRONMENT):
                if line is None:
                    yield None
                    continue
                yield from seconds.feed(line, int(time.monotonic() * 1e9))
                if seconds.base_ns is not None:
                    observed.let_run()
            yield from seconds.finish()
            if observed.pid:
                yield _text(program=observed.ended())

    def _pid(self):
        return int(self._options.get("pid") or 0)

    def _refuse_options(self):
        calls = self._options.get("calls") or []
        wrong = [name for name in calls if not _FUNCTION.match(name)]
        if wrong:
            raise SourceError("observe_calls: %s is not the name of a function, such as MQPUT" % wrong[0])
        if len(calls) > CALLS_MAX:
            raise SourceError("observe_calls: name at most %d calls" % CALLS_MAX)
        alone = [name for name in ("pid", "command") if self._options.get(name)]
        if len(alone) > 1:
            raise SourceError("observe_pid and observe_command are mutually exclusive: unset one of them")
        if alone and not calls:
            raise SourceError("observe_%s needs observe_calls, for example [MQPUT, MQCMIT]" % alone[0])
        if not calls and not self._options.get("log_path"):
            raise SourceError(
                "bpftrace has nothing to watch: %s; set observe_log_path, or observe_calls"
                % (self._options.get("log_path_problem") or "the log path is not known")
            )

    def _streams(self):
        """Return what to watch, as (name, stream) pairs. For a single process, only its calls are watched."""
        streams = []
        if self._options.get("log_path") and not self._options.get("pid") and not self._options.get("command"):
            streams.append((LOG, bpftrace_program.log_stream(places_of(self._options["log_path"]), _noticed()[0])))
        calls = self._options.get("calls") or []
        if calls:
            library = self._library()
            streams += [(name, bpftrace_program.call_stream(library, name)) for name in dict.fromkeys(calls)]
        return streams

    def _library(self):
        library, pid = self._options.get("library") or "", self._pid()
        if pid and not os.path.isdir("/proc/%d" % pid):
            raise SourceError("observe_pid: there is no process %d on this host" % pid)
        if pid and not library:
            library = _library_of(pid)
        library = library or LIBRARY
        # A process may have a different root directory.
        path = "/proc/%d/root%s" % (pid, library) if pid else os.path.realpath(library)
        if not os.path.isfile(path):
            raise SourceError(
                "there is no library %s: set observe_library to the path of the library that the applications load"
                % library
            )
        if not _SIMPLE_PATH.match(path):
            raise SourceError(
                (
                    "bpftrace cannot name the library %s: give it a link without special characters, "
                    "and set observe_library to that"
                )
                % path
            )
        return path


def places_of(log_path):
    """Return the directories that hold log files as (device, inode) pairs, numbered as in the kernel.

    These are ``active`` and the directories below it if ``active`` contains extents (the logger does not write to the
    control file beside it), and otherwise ``log_path`` and all directories below it.
    """
    top = os.path.realpath(log_path)
    active = os.path.join(top, "active")
    try:
        extents = [name for name in os.listdir(active) if re.match(r"S\d+\.LOG\Z", name)]
    except OSError:
        extents = []
    found = [_place(directory) for directory in _directories(active if extents else top)]
    if not found:
        raise SourceError(
            "cannot look into the log path %s: set observe_log_path to a directory that this account may read"
            % log_path
        )
    return found


def _directories(top):
    found = [directory for directory, dummy_directories, dummy_files in os.walk(top)]
    if len(found) > DIRECTORIES_MAX:
        raise SourceError(
            "%s has more than %d directories: set observe_log_path to the directory of one queue manager's log"
            % (top, DIRECTORIES_MAX)
        )
    return found


def _place(directory):
    # If a file system has subvolumes, stat() shows a different device than the kernel uses for the file system.
    number = _mounts.mount_of(directory).get("device_number", "")
    status = os.stat(directory)
    major, minor = (
        [int(part) for part in number.split(":")]
        if ":" in number
        else (os.major(status.st_dev), os.minor(status.st_dev))
    )
    return (major << 20) | minor, status.st_ino


def _mapped(pid, pattern):
    """Return the path of the first file whose name matches and that a process has mapped, as seen by that process;
    empty if there is none."""
    try:
        with open("/proc/%s/maps" % pid) as stream:
            paths = [path for line in stream for path in line.rstrip("\n").split(None, 5)[5:]]
    except OSError as error:
        raise SourceError("cannot see what process %s has loaded: %s" % (pid, error.strerror))
    return next((path for path in paths if re.match(pattern, os.path.basename(path))), "")


def _library_of(pid):
    library = _mapped(pid, r"libmq(m|ic)(_r)?\.so")
    if not library:
        raise SourceError(
            "process %d has loaded no MQI library (libmqm_r.so or libmqic_r.so): set observe_library" % pid
        )
    return library


def _bpftrace():
    program = shutil.which("bpftrace", path=os.environ.get("PATH", "") + ":/usr/bin:/usr/sbin:/usr/local/bin")
    if not program:
        raise SourceError("bpftrace is not installed: install the package bpftrace, or use another source")
    return program


def _version(program):
    return (_output([program, "--version"]).split() or [""])[-1]


def _output(command):
    # A source outlives the module, so it cannot use the module's run_command.
    done = subprocess.run(  # pylint: disable=ansible-bad-function
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
    )
    return done.stdout.decode("utf-8", "replace")


def _refuse_privilege():
    if os.geteuid() != 0:
        raise SourceError("bpftrace needs root, and this account is not root: set observe_become to true")
    effective = int(_machine.read_text("/proc/self/status", "CapEff:\t0").partition("CapEff:")[2].split()[0], 16)
    if effective >> _CAP_SYS_ADMIN & 1:
        return
    missing = [name for bit, name in ((_CAP_BPF, "CAP_BPF"), (_CAP_PERFMON, "CAP_PERFMON")) if not effective >> bit & 1]
    if missing:
        raise SourceError(
            "root lacks %s here: run the container with these capabilities, or observe from the machine itself"
            % " and ".join(missing)
        )


def _refuse_kernel(streams):
    if "[confidentiality]" in _machine.read_text(_LOCKDOWN):
        raise SourceError(
            "the kernel is locked down (confidentiality), so no program may read it: start it with "
            "lockdown=integrity, or use another source"
        )
    tracing = _tracing()
    if not tracing:
        raise SourceError("tracefs is not mounted: run mount -t tracefs tracefs %s as root" % _TRACING[0])
    for dummy, stream in streams:
        if "places" in stream:
            _refuse_log(tracing)
        else:
            _refuse_call(stream)


def _tracing():
    """Return the directory where tracefs is mounted; empty if it is not mounted."""
    return ([path for path in _TRACING if os.path.isdir(os.path.join(path, "events"))] or [""])[0]


def _noticed():
    """Return the ways of writing without a watched system call that can be detected on this kernel, and whether there
    are no other such ways."""
    events = os.path.join(_tracing(), "events")
    has_uring = os.path.isdir(os.path.join(events, "io_uring"))
    # Kernels before 5.18 do not report which request is complete.
    names_request = " req;" in _machine.read_text(os.path.join(events, "io_uring/io_uring_complete/format"))
    has = {
        bpftrace_program.AIO: os.path.isdir(os.path.join(events, "syscalls/sys_enter_io_submit")),
        bpftrace_program.IO_URING: names_request,
    }
    return tuple(way for way in sorted(has) if has[way]), names_request or not has_uring


def _refuse_log(tracing):
    if not os.path.exists(_BTF):
        raise SourceError(
            (
                "the kernel does not describe its types (no %s): it needs "
                "CONFIG_DEBUG_INFO_BTF to tell log files from others"
            )
            % _BTF
        )
    if not os.path.isdir(os.path.join(tracing, "events", "syscalls")):
        raise SourceError("the kernel has no tracepoints of system calls: it needs CONFIG_FTRACE_SYSCALLS")


def _refuse_call(stream):
    if not os.path.exists("/sys/bus/event_source/devices/uprobe"):
        raise SourceError("the kernel has no probes in programs: it needs CONFIG_UPROBE_EVENTS to watch calls")
    probe = "uprobe:%s:%s" % (stream["library"], stream["name"])
    if stream["name"] not in _output([_bpftrace(), "-l", probe]):
        raise SourceError(
            "%s has no function %s: correct observe_calls or observe_library" % (stream["library"], stream["name"])
        )


def _command(program, text, pid):
    return [program, "-f", "json", "-e", text] + (["-p", str(pid)] if pid else [])


def _overhead_ns(program, kind):
    """Return the time that a probe adds to one operation of a kind. It is measured with an operation of this process:
    writing a byte to a file in memory, or an empty call.

    This loads the same program as the observation, so anything that bpftrace or the kernel lacks is found here.
    Raises SourceError.
    """
    with _own_operation(kind) as (operation, stream):
        before_ns = _fastest_ns(operation)
        command = _command(program, bpftrace_program.text_of([stream], TRIAL_S), os.getpid() if kind != LOG else 0)
        with contextlib.closing(child.lines_of(command, time.monotonic() + TRIAL_S, TICK_S, _ENVIRONMENT)) as lines:
            for line in lines:
                if line and '"base ' in line:
                    return max(0, _fastest_ns(operation) - before_ns)
    raise SourceError("bpftrace attached nothing within %d s: try again when the machine is less busy" % TRIAL_S)


@contextlib.contextmanager
def _own_operation(kind):
    """Yield an operation of this process, and the stream that observes it."""
    if kind == LOG:
        directory = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        descriptor = os.open(os.path.join(directory, "file"), os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_DSYNC, 0o600)
        stream = bpftrace_program.log_stream(places_of(directory), _noticed()[0])
        # The open file remains usable after its directory is removed, so nothing is left behind even if this process is
        # killed.
        os.unlink(os.path.join(directory, "file"))
        os.rmdir(directory)
        try:
            yield lambda: os.pwrite(descriptor, b"x", 0), stream
        finally:
            os.close(descriptor)
    else:
        # The kernel has to single-step the first instruction of this function, unlike that of most functions.
        # Therefore, the reported cost is too high rather than too low.
        function = ctypes.CDLL(None).labs
        yield lambda: function(1), bpftrace_program.call_stream(os.path.realpath(_libc()), "labs")


def _libc():
    library = _mapped("self", r"libc[.-]|ld-musl")
    if not library:
        raise SourceError("cannot find the C library of this process, with which the cost of a probe is measured")
    return library


def _fastest_ns(operation, operations=500, rounds=20):
    """Return the time of one operation, in the least disturbed round."""
    durations = []
    for dummy in range(rounds):
        begin = time.monotonic()
        for _operation in range(operations):
            operation()
        durations.append(time.monotonic() - begin)
    return int(min(durations) / operations * 1e9)


class _Program:
    """The program that is observed from start to end. Without a command there is no program, and ``pid`` is 0."""

    def __init__(self, command):
        self._command = command
        self._process = None
        self._began = None
        self.pid = 0

    def __enter__(self):
        if self._command:
            if not shutil.which(self._command[0]):
                raise SourceError("observe_command: there is no program %s" % self._command[0])
            self._process = child.start(_STOPPED + list(self._command))
            self.pid = self._process.pid
            os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        return self

    def __exit__(self, *dummy):
        if self._process:
            child.end(self._process)

    def let_run(self):
        """Let the program run, now that it is being watched."""
        if self._process and self._began is None:
            self._began = time.monotonic()
            os.kill(self.pid, signal.SIGCONT)

    def ended(self):
        """Return how the program ended. Raises SourceError if it was never started."""
        if self._began is None:
            raise SourceError("bpftrace ended before %s was started" % self._command[0])
        if not child.has_ended(self._process):
            return dict(status=None, words="was still running at the end of the observation, and was stopped")
        status = child.status_of(self._process)
        if status in _NOT_STARTED:
            raise SourceError(
                "observe_command: %s could not be started (status %d of the shell)" % (self._command[0], status)
            )
        how = "was killed by signal %d" % -status if status < 0 else "ended with status %d" % status
        return dict(status=status, words=how)


def _text(**content):
    return json.dumps(content, sort_keys=True, separators=(",", ":"))
