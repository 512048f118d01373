# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Groups the limits that hosts break by the problem that the hosts have. For example, a slow disk breaks several limits
but is a single cause. Hosts that narrowly fail are separated from the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..._english.phrases import capitalized, metric_text
from ..._judge.metrics import find_metric
from ..._run.columns import COMMITS
from ..._run.findings import BROKEN, DISTURBED, NO_FIGURE, NO_HEADROOM, NO_ROW, WAIVED
from ..._run.verdicts import rank
from ..folding import and_list, fold_names, natural, shorten
from ..model import Host, Model, only_just
from ..series import at_worst, operations_text, worst_text
from . import advice
from .cause import LIMIT, LONGEST_TEXT, Cause, make_cause, who
from .limits import (
    LimitGroup,
    NotKept,
    advice_without_symptoms,
    badness,
    consequence,
    has_symptoms,
    joined,
    limit_groups,
    statement_of,
)
from .symptoms import OF_CLASS, medians_of, symptoms_of

FIRST = ("disturbed", "throttled", "plateau", "periodic", "first_pass", "steady", "some_slow", "tail", "low_rate")
"""The symptoms, in the order in which they explain others: if all writes of a host are slow, so are the slowest ones,
and its throughput is low."""

SHOWN_FIGURES = 4
"""The maximum number of limits that a statement names."""
SHOWN_CONSEQUENCES = 2

Look = Callable[[NotKept], list[tuple[str, str]]]
"""A function that returns the symptoms of a host that does not meet a limit, as keys and figures."""
Symptoms = dict[str, list[tuple[Host, str]]]
"""Symptoms of hosts, each with the hosts that have it and their figures, worst first."""


def causes_of_limits(model: Model) -> Iterator[Cause]:
    """Yield the causes of a run that concern limits. Hosts with a common symptom are one cause, no matter how many
    limits they break. Without a symptom, each limit is a separate cause."""
    groups = limit_groups(model)
    if not groups:
        return
    look = _look(model)
    with_symptoms = [group for group in groups if has_symptoms(group)]
    for symptom, labels, broken in _faults(with_symptoms, look):
        found = joined(group for group in (group.restricted(labels) for group in broken) if group.on)
        if symptom:
            yield _cause(model, found, look, symptom)
        else:
            yield from (_cause(model, [group], look) for group in found)
    for group in joined(group for group in groups if not has_symptoms(group)):
        yield _cause(model, [group], look)


def _look(model: Model) -> Look:
    """Return the function that looks for symptoms. The function looks only once for each host and limit."""
    medians, known = medians_of(model.hosts), {}

    def look(entry: NotKept) -> list[tuple[str, str]]:
        key = entry[0].label, id(entry[1])
        if key not in known:
            known[key] = symptoms_of(*entry, medians)
        return known[key]

    return look


def _faults(groups: Sequence[LimitGroup], look: Look) -> Iterator[tuple[str, set[str], list[LimitGroup]]]:
    """Yield the common symptoms, each with the labels of the hosts and the groups that may contain them."""
    keys: dict[tuple[str, str, Any], list[tuple[LimitGroup, NotKept]]] = {}
    for group in groups:
        for entry in group.on:
            keys.setdefault((entry[0].label, group.why, _stream(entry)), []).append((group, entry))
    faults: dict[tuple[Any, ...], set[str]] = {}
    for (label, why, stream), entries in keys.items():
        severity = min((group.verdict for group, entry in entries), key=rank), only_just(entries[0][1][0])
        found = {key for group, entry in entries for key, text in look(entry)} - {OF_CLASS}
        faults.setdefault((severity, why, stream, min(found, key=FIRST.index, default="")), set()).add(label)
    for (*dummy, why, stream, symptom), labels in faults.items():
        yield symptom, labels, [group for group in groups if (group.why, _stream(group.on[0])) == (why, stream)]


def _stream(entry: NotKept) -> Any:
    """Return the stream of a limit. Streams have separate causes, because they may use different disks. The result is
    None for a log, because commits and writes use the same disk."""
    host, limit, dummy = entry
    return limit["worst"]["stream"] if host.words.layout.by_stream else None


def _cause(model: Model, groups: Sequence[LimitGroup], look: Look, symptom: str = "") -> Cause:
    """Return the cause of a limit, or of several limits that hosts with a common symptom do not meet."""
    first, hosts = groups[0], _worst_first(groups)
    symptoms = _symptoms(symptom, hosts, groups, look) if has_symptoms(first) else {}
    texts = [consequence(model, group) for group in groups if group.why in (BROKEN, WAIVED)]
    told = [text for text in texts if text][:SHOWN_CONSEQUENCES]
    reasons = [str(group.on[0][1]["worst"]["reason"]) for group in groups[:SHOWN_FIGURES]]
    unmeasured = first.why in (NO_ROW, NO_FIGURE, NO_HEADROOM)
    return make_cause(
        LIMIT,
        min((group.verdict for group in groups), key=rank),
        _statement(model, symptom, groups, hosts) if symptom else statement_of(model, first),
        sorted(hosts, key=lambda host: natural(host.label)) if unmeasured else hosts,
        detail=" ".join(f"{reason.rstrip('.')}." for reason in reasons) if symptom else reasons[0],
        consequence=" ".join(dict.fromkeys(told)) if texts else advice.UNDECIDED,
        seen=_seen(model, symptoms, len(hosts)),
        next_step=_next_step(symptoms) if has_symptoms(first) else advice_without_symptoms(model, first),
        limit=None
        if first.why == NO_ROW
        else next((group.limit for group in groups if group.limit["hard"]), first.limit),
        limits=[entry[1]["limit"] for group in groups for entry in (*group.on, *group.on_others)],
        symptom=next(iter(symptoms), ""),
    )


