# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests one pair of hosts: starts both testers, and carries out the steps one after the other, with each host in turn
as the holder of the lock."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .._dialogue.commands import CommandResult
from .._dialogue.guard import guarded
from .._run.lock_steps import (
    BROKEN,
    CONCURRENT_UPDATES,
    CUT_OFF,
    HAND_OVER,
    HOST_LOST,
    KEPT,
    LOCK_COUNT,
    NOT_COVERED,
    POD_DELETED,
    SAME_HOST,
    SECOND_REFUSED,
    SERVER_FAILOVER,
    SETTINGS,
    UNDECIDED,
    UNDER_LOAD,
)
from .agent import Agent, AgentLostError
from .locker import Clock, Lockers
from .pairs import Pair
from .stage import LOCK, LOG, LOG_BYTES, NONCE, OPEN_LOG, RECORD, Stage
from .step import Figures, as_dict, not_covered, outcome_of, undecided
from .steps.basic import WAYS, concurrent_updates, hand_over, lock_count, same_host, second_refused, under_load
from .steps.cut_off import Partition, cut_off
from .steps.host_lost import Return, host_lost, pod_deleted
from .steps.server_failover import grace_period_s, server_failover
from .steps.settings import refuse_settings, same_file_system

READY_S = 60.0
"""How long the start of a tester may take."""
CREATE_S = 300.0
"""How long creating the test files may take."""
AGAIN_S = 2.0
"""How often to check whether a host that lost power is back."""
UNCHANGED_S = 60.0
"""How long a host may answer with an unchanged boot ID, because its power is cut later than its network."""
NO_BOOT = "-"
"""What a tester reports if it cannot read its boot ID."""
FILES = {LOCK: 4096, RECORD: 4096, NONCE: 4096, LOG: LOG_BYTES, OPEN_LOG: LOG_BYTES}
"""The test files with their sizes in bytes."""
Command = Callable[[], CommandResult]


@dataclass(frozen=True)
class Side:
    """A host of a pair: its settings, the commands that start its tester, its guard and its guard as root, whether the
    host may be cut off and lose power, the command that cuts its power, and how many seconds it may take to come
    back. ``problem`` is the reason why the host cannot be tested; empty if it can be tested. ``delete`` is set only if
    the host is a pod: it deletes the pod by force, and the pod is then replaced."""

    host: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    stream: Sequence[str] = ()
    guard: Sequence[str] = ()
    root_guard: Sequence[str] = ()
    is_confirmed: bool = False
    cut: Command | None = None
    wait_s: float = 600.0
    problem: str = ""
    delete: Command | None = None


@dataclass(frozen=True)
class Order:
    """The parameters of the test of a pair: the ID of the run, the directory on the first host, the seconds of load,
    how long to wait for a takeover, how many files are locked at the same time, the port of the file server, the
    command that makes the file server fail over, and the ids of wrong settings that do not end the test."""

    run_id: str
    directory: str
    load_s: float
    takeover_s: float
    lock_files: int
    port: int
    fail_over: Command | None = None
    waived: Collection[str] = ()


