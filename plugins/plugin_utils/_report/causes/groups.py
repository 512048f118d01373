# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why hosts do not pass or do not certify, grouped by cause: each cause once, with the hosts that it concerns.

Every host that does not pass is in at least one cause. A cause repeats the judgements and says what follows from them,
but does not judge anything itself.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._english.findings import in_words
from ansible_collections.mqops.logdisk.plugins.plugin_utils._english.limits import why_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.metrics import MARGIN, NOT_STARTED, find_metric
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds import CHECK_MODE, KINDS, opened_for
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes import advice
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes.consequences import (
    Excess,
    consequence_of,
    consequence_of_stream,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes.symptoms import (
    Medians,
    medians_of,
    symptoms_of,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.folding import (
    and_list,
    fold_names,
    fold_sizes,
    natural,
    shorten,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import NOT_MEASURED, Host, JudgedRow, Model
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.series import at_text, operations_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.columns import ALL_WORKERS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.findings import (
    BROKEN,
    DISTURBED,
    ENDED_EARLY,
    FORESEEN,
    HUNG,
    NO_FIGURE,
    NO_HEADROOM,
    NO_ROW,
    NO_TARGET,
    OF_HISTORY,
    OPEN,
    RECORDED,
    WAIVED,
    reasons_among,
    row_of,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.findings import LIMIT as OF_LIMIT
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.findings import QUALIFICATION as NOT_CERTIFIED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import ERROR, FAIL, GOOD, PASS, rank
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.words import Words

if TYPE_CHECKING:
    from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.view import View

LIMIT, BASELINE, QUALIFICATION, LEFTOVERS = "limit", "baseline", "qualification", "leftovers"
"""Kinds of causes. A tester that did not finish and a host without a measurement have other causes, and so have kinds
of runs, whose views define them."""

SHOWN_SYMPTOMS = 2
"""How many symptoms of a cause's hosts are listed, the most frequent first."""

LONGEST_TEXT = 400
"""How much of a text that came from a host is shown."""

# The parts in which otherwise equal texts of hosts differ: figures, addresses, names with a number.
_PARTICULAR = re.compile(r"\S*[0-9]\S*")


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason why hosts do not pass or do not certify.

    verdict is their verdict because of this cause: pass if they only do not certify, and "not measured" in check mode.
    statement says in one sentence what is wrong and which hosts it concerns; detail is the full sentence about the
    worst host, empty if the statement says as much. consequence says what follows for MQ, seen lists the symptoms in
    the figures of the hosts, and next_step says what to do; each is empty if nothing is known.
    hosts are the labels of the hosts, worst first. key is used in anchors, and is the same in each rendering of a run.
    limit is the limit that the statement begins with, None if it does not begin with a limit. limit_id is the id of the
    criterion if it is not in a limit of a profile, and otherwise empty.
    """

    kind: str
    verdict: str
    statement: str
    detail: str
    consequence: str
    seen: str
    next_step: str
    hosts: tuple[str, ...]
    key: str
    limit: Mapping[str, Any] | None = None
    limit_id: str = ""


def causes(model: Model) -> list[Cause]:
    """Return the causes of a run: the worst verdict first, and for each verdict, the causes that concern the most hosts
    first."""
    if model.found_causes is None:
        found = [*_of_findings(model), *_of_limits(model)]
        found.sort(key=lambda cause: (rank(cause.verdict), -len(cause.hosts)))
        model.found_causes = found
    return model.found_causes


# Causes other than limits: one finding for each host, equal except for names and figures.


@dataclass(slots=True)
class _Alike:
    """Hosts with the same finding, except for the names and figures in it."""

    kind: str
    verdict: str
    advice: str
    found: list[tuple[Host, Mapping[str, Any]]] = field(default_factory=list)


def _of_findings(model: Model) -> Iterator[Cause]:
    groups: dict[tuple[Any, ...], _Alike] = {}
    for host in model.hosts:
        for kind, verdict, finding in _findings(host):
            key = "" if kind in _views() else LEFTOVERS if kind == LEFTOVERS else advice.key_of(finding, host.stage)
            groups.setdefault(
                (kind, verdict, host.stage, key, _shape(finding, host.host)), _Alike(kind, verdict, key)
            ).found.append((host, finding))
    return (_of_alike(model, group) for group in groups.values())


@cache
def _views() -> dict[str, View]:
    """Return the views of kinds of runs that advise on causes of their own, by the kind of these causes."""
    return {kind.view.cause: kind.view for kind in (CHECK_MODE, *KINDS.values()) if kind.view.cause}


def _shape(finding: Mapping[str, Any], host: str) -> tuple[Any, ...]:
    """Return the common part of findings that are the same on several hosts: their texts without the host's name and
    without words that contain a figure."""
    if finding["kind"] == FORESEEN:  # its texts name limits, profiles and workloads, which differ in their figures
        return tuple(sorted((key, value) for key, value in finding.items() if isinstance(value, str)))
    # A host's name may be a part of a word, such as su in measure.
    name = re.compile(rf"(?<!\w){re.escape(host)}(?!\w)") if host else None
    texts = {key: name.sub("#", value) if name else value for key, value in finding.items() if isinstance(value, str)}
    about = finding.get("finding")
    return (
        *sorted((key, _PARTICULAR.sub("#", text)) for key, text in texts.items()),
        _shape(about, host) if about else (),
    )


def _findings(host: Host) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield kind, verdict and finding of everything that no limit explains."""
    if host.verdict == NOT_MEASURED:
        yield from ((CHECK_MODE.view.cause, NOT_MEASURED, finding) for finding in host.findings)
        return
    if host.verdict not in (PASS, host.of_kind.without_verdict):
        kind = host.of_kind.view.cause_of(host)
        yield from ((kind, finding["verdict"], finding) for finding in unexplained(host))
    for finding in reasons_among(host.findings):
        if finding["kind"] in OF_HISTORY:
            of_runs = next((cause for cause, view in _views().items() if view.remembered == finding["kind"]), BASELINE)
            yield of_runs, finding["verdict"], finding
    if host.verdict in GOOD and host.qualification and not host.stage:  # else it was left out, as its reason states
        why = next((finding for finding in host.findings if finding["kind"] == NOT_CERTIFIED), None)
        yield (
            QUALIFICATION,
            host.verdict,
            why or {"kind": RECORDED, "verdict": host.verdict, "cause": NOT_CERTIFIED, "text": host.qualification},
        )
    yield from ((LEFTOVERS, ERROR, {"kind": LEFTOVERS, "verdict": ERROR, "text": item}) for item in host.leftovers)


def beside_limits(host: Host, limits: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the findings that are reasons for a host's verdict, without those that the worst rows of some of its
    limits explain."""
    told = {row_of({**limit, **limit["worst"]}) for limit in limits}
    return [
        finding
        for finding in reasons_among(host.findings)
        if finding["kind"] != OF_LIMIT or row_of(finding) not in told
    ]


def unexplained(host: Host) -> list[dict[str, Any]]:
    """Return the findings of a host that are neither about a limit nor added by the history;
    one without a text if there is no reason at all."""
    found = [
        finding
        for finding in beside_limits(host, (limit for limit in host.limits if limit["verdict"] != PASS))
        if finding["kind"] not in OF_HISTORY
    ]
    return found if found or reasons_among(host.findings) else [{"kind": RECORDED, "verdict": host.verdict}]


def _of_alike(model: Model, group: _Alike) -> Cause:
    group.found.sort(key=lambda entry: natural(entry[0].label))
    sentences = list(dict.fromkeys(in_words(finding, host.words) for host, finding in group.found))
    hosts = [host for host, finding in group.found]
    example = "" if len(sentences) == 1 else f"for example {shorten(hosts[0].label)}: "
    who = _who(model, hosts)
    text = example + shorten(sentences[0], LONGEST_TEXT)
    if group.kind == QUALIFICATION:
        statement = f"{who or 'the host'} passed, but {'does' if len(hosts) == 1 else 'do'} not certify: {text}"
    elif group.kind == LEFTOVERS:
        statement = f"left behind on {who or 'the host'}: {text}"
    else:
        statement = f"{who}: {text}" if who else text
    consequence, next_step = _advice_on(model, group, hosts)
    return _cause(
        group.kind,
        group.verdict,
        statement,
        hosts,
        consequence=consequence,
        next_step=next_step,
        limit_id=_criterion_of(group),
    )


def _criterion_of(group: _Alike) -> str:
    dummy, finding = group.found[0]
    return "" if finding["kind"] == OF_LIMIT else str(finding.get("limit_id") or "")


def _advice_on(model: Model, group: _Alike, hosts: Sequence[Host]) -> tuple[str, str]:
    """Return consequence and next step."""
    if group.kind in _views():
        return _views()[group.kind].advise(group.found, group.verdict)
    return advice.of_key(group.advice, model.words.layout.of_mq, _instead(model))


def _instead(model: Model) -> Mapping[str, str]:
    """Return the advice that differs from the advice for a test."""
    # Check mode turns any of them into a preflight.
    return opened_for(model.run).view.advice


def _who(model: Model, hosts: Sequence[Host]) -> str:
    """Return how many hosts these are, and which; empty if the run has only one."""
    if len(model.hosts) == 1:
        return ""
    labels = list(dict.fromkeys(host.label for host in hosts))
    return fold_names(labels) if len(labels) == 1 else f"{_count(model, labels)} ({fold_names(labels)})"


def _count(model: Model, labels: Sequence[str]) -> str:
    return f"{_units.format_count(len(labels))} of {model.size}"


# Limits.


@dataclass(slots=True)
class _Broken:
    """A limit that hosts do not keep for the same kind of reason: for each of them its entry and the rows that have its
    verdict, worst first."""

    limit: dict[str, Any]
    verdict: str
    why: str
    on: list[tuple[Host, dict[str, Any], tuple[JudgedRow, ...]]] = field(default_factory=list)
    also: list[str] = field(default_factory=list)
    on_others: list[tuple[Host, dict[str, Any], tuple[JudgedRow, ...]]] = field(default_factory=list)

    @property
    def hosts(self) -> list[Host]:
        return [host for host, limit, rows in self.on]

    @property
    def text(self) -> str:
        if self.why == OPEN:
            return fold_list([self.limit["limit"], *self.also])
        return f"{self.limit['limit']} (and {fold_list(self.also)})" if self.also else self.limit["limit"]


def _of_limits(model: Model) -> Iterator[Cause]:
    groups: dict[tuple[Any, ...], _Broken] = {}
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
            groups.setdefault(key, _Broken(limit, limit["verdict"], why)).on.append((host, limit, rows))
    for group in groups.values():
        group.on.sort(key=lambda entry: _badness(entry[1]))
    medians = medians_of(model.hosts) if groups else {}
    for group in _joined(groups.values()):
        yield _of_limit(model, group, medians)


def _is_told(host: Host, limit: dict[str, Any], ends: Sequence[Mapping[str, Any]]) -> bool:
    """Whether another cause of the host explains more than a limit does.

    If its tester did not finish (ends says why), this explains limits without a measurement, and also a slowest write
    that did not return. A limit that is open because the host was disturbed does not matter if another limit on the
    same figure is broken despite the disturbance.
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
    return why == DISTURBED and any(
        _figure_of(other) == _figure_of(limit) and other["verdict"] == FAIL for other in host.limits
    )


def _figure_of(limit: dict[str, Any]) -> tuple[str, ...]:
    """Return what identifies the figure of a limit: the metric alone does not, because writes, commits and streams have
    the same metrics."""
    return limit["metric"], limit["worst"]["stream"], limit["worst"]["operation"]


def _badness(limit: dict[str, Any]) -> float:
    value = limit["worst"]["value"] or 0
    return value if limit["bound"] == "min" else -value


def _joined(groups: Iterable[_Broken]) -> list[_Broken]:
    """Return the groups. Those with the same statement about the same hosts are merged: limits on one metric, such as a
    limit and a hard limit, and limits that are undecided.

    A statement names the rows of its first limit, so a limit that is not broken at any of these rows is a cause of its
    own.
    """
    alike: dict[tuple[Any, ...], list[_Broken]] = {}
    for group in groups:
        figure = () if group.why == OPEN else _figure_of(group.limit)
        alike.setdefault((figure, group.verdict, group.why, frozenset(host.label for host in group.hosts)), []).append(
            group
        )
    joined: list[_Broken] = []
    for same in alike.values():
        first = len(joined)
        for group in sorted(same, key=lambda group: 0 if group.why == OPEN else _strictness(group.limit)):
            into = next((other for other in joined[first:] if group.why == OPEN or _steps(group) & _steps(other)), None)
            if into is None:
                joined.append(group)
                continue
            into.also.append(_besides(group.limit, into.limit["metric"]))
            into.on_others.extend(group.on)
    return joined


def _besides(limit: Mapping[str, Any], metric: str) -> str:
    """Return the text of a limit that follows a limit on a metric. It names its own metric only if that is different:
    latency_p99_9 also begins with latency_p99."""
    return ("the hard limit " if limit["hard"] else "") + str(limit["limit"]).removeprefix(f"{metric} ").strip()


def _steps(group: _Broken) -> set[tuple[Any, ...]]:
    """Return the load points, block sizes and streams that a group is about."""
    return {row.step for host, limit, rows in group.on for row in rows}


def _strictness(limit: dict[str, Any]) -> float:
    value = limit["limit_value"] or 0
    return -value if limit["bound"] == "min" else value


def _of_limit(model: Model, group: _Broken, medians: Medians) -> Cause:
    hosts = (
        sorted(group.hosts, key=lambda host: natural(host.label))
        if group.why in (NO_ROW, NO_FIGURE, NO_HEADROOM)
        else group.hosts
    )
    known = group.why in (BROKEN, WAIVED)
    seen, next_step = _look(model, group, medians)
    return _cause(
        LIMIT,
        group.verdict,
        _STATEMENTS[group.why](model, group),
        hosts,
        detail=group.on[0][1]["worst"]["reason"],
        consequence=_consequence(model, group) if known else advice.UNDECIDED,
        seen=seen,
        next_step=next_step,
        limit=None if group.why == NO_ROW else group.limit,
    )


def _consequence(model: Model, group: _Broken) -> str:
    worst = group.limit["worst"]
    excess = Excess(
        group.limit["metric"], [rows for host, limit, rows in group.on], str(worst["operation"]), str(worst["stream"])
    )
    return consequence_of(excess) if model.words.layout.of_mq else consequence_of_stream(excess, model.words)


_ADVICE = {
    WAIVED: "waived",
    OPEN: "open",
    NO_HEADROOM: "no_headroom",
    NO_TARGET: "no_target",
    NO_FIGURE: "too_few",
    NO_ROW: "nothing",
}
"""Why a limit does not pass, and the advice if the figures do not matter for it."""


_ADVICE_BY_METRIC = {NOT_STARTED: "pace", "capacity": "capacity", "target_operations_share": "capacity"}
"""The same for limits that the figures of no row explain."""


def _look(model: Model, group: _Broken, medians: Medians) -> tuple[str, str]:
    """Return the symptoms in the figures of the hosts, and the resulting next steps."""
    if group.why == NO_ROW and model.words.layout.by_stream:
        return "", advice.OTHERS["no_stream"].text
    if group.why in _ADVICE:
        return "", advice.other(_ADVICE[group.why], _instead(model))
    if group.limit["unit"] == MARGIN.unit:
        return "", advice.OTHERS["headroom"].text
    if group.limit["metric"] in _ADVICE_BY_METRIC:
        return "", advice.OTHERS[_ADVICE_BY_METRIC[group.limit["metric"]]].text
    found: dict[str, list[tuple[Host, str]]] = {}
    for host, limit, rows in group.on:
        for key, text in symptoms_of(host, limit, rows, medians):
            found.setdefault(key, []).append((host, text))
    common = sorted(found, key=lambda key: -len(found[key]))[:SHOWN_SYMPTOMS]
    seen = "; ".join(_seen(model, group, key, found[key]) for key in common)
    return seen and f"{seen[0].upper()}{seen[1:]}.", advice.together(
        [each for key in common for each in _advice_on_symptom(key, found[key])]
    )


def _advice_on_symptom(key: str, on: Sequence[tuple[Host, str]]) -> list[advice.Advice]:
    """Return the advice for a symptom of some hosts; for a disturbance, by its kind."""
    disturbances = [
        each
        for host, dummy in on
        for finding in host.findings
        if finding["kind"] == DISTURBED
        for each in finding["disturbance"]
    ]
    kinds = dict.fromkeys(each["kind"] for each in disturbances if each["kind"] in advice.DISTURBANCES)
    return [advice.DISTURBANCES[kind] for kind in kinds] if key == "disturbed" and kinds else [advice.SYMPTOMS[key]]


def _seen(model: Model, group: _Broken, key: str, on: Sequence[tuple[Host, str]]) -> str:
    """Return the symptom of some hosts, with the figures of the first, which is the worst."""
    text = advice.SYMPTOMS[key].seen.replace("writes", model.words.timed)
    if len(on) < len(group.on):
        text += f" on {fold_names(host.label for host, figures in on)}"
    worst, figures = on[0]
    which = f"{shorten(worst.label)}: " if len(on) > 1 else ""
    return f"{text} ({which}{shorten(figures, LONGEST_TEXT)})"


def _state_broken(model: Model, group: _Broken) -> str:
    waiver = group.on[0][1]["worst"]["waiver"]
    waived = f"; waived ({shorten(waiver)})" if group.why == WAIVED else ""
    return (
        f"{group.text} broken{_by(model, group)}{_at(model, group)}{_names(model, group)}{_worst(model, group)}{waived}"
    )


def _state_disturbed(model: Model, group: _Broken) -> str:
    who = "it was" if len(model.hosts) == 1 else "these hosts were" if len(group.on) > 1 else "the host was"
    return f"{_state_broken(model, group)}, but {who} disturbed: the storage may not be why"


def _state_open(model: Model, group: _Broken) -> str:
    needed = [limit["worst"].get("seconds_needed") for host, limit, rows in (*group.on, *group.on_others)]
    known = [seconds for seconds in needed if seconds is not None]
    enough = (
        f"measuring for {_units.format_count(max(known))} s in all should decide it"
        if known
        else "it lies at the limit, so no duration decides it"
    )
    some = ", though some figures lie at the limit" if known and len(known) < len(needed) else ""
    return (
        f"{group.text} neither kept nor broken beyond "
        f"chance{_by(model, group, 'on')}{_at(model, group)}{_names(model, group)}; {enough}{some}"
    )


def _state_no_figure(model: Model, group: _Broken) -> str:
    because = _because(group)
    return (
        f"{group.text} cannot be "
        f"judged{_by(model, group, 'on')}{_at(model, group)}{_names(model, group)}{f'; {because}' if because else ''}"
    )


def _state_no_headroom(model: Model, group: _Broken) -> str:
    because = _because(group)
    return (
        f"{group.text} cannot be "
        f"judged{_by(model, group, 'on')}{_names(model, group)}{f'; {because}' if because else ''}"
    )


def _because(group: _Broken) -> str:
    """Return why the worst figure decides nothing."""
    host, limit, dummy = group.on[0]
    return why_text({**limit, **limit["worst"]}, host.words, in_words, short=True)


def _state_nothing(model: Model, group: _Broken) -> str:
    limits = list(dict.fromkeys(f"{limit['limit']}{_rows_of(limit)}" for host, limit, rows in group.on))
    unique = _Broken(
        group.limit,
        group.verdict,
        group.why,
        list({host.label: (host, limit, rows) for host, limit, rows in group.on}.values()),
    )
    return (
        f"nothing that {fold_list(limits)} "
        f"judge{'s' if len(limits) == 1 else ''} was measured{_by(model, unique, 'on')}{_names(model, unique)}"
    )


_STATEMENTS: dict[str, Callable[[Model, _Broken], str]] = {
    BROKEN: _state_broken,
    WAIVED: _state_broken,
    DISTURBED: _state_disturbed,
    OPEN: _state_open,
    NO_FIGURE: _state_no_figure,
    NO_HEADROOM: _state_no_headroom,
    NO_TARGET: _state_no_headroom,
    NO_ROW: _state_nothing,
}


def fold_list(texts: Sequence[str], most: int = 3) -> str:
    """Write a list of texts; the last ones are replaced with their number."""
    return and_list([*texts[:most], f"{len(texts) - most} more limits"] if len(texts) > most + 1 else texts)


def _rows_of(limit: dict[str, Any]) -> str:
    return f" ({limit['rows']})" if limit["rows"] else ""


def _by(model: Model, group: _Broken, preposition: str = "by") -> str:
    return "" if len(model.hosts) == 1 else f" {preposition} {_count(model, group.hosts)}"


def _names(model: Model, group: _Broken) -> str:
    return "" if len(model.hosts) == 1 else f": {fold_names(host.label for host in group.hosts)}"


def _at(model: Model, group: _Broken) -> str:
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
    """Return the names of the queue managers concerned, if they are only some of those that wrote together."""
    names = {row.worker_name for row in rows if row.load_point != 1}
    if not names or ALL_WORKERS in names or (words.load_is_workers and len(names) == max(loads)):
        return ""
    of_all = f" of {max(loads)}" if words.load_is_workers else ""
    return f", {words.worker if len(names) == 1 else words.workers} {fold_names(names)}{of_all}"


def _worst(model: Model, group: _Broken) -> str:
    """Return the worst figure, and the row that it belongs to."""
    host, limit, dummy = group.on[0]
    worst = limit["worst"]
    if worst["value"] is None:
        return ""
    metric = find_metric(str(limit["metric"]))
    value = metric.kind.format(worst["value"]) if metric else str(worst["value"])
    on = "" if len(model.hosts) == 1 else f" on {shorten(host.label)}"
    at = at_text(model.words, (worst["load_point"], worst["block_size_bytes"]))
    return f"; worst {'at least ' if worst['value_at_least'] else ''}{value}{on}{at}"


def _cause(
    kind: str,
    verdict: str,
    statement: str,
    hosts: Iterable[Host],
    *,
    detail: str = "",
    consequence: str = "",
    seen: str = "",
    next_step: str = "",
    limit: Mapping[str, Any] | None = None,
    limit_id: str = "",
) -> Cause:
    labels = tuple(dict.fromkeys(host.label for host in hosts))
    key = f"cause-{hashlib.sha256(f'{kind} {verdict} {statement}'.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
    return Cause(kind, verdict, statement, detail, consequence, seen, next_step, labels, key, limit, limit_id)
