# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A simulated file server with two hosts, whose time passes only when the code under test sleeps. The server can break
its promises in several ways.

Some of the characters that the tests name: ``unfenced``, ``unlocked`` and ``silent`` let an old holder write (into all
files, into those that nobody locked, or without effect). ``edge`` lets a write land just after the lease has ended, and
``echo`` lets one land long after it was answered with an error. ``undoes`` and ``rolls_back`` undo writes at the end of
a lease or at a failover. ``closes`` and ``reads`` release the locks of a host when one of its processes closes the file
(``reads``: only if that process never asked for the lock). ``mounts`` releases all locks when a host comes back."""

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
WRITES = 2000
"""How many writes are made at a time, every half a second."""
POSITIONS = 4096
UNDONE = 200
ECHO_S = 10


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
    writes: str = ""
    seed: str = ""
    longest_pause_ns: int = 0
    has_asked: bool = False
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
        self.logs = collections.defaultdict(lambda: [("", 0)] * POSITIONS)
        self.undo = collections.defaultdict(lambda: collections.deque(maxlen=UNDONE))
        self.locked = set()
        self.visible_ns = 0
        self.load_since_ns = 0
        self.errno = "EAGAIN"
        self.try_ns = 0

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
        if self.character == "mounts":
            self.owner.clear()

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
        self.paused_until_ns = self.time.ns + round(seconds * SECOND_NS)
        for process in self.agents["one"].processes.values():
            process.returned_ns = self.time.ns
        if self.character == "rolls_back":
            self.roll_back("one")

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
            self.locked.add(name)
            return True
        return False

    def release(self, process):
        for name, owner in list(self.owner.items()):
            if owner is process:
                self.owner[name] = None
                self.freed_ns[name] = self.time.ns

    def land(self, name, seed, count):
        """Store a write."""
        position = (count - 1) % POSITIONS
        self.undo[name].append((position, self.logs[name][position]))
        self.logs[name][position] = (seed, count)

    def roll_back(self, host):
        for process in self.agents[host].processes.values():
            while self.undo[process.writes]:
                position, before = self.undo[process.writes].pop()
                self.logs[process.writes][position] = before

    def after(self, seconds, call):
        """Call a function once, after some time."""
        due_ns = self.time.ns + seconds * SECOND_NS

        def look():
            if self.time.ns >= due_ns:
                self.time.due.remove(look)
                call()

        self.time.due.append(look)

    def land_later(self, process, seconds):
        """Let the pending write of a process land after some time."""
        name, seed, count = process.writes, process.seed, process.count + 1
        self.after(seconds, lambda: self.land(name, seed, count))

    def pass_time(self):
        self.expire()
        for agent in self.agents.values():
            for process in list(agent.processes.values()):
                agent.work(process)

    def expire(self):
        for host, since_ns in self.cut_ns.items():
            if self.time.ns - since_ns < LEASE_S * SECOND_NS or self.character == "stale":
                continue
            processes = list(self.agents[host].processes.values())
            if not any((process.host, process.number) in self.expired for process in processes):
                if self.character == "undoes":
                    self.roll_back(host)
                for process in processes:
                    if self.character == "edge" and process.writes:
                        self.land_later(process, 0.2)
            for process in processes:
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
        process.has_asked = False

    def do_create(self, process, name, size):
        self.say(process.number, "create done")

    def do_lock(self, process, name, mode, number=0):
        process.has_asked = True
        if mode != "try":
            every_ns = number * 1_000_000 if mode == "poll" else 0
            process.wants[name] = (mode, every_ns, self.server.time.ns)
            return self.work(process)
        if self.server.grant(process, name):
            return self.say(process.number, "lock held tries=1 after_ns=1000")
        try_ns = self.server.try_ns * number
        self.server.time.ns += try_ns
        word = "refused" if self.server.errno in ("EAGAIN", "EACCES") else "failed"
        return self.say(process.number, f"lock {word} tries={number} after_ns={try_ns} errno={self.server.errno}")

    def do_unlock(self, process, name):
        self.server.release(process)
        self.say(process.number, "unlock done")

    def do_close(self, process, name):
        self.server.release(process)
        character = self.server.character
        if character == "closes" or (character == "reads" and not process.has_asked):
            for each in self.processes.values():
                self.server.release(each)
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
        if not count:
            record = self.server.record
            self.say(process.number, f"add done first={record} last={record} torn=0 after_ns={self.server.try_ns}")

    def add(self, process):
        """Make some of the updates that are due. Hosts take turns unless the server lets one of them wait."""
        server = self.server
        others = [each for agent in server.agents.values() for each in agent.processes.values() if each is not process]
        if server.character == "polled" and any(each.adds > 0 and each.host < process.host for each in others):
            return
        process.first = server.record if process.first < 0 else process.first
        for _ in range(min(process.adds, 10)):
            server.updates += 1
            server.record += not (server.character == "loses" and server.updates % 500 == 0)
        process.adds -= min(process.adds, 10)
        if process.adds == 0:
            torn = 1 if server.character == "tears" else 0
            self.say(process.number, f"add done first={process.first} last={server.record} torn={torn} after_ns=5")

    def do_nonce(self, process, name, what, text=""):
        self.server.nonce = text if what == "write" else self.server.nonce
        is_early = self.host == "two" and self.server.time.ns < self.server.visible_ns
        reads_nothing = {"elsewhere": self.host == "two", "drops": True, "honest": is_early}
        read = "-" if reads_nothing.get(self.server.character) else self.server.nonce
        self.say(process.number, f"nonce done hex={read or '-'}")

    def do_many(self, process, prefix, count):
        held = min(count, 10) if self.server.character == "few" else count
        self.say(process.number, f"many done held={held} errno={'-' if held == count else 'ENOLCK'}")

    def do_write(self, process, name, seed, longest_pause_ms):
        process.writes, process.seed, process.count = name, str(seed), 0
        process.longest_pause_ns, process.pause_max_ns = longest_pause_ms * 1_000_000, 900
        self.server.load_since_ns = self.server.time.ns
        process.told = process.returned_ns = self.server.time.ns

    def do_verify(self, process, name, every_ms):
        process.verifies = name
        process.next_verify_ns = self.server.time.ns

    def do_stop(self, process, verb):
        if verb == "write":
            self.end_writes(process)

    def end_writes(self, process):
        process.writes = ""
        self.say(process.number, f"write done count={process.count} pause_max_ns={process.pause_max_ns}")

    def do_scan(self, process, name, one, two, acknowledged, known, own):
        pages = self.server.logs[name]
        of_one = {position: count for position, (seed, count) in enumerate(pages) if seed == str(one)}
        of_two = [position for position, (seed, _count) in enumerate(pages) if seed == str(two)]
        late = sum(position < own or count > known for position, count in of_one.items())
        lost = sum(
            of_one.get(position, 0) < acknowledged - (acknowledged - 1 - position) % POSITIONS
            for position in range(min(own, POSITIONS), min(acknowledged, POSITIONS))
        )
        lost = max(lost, int(self.server.time.ns < self.server.visible_ns and acknowledged > 0))
        self.say(
            process.number,
            f"scan done a_sectors={8 * len(of_one)} b_sectors={8 * len(of_two)} other_sectors=0"
            f" a_write_max={max(of_one.values(), default=0)} b_write_max=0 late_sectors={8 * late} late_writes={late}"
            f" lost={lost}",
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
        if process.writes:
            self.write(process)
        if process.verifies and server.time.ns >= process.next_verify_ns and self.host not in server.cut_ns:
            process.next_verify_ns = server.time.ns + 2 * SECOND_NS
            if server.owner.get(process.verifies) is not process:
                process.verifies = ""
                return self.say(process.number, "verify locked count=7 max_ns=5000000")
            self.say(process.number, f"verify each ns={3_000_000_000 if server.character == 'slow' else 5_000_000}")

    def write(self, process):
        server, name = self.server, process.writes
        is_expired = (process.host, process.number) in server.expired
        if self.host in server.cut_ns and server.character != "connected":
            return
        is_fenced = {"unfenced": False, "silent": False, "unlocked": name in server.locked}.get(server.character, True)
        if is_expired and is_fenced:
            if server.character == "echo":
                server.land_later(process, ECHO_S)
            process.writes = ""
            self.say(process.number, f"write failed errno=EIO count={process.count} pause_max_ns=900")
            return
        if server.time.ns - process.told < SECOND_NS // 2:
            return
        process.told = server.time.ns
        if server.time.ns < server.paused_until_ns:
            process.pause_max_ns = max(process.pause_max_ns, server.time.ns - process.returned_ns)
            return self.say(process.number, f"write each count={process.count} pause_max_ns={process.pause_max_ns}")
        pause_ns = server.time.ns - process.returned_ns
        if pause_ns > SECOND_NS:
            process.pause_max_ns = max(process.pause_max_ns, pause_ns)
        process.returned_ns = server.time.ns
        is_over = 0 < process.longest_pause_ns < process.pause_max_ns
        for _write in range(1 if is_over else WRITES):
            process.count += 1
            if server.character != "silent" or not is_expired:
                server.land(name, process.seed, process.count)
        if is_over:
            return self.end_writes(process)
        self.say(process.number, f"write each count={process.count} pause_max_ns={process.pause_max_ns} pass=1")
