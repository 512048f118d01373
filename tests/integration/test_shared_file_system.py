# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the shared file system of the test bed: its honest server keeps every promise about locks, and each
dishonest server breaks only the promise that it is meant to break."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from lockers import Locker
from testbed import Bed, Host, HostSpec, ServerSpec, servers
from testbed.bed import answers
from testbed.servers import PORT
from testbed.shared import wire
from testbed.shared.characters import CHARACTERS
from testbed.shell import TestbedError, wait_for

pytestmark = pytest.mark.thorough

Start = Callable[..., Bed]
TESTS = Path(__file__).resolve().parents[1]
LEASE_S = 2.0
FIGURES = {
    "lease_s": LEASE_S,
    "fail_over_s": 0.5,
    "late_s": 3600.0,
    "crowded_s": 6.0,  # longer than a pause in the load, so that the writes before a cut are not load
    "lost_every": 10,
    "late_write_s": 2.0,
    "lands_later_s": 4.0,
    "undone": 10,
    "forget_after_s": 5.0,
    "call_s": 0.2,
}
UPDATES = 20
LOAD_S = 3.0
SOON_S = 1.0  # how long to watch for what must not happen, and
MEANT_S = 60.0  # for what is meant to happen
PATIENCE_S = 120.0  # how long to wait for a lock that is taken over, and
NEVER_S = 4 * LEASE_S  # for one that is not

HONEST = {
    "same host": "EAGAIN",
    "second host": "EAGAIN",
    "second host after the file was read on the first": "EAGAIN",
    "seen by the second": "locked",
    "next after a kill": "waiter",
    "updates": str(2 * UPDATES),
    "next after a cut": "waiter",
    "its acknowledged writes": "there",
    "what changes after the takeover": "nothing",
    "its late write": "EIO",
    "its late write to a file without a lock": "EIO",
    "holders after it returned": "1",
    "its late read": "EIO",
    "its late change of size": "EIO",
    "its lock": "EIO",
    "what is in the file": "before",
    "what is in the file later": "before",
    "its lock after it opened the file again": "EAGAIN",
    "connections after a fail-over": "new",
    "write after a fail-over": "done",
    "updates after a fail-over": str(UPDATES),
    "second host after a fail-over": "EAGAIN",
    "second host later": "EAGAIN",
    "next after a lost host": "waiter",
    "holders after it booted": "1",
    "its lock after it booted": "EAGAIN",
    "second host under load": "EAGAIN",
}
GRANTED = {
    "second host": "held",
    "second host after the file was read on the first": "held",
    "seen by the second": "free",
    "updates": "not asked",
    "its lock after it opened the file again": "held",
    "second host after a fail-over": "held",
    "second host later": "held",
    "its lock after it booted": "held",
    "second host under load": "held",
}
LATE = {
    "its late write": "done",
    "its late write to a file without a lock": "done",
    "its late change of size": "done",
    "what is in the file": "late",
    "what is in the file later": "late",
}
LIES = {
    "honest": {},
    "lazy": {},
    "visible_late": {},
    "local": {**GRANTED, "its lock": "held"},
    "grant": {
        **GRANTED,
        "same host": "held",
        "holders after it returned": "2",
        "holders after it booted": "2",
    },
    # The holder continues as if it had never been cut off.
    "stale": {
        **LATE,
        "next after a cut": "nobody",
        "its late read": "late",
        "holders after it returned": "0",
        "its lock": "held",
        "its lock after it opened the file again": "held",
        "next after a lost host": "nobody",
    },
    "late": {"next after a kill": "poller", "next after a cut": "poller", "next after a lost host": "poller"},
    "unfenced": {**LATE, "its late read": "late"},
    "reads": LATE,
    "forgets": {"second host after a fail-over": "held", "second host later": "held"},
    "loses": {"updates": str(2 * UPDATES - 4), "updates after a fail-over": str(UPDATES - 2)},
    "crowded": {"second host under load": "held"},
    "unlocked": {"its late write to a file without a lock": "done"},
    "remount": {"holders after it returned": "2", "holders after it booted": "2"},
    "close_frees": {"second host after the file was read on the first": "held"},
    "lands_early": {"what changes after the takeover": "something"},
    "lands_later": {"what is in the file later": "late"},
    "undoes": {"its acknowledged writes": "lost"},
    "undoes_failover": {"updates after a fail-over": str(UPDATES - 10)},
    "no_failover": {"connections after a fail-over": "old"},
    "forgets_later": {"second host later": "held"},
}


