# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Groups the reasons why hosts do not pass or do not certify by cause. Each cause appears once, with the hosts that it
concerns.

Every host that does not pass is in at least one cause. A cause repeats judgements and explains their consequences, but
does not judge anything itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ..._english.findings import in_words
from ..._run.findings import FORESEEN, OF_HISTORY, SETTING, Finding, reasons_among
from ..._run.findings import LIMIT as OF_LIMIT
from ..._run.findings import QUALIFICATION as NOT_CERTIFIED
from ..._run.kinds import CHECK_MODE, KINDS
from ..._run.verdicts import ERROR, GOOD, INCONCLUSIVE, MISSING, PASS, UNREACHABLE, rank
from ..folding import natural, shorten
from ..model import NOT_MEASURED, Host, Model
from . import advice
from .cause import (
    BASELINE,
    LEFTOVERS,
    LIMIT,
    LONGEST_TEXT,
    QUALIFICATION,
    Cause,
    decided_by,
    instead,
    make_cause,
    unexplained,
    who,
)
from .faults import causes_of_limits

_UNMEASURED = (ERROR, UNREACHABLE, MISSING)
"""The verdicts of hosts of whose storage nothing is known."""

# The parts in which otherwise equal texts about hosts may differ: figures, addresses, and names that contain a number.
_PARTICULAR = re.compile(r"\S*[0-9]\S*")


def causes(model: Model) -> list[Cause]:
    """Return the causes of a run: the worst verdict first, and for each verdict, the causes that concern the most hosts
    first."""
    if model.found_causes is None:
        found = [*_of_findings(model), *causes_of_limits(model)]
        found.sort(key=lambda cause: (rank(cause.verdict), -len(cause.hosts)))
        model.found_causes = found
    return model.found_causes


def gravest(model: Model) -> str:
    """Return what decided the verdict of a run if no figure did, such as "db01: a write failed with EIO"; otherwise an
    empty text. An operation that failed is graver than any figure."""
    if model.verdict in GOOD:
        return ""
    found = [cause for cause in causes(model) if cause.verdict == model.verdict]
    of_figures = (LIMIT, BASELINE, QUALIFICATION, LEFTOVERS)
    if any(cause.kind == LIMIT for cause in found):
        of_figures = (*of_figures, SETTING)  # a figure says more than a setting
    without_figures = [cause for cause in found if cause.kind not in of_figures]
    if not without_figures or (model.verdict == INCONCLUSIVE and len(without_figures) < len(found)):
        return ""
    unknown = "; nothing is known about the storage" if model.verdict in _UNMEASURED else ""
    return decided_by(without_figures[0].statement) + unknown


# Causes other than limits: there is one finding per host, and the findings are equal except for names and figures.


@dataclass(slots=True)
class _Alike:
    """Hosts with the same finding, except for the names and figures in it, or with findings of the same fault."""

    kind: str
    verdict: str
    advice: str
    found: list[tuple[Host, Mapping[str, Any]]] = field(default_factory=list)


def _of_findings(model: Model) -> Iterator[Cause]:
    groups: dict[tuple[Any, ...], _Alike] = {}
    found = [(host, *each) for host in model.hosts for each in _findings(host)]
    common = _common(found)
    for host, kind, verdict, finding in found:
        view = _views().get(kind)
        key = "" if view else LEFTOVERS if kind == LEFTOVERS else advice.key_of(finding, host.stage)
        fault = key if kind == SETTING else view.fault_of(finding) if view else ""
        alike = fault or common.get(_texts(finding)) or _shape(finding, host.host)
        groups.setdefault((kind, verdict, host.stage, key, alike), _Alike(kind, verdict, key)).found.append(
            (host, finding)
        )
    return (_of_alike(model, group) for group in groups.values())


@cache
def _views() -> dict[str, Any]:
    """Return the views of those kinds of runs that have their own causes, by the kind of these causes."""
    return {kind.view.cause: kind.view for kind in (CHECK_MODE, *KINDS.values()) if kind.view.cause}


def _texts(finding: Finding) -> tuple[Any, ...]:
    return tuple(sorted((key, value) for key, value in finding.items() if isinstance(value, str)))


