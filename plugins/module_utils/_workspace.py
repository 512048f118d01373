# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The working directory on the file system under test: its preflight, creation and removal.

Layout: ``<path>/logdisk-<run id>-<volume>/<queue manager or place>/``. The run's directory contains the mark of this
collection, and so does ``<path>`` if this run created it. A directory without the mark is never removed.

Private to this collection; it may change at any time.
"""

import errno
import fcntl
import os
import pwd
import re
import stat
import struct
import time

from . import _machine, _marks, _mounts, _places, _process, _queue_managers, _runs, _time_limit, _volume_identity

QUEUE_MANAGER_NAME = re.compile(r"\A[A-Za-z0-9._/%]{1,48}\Z")
PLACE_NAME = re.compile(r"\A[A-Za-z0-9_][A-Za-z0-9._-]{0,31}\Z")
TEST_FILE_PREFIX = "logdisk"
RUN_DIRECTORY_PREFIX = "logdisk-"
DEVICE_LIMIT_S = 3
LEFTOVER_FILE = re.compile(
    r"\A(\.nfs[0-9A-Fa-f]+|%s(\.[A-Za-z0-9._-]{1,32})?\.([0-9]{4,6}|acknowledge))\Z" % TEST_FILE_PREFIX
)
"""Files that a crash may leave in the directory of a queue manager or a place: files that NFS renamed because they were
open (.nfs...), a test file that was not unlinked yet, and the files of a power-cut test, which are meant to survive."""

LOCKED_FILE = re.compile(
    r"\A(\.nfs[0-9A-Fa-f]+|pair[0-9]{1,4}-(lock|log|log-unlocked|record|nonce|many[0-9]-[0-9]{4}))\Z"
)
"""Files that a test of locks may leave in the directory of its run, because a host that lost power could not remove
them."""
HELD_FILE = re.compile(r"\A(\.nfs[0-9A-Fa-f]+|pair[0-9]{1,4}-(lock|log|record|many0-0000))\Z")
"""The files that tell whether such a test holds locks. It never locks another one without one of these, and a slow file
server may take seconds to answer for each file."""

REMOVAL_S = 0.5
"""How long another host may take to finish the removal of a directory."""

STARTING_S = 3600
"""A workspace that this machine created, of a run that is not known on it, is assumed to belong to a run that is about
to start, unless it is older than this."""

MAKING_ATTEMPTS = 3


class WorkspaceError(Exception):
    """The workspace cannot be created. The message says what to do."""


class VanishedError(WorkspaceError):
    """A directory was removed while the workspace was being created."""


def directory_name(queue_manager):
    """Return the name of a queue manager's folder. Special characters (/ and .) are replaced as in the names of MQ's
    own directories."""
    if not QUEUE_MANAGER_NAME.match(queue_manager):
        raise WorkspaceError(
            "%r is not a valid queue manager name: use 1 to 48 letters, digits and the characters . _ / %%"
            % queue_manager
        )
    return queue_manager.replace("/", "&").replace(".", "!")


def place_directory_name(place):
    """Return the name of the folder for a place of a workload, which is the name of the place."""
    if not PLACE_NAME.match(place):
        raise WorkspaceError(
            (
                "%r is not a valid name of a place: use 1 to 32 letters, digits and the characters "
                ". _ -, not beginning with . or -"
            )
            % place
        )
    return place


def layout(path, run_id, volume, queue_managers, places=()):
    """Return the paths of a run's workspace: ``path``, ``run_directory`` and ``directories`` (one for each place or, if
    there are no places, for each queue manager)."""
    if not path.startswith("/") or os.path.normpath(path) != path or path == "/":
        raise WorkspaceError("workspace_path must be an absolute, normalized path below /, not %r" % path)
    if re.search(r"[,\x00-\x1f\x7f]", path):
        raise WorkspaceError("workspace_path must not contain commas or control characters: %r" % path)
    if not _runs.RUN_NAME.match("%s-%s" % (run_id, volume)):
        raise WorkspaceError("workspace_volume must be a short name of letters, digits and . _ -, not %r" % volume)
    names = [place_directory_name(name) for name in places] or [directory_name(name) for name in queue_managers]
    if len(set(names)) != len(names) or not names:
        raise WorkspaceError("workspace_queue_managers must name at least one queue manager, and none of them twice")
    directory = run_directory(path, "%s-%s" % (run_id, volume))
    return dict(path=path, run_directory=directory, directories=[os.path.join(directory, name) for name in names])


def run_directory(path, state):
    """Return the path of a run's directory below the workspace ``path``. ``state`` is the name or the path of the
    run's state directory."""
    return os.path.join(path, RUN_DIRECTORY_PREFIX + os.path.basename(state))


