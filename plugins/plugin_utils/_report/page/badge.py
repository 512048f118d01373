# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Small parts of the page: badges of verdicts with signs, so that verdicts never differ in colour alone, and shortened
names."""

from __future__ import annotations

from markupsafe import Markup

from ..._kinds import UNJUDGED
from ..figures import MARKS
from ..folding import brief

CLASSES = {**{verdict: f"v-{verdict}" for verdict in MARKS}, **dict.fromkeys((*UNJUDGED, ""), "v-none")}
"""The class of each verdict in the page's style."""

SIGNS = {**MARKS, **dict.fromkeys(UNJUDGED, "\u2013"), "": ""}


def badge(verdict: str) -> Markup:
    """Return the badge of a verdict."""
    return Markup('<span class="badge {}">{} {}</span>').format(CLASSES[verdict], SIGNS[verdict], verdict)


def host_link(label: str, number: int | None) -> Markup:
    """Return the name of a host, as a link to its section if it has one. The name cannot change the direction of the
    surrounding text."""
    shown = brief(label)
    name = Markup("<bdi>{}</bdi>").format(shown)
    title = Markup(' title="{}"').format(brief(label, 1000)) if shown != label else Markup("")
    return (
        Markup('<a href="#h{}"{}>{}</a>').format(number, title, name)
        if number
        else Markup("<span{}>{}</span>").format(title, name)
    )