class Pair:
    """Two hosts that share a file system, and the lockers on them."""

    def __init__(self, bed: Bed) -> None:
        self.bed = bed
        self.first, self.second = bed
        self.server = self.first.server
        self.lockers: list[Locker] = []
        self.candidates: list[Locker] = []

    def locker(self, host: Host, file: str = "file") -> Locker:
        self.lockers.append(Locker(self.bed, host, file))
        return self.lockers[-1]

    def clear(self) -> None:
        """Kill all lockers."""
        for host in (self.first, self.second):
            host.kill("python3")
            wait_for(lambda host=host: not host.pids("python3"), "the lockers end")
        self.end()

    def end(self) -> None:
        for locker in self.lockers:
            locker.end()
        self.lockers = []

    def next(self, host: Host, file: str, lose: Callable[[], None], patience_s: float) -> str:
        """Return which process on the host gets the lock next after the holder was lost: one that waits for the lock,
        or one that tries repeatedly afterwards."""
        waiter, poller = self.candidates = [self.locker(host, file), self.locker(host, file)]
        before = self.waits()
        waiter.tell("lock", "wait")
        wait_for(lambda: waiter.answered or self.waits() > before, "the request is at the server")
        lose()
        poller.tell("poll", patience_s + 60)
        with suppress(TestbedError):
            wait_for(lambda: waiter.answered or poller.answered, "somebody has the lock", patience_s)
        return "waiter" if waiter.answered else "poller" if poller.answered else "nobody"

    def holders(self, expected: str) -> str:
        """Return how many processes got the lock since next(). More may get it for a while."""
        return eventually(lambda: str(sum(locker.answered for locker in self.candidates)), expected, "1")

    def waits(self) -> int:
        return self.server.log().count(" waits for ")

    def expired(self) -> int:
        return self.server.log().count("the lease has expired")


def eventually(ask: Callable[[], str], expected: str, honest: str) -> str:
    """Return the last answer of a process. If it is not what an honest server leads to, wait for it."""
    with suppress(TestbedError):
        wait_for(lambda: ask() == expected, expected, SOON_S if expected == honest else MEANT_S)
    return ask()


@pytest.fixture
def pair(start: Start) -> Iterator[Callable[..., Pair]]:
    """pair(character): its two hosts."""
    pairs = []

    def make(character: str = "honest", **figures: float) -> Pair:
        server = ServerSpec(character=character, **{**FIGURES, **figures})
        pairs.append(Pair(start(*(HostSpec(name, disk="shared", server=server) for name in ("h1", "h2")))))
        return pairs[-1]

    yield make
    for one in pairs:
        one.end()


@pytest.mark.parametrize("character", CHARACTERS)
def test_each_server_breaks_its_own_promise_and_no_other(pair: Callable[..., Pair], character: str) -> None:
    two = pair(character)
    expected = {**HONEST, **LIES[character]}
    found = {}
    for promise in (exclusion, updates, cut_off, failed_over, lost_host, load):
        found.update(promise(two, expected))
        two.clear()
    assert found == expected


Outcomes = Iterator[tuple[str, str]]
DONE = ["done", "done"]


def exclusion(pair: Pair, expected: dict[str, str]) -> Outcomes:
    holder, neighbour = pair.locker(pair.first), pair.locker(pair.first)
    other = pair.locker(pair.second)
    assert holder.ask("lock", "try") == "held"
    yield "seen by the second", other.ask("test")
    yield "same host", neighbour.ask("lock", "try")
    yield "second host", other.ask("lock", "try")
    other.ask("lock", "free")
    pair.bed.ssh(pair.first, "cat /fut/file")
    yield "second host after the file was read on the first", other.ask("lock", "try")
    other.ask("lock", "free")
    if expected["second host after the file was read on the first"] == "held":
        holder.ask("lock", "try")

    def kill() -> None:
        pair.first.kill("python3")
        wait_for(lambda: not pair.first.pids("python3"), "the holder ends")

    yield "next after a kill", pair.next(pair.second, "file", kill, PATIENCE_S)


def updates(pair: Pair, expected: dict[str, str]) -> Outcomes:
    """Without exclusion, chance decides."""
    both = [pair.locker(host, "record") for host in (pair.first, pair.second)]
    for locker in both:
        locker.tell("add", UPDATES)
    assert [locker.answer() for locker in both] == ["done", "done"]
    assert both[0].ask("poll", PATIENCE_S) == "held"
    yield "updates", both[0].ask("total") if expected["second host"] == "EAGAIN" else "not asked"


