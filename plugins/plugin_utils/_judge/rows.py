# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines which rows of the tables a limit judges."""

from __future__ import annotations

from dataclasses import replace

from .._run.columns import ALL_STREAMS, Row
from .._run.tables import Tables
from .metrics import METRICS, NOT_STARTED
from .profile import FAIL, Limit
from .profile_reader import of_every_profile

MOST_NOT_STARTED = 0.001
"""The share of due operations that may remain unstarted. Aerospike's ACT stops if its queues back up; here, this share
defines when that is the case."""


def limits_on_pace(tables: Tables) -> list[Limit]:
    """Return the limits that every run has on its streams with a rate: a load that cannot be sustained fails,
    regardless of the profile."""
    paced = (
        dict.fromkeys(row["stream"] for row in tables.streams_together if row.get("operations_not_started") is not None)
        if tables.layout.paced
        else ()
    )
    about = {
        "bound": "max",
        "strict": False,
        "value": MOST_NOT_STARTED,
        "stated": MOST_NOT_STARTED,
        "severity": FAIL,
        "hard": False,
    }
    return [
        Limit(
            METRICS[NOT_STARTED], **about, block_size=None, load_point=None, stream=stream, source="the workload's rate"
        )
        for stream in paced
    ]


def rows_of(limit: Limit, tables: Tables) -> list[Row]:
    """Return the rows that a limit judges.

    If a stream has only one worker, its row is not judged, because the row `all` has the same figures. The rate of a
    stream is that of its reads and writes together, unless the limit names one of them. The limit on the longest stall,
    which every profile has, judges every stream.
    """
    if not tables.layout.of_mq and limit.metric.name == "latency_max" and of_every_profile(limit):
        streams = dict.fromkeys(row["stream"] for row in tables.results if row["stream"] != ALL_STREAMS)
        return [row for stream in streams for row in _of_stream(replace(limit, stream=stream), tables)]
    return _of_stream(limit, tables)


def is_beside_the_point(limit: Limit, tables: Tables) -> bool:
    """Return whether a limit without a row is simply not judged. Every profile has hard limits on the log, but the
    workload may not have a log."""
    return not tables.layout.of_mq and of_every_profile(limit)


def _of_stream(limit: Limit, tables: Tables) -> list[Row]:
    together = tables.layout.adds_up and limit.metric.adds_up and not limit.operation and limit.stream != ALL_STREAMS
    rows = tables.streams_together if together else tables.results
    return [row for row in rows if limit.applies_to(row, tables.step_size) and not tables.repeats_all(row)]
