# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which hosts became worse. This is tested with computed examples, with a second implementation based on numpy and
scipy, and with properties that hold for every input."""

from __future__ import annotations

import math
import random

import numpy
import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.change import (
    NON_INFERIOR,
    WORSE,
    compare_class,
    holm,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._numerics import likeness
from ansible_collections.mqops.logdisk.plugins.plugin_utils._numerics.correlation import widening
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import INCONCLUSIVE
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

DELTA = math.log(1.1)
SEEDED = st.integers(0, 10**6).map(random.Random)
"""Random numbers that are distributed like real noise. st.randoms() would also draw values of a hundred standard
deviations."""


def run_of(logarithms):
    """Return a run of hosts h0, h1, .. from the logarithms of their rows, in units of 400 us."""
    return {
        f"h{host}": {row: 400_000 * math.exp(value) for row, value in enumerate(rows)}
        for host, rows in enumerate(logarithms)
    }


def compared(before, after, **options):
    """Compare two sets of runs, given as logarithms by [run][host][row]."""
    return compare_class([run_of(run) for run in before], [run_of(run) for run in after], margin=0.1, **options)


def outcomes(change):
    return {host.host: host.outcome for host in change.hosts}


def host_of(change, name):
    return next(host for host in change.hosts if host.host == name)


def made_up(rng, hosts, rows, runs, deviation=0.02, common=0.03, extra=()):
    """Return runs as logarithms. extra pairs the number of a host with the amount by which it is slower."""
    return [
        [
            [
                night + deviation * (half + rng.gauss(0, 1)) / math.sqrt(2) + dict(extra).get(host, 0.0)
                for _ in range(rows)
            ]
            for host in range(hosts)
            for half in [rng.gauss(0, 1)]
        ]
        for night in [rng.gauss(0, common) for _ in range(runs)]
    ]


# The computed examples.

CHANGES = [(0.02, 0), (0.01, 0.03), (0, 0.02), (0.03, 0.01), (-0.01, 0.01), (0.02, 0.02), (0.01, 0), (0.30, 0.28)]


def test_holm():
    assert holm([0.03, 0.001, 0.04, 0.02], 0.05) == [False, True, False, False]
    assert holm([0.05 / 4, 0.05 / 3, 0.05 / 2, 0.05], 0.05) == [True] * 4


def test_one_run_of_eight_hosts_against_one():
    change = compared([[(0, 0)] * 8], [CHANGES])
    assert [f"{math.log1p(shift):.3f}" for shift in change.shift.values()] == ["0.015", "0.015"]
    last = change.hosts[7]
    assert f"{math.log1p(last.beyond_class):.3f}" == "0.275"
    error = last.error
    assert (f"{error.host.size:.11f}", {f"{row.size:.10f}" for row in error.rows}, error.host.degrees) == (
        "0.00823666667",
        {"0.0164733333"},
        3,
    )
    assert f"{last.p_value:.6f}" == "0.000059"
    assert [host.outcome for host in change.hosts] == [NON_INFERIOR] * 7 + [WORSE]
    assert {f"{host.smallest_named:.1%}" for host in change.hosts} == {"6.7%"}


# A second implementation of the specification, with numpy and scipy.


def moderated(variances, degrees, hosts):
    """Return variances that are shrunk towards each other, and their degrees of freedom."""
    least = 1e-4 * numpy.median(variances)
    if not least > 0:
        return (hosts - 1) / hosts * variances.mean() + variances / hosts, degrees * hosts
    given, variances = variances, numpy.maximum(variances, least)
    e = numpy.log(variances) - special.digamma(degrees / 2) + math.log(degrees / 2)
    beyond = e.var(ddof=1) - special.polygamma(1, degrees / 2)
    if beyond <= 0:
        common, weight = variances.mean(), degrees * (hosts - 1)
    else:
        weight = 2 * optimize.brentq(lambda x: special.polygamma(1, x) - beyond, 1e-6, 1e9, xtol=1e-14, rtol=1e-14)
        common = math.exp(e.mean() + special.digamma(weight / 2) - math.log(weight / 2))
        weight = min(weight, degrees * (hosts - 1))
    return (weight * common + degrees * given) / (weight + degrees), weight + degrees


def mean_of_correlated(count, r):
    """Return the variance of the mean of that many successive values of variance 1."""
    lags = numpy.subtract.outer(range(count), range(count))
    return (r ** abs(lags)).mean()


def widened(runs, r):
    """Return the variance of the difference of two means, divided by what the variance within the sets suggests."""
    within = sum(count * (1 - mean_of_correlated(count, r)) for count in runs) / (sum(runs) - len(runs))
    return sum(mean_of_correlated(count, r) for count in runs) / (within * sum(1 / count for count in runs))


def correlation_of(changes, runs, hosts):
    """Return the correlation that explains the changes, which are in units of their standard errors."""
    found = (numpy.quantile(abs(changes), 0.75) / stats.norm.ppf(0.875)) ** 2
    if found <= 1:
        r = 0
    elif found >= widened(runs, 0.99):
        r = 0.99
    else:
        r = optimize.brentq(lambda each: widened(runs, each) - found, 0, 0.99, xtol=1e-13)
    weight = min(1, hosts / 10)
    return weight * r + (1 - weight) * 0.5


def oracle(before, after, alpha=0.05):
    """Return D, se_host, df, p and the outcome of each host, for a class of at least eight hosts."""
    before, after = numpy.array(before), numpy.array(after)  # [run][host][row]
    n1, n2, hosts, rows = len(before), len(after), before.shape[1], before.shape[2]
    d = after.mean(axis=0) - before.mean(axis=0)
    e = d - numpy.median(d, axis=0)
    beyond = e.mean(axis=1) - numpy.median(e.mean(axis=1))
    c = math.sqrt(1 / n1 + 1 / n2)
    if n1 + n2 > 2:
        own = n1 + n2 - 2
        centred = [part - numpy.median(part, axis=1, keepdims=True) for part in (before, after)]
        rest = numpy.concatenate([part - part.mean(axis=0) for part in centred])
        bias = hosts / (hosts - 1) / own
        of_hosts, df = moderated((rest.mean(axis=2) ** 2).sum(axis=0) * bias, own, hosts)
        of_rows, df_rows = moderated((rest**2).sum(axis=0).ravel() * bias, own, hosts)
        se_host, se_row = numpy.sqrt(of_hosts) * c, numpy.sqrt(of_rows).reshape(hosts, rows) * c
    else:
        df = df_rows = 3
        se_host, se_row = (1.4826 * numpy.median(abs(values)) * hosts / (hosts - 0.8) for values in (beyond, e))
    se_host, se_row = (
        numpy.maximum(se, 0.005 * c) * numpy.ones(shape) for se, shape in ((se_host, hosts), (se_row, (hosts, rows)))
    )
    if n1 + n2 > 2:
        of_rows = correlation_of((e / se_row).ravel(), (n1, n2), hosts)
        of_means = max(of_rows, correlation_of(beyond / se_host, (n1, n2), hosts))
        se_host, se_row = (se * math.sqrt(widened((n1, n2), r)) for se, r in ((se_host, of_means), (se_row, of_rows)))
    most = {1: 8, 2: 4}.get((n1, n2).count(1), math.inf)
    naming, naming_rows = min(most, df), min(most, df_rows)
    p = numpy.minimum(
        1,
        2 * numpy.minimum(stats.t.sf(beyond / se_host, naming), rows * stats.t.sf(e / se_row, naming_rows).min(axis=1)),
    )
    in_order = numpy.argsort(p)
    adjusted = numpy.empty(hosts)
    adjusted[in_order] = numpy.maximum.accumulate(p[in_order] * numpy.arange(hosts, 0, -1))
    worse = (adjusted <= alpha) & ((beyond >= DELTA) | (e >= DELTA).any(axis=1))
    bound = d.mean(axis=1) + stats.t.ppf(1 - alpha, df) * se_host
    outcome = numpy.where(worse, WORSE, numpy.where(bound <= DELTA, NON_INFERIOR, INCONCLUSIVE))
    smallest = math.exp((stats.t.ppf(1 - alpha / 2 / hosts, naming) + stats.t.ppf(0.8, naming)) * se_host[0]) - 1
    stayed = d.mean(axis=1)[~worse]
    half_width = stats.t.ppf(1 - alpha, len(stayed) - 1) * stats.sem(stayed)
    return (
        beyond,
        (se_host, df),
        p,
        bound,
        list(outcome),
        smallest,
        (stayed.mean() - half_width, stayed.mean() + half_width),
    )


@settings(max_examples=40, deadline=None)
@given(
    SEEDED, st.integers(8, 14), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.floats(1e-6, 0.08)
)  # below this, the noise is only rounding error
def test_a_class_is_judged_as_numpy_and_scipy_do(rng, hosts, rows, runs_before, runs_after, deviation):
    before = made_up(rng, hosts, rows, runs_before, deviation)
    after = made_up(rng, hosts, rows, runs_after, deviation, extra=((0, rng.uniform(0, 0.5)), (1, rng.uniform(0, 0.3))))
    beyond, error, p_values, bounds, expected, smallest, of_class = oracle(before, after)
    change = compared(before, after)
    hosts_in_order = [host_of(change, f"h{host}") for host in range(hosts)]
    assert [math.log1p(host.beyond_class) for host in hosts_in_order] == pytest.approx(list(beyond), abs=1e-9)
    assert [host.error.host.size for host in hosts_in_order] == pytest.approx(list(error[0]), rel=1e-6)
    assert [host.error.host.degrees for host in hosts_in_order] == [pytest.approx(error[1], rel=1e-6)] * hosts
    assert [host.p_value for host in hosts_in_order] == pytest.approx(list(p_values), rel=1e-6, abs=1e-9)
    assert [math.log1p(host.bound) for host in hosts_in_order] == pytest.approx(list(bounds), abs=1e-8)
    assert hosts_in_order[0].smallest_named == pytest.approx(smallest, rel=1e-7)
    assert [host.outcome for host in hosts_in_order] == expected
    assert (math.log1p(change.lower_bound), math.log1p(change.upper_bound)) == pytest.approx(of_class, abs=1e-8)
    assert change.non_inferior == (of_class[1] <= DELTA)


# Properties that hold for every input.


@st.composite
def fleets(draw, fewest=2, most=12):
    """Draw runs before and after, as logarithms."""
    rng, hosts, rows = draw(SEEDED), draw(st.integers(fewest, most)), draw(st.integers(1, 3))
    deviation, slower = draw(st.sampled_from([0, 0.01, 0.05])), draw(st.sampled_from([0, 0.1, 0.3, 1]))
    before = made_up(rng, hosts, rows, draw(st.integers(1, 4)), deviation)
    return before, made_up(rng, hosts, rows, draw(st.integers(1, 4)), deviation, extra=((0, slower),))


@settings(deadline=None)
@given(fleets())
def test_an_outcome_rests_on_what_is_printed(fleet):
    change = compared(*fleet)
    for host in change.hosts:
        if host.outcome == WORSE:
            assert host.p_value <= 0.05
            assert max(host.beyond_class, host.worst_row_change) >= 0.1 - 1e-9
        elif host.outcome == NON_INFERIOR:
            assert host.change <= host.bound <= 0.1 + 1e-9
        assert (
            (host.error is None)
            == (host.p_value is None)
            == (host.bound is None)
            == (host.smallest_named is None)
            == bool(host.reason)
        )
        assert host.runs_needed is None or (
            host.outcome == INCONCLUSIVE and min(host.runs_before, host.runs_after) < host.runs_needed <= 20
        )


@settings(deadline=None)
@given(fleets(), SEEDED)
def test_neither_the_order_of_hosts_nor_the_direction_of_time_nor_the_unit_matters(fleet, rng):
    """Successive runs are alike, so the order of runs matters, but not which end is first."""
    before, after = ([run_of(run) for run in runs] for runs in fleet)
    usual = compare_class(before, after, margin=0.1)
    shuffled = [
        [dict(rng.sample(list(run.items()), len(run))) for run in rng.choice([runs, runs[::-1]])]
        for runs in (before, after)
    ]
    other = [
        [
            {host: {row: figure * (7 + row) for row, figure in rows.items()} for host, rows in run.items()}
            for run in runs
        ]
        for runs in shuffled
    ]
    again = compare_class(*other, margin=0.1)
    assert [host.p_value for host in again.hosts] == [
        host.p_value and pytest.approx(host.p_value, abs=1e-6) for host in usual.hosts
    ]
    assert [host.change for host in again.hosts] == pytest.approx([host.change for host in usual.hosts], abs=1e-9)


@settings(deadline=None)
@given(fleets(fewest=8), st.floats(-0.5, 1).filter(lambda night: abs(night) > 1e-3))
def test_what_a_class_has_in_common_is_no_hosts_fault_but_does_not_vanish(fleet, night):
    before, after = fleet
    usual, moved = (
        compared(before, after),
        compared(before, [[[value + night for value in rows] for rows in run] for run in after]),
    )
    assert [host.p_value for host in moved.hosts] == pytest.approx([host.p_value for host in usual.hosts], abs=1e-6)
    shown = [name for name, outcome in outcomes(moved).items() if outcome == NON_INFERIOR]
    assume(night > 0)
    assert set(shown) <= {name for name, outcome in outcomes(usual).items() if outcome != INCONCLUSIVE}
    assert moved.change > usual.change


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_names_what_bonferroni_names_and_nothing_less_probable_than_what_it_leaves(p_values):
    rejected = holm(p_values, 0.05)
    assert all(named for p_value, named in zip(p_values, rejected) if p_value <= 0.05 / len(p_values))
    assert all(p_value <= 0.05 for p_value, named in zip(p_values, rejected) if named)
    left = [p_value for p_value, named in zip(p_values, rejected) if not named]
    assert all(p_value <= min(left, default=1) for p_value, named in zip(p_values, rejected) if named)


@settings(deadline=None)
@given(SEEDED, st.integers(1, 7), st.floats(0, 3))
def test_one_run_of_a_few_hosts_against_one_names_none(rng, hosts, slower):
    change = compared(made_up(rng, hosts, 3, 1), made_up(rng, hosts, 3, 1, extra=((0, slower),)))
    assert set(outcomes(change).values()) == {INCONCLUSIVE}
    assert {host.runs_needed for host in change.hosts} == {3}
    assert change.shift == {}


def test_a_few_fleets_of_five_classes_are_named_as_promised():
    """test_error_rates.py contains the rates for a hundred fleets."""
    rng, fleets, classes = random.Random("a few fleets"), 12, 5
    slow = [(host, math.log(1.3)) for host in range(3)]

    def named(extra):
        change = compared(made_up(rng, 20, 7, 3, 0.05), made_up(rng, 20, 7, 3, 0.05, extra=extra), share=1 / classes)
        return {host.host for host in change.hosts if host.outcome == WORSE}

    assert sum(any(named(()) for _ in range(classes)) for _ in range(fleets)) <= 1
    assert [named(slow) >= {"h0", "h1", "h2"} for _ in range(fleets)] == [True] * fleets


# Classes below eight hosts.

NIGHTS = [0.0, 0.01, -0.01]


def test_earlier_runs_of_the_class_tell_how_noisy_each_host_is():
    """Five earlier runs with eight hosts are enough to show that h0 is noisy. Therefore, h0 is not reported for a
    change that would be reported on any other host."""
    rng = random.Random("noisy")
    earlier = [
        run_of([[night + rng.gauss(0, 0.2 if host == 0 else 0.01)] for host in range(8)])
        for night in (0.1, 0, 0.2, 0, 0.1)
    ]
    for slower, outcome in ((0, INCONCLUSIVE), (1, WORSE)):
        changed = [[0.25 if host == slower else 0.0] for host in range(8)]
        change = compared([[[0.0]] * 8], [changed], earlier=[earlier])
        assert host_of(change, f"h{slower}").outcome == outcome
        assert host_of(change, "h0").error.host.size > 2 * host_of(change, "h1").error.host.size
        assert {host.error.host.naming_degrees for host in change.hosts} <= {
            4,
            host_of(change, "h0").error.host.degrees,
        }
    without = compared([[[0.0]] * 8], [[[0.0]] * 8], earlier=[earlier[:4]])
    assert {host.error.host.degrees for host in without.hosts} == {3}


def test_a_few_hosts_are_held_against_their_own_runs():
    """Three runs before and three after; two rows of host 1 became slower."""
    before = [[[night, night]] * 4 for night in NIGHTS]
    after = [[[night, night], [night + 0.26, night + 0.26], [night, night], [night, night]] for night in NIGHTS]
    change = compared(before, after)
    assert outcomes(change) == {"h0": NON_INFERIOR, "h1": WORSE, "h2": NON_INFERIOR, "h3": NON_INFERIOR}
    assert (change.shift, change.non_inferior) == ({}, True)
    worse = host_of(change, "h1")
    assert 0.3 < change.correlation < 0.5 and not change.correlation_is_known
    error = 0.01 * math.sqrt(2 / 3 * widened((3, 3), change.correlation))  # 2 x 2 x 0.01^2 / 4 degrees of freedom
    assert [(each.size, each.degrees) for each in (worse.error.host, *worse.error.rows)] == [
        pytest.approx((error, 4))
    ] * 3
    assert worse.p_value == pytest.approx(2 * stats.t.sf(0.26 / error, 4), rel=1e-6)
    assert worse.change == worse.beyond_class == worse.worst_row_change == pytest.approx(math.expm1(0.26))


def test_a_change_of_one_row_is_found():
    """The mean change of the host's three rows would be below the margin."""
    before = [[[night] * 3] * 2 for night in NIGHTS]
    change = compared(before, [[[night] * 3, [night, night, night + 0.2]] for night in NIGHTS])
    worse = host_of(change, "h1")
    assert (worse.outcome, worse.worst_row) == (WORSE, 2)
    assert worse.change < 0.1 < worse.worst_row_change
    assert outcomes(change)["h0"] == NON_INFERIOR


