# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Signs of a live queue manager: its files, its processes, the log paths in its configuration.

Private to this collection; it may change at any time.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import errno
import os
import re
import stat

MQS_INI = "/var/mqm/mqs.ini"
INI_MAX_BYTES = 1 << 20
QUEUE_MANAGER_FILES = re.compile(r"\A(S[0-9]{7}\.LOG|amqhlctl\.lfh|amqhlctl\.[0-9]+|qm\.ini|mqs\.ini|qmanager|QMQMOBJCAT)\Z")
LOG_PAGE_BYTES = 4096
QUEUE_MANAGER_PROCESSES = frozenset(("amqzmuc0", "amqzxma0"))


def parse_stanzas(text):
    """Parse a qm.ini or mqs.ini: return its stanzas in order, each as (name, dict of its keys).

    A line without indentation that ends in a colon opens a stanza; indented ``Key=value`` lines belong
    to it; ``#`` and ``;`` start comments. Keys keep their case, values lose surrounding blanks. Malformed
    lines are skipped.
    """
    stanzas = []
    for line in text.splitlines():
        bare = line.strip()
        if not bare or bare[0] in "#;":
            continue
        if not line[0].isspace() and bare.endswith(":"):
            stanzas.append((bare[:-1].strip(), {}))
        elif stanzas and "=" in bare:
            key, dummy, value = bare.partition("=")
            stanzas[-1][1][key.strip()] = value.strip()
    return stanzas


def qm_ini_path(stanza):
    """Return the path of the qm.ini that a QueueManager stanza of mqs.ini points to, or None."""
    if stanza.get("DataPath"):
        return os.path.join(stanza["DataPath"], "qm.ini")
    if stanza.get("Prefix") and stanza.get("Directory"):
        return os.path.join(stanza["Prefix"], "qmgrs", stanza["Directory"], "qm.ini")
    return None


def log_path(qm_ini_text):
    """Return LogPath of the Log stanza, or None."""
    for name, keys in parse_stanzas(qm_ini_text):
        if name == "Log" and keys.get("LogPath"):
            return keys["LogPath"]
    return None


def log_set_bytes(qm_ini_text):
    """Return how many bytes the files of the recovery log have together, by the Log stanza and MQ's defaults; None without a
    stanza, or if it holds what is not a number."""
    for name, keys in parse_stanzas(qm_ini_text):
        if name == "Log":
            try:
                files = int(keys.get("LogPrimaryFiles", 3)) + int(keys.get("LogSecondaryFiles", 2))
                return files * int(keys.get("LogFilePages", 4096)) * LOG_PAGE_BYTES
            except ValueError:
                return None
    return None


def largest_log_set_bytes(names, mqs_ini=MQS_INI):
    """Return the bytes of the largest recovery log among the queue managers of these names; None if this user can read the
    qm.ini of none of them."""
    found = []
    for name, keys in parse_stanzas(_read(mqs_ini) or ""):
        ini = qm_ini_path(keys) if name == "QueueManager" and keys.get("Name") in names else None
        found.append(log_set_bytes(_read(ini) or "") if ini else None)
    return max((size for size in found if size is not None), default=None)


def configured_log_paths(mqs_ini=MQS_INI):
    """Return ``(paths, unknown)``: LogPath by queue manager name as far as this user may read it, and
    one sentence for each item that could not be determined."""
    text = _read(mqs_ini)
    if text is None:
        return {}, ["%s exists but cannot be read" % mqs_ini] if _may_exist(mqs_ini) else []
    paths, unknown = {}, []
    for name, keys in parse_stanzas(text):
        if name != "QueueManager":
            continue
        queue_manager = keys.get("Name", "?")
        ini = qm_ini_path(keys)
        ini_text = _read(ini) if ini else None
        found = log_path(ini_text) if ini_text is not None else None
        if found:
            paths[queue_manager] = found
        else:
            unknown.append("the log path of queue manager %s (%s)" % (queue_manager, ini or "no path in %s" % mqs_ini))
    return paths, unknown


def configured_queue_managers(mqs_ini=MQS_INI):
    """Return the names of the queue managers of this host, running or not; one sentence in their place if there is
    an mqs.ini that cannot be read."""
    text = _read(mqs_ini)
    if text is None:
        return ["those of %s, which cannot be read" % mqs_ini] if _may_exist(mqs_ini) else []
    return sorted({keys.get("Name", "?") for name, keys in parse_stanzas(text) if name == "QueueManager"})


def sees_processes(proc="/proc"):
    """True if this user sees the processes of others: with the mount option hidepid it cannot even read
    the name of process 1, or does not see it at all."""
    return _read(os.path.join(proc, "1", "comm")) is not None


def running_queue_managers():
    """Return the names of running queue managers, from the arguments of their processes (``-m NAME``);
    ``?`` if there is no name."""
    found = set()
    for pid in os.listdir("/proc"):
        if not pid.isdigit() or _read("/proc/%s/comm" % pid, "").strip() not in QUEUE_MANAGER_PROCESSES:
            continue
        arguments = _read("/proc/%s/cmdline" % pid, "").split("\0")
        name = next((arguments[i + 1] for i, argument in enumerate(arguments[:-1]) if argument == "-m"), None)
        if name is None:
            name = next((argument[2:] for argument in arguments if argument.startswith("-m") and len(argument) > 2), "?")
        found.add(name)
    return sorted(found)


def open_log_devices():
    """Return the devices (st_dev) that hold a recovery log extent which some process has open, as far
    as this user's privilege lets it see."""
    devices = set()
    for pid in os.listdir("/proc"):
        directory = "/proc/%s/fd" % pid
        try:
            descriptors = os.listdir(directory) if pid.isdigit() else []
        except OSError:
            continue
        for descriptor in descriptors:
            link = os.path.join(directory, descriptor)
            try:
                if re.search(r"/active/S[0-9]{7}\.LOG\Z", os.readlink(link)):
                    devices.add(os.stat(link).st_dev)
            except OSError:
                continue
    return devices


def queue_manager_files(directory):
    """Return the entries of ``directory``, and of an ``active`` below it, that a queue manager owns."""
    found = []
    for path in (directory, os.path.join(directory, "active")):
        try:
            names = os.listdir(path)
        except OSError:
            continue
        found.extend(os.path.join(path, name) for name in sorted(names) if QUEUE_MANAGER_FILES.match(name))
    return found


def _read(path, default=None):
    """Return the text of a regular file; ``default`` if it is not one or cannot be read. Never waits for a writer."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY)) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return default
            return stream.read(INI_MAX_BYTES).decode("utf-8", "replace")
    except (IOError, OSError):
        return default


def _may_exist(path):
    """False if ``path`` certainly does not exist; true also if this user may not check."""
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENOTDIR)
    return True
