# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The observation: a live queue manager is observed, and its write latency is compared with the certificate of its
volume. It writes nothing and certifies nothing."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..kind import Kind

WITHOUT_VERDICT = "observed"
"""Replaces the verdict on a live queue manager if the profile does not judge observations."""


class Observation(Kind):
    """An observation is judged only if its profile asks for that. It can be made without a history, because it is also
    a tool for incidents."""

    name = "observation"
    facets = ("criteria", "opening", "memory", "view")
    data_key = "observation"
    profile_key = "observations"
    plan_fact = "observe_plan"
    variables = ("gate_", "observe_")
    is_remembered = True
    may_need_history = False
    stored = "observations"
    needs_verdict = False
    without_verdict = WITHOUT_VERDICT
    is_live = True
    why_untested = "observed live queue managers and tested no storage"
    why_left_out = "observations test no storage"
    why_not_collected = "is an observation: if its controller is lost, hosts keep no results, so observe again."
    ended_early = "the observation ended early"
    if_interrupted = (
        "the observations of run {} end on their hosts by themselves, and remove their files. To remove them at once"
    )

    @cached_property
    def data_shape(self) -> Any:
        """The structure of the observed data, and of the comparison with the certificate."""
        from ..._run.shapes import Items, Keys, Maybe

        certificate = Keys({"caveats": Maybe(Items(str)), "others": Maybe(Items(dict))})
        lists = dict.fromkeys(("intervals", "maxima"), Maybe(Items(dict)))
        return Keys(
            {**lists, **dict.fromkeys(("facts", "utilisation"), Maybe(dict)), "certificate": Maybe(certificate)}
        )