def test_too_few_runs_say_how_many_would_tell():
    night = [[[0.0]] * 4]
    for before, after, needed, text in (
        (
            1,
            1,
            3,
            (
                "one run before and one after cannot distinguish 10 % from the difference between two runs of the same "
                "disk; 3 before and 3 after can"
            ),
        ),
        (
            3,
            1,
            3,
            (
                "3 runs before and 1 after cannot distinguish 10 % from the difference between runs of the same "
                "disk; 3 before and 3 after can"
            ),
        ),
        (
            1,
            4,
            2,
            (
                "1 run before and 4 after cannot distinguish 10 % from the difference between runs of the same "
                "disk; 2 before and 4 after can"
            ),
        ),
    ):
        change = compared(night * before, night * after)
        assert {(host.outcome, host.runs_needed) for host in change.hosts} == {(INCONCLUSIVE, needed)}
        assert {host.reason for host in change.hosts} == {text}
    assert (
        compared(night, [[[DELTA]] * 4]).hosts[0].runs_needed == 3
    )  # a host may be inconclusive, but then the reason is known
    assert set(outcomes(compared(night * 3, night * 3)).values()) == {NON_INFERIOR}
    assert set(outcomes(compared(night * 5, night)).values()) == {NON_INFERIOR}


def test_a_known_variance_decides_one_run_against_one():
    """Earlier runs only show how much runs differ. Their level does not matter."""
    earlier = [run_of([[night + 3], [night - 2]]) for night in (*NIGHTS, 0, 0.01)]
    change = compared([[[0.0], [0.0]]], [[[0.0], [0.3]]], earlier=[earlier])
    assert outcomes(change) == {"h0": NON_INFERIOR, "h1": WORSE}
    error = stats.tstd((*NIGHTS, 0, 0.01)) * math.sqrt(2 * widening(1, 1, {5: 1}, change.correlation))
    assert [(host.error.host.size, host.error.host.degrees) for host in change.hosts] == [pytest.approx((error, 4))] * 2
    assert set(outcomes(compared([[[0.0], [0.0]]], [[[0.0], [0.3]]], earlier=[earlier[:4]])).values()) == {INCONCLUSIVE}


