# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What seconds prove: by vectors computed with exact fractions, by oracles and by properties that hold for every input."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge import statistics, student_t
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import FAIL, INCONCLUSIVE, PASS

P99 = Fraction(1, 100)
MS = 10**6
SECOND = 10**9


def operations(counts, over, *, share=P99, limit_ns=MS, writers=1, judgements=1, **options):
    """Test with what the vectors have in common."""
    return statistics.share_of_operations(counts, over, share, limit_ns, 200_000, writers, alpha=0.05, judgements=judgements, **options)


def seconds_of(count, usual, **unusual):
    """Return so many values, except that second 7 has what s7 says."""
    return [unusual.get(f"s{second}", usual) for second in range(1, count + 1)]


def bursts(*seconds):
    """Return 300 s of 2,500 operations, but 880 with 800 slow ones in some seconds."""
    return seconds_of(300, 2500, **{f"s{second}": 880 for second in seconds}), seconds_of(300, 0, **{f"s{second}": 800 for second in seconds})


def digits(value):
    """Write as the vectors are printed, twelve significant digits at most."""
    return f"{value:.12g}"


# The vectors: what is printed there was computed with exact fractions.


def test_a_clean_run_passes_from_139_s_on():
    passed = operations([2500] * 139, [0] * 139)
    assert (passed.outcome, passed.block_s, passed.blocks, digits(math.exp(passed.log_evidence))) == (PASS, 1, 139, "20.0911554796")
    assert f"{passed.episode_s:.4f}" == "0.3391"
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
    assert (tested.outcome, tested.block_s, tested.blocks, digits(math.exp(tested.log_evidence))) == (outcome, block_s, blocks, evidence)


def test_what_is_printed_of_bursts():
    assert f"{operations(*bursts(100, 200)).episode_s:.4f}" == "0.5756"
    three = operations(*bursts(50, 150, 250))
    assert (three.seconds_needed, f"{three.bound:.4%}", three.episode_s) == (400, "1.0959%", None)


def test_a_fail_needs_more_evidence_among_several_judgements():
    alone = operations([2500] * 20, [50] * 20)
    assert (alone.outcome, alone.block_s, alone.blocks, digits(math.exp(alone.log_evidence))) == (FAIL, 1, 20, "556.072559827")
    assert operations([2500] * 20, [50] * 20, judgements=28).outcome == INCONCLUSIVE


def test_no_duration_decides_a_share_that_is_the_limit():
    tested = operations([2500] * 600, [25] * 600)
    assert (tested.outcome, tested.log_evidence, tested.seconds_needed, tested.undecidable) == (INCONCLUSIVE, 0, None, True)
    assert (tested.block_s, tested.blocks) == (1, 600)


def test_p99_9_with_a_few_slow_operations():
    tested = operations([2500] * 600, [1] * 600, share="0.001", limit_ns=5 * MS)
    assert (tested.outcome, tested.blocks, digits(math.exp(tested.log_evidence)), f"{tested.episode_s:.4f}") == (PASS, 600, "53.3702174846", "0.4427")


def test_two_writers_have_twice_the_room():
    tested = operations([5000] * 100, [10] * 100, writers=2)
    assert (tested.outcome, tested.blocks, digits(math.exp(tested.log_evidence))) == (INCONCLUSIVE, 100, "5.18169721769")
    assert (tested.seconds_needed, f"{tested.bound:.4%}", tested.undecidable) == (178, "1.5864%", False)


def test_share_of_time():
    slow = seconds_of(60, 0, **{f"s{second}": 400 * MS for second in (5, 13, 20, 28, 35, 42, 50, 57)})
    failed = statistics.share_of_time([SECOND] * 60, slow, P99, 1, alpha=0.05, judgements=1)
    assert (failed.outcome, failed.block_s, failed.blocks, digits(math.exp(failed.log_evidence))) == (FAIL, 1, 60, "126.729980466")
    assert statistics.share_of_time([SECOND] * 60, slow, P99, 1, alpha=0.05, judgements=28).outcome == INCONCLUSIVE


def test_a_long_operation_moves_back_to_the_seconds_that_it_took():
    times, slow = statistics.move_back([1000 * MS, 800 * MS, 0, 0, 3200 * MS], [0, 0, 0, 0, 2500 * MS], 1)
    assert slow == [0, 200 * MS, 1000 * MS, 1000 * MS, 300 * MS]
    assert times == [1000 * MS] * 5


def test_batch_means():
    tested = statistics.ratio_within([1] * 60, [2500 - 10 * (second // 2) for second in range(60)], 1, "max", alpha=0.05, judgements=1)
    assert (digits(tested.value), digits(tested.bound - tested.value)) == ("0.000424628450106", "2.14640192582e-05")
    assert (tested.blocks, tested.block_s) == (30, 2)


def test_student_t():
    quantiles = [student_t.quantile(*arguments) for arguments in ((0.95, 29), (0.95, 4), (0.99, 7), (0.95, 3))]
    assert [f"{value:.12f}" for value in quantiles] == ["1.699127026533", "2.131846786327", "2.997951566869", "2.353363434802"]
    assert f"{student_t.upper_tail(2, 5):.12f}" == "0.050969739415"
