# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the header of every page says about its origin (see the macro page_header)."""

from __future__ import annotations

from collections.abc import Iterable


def versions(collection: str, ansible: str = "", testers: Iterable[str] = ()) -> list[str]:
    """Return the versions that are known."""
    named = (
        ("mqops.logdisk", [collection]),
        ("ansible-core", [ansible]),
        ("tester", sorted(set(testers))),
    )
    return [f"{name} {', '.join(known)}" for name, found in named if (known := [each for each in found if each])]
