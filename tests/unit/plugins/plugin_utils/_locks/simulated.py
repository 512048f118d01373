# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A simulated file server with two hosts, whose time passes only when the code under test sleeps. The server can break
its promises in several ways."""

from __future__ import annotations

import collections
from dataclasses import dataclass, field

from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.agent import AgentLostError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.locker import Clock, Lockers
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.protocol import read_answer
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.stage import Stage

LEASE_S = 10
LATE_S = 8
CROWDED_S = 20
SECOND_NS = 10**9
WRITES_PER_S = 2000


class AtOnce:
    """A command that has ended as soon as it is started."""

    def __init__(self, function):
        self.result = function()


class Time(Clock):
    """A clock that a test controls. ``due`` is called whenever time has passed."""

    def __init__(self):
        super().__init__()
        self.ns = SECOND_NS
        self.due = []

    def now_ns(self):
        return self.ns

    def sleep(self, seconds):
        self.ns += round(seconds * 1e9)
        for call in list(self.due):
            call()


@dataclass
class Process:
    """A locker of the simulated hosts."""

    host: str
    number: int
    wants: dict = field(default_factory=dict)
    writes_seed: str = ""
    count: int = 0
    told: int = 0
    verifies: str = ""
    next_verify_ns: int = 0
    write_errno: str = ""
    adds: int = 0
    first: int = 0
    pause_max_ns: int = 900
    returned_ns: int = 0


class Server:
    """A simulated file server. ``character`` is honest, or names the promise that the server breaks."""

    def __init__(self, character="honest"):
        self.character = character
        self.time = Time()
        self.time.due.append(self.pass_time)
        self.owner, self.freed_ns = {}, {}
        self.agents = {}
        self.cut_ns, self.gone, self.closed = {}, set(), set()
        self.paused_until_ns = 0
        self.expired = set()
        self.record, self.updates = 0, 0
        self.nonce = ""
        self.stamps = collections.Counter()
        self.load_since_ns = 0
        self.errno = "EAGAIN"

    def stage(self, holder="one", other="two"):
        for host in (holder, other):
            self.agents[host] = Host(self, host)
        lockers = [Lockers(self.agents[host], "pair1", self.time) for host in (holder, other)]
        return Stage(lockers[0], lockers[1], takeover_s=LEASE_S + 20, clock=self.time)

    # What the conductor does to hosts and the network

    def cut(self, host):
        self.cut_ns[host] = self.time.ns
        return self.time.ns

    def heal(self, host):
        self.cut_ns.pop(host, None)

    def lose(self, host):
        self.cut(host)
        self.gone.add(host)

    def shut_down(self, host):
        """End the processes of a host, which releases their locks, and its connection to the controller."""
        for process in list(self.agents[host].processes.values()):
            self.release(process)
        self.closed.add(host)
        self.lose(host)

    def fail_over(self, seconds=3):
        """Answer no write for some time."""
        self.paused_until_ns = self.time.ns + seconds * SECOND_NS

    # What the server does

    def grant(self, process, name):
        owner = self.owner.get(name)
        is_free = owner is None or owner is process
        crowded = (
            self.character == "crowded"
            and self.load_since_ns
            and self.time.ns - self.load_since_ns > CROWDED_S * SECOND_NS
        )
        is_local = self.character == "local" and owner is not None and owner.host != process.host
        if process.host in self.cut_ns:
            return False
        if is_free or self.character == "grant" or crowded or is_local:
            self.owner[name] = process
            return True
        return False

    def release(self, process):
        for name, owner in list(self.owner.items()):
            if owner is process:
                self.owner[name] = None
                self.freed_ns[name] = self.time.ns

    def pass_time(self):
        self.expire()
        for agent in self.agents.values():
            for process in list(agent.processes.values()):
                agent.work(process)

    def expire(self):
        for host, since_ns in self.cut_ns.items():
            if self.time.ns - since_ns < LEASE_S * SECOND_NS or self.character == "stale":
                continue
            for process in self.agents[host].processes.values():
                if process in self.owner.values():
                    self.release(process)
                    self.expired.add((process.host, process.number))


class Host:
    """The tester of a simulated host."""

    def __init__(self, server, host):
        self.server, self.host = server, host
        self.processes = {}
        self.answers = collections.defaultdict(collections.deque)
        self.last_ns = server.time.ns

    @property
    def is_over(self):
        return self.host in self.server.gone

    def was_closed(self):
        return self.host in self.server.closed

    def take(self, number):
        if self.answers[number]:
            return self.answers[number].popleft()
        if self.is_over:
            raise AgentLostError(self.host, "Connection closed")
        return None

    def say(self, number, text):
        if not self.is_over:
            self.last_ns = self.server.time.ns
            self.answers[number].append(read_answer(f"{number} {text}", self.last_ns))

    def send(self, number, verb, *arguments):
        if verb == "start":
            self.processes[number] = Process(self.host, number)
            return self.say(number, "start done pid=7")
        process = self.processes.get(number)
        if process is None:
            return self.say(number, f"error usage no locker {number}")
        return getattr(self, f"do_{verb}")(process, *arguments)

    def do_open(self, process, name):
        self.say(process.number, "open done")

    def do_create(self, process, name, size):
        self.say(process.number, "create done")

    def do_lock(self, process, name, mode, number=0):
        if mode != "try":
            every_ns = number * 1_000_000 if mode == "poll" else 0
            process.wants[name] = (mode, every_ns, self.server.time.ns)
            return self.work(process)
        if self.server.grant(process, name):
            return self.say(process.number, "lock held tries=1 after_ns=1000")
        word = "refused" if self.server.errno in ("EAGAIN", "EACCES") else "failed"
        return self.say(process.number, f"lock {word} tries={number} errno={self.server.errno}")

    def do_unlock(self, process, name):
        self.server.release(process)
        self.say(process.number, "unlock done")

    def do_close(self, process, name):
        self.server.release(process)
        self.say(process.number, "close done")

    def do_exit(self, process):
        self.finish(process, "exit ended status=0")

    def do_kill(self, process):
        self.finish(process, "kill ended signal=KILL")

    def finish(self, process, said):
        self.server.release(process)
        del self.processes[process.number]
        self.say(process.number, said)

    def do_add(self, process, name, count):
        process.adds, process.first = count, -1

    def add(self, process):
        """Make some of the updates that are due. Hosts take turns unless the server lets one of them wait."""
        server = self.server
        others = [each for agent in server.agents.values() for each in agent.processes.values() if each is not process]
        if server.character == "polled" and any(each.adds > 0 and each.host < process.host for each in others):
            return
        process.first = server.record if process.first < 0 else process.first
        for _ in range(100):
            server.updates += 1
            server.record += not (server.character == "loses" and server.updates % 500 == 0)
        process.adds -= 100
        if process.adds == 0:
            torn = 1 if server.character == "tears" else 0
            self.say(process.number, f"add done first={process.first} last={server.record} torn={torn} after_ns=5")

    def do_nonce(self, process, name, what, text=""):
        self.server.nonce = text if what == "write" else self.server.nonce
        reads_nothing = {"elsewhere": self.host == "two", "drops": True}
        read = "-" if reads_nothing.get(self.server.character) else self.server.nonce
        self.say(process.number, f"nonce done hex={read}")

    def do_many(self, process, prefix, count):
        held = min(count, 10) if self.server.character == "few" else count
        self.say(process.number, f"many done held={held} errno={'-' if held == count else 'ENOLCK'}")

    def do_write(self, process, name, seed):
        process.writes_seed, process.count = str(seed), 0
        self.server.load_since_ns = self.server.time.ns
        process.told = process.returned_ns = self.server.time.ns

    def do_verify(self, process, name, every_ms):
        process.verifies = name
        process.next_verify_ns = self.server.time.ns

    def do_stop(self, process, verb):
        if verb == "write":
            process.writes_seed = ""
            self.say(process.number, f"write done count={process.count} pause_max_ns=900")

    def do_scan(self, process, name, one, two):
        stamps = self.server.stamps
        self.say(
            process.number,
            f"scan done a_sectors={stamps[str(one)]} b_sectors={stamps[str(two)]} other_sectors=0",
        )

    def work(self, process):
        """Do what is due."""
        server = self.server
        if self.is_over:
            return
        for name, (mode, every_ns, next_ns) in list(process.wants.items()):
            is_late = (
                server.character == "late"
                and mode == "wait"
                and server.time.ns - server.freed_ns.get(name, 0) < LATE_S * SECOND_NS
            )
            if server.time.ns < next_ns or is_late:
                continue
            if server.grant(process, name):
                del process.wants[name]
                self.say(process.number, "lock held tries=3 after_ns=1000")
            else:
                process.wants[name] = (mode, every_ns, server.time.ns + every_ns)
        if process.adds:
            self.add(process)
        if process.writes_seed:
            self.write(process)
        if process.verifies and server.time.ns >= process.next_verify_ns and self.host not in server.cut_ns:
            process.next_verify_ns = server.time.ns + 2 * SECOND_NS
            if server.owner.get(process.verifies) is not process:
                process.verifies = ""
                return self.say(process.number, "verify locked count=7 max_ns=5000000")
            self.say(process.number, f"verify each ns={3_000_000_000 if server.character == 'slow' else 5_000_000}")

    def write(self, process):
        server = self.server
        is_expired = (process.host, process.number) in server.expired
        if self.host in server.cut_ns and server.character != "connected":
            return
        if is_expired and server.character not in ("unfenced", "silent"):
            process.writes_seed = ""
            self.say(process.number, f"write failed errno=EIO count={process.count}")
            return
        if server.time.ns - process.told >= SECOND_NS // 2:
            process.told = server.time.ns
            if server.time.ns < server.paused_until_ns:
                process.pause_max_ns = max(process.pause_max_ns, server.time.ns - process.returned_ns)
                return self.say(process.number, f"write each count={process.count} pause_max_ns={process.pause_max_ns}")
            process.returned_ns = server.time.ns
            process.count += WRITES_PER_S
            if server.character != "silent" or not is_expired:
                server.stamps[process.writes_seed] += WRITES_PER_S
            if not is_expired and process in server.owner.values() and server.stamps[process.writes_seed] >= 4096:
                seed = process.writes_seed  # the whole log is its own
                server.stamps = collections.Counter({seed: 32768})
            self.say(process.number, f"write each count={process.count} pause_max_ns={process.pause_max_ns} pass=1")
