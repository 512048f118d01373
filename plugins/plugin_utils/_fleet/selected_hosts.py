# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks the hosts to which a command applies. They are read once, at the level of the play. Plays do not see the
variables of hosts and groups, but their tasks do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._options.reading import read_option
from .._run.answers import is_empty
from .settings import same_problem_once

SELECTING = "certify_hosts"
WAY_OUT = (
    "the hosts of a command cannot depend on variables of hosts and groups: remove the "
    "variable there, and set it with -e"
)


def other_selections(asked: Any, said: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each pattern that differs from the one in ``asked``, with which the play was started.
    ``said`` holds the value of the variable on each host; empty means that it is not set. Raises ValueError if a
    pattern cannot be read.
    """
    pattern = read_option(SELECTING, asked)
    others = {host: read_option(SELECTING, value) for host, value in said.items() if not is_empty(value)}
    return same_problem_once(
        {
            host: [f"{SELECTING} is {other!r}, but this command has the hosts {pattern!r}: {WAY_OUT}"]
            for host, other in others.items()
            if other != pattern
        }
    )


def of_the_play(seen: Any, own: Any) -> Any:
    """Return the value that a play itself sets for a variable, or None. This is the value ``seen`` by a task on a host,
    if it differs from the host's ``own`` value."""
    return None if seen == own else seen
