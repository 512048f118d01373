# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The names of metrics in sentences: "p99.9", "mean response", "throughput"."""

from __future__ import annotations

_NAMES = {
    "bytes_per_s": "throughput",
    "interval_bytes_per_s_min": "throughput of the slowest second",
    "operations_per_s": "rate",
}
_OF = {
    "latency_time_weighted": "time-weighted {}",
    "latency": "{}",
    "flush": "{} of the flush",
    "response": "{} response",
}


def metric_text(name: str) -> str:
    """Return the name of a metric in the form used before its figure."""
    if name in _NAMES:
        return _NAMES[name]
    for prefix, text in _OF.items():
        if name.startswith(f"{prefix}_"):
            figure = name.removeprefix(f"{prefix}_")
            is_percentile = figure[:1] == "p" and figure[1:2].isdigit()
            return text.format(figure.replace("_", ".") if is_percentile else {"max": "maximum"}.get(figure, figure))
    return name.replace("_", " ")
