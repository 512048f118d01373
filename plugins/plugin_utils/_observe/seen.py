# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The data that the record of an observation contains for the report, in addition to the tables."""

from __future__ import annotations

import dataclasses
from typing import Any

from .interval import LOG, Interval, Observation, Options
from .utilisation import utilisation, utilisation_of

MOST_INTERVALS = 10_000
MOST_MAXIMA = 1_000
"""The size of a record is limited, but a day has 8,640 intervals of 10 s."""


def seen_of(observation: Observation, options: Options) -> dict[str, Any]:
    """Return the data that a record keeps about an observation. docs/files.md describes it."""
    return {
        "source": observation.source,
        "queue_manager": options.queue_manager,
        "log_path": options.log_path,
        "start_epoch_s": observation.start_epoch_s,
        "elapsed_s": observation.elapsed_ns / 1e9,
        "interval_s": options.interval_s,
        "ending": observation.ending,
        "intervals": [_interval(each) for each in observation.intervals[:MOST_INTERVALS]],
        "maxima": [dataclasses.asdict(each) for each in observation.maxima[-MOST_MAXIMA:]],
        "utilisation": dataclasses.asdict(utilisation(observation)),
        "facts": dict(observation.facts),
        "problems": list(observation.problems),
    }


def _interval(each: Interval) -> dict[str, Any]:
    return {
        **dataclasses.asdict(each),
        "logger_utilisation_share": utilisation_of([each]) if each.stream == LOG else None,
    }
