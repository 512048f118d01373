# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines which hosts of a class of similar volumes became worse between two sets of runs, by how much, and with
what certainty.

The unit of observation is one run of a host, never a round or a second of the run. A change is compared with the
differences between runs of the same disk. If all hosts of a class change in the same way, for example during one night,
this is not a single host's fault. Therefore, a host is named as worse only because of its change beyond the median of
its class. Non-inferiority must be shown by the unadjusted change, so that a change that slows all hosts equally is not
ignored. Everything is computed from logarithms.

Some hosts are noisier than others. A host has few runs, so the estimate of its noise is shifted towards the noise of
its class (moderation.py). Runs often resemble the run before them, so the errors are widened by the correlation of
successive runs, which is found from all hosts of a class together (correlation.py).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median, stdev

from ....module_utils._units import format_ratio
from ..._numerics import student_t
from ..._numerics.correlation import Counts, correlation_of_differences, correlation_of_successive, widening
from ..._numerics.likeness import FEWEST_ALIKE, MAD_TO_DEVIATION
from ..._numerics.moderation import Spread, moderated
from ..._run.verdicts import INCONCLUSIVE

WORSE = "worse"
NON_INFERIOR = "non-inferior"

Row = Hashable
"""The block size and load point, which identify a row in every run."""
Run = Mapping[str, Mapping[Row, float]]
"""The figures of each host's rows. Higher means worse, so the reciprocal must be used for a rate."""
Vector = list[float]
"""A logarithm for each row."""

_LEAST_DEVIATION = 0.005
"""The smallest difference assumed between two runs of the same disk, even if a few runs differ less."""
_FEWEST_DEGREES = 4
"""The degrees of freedom that are needed to estimate from a host's own runs how much they differ."""
_FEWEST_EARLIER = 5
"""A host must have this many earlier runs before they are used to estimate its noise."""
_MOST_DEGREES_OF_SINGLE_RUNS = 4
_MOST_DEGREES_OF_A_SINGLE_RUN = 8
"""The upper bound of the degrees of freedom for naming a host if one or both sides have only a single run. Without a
second run, an outlier cannot be recognized."""
_DEGREES_OF_ONE_CHANGE = 3
_POWER = 0.8
_MOST_RUNS = 20
"""If a host would need more than this many runs before and after, its change is too close to the margin to be decided
by any number of runs."""


@dataclass(frozen=True)
class Deviation:
    """A standard error, as a logarithm, and its degrees of freedom. Fewer degrees of freedom may be used for naming a
    host."""

    size: float
    degrees: float
    naming_degrees: float


@dataclass(frozen=True)
class Error:
    """The standard errors of a host's change: of the mean over its rows, and of each row."""

    host: Deviation
    rows: tuple[Deviation, ...]


@dataclass(frozen=True)
class HostChange:
    """The result of the comparison for a host. Changes are shares: 0.1 is 10 % more.

    ``change`` is the mean over the rows, ``bound`` is its upper confidence bound, ``beyond_class`` is the change minus
    that of the class, and ``worst_row`` is the row with the largest change beyond its class. ``smallest_named`` is the
    smallest change that would have been named with a probability of 80 %. ``error``, ``bound``, ``p_value`` and
    ``smallest_named`` are None if it is unknown how much the host's runs differ. ``runs_needed`` is the number of runs
    that each side needs for a decision if the change remains the same. ``after_needed`` is the number of runs that are
    needed after the change if none are added before it. Both are None if the result of the host is decided, or if no
    number of runs can decide it. ``reason`` states why there is no result.
    """

    host: str
    outcome: str
    runs_before: int
    runs_after: int
    change: float | None = None
    bound: float | None = None
    beyond_class: float | None = None
    worst_row: Row = None
    worst_row_change: float | None = None
    p_value: float | None = None
    error: Error | None = None
    smallest_named: float | None = None
    runs_needed: int | None = None
    after_needed: int | None = None
    reason: str = ""

    @property
    def lower_bound(self) -> float | None:
        """The lower confidence bound of the change. On the logarithmic scale, its distance from the change is the same
        as that of the upper bound."""
        return None if self.bound is None or self.change is None else (1 + self.change) ** 2 / (1 + self.bound) - 1


