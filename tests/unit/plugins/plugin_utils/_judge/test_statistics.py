# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The statistical tests on the seconds of a run. They are checked with examples that were computed with exact
fractions, with second implementations, and with properties that hold for every input."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge import means, statistics
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.blocks import choose_blocks
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.means import Question
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import FAIL, INCONCLUSIVE, PASS
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.disks import bursty
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

P99 = Fraction(1, 100)
MS = 10**6
SECOND = 10**9


def operations(counts, over, *, share=P99, limit_ns=MS, fastest_ns=200_000, writers=1, judgements=1, **options):
    """Run the test with the parameters that all vectors share."""
    return statistics.share_of_operations(
        counts, over, share, limit_ns, fastest_ns, writers, alpha=0.05, judgements=judgements, **options
    )


def seconds_of(count, usual, **unusual):
    """Return ``count`` values: ``usual``, except that for example s7=3 makes 3 the value of second 7."""
    return [unusual.get(f"s{second}", usual) for second in range(1, count + 1)]


def bursts(*seconds):
    """Return 300 s of 2,500 operations per second, except for these seconds, which have 880, of which 800 are slow."""
    return seconds_of(300, 2500, **{f"s{second}": 880 for second in seconds}), seconds_of(
        300, 0, **{f"s{second}": 800 for second in seconds}
    )


def digits(value):
    """Format a number as in the examples, with at most twelve significant digits."""
    return f"{value:.12g}"


# The examples. Their values were computed with exact fractions.


def test_a_clean_run_passes_from_139_s_on():
    passed = operations([2500] * 139, [0] * 139)
    assert (passed.outcome, passed.block_s, passed.blocks, digits(math.exp(passed.log_evidence))) == (
        PASS,
        1,
        139,
        "20.0911554796",
    )
    assert f"{passed.episode_s:.4f}" == "0.3391"
    assert (
        operations([2500] * 139, [0] * 139, judgements=28).outcome == PASS
    )  # a host passes only if all its judgements do
    shorter = operations([2500] * 138, [0] * 138)
    assert (shorter.outcome, f"{shorter.log_evidence:.8f}") == (INCONCLUSIVE, "2.97666324")
    hundred = operations([2500] * 100, [0] * 100)
    assert (hundred.outcome, hundred.seconds_needed, f"{hundred.bound:.4%}") == (INCONCLUSIVE, 142, "1.3892%")


@pytest.mark.parametrize(
    ("seconds", "outcome", "block_s", "blocks", "evidence"),
    [
        ((100, 200), PASS, 1, 300, "44.6290352647"),
        ((150, 151), INCONCLUSIVE, 2, 151, "6.07968143983"),
        ((149, 150, 151), INCONCLUSIVE, 4, 75, "2.14633289409"),
        ((50, 150, 250), INCONCLUSIVE, 1, 300, "10.6399671872"),
    ],
)
def test_bursts_in_neighbouring_seconds_are_one_witness(seconds, outcome, block_s, blocks, evidence):
    tested = operations(*bursts(*seconds))
    assert (tested.outcome, tested.block_s, tested.blocks, digits(math.exp(tested.log_evidence))) == (
        outcome,
        block_s,
        blocks,
        evidence,
    )


def test_what_is_printed_of_bursts():
    assert f"{operations(*bursts(100, 200)).episode_s:.4f}" == "0.5756"
    three = operations(*bursts(50, 150, 250))
    assert (three.seconds_needed, f"{three.bound:.4%}", three.episode_s) == (400, "1.0959%", None)


def test_a_fail_needs_more_evidence_among_several_judgements():
    alone = operations([2500] * 20, [50] * 20)
    assert (alone.outcome, alone.block_s, alone.blocks, digits(math.exp(alone.log_evidence))) == (
        FAIL,
        1,
        20,
        "556.072559827",
    )
    assert operations([2500] * 20, [50] * 20, judgements=28).outcome == INCONCLUSIVE


def test_no_duration_decides_a_share_that_is_the_limit():
    tested = operations([2500] * 600, [25] * 600)
    assert (tested.outcome, tested.log_evidence, tested.seconds_needed) == (INCONCLUSIVE, 0, None)
    assert (tested.block_s, tested.blocks) == (1, 600)


