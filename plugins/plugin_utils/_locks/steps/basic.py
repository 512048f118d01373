# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The basic steps: a lock that is held must be refused, must be handed over soon, must protect updates and survive
load, and a host must be able to hold many."""

from __future__ import annotations

import statistics

from ..load import load
from ..locker import Locker
from ..protocol import HELD, Answer
from ..stage import LOCK, RECORD, Prober, Stage, held, refused
from ..step import Figures, StepEnd, broken, undecided

TRIES, FEWEST = 100, 5
"""How many attempts are made, and how many at least if the file server is slow."""
LONG_S = 10.0
"""How long the attempts may take before fewer are made."""


def second_refused(stage: Stage) -> Figures:
    """Check that every attempt of the other host is refused. An error is not a refusal."""
    stage.hold(stage.holder, LOCK)
    tries, errno = _refused(stage.open(stage.other, LOCK))
    return {"tries": tries, "errno": errno}


def same_host(stage: Stage) -> Figures:
    """Check that every attempt of a second process on the holder's host is refused, and that the holder keeps its lock
    when other processes of its host close the file: one that tried to get the lock, and one that only read. If a
    client releases the locks of all its processes at any close, only the other host notices."""
    stage.hold(stage.holder, LOCK)
    other = stage.open(stage.other, LOCK)
    second = stage.open(stage.holder, LOCK)
    tries, errno = _refused(second)
    second.must("close", LOCK)
    figures = {"tries": tries, "errno": errno}
    figures["tries_after_close"] = _still_refused(other, "close", figures)
    reader = stage.open(stage.holder, LOCK)
    reader.must("nonce", LOCK, "read")
    reader.must("close", LOCK)
    figures["tries_after_read"] = _still_refused(other, "read", figures)
    return figures


def _refused(locker: Locker) -> tuple[int, str]:
    """Return how many attempts were refused, and the error. Raises StepEnd if one was not."""
    made, errno, once_ns = 0, "", 0
    for number in (1, TRIES - 1):
        wanted = min(number, max(FEWEST, round(LONG_S * 1e9 / max(once_ns, 1))))
        answer = locker.ask("lock", LOCK, "try", wanted)
        made += answer.whole("tries")
        if answer.outcome == HELD:
            raise broken("granted", tries=made)
        refused(answer)
        errno, once_ns = answer.text("errno"), answer.whole("after_ns")
    return made, errno


def _still_refused(other: Locker, way: str, figures: Figures) -> int:
    """Return how many attempts of the other host were refused after a process of the holder's host closed the file."""
    try:
        return _refused(other)[0]
    except StepEnd as end:
        if end.cause == "granted":
            raise broken("lost_at_close", way=way, **figures) from None
        raise


OPERANDS = {"unlock": (LOCK,), "close": (LOCK,), "exit": (), "kill": ()}
"""How the holder releases the lock, with the arguments of the command."""
WAYS = tuple(OPERANDS)
POLL_MS = 2000
MODES = {"wait": (), "poll": (POLL_MS,)}
"""How the other host gets the lock, with the arguments of the command."""
TIMED_TRIES = 3
"""How many times the duration of one attempt is measured."""
SETTLE_S = 0.5
"""How long the other host waits before the lock is released."""
HAND_OVER_S = 30.0


def hand_over(stage: Stage, way: str) -> Figures:
    """Return how long the other host takes to get a lock that the holder releases in the given ``way``: if the other
    host waits for the lock, and if it polls for it. One attempt takes ``try_ns``, so a host that polls may get a free
    lock only after ``poll_round_ns``."""
    wait_ns, _no_try = _one(stage, way, "wait")
    poll_ns, try_ns = _one(stage, way, "poll")
    return {
        "way": way,
        "wait_ns": wait_ns,
        "poll_ns": poll_ns,
        "poll_round_ns": POLL_MS * 1_000_000 + try_ns,
        "try_ns": try_ns,
    }


def _duration_of_try(other: Locker) -> int:
    """Return the median duration of an attempt to get a lock that is held."""
    durations = []
    for _try in range(TIMED_TRIES):
        answer = other.ask("lock", LOCK, "try", 1)
        if answer.outcome == HELD:
            raise broken("granted")
        refused(answer)
        durations.append(answer.whole("after_ns"))
    return round(statistics.median(durations))