@dataclass(frozen=True)
class ClassChange:
    """The result of the comparison for a class: its hosts, and the mean change of the hosts that are not worse, with
    lower and upper confidence bounds.

    The result is about these two sets of nights only. To distinguish the change from the effect of a single night,
    several nights are needed on each side, in alternation. ``shift`` is the median change of each row, with which hosts
    are compared. It is empty if there are too few hosts. The bounds are None if fewer than two hosts are left.
    ``correlation`` is that of successive runs, by which the errors are widened. It is None if the error rests on the
    changes of the hosts alone. If it is not known from the runs, it is mostly assumed.
    """

    hosts: tuple[HostChange, ...]
    shift: Mapping[Row, float]
    change: float | None = None
    lower_bound: float | None = None
    upper_bound: float | None = None
    non_inferior: bool = False
    correlation: float | None = None
    correlation_is_known: bool = True


def compare_class(
    before: Sequence[Run],
    after: Sequence[Run],
    *,
    margin: float,
    alpha: float = 0.05,
    share: float = 1.0,
    earlier: Sequence[Sequence[Run]] = (),
) -> ClassChange:
    """Compare the runs after a change with the runs before it, for the hosts of one class.

    All runs must be undisturbed, meet their limits, and have the same method version and sweep parameters. If at least
    eight hosts are in every run, the variation between runs is estimated from these hosts, and other hosts are not
    compared. Otherwise, it is estimated from each host's own runs. Runs of earlier periods, which are in neither set,
    improve this estimate. Only runs of the same period are compared with each other. ``margin`` is the change that
    matters: 0.1 is 10 %. If no host has changed, the probability that any host is named is at most ``alpha`` times
    ``share``. The share of a class is its fraction of all hosts that are compared at the same time, so that ``alpha``
    holds for the whole fleet. Raises ValueError if a host or run has different rows, or if a figure is not above 0.
    """
    rows = _common_rows([*before, *after, *(run for period in earlier for run in period)])
    hosts = [
        _read(name, rows, before, after, earlier)
        for name in sorted({name for run in (*before, *after) for name in run})
    ]
    complete = [host for host in hosts if (len(host.before), len(host.after)) == (len(before), len(after))]
    if before and after and len(complete) >= FEWEST_ALIKE:
        shift, questions = _hold_against_class(complete, _nights(earlier))
        noise = questions[0].noise
        correlation, is_known = noise.correlation if noise.within else None, True
    else:
        complete = [host for host in hosts if host.before and host.after]
        correlation, is_known = _of_successive(complete)
        shift, questions = [], [_hold_against_itself(host, correlation) for host in complete]
    doubt = _Doubt(alpha, alpha * share, len(questions))
    changes = _judge(questions, rows, math.log1p(margin), doubt)
    names = {host.name for host in complete}
    missing = [_not_compared(host, len(before), len(after)) for host in hosts if host.name not in names]
    shifts = dict(zip(rows, map(math.expm1, shift)))
    found = _of_the_class(sorted(changes + missing, key=lambda change: change.host), shifts, margin, alpha)
    return replace(found, correlation=correlation, correlation_is_known=is_known)


def holm(p_values: Sequence[float], alpha: float) -> list[bool]:
    """Return which of several hypotheses are rejected so that the probability of any wrong rejection is at most alpha
    (Holm)."""
    rejected = [False] * len(p_values)
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[place] > alpha / (len(p_values) - rank):
            break
        rejected[place] = True
    return rejected


@dataclass(frozen=True)
class _Host:
    """A host's runs, as logarithms."""

    name: str
    before: list[Vector]
    after: list[Vector]
    earlier: list[list[Vector]]

    @property
    def change(self) -> Vector:
        return [fmean(after) - fmean(before) for before, after in zip(zip(*self.before), zip(*self.after))]


