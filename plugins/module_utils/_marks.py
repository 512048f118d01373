# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mark of this collection in a directory. A directory without the mark is never removed. The mark names the machine
that created the directory, because other machines may see the directory as well.

Private to this collection; it may change at any time.
"""

import contextlib
import errno
import json
import os
import stat

from . import _machine

MARK_NAME = ".mqops-logdisk.json"
MARK_KIND = "mqops.logdisk"
MARK_MAX_BYTES = 65536


class MarkError(Exception):
    """A directory that must not be touched; the message says why."""


@contextlib.contextmanager
def closing(descriptor):
    """Close ``descriptor`` at the end of the block."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_directory(name, parent, flags=os.O_RDONLY):
    """Open the directory ``name`` in the directory that is open as ``parent``. Raises MarkError if it is a symlink."""
    try:
        return os.open(name, flags | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        raise MarkError("%s is a symlink or not a directory; it is not touched" % name)


def _open_mark(directory, flags):
    flags |= os.O_NOFOLLOW
    if isinstance(directory, int):
        return os.open(MARK_NAME, flags, 0o644, dir_fd=directory)
    return os.open(os.path.join(directory, MARK_NAME), flags, 0o644)


def write_mark(directory, content):
    """Mark ``directory`` (its path, or its descriptor) as belonging to this collection. ``content`` (a dict) is stored
    in the mark, with the identity of this machine unless it contains that of another one.

    The file is created exclusively; raises OSError if it exists or cannot be made.
    """
    record = dict(dict(machine=_machine.identity()), **dict(content, kind=MARK_KIND))
    descriptor = _open_mark(directory, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with os.fdopen(descriptor, "w") as stream:
        json.dump(record, stream, sort_keys=True)


def read_mark(directory):
    """Return the mark of ``directory`` (its path, or its descriptor), or None if it has none.

    A symlink, a file of another user or program, or an oversized file is not a mark.
    """
    try:
        descriptor = _open_mark(directory, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            return None
        text = stream.read(MARK_MAX_BYTES + 1)
    try:
        mark = json.loads(text.decode("utf-8"))
    except ValueError:
        return None
    if len(text) > MARK_MAX_BYTES or not isinstance(mark, dict) or mark.get("kind") != MARK_KIND:
        return None
    return mark


def remove_marked(directory, removable):
    """Remove the marked ``directory``, together with the entries in ``removable`` and the mark.

    ``removable(name, descriptor)`` is called for each entry except the mark, with a descriptor of the directory. It
    returns whether the entry may be removed (files and empty directories only). Returns the entries that are left. If
    there are any, the directory and its mark are kept. Raises MarkError if the directory is a symlink, if it has no
    mark, or if this user may not remove it from its parent. In the last case, the mark is also kept.
    """
    above, name = os.path.split(directory.rstrip("/"))
    # A path may refer to something else at any time, so the directory is opened once, and everything else uses the
    # descriptor.
    with closing(os.open(above or ".", os.O_PATH | os.O_DIRECTORY)) as parent, closing(
        open_directory(name, parent)
    ) as descriptor:
        mark = read_mark(descriptor)
        if mark is None:
            raise MarkError("%s does not have the mark of this collection; it is not touched" % directory)
        left = [
            entry
            for entry in sorted(os.listdir(descriptor))
            if entry != MARK_NAME and not (removable(entry, descriptor) and _remove_entry(entry, descriptor))
        ]
        if not left:
            _remove_itself(directory, parent, descriptor, mark)
    return [os.path.join(directory, entry) for entry in left]


def _remove_itself(directory, parent, descriptor, mark):
    """Remove the open ``directory``, which contains only its mark. Without its mark, it could never be removed again.
    Therefore, the mark is removed only if the directory can be removed, and is restored if removing the directory
    fails."""
    refusal = (
        "%s cannot be removed by this user: run playbooks/cleanup.yml with privilege (-e workspace_owner=root)"
        % directory
    )
    if not _may_remove(parent, descriptor):
        raise MarkError(refusal)
    os.unlink(MARK_NAME, dir_fd=descriptor)
    try:
        os.rmdir(os.path.basename(directory.rstrip("/")), dir_fd=parent)
    except OSError as error:
        write_mark(descriptor, mark)
        if error.errno in (errno.EACCES, errno.EPERM):
            raise MarkError(refusal)
        raise


def _may_remove(parent, descriptor):
    """True if this user may remove the directory open as ``descriptor`` from ``parent``."""
    if not os.access(".", os.W_OK | os.X_OK, dir_fd=parent):
        return False
    above = os.fstat(parent)
    return not above.st_mode & stat.S_ISVTX or os.geteuid() in (0, above.st_uid, os.fstat(descriptor).st_uid)


def _remove_entry(name, parent):
    """Remove one file or empty directory from the directory that is open as ``parent``. If it is a symlink, the symlink
    is removed and not its target. Returns False if it cannot be removed."""
    try:
        if stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            os.rmdir(name, dir_fd=parent)
        else:
            os.unlink(name, dir_fd=parent)
    except OSError:
        return False
    return True
