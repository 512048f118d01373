# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of hosts: what was measured there, or why nothing was.

Private to this collection; it may change at any time.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _profile, _tables, _verdict

SCHEMA = 1
CLOCK_BOUND_S = 1.0
"""How far a host's clock may be off the controller's without a word."""
TABLE_NAMES = ("run.csv", "results.csv", "intervals.csv", "histogram.csv", "stalls.csv", "rounds.csv")
"""The tester's tables, all that is ever taken from a host."""

IDENTITY_PREFIXES = ("filesystem_", "mount_", "device_", "direct_io_", "nfs_", "backing_")
"""Keys of the tester's run table that say what was tested; they join the facts of the host."""


def collection_version() -> str:
    """Return this collection's version, from galaxy.yml in a checkout or MANIFEST.json where it is installed."""
    root = Path(__file__).resolve().parents[2]
    for name, keys in (("MANIFEST.json", ("collection_info", "version")), ("galaxy.yml", ("version",))):
        try:
            content = yaml.safe_load((root / name).read_text(encoding="utf-8"))
            for key in keys:
                content = content[key]
        except (OSError, KeyError, TypeError, yaml.YAMLError):
            continue
        return str(content)
    return "unknown"


def profile_of(run: Mapping[str, Any], host: str) -> _profile.Profile:
    """Return the profile that ``host`` is judged by: its own, or the run's."""
    return _profile.load_profile(run.get("host_profiles", {}).get(host) or run["profile"], "")


def measurement(run: Mapping[str, Any], host: str, volume: str, facts: dict[str, Any], workspace: dict[str, Any],
                tables: Mapping[str, bytes], today: datetime.date) -> dict[str, Any]:
    """Return the judged record of a host that sent ``tables``. Tables that cannot be read make it an error's record."""
    try:
        parsed = _tables.parse_tables(dict(tables))
    except _tables.TablesError as problem:
        return error(run, host, volume, "collect", "error", f"the tester's tables cannot be used: {problem}", facts)
    identity = {key: value for key, value in parsed.run.items() if key.startswith(IDENTITY_PREFIXES)}
    record = _base(run, host, volume, "measurement", {**facts, **identity, "tester_version": parsed.run.get("version")})
    record["workspace"] = workspace
    record["notes"] = clock_notes(facts)
    record["tester"] = {
        "exit_status": parsed.exit_status,
        "exit_reason": parsed.run.get("exit_reason", ""),
        "exit_message": parsed.run.get("exit_message", ""),
        "error": _group(parsed.run, "error_"),
        "in_flight": _group(parsed.run, "in_flight_"),
    }
    return {**record, **_verdict.judge_host(record, parsed, profile_of(run, host), today)}


def clock_notes(facts: Mapping[str, Any]) -> list[str]:
    """Return a sentence where the host's clock is off the controller's by more than a second and than its measuring explains."""
    offset_s, error_s = facts.get("clock_offset_s"), facts.get("clock_offset_error_s")
    if isinstance(offset_s, (int, float)) and isinstance(error_s, (int, float)) and abs(offset_s) > max(CLOCK_BOUND_S, error_s):
        return [f"Its clock is {offset_s:+.1f} s off the controller's, measured to {error_s:.1f} s; its start was corrected for that"]
    return []


def error(run: Mapping[str, Any], host: str, volume: str, stage: str, verdict: str, reason: str, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a host that was not measured, for ``reason``, at ``stage``."""
    record = _base(run, host, volume, "error", facts)
    record["error"] = {"stage": stage, "verdict": verdict, "reason": reason}
    return {**record, **_verdict.judge_host(record, None, profile_of(run, host), datetime.date.today())}


def preflight(run: Mapping[str, Any], host: str, volume: str, facts: dict[str, Any], plan: Mapping[str, Any], workspace: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a host that is ready to be measured: it has no verdict, and says what the measurement would do."""
    record = _base(run, host, volume, "preflight", facts)
    free_bytes = facts.get("filesystem_free_bytes")
    free = f", {_units.format_size(free_bytes)} free" if isinstance(free_bytes, int) else ""
    ready = (f"ready: {plan['steps']} steps in about {math.ceil((plan['planned_s'] + plan['format_s']) / 60)} min, "
             f"{_units.format_size(plan['footprint_bytes'])} on {facts.get('mount_point')} ({facts.get('filesystem_type')}{free})")
    unknown = [f"not known: {item}" for item in workspace.get("unknown") or []]
    return {**record, "workspace": dict(workspace), "verdict": None, "certified": False, "qualification": "nothing was measured",
            "reasons": [ready, *unknown], "judgements": []}


def missing(run: Mapping[str, Any], host: str, volume: str = _verdict.DEFAULT_VOLUME) -> dict[str, Any]:
    """Return the record of a host that was expected and never reported."""
    return error(run, host, volume, "gate", _verdict.MISSING, "no record arrived from this host", {})


def _base(run: Mapping[str, Any], host: str, volume: str, kind: str, facts: dict[str, Any]) -> dict[str, Any]:
    return {"schema": SCHEMA, "run_id": run["run_id"], "host": host, "volume": volume, "kind": kind, "created_at": _verdict.utc_now(),
            "error": None, "facts": facts, "workspace": {}, "tester": None}


def _group(table: Mapping[str, str], prefix: str) -> dict[str, str] | None:
    """Return the non-empty keys that start with ``prefix``, without it; None where there are none."""
    found = {key[len(prefix):]: value for key, value in table.items() if key.startswith(prefix) and value != ""}
    return found or None