@dataclass(frozen=True)
class _Doubt:
    """The accepted probability that a host is shown to be non-inferior by chance (bound), or that any host of a class
    is named by chance (naming)."""

    bound: float
    naming: float
    hosts: int


@dataclass(frozen=True)
class _Noise:
    """The variation between runs of a host: the standard deviations of the mean over the rows (host) and of each row,
    and their degrees of freedom.

    ``common_degrees`` are the degrees of freedom that do not come from the compared runs; None if only one change of
    each host is known. In that case, ``alike`` is the number of these hosts. ``within`` are the sets of runs from which
    the variation is known, and the correlations are those of successive runs: of the mean and of the rows.
    """

    host: float
    rows: tuple[float, ...]
    common_degrees: tuple[float, ...] | None
    alike: int = 1
    within: Counts = field(default_factory=dict)
    correlation: float = 0.0
    row_correlation: float = 0.0

    def error(self, before: int, after: int) -> Error | None:
        """Return the error of a change between the given numbers of runs, or None if there are too few runs to
        determine it."""
        scale = math.sqrt(1 / before + 1 / after)
        most = (
            {1: _MOST_DEGREES_OF_A_SINGLE_RUN, 2: _MOST_DEGREES_OF_SINGLE_RUNS}.get((before, after).count(1), math.inf)
            if self.alike > 1
            else math.inf
        )
        wide, wide_rows = (
            math.sqrt(widening(before, after, self.within, each)) for each in (self.correlation, self.row_correlation)
        )
        found = []
        for place, deviation in enumerate((self.host, *self.rows)):
            degrees = self._degrees(before + after - 2, place)
            if self.alike == 1 and degrees < _FEWEST_DEGREES:
                return None
            size = scale * (wide_rows if place else wide) * max(_LEAST_DEVIATION, deviation)
            found.append(Deviation(size, degrees, min(most, degrees)))
        return Error(found[0], tuple(found[1:]))

    def _degrees(self, own: int, place: int) -> float:
        if self.common_degrees is not None:
            return own + self.common_degrees[min(place, len(self.common_degrees) - 1)]
        return own * (self.alike - 1) if own else _DEGREES_OF_ONE_CHANGE


@dataclass(frozen=True)
class _Question:
    """A host whose change is to be judged: the change of the mean, and of each row beyond the change of its class."""

    host: _Host
    beyond: float
    beyond_rows: Vector
    noise: _Noise

    def p_value(self, error: Error | None) -> float:
        """Return the probability that a change of this size occurs by chance. Half of the error probability is used for
        the mean, and half for the rows."""
        if error is None:
            return 1.0
        mean = _probability(self.beyond, error.host)
        row = min(_probability(beyond, deviation) for beyond, deviation in zip(self.beyond_rows, error.rows))
        return min(1.0, 2 * min(mean, len(self.beyond_rows) * row))

    def matters(self, delta: float) -> bool:
        return max(self.beyond, *self.beyond_rows) >= delta

    def bound(self, error: Error, alpha: float) -> float:
        """Return the upper bound of the unadjusted change, so that a change that slows all hosts equally is not
        ignored."""
        return fmean(self.host.change) + student_t.quantile(1 - alpha, error.host.degrees) * error.host.size


def _probability(beyond: float, deviation: Deviation) -> float:
    return student_t.upper_tail(beyond / deviation.size, deviation.naming_degrees)


def _common_rows(runs: Sequence[Run]) -> list[Row]:
    """Return the rows that each host has in each run."""
    first: Mapping[Row, float] | None = None
    for run in runs:
        for name, figures in run.items():
            first = figures if first is None else first
            if not figures or figures.keys() != first.keys():
                raise ValueError(
                    f"{name} has {len(figures)} rows in a run, but they are not the {len(first)} "
                    "rows that the first host has."
                )
            if not all(0 < figure < math.inf for figure in figures.values()):
                raise ValueError(f"{name} has a figure that is not above 0 in a run.")
    return list(first or ())


