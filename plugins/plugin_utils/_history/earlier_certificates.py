# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Derives data that certificates of earlier versions do not contain: the facts about the volume, and whether the volume
was to be certified. These certificates cannot be changed, so the data is derived from their sentences and rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .._run.shapes import dicts_in
from .._run.verdicts import FAIL
from .._run.volume_facts import IO_ERROR, STALL, WRONG_DATA

_SENTENCES = (
    (WRONG_DATA, re.compile(r"\S+ failed with CORRUPT\b")),
    (
        IO_ERROR,
        re.compile(
            r"(\S+|a write) failed with (?!CORRUPT\b)(E[A-Z0-9]+|other|I/O error)\b|a (write|read) came back short\b"
        ),
    ),
    (STALL, re.compile(r"(a write|an operation)\b.* had not returned after ")),
)
"""How the sentences about each of these facts begin."""
_STALL_LIMIT_NS = 10e9
_QUICK_LOOK = "look"
_AS_THEY_STAND = "(confidence: none)"


def volume_facts_of(content: Mapping[str, Any]) -> list[str]:
    """Return the facts about the volume."""
    if content.get("verdict") != FAIL:
        return []
    reasons = [reason for reason in content.get("reasons") or [] if isinstance(reason, str)]
    found = {fact for fact, sentence in _SENTENCES for reason in reasons if sentence.match(reason)}
    limits = [limit for row in content["rows"] for limit in dicts_in(row.get("limits"))]
    return sorted(found | ({STALL} if any(_is_stall(limit) for limit in limits) else set()))


def can_certify(content: Mapping[str, Any]) -> bool:
    """Return whether the profile can certify. A quick look, which uses figures without confidence bounds, cannot."""
    return content["profile"]["name"] != _QUICK_LOOK and _AS_THEY_STAND not in str(content.get("qualification") or "")


def _is_stall(limit: Mapping[str, Any]) -> bool:
    value = limit.get("limit_value")
    return (
        limit.get("metric") == "latency_max"
        and limit.get("verdict") == FAIL
        and isinstance(value, (int, float))
        and value >= _STALL_LIMIT_NS
    )