def test_earlier_periods_may_lie_at_other_levels():
    """Only runs of the same period are compared with each other, regardless of what happened between two periods."""
    periods = [[run_of([[level + night]]) for night in NIGHTS] for level in (3, -2)]
    change = compared([[[0.0]]], [[[0.3]]], earlier=periods)
    (host,) = change.hosts
    assert (host.outcome, host.error.host.degrees) == (WORSE, 4)
    assert host.error.host.size == pytest.approx(
        stats.tstd(NIGHTS) * math.sqrt(2 * widening(1, 1, {3: 2}, change.correlation))
    )


def test_a_class_with_a_share_of_the_doubt_names_less_easily():
    """The share only affects whether a host is reported as worse. A host that is shown to be non-inferior is still
    non-inferior."""
    before, after = (
        [run_of([[0.0]] * 9)] * 2,
        [run_of([[night] for night in (0, 0.01, -0.01, 0.02, -0.02, 0, 0.01, -0.01, 0.13)])] * 2,
    )
    own, part = (compare_class(before, after[:1], margin=0.1, share=share) for share in (1, 1e-9))
    assert (host_of(own, "h8").outcome, host_of(part, "h8").outcome) == (WORSE, INCONCLUSIVE)
    assert [host.bound for host in own.hosts] == [host.bound for host in part.hosts]
    assert part.hosts[0].smallest_named > own.hosts[0].smallest_named


