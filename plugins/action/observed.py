# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Polls an observation and stores its samples. When the observation has ended, makes its tables, stores the record of
the host, and cleans up on the host."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ..plugin_utils._action_base import RemoteAction, failure, host_result, one_line
from ..plugin_utils._fleet.messages import say
from ..plugin_utils._fleet.progress import COLLECTED, FINISHED, RUNNING, UNKNOWN, room_of
from ..plugin_utils._kinds.observation.record import STAGE, observed
from ..plugin_utils._observe import text
from ..plugin_utils._observe.buckets import THRESHOLDS_NS
from ..plugin_utils._observe.interval import Observation, Options, seen_of
from ..plugin_utils._observe.samples import AS_PLANNED, Samples, read_samples
from ..plugin_utils._observe.sources import SOURCES
from ..plugin_utils._observe.tables import tables_of
from ..plugin_utils._records.host import file_error, profile_of
from ..plugin_utils._run.directory import RunDirectory
from ..plugin_utils._run.files import unpack
from ..plugin_utils._run.record import HostRecord
from ..plugin_utils._run.run_files import RunDirectoryError

PART_MAX_BYTES = 16 << 20
"""An upper bound on the samples that a host sends in one call."""
MOST_CALLS = 20
OF_CONTROLLER = ("run_path", "known", "started", "give_up")
"""The options that are not sent to the host."""
STATUS = ("host", "run_id", "state", "volumes", "times", "shown", "problems", COLLECTED)
"""The parts of a host's status that are passed on from poll to poll."""

DEAD = "dead"
ABSENT = "absent"
ENDED = "ended"
WHY_WITHOUT_END = {
    DEAD: "its process disappeared from the host: it was killed, or the host was restarted",
    ABSENT: "its state disappeared from the host: it was removed, or the controller did not poll it in time",
    RUNNING: "it did not end in time",
}


class ActionModule(RemoteAction):
    """Calls ``observed`` on the host. With ``run_path``, it works on the run directory on the controller."""

    module_name = "mqops.logdisk.observed"
    stage = STAGE
    _record: HostRecord | None = None
    """The last record that was stored."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        given = self._task.args.get("known") or {}
        self._known = {key: given[key] for key in STATUS if key in given}
        return {**self._known, "changed": False} if COLLECTED in self._known else super().run(tmp, task_vars)

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        self._own = {name: arguments.pop(name, None) for name in OF_CONTROLLER}
        if self._own["run_path"]:
            started, host, ended = self._own["started"], task_vars["inventory_hostname"], self._ended()
            observed = {
                volume: {**started, **each} for volume, each in started["observed"].items() if volume not in ended
            }
            self._of_host = {
                volume: _OfHost(self._own["run_path"], host, volume, each) for volume, each in observed.items()
            }
            self._names = {volume: f"{host}/{volume}" if len(started["observed"]) > 1 else host for volume in observed}
            # The observation normally ends by itself, possibly a few seconds late. Otherwise, it is ended here.
            arguments["ask"] = "finish" if self._own["give_up"] else "poll"
        return arguments

    def _ended(self) -> list[str]:
        return [volume for volume, each in (self._known.get("volumes") or {}).items() if each["state"] == FINISHED]

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if not self._own["run_path"]:
            return super().call(arguments, task_vars)
        return {
            "answers": {
                volume: self._polled(of_host, {**arguments, "volume": volume}, task_vars)
                for volume, of_host in self._of_host.items()
            }
        }

    def _polled(self, of_host: _OfHost, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Store the new samples of one observation. Returns the state of the observation and, if the state is unknown,
        the reason. If the samples cannot be stored, returns only the problem, which belongs in the record."""
        answer: dict[str, Any] = {}
        for dummy in range(MOST_CALLS):
            answer = super().call({**arguments, "offset": of_host.size()}, task_vars)
            if answer.get("failed"):
                return {"state": UNKNOWN, "reason": answer["logdisk"]["reason"]}
            try:
                content = unpack("the samples that the host sent", answer.pop("samples", "") or "", PART_MAX_BYTES)
                if content:
                    of_host.directory.samples.add(of_host.host, of_host.volume, content)
            except (RunDirectoryError, ValueError) as error:
                return {"problem": one_line(str(error))}
            if not (answer.get("more") and content):
                break
        return {"state": str(answer.get("state")), "reason": ""}

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if not self._own["run_path"]:
            return answer
        volumes = {volume: {"state": FINISHED, "progress": {}} for volume in self._ended()}
        shown, problems = dict(self._known.get("shown") or {}), list(self._known.get("problems") or [])
        reasons, silent = [], False
        for volume, each in answer["answers"].items():
            state, reason = each.get("state", ENDED), each.get("reason", "")
            reasons += [reason] if reason else []
            silent = silent or state == UNKNOWN
            shown[volume] = self._show(volume, shown.get(volume) or 0)
            if state in (RUNNING, UNKNOWN) and not self._own["give_up"]:
                volumes[volume] = {"state": state, "progress": {}}
                continue
            problem = each.get("problem") or self._finished(volume, state, reason)
            problems += [problem] if problem else []
            self._show_end(volume)
            volumes[volume] = {"state": FINISHED, "progress": {}}
        known = {
            **self._known,
            "changed": False,
            "reason": "; ".join(reasons),
            "volumes": volumes,
            "shown": shown,
            "problems": problems,
            **({} if silent else {"answered_epoch_s": time.time()}),
        }
        going_on = [each["state"] for each in volumes.values() if each["state"] != FINISHED]
        if going_on:
            return {**known, "state": UNKNOWN if UNKNOWN in going_on else RUNNING}
        if problems:
            return failure(self.stage, "error", "; ".join(problems))
        if not silent:
            super().call(
                {**{key: self._task.args[key] for key in ("run_id", "state_dir", "user")}, "ask": "remove"}, task_vars
            )
        first = self._record
        key = host_result(first.run_id, first.kind, first.host, first.verdict) if first else {}
        return {**known, "state": FINISHED, COLLECTED: list(volumes), "logdisk": key}

    def _finished(self, volume: str, state: str, reason: str) -> str:
        """Store the record of a queue manager. Returns its problem; empty if it has none."""
        try:
            record = self._of_host[volume].file(
                f"the host did not answer: {reason}" if state == UNKNOWN else WHY_WITHOUT_END.get(state, "")
            )
        except RunDirectoryError as error:
            return str(error)
        if record is None or record.error:
            return record.error["reason"] if record and record.error else "a record of this host already exists"
        self._record = record
        return ""

    def _show(self, volume: str, shown: int) -> int:
        """Show the lines after the first ``shown``, if this host may still print them. Returns the number of lines so
        far."""
        of_host = self._of_host[volume]
        lines = of_host.lines(text.live_lines)
        self._say(volume, text.newest_lines(lines, shown, room_of(len(of_host.directory.expected_hosts))))
        return len(lines)

    def _show_end(self, volume: str) -> None:
        """Show the results at the end: for a single host with histograms, for a few hosts without them, and for many
        hosts not at all."""
        hosts = len(self._of_host[volume].directory.expected_hosts)
        shown = partial(text.final_lines, histograms=hosts == 1)
        self._say(volume, self._of_host[volume].lines(shown) if room_of(hosts) else [])

    def _say(self, volume: str, lines: list[str]) -> None:
        if lines:
            say(self._display, "\n".join(f"{self._names[volume]}: {line}" for line in lines))