class Preflight:
    """All reasons not to test in ``path``. They are found without writing anything.

    ``refusals`` is a list of sentences. Each names the variable that overrides it, if there is one. ``unknown`` is a
    list of what could not be determined. ``facts`` describe the file system of the path.
    """

    def __init__(self, path, allow, expect_mount="", owner_uid=None, direct_sizes=(), mqs_ini=_queue_managers.MQS_INI):
        self.path = path
        self.allow = frozenset(allow)
        self.owner_uid = os.geteuid() if owner_uid is None else owner_uid
        self.mqs_ini = mqs_ini
        self.refusals = []
        self.unknown = []
        self.existing = _places.nearest_existing(path)
        self.mount = _mounts.mount_of(path)
        self.facts = dict(
            (key, self.mount.get(key))
            for key in ("mount_point", "mount_source", "mount_options", "filesystem_type", "device_number")
        )
        self.facts.update(
            _volume_identity.facts(self.existing, self.facts["device_number"], self.facts["mount_source"])
        )
        for check in (
            self._symlinks,
            self._directory,
            self._mount,
            self._queue_manager_files,
            self._running_queue_managers,
            self._hidden_processes,
        ):
            check(expect_mount) if check == self._mount else check()
        self._space()
        self._block_sizes(direct_sizes)

    def _refuse(self, sentence, override=None):
        if override is None:
            self.refusals.append(sentence)
        elif override not in self.allow:
            self.refusals.append("%s; to override: workspace_allow: [%s]" % (sentence, override))

    def _symlinks(self):
        link = _mounts.symlink_in(self.path)
        if link:
            self._refuse("%s is a symlink: name the directory itself" % link, "symlink")

    def _directory(self):
        parent = os.path.dirname(self.path)
        if not os.path.isdir(parent):
            self._refuse("%s does not exist: is its file system mounted?" % parent)
            return
        if not os.path.lexists(self.path):
            return
        status = os.stat(self.path)
        if not stat.S_ISDIR(status.st_mode):
            self._refuse("%s is not a directory" % self.path)
            return
        shared = why_shared(self.path, status, self.owner_uid)
        if shared:
            self._refuse(shared, "shared_directory")

    def _mount(self, expected):
        point, kind = self.facts["mount_point"], self.facts["filesystem_type"]
        if expected and point not in _mounts.points_in(expected):
            self._refuse("%s is on the mount point %s, but workspace_expect_mount is %s" % (self.path, point, expected))
        if kind is None:
            self.unknown.append("the mount of %s" % self.path)
        elif not _mounts.is_local(kind):
            self._refuse(
                "%s is on %s, a file system that other hosts may share" % (self.path, kind), "remote_file_system"
            )
        if "ro" in (self.facts["mount_options"] or "").split(","):
            self._refuse("%s is mounted read-only" % point)

    def _queue_manager_files(self):
        for directory in (self.path, os.path.dirname(self.path)):
            found = _queue_managers.queue_manager_files(directory)
            if found:
                self._refuse(
                    "%s contains a queue manager's files (%s): choose a new directory on the same file system"
                    % (directory, os.path.basename(found[0])),
                    "queue_manager_files",
                )

    def _running_queue_managers(self):
        system = self.facts["device_number"]
        running = _queue_managers.running_queue_managers()
        paths, unknown = _queue_managers.configured_log_paths(self.mqs_ini)
        systems = _file_systems(dict((name, path) for name, path in paths.items() if name in running))
        if running:
            self.unknown.extend(unknown)
        here = sorted(name for name in systems if systems[name] and systems[name] == system)
        for name in here:
            self._refuse(
                "the running queue manager %s logs to this file system (%s)" % (name, paths[name]), "active_log"
            )
        if not here and system in _queue_managers.open_log_file_systems():
            self._refuse("a process has recovery log extents open on this file system", "active_log")
        # A log path below a directory that this user may not search is considered unknown, just as if it could not be
        # read.
        unplaced = sorted(name for name in set(running) if not (system and systems.get(name)))
        if unplaced:
            # A problem with mqs.ini itself may be the reason for every queue manager, one with another's qm.ini is not.
            of_each = "the log path of queue manager "
            theirs = [
                sentence for sentence in unknown if any("%s%s (" % (of_each, name) in sentence for name in unplaced)
            ] or [sentence for sentence in unknown if not sentence.startswith(of_each)]
            why = "".join("; unknown: " + sentence for sentence in theirs[:1])
            if not theirs and any(name not in paths for name in unplaced):
                why = "; " + _queue_managers.not_listed(self.mqs_ini)
            self._refuse(
                "the log path of running queue managers cannot be determined (%s)%s" % (", ".join(unplaced), why),
                "unknown_log",
            )

    def logs_here(self, names):
        """Return which of the queue managers with these names have their log on this file system. A log that this user
        cannot see does not count."""
        paths = _queue_managers.configured_log_paths(self.mqs_ini)[0]
        paths = dict((name, paths[name]) for name in names if name in paths)
        systems, system = _file_systems(paths), self.facts["device_number"]
        return sorted(name for name in paths if system and systems[name] == system and _has_log(paths[name]))

    def _hidden_processes(self):
        if _queue_managers.sees_processes():
            return
        names = _queue_managers.configured_queue_managers(self.mqs_ini)
        if names:
            self._refuse(
                "this user cannot see the processes of other users (hidepid), so queue managers may be running "
                "unnoticed (%s): set workspace_become: always to check as root" % ", ".join(names),
                "unknown_log",
            )
        else:
            self.unknown.append(
                "whether queue managers are running: this user cannot see the processes of other users (hidepid)"
            )

    def _space(self):
        """Whether there is enough space is checked by :func:`space_refusals`, because volumes may share a file
        system."""
        status = os.statvfs(self.existing)
        self.facts.update(
            filesystem_size_bytes=status.f_blocks * status.f_frsize,
            filesystem_free_bytes=status.f_bavail * status.f_frsize,
        )
        if status.f_files and status.f_favail < 64:
            self._refuse("%s has no free inodes left" % self.facts["mount_point"])

    def _block_sizes(self, sizes):
        """If the block size is unknown, the tester itself checks the sizes before it writes."""
        unit = _mounts.logical_block_size(self.facts["device_number"])
        refused = [size for size in sizes if unit and size % unit]
        if refused:
            # At the top of the file, this import would slow down every call.
            from . import _units

            self._refuse(
                (
                    "%s does not support direct writes of %s, only multiples of %d bytes: change "
                    "sweep_block_sizes, or set sweep_direct: false"
                )
                % (self.facts["mount_source"], ", ".join(_units.format_size(size) for size in refused), unit)
            )

    def needs_privilege(self):
        """True if this user may not create directories there."""
        return not os.access(self.existing, os.W_OK | os.X_OK)


