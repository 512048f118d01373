# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The section of a profile about a kind of run, in addition to the limits. By default, there is none."""

from __future__ import annotations

from typing import Any


class Criteria:
    """Reads and interprets the section of a profile that belongs to a kind of run (the section under the kind's
    ``profile_key``)."""

    def read(self, given: Any, base: Any) -> Any:
        """Return a section of a profile in a normalized form that can be read again. The section is given as plain
        data. The result is None if the section requires no more than a profile without such a section.

        ``base`` is the section of the profile that this one extends, or None. Raises DefinitionError.
        """
        return None

    def judges(self, section: Any) -> bool:
        """Whether a profile's limits judge a run of this kind. ``section`` is the profile's section for the kind, or
        None."""
        return True
