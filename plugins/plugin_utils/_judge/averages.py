# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Handles limits on figures that MQ's own statistics do not contain because they are rolling averages."""

from __future__ import annotations

from typing import Any

from .._run.record import HostRecord
from .profile import Limit

_SLOWEST = "slowest_write_since_restart_ns"


def slowest_since_restart_ns(limit: Limit, record: HostRecord) -> int | None:
    """Return the duration of the slowest write since the queue manager started, if this duration meets a limit on the
    slowest write. In that case, no observed write can break the limit."""
    slowest = _slowest(record)
    return None if limit.metric.name != "latency_max" or slowest is None or limit.broken_by(slowest) else slowest


def why_no_figure(limit: Limit, record: HostRecord) -> dict[str, Any]:
    """Return why there is no figure."""
    if limit.metric.allowed_share is not None:
        return {"code": "no_percentiles_published"}
    slowest = _slowest(record)
    if limit.metric.name == "latency_max" and slowest is not None:
        return {"code": "only_slowest_since_restart", "slowest_ns": slowest}
    return {"code": "not_published"}


def _slowest(record: HostRecord) -> int | None:
    slowest = ((record.own or {}).get("facts") or {}).get(_SLOWEST)
    return slowest if isinstance(slowest, int) else None
