# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""index.html of a run in progress: how far the hosts are, and the figures of finished steps. It judges nothing, and the
report replaces it.

It is written when the run is opened and then in each round of polls, so it must not import what the report needs.
Everything that hosts report is untrusted, and unknown figures are empty.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ...module_utils import _units
from .._fleet.finished_steps import Figures, Step, Volume, finished_steps, running_step, step_titles, worst_p99_ns
from .._fleet.schedule import ENDED, HOST_CALL_S
from .._run.directory import RunDirectory
from .._run.files import read_file, write_text
from .._run.moment import utc_text
from .._run.names import INDEX
from .._run.record import DEFAULT_VOLUME, host_label
from .._run.table_reader import printable
from .template import render_page, render_part

RELOAD_S = 15
"""The open page loads itself again after this time."""
PREPARATION_S = 900.0
"""If no round of polls has begun this long after a run was opened, its page is out of date."""
ROUND_S = 60.0
"""How much later than planned a round may be before the page is out of date; each host adds HOST_CALL_S."""
MOST_ROWS = 1000
MOST_LABEL = 120
MOST_STEPS = 24
"""The largest number of steps with a column: the ones that were measured last."""
MOST_BYTES = 8 << 20

_BEGIN, _END = "<!--figures-->", "<!--/figures-->"
"""Text of hosts cannot contain these marks, because it is escaped."""

_STATES = {
    "finished": "measured",
    "dead": "ended without tables",
    "absent": "no state of this run",
    "unknown": "did not answer",
    "running": "running",
}
_STATES_OF_TESTER = ("preparing", "waiting", "warmup", "measuring", "verifying")
_TROUBLE = ("dead", "absent", "unknown")


@dataclass(frozen=True)
class Row:
    """A line of the table. ``cells`` holds a text for each step, ``now`` the step that is being measured."""

    label: str
    state: str
    in_trouble: bool
    cells: Sequence[str] = ()
    now: str = ""
    slowest: str = ""
    answered: str = ""


def write_opening(directory: RunDirectory, announced: Sequence[str]) -> None:
    """Write the page of a run that was just opened. ``announced`` are sentences about it. Raises OSError."""
    polled, now = directory.kind.is_polled, time.time()
    _write(
        directory,
        _table({}, directory.expected_hosts, "not started yet"),
        announced=announced,
        now=now,
        stale_after=now + PREPARATION_S + _round_s(directory) if polled else 0.0,
    )


def write_round(
    directory: RunDirectory,
    statuses: Mapping[str, Mapping[str, Any]],
    schedule: Mapping[str, Mapping[str, float]],
    next_epoch_s: float,
) -> None:
    """Write the page at the beginning of the wait for the next round of polls, which begins at ``next_epoch_s``.
    ``statuses`` are the last statuses of the hosts. Raises OSError."""
    start, end = min(_times(schedule, "start_epoch_s")), max(_times(schedule, "end_epoch_s"))
    now = time.time()
    _write(
        directory,
        _table(statuses, directory.expected_hosts, "not started"),
        summary=_summary(statuses),
        now=now,
        end=end,
        share=min(0.99, max(0.0, (now - start) / max(1.0, end - start))),
        next_round=utc_text(next_epoch_s),
        stale_after=next_epoch_s + _round_s(directory),
    )


def write_interruption(path: str, follow_up: str) -> None:
    """Replace the page of a run whose command ends before the run was judged; ``follow_up`` says how to go on. The
    figures so far are kept. Does nothing if the page does not show a run in progress. Raises OSError and
    RunDirectoryError."""
    page = os.path.join(path, INDEX)
    if not os.path.lexists(page):
        return
    dummy, begin, rest = read_file(page, MOST_BYTES).decode("utf-8", "replace").partition(_BEGIN)
    figures, end, dummy = rest.partition(_END)
    if begin and end:
        _write(RunDirectory.open(path), Markup(figures), now=time.time(), interrupted=True, follow_up=follow_up)


def _write(directory: RunDirectory, figures: Markup, *, now: float, **told: Any) -> None:
    run = directory.run
    defaults = {"announced": (), "summary": "", "end": 0.0, "share": None, "next_round": "", "stale_after": 0.0}
    pieces = render_page(
        "live.html.j2",
        styles=["live.css"],
        scripts=("live.js",),
        footer=f"Run {run['run_id']}",
        run=run,
        kind=directory.kind,
        hosts=len(directory.expected_hosts),
        updated=utc_text(now),
        **{
            **defaults,
            "interrupted": False,
            "follow_up": "",
            **told,
            "end_text": utc_text(told["end"]) if told.get("end") else "",
            "left": _left(told.get("end", 0.0) - now),
        },
        reload_s=RELOAD_S,
        figures=Markup(_BEGIN) + figures + Markup(_END),
    )
    write_text(os.path.join(directory.path, INDEX), pieces)


