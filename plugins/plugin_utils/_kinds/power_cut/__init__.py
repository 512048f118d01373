# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The power cut: the user's command cuts the power of a host that is writing,
and each acknowledged write must still be there afterwards."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..kind import Kind


class PowerCut(Kind):
    """A power cut measures no latency. The history keeps the results of its cuts, and later certifications are judged
    by them."""

    name = "durability"
    facets = ("criteria", "memory", "view")
    data_key = "durability"
    profile_key = "durability"
    plan_fact = "power_cut_plan"
    agreed_on = ("gate_", "cut_")
    variables = ("gate_", "cut_", "workspace_", "tester_", "sweep_state_dir")
    is_remembered = True
    has_results = False
    stored = "power cuts"
    why_untested = "cut the power and measured no latency"
    why_left_out = "power cuts measure no latency"
    why_not_collected = (
        "is a run of power cuts, which cannot be collected: remove its files with playbooks/cleanup.yml, and cut again."
    )
    if_interrupted = (
        "the testers of run {} end, and their files stay on the hosts. The cuts that were checked are in the run's "
        "records. To remove the files"
    )

    @cached_property
    def data_shape(self) -> Any:
        """The shape of the data about cuts and losses."""
        from ..._run.shapes import Items, Keys

        cut = Keys({"rows": Items(dict), "outcome": str, "reason": str, "number": int})
        loss = Keys(dict.fromkeys(("loss", "cause", "consequence", "next_step"), str))
        return Keys({"cuts": Items(cut), "losses": Items(loss), "tests": str, "claim": str, "cut_count": int})

    def in_its_terms(self, message: str) -> str:
        """Return a message about the variables of a sweep, reworded for those of power cuts. The variables of a sweep
        are used to plan the files."""
        from ..._durability.tested import in_terms_of_cuts

        return in_terms_of_cuts(message)
