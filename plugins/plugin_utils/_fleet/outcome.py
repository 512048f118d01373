# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcome of a run, for pipelines: a verdict, wrong usage, or an internal error. Every failed task ends in the same exit status."""

from __future__ import annotations

import os
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.files import write_json
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.moment import utc_now

SCHEMA = 1
FILE_NAME = "outcome.json"
SHOWN_REASONS = 20

VERDICT = "verdict"
"""The gate judged the fleet: the exit status is the verdict."""
USAGE = "usage"
"""Variables or the inventory are wrong; nothing was measured."""
INTERNAL = "internal"
"""The run did not reach its verdict, its report cannot be written, its certificates cannot be stored, its hosts were not held against their baseline, or it
cannot be signed."""


def shortened(reasons: list[str], complete: str = "") -> list[str]:
    """Return the first reasons, how many more there are, and what has them all, if anything does."""
    more = len(reasons) - SHOWN_REASONS
    return reasons[:SHOWN_REASONS] + ([f"and {more} more{complete and ', see ' + complete}"] if more > 0 else [])


def one_message(reasons: list[str], complete: str = "the report") -> str:
    """Return the first reasons as one message."""
    return " | ".join(shortened(reasons, complete))


def make_outcome(kind: str, message: str, **more: Any) -> dict[str, Any]:
    """Return what outcome.json holds: ``outcome`` (one of the three above), ``message``, and what else is known."""
    return {"schema": SCHEMA, "outcome": kind, "message": message, "written_at": utc_now(), **more}


def write_outcome(report_dir: str, content: dict[str, Any]) -> None:
    """Write ``outcome.json`` to the directory that contains the run directories. Raises OSError."""
    os.makedirs(report_dir, exist_ok=True)
    write_json(os.path.join(report_dir, FILE_NAME), content)