def space_refusals(footprints, facts, reserve):
    """Return a sentence for each path whose test does not fit into its file system.

    ``footprints`` holds the bytes of the test files, by the name of the volume and the path. ``facts`` holds the facts
    of each :class:`Preflight` in the same way. Tests that share free space must fit together.
    """
    groups = {}
    for key in sorted(footprints):
        groups.setdefault(_space_of(facts[key]), []).append(key)
    refusals = {}
    for keys in groups.values():
        fullest = min((facts[key] for key in keys), key=lambda each: each["filesystem_free_bytes"])
        refusal = _space_refusal(
            sorted({name for name, dummy in keys}), sum(footprints[key] for key in keys), fullest, reserve
        )
        refusals.update((key, refusal) for key in keys if refusal)
    return refusals


def _space_of(facts):
    """Return the identifier of the free space: the file system, or the pool of a ZFS file system. Volumes that share
    the free space have the same identifier."""
    if facts.get("filesystem_type") == "zfs":
        return "zfs %s" % (facts.get("mount_source") or "").split("/")[0]
    return facts["device_number"] or facts["mount_point"]


def _space_refusal(names, footprint_bytes, facts, reserve):
    free, reserve_bytes = facts["filesystem_free_bytes"], reserve_in_bytes(reserve, facts["filesystem_size_bytes"])
    if footprint_bytes + reserve_bytes <= free:
        return ""
    test = "the test needs" if len(names) == 1 else "the tests of the volumes %s together need" % ", ".join(names)
    return (
        "%s has %d MiB free, but %s %d MiB and a reserve of %d MiB: free some space, use "
        "fewer or smaller files (sweep_files, sweep_file_size), or reduce workspace_reserve"
        % (facts["mount_point"], free >> 20, test, footprint_bytes >> 20, reserve_bytes >> 20)
    )


