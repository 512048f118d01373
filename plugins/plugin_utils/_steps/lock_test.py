# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests the locks of all pairs of hosts, and writes the records of all hosts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from .._action_base import SCHEMA, ControllerAction, one_line
from .._dialogue.commands import call
from .._fleet.messages import say
from .._judge.settings import waivers_of
from .._kinds.locks.criteria import required_of
from .._kinds.locks.english import step_title
from .._kinds.locks.record import day_of, lock_record
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
        self._directory, self._clock = RunDirectory.open(options["run_path"]), Clock()
        pairs, self._volumes = [Pair(**pair) for pair in options["pairs"]["pairs"]], options["pairs"]["volumes"]
        variables = {host: task_vars["hostvars"][host] for pair in pairs for host in pair.hosts}
        self._sides = {host: side_of(host, own) for host, own in variables.items()}
        self._plans = {host: own["locks_plan"]["lock_test"] for host, own in variables.items()}
        tested = conduct(pairs, {host: server_of(side.settings) for host, side in self._sides.items()}, self._test)
        for host, side in self._sides.items():
            if not side.problem:
                own = [each for each in tested if host in (each["first"], each["second"])]
                self._file(host, variables[host]["locks_started"]["facts"], own)
        run = self._directory.run
        key = {"schema": SCHEMA, "kind": self._directory.kind.name, "run_id": run["run_id"]}
        return {"changed": True, "pairs": len(tested), "logdisk": key}

    def _test(self, pair: Pair) -> dict[str, Any]:
        """Test a pair, according to the plan of its first host. If the host that creates the directory cannot be
        tested, no host of the pair can be."""
        own, problem = {host: self._sides[host] for host in pair.hosts}, self._sides[pair.maker].problem
        sides = {host: replace(side, problem=side.problem or problem) for host, side in own.items()}
        run, locks = self._directory.run, self._plans[pair.first]
        profiles, today = [profile_of(run, host) for host in pair.hosts], day_of(run)
        required = [required_of(profile) for profile in profiles]
        order = Order(
            run["run_id"],
            str((self._volumes.get(pair.first) or {}).get("path") or ""),
            locks["seconds"] or max(each["load_s"] for each in required),
            max(each["takeover_s"] for each in required) * WAIT_FACTOR + WAIT_MORE_S,
            lock_files(locks["files"], required),
            locks["port"],
            command_of(locks["server_command"], locks["command_s"]),
            [each for profile in profiles for each in waivers_of(profile, pair.hosts, today)],
        )
        result = PairTest(
            pair, sides, order, self._clock, partial(say, self._display), partial(self._follow, pair)
        ).run()
        kept = sum(step["outcome"] == KEPT for step in result["steps"])
        say(self._display, f"{pair.first} and {pair.second}: {kept} of {len(result['steps'])} steps kept")
        return result

    def _file(self, host: str, facts: Mapping[str, Any], pairs: list[dict[str, Any]]) -> None:
        """Store the record of a host with the results of its pairs. Raises RunDirectoryError."""
        run, volume = self._directory.run, self._volumes[host]
        workspace = {key: volume[key] for key in ("path", "queue_managers")}
        record = lock_record(run, host, volume["name"], dict(facts), workspace, {"pairs": pairs})
        self._directory.records.write(record)

    def _follow(self, pair: Pair, step: str, holder: str) -> None:
        """With ``-v``, announce a step that begins, because a test with a long load is silent for hours."""
        if self._display.verbosity:
            say(self._display, f"{pair.first} and {pair.second}: {step_title(step)}, with {holder} as the holder")


def side_of(host: str, variables: Mapping[str, Any]) -> Side:
    """Return the host's side of a pair, from the results of earlier tasks in the variables of the host. If one of them
    failed, the side contains only the problem."""
    results = [variables.get(name) or {} for name in ("tester_ready", "workspace_layout", "locks_started")]
    problems = [reason_of(result) for result in results if result.get("failed")]
    started, locks = results[-1], variables["locks_plan"]["lock_test"]
    if problems or not started.get("stream"):
        return Side(host, problem=next(iter(problems), "it could not be prepared"))
    return Side(
        host,
        started["settings"],
        started["stream"],
        started["guard"],
        (variables.get("locks_guard") or {}).get("command") or [],
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