def _common(found: Iterable[tuple[Host, str, str, Mapping[str, Any]]]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Return the texts that name their host and are the same for another one, such as two names of one machine. They
    are about all of these hosts, and are one cause."""
    hosts: dict[tuple[Any, ...], set[str]] = {}
    for host, _kind, _verdict, finding in found:
        texts = _texts(finding)
        naming = [value for _key, value in texts if host.host and host.host in value]
        name = _name_in_text(host.host) if naming else None
        if name and any(map(name.search, naming)):
            hosts.setdefault(texts, set()).add(host.host)
    return {texts: texts for texts, named in hosts.items() if len(named) > 1}


def _name_in_text(host: str) -> re.Pattern[str] | None:
    """Return the pattern of a host's name, which may also occur inside a word, such as "su" in "measure"."""
    return re.compile(rf"(?<!\w){re.escape(host)}(?!\w)") if host else None


def _shape(finding: Finding, host: str) -> tuple[Any, ...]:
    """Return a key for findings that are the same on several hosts: their texts without the name of the host and
    without words that contain a figure."""
    if finding["kind"] == FORESEEN:  # names of limits differ in figures, so figures matter
        return _texts(finding)
    name = _name_in_text(host)
    texts = {key: name.sub("#", value) if name else value for key, value in finding.items() if isinstance(value, str)}
    about = finding.get("finding")
    return (
        *sorted((key, _PARTICULAR.sub("#", text)) for key, text in texts.items()),
        _shape(about, host) if about else (),
    )


def _findings(host: Host) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield kind, verdict and finding of all findings that no limit explains."""
    if host.verdict == NOT_MEASURED:
        yield from ((CHECK_MODE.view.cause, NOT_MEASURED, finding) for finding in host.findings)
        return
    if host.verdict not in (PASS, host.of_kind.without_verdict):
        kind = host.of_kind.view.cause_of(host)
        for finding in unexplained(host):
            yield SETTING if finding["kind"] == SETTING else kind, finding["verdict"], finding
    for finding in reasons_among(host.findings):
        if finding["kind"] in OF_HISTORY:
            of_runs = next((cause for cause, view in _views().items() if view.remembered == finding["kind"]), BASELINE)
            yield of_runs, finding["verdict"], finding
    if host.verdict in GOOD:
        unqualified = (finding for finding in host.findings if finding["kind"] == NOT_CERTIFIED)
        yield from ((QUALIFICATION, host.verdict, finding) for finding in unqualified)
    yield from ((LEFTOVERS, ERROR, {"kind": LEFTOVERS, "verdict": ERROR, "text": item}) for item in host.leftovers)


def _of_alike(model: Model, group: _Alike) -> Cause:
    group.found.sort(key=lambda entry: natural(entry[0].label))
    sentences = list(dict.fromkeys(in_words(finding, host.words) for host, finding in group.found))
    hosts = list({host.label: host for host, finding in group.found}.values())
    example = "" if len(sentences) == 1 else f"for example {shorten(hosts[0].label)}: "
    concerned = who(model, hosts)
    text = example + shorten(sentences[0], LONGEST_TEXT)
    if group.kind == QUALIFICATION:
        statement = f"{concerned or 'the host'} passed, but {'does' if len(hosts) == 1 else 'do'} not certify: {text}"
    elif group.kind == LEFTOVERS:
        statement = f"left behind on {concerned or 'the host'}: {text}"
    else:
        statement = f"{concerned}: {text}" if concerned else text
    consequence, next_step = _advice_on(model, group, hosts)
    return make_cause(
        group.kind,
        group.verdict,
        statement,
        hosts,
        consequence=consequence,
        next_step=next_step,
        limit_id=_criterion_of(group),
    )


def _criterion_of(group: _Alike) -> str:
    ids = {str(finding.get("limit_id") or "") for host, finding in group.found if finding["kind"] != OF_LIMIT}
    return ", ".join(sorted(ids - {""}))


def _advice_on(model: Model, group: _Alike, hosts: Sequence[Host]) -> tuple[str, str]:
    """Return the consequence and the next step."""
    if group.kind in _views():
        return _views()[group.kind].advise(group.found, group.verdict)
    return advice.of_key(group.advice, model.words.layout.of_mq, instead(model))