def _read(
    name: str, rows: Sequence[Row], before: Sequence[Run], after: Sequence[Run], earlier: Sequence[Sequence[Run]]
) -> _Host:
    own = [
        [[math.log(run[name][row]) for row in rows] for run in runs if name in run]
        for runs in (before, after, *earlier)
    ]
    return _Host(name, own[0], own[1], own[2:])


def _nights(earlier: Sequence[Sequence[Run]]) -> list[list[dict[str, Vector]]]:
    """Return the earlier runs by period: for each run, the deviation of each host from the common value of the class.
    Runs with too few hosts are left out, because their common value cannot be determined.
    """
    return [[_off_the_class(run) for run in period if len(run) >= FEWEST_ALIKE] for period in earlier]


def _off_the_class(run: Run) -> dict[str, Vector]:
    logarithms = {name: [math.log(figure) for figure in figures.values()] for name, figures in run.items()}
    common = [median(column) for column in zip(*logarithms.values())]
    return {name: [value - usual for value, usual in zip(vector, common)] for name, vector in logarithms.items()}


def _hold_against_class(
    hosts: Sequence[_Host], nights: Sequence[Sequence[Mapping[str, Vector]]]
) -> tuple[Vector, list[_Question]]:
    """Return the shift of the class, and for each host, its change beyond the shift and the variation between its
    runs."""
    changes = [host.change for host in hosts]
    shift = [median(column) for column in zip(*changes)]
    beyond_rows = [[change - common for change, common in zip(row, shift)] for row in changes]
    means = [fmean(row) for row in beyond_rows]
    middle = median(means)
    beyond = [mean - middle for mean in means]
    noises = _noises_of_class(hosts, nights)
    if noises:
        noises = _widened(noises, hosts, beyond, beyond_rows)
    else:
        noises = [_noise_of_one_change(beyond, beyond_rows)] * len(hosts)
    return shift, [_Question(*parts) for parts in zip(hosts, beyond, beyond_rows, noises)]


def _widened(
    noises: Sequence[_Noise], hosts: Sequence[_Host], beyond: Sequence[float], beyond_rows: Sequence[Vector]
) -> list[_Noise]:
    """Return the variation between runs together with the correlation of successive runs. Runs that resemble the run
    before them show too little variation, so the changes of most hosts of the class are larger than it explains."""
    before, after = len(hosts[0].before), len(hosts[0].after)
    errors = [noise.error(before, after) for noise in noises]
    known = [error for error in errors if error is not None]
    of_hosts = [change / error.host.size for change, error in zip(beyond, known)]
    of_rows = [
        change / deviation.size
        for changes, error in zip(beyond_rows, known)
        for change, deviation in zip(changes, error.rows)
    ]
    mean, row = (
        correlation_of_differences(each, before, after, noises[0].within, len(hosts)) for each in (of_hosts, of_rows)
    )
    return [replace(noise, correlation=max(mean, row), row_correlation=row) for noise in noises]


def _noise_of_one_change(beyond: Sequence[float], beyond_rows: Sequence[Vector]) -> _Noise:
    """Return the variation between runs, estimated from the variation between the changes of hosts. Most of these
    changes have no specific cause."""
    alike = len(beyond)
    scale = MAD_TO_DEVIATION * alike / (alike - 0.8) / math.sqrt(2)  # a change is the difference between two runs
    row = scale * median(abs(value) for values in beyond_rows for value in values)
    return _Noise(scale * median(map(abs, beyond)), (row,) * len(beyond_rows[0]), None, alike)