def _worst_first(groups: Iterable[LimitGroup]) -> list[Host]:
    """Return the hosts of all groups. Those that are worst in the first group come first."""
    return list({entry[0].label: entry[0] for group in groups for entry in group.on}.values())


def _symptoms(symptom: str, hosts: Sequence[Host], groups: Sequence[LimitGroup], look: Look) -> Symptoms:
    """Return the common symptom, and whether the hosts differ from their class."""
    found: dict[str, dict[str, str]] = {}
    for group in groups:
        for entry in group.on:
            for key, text in look(entry):
                found.setdefault(key, {}).setdefault(entry[0].label, text)
    shown = {key: found[key] for key in (symptom, OF_CLASS) if key in found}
    return {key: [(host, on[host.label]) for host in hosts if host.label in on] for key, on in shown.items()}


def _seen(model: Model, symptoms: Symptoms, hosts: int) -> str:
    """Return a sentence about the symptoms of a number of hosts, each with the figures of the worst host."""
    texts = []
    for key, on in symptoms.items():
        text = advice.SYMPTOMS[key].seen.replace("writes", model.words.timed)
        if len(on) < hosts:
            text += f" on {fold_names(host.label for host, figures in on)}"
        worst, figures = on[0]
        which = f"{shorten(worst.label)}: " if len(on) > 1 else ""
        texts.append(f"{text} ({which}{shorten(figures, LONGEST_TEXT)})")
    return f"{capitalized('; '.join(texts))}." if texts else ""


def _next_step(symptoms: Symptoms) -> str:
    """Return what to do about symptoms. For a disturbance, it depends on the kind of disturbance."""
    found = []
    for key, on in symptoms.items():
        kinds = dict.fromkeys(
            each["kind"]
            for host, dummy in on
            for finding in host.findings
            if finding["kind"] == DISTURBED and key == "disturbed"
            for each in finding["disturbance"]
        )
        known = [advice.DISTURBANCES[kind] for kind in kinds if kind in advice.DISTURBANCES]
        found += known or [advice.SYMPTOMS[key]]
    return advice.together(found)


def _statement(model: Model, symptom: str, groups: Sequence[LimitGroup], hosts: Sequence[Host]) -> str:
    """Return a statement about hosts and their common symptom, with the worst figure of each limit."""
    worst = {_worst(group)[0].label for group in groups[:SHOWN_FIGURES]}
    figures = [_figure(model, group, hosts, named=len(worst) > 1) for group in groups[:SHOWN_FIGURES]]
    more = [f"{len(groups) - SHOWN_FIGURES} more limits broken"] if len(groups) > SHOWN_FIGURES else []
    are = advice.SYMPTOMS[symptom].hosts_are.replace("writes", model.words.timed)
    concerned = who(model, hosts)
    if not concerned:
        return f"{capitalized(are)}: {and_list([*figures, *more])}"
    # The worst host is named, because the others may be far better.
    several = ":" if len(hosts) == 1 else "; the worst are" if len(worst) > 1 else f"; the worst is {shorten(*worst)}:"
    return f"{concerned} {'is' if len(hosts) == 1 else 'are'} {are}{several} {and_list([*figures, *more])}"


def _worst(group: LimitGroup) -> NotKept:
    """Return the host whose figure is worst, with its entry of the limit."""
    return min(group.on, key=lambda entry: badness(entry[1]))


def _figure(model: Model, group: LimitGroup, hosts: Sequence[Host], named: bool) -> str:
    """Return the worst figure of a limit, together with the limit, and with its host if that is to be named."""
    host, limit, _rows = _worst(group)
    worst, metric = limit["worst"], find_metric(str(limit["metric"]))
    write = metric.kind.format if metric else str
    metric_name = metric_text(str(limit["metric"]))
    if model.words.layout.by_stream:
        metric_name += f" of {operations_text(worst['stream'], worst['operation'])}"
    elif worst["operation"] == COMMITS:
        metric_name += " of commits"
    kind = "hard limit" if limit["hard"] else "limit"
    on = f", on {len(group.hosts)} of them" if len(group.hosts) < len(hosts) else ""
    place = at_worst(model.words, limit) + (f" on {shorten(host.label)}" if named else "")
    return f"{metric_name} {worst_text(limit)}{place} ({kind} {write(limit['limit_value'])}{on})"
