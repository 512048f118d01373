# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Describes why a run that passes does not certify."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...module_utils import _units
from .._judge.metrics import BATCH_MEANS
from .._judge.profile import NO_CONFIDENCE
from .._run.words import Words, size_text

Why = Mapping[str, Any]


def qualification_text(why: Why, words: Words) -> str:
    """Return why a run does not certify."""
    return _TEXTS[why["cause"]](why, words)


_UNLIKE = {
    "filesystem_type": "it wrote to {value}, which is memory",
    "backing_unknown": (
        "the storage behind the file system cannot be determined ({value}): test a volume that is mounted without it"
    ),
    "backing_filesystem_type": "its writes ended in memory ({value})",
    "option_sync": "it wrote with the sync mode {value}, but MQ writes with dsync",
    "option_direct": "it wrote through the page cache, but MQ writes with direct I/O",
    "option_rate_per_s": "it was throttled to {value} writes/s",
    "option_delay_us": "it paused for {value} us after each write",
}


def _uncovered_episodes(why: Why, words: Words) -> str:
    phases = "standstills" if why["method"] == BATCH_MEANS else "slow phases"
    at = f"{why['metric']} at {words.row_text(why)}"
    return (
        f"{at} covers {phases} of up to {why['episode_s']:.2g} s, and {why['profile']} requires "
        f"{why['required_s']:g} s: measure longer"
    )


def _unfinished_ring(why: Why, words: Words) -> str:
    longer = f"measure for {_units.format_count(why['needed_s'])} s per row" if "needed_s" in why else "measure longer"
    return (
        f"at {size_text(why['block_size_bytes'])} it wrote only {_units.format_ratio(why['ring_passes'], 2)} of its "
        f"files once, which a write cache may have absorbed entirely: {longer}"
    )


def _small_files(why: Why, words: Words) -> str:
    asks = f"{why['profile']} requires" if "profile" in why else "the recovery log on this host has"
    had, required = (_units.format_size(why[key]) for key in ("footprint_bytes", "required_bytes"))
    return f"{words.files} had {had} in total, but {asks} {required}: a smaller ring may fit in a cache"


_TEXTS: dict[str, Callable[[Why, Words], str]] = {
    "too_short": lambda why, words: (
        f"it measured {why['measured_s']:.4g} s per row, but {why['profile']} requires {why['required_s']:g} s"
    ),
    "no_confidence": lambda why, words: (
        f"{why['profile']} compares figures as they stand (confidence: {NO_CONFIDENCE})"
    ),
    "nothing_counted": lambda why, words: (
        "its tables contain no over.csv, so its figures were judged without confidence"
    ),
    "uncovered_episodes": _uncovered_episodes,
    "unfinished_ring": _unfinished_ring,
    "small_files": _small_files,
    "block_sizes": lambda why, words: (
        f"it did not measure {', '.join(map(_units.format_size, why['missing_bytes']))}, "
        f"which {why['profile']} requires"
    ),
    "unnamed_workload": lambda why, words: "its record does not name its workload",
    "other_workload": lambda why, words: f"its workload was {why['workload']} instead of {why['required']}",
    "not_in_run_csv": lambda why, words: f"its run.csv does not contain {why['key']}",
    "unlike": lambda why, words: _UNLIKE[why["key"]].format(value=why["value"]),
}
