# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How close a run comes to its limits, and how much load its volumes carry: the share of a limit that a figure uses,
the figure that comes closest to its limit, capacities, and margins over the required load."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...module_utils._units import format_count, format_number, format_ratio
from .._english.phrases import metric_text
from .._judge.closest_limit import used_share
from .._judge.metrics import find_metric
from .._run.columns import LOG
from .._run.words import size_text
from .causes.cause import is_without_usable_figures
from .causes.groups import gravest
from .folding import shorten
from .model import Host, Model
from .series import LimitEntry, at_worst, operations_text


def share_text(share: float) -> str:
    """Return a share such as "42 %", or "15 \u00d7" if it is at least twice the limit."""
    if share >= 2:
        return f"{format_number(share, 2)} \u00d7"
    text = f"{100 * share:.0f} %"
    return text if share == 1 or text != "100 %" else _apart_from_one(format_ratio, share)


def closest_text(closest: LimitEntry) -> str:
    """Return the figure: "p99 at 64 KiB: 1.5 ms"."""
    stream, size = closest.get("stream"), closest.get("block_size_bytes")
    of_stream = f" of {operations_text(stream, closest.get('operation'))}" if stream not in (None, LOG) else ""
    at = f" at {size_text(size)}" if size else ""
    at_least = "at least " if closest.get("value_at_least") else ""
    return f"{metric_text(closest['metric'])}{of_stream}{at}: {at_least}{_closest_value(closest)}"


def _closest_value(closest: LimitEntry) -> str:
    """Format the figure in the unit of its limit. The unit of a capacity is that of the load points."""
    metric, value = find_metric(closest["metric"]), closest["value"]
    if metric is None or closest["metric"] == "capacity":
        return f"{format_number(value)} {closest.get('unit') or ''}".rstrip()
    return str(metric.kind.format(value))


def used_limits(host: Host) -> list[tuple[float, dict[str, Any]]]:
    """Return the limits with the shares that their worst rows use, the largest share first."""
    shares = ((used_share(limit, limit["worst"]["value"]), limit) for limit in host.limits)
    return sorted(
        ((share, limit) for share, limit in shares if share is not None), key=lambda each: each[0], reverse=True
    )


def worst_use_text(model: Model) -> str:
    """Return the largest share of a limit that a host uses, as text: "the worst uses 75 % of its limit (p99 at 64 KiB)
    on db07", or, if the host is alone in its run, "it uses at most 75 % of any limit (p99 at 64 KiB)". The text is
    empty if no limit judged a figure. Hosts without usable figures are left out."""
    hosts = [host for host in model.hosts if not is_without_usable_figures(host)]
    used = ((*found[0], host) for host in hosts if (found := used_limits(host)))
    share, limit, host = max(used, key=lambda each: each[0], default=(None, None, None))
    if share is None:
        return ""
    alone = len(model.hosts) == 1
    worst = "of the others, the worst" if gravest(model) and len(hosts) < len(model.hosts) else "the worst"
    at_least = "at least " if limit["worst"]["value_at_least"] else ""
    its = "a limit" if alone else "its limit"
    if share > 1 and limit["bound"] == "min":
        says = f"reaches only {_apart_from_one(format_ratio, 1 / share)} of {its}"
    elif share > 1:
        says = f"takes {at_least}{_apart_from_one(format_number, share)} times {its}"
    elif alone and not at_least:
        says = f"uses at most {_apart_from_one(format_ratio, share)} of any limit"
    else:
        says = f"uses {at_least}{_apart_from_one(format_ratio, share)} of {its}"
    figure = _figure_text(host, limit)
    return f"it {says} ({figure})" if alone else f"{worst} {says} ({figure}) on {shorten(host.label)}"


def _figure_text(host: Host, limit: LimitEntry) -> str:
    """Return the name of the figure and its step: "p99 at 64 KiB", "p99 of database reads at 8 threads"."""
    words, worst, text = host.words, limit["worst"], metric_text(str(limit["metric"]))
    if worst["load_point"] is None:
        return text
    if words.layout.by_stream:
        text += f" of {operations_text(worst['stream'], worst['operation'])}"
    elif words.operation:
        text += f" of {worst['operation']}s"
    text += at_worst(words, limit)
    several = len({figures["load_point"] for dummy, figures in host.results()}) > 1
    return f"{text} with {words.load_text(worst['load_point'])}" if several and not words.layout.over_load else text


def _apart_from_one(write: Callable[[float, int], str], share: float) -> str:
    """Format a share with enough digits to distinguish it from the whole limit."""
    texts = [write(share, digits) for digits in range(2, 13)]
    return next((text for text in texts if share == 1 or text != write(1, 12)), texts[-1])


SHOWN = 5
"""The maximum number of volumes with a separate line. The volumes that carry the least load are shown."""


def capacity_lines(model: Model) -> list[str]:
    """Return a line for each volume with a capacity, the smallest capacity first, and the number of volumes that are
    left out."""
    found = sorted(
        ((host, host.climbed) for host in model.hosts if host.climbed), key=lambda each: each[1].highest_passed or 0
    )
    alone = len(model.hosts) == 1
    lines = [capacity.sentence if alone else f"{shorten(host.label)}: {capacity.sentence}" for host, capacity in found]
    return _smallest(lines, "that carry as much or more")


def headroom_lines(model: Model) -> list[str]:
    """Return a line for each volume that has a target, the smallest margin first, and the number of volumes that are
    left out."""
    hosts = sorted((host for host in model.hosts if host.headroom or host.no_headroom), key=_margin)
    return _smallest([f"{shorten(host.label)}: {margin_text(host)}" for host in hosts], "with a larger margin")


def margin_text(host: Host) -> str:
    """Return the margin of a volume and its source, or why it is unknown."""
    if not host.headroom:
        return f"margin not known, because {host.no_headroom}"
    return f"margin {format_ratio(host.headroom.margin)}, {host.headroom.text}"


def _smallest(lines: list[str], others: str) -> list[str]:
    left_out = len(lines) - SHOWN
    return [*lines[:SHOWN], *([f"and {format_count(left_out)} more {others}"] if left_out > 0 else [])]


def _margin(host: Host) -> float:
    return host.headroom.margin if host.headroom else -math.inf
