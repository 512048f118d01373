# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""report.json: the whole model as one JSON document, written host by host. docs/report.schema.json is its schema."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes import causes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import Host, Model, ResultRow

SCHEMA_VERSION = 1


def render(model: Model) -> Iterator[str]:
    """Yield the document's text piece by piece."""
    head = {
        "schema": SCHEMA_VERSION,
        "run": model.run,
        "fleet": {
            **model.fleet,
            "statement": model.statement,
            "gate_ran": model.gate_ran,
            "check_mode": model.check_mode,
        },
        "limits": [{"limit": text, "rows": rows, "severity": severity, "hard": hard} for text, rows, severity, hard in model.limits],
        "columns": model.columns,
        "causes": [dataclasses.asdict(cause) for cause in causes(model)],
    }
    yield json.dumps(head, indent=1, default=str)[:-2]
    yield ',\n "hosts": ['
    for index, host in enumerate(model.hosts):
        yield ("," if index else "") + "\n  " + json.dumps(_host(host), default=str)
    yield "\n ]\n}\n"


def _host(host: Host) -> dict[str, Any]:
    return {
        "host": host.host,
        "volume": host.volume,
        "folder": host.folder,
        "kind": host.kind,
        "created_at": host.created_at,
        "verdict": host.verdict,
        "certified": host.certified,
        "qualification": host.qualification,
        "valid_until": host.valid_until,
        "certificate": host.certificate,
        "profile": host.profile,
        "volume_class": host.volume_class,
        "stage": host.stage,
        "reasons": host.reasons,
        "notes": host.notes,
        "facts": host.facts,
        "workspace": host.workspace,
        "tester": host.tester,
        "limits": host.limits,
        "results": [_result(row, figures) for row, figures in host.results()],
    }


def _result(row: ResultRow, figures: dict[str, Any]) -> dict[str, Any]:
    known = {column: value for column, value in figures.items() if value is not None}
    return {"verdict": row.verdict, "reasons": row.reasons, "worker_name": row.worker_name, **known}
