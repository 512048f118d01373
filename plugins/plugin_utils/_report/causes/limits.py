# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turns limits that hosts do not meet into causes. Each cause is a limit with the hosts that do not meet it for the
same reason."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ..._english.findings import in_words
from ..._english.limits import why_text
from ..._english.phrases import phrase
from ..._judge.metrics import MARGIN, NOT_STARTED
from ..._run.columns import ALL_WORKERS
from ..._run.findings import (
    BROKEN,
    DISTURBED,
    ENDED_EARLY,
    HUNG,
    NO_FIGURE,
    NO_HEADROOM,
    NO_ROW,
    NO_TARGET,
    OPEN,
    WAIVED,
)
from ..._run.kinds import KINDS
from ..._run.verdicts import FAIL, GOOD, PASS
from ..._run.words import Words
from ..folding import and_list, fold_names, fold_sizes, shorten
from ..model import Host, JudgedRow, Model
from ..series import LimitEntry, at_worst, operations_text, worst_text
from . import advice
from .cause import count, instead, unexplained
from .consequences import consequence_of

NotKept = tuple[Host, dict[str, Any], tuple[JudgedRow, ...]]
"""A host, the entry of a limit that the host does not meet, and the rows with the same verdict as the entry, worst
first."""


@dataclass(slots=True)
class LimitGroup:
    """A limit, and the hosts that break it or leave it undecided for the same kind of reason. Each host has its entry
    of the limit and the rows with the same verdict, worst first."""

    limit: LimitEntry
    verdict: str
    why: str
    on: list[NotKept] = field(default_factory=list)
    also: list[str] = field(default_factory=list)
    on_others: list[NotKept] = field(default_factory=list)

    def restricted(self, labels: Container[str]) -> LimitGroup:
        """Return the group with only those of its hosts that have the given labels. The group must not have been merged
        with others."""
        return LimitGroup(self.limit, self.verdict, self.why, [each for each in self.on if each[0].label in labels])

    @property
    def hosts(self) -> list[Host]:
        """The hosts without duplicates, worst first."""
        return list({host.label: host for host, limit, rows in self.on}.values())

    @property
    def text(self) -> str:
        if self.why == OPEN:
            return fold_list([self.limit["limit"], *self.also])
        return f"{self.limit['limit']} (and {fold_list(self.also)})" if self.also else self.limit["limit"]


def limit_groups(model: Model) -> list[LimitGroup]:
    """Return the limits that hosts do not meet, except for those that another cause explains."""
    groups: dict[tuple[Any, ...], LimitGroup] = {}
    for host in model.hosts:
        ends = unexplained(host) if host.verdict not in GOOD and host.limits else []
        for limit, rows in zip(host.limits, host.decisive, strict=True):
            if limit["verdict"] == PASS or _is_told(host, limit, ends):
                continue
            why = limit["worst"]["cause"]
            key = (
                (why, limit["verdict"])
                if why == NO_ROW
                else (limit["limit"], limit["rows"], limit["hard"], limit["verdict"], why, limit["worst"]["waiver"])
            )
            groups.setdefault(key, LimitGroup(limit, limit["verdict"], why)).on.append((host, limit, rows))
    for group in groups.values():
        group.on.sort(key=lambda entry: badness(entry[1]))
    return list(groups.values())


def has_symptoms(group: LimitGroup) -> bool:
    """Return whether figures of rows explain why the limit is not met."""
    return not _advice_key(group)


def _advice_key(group: LimitGroup) -> str:
    """Return the key of the advice that applies regardless of the figures of rows; empty if it depends on them."""
    metric = group.limit["metric"]
    by_metric = "headroom" if group.limit["unit"] == MARGIN.unit else _ADVICE_BY_METRIC.get(metric, "")
    return _ADVICE.get(group.why) or (metric if metric in _advice_of_kinds() else by_metric)


@cache
def _advice_of_kinds() -> Mapping[str, advice.Advice]:
    """Return the advice on limits that only runs of one kind have, by metric."""
    return {metric: each for kind in KINDS.values() for metric, each in kind.view.advice_on_metrics.items()}


