# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A profile's requirements on power cuts: how many cuts without a loss the history must contain for a volume, and how
much may be lost unnoticed at the end of a cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._judge.profile import Limit, Profile
from ..._run.definitions import DefinitionError, read_mapping, read_number, shown
from .. import facets

BLIND_MS = 1000
"""How many milliseconds of writing may go missing unnoticed at the end of a power cut that counts as kept, if the
profile does not say. docs/power_cut.md contains the measurements that justify this value."""

_MOST_CUTS = 10_000
_MOST_BLIND_MS = 3_600_000
_DEFAULTS = {"cuts": 0, "blind_ms": BLIND_MS}


POWER_CUT, TOO_FEW_CUTS, TORN = "power_cut", "too_few_cuts", "torn"
"""The findings that a cut does not pass, that there were too few of them, and the note about a torn write in flight."""

IDS: Mapping[tuple[str, str | None], str] = {
    (POWER_CUT, "lost"): "CUT-001",
    (POWER_CUT, "inconclusive"): "CUT-002",
    (TOO_FEW_CUTS, None): "CUT-003",
    (POWER_CUT, "torn"): "CUT-004",
    (POWER_CUT, "misdirected"): "CUT-005",
    (POWER_CUT, "unreadable"): "CUT-006",
    (POWER_CUT, "zeroed"): "CUT-007",
    (POWER_CUT, "corrupt"): "CUT-008",
    (POWER_CUT, "metadata lost"): "CUT-009",
}


class Criteria(facets.Criteria):
    """A profile without the section requires no power cuts."""

    ids = IDS

    def read(self, given: Any, base: Any) -> Any:
        """Return the requirements of a profile that differ from the default.
        A key that is not given is taken from ``base``. Raises DefinitionError."""
        read_mapping(given, "durability", tuple(_DEFAULTS))
        if not given:
            raise DefinitionError("durability must contain cuts or blind_ms.")
        section = {**_DEFAULTS, **(base or {}), **given}
        cuts, blind_ms = section["cuts"], section["blind_ms"]
        if not isinstance(cuts, int) or isinstance(cuts, bool) or not 0 <= cuts <= _MOST_CUTS:
            raise DefinitionError(
                f"durability.cuts {shown(cuts)} is not a number of power cuts from 0 to {_MOST_CUTS}."
            )
        if not 1 <= read_number(blind_ms, "durability.blind_ms") <= _MOST_BLIND_MS:
            raise DefinitionError(f"durability.blind_ms {shown(blind_ms)} must be 1 to {_MOST_BLIND_MS} milliseconds.")
        return {key: value for key, value in section.items() if value != _DEFAULTS[key]} or None

    def limits_of(self, profile: Profile) -> tuple[Limit, ...]:
        """Return nothing, because a loss is a failure under every profile."""
        return ()


def blind_limit_ns(section: Mapping[str, Any] | None) -> int:
    """Return how many nanoseconds of writing may be lost unnoticed under a profile with this section. If the profile
    does not have the section, ``section`` is None."""
    return round((section or {}).get("blind_ms", BLIND_MS) * 1e6)
