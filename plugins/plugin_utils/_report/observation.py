# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The observation in a record, made safe for display, and the sentences about it that several formats use."""

from __future__ import annotations

import datetime
from typing import Any

from ...module_utils._units import format_duration, format_number, format_ratio
from .._run.columns import LOG
from .._run.shapes import Within, as_dict, fits
from .._run.words import mean_size_text
from .folding import more_hosts, shorten
from .model import Host, Model
from .series import Figures

SHOWN = 5
"""The maximum number of hosts with separate lines. Hosts that are slowest compared with their certificates come
first."""
CLEAR_TREND = 0.02
"""If the utilisation changes by less than this share of the time during the observation, there is no trend."""

_SHOWN = Within(-(1 << 64), 1 << 64)

HIGH = 0.7
"""If the logger is busy for at least this share of the time, it is near its limit, and waits grow steeply."""


def observation_lines(model: Model) -> list[str]:
    """Return two lines for each queue manager: its observed figures, and how they compare with the certificate of its
    volume."""
    observed = sorted(model.hosts_with_own, key=lambda host: -(ratio_of(host) or 0.0))
    lines = [
        f"{shorten(host.label)}: {text}"
        for host in observed[:SHOWN]
        for text in (figures_text(host), " ".join([certificate_text(host), *caveats(host)]))
    ]
    return [*lines, f"and {more_hosts(len(observed) - SHOWN)}"] if len(observed) > SHOWN else lines


def figures_text(host: Host) -> str:
    """Describe the activity of the log, and how busy its logger was."""
    figures = log_figures(host)
    busy = number(host.own.get("utilisation"), "share")
    elapsed_s = number(host.own, "elapsed_s")
    after = f" after {format_duration(elapsed_s * 1e9)}" if elapsed_s else ""
    parts = [
        f"queue manager {host.own.get('queue_manager') or 'not known'}",
        _writes_text(host, figures),
        "" if busy is None else f"logger busy {format_ratio(busy)} of the time{trend_text(host)}",
        f"ended before its time{after}" if host.own.get("ending") else "",
    ]
    return ", ".join(filter(None, parts))


def _writes_text(host: Host, figures: Figures) -> str:
    size, mean = size_of(figures), number(figures, "latency_mean_ns")
    if size and mean:
        return f"log writes of {mean_size_text(size)} take {format_duration(mean)} on average"
    if figures.get("operations"):
        return "the duration of its log writes is not known"
    if figures:
        return "no log write was observed"
    watched = {each.get("stream") for each in host.own.get("intervals") or ()}
    return (
        "only calls were observed, not its log" if host.rows and LOG not in watched else "its log writes are not known"
    )


def certificate_text(host: Host) -> str:
    """Describe how the observed figures compare with the volume's certificate."""
    held = host.own.get("certificate")
    return (
        "It was not compared with a certificate, because the gate ended before the comparison."
        if held is None
        else str(held.get("text") or "")
    )


def caveats(host: Host) -> list[str]:
    """Return the reservations about the comparison of a host."""
    return list((host.own.get("certificate") or {}).get("caveats") or ())


def trend_text(host: Host) -> str:
    """Describe how the utilisation changed during the observation; empty if it did not change or if this is unknown."""
    slope, elapsed_s = number(host.own.get("utilisation"), "share_per_hour"), number(host.own, "elapsed_s")
    change = slope * elapsed_s / 3600 if slope is not None and elapsed_s else 0.0
    if abs(change) < CLEAR_TREND:
        return ""
    direction = "rising" if change > 0 else "falling"
    return (
        f" and {direction} (trend: {format_number(100 * abs(change))} percentage points in "
        f"{format_duration(elapsed_s * 1e9, 2)})"
    )


def ratio_of(host: Host) -> float | None:
    """Return the ratio of the observed mean to the certified one, or None if unknown."""
    return number(host.own.get("certificate"), "ratio")


def log_figures(host: Host) -> dict[str, Any]:
    """Return the figures of the log's writes by column, empty if there are none."""
    return next((dict(row) for dummy, row in host.results() if (row["stream"], row["worker"]) == ("log", "all")), {})


def limit_of_mean(host: Host) -> float | None:
    """Return the tightest limit on the mean that judged the host, in nanoseconds, or None."""
    limits = (limit["limit_value"] for limit, span in host.duration_limits() if limit["metric"] == "latency_mean")
    return min(limits, default=None)


def size_of(figures: Figures) -> float | None:
    """Return the mean size of the log's writes."""
    return number(figures, "write_size_mean_bytes") or number(figures, "block_size_bytes")


def numbers(data: Any) -> dict[str, float]:
    """Return the numbers in an object of a record that can be shown."""
    return {key: value for key, value in as_dict(data).items() if fits(value, _SHOWN)}


def number(data: Any, key: str) -> float | None:
    """Return a number in a record, or None if there is none that can be shown."""
    return numbers(data).get(key)


def moment(epoch_s: float | None, form: str = "%Y-%m-%d %H:%M:%S UTC") -> str:
    """Format a time for display; the result is empty if the time is unknown or cannot be shown."""
    try:
        return "" if epoch_s is None else datetime.datetime.fromtimestamp(epoch_s, datetime.timezone.utc).strftime(form)
    except (OverflowError, OSError, ValueError):
        return ""