def test_more_runs_are_said_to_decide_a_change_only_if_they_would():
    """With the noise of these runs, a change that is far from the margin needs some more runs, and a change at the
    margin is always inconclusive."""
    noise = [0.0, 0.08, -0.08]

    def judged(size):
        return compared([[[night]] for night in noise], [[[night + size]] for night in noise]).hosts[0]

    assert judged(0).outcome == judged(0.17).outcome == judged(DELTA).outcome == INCONCLUSIVE
    assert judged(DELTA).runs_needed is None
    for size, outcome in ((0, NON_INFERIOR), (0.17, WORSE)):
        needed = judged(size).runs_needed
        error = 0.08 * math.sqrt(2 / needed)
        degrees = 2 * needed - 2
        enough = (
            size + stats.t.ppf(0.95, degrees) * error <= DELTA
            if outcome == NON_INFERIOR
            else 2 * stats.t.sf(size / error, degrees) <= 0.05
        )
        assert (needed > 3, enough) == (True, True)
    assert judged(0.4).runs_needed is None
    assert judged(0.4).outcome == WORSE


# Hosts that lack runs, and what cannot be compared.


def test_hosts_that_lack_a_run_are_not_compared_with_the_class():
    before, after = [run_of([[0.0]] * 9)] * 2, [run_of([[0.0]] * 9)] * 2
    after = [after[0], {host: rows for host, rows in after[1].items() if host != "h3"}]
    change = compare_class(before, after, margin=0.1)
    assert outcomes(change) == {f"h{host}": INCONCLUSIVE if host == 3 else NON_INFERIOR for host in range(9)}
    left_out = host_of(change, "h3")
    assert (left_out.reason, left_out.change) == ("it took part in 2 of 2 runs before and 1 of 2 after", None)
    assert change.non_inferior