def reserve_in_bytes(reserve, filesystem_size_bytes):
    """Return ``reserve`` in bytes. An int is a number of bytes, and a float is a share of the size of the file
    system."""
    return int(reserve * filesystem_size_bytes) if isinstance(reserve, float) else int(reserve)


def why_shared(path, status, owner_uid):
    """Return the reason if users other than root, this user and the owner of the test could change the directory;
    otherwise empty."""
    if status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX:
        return "%s is writable by group or others" % path
    if status.st_uid not in (0, os.geteuid(), owner_uid):
        return "%s belongs to another user (uid %d)" % (path, status.st_uid)
    return ""


def make(plan, run_id, owner, allow=()):
    """Do what :func:`make_once` does. The path is created again if another host that shares the file system removes it
    in the meantime because it was empty."""
    for attempt in range(MAKING_ATTEMPTS):
        try:
            return make_once(plan, run_id, owner, allow)
        except VanishedError:
            if attempt == MAKING_ATTEMPTS - 1:
                raise


def make_once(plan, run_id, owner, allow=()):
    """Create and mark the directories of ``plan`` (from :func:`layout`), for the user ``owner`` (this user if it is
    empty). If a step fails, everything created so far is removed. Raises WorkspaceError.

    ``allow`` are the overrides of the preflight. The conditions may have changed since the preflight, so they are
    checked again.
    """
    making = None
    try:
        making = _Making(pwd.getpwnam(owner) if owner else None, allow)
        base = making.base(plan["path"], run_id)
        run = making.directory(base, plan["run_directory"], 0o700)
        _marks.write_mark(run, dict(run_id=run_id, role="run"))
        for directory in plan["directories"]:
            making.leaf(run, directory, 0o700)
        making.give()
        return dict(plan, made_path=plan["path"] in making.paths())
    except (OSError, KeyError, _marks.MarkError, WorkspaceError) as error:
        if making:
            making.undo()
        kind = VanishedError if isinstance(error, FileNotFoundError) else WorkspaceError
        raise kind("cannot create the workspace %s: %s" % (plan["path"], error))
    finally:
        if making:
            making.close()


class _Making:
    """Directories that are being created. Each is held open, so that checking, marking, changing the owner and removing
    all apply to the same directory.

    This process may run as root below /var/tmp, where another user can make a path refer to something else between two
    calls.
    """

    def __init__(self, user, allow):
        self.user = user
        self.owner_uid = user.pw_uid if user else os.geteuid()
        self.allow = frozenset(allow)
        self.held = []
        self.made = []  # for each directory: its path, the descriptor of its parent, and its own if it is held open

    def paths(self):
        return [path for path, dummy, dummy in self.made]

    def base(self, path, run_id):
        """Return a descriptor of ``path``. If the directory is missing, it is created and marked."""
        parent = self._hold(_open_path(os.path.dirname(path), "symlink" in self.allow))
        try:
            return self._existing(parent, path)
        except FileNotFoundError:
            pass
        try:
            descriptor = self.directory(parent, path, 0o755)
        except FileExistsError:  # was created after the check
            return self._existing(parent, path)
        _marks.write_mark(descriptor, dict(run_id=run_id, role="base"))
        return descriptor

    def _existing(self, parent, path):
        name = os.path.basename(path)
        if "symlink" in self.allow:
            descriptor = self._hold(os.open(name, os.O_PATH | os.O_DIRECTORY, dir_fd=parent))
        else:
            descriptor = self._hold(_marks.open_directory(name, parent, os.O_PATH))
        shared = why_shared(path, os.fstat(descriptor), self.owner_uid)
        if shared and "shared_directory" not in self.allow:
            raise WorkspaceError(shared)
        return descriptor

    def directory(self, parent, path, mode):
        """Create the directory ``path`` in the one open as ``parent`` and return its descriptor."""
        descriptor = self._hold(self._new(parent, path, mode))
        self.made[-1] = (path, parent, descriptor)
        return descriptor

    def leaf(self, parent, path, mode):
        """Create the directory ``path`` and change its owner at once, so that it is not necessary to keep a descriptor
        open for each queue manager."""
        with _marks.closing(self._new(parent, path, mode)) as descriptor:
            if self.user:
                os.fchown(descriptor, self.user.pw_uid, self.user.pw_gid)

    def _new(self, parent, path, mode):
        name = os.path.basename(path)
        os.mkdir(name, mode, dir_fd=parent)
        self.made.append((path, parent, None))
        descriptor = _marks.open_directory(name, parent)
        try:
            if os.fstat(descriptor).st_uid not in (0, os.geteuid(), self.owner_uid) or os.listdir(descriptor):
                raise WorkspaceError("%s was replaced while it was being created" % path)
            os.fchmod(descriptor, mode)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def give(self):
        """Change the owner of everything that was created to the user. The innermost directories come first, and each
        mark comes before its directory. In this way, nothing is changed in a directory that already belongs to another
        user."""
        held = [descriptor for dummy, dummy, descriptor in self.made if descriptor is not None]
        for descriptor in reversed(held if self.user else []):
            if _marks.MARK_NAME in os.listdir(descriptor):
                os.chown(_marks.MARK_NAME, self.user.pw_uid, self.user.pw_gid, dir_fd=descriptor, follow_symlinks=False)
            os.fchown(descriptor, self.user.pw_uid, self.user.pw_gid)

    def undo(self):
        """Remove only the directories that were created here, and their marks."""
        for path, parent, descriptor in reversed(self.made):
            try:
                if descriptor is not None and _marks.MARK_NAME in os.listdir(descriptor):
                    os.unlink(_marks.MARK_NAME, dir_fd=descriptor)
                os.rmdir(os.path.basename(path), dir_fd=parent)
            except OSError:
                # it now contains a foreign entry, so it is kept; the error says why the workspace was not created
                pass

    def close(self):
        for descriptor in self.held:
            os.close(descriptor)

    def _hold(self, descriptor):
        self.held.append(descriptor)
        return descriptor


