# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcome of a run, for pipelines: a verdict, incorrect usage, or an error; and which hosts fail because of
problems of the whole fleet."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._run.environment import vanishes
from .._run.files import write_json
from .._run.kinds import DEFAULT
from .._run.moment import utc_now

SCHEMA = 1
FILE_NAME = "outcome.json"
SHOWN_REASONS = 20
MOST_REASON_BYTES = 20_000
"""The largest total size of the sentences in artifacts, in bytes. They are copied to every later job of a workflow, and
appear in every list of jobs."""

VERDICT = "verdict"
"""The gate judged the fleet: the exit status is the verdict."""
USAGE = "usage"
"""Variables or the inventory are wrong; nothing was measured."""
INTERNAL = "internal"
"""An internal error. For example, the run did not reach its verdict, its report cannot be written, its certificates
cannot be stored, its hosts were not compared with their baseline, it cannot be signed, kept or uploaded, or one of the
runs to be merged cannot be read."""

STATUS, COMPARED, DRIFT = "status", "comparison", "drift"
"""The states of certificates, or their changes, were reported. This outcome appears only in artifacts, because these
commands are not runs."""


def shortened(reasons: list[str], complete: str = "") -> list[str]:
    """Return the first few reasons, how many more there are, and the file (if any) that lists all of them."""
    more = len(reasons) - SHOWN_REASONS
    return reasons[:SHOWN_REASONS] + ([f"and {more} more{complete and ', see ' + complete}"] if more > 0 else [])


def one_message(reasons: list[str], complete: str = "the report") -> str:
    """Return the first few reasons as one message."""
    return " | ".join(shortened(reasons, complete))


def make_outcome(kind: str, message: str, **more: Any) -> dict[str, Any]:
    """Return the content of outcome.json: ``outcome`` (one of the three above), ``message``, and any other known
    data."""
    return {"schema": SCHEMA, "outcome": kind, "message": message, "written_at": utc_now(), **more}


def write_outcome(report_dir: str, content: dict[str, Any]) -> None:
    """Write ``outcome.json`` to the directory that contains the run directories. Raises OSError."""
    os.makedirs(report_dir, exist_ok=True)
    write_json(os.path.join(report_dir, FILE_NAME), content)


@dataclass(frozen=True)
class Place:
    """The location of the report of a run: its directory and, if known, the URL of its archive and whether the history
    keeps it."""

    path: str
    url: str = ""
    kept: bool = False


def artifacts(task_vars: Mapping[str, Any], kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for later jobs and notifications, under a key of this job. Commands that are not tests
    have their own keys, so that they are not merged."""
    message = {"message": _cut(content["message"], MOST_REASON_BYTES // 4)} if "message" in content else {}
    return {
        f"logdisk_{'' if kind == DEFAULT.name else f'{kind}_'}{task_vars.get('awx_job_id') or 'local'}": {
            **content,
            **message,
        }
    }


def workflow_artifact(outcome: Mapping[str, Any], verdict: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """Return the outcome of a run with the data that a notification needs. All sentences together have at most
    MOST_REASON_BYTES."""
    part = MOST_REASON_BYTES // 4
    qualifications = dict.fromkeys(
        host["qualification"] for host in verdict["hosts"] if not host["certified"] and host["qualification"]
    )
    where = {} if vanishes(place.path) else {"run_directory": place.path}
    return {
        **{key: value for key, value in outcome.items() if key != "path"},
        "message": _cut(outcome["message"], part),
        "counts": verdict["counts"],
        "not_certified_because": [] if verdict["certified"] else _bounded(qualifications, part),
        "reasons": _bounded(verdict["reasons"], 2 * part),
        # The worst volume comes first, and represents a host with several volumes.
        "hosts": {host["host"]: host["verdict"] for host in reversed(verdict["hosts"])},
        "report_url": place.url,
        "report_kept": place.kept,
        **where,
    }


def _bounded(texts: Iterable[str], most: int) -> list[str]:
    """Return the first texts, each shortened, and how many more there are. Encoded as JSON, they have at most the given
    number of bytes."""
    texts, shown, room = list(texts), [], most - 100
    for text in texts:
        short = _cut(text, most // 10)
        room -= _size(short)
        if room < 0:
            return [*shown, f"and {len(texts) - len(shown)} more"]
        shown.append(short)
    return shown


def _cut(text: str, most: int) -> str:
    """Return the beginning of a text that has at most the given number of bytes when encoded as JSON."""
    while _size(text) > most:
        text = text[: min(len(text) * most // _size(text), len(text) - 10)] + "..."
    return text


def _size(text: str) -> int:
    return len(json.dumps(text)) + 2


CONTROLLER = "localhost"


def blamed(play_hosts: Sequence[str]) -> list[str]:
    """Return the hosts that fail because of problems of the fleet: the controller or, if a limit excludes it from the
    play, every host of the play."""
    return [CONTROLLER] if CONTROLLER in play_hosts else list(play_hosts)


def with_fleet(failures: Mapping[str, str], fleet_problems: Sequence[str], play_hosts: Sequence[str]) -> dict[str, str]:
    """Return the message with which each host fails: its own message and, for hosts that fail because of the fleet,
    also the fleet's problems."""
    if not fleet_problems:
        return dict(failures)
    return {
        **failures,
        **{
            host: " | ".join([*fleet_problems, *([failures[host]] if host in failures else [])])
            for host in blamed(play_hosts)
        },
    }
