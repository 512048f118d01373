# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mark by which we know a directory as ours: nothing without it is ever removed.

Private to this collection; it may change at any time.
"""

from __future__ import (absolute_import, division, print_function)
__metaclass__ = type

import json
import os
import stat

MARK_NAME = '.mqops-logdisk.json'
MARK_KIND = 'mqops.logdisk'
MARK_MAX_BYTES = 65536


class MarkError(Exception):
    """A directory that is not to be touched; the message says why."""


def write_mark(directory, content):
    """Mark ``directory`` as ours. ``content`` (a dict) is kept in the mark.

    The file is created exclusively; raises OSError where it exists or cannot be made.
    """
    record = dict(content, kind=MARK_KIND)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(os.path.join(directory, MARK_NAME), flags, 0o644)
    with os.fdopen(descriptor, 'w') as stream:
        json.dump(record, stream, sort_keys=True)


def read_mark(directory):
    """Return the mark of ``directory``, or None where there is none of ours.

    A symlink, a foreign or an oversized file is no mark.
    """
    try:
        descriptor = os.open(os.path.join(directory, MARK_NAME), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, 'rb') as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            return None
        text = stream.read(MARK_MAX_BYTES + 1)
    try:
        mark = json.loads(text.decode('utf-8'))
    except ValueError:
        return None
    if len(text) > MARK_MAX_BYTES or not isinstance(mark, dict) or mark.get('kind') != MARK_KIND:
        return None
    return mark


def remove_marked(directory, removable):
    """Remove the marked ``directory`` with the entries named in ``removable`` and its mark.

    ``removable(name, path)`` says of each other entry whether it is ours to remove (files and empty
    directories only). Returns the entries left, in which case the directory and its mark stay.
    Raises MarkError where the directory is a symlink or carries no mark.
    """
    if os.path.islink(directory):
        raise MarkError('%s is a symlink: left alone' % directory)
    if read_mark(directory) is None:
        raise MarkError('%s carries no mark of ours: left alone' % directory)
    left = []
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if name == MARK_NAME:
            continue
        if not removable(name, path) or not _remove_entry(path):
            left.append(path)
    if not left:
        os.unlink(os.path.join(directory, MARK_NAME))
        os.rmdir(directory)
    return left


def _remove_entry(path):
    """Remove one file or empty directory; a symlink is removed as such. False where it stays."""
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        else:
            os.unlink(path)
    except OSError:
        return False
    return True
