# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report of a measurement says which hosts it certifies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._report.causes.groups import gravest
from ..._report.folding import fold_names
from ..._run.verdicts import GOOD
from .. import facets

if TYPE_CHECKING:
    from ..._report.model import Model


class View(facets.View):
    """The figures of a measurement are the main content of every report, so it has no separate section."""

    title = "Measurements"

    def finding(self, model: Model) -> str:
        """Return what decided the verdict, unless a figure did: the line about the closest limits names that."""
        return gravest(model)

    def statement(self, model: Model) -> str:
        """Return which hosts the run certifies, or why it does not certify any."""
        if not model.fleet["certified"]:
            return f"This run does not certify: {_why_not(model)}."
        if len(model.profiles) < 2:
            return f"This run certifies {model.size} against {model.profile_name}."
        return (
            f"This run certifies {model.size}: "
            f"{'; '.join(f'{fold_names(profile.labels)} against {profile.text}' for profile in model.profiles)}."
        )


def _why_not(model: Model) -> str:
    bad = [host for host in model.hosts if host.verdict not in GOOD]
    if not model.hosts:
        return "no host was expected and none reported"
    if bad:
        return f"of {model.size}, {', '.join(model.bad_verdicts_told)}"
    without = [host for host in model.hosts if not host.certified]
    more = f" (and {len(without) - 1} more)" if len(without) > 1 else ""
    return f"{without[0].label}{more}: {without[0].qualification}" if len(model.hosts) > 1 else without[0].qualification