def _is_told(host: Host, limit: LimitEntry, ends: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a limit is left out of the causes, because another cause of the host explains it.

    If the tester did not finish (``ends`` contains the reason), this explains limits without a measurement, and also a
    slowest write that did not return. A limit that is undecided because the host was disturbed is ignored if another
    limit on the same figure is broken despite the disturbance. Other undecided limits are ignored if any limit is
    broken.
    """
    why = limit["worst"]["cause"]
    if why == NO_ROW:
        return bool(ends)
    if ((limit["worst"].get("details") or {}).get("why") or {}).get("code") == ENDED_EARLY:
        return True
    if (
        limit["metric"] == "latency_max"
        and limit["worst"]["value_at_least"]
        and any(HUNG in (end["kind"], end.get("cause")) for end in ends)
    ):
        return True
    broken = [other for other in host.limits if other["verdict"] == FAIL]
    return (why == OPEN and bool(broken)) or (
        why == DISTURBED and any(_figure_of(other) == _figure_of(limit) for other in broken)
    )


def _figure_of(limit: LimitEntry) -> tuple[str, ...]:
    """Return the key of a limit's figure. The metric alone is not enough, because writes, commits and streams have the
    same metrics."""
    return limit["metric"], limit["worst"]["stream"], limit["worst"]["operation"]


def badness(limit: LimitEntry) -> float:
    """Return the sort key of an entry of a limit. The worst figure comes first."""
    value = limit["worst"]["value"] or 0
    return value if limit["bound"] == "min" else -value


def joined(groups: Iterable[LimitGroup]) -> list[LimitGroup]:
    """Return the groups, after merging those with the same statement about the same hosts: limits on one metric, such
    as a limit and a hard limit, and undecided limits.

    A statement names the rows of its first limit. Therefore, a limit that is not broken in any of these rows is a
    separate cause.
    """
    alike: dict[tuple[Any, ...], list[LimitGroup]] = {}
    for group in groups:
        figure = () if group.why == OPEN else _figure_of(group.limit)
        alike.setdefault((figure, group.verdict, group.why, frozenset(host.label for host in group.hosts)), []).append(
            group
        )
    found: list[LimitGroup] = []
    for same in alike.values():
        first = len(found)
        for group in sorted(same, key=lambda group: 0 if group.why == OPEN else _strictness(group.limit)):
            into = next((other for other in found[first:] if group.why == OPEN or _steps(group) & _steps(other)), None)
            if into is None:
                found.append(group)
                continue
            into.also.append(_besides(group.limit, into.limit["metric"]))
            into.on_others.extend(group.on)
    return found


def _besides(limit: LimitEntry, metric: str) -> str:
    """Return the text of a limit that follows another limit. It contains the metric only if the metrics of the two
    limits differ. Metrics are compared as a whole, because latency_p99_9 also begins with latency_p99."""
    return ("the hard limit " if limit["hard"] else "") + str(limit["limit"]).removeprefix(f"{metric} ").strip()


def _steps(group: LimitGroup) -> set[tuple[Any, ...]]:
    """Return the steps (load point, block size, stream, operation) in which hosts do not meet the group's limit."""
    return {row.step for host, limit, rows in group.on for row in rows}


def _strictness(limit: LimitEntry) -> float:
    value = limit["limit_value"] or 0
    return -value if limit["bound"] == "min" else value


def consequence(model: Model, group: LimitGroup) -> str:
    """Return the consequence of the figures that break a limit."""
    of_kind = _advice_of_kinds().get(group.limit["metric"])
    if of_kind:
        return of_kind.consequence
    worst, rows = group.limit["worst"], [rows for host, limit, rows in group.on]
    return consequence_of(model.words, group.limit["metric"], rows, str(worst["operation"]), str(worst["stream"]))


_ADVICE = {
    WAIVED: "waived",
    OPEN: "open",
    NO_HEADROOM: "no_headroom",
    NO_TARGET: "no_target",
    NO_FIGURE: "too_few",
    NO_ROW: "nothing",
}
"""The reasons why a limit does not pass, each with the advice that applies regardless of the figures."""


_ADVICE_BY_METRIC = {NOT_STARTED: "pace", "capacity": "capacity", "target_operations_share": "capacity"}
"""The same for limits that no figures of rows explain."""


def advice_without_symptoms(model: Model, group: LimitGroup) -> str:
    key = _advice_key(group)
    if key in _advice_of_kinds():
        return _advice_of_kinds()[key].text
    if group.why == NO_ROW and model.words.layout.by_stream:
        key = "no_stream"
    return advice.other(key, instead(model) if group.why in _ADVICE else None)


_BROKEN = "{limits} broken{by}{at}{names}{worst}"
_CANNOT = "{limits} cannot be judged{on}"
_STATEMENTS = {
    BROKEN: _BROKEN,
    WAIVED: f"{_BROKEN}; waived ({{waiver}})",
    DISTURBED: f"{_BROKEN}, but {{they_were}} disturbed: the storage may not be why",
    OPEN: "{limits} neither met nor broken beyond chance{on}{at}{names}; [measuring for {needed_s:count} s in all "
    "should decide it|it is at the limit, so measuring longer will not decide it][, though {some} are at the limit]",
    NO_FIGURE: f"{_CANNOT}{{at}}{{names}}[; {{because}}]",
    NO_HEADROOM: f"{_CANNOT}{{names}}[; {{because}}]",
    NO_TARGET: f"{_CANNOT}{{names}}[; {{because}}]",
    NO_ROW: "{untested}{on}{names}; nothing that {judges} was measured",
}
"""What is wrong, by why the limit is not met."""


def statement_of(model: Model, group: LimitGroup) -> str:
    """Return in one sentence what is wrong, and which hosts it concerns. The reason is that of the worst figure."""
    host, limit, dummy = group.on[0]
    needed = [each["worst"].get("seconds_needed") for dummy, each, dummy in (*group.on, *group.on_others)]
    known = [seconds for seconds in needed if seconds is not None]
    alone, count_text = len(model.hosts) == 1, count(model, group.hosts)
    untested = list(dict.fromkeys(phrase("{limit}[ ({rows})]", each) for dummy, each, dummy in group.on))
    several = len(untested) > 1
    return phrase(
        _STATEMENTS[group.why],
        {
            "limits": group.text,
            "by": "" if alone else f" by {count_text}",
            "on": "" if alone else f" on {count_text}",
            "at": _at(model, group),
            "names": "" if alone else f": {fold_names(host.label for host in group.hosts)}",
            "worst": _worst(model, group),
            "waiver": shorten(limit["worst"]["waiver"] or ""),
            "they_were": "it was" if alone else "these hosts were" if len(group.on) > 1 else "the host was",
            "needed_s": max(known, default=None),
            "some": "some figures" if known and len(known) < len(needed) else "",
            "because": why_text({**limit, **limit["worst"]}, host.words, in_words, short=True),
            "untested": f"{fold_list(untested)} {'are' if several else 'is'} not tested",
            "judges": "they judge" if several else "it judges",
        },
    )


def fold_list(texts: Sequence[str]) -> str:
    """Format a list of texts. If there are too many texts, the last ones are replaced with their number."""
    return and_list([*texts[:3], f"{len(texts) - 3} more limits"] if len(texts) > 4 else texts)


def _at(model: Model, group: LimitGroup) -> str:
    """Return the rows concerned: block sizes, load points and queue managers."""
    rows = {row for host, limit, rows in group.on for row in rows if row.load_point is not None}
    if not rows or model.words.layout.mixed:
        return ""
    loads = sorted({row.load_point for row in rows if row.load_point})
    measured_loads = {step[0] for step in model.steps}
    if model.words.layout.by_stream:
        rows |= {row for host, limit, others in group.on_others for row in others if row.load_point is not None}
        loads = sorted({row.load_point for row in rows if row.load_point})
        names = dict.fromkeys(
            operations_text(row.stream, row.operation)
            for row in sorted(rows, key=lambda row: (str(row.stream), str(row.operation)))
        )
        load = f" at {_load_text(loads, model.words)}" if measured_loads - set(loads) else ""
        return f" for {and_list(list(names))}{load}"
    sizes = fold_sizes((row.block_size_bytes for row in rows), [step[1] for step in model.steps])
    load = f" with {_load_text(loads, model.words)}" if measured_loads - set(loads) else ""
    of = " for commits" if group.limit["worst"]["operation"] == "commit" else ""
    return f"{of} at {sizes}{load}{_workers(rows, loads, model.words)}"


def _load_text(loads: Sequence[int], words: Words) -> str:
    *others, last = map(str, loads)
    return f"{and_list([*others, words.load_text(int(last))])}"


def _workers(rows: Iterable[JudgedRow], loads: Sequence[int], words: Words) -> str:
    """Return the names of the queue managers concerned, or nothing if all queue managers that wrote together are
    concerned."""
    names = {row.worker_name for row in rows if row.load_point != 1}
    if not names or ALL_WORKERS in names or (words.load_is_workers and len(names) == max(loads)):
        return ""
    of_all = f" of {max(loads)}" if words.load_is_workers else ""
    return f", {words.worker if len(names) == 1 else words.workers} {fold_names(names)}{of_all}"


def _worst(model: Model, group: LimitGroup) -> str:
    """Return the worst figure and its row."""
    host, limit, dummy = group.on[0]
    if limit["worst"]["value"] is None:
        return ""
    on = "" if len(model.hosts) == 1 else f" on {shorten(host.label)}"
    return f"; worst {worst_text(limit)}{on}{at_worst(model.words, limit)}"
