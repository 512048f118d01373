# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Formats the figure of a certificate that comes closest to its limit, and how much of the limit it leaves unused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils import _units
from .._english.parts import metric_text
from .._judge.metrics import find_metric
from .._run.columns import LOG
from .._run.words import size_text
from .series import operations_text


def headroom_text(closest: Mapping[str, Any]) -> str:
    """Return the share of the limit that is unused: "25 %". It is below 0 if the limit is broken."""
    unused = 100 * (1 - closest["share"])
    return f"{unused:,.{1 if abs(unused) < 10 else 0}f} %".replace("-", "\u2212")


def figure_text(closest: Mapping[str, Any]) -> str:
    """Return the figure: "p99 at 64 KiB: 1.5 ms"."""
    stream, size = closest.get("stream"), closest.get("block_size_bytes")
    of_stream = f" of {operations_text(stream, closest.get('operation'))}" if stream not in (None, LOG) else ""
    at = f" at {size_text(size)}" if size else ""
    at_least = "at least " if closest.get("value_at_least") else ""
    return f"{metric_text(closest['metric'])}{of_stream}{at}: {at_least}{_value(closest)}"


def _value(closest: Mapping[str, Any]) -> str:
    """Format the figure in the unit of its limit. The unit of a capacity is that of the load points."""
    metric, value = find_metric(closest["metric"]), closest["value"]
    if metric is None or closest["metric"] == "capacity":
        return f"{_units.format_number(value)} {closest.get('unit') or ''}".rstrip()
    return str(metric.kind.format(value))
