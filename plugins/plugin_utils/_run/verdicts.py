# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The verdicts by name, their order, and what a policy can name: data that judging, filing and rendering share."""

from __future__ import annotations

PASS = "pass"
WARN = "warn"
INCONCLUSIVE = "inconclusive"
MISSING = "missing"
UNREACHABLE = "unreachable"
ERROR = "error"
FAIL = "fail"

WORST_FIRST = (FAIL, ERROR, UNREACHABLE, MISSING, INCONCLUSIVE, WARN, PASS)
"""Verdicts, worst first: a proven failure ranks before a missing measurement, which ranks before a measurement that
decides nothing."""

GOOD = (PASS, WARN)
"""Verdicts that let a gate through unless the policy says otherwise."""

UNQUALIFIED = "unqualified"
"""The word in a policy for stopping a run that passes but does not certify."""

DEFAULT_FAIL_ON = tuple(verdict for verdict in WORST_FIRST if verdict not in GOOD)
FAIL_ON_CHOICES = (*(verdict for verdict in WORST_FIRST if verdict != PASS), UNQUALIFIED)


def rank(verdict: str) -> int:
    """Return the place of a verdict, 0 for the worst. A word that is not a verdict is the last."""
    return WORST_FIRST.index(verdict) if verdict in WORST_FIRST else len(WORST_FIRST)
