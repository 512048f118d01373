# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Identifies the AWX or Automation Platform job that runs this playbook, from the extra variables that the platform
passes to each job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._run.table_reader import printable

MOST_CHARACTERS = 200
PREFIXES = ("awx_", "tower_")
"""Automation Platform passes each variable under both names, but AWX only under the first one."""
_NAMES = {
    "id": "job_id",
    "template": "job_template_name",
    "workflow_job_id": "workflow_job_id",
    "launched_by": "user_name",
    "schedule": "schedule_name",
    "inventory": "inventory_name",
    "project_revision": "project_revision",
}


def job_of(variables: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts about the job, as text of limited length. Outside AWX, there are none."""
    found = {key: _first(variables, name) for key, name in _NAMES.items()}
    return {key: text for key, text in found.items() if text}


def _first(variables: Mapping[str, Any], name: str) -> str:
    given = (variables.get(prefix + name) for prefix in PREFIXES)
    return next((printable(str(value))[:MOST_CHARACTERS] for value in given if value not in (None, "")), "")