def test_p99_9_with_a_few_slow_operations():
    tested = operations([2500] * 600, [1] * 600, share="0.001", limit_ns=5 * MS)
    assert (tested.outcome, tested.blocks, digits(math.exp(tested.log_evidence)), f"{tested.episode_s:.4f}") == (
        PASS,
        600,
        "53.3702174846",
        "0.4427",
    )


def test_two_writers_have_twice_the_room():
    tested = operations([5000] * 100, [10] * 100, writers=2)
    assert (tested.outcome, tested.blocks, digits(math.exp(tested.log_evidence))) == (
        INCONCLUSIVE,
        100,
        "5.18169721769",
    )
    assert (tested.seconds_needed, f"{tested.bound:.4%}") == (178, "1.5864%")


def test_share_of_time():
    slow = seconds_of(60, 0, **{f"s{second}": 400 * MS for second in (5, 13, 20, 28, 35, 42, 50, 57)})
    failed = statistics.share_of_time([SECOND] * 60, slow, P99, 1, alpha=0.05, judgements=1)
    assert (failed.outcome, failed.block_s, failed.blocks, digits(math.exp(failed.log_evidence))) == (
        FAIL,
        1,
        60,
        "126.729980466",
    )
    assert statistics.share_of_time([SECOND] * 60, slow, P99, 1, alpha=0.05, judgements=28).outcome == INCONCLUSIVE


def test_a_long_operation_moves_back_to_the_seconds_that_it_took():
    times, slow = statistics.move_back([1000 * MS, 800 * MS, 0, 0, 3200 * MS], [0, 0, 0, 0, 2500 * MS], 1)
    assert slow == [0, 200 * MS, 1000 * MS, 1000 * MS, 300 * MS]
    assert times == [1000 * MS] * 5


