# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which hosts share storage, according to the options ``locks_pair`` and ``locks_group`` of the inventory. Tests of
locks pair these hosts, and a queue manager that is absent on one of them may be tested on another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .parameters import VARIES, parameters_of
from .tester_options import OptionError


def check_group(group: str, host: str, groups: Mapping[str, Sequence[str]]) -> None:
    """Raise OptionError if a host is not in the group of the inventory that its ``locks_group`` names, so that a value
    that is set for all hosts does not make all of them share storage."""
    if group and host not in groups.get(group, ()):
        raise OptionError(f"locks_group is {group}, but the host is not in this group of the inventory")


def partners_of(run: Mapping[str, Any], host: str) -> dict[str, Any]:
    """Return the ``partners`` and the ``group`` of a host, as recorded in run.json."""
    asked = parameters_of(run, host)
    partners, group = asked.get("locks_pair"), asked.get("locks_group")
    return {
        "partners": partners if isinstance(partners, list) else [],
        "group": group if isinstance(group, str) and group != VARIES else "",
    }


def share_storage(one: str, of_one: Mapping[str, Any], other: str, of_other: Mapping[str, Any]) -> bool:
    """Return whether two hosts share storage: at least one of them names the other, or both name the same group. Each
    host is given by its name, and by its ``partners`` and its ``group``."""
    return (
        other in of_one["partners"]
        or one in of_other["partners"]
        or bool(of_one["group"] and of_one["group"] == of_other["group"])
    )
