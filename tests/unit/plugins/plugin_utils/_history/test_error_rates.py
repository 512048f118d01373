# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How often comparisons and drift err, on simulated fleets and histories, the same ones every time.

    .venv-dev/bin/pytest tests/unit -m trials -rP

shows the rates. A host's rows have half of the variation between its runs in common, and all hosts have the nights in common, of which two differ by
3 % (standard deviation).
"""

from __future__ import annotations

import math
import random

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare import INCONCLUSIVE, NON_INFERIOR, WORSE, Run, compare_class
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.drift import (
    UNKNOWN,
    Scatter,
    change_points,
    conspicuous_certificates,
    drift_gates,
    scatter_of,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._numerics.likeness import likeness

pytestmark = pytest.mark.trials

ROWS = 7
NIGHT_DEVIATION = 0.03 / math.sqrt(2)
SLOWER = math.log(1.3)
SLOW_HOSTS = {"h1", "h2", "h3"}


def runs_of(rng: random.Random, levels: list[list[float]], deviation: float, count: int, slower: float = 0.0) -> list[Run]:
    """Return so many runs of hosts with these levels, the slow ones among them slower."""
    runs = []
    for _ in range(count):
        night, run = rng.gauss(0, NIGHT_DEVIATION), {}
        for host, level in enumerate(levels):
            own = rng.gauss(night, deviation / math.sqrt(2)) + slower * (f"h{host}" in SLOW_HOSTS)
            run[f"h{host}"] = {row: math.exp(usual + own + rng.gauss(0, deviation / math.sqrt(2))) for row, usual in enumerate(level)}
        runs.append(run)
    return runs


def compared(rng: random.Random, hosts: int, deviation: float, before: int, after: int, slower: float, share: float = 1.0) -> dict[str, set[str]]:
    """Return the hosts of a made-up class by outcome."""
    levels = [[rng.gauss(0, 0.1) for _ in range(ROWS)] for _ in range(hosts)]
    change = compare_class(runs_of(rng, levels, deviation, before), runs_of(rng, levels, deviation, after, slower), margin=0.1, share=share)
    return {outcome: {host.host for host in change.hosts if host.outcome == outcome} for outcome in (WORSE, NON_INFERIOR, INCONCLUSIVE)}


@pytest.mark.parametrize(
    ("deviation", "before", "after", "non_inferior", "all_named"),
    [
        (0.02, 1, 1, (90, 100), (99, 100)),
        (0.02, 2, 2, (97, 100), (100, 100)),
        (0.02, 3, 3, (97, 100), (100, 100)),
        (0.02, 5, 1, (97, 100), (100, 100)),
        (0.05, 1, 1, (40, 60), (8, 25)),
        (0.05, 2, 2, (67, 83), (98, 100)),
        (0.05, 3, 3, (83, 97), (98, 100)),
        (0.05, 5, 1, (63, 81), (97, 100)),
    ],
)
def test_fleets_of_twenty_hosts(deviation, before, after, non_inferior, all_named):
    """Unchanged, hardly a fleet has a host that is named worse; of three hosts that became 30 % slower all are named."""
    name = f"{deviation:.0%}, {before} v {after}"
    rng, fleets = random.Random(name), 100
    unchanged = [compared(rng, 20, deviation, before, after, 0.0) for _ in range(fleets)]
    slowed = [compared(rng, 20, deviation, before, after, SLOWER) for _ in range(fleets)]
    named = sum(bool(hosts[WORSE]) for hosts in unchanged)
    shown = sum(len(hosts[NON_INFERIOR]) for hosts in unchanged) / 20
    found, exactly = sum(hosts[WORSE] >= SLOW_HOSTS for hosts in slowed), sum(hosts[WORSE] == SLOW_HOSTS for hosts in slowed)
    print(f"{name}: unchanged: a host named in {named} %, {shown:.0f} % of hosts non-inferior; +30 %: all named in {found} %, no other in {exactly} %")
    assert named <= 5
    assert non_inferior[0] <= shown <= non_inferior[1]
    assert all_named[0] <= found <= all_named[1]


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_fleets_of_five_classes(runs):
    """Each class has its share of the doubt, so that a fleet of several classes has a host that is named worse no more often than one of a single class."""
    rng, fleets, classes = random.Random(f"five classes, {runs}"), 100, 5
    for deviation in (0.02, 0.05):
        unchanged = [[compared(rng, 20, deviation, runs, runs, 0.0, 1 / classes) for _ in range(classes)] for _ in range(fleets)]
        found = sum(compared(rng, 20, deviation, runs, runs, SLOWER, 1 / classes)[WORSE] >= SLOW_HOSTS for _ in range(fleets))
        named = sum(any(each[WORSE] for each in fleet) for fleet in unchanged)
        print(f"five classes, {deviation:.0%}, {runs} v {runs}: unchanged: {named} of {fleets} fleets with a host named; +30 %: all three named in {found}")
        assert named <= 5
        assert found >= 95 or runs == 1


@pytest.mark.parametrize(("deviation", "runs"), [(0.02, 1), (0.05, 3)])
def test_c1(deviation, runs):
    rng, fleets = random.Random("C1"), 40
    named = sum(bool(compared(rng, 20, deviation, runs, runs, 0.0)[WORSE]) for _ in range(fleets))
    exactly = sum(compared(rng, 20, deviation, runs, runs, SLOWER)[WORSE] == SLOW_HOSTS for _ in range(fleets))
    print(f"C1, {deviation:.0%}, {runs} v {runs}: unchanged: {named} of {fleets} fleets with a host named; +30 %: exactly the three in {exactly}")
    assert named <= 2
    assert exactly >= 38


@pytest.mark.parametrize(("deviation", "before", "after", "found_at_least"), [(0.02, 3, 3, 95), (0.05, 3, 3, 0), (0.05, 6, 3, 0), (0.02, 1, 1, 0)])
def test_fleets_of_four_hosts(deviation, before, after, found_at_least):
    """Their own runs alone tell how much they differ; nights count in full, and one run against one names nobody."""
    name = f"four hosts, {deviation:.0%}, {before} v {after}"
    rng, fleets = random.Random(name), 400
    named = sum(bool(compared(rng, 4, deviation, before, after, 0.0)[WORSE]) for _ in range(fleets)) / fleets
    levels = [[0.0] * ROWS] * 4
    single = [
        compare_class(runs_of(rng, levels, deviation, before), [{**run, "h1": slow["h1"]} for run, slow in zip(*nights)], margin=0.1)
        for nights in ((runs_of(rng, levels, deviation, after), runs_of(rng, levels, deviation, after, SLOWER)) for _ in range(100))
    ]
    found = sum([host.host for host in change.hosts if host.outcome == WORSE] == ["h1"] for change in single)
    print(f"{name}: unchanged: a host named in {100 * named:.1f} %; +30 %: exactly the one in {found} %")
    assert named <= (0 if before + after == 2 else 0.05)
    assert found >= found_at_least


def test_d1():
    rng, histories, false, found, at_the_place = random.Random("D1"), 300, 0, 0, 0
    for _ in range(histories):
        values = [rng.gauss(0, 0.05) for _ in range(20)]
        false += bool(change_points([math.exp(value) for value in values], margin=0.1))
        moved = [rng.gauss(0, 0.05) + math.log(1.2) * (place >= 12) for place in range(20)]
        points = [point.place for point in change_points([math.exp(value) for value in moved], margin=0.1)]
        found, at_the_place = found + bool(points), at_the_place + (len(points) == 1 and abs(points[0] - 12) <= 1)
    print(
        f"D1: {100 * false / histories:.1f} % without cause; +20 %: found in {100 * found / histories:.1f} %, {100 * at_the_place / histories:.1f} % within one"
    )
    assert false <= 0.02 * histories
    assert found >= 0.97 * histories


@pytest.mark.parametrize("length", [10, 20, 40])
def test_unmoved_histories_show_no_change_points(length):
    rng, histories = random.Random(f"unmoved {length}"), 500
    false = sum(bool(change_points([math.exp(rng.gauss(0, 0.05)) for _ in range(length)], margin=0.1)) for _ in range(histories))
    print(f"{length} certificates: {100 * false / histories:.1f} % of histories with a change point")
    assert false <= 0.015 * histories


@pytest.mark.parametrize(("deviation", "earlier", "alike"), [(0.02, 4, 0), (0.05, 4, 0), (0.05, 8, 0), (0.1, 4, 0), (0.05, 4, 10), (0.1, 4, 10)])
def test_the_control_limit_rarely_alarms(deviation, earlier, alike):
    """For each newest certificate; the others of the class have as many."""
    rng, histories, alarms = random.Random(f"{deviation} {earlier} {alike}"), 3000, 0
    for _ in range(histories):
        history, *others = ([math.exp(rng.gauss(0, deviation)) for _ in range(earlier)] for _ in range(1 + alike))
        alarms += earlier in conspicuous_certificates(
            [*history, math.exp(rng.gauss(0, deviation))], margin=0.1, alike=sum(map(scatter_of, others), start=UNKNOWN)
        )
    print(f"{deviation:.0%}, {earlier} earlier ones, {alike} others: {100 * alarms / histories:.2f} % alarms")
    assert alarms <= 0.01 * histories


def test_drift_rarely_gates_without_cause():
    rng, histories = random.Random("gates"), 2000
    gates = 0
    for _ in range(histories):
        figures = [math.exp(rng.gauss(0, 0.05)) for _ in range(9)]
        gates += drift_gates(figures, conspicuous_certificates(figures, margin=0.1))
    print(f"nine certificates: {100 * gates / histories:.2f} % gate")
    assert gates <= 0.002 * histories


@pytest.mark.parametrize("deviation", [0.05, 0.1])
def test_a_volume_of_seven_rows_rarely_drifts_without_cause(deviation):
    """Half of what its runs differ by is common to its rows; the class tells how much that is."""
    rng, volumes, gates = random.Random(f"seven rows {deviation}"), 2000, 0
    alike = Scatter(1000 * deviation**2, 1000)
    for _ in range(volumes):
        runs = [rng.gauss(0, 1) for _ in range(8)]
        rows = [[math.exp(deviation * (common + rng.gauss(0, 1)) / math.sqrt(2)) for common in runs] for _ in range(7)]
        gates += any(drift_gates(row, conspicuous_certificates(row, margin=0.1, alike=alike)) for row in rows)
    print(f"{deviation:.0%}: {100 * gates / volumes:.2f} % of volumes drift")
    assert gates <= 0.003 * volumes


@pytest.mark.parametrize("hosts", [8, 12, 20, 50])
def test_alike_devices_are_rarely_conspicuous(hosts):
    rng, classes = random.Random(f"alike {hosts}"), 1000
    false = sum(bool(likeness({f"h{host}": [math.exp(rng.gauss(0, 0.05))] for host in range(hosts)}, margin=0.1).conspicuous) for _ in range(classes))
    print(f"classes of {hosts}: {100 * false / classes:.1f} % with a conspicuous one")
    assert false <= 0.015 * classes
