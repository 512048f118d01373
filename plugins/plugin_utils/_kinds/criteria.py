# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The section of a profile about a kind of run, in addition to the limits. By default, there is none."""

from __future__ import annotations

from typing import Any


class Criteria:
    """How the section under the kind's ``profile_key`` in a profile is read, and what it means."""

    def read(self, given: Any, base: Any) -> Any:
        """Return the section of a profile, given as plain data, in a normalized form that can be read again. None if it
        requires no more than a profile without such a section.

        ``base`` is the section of the profile that this one extends, or None. Raises DefinitionError.
        """
        return None

    def judges(self, section: Any) -> bool:
        """Whether the limits of a profile with this section (or None) judge such a run."""
        return True