def cut_off(pair: Pair, expected: dict[str, str]) -> Outcomes:
    holder, writer, free = pair.locker(pair.first), pair.locker(pair.first, "pages"), pair.locker(pair.first, "free")
    assert [holder.ask("lock", "try"), holder.ask("write", "before"), free.ask("write", "before")] == ["held", *DONE]
    assert writer.ask("load") == "done"
    wait_for(lambda: int(writer.ask("written")) > FIGURES["undone"], "pages are written")
    reader = pair.locker(pair.second, "pages")
    before = pair.expired()

    def cut() -> None:
        pair.first.cut_off()
        holder.tell("write", "late")
        free.tell("write", "late")

    never = expected["next after a cut"] == "nobody"
    yield "next after a cut", pair.next(pair.second, "file", cut, NEVER_S if never else PATIENCE_S)
    wait_for(lambda: never or pair.expired() > before, "the lease expires")
    page = reader.ask("page")
    yield "its acknowledged writes", "there" if int(writer.ask("written")) - int(page) <= 1 else "lost"
    changes = expected["what changes after the takeover"]
    changed = eventually(lambda: "nothing" if reader.ask("page") == page else "something", changes, "nothing")
    yield "what changes after the takeover", changed
    assert not holder.answered
    pair.first.reconnect()
    yield "its late write", holder.answer()
    yield "its late write to a file without a lock", free.answer()
    assert writer.ask("unload") == "done"
    yield "holders after it returned", pair.holders(expected["holders after it returned"])
    yield "its late read", holder.ask("read")
    yield "its late change of size", holder.ask("truncate")
    yield "its lock", holder.ask("lock", "try")
    other = pair.locker(pair.second)
    yield "what is in the file", other.ask("read")
    later = expected["what is in the file later"]
    yield "what is in the file later", eventually(lambda: other.ask("read"), later, "before")
    assert holder.ask("path", "file") == "done"
    yield "its lock after it opened the file again", holder.ask("lock", "try")


def failed_over(pair: Pair, expected: dict[str, str]) -> Outcomes:
    holder, other = pair.locker(pair.first), pair.locker(pair.second)
    adder = pair.locker(pair.first, "added")
    assert [holder.ask("lock", "try"), adder.ask("add", UPDATES)] == ["held", "done"]
    before = pair.first.log().count("connected")
    pair.server.fail_over()
    yield "second host after a fail-over", other.ask("lock", "try")
    yield "write after a fail-over", holder.ask("write", "still")
    yield "connections after a fail-over", "new" if pair.first.log().count("connected") > before else "old"
    yield "updates after a fail-over", adder.ask("total")
    later = expected["second host later"]
    yield "second host later", eventually(lambda: other.ask("lock", "try"), later, "EAGAIN")


def lost_host(pair: Pair, expected: dict[str, str]) -> Outcomes:
    assert pair.locker(pair.second, "lost").ask("lock", "try") == "held"
    patience_s = NEVER_S if expected["next after a lost host"] == "nobody" else PATIENCE_S
    yield "next after a lost host", pair.next(pair.first, "lost", pair.second.cut, patience_s)
    pair.second.boot()
    wait_for(lambda: answers(pair.second), "the host is back")
    yield "holders after it booted", pair.holders(expected["holders after it booted"])
    yield "its lock after it booted", pair.locker(pair.second, "lost").ask("lock", "try")


def load(pair: Pair, expected: dict[str, str]) -> Outcomes:
    holder, other = pair.locker(pair.first, "load"), pair.locker(pair.second, "load")
    assert [holder.ask("lock", "try"), holder.ask("load")] == ["held", "done"]
    patience_s = MEANT_S if expected["second host under load"] == "held" else LOAD_S
    yield "second host under load", other.ask("poll", patience_s)
    assert holder.ask("unload") == "done"


def test_how_late_a_waiter_is(pair: Callable[..., Pair]) -> None:
    two = pair("late", late_s=1.0)
    holder, waiter = two.locker(two.first), two.locker(two.second)
    assert holder.ask("lock", "try") == "held"
    waiter.tell("lock", "wait")
    wait_for(two.waits, "the request is at the server")
    since = time.monotonic()
    assert [holder.ask("lock", "free"), waiter.answer()] == ["free", "held"]
    assert time.monotonic() - since > 1.0


def test_how_long_a_lock_call_takes(pair: Callable[..., Pair]) -> None:
    two = pair("lazy", call_s=1.0)
    since = time.monotonic()
    assert two.locker(two.first).ask("lock", "try") == "held"
    assert time.monotonic() - since > 1.0


