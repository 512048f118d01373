# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the worst of several verdicts, and of several judgements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._run.verdicts import PASS, WORST_FIRST, rank


def worst(verdicts: Iterable[str]) -> str:
    """Return the worst of some verdicts. If there are none, this is pass, so the function must be used only if
    something was judged."""
    return min(verdicts, key=WORST_FIRST.index, default=PASS)


def badness(judgement: Mapping[str, Any]) -> tuple[int, float]:
    """Return the sort key for the judgements of a limit, worst first: by their verdicts, and then by their values."""
    value = judgement["value"] or 0
    return rank(judgement["verdict"]), value if judgement["bound"] == "min" else -value
