# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How often the tests of statistics.py are wrong in 400 runs of each of several simulated disks. The simulations are
the same each time.

    .venv-dev/bin/pytest tests/unit -m trials -rP

shows the rates. A write takes 400 us, or longer than the limit during a burst. Bursts are as frequent as the share of
slow writes requires. If a disk's share is above what the percentile allows, it breaks the limit and must hardly ever
pass; if the share is below, it meets the limit and must hardly ever fail. The table also shows how often a textbook
bound would pass a disk that breaks its limit. docs/error_rates.md prints these rates.
"""

from __future__ import annotations

import ctypes
import math
import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge import means, statistics
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.means import Question
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import FAIL, PASS
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.disks import WRITES_PER_S, bursty, even

pytestmark = pytest.mark.trials

RUNS = 400
ALPHA = 0.05
FASTEST_NS = 200_000
MS = 10**6
P99, P99_9 = Fraction(1, 100), Fraction(1, 1000)
TEXTBOOK = "a textbook bound would pass"
SEEN_IS_COVERED = "pass, and not more slow time seen within 30 s than covered"
CROWDED_RUNS = 2000


def textbook_passes(writes: list[int], slow: list[int], allowed: Fraction) -> bool:
    """Return whether the normal approximation of a binomial bound is within the limit, as if slow writes were
    independent."""
    count, share = sum(writes), sum(slow) / sum(writes)
    return share + NormalDist().inv_cdf(1 - ALPHA) * math.sqrt(share * (1 - share) / count) <= allowed


@pytest.mark.parametrize(
    ("name", "disk", "seconds", "allowed", "limit_us", "required"),
    [
        ("W1", bursty(0.0102, 1250, 0.3), 300, P99, 1000, {PASS: (0, 7), TEXTBOOK: (20, 80)}),
        ("W2", bursty(0.0102, 1250, 0.75), 300, P99, 1000, {PASS: (0, 7), TEXTBOOK: (20, 80)}),
        ("W3", bursty(0.0102, 1250, 1.5), 600, P99, 1000, {PASS: (0, 7), TEXTBOOK: (20, 80)}),
        ("W4", bursty(0.0102, 1250, 4.5), 1800, P99, 1000, {PASS: (0, 7), TEXTBOOK: (20, 80)}),
        ("W5", bursty(0.0102, 450, 0.5), 600, P99, 420, {PASS: (0, 7), TEXTBOOK: (20, 80)}),
        ("W6", bursty(0.00102, 5000, 0.5), 600, P99_9, 4000, {PASS: (0, 7), TEXTBOOK: (20, 80)}),
        ("B1", bursty(0.0102, 1250, 0.3, (30, 70)), 600, P99, 1000, {PASS: (0, 9), SEEN_IS_COVERED: (0, 5)}),
        ("B2", bursty(0.0102, 1250, 1, (30, 70)), 600, P99, 1000, {PASS: (0, 9), SEEN_IS_COVERED: (0, 5)}),
        ("B3", bursty(0.0102, 1250, 1, (30, 130)), 600, P99, 1000, {PASS: (0, 11), SEEN_IS_COVERED: (0, 7)}),
        ("B4", bursty(0.0102, 1250, 1, (30, 190)), 600, P99, 1000, {PASS: (0, 18), SEEN_IS_COVERED: (0, 15)}),
        ("W7", even(0.01), 300, P99, 1000, {PASS: (0, 5), FAIL: (0, 5)}),
        ("P1", even(0), 139, P99, 1000, {PASS: (100, 100)}),
        ("P2", bursty(0.002, 1250, 0.2), 600, P99, 1000, {PASS: (96, 100)}),
        ("P3", even(0.005), 300, P99, 1000, {PASS: (99, 100)}),
        ("P4", even(0.0002), 600, P99_9, 4000, {PASS: (99, 100)}),
        ("P5", bursty(0.005, 1250, 0.2), 600, P99, 1000, {PASS: (82, 100)}),
        ("F1", bursty(0.0095, 1250, 1), 600, P99, 1000, {FAIL: (0, 2)}),
        ("F2", bursty(0.0095, 1250, 3), 300, P99, 1000, {FAIL: (0, 2)}),
        ("Q1", even(0.015), 60, P99, 1000, {FAIL: (97, 100), "fail at 28": (95, 100)}),
        ("Q2", bursty(0.05, 1250, 1), 300, P99, 1000, {FAIL: (98, 100), "fail at 28": (97, 100)}),
        ("Q3", bursty(0.03, 1250, 0.3), 300, P99, 1000, {FAIL: (98, 100), "fail at 28": (97, 100)}),
    ],
)
def test_share_of_operations(monkeypatch, name, disk, seconds, allowed, limit_us, required):
    monkeypatch.setattr(
        statistics, "_upper_bound", lambda *_: None
    )  # an outcome does not need its bound, which takes most of the time
    rng = random.Random(name)

    def run(judgements: int, writes: list[int], slow: list[int]) -> statistics.Evidence:
        return statistics.share_of_operations(
            writes, slow, allowed, limit_us * 1000, FASTEST_NS, 1, alpha=ALPHA, judgements=judgements
        )

    outcomes: Counter[str] = Counter()
    runs = CROWDED_RUNS if SEEN_IS_COVERED in required else RUNS
    for _ in range(runs):
        measured = disk(rng, seconds)
        found = run(1, *measured)
        outcomes[found.outcome] += 1
        outcomes[SEEN_IS_COVERED] += found.outcome == PASS and found.crowded_s <= found.episode_s
        if "fail at 28" in required:
            outcomes["fail at 28"] += run(28, *measured).outcome == FAIL
        if TEXTBOOK in required:
            outcomes[TEXTBOOK] += textbook_passes(*measured, allowed)
    _check(name, outcomes, required, runs)


@pytest.mark.parametrize(
    ("name", "correlation", "deviation", "limit_of_mean", "seconds", "required"),
    [("M1", 0.95, 0.3, 0.99, 600, {PASS: (0, 8)}), ("M2", 0.8, 0.05, 1.05, 300, {PASS: (97, 100)})],
)
def test_batch_means(name, correlation, deviation, limit_of_mean, seconds, required):
    rng = random.Random(name)
    # If each write takes u, a second holds 1/u writes, so the mean over writes is 1 / E[1/u].
    limit_ns = 1e9 / WRITES_PER_S * math.exp(-(deviation**2) / 2) * limit_of_mean
    outcomes: Counter[str] = Counter()
    for _ in range(RUNS):
        writes, level = [], rng.gauss(0, deviation)
        for _ in range(seconds):
            writes.append(round(WRITES_PER_S * math.exp(-level)))
            level = correlation * level + rng.gauss(0, deviation * math.sqrt(1 - correlation**2))
        outcomes[means.ratio_within([10**9] * seconds, writes, Question(limit_ns, "max", ALPHA, 1)).outcome] += 1
    _check(name, outcomes, required)


@pytest.mark.parametrize(
    ("name", "crowds_s", "required"),
    [
        ("M3", None, {PASS: (0, 7), SEEN_IS_COVERED: (0, 5)}),
        ("M4", (30, 70), {PASS: (0, 13), SEEN_IS_COVERED: (0, 5)}),
    ],
)
def test_means_with_standstills(name, crowds_s, required):
    """Standstills of 0.3 s, 2 % of the time, and a limit at the true mean. In the second case, they come in waves."""
    rng, outcomes, slow_ns = random.Random(name), Counter(), 10**6
    share = 0.02 * 1e9 / slow_ns / (0.02 * 1e9 / slow_ns + 0.98 * WRITES_PER_S)
    disk = bursty(share, slow_ns // 1000, 0.3, crowds_s)  # of each standstill, only its length counts
    for _ in range(CROWDED_RUNS):
        writes = [count - slow for count, slow in zip(*disk(rng, 600))]
        question = Question(1e9 / WRITES_PER_S / 0.98, "max", ALPHA, 1, most_x=600e9)
        found = means.ratio_within([10**9] * 600, writes, question)
        outcomes[found.outcome] += 1
        outcomes[SEEN_IS_COVERED] += found.outcome == PASS and found.crowded_s <= found.episode_s
    _check(name, outcomes, required, CROWDED_RUNS)


@pytest.mark.parametrize(
    ("name", "bad", "burst_s", "required"), [("A1", None, 1, {FAIL: (0, 1)}), ("A2", 0.03, 0.3, {FAIL: (97, 100)})]
)
def test_rows_of_four_queue_managers(monkeypatch, name, bad, burst_s, required):
    monkeypatch.setattr(statistics, "_upper_bound", lambda *_: None)
    rng, outcomes = random.Random(name), Counter()
    for _ in range(RUNS):
        rows = [
            bursty(bad if bad and row == 0 else 0.005 if bad is None else 0.002, 1250, burst_s)(rng, 600)
            for row in range(4)
        ]
        writes, slow = (list(map(sum, zip(*columns))) for columns in zip(*rows))
        facts = {"alpha": ALPHA, "judgements": 105}
        found = [statistics.share_of_operations(writes, slow, P99, MS, FASTEST_NS, 4, **facts)]
        for own, own_slow in rows:
            part = (sum(own), sum(writes))
            found.append(
                statistics.share_of_operations(writes, own_slow, P99, MS, FASTEST_NS, 1, **facts, part_of=part, rows=4)
            )
        outcomes[FAIL] += any(each.outcome == FAIL for each in found)
        outcomes["host passes"] += found[0].outcome == PASS and not any(each.suspect for each in found[1:])
    _check(name, outcomes, {**required, "host passes": (0, 100)})


class Second(ctypes.Structure):
    _fields_ = (("total", ctypes.c_uint64), ("over", ctypes.c_uint64))


class Claim(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("part", "whole", "writers", "fastest_ns", "threshold_ns"))


class Step(ctypes.Structure):
    _fields_ = (
        ("running", ctypes.POINTER(Second)),
        ("seconds", ctypes.c_size_t),
        ("planned_s", ctypes.c_size_t),
        ("quick", ctypes.c_uint64),
    )


SOURCES = Path(__file__).parents[5] / "src"
FIRST_LOOK, LOOKS, POWER, SPARE = 60, 50, 2, 1
"""When the tester checks a step, and how much evidence it requires (early_end.h, early_end.c)."""


@pytest.fixture(scope="module")
def evidence_of_tester(tmp_path_factory):
    """The functions of the tester, built from their source."""
    library = tmp_path_factory.mktemp("evidence") / "evidence.so"
    language = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", f"-I{SOURCES}")
    subprocess.run(["cc", *language, "-o", library, SOURCES / "figures/evidence.c", "-lm"], check=True)
    found = ctypes.CDLL(str(library))
    seconds = ctypes.POINTER(Second), ctypes.c_size_t
    found.evidence_against.argtypes = (ctypes.POINTER(Claim), ctypes.POINTER(Step))
    found.evidence_for.argtypes = (ctypes.POINTER(Claim), *seconds)
    found.evidence_add_up.argtypes, found.evidence_move_back.argtypes = seconds, (*seconds, ctypes.c_uint64)
    for each in (found.evidence_against, found.evidence_for):
        each.restype = ctypes.c_double
    for each in (found.evidence_add_up, found.evidence_move_back):
        each.restype = None
    return found


def looks(seconds: int) -> Iterator[int]:
    """Yield the numbers of seconds after which the tester checks a step."""
    look = FIRST_LOOK
    while look <= seconds:
        yield look
        look += 1 + look // LOOKS


def ends_at(evidence, total: list[int], over: list[int], judgements: int, fastest_ns: int = FASTEST_NS) -> int | None:
    """Return the number of seconds after which the tester ends a step; None if the tester does not end it early. The
    totals are numbers of writes, or times of them if ``fastest_ns`` is 0."""
    claim, enough = Claim(1, 100, 1, fastest_ns), POWER * math.log(judgements / ALPHA) + SPARE
    running = None
    for look in looks(len(total)):
        if running is None or not fastest_ns:  # time moves to earlier seconds, so it is added up at each look
            count = len(total) if fastest_ns else look
            running = (Second * count)(*zip(total[:count], over))
            if not fastest_ns:
                evidence.evidence_move_back(running, count, 1)
            evidence.evidence_add_up(running, count)
        step = Step(running, look, len(total), max(total[:look]) if fastest_ns else 10**9)
        if evidence.evidence_against(ctypes.byref(claim), ctypes.byref(step)) >= enough:
            return look
    return None


def passes_at(
    evidence_for, writes: list[int], slow: list[int], allowed: Fraction, limit_ns: int, pass_after_s: int
) -> int | None:
    """Return the number of seconds after which the tester ends a step because its limit is met; None if the tester does
    not end it early."""
    claim = Claim(allowed.numerator, allowed.denominator, 1, FASTEST_NS, limit_ns)
    seconds = (Second * len(writes))(*zip(writes, slow))
    enough = math.log(1 / ALPHA) + SPARE
    return next(
        (
            look
            for look in looks(len(writes))
            if look > pass_after_s and evidence_for(ctypes.byref(claim), seconds, look) >= enough
        ),
        None,
    )


STEPS, STEP_S, JUDGEMENTS = 7, 600, 28
"""The sweeps in which steps end early."""
CROWDED_FAILS = {"E5": 12, "E12": 20}
"""Disks close to a limit, on which crowded slow phases fail more hosts than promised (docs/error_rates.md)."""


@pytest.mark.parametrize(
    ("name", "disk"),
    [
        ("E1", bursty(0.0095, 1250, 1)),
        ("E2", bursty(0.0095, 1250, 3)),
        ("E3", bursty(0.0095, 1250, 10)),
        ("E4", bursty(0.0095, 1250, 30)),
        ("E5", bursty(0.0095, 1250, 0.3, (30, 70))),
        ("E6", bursty(0.0095, 1250, 0.3, (30, 190))),
        ("E7", even(0.01)),
        ("E12", bursty(0.009, 1250, 1, (60, 200))),
    ],
)
def test_early_ends_of_good_disks(monkeypatch, evidence_of_tester, name, disk):
    """How often a sweep ends early although the disk meets its limit, and how often one of its steps fails if all are
    measured to their ends. A step that ends early would have failed at its end as well, unless the disk was only ever
    slow before, so that its best second says nothing about how quick it can be."""
    monkeypatch.setattr(statistics, "_upper_bound", lambda *_: None)
    rng, outcomes = random.Random(name), Counter()
    for _ in range(RUNS):
        early, fails = False, False
        for _ in range(STEPS):
            writes, slow = disk(rng, STEP_S)
            ends = ends_at(evidence_of_tester, writes, slow, JUDGEMENTS) is not None
            found = _judged_step(writes, slow)
            assert found == FAIL or not ends or min(slow[:FIRST_LOOK]) > 0
            early, fails = early or ends, fails or found == FAIL
        outcomes.update({"ends early": early, "fails without early ends": fails})
    _check(name, outcomes, {"ends early": (0, 5), "fails without early ends": (0, CROWDED_FAILS.get(name, 5))})


def _judged_step(writes: list[int], slow: list[int]) -> str:
    return statistics.share_of_operations(
        writes, slow, P99, MS, FASTEST_NS, 1, alpha=ALPHA, judgements=JUDGEMENTS
    ).outcome


@pytest.mark.parametrize(
    ("name", "disk", "least"),
    [
        ("E8", even(0.03), 97),
        ("E9", bursty(0.05, 1250, 1), 60),
        ("E10", bursty(0.1, 1250, 3), 90),
        ("E11", even(0.3), 100),
    ],
)
def test_early_ends_of_bad_disks(monkeypatch, evidence_of_tester, name, disk, least):
    """How often a step ends early. It must then be judged as a fail, even with the writes that end after the check."""
    monkeypatch.setattr(statistics, "_upper_bound", lambda *_: None)
    rng, outcomes, ends = random.Random(name), Counter(), []
    for _ in range(RUNS):
        writes, slow = disk(rng, STEP_S)
        end = ends_at(evidence_of_tester, writes, slow, JUDGEMENTS)
        outcomes["ends early"] += end is not None
        if end is not None:
            ends.append(end)
            more = [rng.randrange(20)] if rng.random() < 0.5 else []
            assert _judged_step([*writes[:end], *more], [*slow[:end], *(0 for _ in more)]) == FAIL, end
    print(f"{name}: after {sorted(ends)[len(ends) // 2]} s in the median, {max(ends)} s at the latest")
    _check(name, outcomes, {"ends early": (least, 100)})


def test_the_disks_of_the_test_bed_end_soon(evidence_of_tester):
    """Disks of tests/integration/test_early_end.py, with its nine judgements: one whose writes all take 30 ms with a
    limit of 20 ms, and one that freezes for a second in every four. (One that stalls ends at once.)"""
    slow = ends_at(evidence_of_tester, [33] * STEP_S, [33] * STEP_S, 9, 30 * MS)
    freezes = [10**9 if second % 4 == 3 else 0 for second in range(STEP_S)]
    freezing = ends_at(evidence_of_tester, [10**9] * STEP_S, freezes, 9, 0)
    print(f"slow disk: {slow} s, freezing disk: {freezing} s")
    assert max(slow, freezing) <= 180


@pytest.mark.parametrize(
    ("name", "disk", "allowed", "limit_us", "required"),
    [
        ("K1", bursty(0.0102, 1250, 0.3), P99, 1000, {"ends early": (0, 5), PASS: (0, 7)}),
        ("K2", bursty(0.0102, 1250, 4.5), P99, 1000, {"ends early": (0, 5), PASS: (0, 7)}),
        ("K3", bursty(0.0102, 1250, 0.3, (30, 70)), P99, 1000, {"ends early": (0, 5), PASS: (0, 7)}),
        ("K4", even(0.0102), P99, 1000, {"ends early": (0, 5), PASS: (0, 7)}),
        ("K5", even(0), P99, 1000, {"ends early": (100, 100), PASS: (100, 100)}),
        ("K6", even(0.001), P99, 1000, {"ends early": (95, 100), PASS: (100, 100)}),
        ("K7", bursty(0.002, 1250, 0.2), P99, 1000, {"ends early": (0, 5), PASS: (96, 100)}),
        ("K8", bursty(0.0102, 1250, 1.5), P99, 1000, {"ends early": (0, 5), PASS: (0, 7)}),
        ("K9", bursty(0.0102, 450, 0.5), P99, 420, {"ends early": (0, 5), PASS: (0, 7)}),
        ("K10", bursty(0.00102, 5000, 0.5), P99_9, 4000, {"ends early": (0, 5), PASS: (0, 7)}),
    ],
)
def test_steps_that_end_because_a_limit_is_kept(
    monkeypatch, evidence_of_tester, name, disk, allowed, limit_us, required
):
    """How often a step of 1,800 s ends after 600 s because its limit is met, and how often it passes, then or at its
    planned end. A step that ended early must always pass, even with the writes that end after the decision."""
    monkeypatch.setattr(statistics, "_upper_bound", lambda *_: None)
    rng, outcomes, ends, planned_s = random.Random(name), Counter(), [], 1800
    for _ in range(RUNS):
        writes, slow = disk(rng, planned_s)
        end = passes_at(evidence_of_tester.evidence_for, writes, slow, allowed, limit_us * 1000, 600)
        if end is not None:
            ends.append(end)
            writes, slow = [*writes[:end], 20], [*slow[:end], rng.randrange(2)]
        found = statistics.share_of_operations(
            writes, slow, allowed, limit_us * 1000, FASTEST_NS, 1, alpha=ALPHA, judgements=28
        )
        assert end is None or found.outcome == PASS, (end, found)
        outcomes["ends early"] += end is not None
        outcomes[found.outcome] += 1
    if ends:
        saved = 1 - (sum(ends) + (RUNS - len(ends)) * planned_s) / (RUNS * planned_s)
        print(f"{name}: after {sorted(ends)[len(ends) // 2]} s in the median, {saved:.0%} of the time saved")
    _check(name, outcomes, required)


def _check(name: str, outcomes: Counter[str], required: dict[str, tuple[int, int]], runs: int = RUNS) -> None:
    rates = {outcome: 100 * outcomes[outcome] / runs for outcome in required}
    print(f"{name}: {', '.join(f'{outcome} {rate:g} %' for outcome, rate in rates.items())}")
    assert all(low <= rates[outcome] <= high for outcome, (low, high) in required.items()), (rates, required)
