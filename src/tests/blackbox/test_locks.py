# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""--lock: what the lockers of two agents find out about locks, updates, writes and verifications, both when these work
and when they are broken."""

import itertools
import os

from agents import PAGE, agents, figures, files_in, make_folder, until_answer
from support import contains, equal, preloaded, strace, test, until

RING_PAGES = 64
SECTORS = PAGE // 512
UNKNOWN = 2**64 - 1
CONTROL = """
    #include <dlfcn.h>
    #include <errno.h>
    #include <fcntl.h>
    #include <stdarg.h>
    #include <unistd.h>
    static int control(const char *name, int fd, int operation, void *argument) {
        static int locks;
        int (*real)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, name);
        struct flock *lock = argument;
        int takes = (operation == F_SETLK || operation == F_SETLKW) && lock->l_type == F_WRLCK;
        locks += takes;
        %s
        return real(fd, operation, argument);
    }
    int fcntl(int fd, int operation, ...) {
        va_list rest; va_start(rest, operation); void *argument = va_arg(rest, void *); va_end(rest);
        return control("fcntl", fd, operation, argument);
    }
    int fcntl64(int fd, int operation, ...) {
        va_list rest; va_start(rest, operation); void *argument = va_arg(rest, void *); va_end(rest);
        return control("fcntl64", fd, operation, argument);
    }
