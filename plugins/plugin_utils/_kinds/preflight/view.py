# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report of a preflight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ....module_utils._units import format_count
from ..._report.causes.groups import causes
from .. import facets

if TYPE_CHECKING:
    from ..._report.model import Host, Model


class View(facets.View):
    """The reasons given for each host say what the host is ready for, or why it is refused."""

    word = "hosts"
    cause = "preflight"

    def advise(self, found: Sequence[tuple[Host, Mapping[str, Any]]], verdict: str) -> tuple[str, str]:
        """Return no consequence and no next step."""
        return "", ""

    def lines(self, model: Model) -> list[str]:
        """Return what the hosts are ready for."""
        return [cause.statement for cause in causes(model) if cause.verdict == model.kind.without_verdict]

    def headline(self, model: Model) -> str:
        """Return how many hosts cannot be measured, or how many are ready if all of them are."""
        refused = sum(host.verdict != model.kind.without_verdict for host in model.hosts)
        return f"NOT READY: {format_count(refused)} of {model.size}" if refused else f"READY: {model.size}"

    def statement(self, model: Model) -> str:
        """Return the statement that there is nothing to prove."""
        return "A preflight measures nothing and has no verdict."
