# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The test of locks: whether two hosts that share a directory exclude each other, and how soon one of them takes over
when the other one is lost."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..kind import Kind


class Locks(Kind):
    """A test of locks, which does not measure latency. Its certificates apply to two hosts and a directory. The history
    keeps them apart from the certificates of volumes."""

    name = "locks"
    facets = ("criteria", "english", "opening", "memory", "view")
    data_key = "locks"
    profile_key = "locks"
    plan_fact = "locks_plan"
    variables = ("gate_", "locks_", "workspace_", "tester_", "sweep_state_dir")
    is_remembered = True
    has_results = False
    stored = "results of locks"
    why_untested = "tested locks and measured no latency"
    why_left_out = "a test of locks measures no latency"
    why_not_collected = (
        "is a test of locks, which cannot be collected: remove its files with playbooks/cleanup.yml, and test again."
    )
    ended_early = "the test of locks ended early"
    if_interrupted = (
        "the testers of run {} end on their hosts by themselves, and so do their locks and packet filters. To remove "
        "the files"
    )

    @cached_property
    def data_shape(self) -> Any:
        """The shape of pairs and their steps."""
        from ..._run.lock_steps import SHAPE

        return SHAPE