def _one(stage: Stage, way: str, mode: str) -> tuple[int, int]:
    """Return the time from the command that releases the lock until the other host has the lock, and the median
    duration of an attempt before that (0 if the other host waits for the lock)."""
    holder = stage.hold(stage.holder, LOCK)
    other = stage.open(stage.other, LOCK)
    try_ns = _duration_of_try(other) if mode == "poll" else 0
    other.tell("lock", LOCK, mode, *MODES[mode])
    if early := other.found_within("lock", SETTLE_S):
        held(early)
        raise broken("granted", way=way)
    begin_ns = stage.clock.now_ns()
    holder.tell(way, *OPERANDS[way])
    answer = other.found_within("lock", HAND_OVER_S)
    if answer is None:
        raise broken("not_released", way=way, **{f"{mode}_ns": round(HAND_OVER_S * 1e9)})
    held(answer)
    stage.end()
    return max(answer.at_ns - begin_ns, 0), try_ns


UPDATES, FEWEST_UPDATES = 1000, 10
"""How many times each host adds one, and how many times at least if the file server is slow."""
LONG_UPDATES_S = 30.0
"""How long the updates of one host may take, if nobody else locks the record, before fewer are made."""
UPDATES_S = 600.0
ATTEMPTS = 10
"""How many times the updates are made until those of both hosts overlap. A client that polls for locks may wait until
the other one has made all of its updates."""


def concurrent_updates(stage: Stage) -> Figures:
    """Return the figures of the updates. The record starts at 0, and only these two hosts add to it."""
    lockers = [stage.open(each, RECORD) for each in (stage.holder, stage.other)]
    updates = _number_of_updates(lockers[0])
    begin_ns = stage.clock.now_ns()
    for attempt in range(1, ATTEMPTS + 1):
        answers = _added(lockers, updates)
        figures = {
            "updates_made": attempt * len(lockers) * updates,
            "updates_kept": max(answer.whole("last") for answer in answers),
            "torn": sum(answer.whole("torn") for answer in answers),
            "elapsed_ns": stage.clock.now_ns() - begin_ns,
        }
        if figures["torn"]:
            raise broken("torn", **figures)
        if figures["updates_kept"] != figures["updates_made"]:
            raise broken("updates_lost", **figures)
        if _overlap(*answers):
            return figures
    raise undecided("not_concurrent", **figures)


def _number_of_updates(locker: Locker) -> int:
    """Return how many updates to make, from the duration of locking and unlocking the record once."""
    locker.tell("add", RECORD, 0)
    once_ns = locker.done("add", UPDATES_S).whole("after_ns")
    return min(UPDATES, max(FEWEST_UPDATES, round(LONG_UPDATES_S * 1e9 / max(once_ns, 1))))


def _added(lockers: list[Locker], updates: int) -> list[Answer]:
    for locker in lockers:
        locker.tell("add", RECORD, updates)
    return [locker.done("add", UPDATES_S) for locker in lockers]


def _overlap(one: Answer, two: Answer) -> bool:
    """Whether each host made its first update before the other one had made its last."""
    return one.whole("first") < two.whole("last") and two.whole("first") < one.whole("last")


LOCKERS = 8
COUNT_S = 300.0
"""How long locking the files may take, also if each call takes some seconds."""


def lock_count(stage: Stage, files: int) -> Figures:
    """Return how many of ``files`` files several processes can lock at the same time. Raises StepEnd if anything other
    than the limit of the file server (ENOLCK) prevents some of the locks."""
    shares = [files // LOCKERS + (number < files % LOCKERS) for number in range(LOCKERS)]
    lockers = [stage.holder.start() for share in shares if share]
    for number, (locker, share) in enumerate(zip(lockers, filter(None, shares), strict=True)):
        locker.tell("many", f"many{number}", share)
    answers = [locker.done("many", COUNT_S) for locker in lockers]
    errors = {answer.text("errno") for answer in answers} - {"-", ""}
    figures = {
        "locks_held": sum(answer.whole("held") for answer in answers),
        "locks_asked": files,
        "errno": ", ".join(sorted(errors)),
    }
    if figures["locks_held"] < files and errors != {"ENOLCK"}:
        raise undecided("call_failed", host=stage.holder.host, verb="locking many files", **figures)
    return figures


def under_load(stage: Stage, load_s: float) -> Figures:
    """Return the figures of a load that continues for ``load_s`` seconds after its first write."""
    prober = Prober(stage.open(stage.other, LOCK))
    holder = load(stage)

    def is_decided() -> bool:
        if prober.has_it():
            raise broken("granted", load_s=max(prober.granted_ns - holder.begin_ns, 0) / 1e9, **holder.figures())
        holder.check()
        return False

    stage.clock.wait_until(is_decided, load_s)
    if not prober.was_refused_lately():
        raise undecided("deadline", host=stage.other.host, verb="lock", **holder.figures())
    return {
        "load_s": (stage.clock.now_ns() - holder.begin_ns) / 1e9,
        "tries": len(prober.refusals),
        **holder.figures(),
    }
