# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists the queue managers of a host, with the settings of their recovery logs and the file systems of these logs. It
only reads files, and needs no MQ library.

Everything that may hang on a file system whose storage no longer answers is called with a time limit, separately for
each queue manager.

Private to this collection; it may change at any time.
"""

import errno
import os
import re
import shutil

from . import _command_lines, _ini_files, _mounts, _places, _queue_managers, _time_limit, _workspace

DEFAULT_LIMIT_S = 10
MOST_QUEUE_MANAGERS = 300
COMMAND_PATH = os.pathsep.join(("/opt/mqm/bin", "/usr/bin"))
"""The directory of MQ's commands if they are not in the user's path."""

FROM_QM_INI, FROM_MQS_INI, FROM_FILES, GIVEN, ASSUMED = "qm.ini", "mqs.ini", "files", "given", "assumed"
"""The source of a setting: a configuration file, the files of the log itself, the plan for a new queue manager, or the
product's default."""

_ABSENT = "its file system is not mounted here, this is a passive node, or LogPath is wrong"
_FACTS = dict(
    LogType="log_type",
    LogFilePages="log_file_pages",
    LogPrimaryFiles="log_primary_files",
    LogSecondaryFiles="log_secondary_files",
    LogBufferPages="log_buffer_pages",
    LogWriteIntegrity="log_write_integrity",
)
"""The names of the settings in an answer."""


def discover(mqs_ini, run_command, stanzas="", planned=(), limit_s=DEFAULT_LIMIT_S):
    """Return ``queue_managers`` (one dict each, sorted by name), ``log_defaults`` (the default settings of new queue
    managers) and ``problems``.

    If mqs.ini cannot be read, dspmqinf is called with ``run_command`` (of a module), if it is installed. The output of
    dspmqinf can also be given as ``stanzas``. ``planned`` holds queue managers that are to be created, as dicts with
    ``name`` and the same settings as in an answer. If one of them already exists, its files are used instead.
    """
    answer = dict(queue_managers=[], log_defaults={}, problems=[])
    try:
        parsed = (
            _ini_files.parse(stanzas, "the output of dspmqinf")
            if stanzas
            else _read_mqs_ini(mqs_ini, run_command, limit_s)
        )
        log_defaults = _log_defaults(parsed)
    except _ini_files.IniError as error:
        answer["problems"] = [str(error)]
        return answer
    found, answer["problems"] = _queue_managers.queue_manager_stanzas(parsed)
    if len(found) > MOST_QUEUE_MANAGERS:
        # Each of them is inspected by its own process.
        said = (mqs_ini, len(found), MOST_QUEUE_MANAGERS)
        answer["problems"] = ["%s lists %d queue managers, but at most %d are inspected" % said]
        return answer
    calls = dict(
        (name, lambda stanza=stanza: _describe(stanza, log_defaults["log_path"])) for name, stanza in found.items()
    )
    calls.update(
        (each["name"], lambda each=each: _describe_planned(each, log_defaults))
        for each in planned
        if each["name"] not in found
    )
    names = sorted(calls)
    seen, running = _queue_managers.sees_processes(), _queue_managers.running_queue_managers()
    for name, described in zip(names, _time_limit.call_all([calls[name] for name in names], limit_s)):
        facts = described if isinstance(described, dict) else dict(problem=str(described))
        facts.setdefault("absent", False)
        facts.update(name=name, exists=name in found, running=name in running or (False if seen else None))
        answer["queue_managers"].append(facts)
    _note_sharing(answer["queue_managers"])
    return dict(answer, log_defaults=log_defaults)


def _read_mqs_ini(path, run_command, limit_s):
    text = _time_limit.call_all([lambda: _ini_files.read_text(path)], limit_s)[0]
    if text is None or isinstance(text, _time_limit.TimeLimitError):
        asked = _time_limit.call_all([lambda: _ask_dspmqinf(run_command)], limit_s)[0]
        if isinstance(asked, _time_limit.TimeLimitError):
            raise _ini_files.IniError("dspmqinf was called because %s cannot be read, but failed: %s" % (path, asked))
        if asked is not None:
            return _ini_files.parse(asked, "the output of dspmqinf")
    if isinstance(text, _time_limit.TimeLimitError):
        raise _ini_files.IniError(str(text) if path in str(text) else "%s: %s" % (path, text))
    return _ini_files.parse(text or "", path)


def _ask_dspmqinf(run_command):
    """Return the stanzas of all queue managers as MQ's commands print them; None if they are not installed."""
    dspmq, dspmqinf = (shutil.which(name) or shutil.which(name, path=COMMAND_PATH) for name in ("dspmq", "dspmqinf"))
    if not dspmq or not dspmqinf:
        return None
    names = re.findall(r"^QMNAME\(([^)]*)\)", _output(run_command, [dspmq]), re.MULTILINE)
    return "\n".join(_output(run_command, [dspmqinf, "-o", "stanza", name]) for name in names)


def _output(run_command, command):
    status, output, errors = run_command(command, handle_exceptions=False)
    if status != 0:
        raise _ini_files.IniError(
            "%s: %s"
            % (_command_lines.command(command), " ".join((output + " " + errors).split()) or "status %d" % status)
        )
    return output


