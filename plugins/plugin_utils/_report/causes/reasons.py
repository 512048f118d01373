# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the reasons for a host's verdict other than limits that the host does not meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._run.findings import LIMIT, OF_HISTORY, UNMEASURED, reasons_among, row_of
from ..._run.verdicts import PASS
from ..model import Host


def beside_limits(host: Host, limits: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the findings that are reasons for a host's verdict, without those about the worst rows of given limits."""
    told = {row_of({**limit, **limit["worst"]}) for limit in limits}
    return [
        finding for finding in reasons_among(host.findings) if finding["kind"] != LIMIT or row_of(finding) not in told
    ]


def unexplained(host: Host) -> list[dict[str, Any]]:
    """Return the findings of a host that are neither about a limit nor added by the history. If there is no reason at
    all, return one finding without text."""
    found = [
        finding
        for finding in beside_limits(host, (limit for limit in host.limits if limit["verdict"] != PASS))
        if finding["kind"] not in OF_HISTORY
    ]
    return found if found or reasons_among(host.findings) else [{"kind": UNMEASURED, "verdict": host.verdict}]