"""
SLOW_READS = """
    ssize_t pread64(int fd, void *data, size_t length, off64_t offset) {
        ssize_t (*real)(int, void *, size_t, off64_t) =
            (ssize_t (*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
        ssize_t done = real(fd, data, length, offset);
        usleep(2000);
        return done;
    }
"""


def create(agent, **files):
    """Creates files with the given numbers of pages."""
    agent.start(64)
    for name, pages in files.items():
        agent.must("64 create %s %d" % (name, pages * PAGE))
    agent.must("64 exit", "ended")


def waits_for_lock(pid):
    """Returns whether the kernel lists the process as one that waits for a lock."""
    with open("/proc/locks") as file:
        return any(words[1] == "->" and words[5] == str(pid) for words in map(str.split, file))


@test
def second_is_refused(place):
    with agents(make_folder(place), 2) as (one, two):
        create(one, lock=1)
        for agent, number in ((one, 1), (one, 2), (two, 1)):
            agent.start(number, "lock")
        equal(two.ask("1 test lock"), "free")
        equal(one.must("1 lock lock try 5", "held")["tries"], "1")
        equal(one.ask("1 test lock"), "free", "for the holder itself")
        for agent, number in ((one, 2), (two, 1)):
            found = agent.must("%d lock lock try 100" % number, "refused")
            equal((found["tries"], found["errno"]), ("100", "EAGAIN"))
            equal(agent.ask("%d test lock" % number), "locked")
        one.must("1 unlock lock")
        two.must("1 lock lock try 1", "held")
        one.must("1 lock lock try 1", "refused")


@test
def hand_over(place):
    """A locker that waits gets the lock as soon as it is released in any way. A locker that polls gets it at one of its
    next tries."""
    with agents(make_folder(place), 2) as (one, two):
        create(one, lock=1)
        for way, mode in itertools.product(("unlock lock", "close lock", "exit", "kill"), ("wait", "poll 10")):
            one.start(1, "lock")
            one.must("1 lock lock try 1", "held")
            pid = two.start(1, "lock")
            two.start(2, "lock")
            two.tell("1 lock lock " + mode)
            if mode == "wait":
                until(lambda pid=pid: waits_for_lock(pid), "it waits")
            two.must("2 lock lock try 1", "refused")
            wanted = {"exit": "ended status=0", "kill": "ended signal=KILL"}.get(way, "done")
            equal(one.ask("1 " + way), wanted, way)
            found = two.answer("1 lock")
            equal(found.split()[0], "held", found)
            assert int(figures(found)["after_ns"]) > 0, found
            two.must("2 lock lock try 1", "refused")
            for agent, number in [(two, 1), (two, 2)] + ([(one, 1)] if wanted == "done" else []):
                agent.must("%d exit" % number, "ended")


@test
def poll_is_stopped(place):
    with agents(make_folder(place)) as agent:
        create(agent, lock=1)
        agent.start(1, "lock")
        agent.start(2, "lock")
        agent.must("1 lock lock wait", "held")
        agent.tell("2 lock lock poll 3600000")
        agent.tell("2 stop lock")
        equal(agent.must_answer("2 lock", "refused")["errno"], "EAGAIN")
        agent.must("2 lock lock try 1", "refused")


@test
def other_errors_are_no_refusal(place):
    """If the server grants only three locks, the next request fails with ENOLCK, which does not count as refused."""
    shim = preloaded(place, CONTROL % "if (takes && locks > 3) { errno = ENOLCK; return -1; }")
    with agents(make_folder(place), before=shim) as agent:
        create(agent, lock=1, record=1)
        agent.start(1)
        found = agent.must("1 many m 10")
        equal((found["held"], found["errno"]), ("3", "ENOLCK"))
        equal(agent.must("1 many m 10", "failed")["errno"], "EBUSY")
        agent.start(2, "lock", "record")
        agent.must("2 add record 3")
        for command, tries in (("2 lock lock try 9", "1"), ("2 lock lock poll 1", "1"), ("2 lock lock wait", None)):
            found = agent.must(command, "failed")
            equal((found.get("tries"), found["errno"]), (tries, "ENOLCK"), command)
        equal(agent.must("2 add record 1", "failed")["errno"], "ENOLCK")


@test
def many_locks(place):
    """The locks of all files are held until the process ends, whoever created the files."""
    folder = make_folder(place)
    with agents(folder, 2) as (one, two):
        for agent in (one, two):
            agent.start(1)
        found = one.must("1 many m 1500")
        equal((found["held"], found["errno"]), ("1500", "-"))
        equal(len(files_in(folder)), 1500)
        two.must("1 open m-1499")
        two.must("1 lock m-1499 try 1", "refused")
        found = two.must("1 many m 1500")
        equal((found["held"], found["errno"]), ("0", "EAGAIN"))
        one.must("1 kill", "ended")
        two.must("1 lock m-1499 try 1", "held")


@test
def updates_under_a_lock(place):
    """The time between reading and writing is so long that updates would be lost without the lock."""
    shim = preloaded(place, CONTROL % "" + SLOW_READS)
    with agents(make_folder(place), 2, before=shim) as (one, two):
        create(one, record=1)
        for agent in (one, two):
            agent.start(1, "record")
            equal(agent.must("1 add record 0")["last"], "0", "a new record")
        for agent in (one, two):
            agent.tell("1 add record 100")
        found = [agent.must_answer("1 add", "done") for agent in (one, two)]
        equal([each["torn"] for each in found], ["0", "0"])
        for agent in (one, two):
            equal(agent.must("1 add record 0")["first"], "200", "what is left")


@test
def updates_without_a_lock(place):
    """If the server grants the lock to everybody, updates are lost, and the final number shows this."""
    shim = preloaded(place, CONTROL % "if (takes) return 0;" + SLOW_READS)
    with agents(make_folder(place), 2, before=shim) as (one, two):
        create(one, record=1)
        for agent in (one, two):
            agent.start(1, "record")
        for agent in (one, two):
            agent.tell("1 add record 200")
        for agent in (one, two):
            agent.must_answer("1 add", "done")
        assert int(one.must("1 add record 0")["last"]) < 400


@test
def torn_record(place):
    """A mixture of two records is noticed, wherever the boundary is. The next record is complete again."""
    folder = make_folder(place)
    with agents(folder) as agent:
        create(agent, record=2)
        agent.start(1, "record")
        with open(os.path.join(folder, "record"), "r+b") as file:
            old, new = file.read(PAGE), file.read(PAGE)
            for border in (8, 512, 2048, PAGE - 8):
                file.seek(0)
                file.write(new[:border] + old[border:])
                file.flush()
                found = agent.must("1 add record 2")
                equal((found["torn"], found["first"], found["last"]), ("1", "1", "3"), border)
        equal(agent.must("1 add record 0")["torn"], "0")


def scan(agent, acknowledged=0, known=UNKNOWN, own=0):
    """Returns what locker 1 of an agent finds of the writers with the seeds 1 and 2."""
    return agent.must("1 scan log 1 2 %d %d %d" % (acknowledged, known, own))


def write_ring(agent, seed):
    """Lets locker 1 write the log more than once, and returns the number of its writes."""
    agent.tell("1 write log %d 0" % seed)
    until_answer(agent, "1 write each", lambda found: int(found["count"]) > RING_PAGES)
    agent.tell("1 stop write")
    return int(agent.must_answer("1 write", "done")["count"])


@test
def writes_of_two(place):
    """Each sector is traced to its writer, and a late write of the first writer is found, wherever it lands."""
    folder = make_folder(place)
    with agents(folder, 2) as (one, two):
        create(one, log=RING_PAGES)
        for agent in (one, two):
            agent.start(1, "log")
        equal(scan(one)["other_sectors"], str(RING_PAGES * SECTORS), "new")
        first = write_ring(one, 1)
        found = scan(two, first, first)
        equal((found["a_sectors"], found["a_write_max"]), (str(RING_PAGES * SECTORS), str(first)), "of the first")
        equal((found["late_sectors"], found["late_writes"], found["lost"]), ("0", "0", "0"))
        found = scan(two, first, first - 2)
        equal((found["late_sectors"], found["late_writes"]), (str(2 * SECTORS), "2"), "later than known")
        with open(os.path.join(folder, "log"), "rb") as file:
            late = file.read(2 * PAGE)
        second = write_ring(two, 2)
        equal(
            scan(one, first, first, second),
            {
                "a_sectors": "0",
                "b_sectors": str(RING_PAGES * SECTORS),
                "other_sectors": "0",
                "a_write_max": "0",
                "b_write_max": str(second),
                "late_sectors": "0",
                "late_writes": "0",
                "lost": "0",
            },
        )
        with open(os.path.join(folder, "log"), "r+b") as file:
            file.seek(7 * PAGE)
            file.write(late[: PAGE + 512])
        found = scan(two, first, first, second)
        equal((found["a_sectors"], found["late_sectors"], found["late_writes"]), ("9", "9", "2"))


@test
def acknowledged_writes_that_are_missing(place):
    """A page must contain its last acknowledged write or a later one. A part of a page is not enough."""
    folder = make_folder(place)
    with agents(folder, before=strace(place, "pwritev:error=EIO:when=%d" % (RING_PAGES + 11))) as agent:
        create(agent, log=RING_PAGES)
        agent.start(1, "log")
        equal(scan(agent, 5)["lost"], "5", "nothing was written")
        with open(os.path.join(folder, "log"), "rb") as file:
            empty = file.read()
        agent.tell("1 write log 1 0")
        written = int(agent.must_answer("1 write", "failed")["count"])
        equal(written, RING_PAGES + 10)
        for acknowledged in (0, 1, RING_PAGES, written):
            equal(scan(agent, acknowledged)["lost"], "0", acknowledged)
        equal(scan(agent, written + 3)["lost"], "3", "of the pass before")
        with open(os.path.join(folder, "log"), "r+b") as file:
            file.seek(9 * PAGE + 512)
            file.write(empty[:512])
            file.seek(30 * PAGE)
            file.write(empty[: 2 * PAGE])
        equal(scan(agent, written)["lost"], "3")
        equal(scan(agent, written, own=31)["lost"], "1", "the other pages were written by the second writer")


@test
def writes_end_after_a_pause(place):
    """Nothing is written after the pause, so that what was acknowledged before it can be read."""
    folder = make_folder(place)
    with agents(folder, before=strace(place, "pwritev:delay_exit=600000:when=%d" % (RING_PAGES + 5))) as agent:
        create(agent, log=RING_PAGES)
        agent.start(1, "log")
        agent.tell("1 write log 1 500")
        found = agent.must_answer("1 write", "done")
        equal(found["count"], str(RING_PAGES + 5))
        assert 500_000_000 < int(found["pause_max_ns"]) < 5_000_000_000, found
        equal(scan(agent, RING_PAGES + 5, RING_PAGES + 5)["late_sectors"], "0")


@test
def old_writes_are_not_late(place):
    """Writes of the first writer are not late in pages that the second writer has not reached."""
    folder = make_folder(place)
    with agents(folder, before=strace(place, "pwritev:error=EIO:when=11")) as agent:
        create(agent, log=RING_PAGES)
        agent.start(1, "log")
        agent.tell("1 write log 1 0")
        equal(agent.must_answer("1 write", "failed")["errno"], "EIO")
        with open(os.path.join(folder, "log"), "rb") as file:
            old = file.read()
        agent.start(2, "log")
        agent.tell("2 write log 2 0")
        found = agent.must_answer("2 write", "failed")
        equal((found["errno"], found["count"]), ("EIO", "10"))
        with open(os.path.join(folder, "log"), "r+b") as file:
            for page in (4, 40):
                file.seek(page * PAGE)
                file.write(old[:PAGE])
        found = scan(agent, 0, 10, 10)
        equal((found["a_sectors"], found["late_sectors"], found["b_write_max"]), ("16", "8", "10"))


@test
def failed_verification(place):
    with agents(make_folder(place), before=strace(place, "fsync:error=EIO:when=3")) as agent:
        create(agent, lock=1)
        agent.start(1, "lock")
        agent.must("1 lock lock try 1", "held")
        agent.tell("1 verify lock 1")
        found = agent.must_answer("1 verify", "failed")
        equal((found["errno"], found["count"]), ("EIO", "2"))
        equal(len([line for line in agent.lines if line.startswith("1 verify each ns=")]), 2)


@test
def lost_lock_is_noticed(place):
    """If a server forgets a lock and grants it to a second locker, the verification of the first locker notices
    this."""
    with agents(make_folder(place)) as agent:
        create(agent, lock=1)
        agent.start(1, "lock")
        agent.start(2, "lock")
        agent.must("1 lock lock try 1", "held")
        agent.tell("1 verify lock 1")
        until_answer(agent, "1 verify each", lambda found: int(found["ns"]) > 0)
        agent.must("1 close lock", "failed")
        agent.must("1 unlock lock")
        agent.must("2 lock lock wait", "held")
        found = agent.must_answer("1 verify", "locked")
        assert int(found["count"]) > 0 and int(found["max_ns"]) > 0, found
        agent.must("1 close lock")


@test
def verification_and_writes_stop(place):
    with agents(make_folder(place)) as agent:
        create(agent, lock=1, log=RING_PAGES)
        agent.start(1, "lock", "log")
        for turn in range(2):
            agent.tell("1 write log %d 0" % turn, "1 verify lock 1")
            until_answer(agent, "1 verify each", lambda found: "ns" in found)
            agent.tell("1 stop write", "1 stop verify")
            agent.must_answer("1 write", "done")
            assert int(agent.must_answer("1 verify", "done")["count"]) > 0
        agent.tell("1 stop write")
        contains(agent.answer("1 error"), "nothing to stop")
        agent.tell("1 write log 3 0", "1 write log 4 0")
        contains(agent.answer("1 error"), "already doing that")
        until_answer(agent, "1 write each", lambda found: int(found["count"]) > 0)
        read = len(agent.lines)
        agent.must("1 kill", "ended")
        assert agent.lines[read].startswith("1 write each count="), "no last count of a killed writer"


@test
def nonce(place):
    folder = make_folder(place)
    with agents(folder, 2) as (one, two):
        create(one, nonce=1)
        one.start(1, "nonce")
        two.start(1, "nonce")
        equal(two.must("1 nonce nonce read")["hex"], "-", "a new file")
        equal(one.must("1 nonce nonce write 00c0ffee")["hex"], "00c0ffee")
        equal(two.must("1 nonce nonce read")["hex"], "00c0ffee")
        with open(os.path.join(folder, "nonce"), "r+b") as file:
            for text in (b"nonce 00c0ffeeX", b"nance 00c0ffee\n"):
                file.seek(0)
                file.write(text)
                file.flush()
                equal(two.must("1 nonce nonce read")["hex"], "-", "damaged")
