# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines whether a profile judges live queue managers by its limits, or whether their figures are only shown."""

from __future__ import annotations

from typing import Any

from ..._judge.profile import Limit, Profile
from ..._run.definitions import DefinitionError, shown
from .. import facets

SECTION = "observations"
_JUDGED = "judged"
_INFORMATIVE = "informative"


class Criteria(facets.Criteria):
    """A profile without the section does not judge observations."""

    def read(self, given: Any, base: Any) -> Any:
        """Return the section if the profile judges observations, otherwise None. Raises DefinitionError."""
        if given not in (_JUDGED, _INFORMATIVE):
            raise DefinitionError(f"observations {shown(given)} is not one of {_JUDGED}, {_INFORMATIVE}.")
        return _JUDGED if given == _JUDGED else None

    def limits_of(self, profile: Profile) -> tuple[Limit, ...]:
        """Return the limits of the profile, if it judges observations."""
        return profile.limits if profile.sections.get(SECTION) == _JUDGED else ()