def _noises_of_class(hosts: Sequence[_Host], nights: Sequence[Sequence[Mapping[str, Vector]]]) -> list[_Noise]:
    """Return how much the runs of each host differ from one another, after subtracting the common value of the class in
    each run.

    This is the estimate from the host's own runs, moved towards the estimate of its class. It is empty if no host has
    two runs of one set.
    """
    sets: list[list[list[Vector]]] = [[] for host in hosts]
    for runs_of_hosts in ([host.before for host in hosts], [host.after for host in hosts]):
        common = [[median(column) for column in zip(*vectors)] for vectors in zip(*runs_of_hosts)]
        for own, runs in zip(sets, runs_of_hosts):
            own.append([[value - usual for value, usual in zip(*pair)] for pair in zip(runs, common)])
    compared = len(hosts[0].before) + len(hosts[0].after) - 2
    for own, host in zip(sets, hosts):
        earlier = [[night[host.name] for night in period if host.name in night] for period in nights]
        own += [runs for runs in earlier if runs] if sum(map(len, earlier)) >= _FEWEST_EARLIER else []
    degrees = [sum(len(runs) - 1 for runs in own) for own in sets]
    if not any(degrees):
        return []
    bias = len(hosts) / (len(hosts) - 1)  # because each host contributes to the subtracted median
    squares = [[math.fsum(column) for column in zip(*map(_squares, own))] for own in sets]
    spreads = [[Spread(bias * square / max(1, count), count) for square in row] for row, count in zip(squares, degrees)]
    means = moderated([row[0] for row in spreads], len(hosts))
    rows = moderated([spread for row in spreads for spread in row[1:]], len(hosts))
    count = len(spreads[0]) - 1
    within = Counter(len(runs) for own in sets for runs in own)
    noises = []
    for place, mean in enumerate(means):
        own_rows = rows[place * count : (place + 1) * count]
        known = [mean, *own_rows]
        deviations = [math.sqrt(spread.variance) for spread in known]
        noises.append(
            _Noise(
                deviations[0],
                tuple(deviations[1:]),
                tuple(spread.degrees - compared for spread in known),
                len(hosts),
                within,
            )
        )
    return noises


def _of_successive(hosts: Sequence[_Host]) -> tuple[float, bool]:
    """Return the correlation of successive runs of some hosts, and whether their runs show it."""
    return correlation_of_successive(
        [fmean(run) for run in runs] for host in hosts for runs in (host.before, host.after, *host.earlier)
    )


def _hold_against_itself(host: _Host, correlation: float) -> _Question:
    """Return the host's unadjusted change, and how much its own runs differ."""
    sets = [runs for runs in (host.before, host.after, *host.earlier) if runs]
    degrees, rows = sum(len(runs) - 1 for runs in sets), len(host.before[0])
    earlier_degrees = degrees - (len(host.before) + len(host.after) - 2)
    of_mean, *of_rows = (math.fsum(squares) for squares in zip(*map(_squares, sets)))
    row = math.sqrt(math.fsum(of_rows) / (max(1, degrees) * rows))
    noise = _Noise(
        math.sqrt(of_mean / max(1, degrees)),
        (row,) * rows,
        (earlier_degrees,),
        1,
        Counter(map(len, sets)),
        correlation,
        correlation,
    )
    return _Question(host, fmean(host.change), host.change, noise)


def _squares(runs: Sequence[Vector]) -> list[float]:
    """Return the sums of squares of runs around their mean, for the mean over the rows and for each row."""
    return [math.fsum(_squared_deviations(values)) for values in (map(fmean, runs), *zip(*runs))]


def _squared_deviations(values: Iterable[float]) -> list[float]:
    values = list(values)
    mean = fmean(values)
    return [(value - mean) ** 2 for value in values]


def _judge(questions: Sequence[_Question], rows: Sequence[Row], delta: float, doubt: _Doubt) -> list[HostChange]:
    """Return the result for each host: named as worse by Holm's procedure among all of them, shown to be non-inferior,
    or neither."""
    errors = [question.noise.error(len(question.host.before), len(question.host.after)) for question in questions]
    p_values = [question.p_value(error) for question, error in zip(questions, errors)]
    return [
        _judge_host(question, error, p_value, named, rows, delta, doubt)
        for question, error, p_value, named in zip(questions, errors, p_values, holm(p_values, doubt.naming))
    ]