def test_below_eight_complete_hosts_each_one_counts_by_its_own_runs():
    runs = [run_of([[0.0]] * 9)] * 3
    fewer = [{host: rows for host, rows in runs[0].items() if host not in ("h0", "h1")}]
    change = compare_class(runs + fewer, [*runs, {"new": {0: 1.0}}], margin=0.1)
    assert [(host.runs_before, host.runs_after) for host in change.hosts] == [(3, 3)] * 2 + [(4, 3)] * 7 + [(0, 1)]
    assert outcomes(change) == {**{f"h{host}": NON_INFERIOR for host in range(9)}, "new": INCONCLUSIVE}
    assert change.shift == {}


def test_nothing_before_is_nothing_compared():
    change = compared([], [[[0.0]] * 8])
    assert {host.reason for host in change.hosts} == {"it took part in 0 of 0 runs before and 1 of 1 after"}
    assert (change.non_inferior, change.change) == (False, None)
    assert compared([], []).hosts == ()


def test_a_class_whose_only_host_became_worse_says_nothing_of_the_rest():
    runs = [[[night], [night + 1]] for night in NIGHTS]
    change = compared([[rows[0]] for rows in runs], [[rows[1]] for rows in runs])
    assert (outcomes(change), change.change, change.upper_bound, change.non_inferior) == (
        {"h0": WORSE},
        None,
        None,
        False,
    )
    alone = compared([[rows[0]] for rows in runs], [[rows[0]] for rows in runs])
    assert (outcomes(alone), alone.change, alone.upper_bound, alone.non_inferior) == (
        {"h0": NON_INFERIOR},
        0,
        None,
        False,
    )


