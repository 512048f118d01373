# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The versions of the software that made a page, for the header of every page (see the macro page_header)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..folding import brief

SHOWN = 3
"""The maximum number of versions of the tester that are named."""


def versions(collection: str, ansible: str = "", testers: Iterable[str] = ()) -> list[str]:
    """Return the known versions of the collection, ansible-core and the tester. The versions of the tester are listed
    most frequent first."""
    named = (
        ("mqops.logdisk", [collection]),
        ("ansible-core", [ansible]),
        ("tester", _few(testers)),
    )
    return [f"{name} {', '.join(known)}" for name, found in named if (known := [each for each in found if each])]


def _few(names: Iterable[str]) -> list[str]:
    """Return the most frequent names, and how many more there are."""
    known = [name for name, count in Counter(filter(None, names)).most_common()]
    more = [f"and {len(known) - SHOWN} more"] if len(known) > SHOWN else []
    return [*(brief(name) for name in known[:SHOWN]), *more]
