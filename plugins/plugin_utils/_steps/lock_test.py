# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests the locks of all pairs of hosts, and writes the records of all hosts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from .._action_base import SCHEMA, ControllerAction, one_line
from .._dialogue.commands import call
from .._fleet.progress import say
from .._kinds.locks.criteria import required_of
from .._kinds.locks.english import step_title
from .._kinds.locks.record import lock_record
from .._locks.locker import Clock
from .._locks.pair_test import Order, PairTest, Side
from .._locks.pairs import Pair, conduct
from .._locks.step import STAGE
from .._records.host import profile_of
from .._run.directory import RunDirectory
from .._run.lock_steps import KEPT

WAIT_FACTOR, WAIT_MORE_S = 1.5, 10.0
"""How much longer than the profile's limit the test waits for a takeover: a factor and additional seconds."""


class Step(ControllerAction):
    """Runs only on the controller, once for all hosts. It never fails because of a host."""

    stage = STAGE

    argument_spec = {
        "run_path": {"type": "str", "required": True},
        "pairs": {"type": "dict", "required": True},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        directory = RunDirectory.open(options["run_path"])
        pairs, volumes = [Pair(**pair) for pair in options["pairs"]["pairs"]], options["pairs"]["volumes"]
        hosts = {
            host: Prepared.of(task_vars["hostvars"][host], volumes.get(host) or {})
            for pair in pairs
            for host in pair.hosts
        }
        clock = Clock()
        servers = {host: server_of(prepared.settings) for host, prepared in hosts.items()}
        tested = conduct(pairs, servers, lambda pair: self._test(directory, pair, hosts, clock))
        for host, prepared in hosts.items():
            if prepared.started:
                file_record(
                    directory, host, prepared, [each for each in tested if host in (each["first"], each["second"])]
                )
        key = {"schema": SCHEMA, "kind": directory.kind.name, "run_id": directory.run["run_id"]}
        return {"changed": True, "pairs": len(tested), "logdisk": key}

    def _test(self, directory: RunDirectory, pair: Pair, hosts: Mapping[str, Prepared], clock: Clock) -> dict[str, Any]:
        maker = hosts[pair.maker]
        sides = {host: hosts[host].side(host, maker.problem) for host in pair.hosts}
        required = [required_of(profile_of(directory.run, host)) for host in pair.hosts]
        locks = hosts[pair.first].plan["lock_test"]
        order = Order(
            directory.run["run_id"],
            str(hosts[pair.first].volume.get("path") or ""),
            locks["seconds"] or max(each["load_s"] for each in required),
            max(each["takeover_s"] for each in required) * WAIT_FACTOR + WAIT_MORE_S,
            lock_files(locks["files"], required),
            locks["port"],
            command_of(locks["server_command"], locks["command_s"]),
        )
        result = PairTest(pair, sides, order, clock, partial(say, self._display), partial(self._follow, pair)).run()
        kept = sum(step["outcome"] == KEPT for step in result["steps"])
        say(self._display, f"{pair.first} and {pair.second}: {kept} of {len(result['steps'])} steps kept")
        return result

    def _follow(self, pair: Pair, step: str, holder: str) -> None:
        """With ``-v``, announce a step that begins, because a test with a long load is silent for hours."""
        if self._display.verbosity:
            say(self._display, f"{pair.first} and {pair.second}: {step_title(step)}, with {holder} as the holder")


@dataclass(frozen=True)
class Prepared:
    """The results of earlier tasks for a host: its plan and volume, the result of ``lock_start`` (empty if it failed),
    the command line that starts its guard as root (empty if there is none), and the reason if the host cannot be
    tested."""

    plan: Mapping[str, Any]
    volume: Mapping[str, Any]
    started: Mapping[str, Any]
    root_guard: list[str]
    problem: str

    @classmethod
    def of(cls, variables: Mapping[str, Any], volume: Mapping[str, Any]) -> Prepared:
        """Return the results that are in the variables of the host."""
        results = [variables.get(name) or {} for name in ("tester_ready", "workspace_layout", "locks_started")]
        problems = [reason_of(result) for result in results if result.get("failed")]
        started = results[-1] if results[-1].get("stream") else {}
        problem = next(iter(problems), "") or ("" if started else "it could not be prepared")
        guard = (variables.get("locks_guard") or {}).get("command") or []
        return cls(variables["locks_plan"], volume, {} if problem else started, list(guard), problem)

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.started.get("settings") or {}

    def side(self, host: str, problem_of_maker: str) -> Side:
        """Return the host's side of the pair. If this host or the host that creates the directory cannot be tested, the
        side contains only its settings and the problem."""
        if self.problem or problem_of_maker:
            return Side(host, self.settings, problem=self.problem or problem_of_maker)
        locks = self.plan["lock_test"]
        return Side(
            host,
            self.settings,
            self.started["stream"],
            self.started["guard"],
            self.root_guard,
            locks["confirmed"],
            command_of(locks["command"], locks["command_s"]),
            locks["wait_s"],
        )


def reason_of(result: Mapping[str, Any]) -> str:
    """Return why a task failed."""
    return one_line(str((result.get("logdisk") or {}).get("reason") or result.get("msg") or "it could not be prepared"))


def command_of(text: str, limit_s: float) -> Any:
    """Return a function that runs a command of the user for at most ``limit_s`` seconds; None if there is none."""
    return partial(call, text, limit_s) if text else None


def lock_files(asked: int, required: Iterable[Mapping[str, Any]]) -> int:
    """Return how many files a host of a pair tries to lock: at least as many locks as the profiles of the pair require,
    because a test with fewer files would not show whether the host can hold them."""
    return max(asked, *(each["lock_count"] for each in required))


def server_of(settings: Mapping[str, Any]) -> str:
    """Return the address or name of the file server of a host's directory; empty if it is not known."""
    source = str(settings.get("mount_source") or "")
    return str(settings.get("server_address") or "") or source.rpartition(":")[0] or source


def file_record(directory: RunDirectory, host: str, prepared: Prepared, pairs: list[dict[str, Any]]) -> None:
    """Store the record of a host with the results of its pairs. Raises RunDirectoryError."""
    volume = prepared.volume
    workspace = {"path": volume["path"], "queue_managers": volume["queue_managers"]}
    facts = dict(prepared.started["facts"])
    directory.records.write(lock_record(directory.run, host, volume["name"], facts, workspace, {"pairs": pairs}))