def _open_path(path, follow):
    """Open the directory ``path``, only to access its entries. Symlinks are followed only with ``follow``."""
    if follow:
        return os.open(path, os.O_PATH | os.O_DIRECTORY)
    descriptor = os.open("/", os.O_PATH | os.O_DIRECTORY)
    for name in path.split("/"):
        if name:
            with _marks.closing(descriptor) as parent:
                descriptor = _marks.open_directory(name, parent, os.O_PATH)
    return descriptor


def run_directories(path):
    """Return the marked run directories below ``path``, of any run."""
    names = sorted(os.listdir(path)) if path and os.path.isdir(path) else []
    found = [os.path.join(path, name) for name in names]
    return [
        directory
        for directory in found
        if not os.path.islink(directory) and (_marks.read_mark(directory) or {}).get("role") == "run"
    ]


def is_gone(path):
    """True if ``path`` does not exist. Storage that fails does not show this."""
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno in (errno.ENOENT, errno.ENOTDIR)
    return False


def age_s(path):
    """Return how long ago ``path`` was changed."""
    return time.time() - os.lstat(path).st_mtime


def is_young(directory):
    """True if a run may still be about to start in a directory of its workspace."""
    return age_s(directory) < STARTING_S


def is_known(directory, known):
    """True if a run in ``known`` (names of state directories) owns ``directory``."""
    return os.path.basename(directory)[len(RUN_DIRECTORY_PREFIX) :] in known


def is_own(directory, known, is_named=False):
    """True if this machine created ``directory``, so that it knows whether the run is alive. On a file system that
    hosts share, a run that is not in ``known`` after a restart may be one of a clone of this machine, unless the run is
    named: a power cut may have destroyed its state."""
    machine = machine_of(directory)
    return _machine.is_this(machine, directory) and (
        is_named or _machine.is_this_boot(machine) or is_known(directory, known) or _machine.is_local(directory)
    )


def machine_of(directory):
    """Return the identity of the machine that created ``directory``, as it is in the mark."""
    return (_marks.read_mark(directory) or {}).get("machine")


def in_use(directory):
    """True if a process has a directory below ``directory`` in its arguments, or if a process of any host holds a lock
    on a file of a test of locks there."""
    return _has_process(directory) or _has_lock(directory)