def _table(statuses: Mapping[str, Mapping[str, Any]], expected: Iterable[str], without_status: str) -> Markup:
    """Return the table of all volumes: first those that have a problem, then those with the worst latencies."""
    volumes = {
        (host, name): (volume, status)
        for host, status in sorted(statuses.items())
        for name, volume in status["volumes"].items()
    }
    done = {label: finished_steps(volume) for label, (volume, dummy) in volumes.items()}
    now = {label: running_step(volume) for label, (volume, dummy) in volumes.items()}
    steps = list(dict.fromkeys(step for each in done.values() for step in each))
    titles = step_titles([*steps, *(each[0] for each in now.values() if each)])
    rows = {
        label: _row(_label(label), volume, status, done[label], now[label], steps[-MOST_STEPS:], titles)
        for label, (volume, status) in volumes.items()
    }
    worst_first = sorted(
        volumes, key=lambda label: (not rows[label].in_trouble, -worst_p99_ns(volumes[label][0]), label)
    )
    shown = [rows[label] for label in worst_first]
    others = [
        Row(_label((host, DEFAULT_VOLUME)), without_status, bool(statuses)) for host in expected if host not in statuses
    ]
    shown = [*others, *shown] if statuses else others
    return render_part(
        "page/live_figures.html.j2",
        polled=bool(statuses),
        rows=shown[:MOST_ROWS],
        more=max(0, len(shown) - MOST_ROWS),
        titles=[titles[step] for step in steps[-MOST_STEPS:]],
    )


def _row(
    label: str,
    volume: Mapping[str, Any],
    status: Mapping[str, Any],
    done: Mapping[Step, Figures],
    now: tuple[Step, Figures] | None,
    steps: Sequence[Step],
    titles: Mapping[Step, str],
) -> Row:
    figures = [*done.values(), *([now[1]] if now else [])]
    failed = str(volume["progress"].get("error", "0")) not in ("0", "")
    return Row(
        label,
        "reports an error" if failed else _state(volume),
        failed or volume["state"] in _TROUBLE,
        [_time(done[step].p99_ns) if step in done else "" for step in steps],
        f"{titles[now[0]]}: {_time(now[1].p99_ns)}" if now and volume["state"] not in ENDED else "",
        _time(max((each.max_ns for each in figures), default=0.0)),
        _clock(status.get("answered_epoch_s")),
    )


def _state(volume: Mapping[str, Any]) -> str:
    said = volume["progress"].get("state")
    if volume["state"] == "running" and said in _STATES_OF_TESTER:
        return "warming up" if said == "warmup" else str(said)
    return _STATES.get(str(volume["state"]), "")


def _summary(statuses: Mapping[str, Mapping[str, Any]]) -> str:
    volumes = {(host, name): each for host, status in statuses.items() for name, each in status["volumes"].items()}
    ended = sum(volume["state"] in ENDED for volume in volumes.values())
    what = "volumes" if len(volumes) > len(statuses) else "hosts"
    worst = max(volumes, key=lambda label: worst_p99_ns(volumes[label]), default=None)
    worst_ns = worst_p99_ns(volumes[worst]) if worst else 0.0
    told = f"{ended:,} of {len(volumes):,} {what} have finished."
    return f"{told} Worst p99 so far: {_time(worst_ns)} on {_label(worst)}." if worst and worst_ns else told


def _label(volume: Volume) -> str:
    """Return the displayed name of a volume, which may be long and contain anything."""
    return printable(host_label(*volume)[:MOST_LABEL])


def _times(schedule: Mapping[str, Mapping[str, float]], key: str) -> list[float]:
    return [float(times[key]) for times in schedule.values()] or [time.time()]


def _round_s(directory: RunDirectory) -> float:
    return ROUND_S + HOST_CALL_S * len(directory.expected_hosts)


def _time(nanoseconds: float) -> str:
    return _units.format_duration(nanoseconds) if nanoseconds > 0 else ""


def _left(seconds: float) -> str:
    return _units.format_duration(seconds * 1e9, 2) if seconds > 0 else ""


def _clock(epoch_s: Any) -> str:
    """Return the time of day in UTC; empty if it is unknown."""
    with contextlib.suppress(TypeError, ValueError, OverflowError, OSError):
        return utc_text(float(epoch_s))[11:19]
    return ""
