# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Signs of a live queue manager: its files, its processes, and the log paths in its configuration.

Private to this collection; it may change at any time.
"""

import os
import re
import stat

from . import _block_devices, _ini_files, _machine, _mounts, _time_limit

MQS_INI = "/var/mqm/mqs.ini"
QUEUE_MANAGER_FILES = re.compile(
    r"\A(S[0-9]{7}\.LOG|amqhlctl\.lfh|amqhlctl\.[0-9]+|qm\.ini|mqs\.ini|qmanager|QMQMOBJCAT)\Z"
)
EXTENT = re.compile(r"S[0-9]{7}\.LOG\Z")
CONTROL_FILE = "amqhlctl.lfh"
"""The files of a recovery log: its extents, in the directory active, and its control file."""
FILES_LIMIT_S = 5
QUEUE_MANAGER_PROCESSES = frozenset(("amqzmuc0", "amqzxma0"))

OPTIONS = dict(
    mqs_ini=dict(type="path", default=MQS_INI),
    planned_queue_managers=dict(
        type="list",
        elements="dict",
        default=[],
        options=dict(
            name=dict(type="str", required=True),
            log_path=dict(type="path"),
            log_file_pages=dict(type="int"),
            log_primary_files=dict(type="int"),
            log_secondary_files=dict(type="int"),
            log_buffer_pages=dict(type="int"),
        ),
    ),
)
"""The options of the modules that discover queue managers."""


class AbsentError(_ini_files.IniError):
    """The files of a queue manager that is configured on this host are missing. Their file system is not mounted, for
    example because this is a passive node."""


def queue_manager_stanzas(stanzas):
    """Return ``(found, problems)``: the stanza of each queue manager by name, and the problems with other stanzas."""
    found, problems = {}, []
    for stanza in stanzas:
        try:
            if not stanza.named("QueueManager"):
                # Stanzas of other products may have one of these keys.
                stanza.check_without(("Prefix", "Directory", "DataPath", "InstallationName"), "QueueManager", least=2)
                if stanza is stanzas[0]:
                    _ini_files.check_any(stanzas, stanza.path)
                continue
            stanza.check()
            name = stanza.text("Name")
            if name is None:
                raise stanza.error(stanza.line, "this stanza QueueManager has no Name")
            if name in found:
                raise stanza.error(
                    stanza.line_of("Name"), "Name is %r again, as in the stanza in line %d" % (name, found[name].line)
                )
            found[name] = stanza
        except _ini_files.IniError as error:
            problems.append(str(error))
    return found, problems


def qm_ini_path(stanza):
    """Return the path of the qm.ini that a QueueManager stanza of mqs.ini points to. Raises IniError."""
    data_path = stanza.path_of("DataPath")
    if data_path:
        return os.path.join(data_path, "qm.ini")
    prefix, directory = stanza.path_of("Prefix"), stanza.text("Directory")
    if not prefix or not directory:
        raise stanza.error(
            stanza.line, "the stanza of %s has neither DataPath nor both Prefix and Directory" % stanza.text("Name")
        )
    if "/" in directory:
        raise stanza.error(stanza.line_of("Directory"), "Directory is %r, but must be a name" % directory)
    return os.path.join(prefix, "qmgrs", directory, "qm.ini")


def log_stanza(stanza):
    """Return the stanza Log of the queue manager with this stanza in mqs.ini; None if its qm.ini has none. Raises
    IniError, or AbsentError if there is no qm.ini."""
    path = qm_ini_path(stanza)
    stanzas = _ini_files.read(path)
    if stanzas is None:
        raise AbsentError("%s, the configuration file of %s, does not exist" % (path, stanza.text("Name")))
    log = _ini_files.only(stanzas, "Log")
    if log is None:
        for stanza in stanzas:
            stanza.check_without(["LogPath"] + [key for key, dummy, dummy, dummy in _ini_files.LOG_NUMBERS], "Log")
        _ini_files.check_any(stanzas, path)
    return log


def seen_in_files(log_path):
    """Return the settings that the files of a log show; nothing if this user may not read its directory, or if most of
    the files do not have the same size. A single file, which may be a stray one or incomplete, shows nothing."""
    directory = os.path.join(log_path, "active")
    try:
        names = [name for name in os.listdir(directory) if EXTENT.match(name)]
    except OSError:
        return {}
    sizes = []
    for name in names:
        try:
            status = os.stat(os.path.join(directory, name))
        except OSError:
            continue  # a queue manager with linear logging removes files
        if stat.S_ISREG(status.st_mode):
            sizes.append(status.st_size)
    size = max(sizes, key=sizes.count, default=0)
    files = sizes.count(size)
    if files < 2 or 2 * files <= len(sizes):
        return {}
    return dict(LogFilePages=size // _ini_files.LOG_PAGE_BYTES, LogPrimaryFiles=files)


def beside_files(said, seen):
    """Return ``(said, seen, contradicted)``: the settings of a stanza Log that are in effect, those that the files of
    the log show, in the range that MQ allows, and those of the stanza that the files contradict.

    MQ determines the size of the files when it creates a queue manager. Many versions ignore a LogFilePages that was
    changed later.
    """
    key, least, most, dummy = _ini_files.LOG_NUMBERS[0]
    contradicted = {}
    if key in said and least <= seen.get(key, 0) <= most and seen[key] != said[key]:
        contradicted[key] = said[key]
    limits = dict((key, (least, most)) for key, least, most, dummy in _ini_files.LOG_NUMBERS)
    return (
        dict((key, said[key]) for key in said if key not in contradicted),
        dict((key, min(max(seen[key], limits[key][0]), limits[key][1])) for key in seen),
        contradicted,
    )


def log_ring_bytes(log):
    """Return the total size in bytes of a recovery log's primary files, from the stanza Log, the files, and MQ's
    defaults. Raises IniError. Files on storage that does not answer are not considered."""
    path = log.path_of("LogPath")
    seen = _time_limit.call_all([lambda: seen_in_files(path)], FILES_LIMIT_S)[0] if path else {}
    said, seen, dummy = beside_files(_ini_files.log_settings(log), seen if isinstance(seen, dict) else {})
    pages, files = (said.get(key, seen.get(key, default)) for key, dummy, dummy, default in _ini_files.LOG_NUMBERS[:2])
    return pages * files * _ini_files.LOG_PAGE_BYTES


def log_buffer_bytes(log):
    """Return the size of the log buffer, which is also the size of the largest log write, from the stanza Log and MQ's
    default. Raises IniError."""
    return (
        _ini_files.log_settings(log).get("LogBufferPages") or _ini_files.DEFAULT_BUFFER_PAGES
    ) * _ini_files.LOG_PAGE_BYTES


def log_facts(names, mqs_ini=MQS_INI):
    """Return facts about the recovery logs of the queue managers with these names: the bytes of the largest set of
    primary files, and of the smallest log buffer; None if this user cannot read the qm.ini of any of them."""
    log_sets, buffers = [], []
    for name, stanza in _configured(mqs_ini)[0].items():
        try:
            log = log_stanza(stanza) if name in names else None
            if log:
                log_sets.append(log_ring_bytes(log))
                buffers.append(log_buffer_bytes(log))
        except _ini_files.IniError:
            continue
    return dict(
        queue_manager_log_set_bytes=max(log_sets, default=None),
        queue_manager_log_buffer_bytes=min(buffers, default=None),
    )


def configured_log_paths(mqs_ini=MQS_INI):
    """Return ``(paths, unknown)``: the LogPath of each queue manager by name, if this user may read it, and one
    sentence for each problem."""
    stanzas, unknown = _configured(mqs_ini)
    paths = {}
    for name, stanza in stanzas.items():
        try:
            log = log_stanza(stanza)
            path = log.path_of("LogPath") if log else None
            if path is None:
                raise _ini_files.IniError("%s has no LogPath" % qm_ini_path(stanza))
            paths[name] = path
        except _ini_files.IniError as error:
            unknown.append("the log path of queue manager %s (%s)" % (name, error))
    return paths, unknown


def not_listed(mqs_ini):
    """Return what to do if this mqs.ini does not list a queue manager that runs."""
    return (
        "%s does not list it: set workspace_mqs_ini to the mqs.ini of this queue manager. If MQ_OVERRIDE_DATA_PATH is "
        "set for MQ, this file is in that directory" % mqs_ini
    )


def configured_queue_managers(mqs_ini=MQS_INI):
    """Return the names of the queue managers of this host, running or not, followed by one sentence for each problem
    with mqs.ini."""
    stanzas, problems = _configured(mqs_ini)
    return sorted(stanzas) + problems


def configured_stanzas(mqs_ini):
    """Return the stanza of each queue manager in mqs.ini by its name."""
    return _configured(mqs_ini)[0]


def _configured(mqs_ini):
    """Return the stanza of each queue manager by name, and the problems with other stanzas or the file."""
    try:
        return queue_manager_stanzas(_ini_files.read(mqs_ini) or ())
    except _ini_files.IniError as error:
        return {}, [str(error)]


def sees_processes(proc="/proc"):
    """True if this user sees the processes of others: if /proc is mounted with hidepid, the user cannot read the name
    of process 1, or cannot see it at all."""
    return _machine.read_text(os.path.join(proc, "1", "comm"), None) is not None


def running_queue_managers():
    """Return the names of running queue managers, from the arguments of their processes (``-m NAME``); ``?`` if a
    process has no such argument."""
    found = set()
    for pid in os.listdir("/proc"):
        if not pid.isdigit() or _machine.read_text("/proc/%s/comm" % pid).strip() not in QUEUE_MANAGER_PROCESSES:
            continue
        arguments = _machine.read_text("/proc/%s/cmdline" % pid).split("\0")
        name = next((arguments[i + 1] for i, argument in enumerate(arguments[:-1]) if argument == "-m"), None)
        if name is None:
            name = next(
                (argument[2:] for argument in arguments if argument.startswith("-m") and len(argument) > 2), "?"
            )
        found.add(name)
    return sorted(found)


def why_not_to_cut(mqs_ini=MQS_INI):
    """Return the reason if neither the power of this host nor its connection to its storage may be cut; otherwise
    empty."""
    running = running_queue_managers()
    if running:
        return "queue managers are running on this host (%s): stop them before its power or storage is cut" % (
            ", ".join(running)
        )
    names = [] if sees_processes() else configured_queue_managers(mqs_ini)
    if names:
        return (
            "this user cannot see the processes of other users (hidepid), so queue managers "
            "may be running unnoticed (%s)" % ", ".join(names)
        )
    return ""


def open_log_file_systems():
    """Return the device numbers of the file systems with recovery log files that a process has open, as far as this
    user may see them."""
    found = set()
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
                    # A file system that was unmounted with umount --lazy has no mount.
                    number = _mounts.mount_of_open(descriptor, pid).get("device_number")
                    found.add(number or _block_devices.number_of(os.stat(link).st_dev))
            except OSError:
                continue
    return found


def has_log(directory):
    """Return whether a directory contains a file of a recovery log. An empty mount point does not. Raises OSError if
    this user cannot see whether it contains one."""
    if os.path.lexists(os.path.join(directory, CONTROL_FILE)):
        return True
    names = os.listdir(directory)
    return any(
        EXTENT.match(name) for name in (os.listdir(os.path.join(directory, "active")) if "active" in names else ())
    )


def queue_manager_files(directory):
    """Return the entries of ``directory``, and of an ``active`` below it, that belong to a queue manager."""
    found = []
    for path in (directory, os.path.join(directory, "active")):
        try:
            names = os.listdir(path)
        except OSError:
            continue
        found.extend(os.path.join(path, name) for name in sorted(names) if QUEUE_MANAGER_FILES.match(name))
    return found
