# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines how this command was started."""

from __future__ import annotations

import os

from ansible import context

from .._run.playbooks import has_playbooks


def playbooks_in() -> str | None:
    """Return the directory of the playbooks in the form used by this command; empty if the command uses their names in
    the collection. The result is None if there is no command."""
    arguments = context.CLIARGS.get("args") or ()
    directories = (os.path.dirname(argument) or "." for argument in map(str, arguments) if argument.endswith(".yml"))
    return next(filter(has_playbooks, directories), "") if arguments else None
