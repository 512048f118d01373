# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user that this process really runs as, compared with the promised one.

Private to this collection; it may change at any time.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import pwd


def name():
    """Return the name of the user that this process runs as; the number of one without a name."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def why_other(promised):
    """Return why this process must not continue as the user it runs as; empty if that is the ``promised`` one, or if none is promised."""
    if promised in ("", name()):
        return ""
    try:
        if pwd.getpwnam(promised).pw_uid == os.geteuid():
            return ""
    except KeyError:
        return "workspace_owner: there is no user %s on this host" % promised
    return (
        "this would run as %s, not as %s: remove ansible_become, ansible_become_user and the like (ansible_sudo_user) from the extra "
        "variables and the inventory; workspace_owner alone names the user" % (name(), promised)
    )


def refuse_other(module):
    """Fail the module if it does not run as the user of its option ``user``."""
    other = why_other(module.params["user"])
    if other:
        module.fail_json(msg=other)
