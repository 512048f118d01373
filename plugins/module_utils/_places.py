# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks, without writing, whether a user can store the tester and its results in the configured directories.

Private to this collection; it may change at any time.
"""

import os

from . import _mounts, _user


def nearest_existing(path):
    """Return ``path``, or the first directory above it that exists."""
    while not os.path.isdir(path) and path != "/":
        path = os.path.dirname(path)
    return path


def why_unwritable(directory, options):
    """Return the reason if this user cannot create ``directory`` or write to it, and the ``options`` that set another
    directory; empty if the user can."""
    existing = nearest_existing(directory)
    if os.access(existing, os.W_OK | os.X_OK):
        return ""
    home = os.path.expanduser("~")
    if not os.path.isdir(home) and (directory + "/").startswith(home + "/"):
        problem = "the home directory %s of %s does not exist" % (home, _user.name())
    else:
        problem = "%s cannot be created: %s may not write to %s" % (directory, _user.name(), existing)
    return "%s; set %s to a directory that this user may write to" % (problem, options)


def why_not_executable(directory):
    """Return the reason if programs cannot be run from ``directory``, according to its mount options; otherwise
    empty."""
    mount = _mounts.mount_of(directory)
    if "noexec" not in mount.get("mount_options", "").split(","):
        return ""
    return (
        "%s is on %s, which is mounted noexec: set tester_dir to a directory that this user may write to, on a file "
        "system that allows programs to be run" % (directory, mount["mount_point"])
    )
