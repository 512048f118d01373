# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The section of a profile about a kind of run, in addition to its limits; the default is none."""

from __future__ import annotations

from typing import Any


class Criteria:
    """How the section of a profile under the kind's ``profile_key`` is read, and what it means."""

    def read(self, given: Any, base: Any) -> Any:
        """Return the section of a profile, given as plain data, in a form that this method reads as the same section;
        None if it requires no more than a profile without one.

        ``base`` is the section of the profile that this one extends, None if it has none. Raises DefinitionError.
        """
        return None

    def judges(self, section: Any) -> bool:
        """Whether the limits of a profile with this section (None if it has none) judge such a run."""
        return True
