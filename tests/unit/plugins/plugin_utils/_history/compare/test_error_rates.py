# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How often comparisons and drift are wrong on simulated fleets and histories, which are the same each time.

    .venv-dev/bin/pytest tests/unit -m trials -rP

shows the rates. Half of the variation between a host's runs is common to its rows. The variation between nights, 3 %
(standard deviation of the difference of two nights), is common to all hosts.
"""

from __future__ import annotations

import datetime
import math
import random
from statistics import fmean, median

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare import change as change_module
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.change import (
    INCONCLUSIVE,
    NON_INFERIOR,
    WORSE,
    Run,
    compare_class,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.change_points import change_points
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.decline import class_decline
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.nights import (
    IN_A_ROW,
    MOST_IN_REFERENCE,
    Figure,
    Watched,
    watch,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._numerics.likeness import likeness

pytestmark = pytest.mark.trials

ROWS = 7
NIGHT_DEVIATION = 0.03 / math.sqrt(2)
SLOWER = math.log(1.3)
SLOW_HOSTS = {"h1", "h2", "h3"}


def runs_of(
    rng: random.Random,
    levels: list[list[float]],
    deviation: float,
    count: int,
    slower: float = 0.0,
    noise: list[float] | None = None,
) -> list[Run]:
    """Return that many runs of hosts with these levels. The latencies of the hosts in SLOW_HOSTS are increased by
    slower, in logarithms. noise contains a factor for the deviation of each host."""
    runs = []
    for _ in range(count):
        night, run = rng.gauss(0, NIGHT_DEVIATION), {}
        for host, level in enumerate(levels):
            spread = deviation * (noise[host] if noise else 1) / math.sqrt(2)
            own = rng.gauss(night, spread) + slower * (f"h{host}" in SLOW_HOSTS)
            run[f"h{host}"] = {row: math.exp(usual + own + rng.gauss(0, spread)) for row, usual in enumerate(level)}
        runs.append(run)
    return runs


def compared(
    rng: random.Random, hosts: int, deviation: float, before: int, after: int, slower: float, share: float = 1.0
) -> dict[str, set[str]]:
    """Return the hosts of a simulated class by outcome."""
    levels = [[rng.gauss(0, 0.1) for _ in range(ROWS)] for _ in range(hosts)]
    change = compare_class(
        runs_of(rng, levels, deviation, before), runs_of(rng, levels, deviation, after, slower), margin=0.1, share=share
    )
    return {
        outcome: {host.host for host in change.hosts if host.outcome == outcome}
        for outcome in (WORSE, NON_INFERIOR, INCONCLUSIVE)
    }


@pytest.mark.parametrize(
    ("deviation", "before", "after", "non_inferior", "all_named"),
    [
        (0.02, 1, 1, (80, 96), (30, 60)),
        (0.02, 2, 2, (97, 100), (100, 100)),
        (0.02, 3, 3, (97, 100), (100, 100)),
        (0.02, 5, 1, (97, 100), (100, 100)),
        (0.05, 1, 1, (25, 50), (0, 5)),
        (0.05, 2, 2, (60, 80), (55, 85)),
        (0.05, 3, 3, (80, 97), (97, 100)),
        (0.05, 5, 1, (55, 80), (10, 45)),
    ],
)
def test_fleets_of_twenty_hosts(deviation, before, after, non_inferior, all_named):
    """In unchanged fleets, hardly any host is reported as worse. If three hosts became 30 % slower, all three are
    reported."""
    name = f"{deviation:.0%}, {before} v {after}"
    rng, fleets = random.Random(name), 100
    unchanged = [compared(rng, 20, deviation, before, after, 0.0) for _ in range(fleets)]
    slowed = [compared(rng, 20, deviation, before, after, SLOWER) for _ in range(fleets)]
    named = sum(bool(hosts[WORSE]) for hosts in unchanged)
    shown = sum(len(hosts[NON_INFERIOR]) for hosts in unchanged) / 20
    found, exactly = (
        sum(hosts[WORSE] >= SLOW_HOSTS for hosts in slowed),
        sum(hosts[WORSE] == SLOW_HOSTS for hosts in slowed),
    )
    print(
        f"{name}: unchanged: a host named in {named} %, {shown:.0f} % of hosts non-inferior; +30 %: all named in "
        f"{found} %, no other in {exactly} %"
    )
    assert named <= 5
    assert non_inferior[0] <= shown <= non_inferior[1]
    assert all_named[0] <= found <= all_named[1]


@pytest.mark.parametrize(
    ("before", "after", "deviation", "noise_deviation", "earlier"),
    [
        (3, 3, 0.05, 0.7, 0),
        (2, 2, 0.05, 0.5, 0),
        (5, 1, 0.05, 0.5, 0),
        (1, 1, 0.02, 0.5, 0),
        (1, 1, 0.02, 0.7, 5),
        (3, 3, 0.05, 0.0, 0),
    ],
)
def test_fleets_of_unequal_noise(before, after, deviation, noise_deviation, earlier):
    """The first case is C2: the noise of the hosts differs by a lognormal factor. The hosts are compared unchanged, and
    with one of them 20 % slower."""
    name = f"C2, {before} v {after}, {deviation:.0%}, noise {noise_deviation}, {earlier} earlier"
    rng, fleets, named, found = random.Random(name), 40, 0, 0
    for _ in range(fleets):
        noise = [math.exp(rng.gauss(0, noise_deviation)) for _ in range(20)]
        levels = [[rng.gauss(0, 0.1) for _ in range(ROWS)] for _ in range(20)]
        runs = [runs_of(rng, levels, deviation, count, noise=noise) for count in (before, after, earlier)]
        slower = [{**run, "h7": {row: figure * 1.2 for row, figure in run["h7"].items()}} for run in runs[1]]
        for side, slow in ((runs[1], False), (slower, True)):
            change = compare_class(runs[0], side, margin=0.1, earlier=[runs[2]] if earlier else [])
            worse = {host.host for host in change.hosts if host.outcome == WORSE}
            named, found = named + (bool(worse) and not slow), found + ("h7" in worse and slow)
    print(f"{name}: unchanged: {named} of {fleets} fleets with a host named; +20 %: found in {found}")
    assert named <= 5


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_fleets_of_five_classes(runs):
    """Each class has its share of the error probability. So in a fleet of several classes, a host is wrongly reported
    as worse no more often than in a fleet of a single class."""
    rng, fleets, classes = random.Random(f"five classes, {runs}"), 100, 5
    for deviation in (0.02, 0.05):
        unchanged = [
            [compared(rng, 20, deviation, runs, runs, 0.0, 1 / classes) for _ in range(classes)] for _ in range(fleets)
        ]
        found = sum(
            compared(rng, 20, deviation, runs, runs, SLOWER, 1 / classes)[WORSE] >= SLOW_HOSTS for _ in range(fleets)
        )
        named = sum(any(each[WORSE] for each in fleet) for fleet in unchanged)
        print(
            f"five classes, {deviation:.0%}, {runs} v {runs}: unchanged: {named} of {fleets} fleets with a host named; "
            f"+30 %: all three named in {found}"
        )
        assert named <= 5
        assert found >= 80 or runs == 1 or (runs, deviation) == (2, 0.05)


@pytest.mark.parametrize(("deviation", "runs"), [(0.02, 2), (0.05, 3)])
def test_c1(deviation, runs):
    """Comparing one run with one would find few slower hosts, because a single run cannot show whether it is an
    outlier. The fleets of twenty hosts show this."""
    rng, fleets = random.Random("C1"), 40
    named = sum(bool(compared(rng, 20, deviation, runs, runs, 0.0)[WORSE]) for _ in range(fleets))
    exactly = sum(compared(rng, 20, deviation, runs, runs, SLOWER)[WORSE] == SLOW_HOSTS for _ in range(fleets))
    print(
        f"C1, {deviation:.0%}, {runs} v {runs}: unchanged: {named} of {fleets} fleets with a host named; +30 %: "
        f"exactly the three in {exactly}"
    )
    assert named <= 2
    assert exactly >= 38


@pytest.mark.parametrize(
    ("deviation", "before", "after", "found_at_least"),
    [(0.02, 3, 3, 95), (0.05, 3, 3, 0), (0.05, 6, 3, 0), (0.02, 1, 1, 0)],
)
def test_fleets_of_four_hosts(deviation, before, after, found_at_least):
    """With so few hosts, the variation of a host is estimated only from its own runs, including all differences between
    nights. If one run is compared with one other, no host is ever reported."""
    name = f"four hosts, {deviation:.0%}, {before} v {after}"
    rng, fleets = random.Random(name), 400
    named = sum(bool(compared(rng, 4, deviation, before, after, 0.0)[WORSE]) for _ in range(fleets)) / fleets
    levels = [[0.0] * ROWS] * 4
    single = [
        compare_class(
            runs_of(rng, levels, deviation, before),
            [{**run, "h1": slow["h1"]} for run, slow in zip(*nights)],
            margin=0.1,
        )
        for nights in (
            (runs_of(rng, levels, deviation, after), runs_of(rng, levels, deviation, after, SLOWER)) for _ in range(100)
        )
    ]
    found = sum([host.host for host in change.hosts if host.outcome == WORSE] == ["h1"] for change in single)
    print(f"{name}: unchanged: a host named in {100 * named:.1f} %; +30 %: exactly the one in {found} %")
    assert named <= (0 if before + after == 2 else 0.05)
    assert found >= found_at_least


def runs_alike(
    rng: random.Random, hosts: int, correlation: float, counts: tuple[int, int], noise_deviation: float
) -> list[list[Run]]:
    """Return two sets of runs that differ by 5 %. Each run resembles the one before it, and the sets are far apart."""
    noise = [0.05 * math.exp(rng.gauss(0, noise_deviation)) / math.sqrt(2) for _ in range(hosts)]
    sets = []
    for count in counts:
        state = [[rng.gauss(0, 1) for _ in range(ROWS + 1)] for _ in range(hosts)]
        runs = []
        for _ in range(count):
            night = rng.gauss(0, NIGHT_DEVIATION)
            runs.append(
                {
                    f"h{host}": {row: math.exp(night + noise[host] * (own[ROWS] + own[row])) for row in range(ROWS)}
                    for host, own in enumerate(state)
                }
            )
            fresh = math.sqrt(1 - correlation**2)
            state = [[correlation * value + fresh * rng.gauss(0, 1) for value in own] for own in state]
        sets.append(runs)
    return sets


@pytest.mark.parametrize("noise_deviation", [0.0, 0.5])
@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("counts", [(2, 2), (3, 3), (5, 1), (5, 5)])
@pytest.mark.parametrize("hosts", [20, 5])
def test_fleets_whose_runs_are_alike(hosts, counts, correlation, noise_deviation, monkeypatch):
    """A host is rarely named in an unchanged fleet, up to a correlation of 0.6. With 0.9, this also holds for a class,
    but not for five hosts. How many more runs would decide is not needed here, and takes most of the time."""
    monkeypatch.setattr(change_module, "_runs_needed", lambda *_: None)
    name = f"alike, {hosts} hosts, {counts[0]} v {counts[1]}, correlation {correlation}, noise {noise_deviation}"
    rng, fleets, slowed = random.Random(name), 200, 40
    named, found = 0, {1.2: 0, 1.5: 0}
    for fleet in range(fleets):
        before, after = runs_alike(rng, hosts, correlation, counts, noise_deviation)
        change = compare_class(before, after, margin=0.1)
        named += any(host.outcome == WORSE for host in change.hosts)
        for factor in found if fleet < slowed else ():
            slow = [{**run, "h3": {row: factor * figure for row, figure in run["h3"].items()}} for run in after]
            change = compare_class(before, slow, margin=0.1)
            found[factor] += any(host.host == "h3" and host.outcome == WORSE for host in change.hosts)
    shown = ", ".join(f"+{factor - 1:.0%} {100 * count / slowed:.0f} %" for factor, count in found.items())
    print(f"{name}: unchanged: a host named in {100 * named / fleets:.1f} %; found: {shown}")
    if correlation <= 0.6 or hosts == 20:
        assert named <= 0.07 * fleets


def test_d1():
    rng, histories, false, found, at_the_place = random.Random("D1"), 300, 0, 0, 0
    for _ in range(histories):
        values = [rng.gauss(0, 0.05) for _ in range(20)]
        false += bool(change_points([math.exp(value) for value in values], margin=0.1))
        moved = [rng.gauss(0, 0.05) + math.log(1.2) * (place >= 12) for place in range(20)]
        points = [point.place for point in change_points([math.exp(value) for value in moved], margin=0.1)]
        found, at_the_place = found + bool(points), at_the_place + (len(points) == 1 and abs(points[0] - 12) <= 1)
    print(
        f"D1: {100 * false / histories:.1f} % without cause; +20 %: found in {100 * found / histories:.1f} %, "
        f"{100 * at_the_place / histories:.1f} % within one"
    )
    assert false <= 0.02 * histories
    assert found >= 0.97 * histories


@pytest.mark.parametrize("length", [10, 20, 40])
def test_unmoved_histories_show_no_change_points(length):
    rng, histories = random.Random(f"unmoved {length}"), 500
    false = sum(
        bool(change_points([math.exp(rng.gauss(0, 0.05)) for _ in range(length)], margin=0.1)) for _ in range(histories)
    )
    print(f"{length} certificates: {100 * false / histories:.1f} % of histories with a change point")
    assert false <= 0.015 * histories


def year_of(
    rng: random.Random,
    deviation: float,
    nights: int,
    *,
    correlation: float = 0.0,
    night_deviation: float = 0.02,
    unequal: float = 0.0,
    volumes: int = 20,
    slow=lambda night, volume: 0.0,
):
    """Return the nights of a class of volumes of seven rows: half of the variation between a volume's runs is common to
    its rows. The noise of the volumes differs by a lognormal factor with the deviation ``unequal``."""
    state = [[rng.gauss(0, 1) for _ in range(8)] for _ in range(volumes)]
    noise = [deviation * math.exp(rng.gauss(0, unequal)) for _ in range(volumes)]
    found = []
    for night in range(nights):
        common, members = rng.gauss(0, night_deviation), {}
        for volume, own in enumerate(state):
            own[:] = [correlation * value + math.sqrt(1 - correlation**2) * rng.gauss(0, 1) for value in own]
            level = common + slow(night, volume)
            members[volume] = {
                row: Figure(level + noise[volume] * (own[7] + own[row]) / math.sqrt(2)) for row in range(ROWS)
            }
        found.append(members)
    return found


def alarms_of(watched: Watched) -> int:
    """Return how often a volume fails the gate, counting each period once."""
    count = 0
    for volume in range(20):
        by_row = [set(nights) for key, nights in watched.conspicuous.items() if key[0] == volume]
        gates = sorted({night for nights in by_row for night in nights if night - 1 in nights})
        count += sum(night - 1 not in gates for night in gates)
    return count


def days_of(nights: list, every: int = 1) -> list[datetime.date]:
    """Return the days of nights that follow one another after a number of days."""
    return [datetime.date(2026, 1, 1) + datetime.timedelta(days=every * night) for night in range(len(nights))]


def level_of(nights: list) -> list:
    """Return nights with the mean over the rows as their only row. A class is judged by nothing else."""
    return [
        {volume: {0: Figure(fmean(figure.value for figure in rows.values()))} for volume, rows in night.items()}
        for night in nights
    ]


def weekend(night: int, volume: int) -> float:
    """Three volumes are 30 % slower on two days of the week."""
    return SLOWER * (volume < 3 and night % 7 in (2, 3))


@pytest.mark.parametrize("slow", [lambda night, volume: 0.0, weekend], ids=["even", "weekends"])
@pytest.mark.parametrize(
    ("deviation", "correlation", "unequal"),
    [(0.02, 0, 0), (0.05, 0, 0), (0.1, 0, 0), (0.05, 0.6, 0), (0.1, 0.6, 0)]
    + [(0.05, 0, 0.5), (0.05, 0, 0.7), (0.05, 0.6, 0.5), (0.05, 0.6, 0.7)],
)
def test_fleets_rarely_drift_without_cause(deviation, correlation, unequal, slow):
    """The rates are per year of 365 nights, for 20 volumes."""
    name, years = f"year {deviation} {correlation} {unequal} {slow is weekend}", 4
    rng, alarms, slow_nights, declines = random.Random(name), 0, 0, 0
    for _ in range(years):
        nights = year_of(rng, deviation, 365, correlation=correlation, unequal=unequal, slow=slow)
        watched = watch(nights, margin=0.1, days=days_of(nights))
        alarms += alarms_of(watched)
        slow_nights += sum(night.slow for night in watched.fleet.values())
        declines += class_decline(nights, days_of(nights), watched.references, margin=0.1) is not None
    print(
        f"{name}: {alarms / years:.1f} alarms of volumes and {slow_nights / years:.1f} slow nights of the fleet per "
        f"year; {declines} of {years} classes declined in the end"
    )
    assert alarms <= 2 * years
    assert declines <= 1


@pytest.mark.parametrize("every", [7, 1])
@pytest.mark.parametrize("volumes", [3, 8, 20])
@pytest.mark.parametrize("deviation", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("a_week", [0.005, 0.01, 0.02, None])
def test_a_class_that_becomes_slower_is_found(every, volumes, deviation, a_week):
    """It declines from the first night on or, if a_week is None, becomes 10 % slower at once after 12 weeks."""
    name, classes, weeks, begin = f"class {every} {volumes} {deviation} {a_week}", 10, 60, 0 if a_week else 12
    rng, found = random.Random(name), []

    def slow(night, volume):
        week = night * every / 7
        return week * math.log1p(a_week) if a_week else math.log(1.1) * (week >= begin)

    for _ in range(classes):
        nights = level_of(year_of(rng, deviation, weeks * 7 // every, volumes=volumes, slow=slow))
        days, references = days_of(nights, every), watch(nights[:MOST_IN_REFERENCE], margin=0.1).references
        ends = ((week, week * 7 // every) for week in range(begin + 1, weeks + 1))
        found.append(
            next(
                (week - begin for week, end in ends if class_decline(nights[:end], days[:end], references, margin=0.1)),
                math.inf,
            )
        )
    print(f"{name}: found after {median(found):g} weeks ({min(found):g} to {max(found):g})")
    assert median(found) <= (30 if a_week == 0.005 else 22)


@pytest.mark.parametrize(("correlation", "unequal"), [(0, 0), (0, 0.7), (0.6, 0), (0.6, 0.7)])
@pytest.mark.parametrize("volumes", [3, 20])
def test_a_weekly_class_rarely_declines_without_cause(volumes, correlation, unequal):
    """The class is judged after each of 104 weeks."""
    name, classes = f"weekly class {volumes} {correlation} {unequal}", 10
    rng, alarms = random.Random(name), 0
    for _ in range(classes):
        nights = level_of(year_of(rng, 0.1, 104, correlation=correlation, unequal=unequal, volumes=volumes))
        days, references = days_of(nights, 7), watch(nights[:MOST_IN_REFERENCE], margin=0.1).references
        gates = [class_decline(nights[:week], days[:week], references, margin=0.1) is not None for week in range(105)]
        alarms += sum(after and not before for before, after in zip(gates, gates[1:]))
    print(f"{name}: {alarms / classes / 2:.2f} alarms of a class per year")
    assert alarms / classes / 2 <= 1


@pytest.mark.parametrize("volumes", [1, 8, 20])
@pytest.mark.parametrize("deviation", [0.02, 0.05, 0.1])
def test_a_single_volume_that_creeps_is_found(volumes, deviation):
    """It becomes 1 % slower with each weekly certificate."""
    name, classes = f"creeping {volumes} {deviation}", 10
    rng, found = random.Random(name), []
    for _ in range(classes):
        nights = year_of(
            rng, deviation, 60, volumes=volumes, slow=lambda night, volume: night * math.log(1.01) * (volume == 0)
        )
        watched = watch(nights, margin=0.1, days=days_of(nights, 7))
        rows = [set(places) for key, places in watched.conspicuous.items() if key[0] == 0]
        found.append(min((night for own in rows for night in own if night - 1 in own), default=math.inf))
    print(f"{name}: found after {median(found):g} certificates ({min(found):g} to {max(found):g})")
    assert median(found) <= 45


@pytest.mark.parametrize(("slower", "required"), [(0.2, 95), (0.12, 40)])
def test_d2(slower, required):
    """If two nights are slow for the whole fleet, there is one alarm for the fleet, and none for a volume."""
    rng, fleets = random.Random(f"D2 {slower}"), 100
    watched = [
        watch(year_of(rng, 0.05, 32, slow=lambda night, volume: math.log1p(slower) * (night >= 30)), margin=0.1)
        for _ in range(fleets)
    ]
    gates, volumes = sum(each.gates for each in watched), sum(bool(alarms_of(each)) for each in watched)
    print(f"D2, +{slower:.0%} for two nights: the fleet gates in {gates} %, a volume in {volumes} %")
    assert gates >= required
    assert volumes <= 1


@pytest.mark.parametrize(("deviation", "slower", "nights", "required"), [(0.05, 0.3, 2, 97), (0.1, 0.3, 3, 8)])
def test_a_volume_that_became_slower_is_found(deviation, slower, nights, required):
    rng, fleets, found = random.Random(f"found {deviation} {slower}"), 100, 0
    for _ in range(fleets):
        watched = watch(
            year_of(
                rng,
                deviation,
                30 + nights,
                slow=lambda night, volume: math.log1p(slower) * (night >= 30 and volume == 3),
            ),
            margin=0.1,
        )
        runs = [set(places) for key, places in watched.conspicuous.items() if key[0] == 3]
        found += any(night - IN_A_ROW + 1 in own for own in runs for night in own if night >= 30)
    print(f"{deviation:.0%}, one volume +{slower:.0%}: found within {nights} nights in {found} %")
    assert found >= required


@pytest.mark.parametrize("hosts", [8, 12, 20, 50])
def test_alike_devices_are_rarely_conspicuous(hosts):
    rng, classes = random.Random(f"alike {hosts}"), 1000
    false = sum(
        bool(likeness({f"h{host}": [math.exp(rng.gauss(0, 0.05))] for host in range(hosts)}, margin=0.1).conspicuous)
        for _ in range(classes)
    )
    print(f"classes of {hosts}: {100 * false / classes:.1f} % with a conspicuous one")
    assert false <= 0.015 * classes
