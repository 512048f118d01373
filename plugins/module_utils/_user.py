# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user that this process really runs as, compared with the expected one.

Private to this collection; it may change at any time.
"""

import os
import pwd
import stat


def name():
    """Return the name of the user that this process runs as; its number if it has no name."""
    return _name_of(os.geteuid())


def _name_of(number):
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def other_owner(path):
    """Return a phrase that names who can replace a program, apart from root; empty if no other user can."""
    path = os.path.realpath(path)
    while True:
        status = os.stat(path)
        if status.st_uid != 0:
            return _name_of(status.st_uid)
        # In a directory with the sticky bit, other users cannot replace files of root.
        if status.st_mode & (stat.S_IWOTH | (stat.S_IWGRP if status.st_gid else 0)) and not (
            stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
        ):
            return "whoever may write to %s" % path
        if path == "/":
            return ""
        path = os.path.dirname(path)


def why_other(promised, option="workspace_owner"):
    """Return the reason if this process must not continue as its present user; empty if that is the ``promised`` user,
    or if no user was promised.

    ``option`` is the option that names the promised user.
    """
    if promised in ("", name()):
        return ""
    try:
        if pwd.getpwnam(promised).pw_uid == os.geteuid():
            return ""
    except KeyError:
        return "%s: there is no user %s on this host" % (option, promised)
    return (
        "this would run as %s, not as %s: remove ansible_become, ansible_become_user and the like (ansible_sudo_user) "
        "from the extra variables and the inventory; %s alone determines the user" % (name(), promised, option)
    )


def refuse_other(module, option="workspace_owner"):
    """Fail the module if it does not run as the user in its option ``user``. The role sets that option from its own
    ``option``."""
    other = why_other(module.params["user"], option)
    if other:
        module.fail_json(msg=other)