class PairTest:
    """The test of ``pair``; ``sides`` holds both hosts by their names. ``say`` is called with sentences that announce
    what is done to the hosts, and ``follow`` with the name and the holder of each step that begins."""

    def __init__(
        self,
        pair: Pair,
        sides: Mapping[str, Side],
        order: Order,
        clock: Clock,
        say: Callable[[str], None],
        follow: Callable[[str, str], None],
    ) -> None:
        self._pair, self._sides, self._order, self._clock = pair, sides, order, clock
        self._say, self._follow = say, follow
        self._agents: dict[str, Agent] = {}
        self._boots: dict[str, str] = {}
        self._began_ns: dict[str, int] = {}
        self._returned: Return | None = None
        self._lockers: dict[str, Lockers] = {}
        self._steps: list[dict[str, Any]] = []

    def run(self) -> dict[str, Any]:
        """Carry out all steps, and return the result of the pair."""
        try:
            if self._is_ready():
                self._make_steps()
        finally:
            for agent in self._agents.values():
                agent.end()
        one = self._sides[self._pair.first]
        return {
            "first": self._pair.first,
            "second": self._pair.second,
            "directory": self._order.directory,
            "server": str(one.settings.get("mount_source") or ""),
            "settings": {host: dict(self._sides[host].settings) for host in self._pair.hosts},
            "steps": self._steps,
        }

    def _is_ready(self) -> bool:
        """Carry out the first step, which starts both testers. Returns whether the other steps can follow."""
        first = self._pair.first
        self._follow(SETTINGS, first)
        found = outcome_of(self._settings)
        self._add(SETTINGS, first, found)
        return found[0] == KEPT

    def _settings(self) -> Figures:
        for host, side in self._sides.items():
            if side.problem:
                raise undecided("not_tested", host=host, why=side.problem)
        settings = {host: self._sides[host].settings for host in self._pair.hosts}
        refuse_settings(settings, self._order.waived)
        for host in self._pair.hosts:
            self._start(host, READY_S)
        stage = self._stage(self._pair.first)
        maker = stage.holder.start()
        for name, size_bytes in FILES.items():
            maker.must("create", name, size_bytes, patience_s=CREATE_S)
        figures = same_file_system(stage, settings)
        stage.end()
        return figures

    def _make_steps(self) -> None:
        first, order = self._pair.first, self._order
        for holder in self._pair.hosts:
            self._step(SECOND_REFUSED, holder, second_refused)
            self._step(SAME_HOST, holder, same_host, other=holder)
            for way in WAYS:
                self._step(HAND_OVER, holder, partial(hand_over, way=way))
        self._step(CONCURRENT_UPDATES, first, concurrent_updates)
        self._step(LOCK_COUNT, first, partial(lock_count, files=order.lock_files))
        for holder in self._pair.hosts:
            self._step(UNDER_LOAD, holder, partial(under_load, load_s=order.load_s))
        for holder in self._pair.hosts:
            if delete := self._sides[holder].delete:
                self._delete(holder, delete)
        for holder in self._pair.hosts:
            self._step(CUT_OFF, holder, self._cut_off)
        self._step(SERVER_FAILOVER, first, self._fail_over)
        for holder in self._pair.hosts:
            self._lose(holder)

    def _step(self, name: str, holder: str, function: Callable[[Stage], Figures], other: str = "") -> None:
        self._follow(name, holder)
        stage = self._stage(holder)
        self._add(name, holder, outcome_of(lambda: function(stage)), other)
        stage.end()

    def _cut_off(self, stage: Stage) -> Figures:
        side = self._sides[stage.holder.host]
        self._check_may_cut(side)
        address = str(side.settings.get("server_address") or "")
        if not address:
            raise not_covered("no_server_address", host=side.host)
        if not side.root_guard:
            raise not_covered("no_privilege", host=side.host)
        with guarded(side.root_guard) as guard:
            self._say(f"{side.host}: cutting the host off from {address}, port {self._order.port}")
            return cut_off(stage, Partition(side.host, guard, address, self._order.port))

    def _delete(self, holder: str, delete: Command) -> None:
        """Carry out the step in which a pod is deleted, and wait until its replacement runs."""
        self._step(POD_DELETED, holder, partial(self._pod_deleted, delete=delete))
        step, begin_ns = self._steps[-1], self._clock.now_ns()
        while self._agents[holder].is_over:
            if self._clock.now_ns() - begin_ns > self._sides[holder].wait_s * 1e9:
                if step["outcome"] == KEPT:
                    step.update(outcome=UNDECIDED, cause="did_not_come_back")
                return
            self._agents[holder].end()
            self._clock.sleep(AGAIN_S)
            with contextlib.suppress(AgentLostError):
                self._start(holder, READY_S)

    def _pod_deleted(self, stage: Stage, delete: Command) -> Figures:
        # A replacement may run on another node than the pod that was deleted.
        if self._boots[self._pair.first] == self._boots[self._pair.second] != NO_BOOT:
            raise undecided("same_node")
        return pod_deleted(stage, delete)

    def _fail_over(self, stage: Stage) -> Figures:
        if self._sides[self._pair.first].delete:
            raise not_covered("is_pod")
        if self._is_granted():
            raise not_covered("second_granted")
        if not self._order.fail_over:
            raise not_covered("no_command")
        self._say(f"{self._pair.first}: the file server fails over")
        leases_s = [float(self._sides[host].settings.get("lease_s") or 0) for host in self._pair.hosts]
        return server_failover(stage, self._order.fail_over, grace_period_s(max(leases_s)))

    def _lose(self, holder: str) -> None:
        """Carry out the step in which a host loses power, and wait until the host is back."""
        self._returned = None
        self._step(HOST_LOST, holder, self._host_lost)
        step = self._steps[-1]
        if step["outcome"] == NOT_COVERED or not (self._returned or self._agents[holder].is_over):
            return
        problem = (self._returned or self._bring_back(holder)).problem
        # A host that kept its power and lost only its connection to the controller rightly keeps its lock.
        if (problem, step["cause"]) == ("not_cut", "never_taken_over"):
            step.update(outcome=UNDECIDED, cause=problem)

    def _host_lost(self, stage: Stage) -> Figures:
        side = self._sides[stage.holder.host]
        self._check_may_cut(side)
        if not side.cut:
            raise not_covered("no_command", host=side.host)
        with guarded(side.guard) as guard:
            self._say(f"{side.host}: cutting the power")
            bring_back = partial(self._bring_back, side.host)
            lease_s = float(side.settings.get("lease_s") or 0)
            return host_lost(stage, guard.refusal, side.cut, bring_back, lease_s)

    def _bring_back(self, host: str) -> Return:
        problem = self._return(host)
        self._returned = Return(problem, self._lockers[host], self._began_ns.get(host, 0))
        return self._returned

    def _check_may_cut(self, side: Side) -> None:
        """Raise StepEnd if the host must not be cut off or lose power, or if the other steps have already shown
        that the lock is granted to both hosts."""
        if side.delete:
            raise not_covered("is_pod")
        if self._is_granted():
            raise not_covered("second_granted")
        if not side.is_confirmed:
            raise not_covered("no_confirm", host=side.host)

    def _is_granted(self) -> bool:
        return any(step["step"] == SECOND_REFUSED and step["outcome"] == BROKEN for step in self._steps)

    def _return(self, host: str) -> str:
        """Wait until a host that lost power is back, and start its tester again. Returns the reason if this failed;
        otherwise empty."""
        before, begin_ns = self._boots[host], self._clock.now_ns()
        while self._clock.now_ns() - begin_ns < self._sides[host].wait_s * 1e9:
            with contextlib.suppress(AgentLostError):
                if self._start(host, READY_S):
                    if self._boots[host] != before:
                        return ""
                    if not self._is_lost(host, UNCHANGED_S):
                        return "not_cut"
            self._agents[host].end()
            self._clock.sleep(AGAIN_S)
        return "did_not_come_back"

    def _is_lost(self, host: str, patience_s: float) -> bool:
        """Whether the tester of a host or its connection ends within ``patience_s`` seconds."""
        return self._clock.wait_until(lambda: self._agents[host].is_over, patience_s, AGAIN_S)

    def _start(self, host: str, patience_s: float) -> bool:
        """Start the tester of a host; return whether it is ready. Raises AgentLostError."""
        agent = self._agents[host] = Agent(host, self._sides[host].stream, self._order.run_id)
        ready = agent.ready(patience_s)
        self._lockers[host] = Lockers(agent, self._pair.label, self._clock)
        if ready:
            self._boots[host] = ready.boot_id
            self._began_ns[host] = self._clock.now_ns() - ready.age_ns
        return ready is not None

    def _stage(self, holder: str) -> Stage:
        return Stage(self._lockers[holder], self._lockers[self._other(holder)], self._order.takeover_s, self._clock)

    def _other(self, host: str) -> str:
        return self._pair.second if host == self._pair.first else self._pair.first

    def _add(self, name: str, holder: str, found: tuple[str, str, Figures], other: str = "") -> None:
        self._steps.append(as_dict(name, holder, other or self._other(holder), found))