def test_when_written_data_is_visible(pair: Callable[..., Pair]) -> None:
    """A host sees its own data at once, and all data in a file on which it has a lock."""
    two = pair("visible_late", visible_s=10.0)
    writer, reader = two.locker(two.first), two.locker(two.second)
    assert writer.ask("write", "data") == "done"
    since = time.monotonic()
    assert [reader.ask("read"), writer.ask("read")] == ["\0" * 8, "data"]
    assert [reader.ask("lock", "try"), reader.ask("read"), reader.ask("lock", "free")] == ["held", "data", "free"]
    wait_for(lambda: reader.ask("read") == "data", "the data is visible")
    assert time.monotonic() - since > 9.0


def test_a_verification_waits_for_the_end_of_a_grace_period(pair: Callable[..., Pair]) -> None:
    two = pair(grace_s=4.0)
    holder = two.locker(two.first)
    assert holder.ask("lock", "try") == "held"
    two.server.fail_over()
    since = time.monotonic()
    assert [holder.ask("write", "still"), holder.ask("test")] == ["done", "free"]
    assert time.monotonic() - since > 3.0


def test_a_fail_over_that_does_not_end(pair: Callable[..., Pair]) -> None:
    """It ends with the next one."""
    two = pair(fail_over_s=1e6)
    holder = two.locker(two.first)
    servers.fail_over(two.bed.settings, two.server.spec.name, wait=False)
    wait_for(lambda: "is gone" in two.server.log(), "the fail-over begins")
    holder.tell("write", "waits")
    assert holder.answer(timeout_s=3.0) == ""
    two.server.fail_over()
    assert holder.answer() == "done"


def test_a_host_that_mounts_again_frees_its_locks(pair: Callable[..., Pair]) -> None:
    """Its lease has not expired then. Another host's lock is not affected."""
    two = pair(lease_s=600.0)
    assert two.locker(two.second).ask("lock", "try") == "held"
    other = two.locker(two.first, "other")
    assert other.ask("lock", "try") == "held"
    two.second.cut()
    assert two.locker(two.first).ask("lock", "try") == "EAGAIN"
    two.second.boot()
    assert two.locker(two.first).ask("lock", "wait") == "held"
    wait_for(lambda: answers(two.second), "the host is back")
    assert two.locker(two.second, "other").ask("lock", "try") == "EAGAIN"


def test_parts_of_a_file(pair: Callable[..., Pair]) -> None:
    two = pair()
    first, second = two.locker(two.first), two.locker(two.second)
    assert first.ask("lock", "try", 0, 10) == "held"
    assert [second.ask("lock", "try", 10, 5), second.ask("lock", "try", 5, 1)] == ["held", "EAGAIN"]
    assert first.ask("lock", "free", 3, 4) == "free"
    assert [second.ask("lock", "try", *part) for part in ((3, 4), (2, 1), (7, 1))] == ["held", "EAGAIN", "EAGAIN"]
    assert second.ask("lock", "try") == "EAGAIN", "the whole file"
    assert first.ask("lock", "free") == "free"
    assert second.ask("lock", "try") == "held"


def test_shared_locks(pair: Callable[..., Pair]) -> None:
    two = pair()
    first, second = two.locker(two.first), two.locker(two.second)
    assert [first.ask("lock", "share"), second.ask("lock", "share")] == ["held", "held"]
    assert second.ask("lock", "try") == "EAGAIN"
    assert first.ask("lock", "free") == "free"
    assert [second.ask("lock", "try"), first.ask("lock", "share")] == ["held", "EAGAIN"]
    assert [second.ask("lock", "share"), first.ask("lock", "share")] == ["held", "held"]


def test_a_signal_ends_waiting(pair: Callable[..., Pair]) -> None:
    two = pair()
    holder, waiter, third = two.locker(two.first), two.locker(two.second), two.locker(two.second)
    assert [holder.ask("lock", "try"), waiter.ask("alarm", 1.0)] == ["held", "done"]
    assert waiter.ask("lock", "wait") == "EINTR"
    assert [holder.ask("lock", "free"), third.ask("lock", "try")] == ["free", "held"]


