# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The names of the verdicts, their order, the words that a policy can name, and the worst of several verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

PASS = "pass"
WARN = "warn"
INCONCLUSIVE = "inconclusive"
MISSING = "missing"
UNREACHABLE = "unreachable"
ERROR = "error"
FAIL = "fail"

WORST_FIRST = (FAIL, ERROR, UNREACHABLE, MISSING, INCONCLUSIVE, WARN, PASS)
"""Verdicts, worst first: a proven failure is worse than a missing measurement, which is worse than an inconclusive
measurement."""

GOOD = (PASS, WARN)
"""Verdicts with which a gate passes unless the policy says otherwise."""

UNQUALIFIED = "unqualified"
"""The word in a policy for failing a run that passes but does not certify."""

DEFAULT_FAIL_ON = tuple(verdict for verdict in WORST_FIRST if verdict not in GOOD)
FAIL_ON_CHOICES = (*(verdict for verdict in WORST_FIRST if verdict != PASS), UNQUALIFIED)


def rank(verdict: str) -> int:
    """Return the position of a verdict in this order; 0 is the worst. A word that is not a verdict comes last."""
    return WORST_FIRST.index(verdict) if verdict in WORST_FIRST else len(WORST_FIRST)


def worst(verdicts: Iterable[str]) -> str:
    """Return the worst of some verdicts. If there are none, this is pass, so the function must be used only if
    something was judged."""
    return min(verdicts, key=WORST_FIRST.index, default=PASS)


def badness(judgement: Mapping[str, Any]) -> tuple[int, float]:
    """Return the sort key for the judgements of a limit, worst first: by their verdicts, and then by their values."""
    value = judgement["value"] or 0
    return rank(judgement["verdict"]), value if judgement["bound"] == "min" else -value
