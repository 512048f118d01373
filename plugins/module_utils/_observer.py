# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One detached observation of a queue manager on this host: the process that watches a source, and the state directory.

Layout below the state directory (``observe_state_dir``)::

    runs/<run id>-<volume>/   start.json lock lease samples

``samples`` contains a line of JSON for each sample. The last line says how the observation ended. The process holds the
lock of its state directory. It must be polled from time to time, and each poll renews the lease. When the lease has
expired, the process stops the program that it uses for watching, removes the state directory, and ends. Therefore,
nothing remains on a host whose controller was lost.

Private to this collection; it may change at any time.
"""

import contextlib
import fcntl
import json
import os
import signal
import time

from . import _machine, _process, _runs
from ._sources import SourceError

SAMPLES_MAX_BYTES = 64 << 20
PART_MAX_BYTES = 8 << 20
"""The largest number of bytes of samples that one call returns."""
TEXT_MAX_CHARACTERS = 1 << 20
"""The longest text of a sample. In JSON a character takes at most six bytes,
so one call returns at least one sample."""

LOOK_S = 0.5
GRACE_S = 30.0
"""How much longer than planned a source may take before its process is killed."""

FINISHED, DEADLINE, LEASE, STOPPED, FAILED = "finished", "deadline", "lease", "stopped", "failed"
"""The ways in which an observation ends: as planned, because its source did not end in time, because it was not polled,
by request, or because its source failed."""

RUNNING, ENDED, DEAD, ABSENT = "running", "ended", "dead", "absent"
"""The states of an observation. A dead observation has no process, and its samples do not say how it ended."""


class Observation(_runs.Run):
    """The state of one observation on this host, by run id and volume."""

    def __init__(self, state_dir, run_id, volume):
        super().__init__(state_dir, run_id, volume)
        self._lock_path = os.path.join(self.path, "lock")
        self._lease_path = os.path.join(self.path, "lease")
        self._samples_path = os.path.join(self.path, "samples")

    def renew_lease(self, lease_s):
        """Let the observation continue without a poll for ``lease_s`` seconds."""
        _runs.write_aside(self._lease_path, "%.1f" % (time.monotonic() + lease_s))

    def lease_is_over(self):
        """True if the lease was not renewed in time, or if the state directory was removed."""
        try:
            return time.monotonic() > float(self.read_text("lease") or 0)
        except ValueError:
            return True

    def start(self, source, duration_s, lease_s, content):
        """Start the process that observes, for ``duration_s`` seconds at most. ``content`` (a dict) is stored in
        start.json."""
        self.create_directory()
        self.renew_lease(lease_s)
        lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        samples = os.open(self._samples_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        pid = _process.detached(lambda: _observe(self, source, duration_s, samples), (lock, samples))
        os.close(lock)
        os.close(samples)
        self.write_start(dict(content, pid=pid, started_epoch_s=time.time(), boot_id=_machine.identity()["boot_id"]))

    def is_alive(self):
        """True if the process of this observation is alive."""
        return _process.is_locked(self._lock_path)

    def end(self):
        """Return how the observation ended, from the last line of its samples; None if there is no such line."""
        last = self.read_text("samples").rstrip("\n").rpartition("\n")[2]
        try:
            content = json.loads(last)
        except ValueError:
            return None
        return content if isinstance(content, dict) and "end" in content else None

    def state(self):
        """Return ``absent``, ``running``, ``ended`` (its last line is written) or ``dead``."""
        if not self.exists():
            return ABSENT
        alive = self.is_alive()
        if self.end():
            return ENDED
        return RUNNING if alive else DEAD

    def ask_to_end(self, number=signal.SIGTERM):
        """Send the process a signal. After SIGTERM, the process ends its source, writes its last line, and waits for
        the collection."""
        pid = self.read_start().get("pid")
        if isinstance(pid, int) and pid > 1 and self.is_alive():
            _process.send(pid, number)

    def remove(self):
        """End the process and remove the state directory. The directory is removed only if it has the collection's
        mark."""
        if not self.exists():
            return False
        # The programs that the process started end with it.
        terminate([self], lambda each: each.state() != RUNNING)
        terminate([self], lambda each: not each.is_alive(), number=signal.SIGKILL)
        return super().remove()

    def read_samples(self, offset):
        """Return the complete lines of the samples from ``offset`` on, as bytes, up to the limit of one call."""
        with open(self._samples_path, "rb") as stream:
            stream.seek(offset)
            part = stream.read(PART_MAX_BYTES)
        return part[: part.rfind(b"\n") + 1]


def observations_below(state_dir):
    """Return the observations that have a marked state directory below ``state_dir``."""
    return [Observation(state_dir, run.run_id, run.volume) for run in _runs.runs_below(state_dir)]


def remove_forgotten(state_dir):
    """Remove the state of observations that no longer have a process, if their lease has ended or the host was
    restarted."""
    for observation in observations_below(state_dir):
        boot_id = observation.read_start().get("boot_id")
        if not observation.is_alive() and (observation.lease_is_over() or boot_id != _machine.identity()["boot_id"]):
            observation.remove()


def terminate(observations, is_done, number=signal.SIGTERM, patience_s=10.0):
    """Send a signal to each observation that has not ended, and wait for it."""
    for observation in observations:
        if not is_done(observation):
            observation.ask_to_end(number)
    _process.wait_until(lambda: all(is_done(observation) for observation in observations), patience_s)


class _TooLarge(Exception):
    """A sample, or all samples together, exceeded the size limit."""


class _Stopped:
    """Whether this process was asked to end."""

    def __init__(self):
        self.asked = False
        signal.signal(signal.SIGTERM, self._ask)

    def _ask(self, dummy_number, dummy_frame):
        self.asked = True


def _observe(observation, source, duration_s, samples):
    """Write samples until the observation ends, and then wait until they are collected or the lease expires."""
    os.chdir("/")
    stopped = _Stopped()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    # A source that hangs is killed, together with the programs that it started.
    signal.setitimer(signal.ITIMER_REAL, duration_s + GRACE_S)
    end, reason = _watched(observation, source, time.monotonic() + duration_s, samples, stopped)
    signal.setitimer(signal.ITIMER_REAL, 0)
    if end != LEASE:
        _write_line(samples, dict(end=end, reason=reason))
        stopped.asked = False
        while not (stopped.asked or observation.lease_is_over()):
            time.sleep(LOOK_S)
    if observation.lease_is_over():
        _runs.Run.remove(observation)


def _watched(observation, source, end_monotonic, samples, stopped):
    """Write the samples of a source. Returns how the source ended, and why."""
    written = 0
    try:
        with contextlib.closing(source.samples(end_monotonic)) as texts:
            for text in texts:
                written += _write_sample(samples, text) if text is not None else 0
                if written > SAMPLES_MAX_BYTES:
                    raise _TooLarge(
                        "the samples have reached %d MiB: set a shorter observe_duration or a longer observe_interval"
                        % (SAMPLES_MAX_BYTES >> 20)
                    )
                if stopped.asked:
                    return STOPPED, "it was ended by request"
                if observation.lease_is_over():
                    return LEASE, ""
                if time.monotonic() > end_monotonic + GRACE_S / 2:
                    return DEADLINE, "the source did not end in time"
    except (SourceError, _TooLarge) as error:
        return FAILED, str(error)
    except Exception as error:  # the controller reports any exception
        return FAILED, "the observer failed: %s: %s" % (type(error).__name__, error)
    return FINISHED, ""


def _write_sample(descriptor, text):
    if len(text) > TEXT_MAX_CHARACTERS:
        raise _TooLarge("the source wrote %d characters at once, so it is not the expected program" % len(text))
    return _write_line(descriptor, dict(epoch_s=time.time(), monotonic_ns=int(time.monotonic() * 1e9), text=text))


def _write_line(descriptor, content):
    """Write a line of JSON; return its length. If the file system is full, the error ends the observation."""
    line = (json.dumps(content) + "\n").encode("ascii")
    written = 0
    while written < len(line):
        written += os.write(descriptor, line[written:])
    return len(line)