def test_a_process_without_its_server_is_killed(pair: Callable[..., Pair]) -> None:
    """Its lock is freed when the host is connected again, although the lease has not expired and another process has
    the file open."""
    two = pair(lease_s=600.0)
    two.locker(two.first)
    holder = two.locker(two.first)
    assert holder.ask("lock", "try") == "held"
    two.first.cut_off()
    holder.tell("write", "late")
    two.bed.ssh(two.first, f"kill -9 {holder.pid}")
    wait_for(lambda: len(two.first.pids("python3")) == 1, "the process ends")
    wait_for(lambda: "no answer" in two.first.log(), "the client gives the connection up")
    assert two.locker(two.second).ask("lock", "try") == "EAGAIN"
    two.first.reconnect()
    assert two.locker(two.second).ask("lock", "wait") == "held"


def test_a_request_that_is_sent_again_is_carried_out_once(pair: Callable[..., Pair]) -> None:
    """The answer did not reach the client."""
    two = pair()
    body = wire.MKDIR_IN.pack(0o755, 0) + b"made\0"
    with socket.create_connection((two.server.address, PORT)) as connection:
        connection.sendall(wire.request(wire.RENEW, 1) + 2 * wire.request(wire.MKDIR, wire.ROOT, 2, body))
        received = b""
        while len(received) < 3 * wire.REPLY.size + 2 * (wire.ENTRY.size + wire.ATTRIBUTES.size):
            received += connection.recv(4096)
    dummy, first, second = wire.split(received)[0]
    assert first == second
    assert two.bed.ssh(two.first, "ls /fut").split() == ["made"]


def test_too_many_locks(pair: Callable[..., Pair]) -> None:
    two = pair(locks_max=2)
    assert [two.locker(two.first, name).ask("lock", "try") for name in "abc"] == ["held", "held", "ENOLCK"]


def test_two_hosts_see_the_same_files(pair: Callable[..., Pair]) -> None:
    two = pair(size="16M")
    first, second = two.first, two.second
    source = two.bed.ssh(first, "findmnt -n -o SOURCE,FSTYPE /fut")
    assert source == two.bed.ssh(second, "findmnt -n -o SOURCE,FSTYPE /fut")
    assert source.split() == [f"{two.server.address}:/qmgrs", "fuse.shared"]
    made = (
        "mkdir -p a/b && seq 1 9 > a/b/c && ln a/b/c a/hard && ln -s b/d a/soft && mv a/b/c a/b/d && touch $(seq 500)"
    )
    two.bed.ssh(first, f"cd /fut && {made} && chown ops:ops a/hard && chmod 640 a/hard && truncate -s 6 a/hard")
    shown = "ls | wc -l; stat -c '%s %U %a %h' a/b/d; cat a/soft; rmdir a || rm -r a; ls -d a || echo gone"
    assert two.bed.ssh(second, f"cd /fut; {shown}") == "501\n6 ops 640 2\n1\n2\n3\ngone\n"
    assert "No such file" in two.bed.ssh(first, "cat /fut/a/hard 2>&1 || :")
    assert "No space left" in two.bed.ssh(first, "dd if=/dev/zero of=/fut/big bs=1M count=20 2>&1 || :")
    assert two.bed.ssh(second, "rm /fut/big; df --output=used /fut").split() == ["Used", "0"]


def test_each_server_has_its_own_files(start: Start) -> None:
    names = {"h1": ServerSpec("one"), "h2": ServerSpec("two")}
    bed = start(*(HostSpec(name, disk="shared", server=server) for name, server in names.items()))
    bed.ssh(bed["h1"], "touch /fut/here")
    assert bed.ssh(bed["h2"], "ls /fut") == ""
    assert bed.servers["one"].address != bed.servers["two"].address


def test_from_another_process(pair: Callable[..., Pair]) -> None:
    two = pair()
    holder = two.locker(two.first)
    assert holder.ask("lock", "try") == "held"
    for command in (["fail-over"], ["cut", "h1"], ["boot", "h1"]):
        arguments = ["--prefix", two.bed.settings.prefix, *command]
        subprocess.run([sys.executable, "-m", "testbed", *arguments], cwd=TESTS, check=True)
    assert two.server.log().count("listens at") == 2
    assert two.locker(two.second).ask("lock", "wait") == "held"
    wait_for(lambda: answers(two.first), "the host is back")


def test_what_is_no_server(start: Start) -> None:
    for wrong in ({"character": "kind"}, {"name": "a/b"}, {"size": "1"}):
        with pytest.raises(TestbedError):
            ServerSpec(**wrong)
    with pytest.raises(TestbedError, match="two servers have the name"):
        start(*(HostSpec(f"h{lease}", disk="shared", server=ServerSpec(lease_s=lease)) for lease in (1, 2)))