def _judge_host(
    question: _Question,
    error: Error | None,
    p_value: float,
    named: bool,
    rows: Sequence[Row],
    delta: float,
    doubt: _Doubt,
) -> HostChange:
    host, bound = question.host, None if error is None else question.bound(error, doubt.bound)
    shown = bound is not None and bound <= delta
    outcome = WORSE if named and question.matters(delta) else NON_INFERIOR if shown else INCONCLUSIVE
    needed, after_needed = (
        _runs_needed(question, error, delta, doubt, most) if outcome == INCONCLUSIVE else None
        for most in (_MOST_RUNS, len(host.before))
    )
    worst = max(range(len(rows)), key=question.beyond_rows.__getitem__)
    return HostChange(
        host.name,
        outcome,
        len(host.before),
        len(host.after),
        change=math.expm1(fmean(host.change)),
        bound=None if bound is None else math.expm1(bound),
        beyond_class=math.expm1(question.beyond),
        worst_row=rows[worst],
        worst_row_change=math.expm1(question.beyond_rows[worst]),
        p_value=None if error is None else p_value,
        error=error,
        smallest_named=None if error is None else _smallest_named(error, doubt),
        runs_needed=needed,
        after_needed=after_needed,
        reason=_too_few_runs(host, delta, needed) if error is None else "",
    )


def _smallest_named(error: Error, doubt: _Doubt) -> float:
    """Return the smallest change of a host's mean that would have been named with a probability of 80 %."""
    degrees = error.host.naming_degrees
    first, power = (
        student_t.quantile(1 - doubt.naming / (2 * doubt.hosts), degrees),
        student_t.quantile(_POWER, degrees),
    )
    return math.expm1((first + power) * error.host.size)


def _runs_needed(question: _Question, error: Error | None, delta: float, doubt: _Doubt, most_before: int) -> int | None:
    """Return how many runs each side needs for a decision if the changes and the noise remain the same. If the noise is
    unknown, return how many runs are needed to estimate it. There can be at most ``most_before`` runs before the
    change."""
    before, after = len(question.host.before), len(question.host.after)
    for runs in range(1 + min(before, after), 1 + _MOST_RUNS):
        then = question.noise.error(max(before, min(runs, most_before)), max(after, runs))
        if then is None:
            continue
        named = question.matters(delta) and question.p_value(then) <= doubt.naming / doubt.hosts
        if error is None or named or question.bound(then, doubt.bound) <= delta:
            return runs
    return None


def _too_few_runs(host: _Host, delta: float, needed: int | None) -> str:
    """Return the reason why a change of a host cannot be distinguished from the differences between its runs."""
    before, after = len(host.before), len(host.after)
    margin = format_ratio(math.expm1(delta))
    enough = f"; {max(before, needed)} before and {max(after, needed)} after can" if needed else ""
    if before == after == 1:
        return (
            f"one run before and one after cannot distinguish {margin} from the difference between two "
            f"runs of the same disk{enough}"
        )
    return (
        f"{count_runs(before)} before and {after} after cannot distinguish {margin} from the difference between "
        f"runs of the same disk{enough}"
    )


def count_runs(count: int) -> str:
    """Return a number of runs as text."""
    return "1 run" if count == 1 else f"{count} runs"


def _not_compared(host: _Host, before: int, after: int) -> HostChange:
    reason = f"it took part in {len(host.before)} of {count_runs(before)} before and {len(host.after)} of {after} after"
    return HostChange(host.name, INCONCLUSIVE, len(host.before), len(host.after), reason=reason)


def _of_the_class(hosts: Sequence[HostChange], shift: Mapping[Row, float], margin: float, alpha: float) -> ClassChange:
    """Return the results of the hosts, together with the mean change of those that are not worse."""
    changes = [math.log1p(host.change) for host in hosts if host.change is not None and host.outcome != WORSE]
    if len(changes) < 2:
        return ClassChange(tuple(hosts), shift, math.expm1(changes[0]) if changes else None)
    mean = fmean(changes)
    half_width = student_t.quantile(1 - alpha, len(changes) - 1) * stdev(changes) / math.sqrt(len(changes))
    lower, upper = math.expm1(mean - half_width), math.expm1(mean + half_width)
    return ClassChange(tuple(hosts), shift, math.expm1(mean), lower, upper, upper <= margin)