class _OfHost:
    """The stored files of the observation of one host."""

    def __init__(self, run_path: str, host: str, volume: str, started: Mapping[str, Any]) -> None:
        self.directory = RunDirectory.open(run_path)
        self.host, self.volume = host, volume
        self._facts, self._source = dict(started["facts"]), str(started["source"])
        self._asked = started["asked"]

    def size(self) -> int:
        return self.directory.samples.size(self.host, self.volume)

    def lines(self, shown: Callable[[Observation], list[str]]) -> list[str]:
        """Return the lines that a function shows of the observation so far; none if it cannot be read."""
        try:
            return shown(self._read(self._samples()))
        except RunDirectoryError:
            return []

    def file(self, why_without_end: str) -> HostRecord | None:
        """Store and return a record with the observed data, or with the reason why there is none. Raises
        RunDirectoryError."""
        samples = self._samples()
        ending = ending_of(samples, why_without_end)
        observation = self._read(samples)
        if not observation.streams:
            reason = "; ".join(part for part in (ending, *observation.problems) if part) or "nothing was observed"
            return file_error(self.directory, self.host, self.volume, STAGE, one_line(reason), self._facts)
        observation = replace(observation, ending=ending or observation.ending)
        options = self._options()
        files = tables_of(observation, options)
        workspace = {
            "path": options.log_path,
            "queue_managers": [options.queue_manager] if options.queue_manager else [],
        }
        seen = seen_of(observation, options)
        record = observed(
            self.directory.run, self.host, self.volume, self._facts, workspace, files, seen, datetime.date.today()
        )
        self.directory.records.write(record, files)
        return record

    def _samples(self) -> Samples:
        return read_samples(self.directory.samples.read(self.host, self.volume))

    def _read(self, samples: Samples) -> Observation:
        observation = SOURCES[self._source].read(samples.samples, self._options())
        return replace(observation, problems=(*samples.problems, *observation.problems))

    def _options(self) -> Options:
        thresholds = {*THRESHOLDS_NS, *profile_of(self.directory.run, self.host).thresholds_ns}
        return Options(
            queue_manager=one_line(str(self._facts.get("queue_manager") or ""))[:100],
            log_path=one_line(str(self._facts.get("log_path") or ""))[:4096],
            interval_s=int(float(self._asked["interval"])),
            duration_s=int(float(self._asked["duration"])),
            thresholds_ns=tuple(sorted(thresholds)),
            hostname=one_line(str(self._facts.get("hostname") or ""))[:255],
        )


def ending_of(samples: Samples, why_without_end: str) -> str:
    """Return why an observation ended early; empty if it did not end early."""
    if samples.end in AS_PLANNED:
        return ""
    return samples.reason or (f"it ended by {samples.end}" if samples.end else why_without_end)
