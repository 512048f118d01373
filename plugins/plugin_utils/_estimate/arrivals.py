# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Commits that arrive at a given rate, whatever becomes of those before them: how long they wait for the log."""

from __future__ import annotations

from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.line import Line


def mean_commit_wait_ns(line: Line, commits_per_s: float, bytes_per_commit: int, variation: float, remote_delay_ns: float = 0.0) -> float | None:
    """Return the mean wait of a commit, None if the log cannot keep up with the rate.

    A write takes what arrived during the one before it. So a commit waits for the rest of the write in flight, which is half of it or more if writes vary
    (variation is the standard deviation of the write latency over its mean), and then for its own write.
    """
    per_ns = commits_per_s / 1e9
    idle_share = 1 - per_ns * bytes_per_commit / line.bytes_per_ns
    if idle_share <= 0:
        return None
    cycle_ns = (line.base_ns + remote_delay_ns) / idle_share
    return cycle_ns * (1 + (1 + variation**2) / 2)