def test_batch_means():
    tested = batch_means([1] * 60, [2500 - 10 * (second // 2) for second in range(60)], 1)
    assert (digits(tested.value), digits(tested.bound - tested.value)) == ("0.000424628450106", "2.14640192582e-05")
    assert (tested.blocks, tested.block_s) == (30, 2)


def crowds(seconds, *slow):
    """Return runs of 2,500 operations per second, except for these seconds, which have 880, of which 800 are slow."""
    return [880 if second in slow else 2500 for second in range(1, seconds + 1)], [
        800 if second in slow else 0 for second in range(1, seconds + 1)
    ]


def test_single_peaks_in_a_crowd_are_one_witness():
    tested = operations(*crowds(600, *range(201, 220, 3)))
    assert (tested.block_s, tested.resolved, tested.outcome, digits(math.exp(tested.log_evidence))) == (
        16,
        True,
        INCONCLUSIVE,
        "1.49595188176",
    )
    assert blocks_of(*crowds(600, *range(201, 220, 3))).cuts[1] == 8


def test_crowds_that_hang_together_however_long_the_blocks_are_decide_nothing():
    tested = operations(*crowds(300, *range(101, 116), *range(181, 196), *range(251, 266)))
    assert (tested.block_s, tested.resolved, tested.outcome, digits(math.exp(tested.log_evidence))) == (
        8,
        False,
        INCONCLUSIVE,
        "41.4825333299",
    )
    assert (tested.bound, tested.seconds_needed) == (None, 449)
    cuts = blocks_of(*crowds(300, *range(101, 116), *range(181, 196), *range(251, 266))).cuts
    assert cuts[1] == 3
    # Unresolved blocks fail a limit if there is twice the evidence. They never pass one.
    assert operations([1250] * 300, [1000] * 150 + [0] * 150).outcome == FAIL
    kept = operations(*crowds(600, *range(101, 131)), share="0.1")
    assert (kept.resolved, kept.outcome, kept.log_evidence > math.log(20)) == (False, INCONCLUSIVE, True)


def row(slow, *, seconds=20, rows=4, judgements=1, slow_elsewhere=0):
    """Test one of several rows of 2,500 operations per second each."""
    operations_of_all = [2500 * rows] * seconds
    return operations(
        operations_of_all,
        [slow] * seconds,
        part_of=(2500 * seconds, 2500 * rows * seconds),
        rows=rows,
        judgements=judgements,
    )


def test_a_row_among_several_is_tested_by_itself():
    failed = row(50, judgements=5)
    assert (failed.outcome, failed.value, digits(math.exp(failed.log_evidence))) == (FAIL, 0.02, "556.072559827")
    assert (row(50, judgements=140).outcome, row(50, judgements=140).suspect) == (INCONCLUSIVE, True)
    together = operations([10_000] * 20, [50] * 20, writers=4, judgements=5)
    assert (together.outcome, digits(math.exp(together.log_evidence))) == (INCONCLUSIVE, "1.20539757868")


@pytest.mark.parametrize(
    ("rows", "seconds", "evidence", "suspect", "of_all", "outcome"),
    [(4, 300, "64.8055894136", True, "150.55766549", PASS), (64, 160, "5.04398569243", False, "31.1251635538", PASS)],
)
def test_the_more_rows_the_more_evidence_makes_one_suspect(rows, seconds, evidence, suspect, of_all, outcome):
    tested = row(26, seconds=seconds, rows=rows, judgements=100)
    assert (tested.outcome, digits(math.exp(tested.log_evidence)), tested.suspect) == (INCONCLUSIVE, evidence, suspect)
    together = operations([2500 * rows] * seconds, [26] * seconds, writers=rows)
    assert (together.outcome, digits(math.exp(together.log_evidence))) == (outcome, of_all)


def test_the_most_slow_time_within_thirty_seconds():
    tested = operations(*crowds(300, 50, 60, 70, 95))
    excess = Fraction(800 * 100 - 880, 99 * 1010)
    assert tested.crowded_s == pytest.approx(float(3 * excess))
    assert operations(*crowds(20, 5, 6)).crowded_s == pytest.approx(float(2 * excess))
    assert operations([2500] * 60, [0] * 60).crowded_s == 0


def test_a_fail_needs_evidence_from_the_longest_blocks():
    """Short bursts that occur only within windows, on a disk that meets its limit."""
    run = bursty(0.0095, 1250, 0.3, (30, 70))(random.Random(252), 600)
    assert (blocks_of(*run).block_s, blocks_of(*run).resolved) == (1, True)
    tested = operations(*run, judgements=28)
    assert (tested.outcome, tested.block_s, tested.resolved) == (INCONCLUSIVE, 16, False)


STANDSTILLS = [500 if second in (10, 30, 31) else 2500 for second in range(1, 61)]


def test_lopsided_parts_widen_the_bound_of_a_mean():
    tested = batch_means([1] * 60, STANDSTILLS, 0.00045, most_x=60)
    assert (tested.outcome, f"{tested.bound - tested.value:.11e}", f"{tested.episode_s:.9f}") == (
        PASS,
        "3.01162467913e-05",
        "0.444444444",
    )
    plain = batch_means([1] * 60, STANDSTILLS, 0.00045, "min")  # too far away for standstills to matter
    assert f"{plain.value - plain.bound:.11e}" == "2.27549251109e-05"
    rate = batch_means(STANDSTILLS, [1] * 60, 2250, "min")
    assert (rate.outcome, rate.value, f"{rate.value - rate.bound:.9f}", rate.episode_s) == (
        INCONCLUSIVE,
        2400,
        "173.469581518",
        None,
    )
    reserve = means._reserve(144_000, 60, Question(2250, "min", 0.05, 1))
    assert statistics.covered_episode(reserve, 60) == pytest.approx(0.375, abs=1e-12)
    assert batch_means(STANDSTILLS, [1] * 60, 0, "min").episode_s == 6  # a limit that nothing breaks
    assert (tested.crowded_s, rate.crowded_s) == (pytest.approx(3 * 0.775), pytest.approx(3 * (1 - 500 / 2250)))
    assert batch_means([1] * 60, [2500] * 60, 0.00045, most_x=60).crowded_s == 0


# Second implementations: the specification in exact fractions, which is slow, and scipy.


def exact_lag_1(values):
    mean = Fraction(sum(values)) / len(values)
    deviations = [value - mean for value in values]
    squares = sum(value * value for value in deviations)
    return sum(left * right for left, right in zip(deviations, deviations[1:])) / squares if squares else Fraction(0)


def exact_blocks(counts, over, share):
    """Return the length of the blocks, their sums, and whether they are resolved."""
    seconds, longest = len(counts), 1
    while math.ceil(Fraction(seconds, 2 * longest)) >= 20:
        longest *= 2
    found = []
    for length in [2**power for power in range(longest.bit_length())]:
        candidates = []
        for first in range(length):
            starts = ([0] if first else []) + list(range(first, seconds, length))
            blocks = [
                (sum(counts[start:end]), sum(over[start:end])) for start, end in zip(starts, [*starts[1:], seconds])
            ]
            candidates.append(
                (exact_lag_1([max(Fraction(0), slow - share * count) for count, slow in blocks]), first, blocks)
            )
        found.append((length, min(candidates)[2], sum(each[0] for each in candidates) / length <= Fraction(3, 10)))
    resolved = next((place for place in range(len(found)) if all(each[2] for each in found[place:])), len(found) - 1)
    return found[resolved]


def exact_evidence(counts, over, share, limit_ns, fastest_ns, writers):
    """Return the length of a block, W, or V if the share exceeds the allowed one, and whether the blocks are
    resolved."""
    length, blocks, resolved = exact_blocks(counts, over, share)
    evidence = exact_evidence_of(length, blocks, share, limit_ns, fastest_ns, writers)
    if sum(over) > share * sum(counts) and resolved and evidence >= 20:
        while math.ceil(Fraction(len(counts), 2 * length)) >= 20:
            length *= 2
        weakest = min(
            exact_evidence_of(
                length,
                [(sum(counts[start:end]), sum(over[start:end])) for start, end in zip(starts, [*starts[1:], None])],
                share,
                limit_ns,
                fastest_ns,
                writers,
            )
            for first in (0, length // 2)
            for starts in [([0] if first else []) + list(range(first, len(counts), length))]
        )
        return (length, weakest, False) if weakest < 20 else (*exact_blocks(counts, over, share)[:1], evidence, True)
    return length, evidence, resolved


def exact_evidence_of(length, blocks, share, limit_ns, fastest_ns, writers):
    most_over = writers * math.ceil(Fraction(101, 100) * length * SECOND / limit_ns)
    most = writers * (math.floor(Fraction(length * SECOND, fastest_ns)) + 1)
    gains = [(share * count - slow) / ((1 - share) * most_over) for count, slow in blocks]
    if sum(gains) > 0:
        bets = [
            (Fraction(1), Fraction(6, 10)),
            (Fraction(1, 2), Fraction(2, 10)),
            (Fraction(1, 4), Fraction(1, 10)),
            (Fraction(1, 8), Fraction(1, 10)),
        ]
    elif sum(gains) < 0:
        greatest = share * most / ((1 - share) * most_over)
        bets = [(-Fraction(1, 4**power) / greatest, Fraction(1, 6)) for power in range(6)]
    else:
        return Fraction(1)
    total = Fraction(0)
    for stake, weight in bets:
        factors = [1 + stake * gain for gain in gains]
        total += weight * math.prod(factors) if min(factors) > 0 else 0
    return total


@st.composite
def runs(draw, most_s=100):
    """Draw the counts of seconds with freezes of any length, which can span several seconds, and with single slow
    operations."""
    seconds = draw(st.integers(1, most_s))
    over = draw(st.lists(st.sampled_from([0, 0, 0, 5, 20, 30, 100]), min_size=seconds, max_size=seconds))
    for start, length in draw(st.lists(st.tuples(st.integers(0, seconds - 1), st.integers(1, 9)), max_size=12)):
        over[start : start + length] = [draw(st.integers(300, 1010))] * len(over[start : start + length])
    counts = [draw(st.integers(slow, 2500)) if slow >= 300 else 2500 for slow in over]
    assume(sum(counts))
    return counts, over


def blocks_of(counts, over):
    return choose_blocks([count - 100 * slow for count, slow in zip(counts, over)])


@settings(max_examples=150)
@given(
    runs(most_s=200),
    st.sampled_from([P99, Fraction(1, 1000), Fraction(1, 10)]),
    st.integers(900_000, MS),
    st.integers(150_000, 300_000),
    st.integers(1, 3),
)
def test_evidence_is_that_of_exact_fractions(run, share, limit_ns, fastest_ns, writers):
    tested = operations(*run, share=share, limit_ns=limit_ns, fastest_ns=fastest_ns, writers=writers)
    block_s, evidence, resolved = exact_evidence(*run, share, limit_ns, fastest_ns, writers)
    assert (tested.block_s, tested.resolved) == (block_s, resolved)
    if not evidence:
        assert tested.log_evidence == -math.inf
    else:
        exact = math.log(evidence.numerator) - math.log(evidence.denominator)
        assert tested.log_evidence == pytest.approx(exact, rel=1e-9, abs=1e-8)


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(1, 10**9), st.integers(1, 3000)), min_size=20, max_size=90), st.sampled_from([1, 28])
)
def test_batch_means_are_those_of_exact_fractions(seconds, judgements):
    count = min(30, len(seconds) // 2)
    starts = [len(seconds) * batch // count for batch in range(count + 1)]
    x, y = (
        [sum(second[part] for second in seconds[start:end]) for start, end in zip(starts, starts[1:])]
        for part in (0, 1)
    )
    ratio = Fraction(sum(x), sum(y))
    deviations = [(part - ratio * whole) * count / sum(y) for part, whole in zip(x, y)]
    correlation = exact_lag_1(deviations)
    corrected = float(min(Fraction(9, 10), max(Fraction(0), correlation + (1 + 3 * correlation) / count)))
    error = math.sqrt(
        sum(deviation * deviation for deviation in deviations)
        / (count - 1)
        / count
        * Fraction((1 + corrected) / (1 - corrected))
    )
    skewness = float(stats.skew([float(deviation) for deviation in deviations])) if error else 0.0
    for side, bound in ((1, "max"), (-1, "min")):
        tested = batch_means(*zip(*seconds), float(ratio), bound, judgements=judgements)
        quantile = stats.t.ppf(0.95, count - 1)
        widened = quantile + max(0, side * skewness) * (1 + 2 * quantile**2) / (6 * math.sqrt(count))
        assert tested.value == float(ratio)
        assert tested.bound == pytest.approx(float(ratio) + side * widened * error, rel=1e-6)


# Properties that hold for every input.


@given(runs(), st.integers(1, 30))
def test_a_pass_keeps_the_limit_and_a_fail_breaks_it(run, judgements):
    tested = operations(*run, judgements=judgements)
    counts, over = map(sum, run)
    assert tested.outcome != PASS or (100 * over < counts and tested.bound <= P99 and tested.episode_s > 0)
    assert tested.outcome != FAIL or 100 * over > counts
    assert tested.resolved == (tested.bound is not None)
    assert not tested.resolved or (
        tested.value <= tested.bound <= 1 and (tested.outcome == PASS or tested.bound >= P99)
    )
    assert tested.outcome == INCONCLUSIVE or tested.seconds_needed is None
    assert tested.seconds_needed is None or len(run[0]) < tested.seconds_needed
    assert tested.seconds_needed is None or not over or tested.seconds_needed <= 20 * len(run[0])
    assert tested.block_s * tested.blocks >= tested.seconds == len(run[0])
    assert not math.isnan(tested.log_evidence)


@given(runs(), st.data())
def test_one_more_slow_operation_never_helps(run, data):
    counts, over = run
    second = data.draw(st.integers(0, len(over) - 1))
    assume(over[second] < min(counts[second], 1010))
    worse = [*over[:second], over[second] + 1, *over[second + 1 :]]
    assume(blocks_of(counts, over) == blocks_of(counts, worse))
    before, after = operations(counts, over), operations(counts, worse)
    assert before.outcome == PASS or after.outcome != PASS
    assert after.bound is None or after.bound >= before.bound - 1e-6


# Below 39 s each second is a block.


@given(runs(most_s=38), st.randoms())
def test_the_order_of_blocks_does_not_matter(run, rng):
    seconds = list(zip(*run))
    rng.shuffle(seconds)
    assert operations(*zip(*seconds)).log_evidence == pytest.approx(operations(*run).log_evidence, abs=1e-9)


@given(runs(most_s=30), st.lists(st.integers(0, 30), max_size=8))
def test_seconds_without_operations_prove_nothing(run, places):
    counts, over = map(list, run)
    for place in places:
        counts.insert(place, 0)
        over.insert(place, 0)
    assert operations(counts, over).log_evidence == pytest.approx(operations(*run).log_evidence, abs=1e-9)


@given(runs(most_s=38))
def test_the_bound_is_the_smallest_limit_that_passes(run):
    bound = operations(*run).bound
    assume(bound is not None and bound < 0.999)
    assume(operations(*run, share=bound + 1e-6).resolved)  # with another share, blocks may not be resolved
    assert operations(*run, share=bound + 1e-6).outcome == PASS
    assert operations(*run, share=max(bound - 2e-6, 1e-7)).outcome != PASS


@given(
    st.lists(st.tuples(st.integers(0, 5 * SECOND), st.integers(0, 5 * SECOND)), min_size=1, max_size=20),
    st.integers(1, 3),
)
def test_moving_back_adds_no_time(seconds, writers):
    quick, slow = [min(first, writers * SECOND) for first, _ in seconds], [second for _, second in seconds]
    times, moved = statistics.move_back([sum(pair) for pair in zip(quick, slow)], slow, writers)
    assert [time - late for time, late in zip(times, moved)] == quick
    assert all(late >= 0 and time <= writers * SECOND for time, late in zip(times, moved))
    assert all(sum(moved[second:]) <= sum(slow[second:]) for second in range(len(slow)))
    room = sum(writers * SECOND - fast for fast in quick)
    assert sum(moved) <= min(sum(slow), room)


# What else decides.


@pytest.mark.parametrize(
    ("run", "block_s"),
    [
        (([2500] * 400, [0] * 400), 1),
        (([2500] * 400, [300 if second % 100 in (41, 42) else 0 for second in range(400)]), 2),
    ],
)
def test_the_reserve_of_single_seconds_says_which_episodes_are_covered(run, block_s):
    tested = operations(*run)
    reserve = (P99 * sum(run[0]) - sum(run[1])) / (Fraction(99, 100) * 1010 * 400)
    assert (tested.outcome, tested.block_s, tested.episode_s) == (
        PASS,
        block_s,
        pytest.approx(float(40 * reserve / (1 + reserve))),
    )


def test_more_than_twenty_times_as_long_is_no_answer():
    """For a limit on the p99.9 that is 2.5 times the mean, a run without slow writes needs 1,400 s. The reason contains
    this figure, no matter how short the run is. With a slow write, the required duration is unknown."""
    for over, seconds, answered in ((0, 60, True), (1, 60, False), (1, 100, True)):
        tested = operations([2500] * seconds, [over, *[0] * (seconds - 1)], share="0.001")
        assert (tested.outcome, tested.seconds_needed is not None) == (INCONCLUSIVE, answered)
        assert not answered or 1380 < tested.seconds_needed < 20 * 100


def test_a_run_of_the_seconds_needed_passes():
    short = operations([2500] * 60, [0] * 60, share="0.001", limit_ns=4 * MS)
    assert short.outcome == INCONCLUSIVE
    for seconds, outcome in (
        (short.seconds_needed, PASS),
        (statistics.seconds_to_pass("0.001", 10, 0.05) - 1, INCONCLUSIVE),
    ):
        assert operations([2500] * seconds, [0] * seconds, share="0.001", limit_ns=4 * MS).outcome == outcome


def test_seconds_to_pass():
    assert [statistics.seconds_to_pass("0.01", times, 0.05) for times in (1.5, 2.5, 5, 10, 20)] == [
        231,
        139,
        71,
        36,
        19,
    ]
    assert [statistics.seconds_to_pass(Fraction(1, 1000), times, 0.05) for times in (1.5, 2.5, 5, 10, 20)] == [
        2308,
        1386,
        694,
        348,
        175,
    ]
    seconds = statistics.seconds_to_pass_time(0.01, 0.05)
    outcomes = [
        statistics.share_of_time([SECOND] * count, [0] * count, P99, 1, alpha=0.05, judgements=1).outcome
        for count in (seconds - 1, seconds)
    ]
    assert (seconds, outcomes) == (342, [INCONCLUSIVE, PASS])


def test_a_share_is_what_is_written():
    tested = [operations([2500] * 139, [0] * 139, share=share).log_evidence for share in (P99, "0.01", 0.01)]
    assert tested[0] == tested[1] == tested[2]


def test_slow_operations_in_flight_count_in_the_last_second():
    usual = operations([2500] * 30 + [1], [3] * 30 + [1])
    assert operations([2500] * 30 + [0], [3] * 30 + [0], in_flight_over=1) == usual
    assert operations([1010] * 30, [1010] * 30, in_flight_over=1).value == 1  # valid, although impossible

    frozen = statistics.share_of_time(
        [SECOND] * 54 + [0] * 6, [0] * 60, P99, 1, alpha=0.05, judgements=1, in_flight_age_ns=6 * SECOND
    )
    assert (frozen.value, frozen.outcome) == (0.1, INCONCLUSIVE)


def test_freezes_make_a_share_of_time_fail_and_one_of_operations_pass():
    """A freeze of 0.3 s is two slow writes among thousands."""
    time = statistics.share_of_time(
        [SECOND] * 300, [300 * MS if second % 10 == 5 else 0 for second in range(300)], P99, 1, alpha=0.05, judgements=1
    )
    rare = statistics.share_of_time(
        [SECOND] * 600,
        [300 * MS if second % 120 == 60 else 0 for second in range(600)],
        P99,
        1,
        alpha=0.05,
        judgements=1,
    )
    count = operations(
        [1750 if second % 10 == 5 else 2500 for second in range(300)],
        [2 if second % 10 == 5 else 0 for second in range(300)],
    )
    assert (time.outcome, rare.outcome, count.outcome) == (FAIL, PASS, PASS)


@pytest.mark.parametrize(
    ("counts", "over", "sentence"),
    [
        ([2500, 5], [0, 6], "Second 2 has 6 operations over the limit among 5"),
        ([2500], [-1], "Second 1 has -1 operations over"),
        ([2500], [1011], "1011 operations over the limit, but 1 writers cannot have more than 1010"),
        ([2500], [0, 0], "1 seconds cannot be tested with the figures of 2"),
        ([], [], "0 seconds"),
        ([0], [0], "No operation was counted"),
    ],
)
def test_a_broken_table_of_counts_is_refused(counts, over, sentence):
    with pytest.raises(ValueError, match=sentence):
        operations(counts, over)


def test_a_broken_table_of_times_is_refused():
    with pytest.raises(ValueError, match="Second 2 has 1011 ns"):
        statistics.share_of_time([1000, 1000], [0, 1011], P99, 1, alpha=0.05, judgements=1)
    # The middle of a bucket may be above the only operation in it.
    assert statistics.share_of_time([1000], [1004], P99, 1, alpha=0.05, judgements=1).value == 1


@pytest.mark.parametrize("share", [0, 1, "1.5", -0.1])
def test_an_impossible_share_is_refused(share):
    with pytest.raises(ValueError, match="above 0 and below 1"):
        operations([1], [0], share=share)


def batch_means(x, y, limit, bound="max", judgements=1, **options):
    return means.ratio_within(x, y, Question(limit, bound, 0.05, judgements, **options))


def test_means_without_spread_are_as_they_stand():
    assert [batch_means([3] * 60, [1] * 60, limit).outcome for limit in (2.999, 3, 3.001)] == [FAIL, PASS, PASS]
    assert [batch_means([3] * 60, [1] * 60, limit, "min").outcome for limit in (2.999, 3, 3.001)] == [PASS, PASS, FAIL]


@given(
    st.lists(st.integers(100, 10**6), min_size=20, max_size=90),
    st.integers(1, 10**6),
    st.sampled_from(["max", "min"]),
    st.integers(1, 30),
)
def test_means_decide_only_beyond_their_bounds(x, limit, bound, judgements):
    tested = batch_means(x, [1] * len(x), limit, bound, judgements)
    worse = (lambda left, right: left > right) if bound == "max" else (lambda left, right: left < right)
    assert (tested.outcome == PASS) == (not worse(tested.bound, limit))
    assert tested.outcome != FAIL or worse(tested.value, limit)
    mirrored = batch_means(
        [-value for value in x], [1] * len(x), -limit, {"max": "min", "min": "max"}[bound], judgements
    )
    assert (mirrored.outcome, mirrored.bound, mirrored.seconds_needed) == (
        tested.outcome,
        -tested.bound,
        tested.seconds_needed,
    )
    assert tested.seconds_needed is None or len(x) <= tested.seconds_needed <= 20 * len(x)


def test_a_wrong_fail_of_a_mean_is_as_rare_among_several_judgements():
    noise, ones = [1000 + second * 7919 % 131 for second in range(600)], [1] * 600
    tested = batch_means(noise, ones, 1000)
    limit = tested.value - 1.2 * (tested.bound - tested.value)
    assert [batch_means(noise, ones, limit, judgements=judgements).outcome for judgements in (1, 1000)] == [
        FAIL,
        INCONCLUSIVE,
    ]


def test_means_need_twenty_seconds():
    short = batch_means([1] * 19, [1] * 19, 2)
    assert (short.outcome, short.seconds_needed, short.bound) == (INCONCLUSIVE, 20, None)
    assert batch_means([1] * 20, [1] * 20, 2).outcome == PASS
    with pytest.raises(ValueError, match="nothing to compute a mean from"):
        batch_means([1] * 20, [0] * 20, 2)


def test_what_never_happened_can_happen_rarely():
    assert statistics.rare_second_share(600, 0.05) == pytest.approx(1 - 0.05 ** (1 / 600), rel=1e-12)
    assert round(1 / statistics.rare_second_share(600, 0.05)) == 201