def test_a_class_is_non_inferior_without_its_worse_hosts():
    good, worse = compared([[[0.0]] * 8], [[[0.0]] * 8]), compared([[[0.0]] * 8], [[[0.0]] * 7 + [[1.0]]])
    slow = compared([[[0.0]] * 8], [[[0.2]] * 8])
    assert (good.non_inferior, worse.non_inferior, slow.non_inferior) == (True, True, False)


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ({"a": {1: 5.0, 2: 5.0}}, {"a": {1: 5.0}}, "a has 1 rows in a run, but they are not the 2 rows"),
        ({"a": {1: 5.0}, "b": {2: 5.0}}, {}, "b has 1 rows"),
        ({"a": {}}, {}, "a has 0 rows"),
        ({"a": {1: 0.0}}, {}, "a has a figure that is not above 0"),
        ({"a": {1: math.nan}}, {}, "a has a figure that is not above 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(before, after, sentence):
    with pytest.raises(ValueError, match=sentence):
        compare_class([before], [after], margin=0.1)


def test_the_margin_is_what_matters():
    """If a difference is beyond chance but smaller than the margin, no host is reported."""
    before, after = [[[0.0]] * 8] * 3, [[[0.0]] * 7 + [[0.09]]] * 3
    assert {compared(before, after).hosts[7].outcome} == {INCONCLUSIVE}
    tight = compare_class([run_of(run) for run in before], [run_of(run) for run in after], margin=0.05)
    assert (tight.hosts[7].outcome, tight.hosts[0].outcome) == (WORSE, NON_INFERIOR)


def test_one_run_against_one_is_named_less_easily_by_a_scattered_class():
    rng = random.Random("scatter")
    even, scattered = (
        compared([[[0.0]] * 12], made_up(rng, 12, 1, 1, deviation, extra=((0, 0.5),))) for deviation in (0.01, 0.3)
    )
    assert (host_of(even, "h0").outcome, host_of(scattered, "h0").outcome) == (WORSE, INCONCLUSIVE)
    assert likeness.FEWEST_ALIKE == 8