def _has_lock(directory):
    for name in os.listdir(directory):
        if not HELD_FILE.match(name):
            continue
        try:
            descriptor = os.open(os.path.join(directory, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        with _marks.closing(descriptor):
            # struct flock: type, whence, start, length, process
            wanted = struct.pack("hhlli4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            if struct.unpack_from("h", fcntl.fcntl(descriptor, fcntl.F_GETLK, wanted))[0] != fcntl.F_UNLCK:
                return True
    return False


def _has_process(directory):
    needle = directory.encode() + b"/"
    for pid in os.listdir("/proc"):
        try:
            if pid.isdigit() and int(pid) != os.getpid():
                with open("/proc/%s/cmdline" % pid, "rb") as stream:
                    if needle in stream.read():
                        return True
        except (IOError, OSError):
            continue
    return False


def remove_unstarted(path, known):
    """Remove the workspaces below ``path`` of runs that never started because their job was cancelled or their
    controller was lost.

    Such workspaces contain only empty directories. Anything that cannot be removed remains until :mod:`cleanup` reports
    it.
    """
    unstarted = [
        directory
        for directory in run_directories(path)
        if is_own(directory, known) and not is_known(directory, known) and not is_young(directory)
    ]
    for directory in unstarted:
        if _has_no_file(directory) and not in_use(directory):
            _remove_marked(directory, lambda name, parent: True, [], [])
    if unstarted:
        _remove_base(path, [], [])


def _has_no_file(directory):
    """True if ``directory`` contains only empty directories and its mark, and if this user is permitted to see that."""
    try:
        entries = [os.path.join(directory, name) for name in os.listdir(directory) if name != _marks.MARK_NAME]
        return not any(os.path.islink(entry) or os.listdir(entry) for entry in entries)
    except OSError:
        return False


def remove(path, directory):
    """Remove the directory of a run below the workspace ``path``. Returns ``(removed, left)``: the paths that were
    removed, and the entries that remain because the run did not create them or because they cannot be removed."""
    removed, left = [], []
    if os.path.isdir(directory):
        _remove_marked(directory, _empty_queue_manager_directory, removed, left)
    _remove_base(path, removed, left)
    return removed, left


def _remove_base(path, removed, left):
    """Remove the path under test if a run created it and nothing else is left there."""
    mark = _marks.read_mark(path) if os.path.isdir(path) else None
    if mark and mark.get("role") == "base" and os.listdir(path) == [_marks.MARK_NAME]:
        _remove_marked(path, lambda name, entry: False, removed, left)


def _remove_marked(directory, removable, removed, left):
    try:
        kept = _marks.remove_marked(directory, removable)
    except (OSError, _marks.MarkError) as error:
        kept = ["%s (%s)" % (directory, error)]
    if not kept:
        removed.append(directory)
    # Another host that shares the file system may be removing it at the same time.
    elif not _process.wait_until(lambda: not os.path.lexists(directory), REMOVAL_S):
        left.extend(kept)


def _empty_queue_manager_directory(name, parent):
    """Remove an entry that a crash may have left in the directory (open as ``parent``) of a queue manager. Returns True
    if the entry belongs to this collection, which includes the files of a test of locks."""
    try:
        descriptor = _marks.open_directory(name, parent)
    except _marks.MarkError:
        return bool(LOCKED_FILE.match(name)) and _is_file(name, parent)
    with _marks.closing(descriptor):
        for entry in os.listdir(descriptor):
            if LEFTOVER_FILE.match(entry) and _is_file(entry, descriptor):
                os.unlink(entry, dir_fd=descriptor)
    return True


def _is_file(name, parent):
    """True if an entry of the directory open as ``parent`` is a regular file."""
    return stat.S_ISREG(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


def _file_systems(paths):
    """Return the device number of the file system of each path in the dict ``paths``; None if it cannot be determined.

    For storage that does not answer, it is taken from the tree of mounts, so that the other tests are not blocked.
    """
    names = sorted(paths)
    found = dict(
        zip(
            names,
            _time_limit.call_all([lambda path=paths[name]: _mounts.mount_at(path) for name in names], DEVICE_LIMIT_S),
        )
    )
    for name in names:
        if isinstance(found[name], _time_limit.NoAnswerError):
            found[name] = _mounts.mount_by_name(paths[name])
        elif isinstance(found[name], _time_limit.TimeLimitError):
            found[name] = {}
    return dict((name, found[name].get("device_number")) for name in names)


def _has_log(path):
    try:
        return _queue_managers.has_log(path)
    except OSError:
        return False
