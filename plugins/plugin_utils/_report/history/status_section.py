# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sections of the page about the status of a fleet that kinds of runs add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ..._run.words import state_text

LONGEST = 80
"""The largest number of characters of a name."""
STATES = {
    "failed": "fail",
    "expired": "fail",
    "unmeasured": "missing",
    "none": "missing",
    "revoked": "warn",
    "expiring": "warn",
    "valid": "pass",
}
"""The class of each state in the page's style, the most urgent state first."""
SIGNS = {
    "failed": "\u2717",
    "expired": "\u2717",
    "unmeasured": "\u2013",
    "none": "\u2013",
    "revoked": "!",
    "expiring": "!",
    "valid": "\u2713",
}


@dataclass(frozen=True)
class StatusSection:
    """A list with a heading, its anchor, and a sentence about the list, which may be empty."""

    anchor: str
    title: str
    about: str
    items: Sequence[Markup]


def state_badge(state: str) -> Markup:
    """Return the badge of a state, with its sign."""
    return Markup('<span class="badge v-{}">{} {}</span>').format(STATES[state], SIGNS[state], state_text(state))
