# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the publications about the recovery log of a queue manager that IBM MQ's sample program amqsrua prints every 10
seconds.

The user that runs amqsrua must be a member of the group mqm, or have these authorities (``setmqaut``): +connect and
+inq on the queue manager, +sub on the topic SYSTEM.ADMIN.TOPIC ($SYS/MQ), and +get, +put and +dsp on
SYSTEM.DEFAULT.MODEL.QUEUE, which is the model of the queue for the publications. The user's
subscription puts the publications on that queue, and the user gets them from there.

Private to this collection; it may change at any time.
"""

import os
import re
import shutil
import time

from .. import _command_lines, _ini_files, _user
from . import child
from . import SourceError

INSTALLATIONS = "/etc/opt/mqm/mqinst.ini"
DEFAULT_INSTALLATION = "/opt/mqm"
PUBLISHED_EVERY_S = 10
CHECK_S = 30
"""How long amqsrua may take to connect and to subscribe."""

SILENT_S = 60
"""The time without output after which amqsrua is considered hung: it ends by itself if nothing is published for 30
seconds."""

MOST_BYTES = 64 << 10
TICK_S = 0.5

# amqsrua formats numbers according to the locale, and it buffers its output unless it writes to a terminal.
_ENVIRONMENT = dict(LC_ALL="C", LANG="C", TERM="dumb")
_BEGIN = "Publication received"
_REASON = re.compile(r"\b(MQ[A-Z0-9]+)\b.*\breason code +([0-9]{4})\b")
_REFUSED = re.compile(r"Subscribe to .* failed for ([12]:([0-9]{4}))\Z")
_NOT_RECOGNISED = re.compile(r"Class:? .{1,100} not recogni[sz]ed\Z")
_WARNING = re.compile(r"\bwarning\b", re.IGNORECASE)
_NOTHING = "no more messages"
_GRANT = (
    "setmqaut -m {qm} -t qmgr -p {user} +connect +inq; setmqaut -m {qm} -t topic -n SYSTEM.ADMIN.TOPIC -p {user} +sub; "
    "setmqaut -m {qm} -t queue -n SYSTEM.DEFAULT.MODEL.QUEUE -p {user} +get +put +dsp"
)
_ENDED = ("queue manager {qm} ended, or ended the connection", "observe it again when it is running")
_SENTENCES = {
    **dict.fromkeys((2009, 2161, 2162, 2202, 2203), _ENDED),
    2017: (
        "{qm} allows no further handles for a connection",
        "raise MAXHANDS (ALTER QMGR MAXHANDS(1024)), which amqsrua needs for its subscriptions",
    ),
    2033: (
        "{qm} published nothing about its log for 30 s",
        "check whether publish/subscribe is on (ALTER QMGR PSMODE(ENABLED)) and MQ is 9.0.4 or newer",
    ),
    2035: (
        "user {user} has no authority",
        "as a user of the group mqm, call " + _GRANT + " (or add {user} to the group mqm)",
    ),
    2058: (
        "there is no queue manager {qm} in this installation of MQ",
        "correct observe_queue_manager, or set observe_amqsrua to its installation's program",
    ),
    2059: (
        "queue manager {qm} is not running",
        "start it (strmqm {qm}), or set observe_queue_manager to one that is running",
    ),
    2085: (
        "an object that amqsrua needs does not exist",
        "create it anew: SYSTEM.DEFAULT.MODEL.QUEUE and SYSTEM.ADMIN.TOPIC belong to each queue manager",
    ),
    2543: ("{qm} is only a standby instance on this host", "observe the host on which it is active"),
}
"""What a reason code means for an observation, and what to do about it."""
_WITHOUT_LOG = (
    "{qm} does not publish statistics of its log",
    "use MQ 9.0.4 or newer, or set observe_source to bpftrace",
)


class _Reason(Exception):
    """A failure that amqsrua printed: its reason code (0 for none), and the words to quote."""


class Source:
    """The ``options`` are ``queue_manager`` and ``amqsrua`` (the path of the program; if empty, it is searched for)."""

    of_averages = True
    check_limit_s = CHECK_S

    def __init__(self, options):
        self._queue_manager = options.get("queue_manager") or ""
        self._given = options.get("amqsrua") or ""

    def check(self):
        """Check that amqsrua can connect and subscribe, without waiting for a publication. Returns facts. Raises
        SourceError."""
        path, end, done = self._path(), time.monotonic() + CHECK_S, False
        lines = self._lines(path, 0, end)
        try:
            for line in lines:
                # Versions that do not accept a count of 0 wait for publications, which also works.
                done = line is not None and line.startswith(_BEGIN)
                if done:
                    break
        finally:
            lines.close()
        if not done and time.monotonic() >= end:
            raise self._hangs(path, CHECK_S)
        return dict(source_queue_manager=self._queue_manager, source_amqsrua=path)

    def samples(self, end_monotonic):
        """Yield each publication as it is printed, and None in between. Raises SourceError."""
        path, spoke = self._path(), time.monotonic()
        publication, size = [], 0
        # Requests one more publication than there is time for, so that amqsrua eventually ends by itself even if
        # nothing else ends it.
        count = int((end_monotonic - spoke) // PUBLISHED_EVERY_S) + 2
        for line in self._lines(path, count, end_monotonic):
            now = time.monotonic()
            if line is None:
                if now - spoke > SILENT_S:
                    raise self._hangs(path, SILENT_S)
                yield None
                continue
            spoke = now
            if publication and (not line.strip() or line.startswith(_BEGIN)):
                yield "\n".join(publication)
                publication, size = [], 0
            if line.strip() and (publication or line.startswith(_BEGIN)):
                publication.append(line)
                size += len(line)
            if size > MOST_BYTES:
                raise SourceError(
                    "%s printed a publication of more than %d KiB: it is not amqsrua. Correct observe_amqsrua"
                    % (path, MOST_BYTES >> 10)
                )
        if publication and time.monotonic() < end_monotonic:
            yield "\n".join(publication)

    def _lines(self, path, count, end_monotonic):
        """Yield the lines of amqsrua, and None at each tick. Raises SourceError if it fails or prints an error."""
        command = [path, "-m", self._queue_manager, "-c", "DISK", "-t", "Log", "-n", str(count)]
        lines = child.lines_of(command, end_monotonic, TICK_S, environment=_ENVIRONMENT, terminal=True)
        try:
            for line in lines:
                if line is not None:
                    _raise_failure(line)
                yield line
        except _Reason as error:
            raise self._failed(path, *error.args)
        except SourceError as error:
            raise SourceError("%s. To see why, call as %s: %s" % (error, _user.name(), _command_lines.command(command)))
        finally:
            lines.close()

    def _failed(self, path, reason, words):
        other = ("amqsrua failed", "mqrc {reason} prints what this code means") if reason else _WITHOUT_LOG
        what, todo = _SENTENCES.get(reason, other)
        names = dict(qm=self._queue_manager, user=_user.name(), reason=reason)
        in_commands = dict((key, _command_lines.command([str(name)])) for key, name in names.items())
        return SourceError(
            "%s (%s: %s). To go on: %s"
            % (what.format(**names), os.path.basename(path), words, todo.format(**in_commands))
        )

    def _hangs(self, path, seconds):
        return SourceError(
            "%s printed nothing for %d s, and was ended. Check whether %s still answers (echo 'PING QMGR' | runmqsc %s)"
            % (path, seconds, self._queue_manager, _command_lines.command([self._queue_manager]))
        )

    def _path(self):
        """Return the path of amqsrua. Raises SourceError."""
        path = self._found()
        owner = _user.other_owner(path) if os.geteuid() == 0 else ""
        if owner:
            raise SourceError(
                "%s is not run as root, because %s could replace it: set observe_become to false and connect as a user "
                "who may subscribe, or set observe_source to prometheus or bpftrace" % (path, owner)
            )
        return path

    def _found(self):
        if not self._queue_manager:
            raise SourceError("no running queue manager is known on this host: set observe_queue_manager")
        if self._given:
            if not (os.path.isabs(self._given) and os.path.isfile(self._given) and os.access(self._given, os.X_OK)):
                raise SourceError(
                    "observe_amqsrua is %s, which is not the absolute path of a program that this user may run"
                    % self._given
                )
            return self._given
        places = [os.path.join(each, "samp", "bin") for each in installations() + [DEFAULT_INSTALLATION]]
        found = shutil.which("amqsrua") or shutil.which("amqsrua", path=os.pathsep.join(places))
        if not found:
            raise SourceError(
                (
                    "amqsrua was not found in %s: install the samples of IBM MQ (MQSeriesSamples), or "
                    "set observe_amqsrua to its path"
                )
                % " or ".join(dict.fromkeys(places))
            )
        return found


def _raise_failure(line):
    """Raise _Reason if amqsrua printed that it failed. It prints the failure of a subscription in a form of its own."""
    found = _REASON.search(line)
    if found and not _WARNING.search(line):
        raise _Reason(int(found.group(2)), "%s ended with reason code %s" % found.groups())
    refused = _REFUSED.match(line)
    if refused:
        raise _Reason(int(refused.group(2)), "Subscribe failed for %s" % refused.group(1))
    if _NOT_RECOGNISED.match(line):
        raise _Reason(0, line)
    if line == _NOTHING:
        raise _Reason(2033, _NOTHING)


def installations(path=INSTALLATIONS):
    """Return the directories of the installations of IBM MQ on this host."""
    try:
        stanzas = [each for each in _ini_files.read(path) or () if each.named("Installation")]
        return [each for each in (stanza.path_of("FilePath") for stanza in stanzas) if each]
    except _ini_files.IniError:
        return []
