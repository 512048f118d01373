# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The last status of a host in a sweep, in plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def host_status(host: str, run_id: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the status of a host from its answer, which is untrusted.

    A template collects the statuses of all hosts. Nothing that a host sends may keep it from becoming a list, so only text is kept.
    """
    progress = answer.get("progress")
    status = {
        "host": host,
        "run_id": run_id,
        "state": str(answer.get("state")),
        "progress": {str(key): str(value) for key, value in progress.items()} if isinstance(progress, Mapping) else {},
        "reason": str(answer.get("reason") or ""),
    }
    if "ansible_facts" in answer:  # the interpreter that Ansible itself found on the host
        status["ansible_facts"] = answer["ansible_facts"]
    return status
