# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reservations about an estimate: cases in which the model is not valid."""

from __future__ import annotations

from types import MappingProxyType

from .line import Line

PROCESSOR_BOUND_NS = 100_000
"""If a write takes less than this time, the processor limits how many messages a queue manager can carry."""
LOOSE = 0.15
"""If any mean deviates from the line by more than this share, the line does not fit well enough for the accuracy
that the model claims."""

_SLACK = 0.05
"""The tolerance for writes outside the measured sizes."""

SMALLER, LARGER, FAST, LOOSE_LINE = "smaller", "larger", "fast", "loose"
TEXTS = MappingProxyType(
    {
        SMALLER: "the log's writes are smaller than the smallest writes that were measured",
        LARGER: "the log's writes are larger than the largest writes that were measured",
        FAST: (
            "a write takes less than 100 us, so the processor is the limit, and a queue manager carries less than "
            "estimated"
        ),
        LOOSE_LINE: f"a measured mean differs from the line by more than {100 * LOOSE:.0f} %",
    }
)
"""Reservations by key, as clauses."""


def reservations(line: Line, write_bytes: float, write_ns: float) -> tuple[str, ...]:
    """Return the keys of the reservations about an estimate, given the size of its writes and their duration including
    the remote delay."""
    found = {
        SMALLER: write_bytes < (1 - _SLACK) * line.smallest_bytes,
        LARGER: write_bytes > (1 + _SLACK) * line.largest_bytes,
        FAST: write_ns < PROCESSOR_BOUND_NS,
        LOOSE_LINE: line.worst > LOOSE,
    }
    return tuple(key for key, holds in found.items() if holds)