def _log_defaults(stanzas):
    """Return the settings that a new queue manager would have if it were created now, and the default directory of
    logs. Raises IniError."""
    defaults, everywhere = _ini_files.only(stanzas, "LogDefaults"), _ini_files.only(stanzas, "AllQueueManagers")
    prefix = everywhere.path_of("DefaultPrefix") if everywhere else None
    path = defaults.path_of("LogDefaultPath") if defaults else None
    facts = _named(_ini_files.log_settings(defaults), {}, FROM_MQS_INI)
    return dict(facts, log_path=path or os.path.join(prefix or os.path.dirname(_queue_managers.MQS_INI), "log"))


def _describe(stanza, log_home):
    """Return what is known about a queue manager, given its stanza in mqs.ini. If its files are not on this host, only
    the problem is returned. Raises IniError."""
    try:
        return _describe_present(stanza, log_home)
    except _queue_managers.AbsentError as error:
        return dict(problem="%s: %s" % (error, _ABSENT), absent=True)


def _describe_present(stanza, log_home):
    log = _queue_managers.log_stanza(stanza)
    path, source = log.path_of("LogPath") if log else None, FROM_QM_INI
    if path is None:
        path, source = (
            os.path.join(log_home, stanza.text("Directory") or os.path.basename(stanza.path_of("DataPath"))),
            ASSUMED,
        )
    place = (
        "line %d of %s" % (log.line_of("LogPath"), log.path)
        if source == FROM_QM_INI
        else "the default, because qm.ini has none"
    )
    settings = _ini_files.log_settings(log)
    try:
        os.stat(path)
        facts = _located(path)
        if not _queue_managers.has_log(path):
            # For example, it is an empty mount point.
            raise _queue_managers.AbsentError(
                "the log directory %s has neither %s nor log files" % (path, _queue_managers.CONTROL_FILE)
            )
    except OSError as error:
        absent = error.errno in (errno.ENOENT, errno.ENOTDIR)
        kind = _queue_managers.AbsentError if absent else _ini_files.IniError
        raise kind("LogPath %s (%s) cannot be inspected%s" % (path, place, _ini_files.why(error)))
    said, seen, contradicted = _queue_managers.beside_files(
        settings, _queue_managers.seen_in_files(facts["log_directory"])
    )
    facts.update(_named(said, seen), contradicted=dict((_FACTS[key], contradicted[key]) for key in contradicted))
    facts["sources"]["log_path"] = source
    return dict(facts, qm_ini=_queue_managers.qm_ini_path(stanza), installation=stanza.text("InstallationName") or "")


def _describe_planned(planned, log_defaults):
    """Return the same information about a queue manager that is to be created. Raises IniError."""
    given = dict((key, planned[key]) for key in planned if key != "name" and planned[key] is not None)
    facts = dict(log_defaults, **given)
    if "log_path" not in given:
        facts["log_path"] = os.path.join(log_defaults["log_path"], _workspace.directory_name(planned["name"]))
    if not facts["log_path"].startswith("/"):
        raise _ini_files.IniError(
            "the planned queue manager %s: log_path is %r, but must be an absolute path"
            % (planned["name"], facts["log_path"])
        )
    for key, least, most, dummy in _ini_files.LOG_NUMBERS:
        wrong = _ini_files.why_not_allowed(facts[_FACTS[key]], least, most)
        if wrong:
            raise _ini_files.IniError(
                "the planned queue manager %s: %s is %d, but %s"
                % (planned["name"], _FACTS[key], facts[_FACTS[key]], wrong)
            )
        facts[_FACTS[key]] = _ini_files.meant(key, facts[_FACTS[key]])
    wrong = _ini_files.why_too_many_files(facts["log_primary_files"], facts["log_secondary_files"])
    if wrong:
        raise _ini_files.IniError(
            "the planned queue manager %s: log_primary_files and log_secondary_files %s" % (planned["name"], wrong)
        )
    facts.update(_located(facts["log_path"]), sources=dict(log_defaults["sources"], **dict.fromkeys(given, GIVEN)))
    return facts


def _located(path):
    """Return where a log is, or will be created: its directory, the parent directory, and the file system. Raises
    OSError."""
    directory = os.path.realpath(path)
    parent = _places.nearest_existing(os.path.dirname(directory))
    filesystem = _filesystem(directory)
    return dict(log_path=path, log_directory=directory, log_parent=parent, problem="", filesystem=filesystem)


def _filesystem(path):
    mount = _mounts.mount_of(path)
    facts = dict((key, mount.get(key)) for key in ("mount_point", "mount_source", "filesystem_type", "device_number"))
    return dict(facts, **_mounts.space(_places.nearest_existing(path)))


def _named(said, seen, source=FROM_QM_INI):
    """Return the settings by their names in an answer, with their sources: a configuration file, or else the files of
    the log, or else the default."""
    defaults = dict(
        [(key, default) for key, dummy, dummy, default in _ini_files.LOG_NUMBERS]
        + [(key, words[0]) for key, words in _ini_files.LOG_WORDS]
    )
    facts = dict((fact, said.get(key, seen.get(key, defaults[key]))) for key, fact in _FACTS.items())
    sources = dict(
        (fact, source if key in said else FROM_FILES if key in seen else ASSUMED) for key, fact in _FACTS.items()
    )
    return dict(facts, sources=sources)


def _note_sharing(queue_managers):
    """Add to each queue manager the names of the others whose logs are on the same file system."""
    for each in queue_managers:
        device = each.get("filesystem", {}).get("device_number")
        each["shares_filesystem_with"] = [
            other["name"]
            for other in queue_managers
            if other is not each and device and other.get("filesystem", {}).get("device_number") == device
        ]
