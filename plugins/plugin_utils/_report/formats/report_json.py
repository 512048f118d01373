# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""report.json: the whole model as one JSON document, written host by host. docs/report.schema.json is its schema."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from ..._estimate.basis import Estimate, Headroom
from ..._estimate.line import Line
from ..._judge.profile import Limit
from ..._run.kinds import by_data_key
from ..causes.groups import causes
from ..estimates import ShownEstimates, shown_estimates
from ..model import Host, Model, ResultRow

FILE = "report.json"

SCHEMA_VERSION = 1

_HOST_KEYS = (
    "host",
    "volume",
    "folder",
    "kind",
    "created_at",
    "verdict",
    "certified",
    "qualification",
    "valid_until",
    "certificate",
    "profile",
    "profile_sha256",
    "settings",
    "checked_settings",
    "volume_class",
    "stage",
    "reasons",
    "findings",
    "notes",
    "facts",
    "workspace",
    "tester",
    "limits",
)
"""The data of a host that the document contains as it is."""


def render(model: Model) -> Iterator[str]:
    """Yield the text of the document piece by piece."""
    head = {
        "schema": SCHEMA_VERSION,
        "run": model.run,
        "fleet": {
            **model.fleet,
            "statement": model.headed_statement,
            "gate_ran": model.gate_ran,
            "check_mode": model.check_mode,
        },
        "limits": [_limit(model, profile.text, limit) for profile in model.profiles for limit in profile.limits],
        "columns": model.columns,
        "causes": [
            {key: value for key, value in dataclasses.asdict(cause).items() if key != "limit"}
            for cause in causes(model)
        ],
    }
    yield json.dumps(head, indent=1, default=str)[:-2]
    yield ',\n "hosts": ['
    for index, host in enumerate(model.hosts):
        yield ("," if index else "") + "\n  " + json.dumps(_host(host), separators=(",", ":"), default=str)
    yield "\n ]\n}\n"


def _limit(model: Model, profile: str, limit: Limit) -> dict[str, Any]:
    return {
        "profile": profile,
        "limit": limit.text,
        "limit_id": limit.id,
        "rows": model.judged_by(limit),
        "severity": limit.severity,
        "hard": limit.hard,
    }


def _host(host: Host) -> dict[str, Any]:
    return {
        **{key: getattr(host, key) for key in _HOST_KEYS},
        "capacity": host.capacity.as_dict() if host.capacity else None,
        "estimates": _estimates(host),
        **by_data_key(host.kind, host.own or None),
        "results": [_result(host, row) for row in host.rows],
    }


def _result(host: Host, row: ResultRow) -> dict[str, Any]:
    known = {column: value for column, value in zip(host.columns, row.values, strict=True) if value is not None}
    return {"verdict": row.verdict, "reasons": row.reasons, "worker_name": row.worker_name, **known}


def _estimates(host: Host) -> dict[str, Any] | None:
    """Return the estimates of a volume: in a large fleet, only the line, from which all other estimates can be
    computed."""
    if host.basis is None:
        return None
    shown = shown_estimates(host) if host.intervals else None
    return {
        "line": _line(host.basis.line) if host.basis.line else None,
        "no_line": host.basis.no_line,
        "writers": host.basis.writers,
        "log_buffer_bytes": host.basis.load.buffer_bytes,
        "headroom": _headroom(host.headroom) if host.headroom else None,
        "no_headroom": host.no_headroom,
        **(_shown(shown) if shown else {}),
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "base_ns": line.base_ns,
        "base_error_ns": line.base_error_ns,
        "bytes_per_s": 1e9 * line.bytes_per_ns,
        "bytes_per_s_error": 1e9 * line.bytes_per_ns_error,
        "worst_share": line.worst,
        "smallest_bytes": line.smallest_bytes,
        "largest_bytes": line.largest_bytes,
    }


def _headroom(found: Headroom) -> dict[str, Any]:
    return {
        **dataclasses.asdict(found.target),
        **{key: getattr(found, key) for key in ("carried_per_s", "margin", "measured", "reservations")},
        "commit_wait_ns": found.wait_ns,
    }


def _shown(shown: ShownEstimates) -> dict[str, Any]:
    round_trips = {
        "clients": shown.round_trip_clients,
        "message_bytes": shown.message_bytes,
        **dataclasses.asdict(shown.round_trips),
        "reservations": shown.reservations,
    }
    return {
        "log_bytes_per_s": shown.log_bytes_per_s,
        "commits": [_estimate(estimate) for estimate in shown.commits.values()],
        "distances": [
            {"distance_km": km, **_estimate(estimate)}
            for km, estimates in shown.distances.items()
            for estimate in estimates
        ],
        "round_trips": round_trips,
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    measured = dataclasses.asdict(estimate.measured) if estimate.measured else None
    return {
        **dataclasses.asdict(estimate.load),
        **dataclasses.asdict(estimate.commits),
        "reservations": estimate.reservations,
        "measured": measured,
        "difference_share": estimate.difference,
        "contradicted": estimate.contradicted,
    }
