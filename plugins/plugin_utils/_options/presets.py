# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Presets: values of several options under one name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PRESET = "sweep_preset"
"""The option that names a preset."""
PRESETS: dict[str, dict[str, Any]] = {
    "certify": {},
    "look": {
        "gate_profile": "look",
        "sweep_duration": 3,
        "sweep_warmup": 1,
        "sweep_file_size": "16M",
        "sweep_files": 4,
    },
}
"""The values that replace the defaults of options, by preset."""
DECIDED = ("gate_profile",)
"""The options of a preset that cannot be overridden, because a preset is judged by its own profile."""


def values_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the preset that is named in the values of options."""
    return PRESETS.get(str(options.get(PRESET)), {})


def contradiction(name: str, preset: str) -> str:
    """Return a sentence about an extra variable that contradicts a preset."""
    return (
        f"{name}, an extra variable, contradicts {PRESET}: {preset}, which always has {name}: {PRESETS[preset][name]}. "
        f"Leave {name} out of the extra variables, or leave {PRESET} out and set the other options of the sweep "
        "themselves"
    )
