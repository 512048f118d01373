# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why a volume, a host or a pair of hosts is not certified."""

from __future__ import annotations

from dataclasses import dataclass

from .._run.verdicts import MISSING

CERTIFY, POWER_CUT, LOCKS = "certify", "power_cut", "locks"
"""Playbooks that can clear a problem."""


@dataclass(frozen=True)
class Problem:
    """The reason why a volume or host is not certified: the displayed name, its state, a sentence with dates and runs,
    the plain reason (by which problems are grouped), what to do, and the playbook that can clear the problem."""

    label: str
    state: str
    sentence: str
    reason: str
    next_step: str
    playbook: str = CERTIFY

    @property
    def text(self) -> str:
        """Return the problem in sentences for people and programs."""
        prefix = "missing: " if self.state == MISSING else ""
        return f"{self.label}: {prefix}{self.sentence}"
