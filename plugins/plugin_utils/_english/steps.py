# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The names of steps, and for how long each of them was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...module_utils import _units
from .._run.words import Words, size_text

Step = Mapping[str, Any]


def named_steps(steps: Sequence[Step], words: Words) -> Iterator[tuple[str, Step]]:
    """Yield each step together with its name. The load point is a part of the name only if there are several."""
    several = len({step["load_point"] for step in steps}) > 1
    for step in steps:
        load = f" with {words.load_text(step['load_point'])}" if several else ""
        yield f"{size_text(step['block_size_bytes'])}{load}", step


def measured_steps(steps: Sequence[Step], words: Words) -> str:
    """Return a text that states for how long each step with ``measured_s`` was measured."""
    return ", ".join(
        f"{name} for {_units.format_duration(step['measured_s'] * 1e9)}"
        for name, step in named_steps(steps, words)
        if "measured_s" in step
    )
