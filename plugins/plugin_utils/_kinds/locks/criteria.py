# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A profile's requirements on locks: how soon the other host must take over, further limits, and the steps that must be
carried out in addition to the basic ones."""

from __future__ import annotations

from typing import Any

from ..._judge.lock_limits import DEFAULTS, MOST_LOCKS
from ..._run.definitions import DefinitionError, read_mapping, read_number, read_sequence, shown
from ..._run.lock_steps import BASICS, STEPS
from .. import facets

_MOST_S = {"load_s": 86_400}
"""The largest allowed values of the keys that allow more than an hour."""


class Criteria(facets.Criteria):
    """The section ``locks`` of a profile. A profile without this section uses the defaults."""

    def read(self, given: Any, base: Any) -> Any:
        """Return the requirements of a profile that differ from the default. A key that is not given is taken from
        ``base``. Raises DefinitionError."""
        read_mapping(given, "locks", tuple(DEFAULTS))
        if not given:
            raise DefinitionError(f"locks must contain at least one of {', '.join(DEFAULTS)}.")
        section = {**DEFAULTS, **(base or {}), **given}
        for key in (key for key in DEFAULTS if key.endswith("_s")):
            most = _MOST_S.get(key, 3600)
            if not 0 < read_number(section[key], f"locks.{key}") <= most:
                raise DefinitionError(f"locks.{key} {shown(section[key])} must be above 0 and at most {most} seconds.")
        _check_count(section["lock_count"])
        section["steps"] = _read_steps(section["steps"])
        return {key: value for key, value in section.items() if value != DEFAULTS[key]} or None


def _check_count(count: Any) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= MOST_LOCKS:
        raise DefinitionError(f"locks.lock_count {shown(count)} is not a number of locks from 0 to {MOST_LOCKS}.")


def _read_steps(given: Any) -> list[str]:
    """Return the named steps in the order of the test, without the basic ones, which need not be named."""
    steps = read_sequence(given, "locks.steps")
    for step in steps:
        if step not in STEPS:
            raise DefinitionError(f"locks.steps names {shown(step)}, which is not one of {', '.join(STEPS)}.")
    return [step for step in STEPS if step in steps and step not in BASICS]
