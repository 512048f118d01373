# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fits a line to the write latency as a function of the size of the write, and lists the cases in which an estimate is
not valid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

MOST_SCATTER = 0.25
"""If the means scatter around the line by more than this share of their values (standard deviation), they do not follow
a line."""

_FEWEST_SIZES = 3


class NoLine(Exception):
    """The mean latencies do not follow a line. The message is a clause that states the reason."""


@dataclass(frozen=True, slots=True)
class Line:
    """The latency L0 + size / rate.

    base_error_ns and bytes_per_ns_error are standard errors, calculated from the distances of the means from the line.
    worst is the largest distance of a mean from the line, as a share of that mean. smallest_bytes and largest_bytes are
    the sizes between which the line was measured.
    """

    base_ns: float
    bytes_per_ns: float
    base_error_ns: float
    bytes_per_ns_error: float
    worst: float
    smallest_bytes: float
    largest_bytes: float

    def latency_ns(self, size_bytes: float) -> float:
        """Return the mean latency of writes of a size."""
        return self.base_ns + size_bytes / self.bytes_per_ns


def fit_line(points: Sequence[tuple[float, float]]) -> Line:
    """Return the line with the least relative error through mean latencies, given as (size in bytes, mean in ns).
    Raises NoLine."""
    sizes = {size for size, mean in points}
    if len(sizes) < _FEWEST_SIZES:
        raise NoLine(
            f"a line needs the means of at least {_FEWEST_SIZES} write sizes, but the run measured {len(sizes)}"
        )
    # Each point is weighted by dividing it by its mean, so that 10 % of a small write counts as much as 10 % of a large
    # one.
    a, b, c, d, e = (math.fsum(term(size, mean) for size, mean in points) for term in _TERMS)
    determinant = a * c - b * b
    if determinant <= 1e-12 * a * c:
        raise NoLine("the write sizes are too close to each other")
    base, slope = (d * c - b * e) / determinant, (a * e - b * d) / determinant
    if base <= 0:
        raise NoLine("the line's cost per write (L0) is not positive")
    if slope <= 0:
        raise NoLine("the latency does not grow with the size of the write")
    residuals = [(base + slope * size) / mean - 1 for size, mean in points]
    scatter = math.sqrt(math.fsum(residual**2 for residual in residuals) / (len(points) - 2))
    if scatter > MOST_SCATTER:
        most = f"at most {100 * MOST_SCATTER:.0f} % is allowed for a line"
        raise NoLine(f"the means scatter around the line by {100 * scatter:.0f} % (standard deviation), and {most}")
    return Line(
        base_ns=base,
        bytes_per_ns=1 / slope,
        base_error_ns=scatter * math.sqrt(c / determinant),
        bytes_per_ns_error=scatter * math.sqrt(a / determinant) / slope**2,
        worst=max(map(abs, residuals)),
        smallest_bytes=min(sizes),
        largest_bytes=max(sizes),
    )


_TERMS = (
    lambda size, mean: 1 / mean**2,
    lambda size, mean: size / mean**2,
    lambda size, mean: size**2 / mean**2,
    lambda size, mean: 1 / mean,
    lambda size, mean: size / mean,
)


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
