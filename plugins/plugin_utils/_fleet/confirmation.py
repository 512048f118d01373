# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options that confirm what is done to a host: their value is the host's own name in the inventory."""

from __future__ import annotations

from typing import Any

from .._run.answers import template_in
from .._run.tester_options import OptionError


def refuse_computed(option: str, value: Any) -> None:
    """Raise OptionError if an option is a template in the inventory, because a template would confirm every host."""
    template = template_in(value)
    if template:
        raise OptionError(
            f"{option} is computed ({template}), so it would confirm every host: write the name "
            "of the host, in its host_vars"
        )


def refuse_unconfirmed(option: str, value: str, host: str, what: str) -> None:
    """Raise OptionError if the value of an option is not the name of the host; ``what`` is done only if it is."""
    if value != host:
        raise OptionError(
            f"{option} is {value or 'empty'}, but {what} only if it is the host's own name in the inventory: set it "
            "for each host, in its host_vars"
        )
