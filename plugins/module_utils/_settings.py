# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads settings of a host without changing anything: files of the system, the output of commands, and the
configuration of queue managers. What this user may not read is unknown.

What is read is stated by the catalogue of the controller (see ``plugin_utils/_run/settings.py``).

Private to this collection; it may change at any time.
"""

import ctypes
import json
import os
import re
import stat
import subprocess

from . import _block_devices, _ini_files, _mounts, _queue_managers

MOST_BYTES = 1 << 16
LONGEST_VALUE = 200
MOST_VALUES = 64
COMMAND_S = 5
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_TIME_ERROR = 5
"""What adjtimex(2) returns if the clock is not synchronized."""


def readings_text(*arguments):
    """Return the readings as JSON, because Ansible would handle each element of a nested fact in each task."""
    return json.dumps(readings(*arguments), sort_keys=True)


def readings(wanted, facts, disks, queue_managers, mqs_ini):
    """Return the values of the ``wanted`` settings, by id: a list of pairs of a subject and a value. The subject is the
    disk or the queue manager, or empty. The value is empty if the setting is not set, and None if it cannot be read. A
    setting without a subject on this host is left out.

    ``wanted`` are entries with ``id``, ``when`` and ``read``; ``facts`` describe the file system, and ``disks`` are the
    names of its disks. The ``queue_managers`` are those whose logs are tested.
    """
    context = dict(facts=facts, disks=disks, queue_managers=queue_managers, mqs_ini=mqs_ini, known={})
    found = {}
    for entry in wanted:
        if applies(entry["when"], facts):
            values = _READERS[next(name for name in _READERS if name in entry["read"])](entry["read"], context)
            if values:
                found[entry["id"]] = [[subject, _shown(value)] for subject, value in values[:MOST_VALUES]]
    return found


def applies(when, facts):
    """Return whether the facts have one of the words that each condition allows."""
    return all(set(str(facts.get(name) or "").split()) & set(words) for name, words in when.items())


def _shown(value):
    """Return a value without characters that cannot be printed."""
    if value is None:
        return None
    return "".join(each if each.isprintable() else "?" for each in value)[:LONGEST_VALUE]


def _of_files(read, context):
    """Read a file, or the same file of each disk or each multipath device."""
    return [(subject, each) for subject, path in _paths(read["file"], context) for each in _matches(read, _text(path))]


def _of_entries(read, context):
    """Count the entries of a directory."""
    found = []
    for subject, path in _paths(read["entries"], context):
        try:
            found.append((subject, str(len(os.listdir(path)))))
        except OSError:
            found.append((subject, None))
    return found


def _paths(template, context):
    """Return the paths for a template, with their subjects."""
    if "{disk}" in template:
        # A disk is a single name in sysfs. Other volumes are named by the source of their mount.
        names = [name for name in context["disks"] if re.match(r"[A-Za-z0-9!_.-]+\Z", name)]
        # What a kind of disk does not have says nothing about it.
        found = [(name, template.replace("{disk}", name)) for name in names]
        return [(name, path) for name, path in found if os.path.lexists(path)]
    if "{mpath}" in template:
        return [(name, template.replace("{mpath}", name)) for name in _multipath_devices(context)]
    return [("", template)]


def _multipath_devices(context):
    facts = context["facts"]
    number = _block_devices.known_number_below(facts.get("device_number"), facts.get("mount_source"))
    return [name for name, kind in _block_devices.layers_below(number) if kind == "mpath"]


def _text(path):
    """Return the text of a regular file; None if it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return stream.read(MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return None


def _matches(read, text):
    """Return the values in a text: those of the pattern's groups, or else the whole text. There is one empty value if
    nothing matches, and None if there is no text."""
    if text is None:
        return [None]
    if "pattern" not in read:
        return [text.strip()]
    found = [next((group for group in match.groups() if group), "") for match in re.finditer(read["pattern"], text)]
    return sorted(set(found)) or [""]


def _of_command(read, context):
    """Run a command that only shows something."""
    command = tuple(read["command"])
    return [("", each) for each in _matches(read, _once(context, command, lambda: _output(command)))]


def _once(context, key, function):
    """Return the result of a function that several settings need. It is called once."""
    if key not in context["known"]:
        context["known"][key] = function()
    return context["known"][key]


def _output(command):
    """Return what a command prints; None if it cannot be run or fails."""
    environment = dict(PATH=_PATH, LC_ALL="C")
    try:
        # run_command has no time limit.
        done = subprocess.run(  # pylint: disable=ansible-bad-function
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=COMMAND_S,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout[:MOST_BYTES].decode("utf-8", "replace") if done.returncode == 0 else None


def _of_mount(read, context):
    """Return the type of the file system of a path, if the path exists."""
    path = read["mount_of"]
    return [(path, _mounts.mount_of(path).get("filesystem_type"))] if os.path.exists(path) else []


def _of_kernel(read, context):
    adjtimex = getattr(ctypes.CDLL(None), "adjtimex", None)
    state = adjtimex(ctypes.create_string_buffer(512)) if adjtimex else -1
    return [("", None if state < 0 else "not synchronized" if state == _TIME_ERROR else "synchronized")]


def _of_ini(read, context):
    """Return a key of a stanza of each queue manager's qm.ini that has this stanza."""
    stanza, key = read["ini"]
    found = []
    for name, own in _configured(context):
        try:
            stanzas = _ini_files.read(_queue_managers.qm_ini_path(own)) or []
            for each in stanzas:
                if each.named(stanza):
                    each.check()
                    found.append((name, each.text(key) or ""))
        except _ini_files.IniError:
            found.append((name, None))
    return found


def _of_queue_manager(read, context):
    """Return whether a queue manager's log and its data are on different disks ("apart")."""
    found = []
    for name, own in _configured(context):
        try:
            log = _queue_managers.log_stanza(own)
            path = log.path_of("LogPath") if log else None
            disks = [_disks_of(path), _disks_of(os.path.dirname(_queue_managers.qm_ini_path(own)))] if path else []
        except (_ini_files.IniError, OSError):
            disks = []
        known = len(disks) == 2 and all(disks)
        found.append((name, None if not known else "same disk" if disks[0] & disks[1] else "apart"))
    return found


def _disks_of(path):
    mount = _mounts.mount_of(path)
    source = mount.get("mount_source")
    number = _block_devices.number_below(mount.get("device_number"), source)
    return set(_block_devices.disks_below(number)) or ({source} if source else set())


def _configured(context):
    """Return the stanzas in mqs.ini of the queue managers whose logs are tested."""
    path = context["mqs_ini"]
    stanzas = _once(context, path, lambda: _queue_managers.configured_stanzas(path))
    return sorted((name, stanzas[name]) for name in context["queue_managers"] if name in stanzas)


_READERS = dict(
    file=_of_files,
    entries=_of_entries,
    command=_of_command,
    mount_of=_of_mount,
    kernel=_of_kernel,
    ini=_of_ini,
    queue_manager=_of_queue_manager,
)
