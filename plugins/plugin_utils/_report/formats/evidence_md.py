# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""evidence.md: the record of a run for an auditor. It states what was measured, how, and with what result. It leaves
room for decisions and signatures."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ....module_utils._units import format_count
from ..._options.table import SHOWN
from ..._run.columns import ALL_WORKERS
from ..._run.findings import SETTING
from ..._run.settings import SETTING_RESULTS, result_of, worst_settings
from ..._run.table_reader import printable
from ..._run.verdicts import FAIL, INCONCLUSIVE, PASS, WARN, badness
from ..._run.words import Words, size_text
from ..causes.cause import LIMIT, Cause
from ..causes.groups import causes
from ..figures import step_cell
from ..folding import and_list, fold_names, shorten
from ..headroom import capacity_lines
from ..model import Host, Model, ShownProfile
from ..overview import parameters_of, qualifies_of
from ..series import Figures, LimitEntry, at_worst, judges_text, worst_text
from ..template import render_template

FILE = "evidence.md"
AFTER_OTHERS = True
"""It contains the SHA-256 of some of the other files."""

SHOWN_FINDINGS = 10
SHOWN_CRITERIA = 12
SHOWN_WAIVERS = 7
SHOWN_PROFILES = 4
"""How many items are shown; report.json and run.json contain all of them."""

LONGEST_TEXT = 300

_FILES = ("run.json", "verdict.json", "results.csv", "report.json")
"""The files whose SHA-256 identifies the run in this document."""
_WAIVER_KEYS = ("host", "metric", "owner", "until", "reason")
_LIMIT_VERDICTS = (FAIL, INCONCLUSIVE, WARN, PASS)


def render(model: Model) -> Iterator[str]:
    """Yield the text of the document piece by piece."""
    found, parameters = causes(model), dict(parameters_of(model))
    return render_template(
        "evidence.md.j2",
        model=model,
        identity=_identity(model),
        scope=_scope(model),
        method=_method(model),
        parameters=[(name, parameters[name]) for name in SHOWN if name in parameters],
        profile=_profile(model),
        qualifies=qualifies_of(model),
        verdicts=_verdicts(model),
        limit_verdicts=_LIMIT_VERDICTS,
        source_of=lambda limit: shorten(printable(limit.source), LONGEST_TEXT),
        waiver_of=lambda cause: _waiver_of(model, cause),
        may_be_waived=lambda cause: _may_be_waived(model, cause),
        digests=[(name, _sha256(os.path.join(model.path, name))) for name in _FILES],
        **_first(
            criteria=(model.criteria, SHOWN_CRITERIA),
            kept=(_kept(model.hosts), SHOWN_CRITERIA),
            findings=(found, SHOWN_FINDINGS),
            waivers=(_waivers(model), SHOWN_WAIVERS),
        ),
    )


def _first(**lists: tuple[Sequence[Any], int]) -> dict[str, Any]:
    """Return the items of each list that are shown and the number of the others, as variables of the template."""
    shown = {name: items[:most] for name, (items, most) in lists.items()}
    return {**shown, **{f"{name}_left": len(items) - len(shown[name]) for name, (items, _most) in lists.items()}}


def _identity(model: Model) -> list[tuple[str, str]]:
    """Return the rows that identify the run: its dates and who ran it."""
    controller, moments = (
        model.run.get("controller") or {},
        sorted(host.created_at for host in model.hosts if host.rows),
    )
    who = f"{controller.get('user') or 'not recorded'} on {controller.get('hostname') or 'not recorded'}"
    job = controller.get("job") or {}
    of_job = f", AWX job {job['id']} of {job.get('launched_by') or 'an unknown user'}" if job.get("id") else ""
    return [
        ("Run", model.run_id),
        *([("Merged from", _names(map(str, model.run["merged_from"])))] if model.run.get("merged_from") else []),
        ("Opened", printable(str(model.run.get("created_at") or ""))),
        ("Measured", f"records filed from {moments[0]} to {moments[-1]}" if moments else "nothing was measured"),
        ("Judged", printable(str(model.fleet.get("created_at") or ""))),
        ("Operator", shorten(printable(who + of_job), LONGEST_TEXT)),
        ("Verdict", f"{model.verdict}. {model.headed_statement}"),
        ("Certificates", f"valid until {model.valid_until}" if model.valid_until else _certificates(model)),
    ]


def _certificates(model: Model) -> str:
    valid = [host for host in model.hosts if host.valid_until]
    if not valid:
        return "none was issued"
    return (
        f"{format_count(len(valid))} of {model.size} have one, the first of which ends on "
        f"{min(host.valid_until for host in valid)}"
    )


def _what_loads_count(words: Words) -> str:
    return (
        f"{words.workers} that wrote at the same time"
        if words.load_is_workers
        else f"{words.loads} of each {words.worker}"
    )


def _scope(model: Model) -> list[tuple[str, str]]:
    """Return the scope of the run, and the parts that were not measured."""
    unmeasured = [host for host in model.hosts if not host.rows]
    loads = and_list([str(load) for load in sorted({step[0] for step in model.steps})])
    if model.words.layout.described:
        return [*_who_was_measured(model, unmeasured), *_described_scope(model, loads)]
    sizes = ", ".join(map(size_text, sorted({step[1] for step in model.steps}, key=lambda size: size or 0)))
    return [
        *_who_was_measured(model, unmeasured),
        (f"{model.words.size}s".capitalize(), sizes or "none"),
        ("Load points", f"{loads or 'none'} ({_what_loads_count(model.words)})"),
        (
            "Not covered",
            "reads, other programs on the storage, outages, and anything that did not occur while it was measured",
        ),
    ]


def _who_was_measured(model: Model, unmeasured: Sequence[Host]) -> list[tuple[str, str]]:
    return [
        ("Expected", _names(map(str, model.run.get("expected_hosts") or []))),
        ("Left out by the limit", _names(map(str, model.run.get("left_out_hosts") or []))),
        ("Measured", f"{format_count(len(model.hosts) - len(unmeasured))} of {model.size}"),
        ("Not measured", _names(host.label for host in unmeasured)),
    ]


def _described_scope(model: Model, loads: str) -> list[tuple[str, str]]:
    streams = dict.fromkeys(
        step_cell(host, figures) for host in model.hosts for dummy, figures in host.results() if _is_stream(figures)
    )
    return [
        ("Workload", model.subject.removeprefix("the workload ")),
        *(("What it is not", text) for text in model.disclaimers),
        ("Streams", shorten("; ".join(streams), LONGEST_TEXT) or "none"),
        ("Load points", f"{loads or 'none'} ({model.words.loads})"),
        *(("Capacity", line) for line in capacity_lines(model)),
        (
            "Not covered",
            "other programs on the storage, outages, and anything that did not occur while it was measured",
        ),
    ]


def _is_stream(figures: Figures) -> bool:
    """Return whether a row is about an operation of a stream, for all workers together."""
    return figures["worker"] == ALL_WORKERS and figures["stream"] != ALL_WORKERS


def _names(names: Iterable[str]) -> str:
    """Return the number of names, and the first few of them."""
    known = [printable(name) for name in names]
    return f"{format_count(len(known))}: {fold_names(known)}" if known else "none"


def _method(model: Model) -> list[tuple[str, str]]:
    """Return the versions of the software that made the measurements."""
    testers = Counter(host.method for host in model.hosts if host.method)
    used = "; ".join(f"{method} ({format_count(count)} of {model.size})" for method, count in testers.most_common(3))
    controller = model.run.get("controller") or {}
    return [
        (
            "Collection",
            f"mqops.logdisk {printable(str(model.run.get('collection_version') or 'of an unknown version'))}",
        ),
        ("Tester", shorten(used, LONGEST_TEXT) or "nothing was measured"),
        ("Settings of hosts", _settings(model.hosts)),
        (
            "Controller",
            printable(
                f"ansible-core {controller.get('ansible_version') or 'not recorded'}, Python "
                f"{controller.get('python_version') or 'not recorded'}"
            ),
        ),
    ]


def _profile(model: Model) -> list[tuple[str, str]]:
    """Return which profiles judged which volumes."""
    baseline = model.run.get("baseline")
    asked = (
        f"{baseline['kind']}, with a margin of {baseline.get('margin')}"
        if baseline and baseline.get("kind")
        else "none"
    )
    if model.run.get("merged_from") and baseline is None:
        asked = "the runs that were merged have different ones"
    shown = [
        pair
        for profile in model.profiles[:SHOWN_PROFILES]
        for pair in _one_profile(profile, several=len(model.profiles) > 1)
    ]
    left = len(model.profiles) - SHOWN_PROFILES
    more = [("More profiles", f"{format_count(left)}, in run.json and report.json")] if left > 0 else []
    return [*shown, *more, ("Baseline", printable(str(asked)))]


def _one_profile(profile: ShownProfile, several: bool) -> list[tuple[str, str]]:
    return [
        ("Profile", profile.text),
        *([("Judges", _names(profile.labels))] if several else []),
        ("SHA-256", profile.sha256 or "not recorded"),
        ("Extends", printable(", ".join(map(str, profile.data.get("derived_from") or []))) or "nothing"),
    ]


def _verdicts(model: Model) -> list[tuple[str, int, str]]:
    """Return each verdict that occurs with its count and some of the names."""
    by_verdict: dict[str, list[str]] = {}
    for host in model.hosts:
        by_verdict.setdefault(host.verdict, []).append(host.label)
    return [(verdict, len(names), fold_names(names)) for verdict, names in by_verdict.items()]


def _kept(hosts: Iterable[Host]) -> list[list[Any]]:
    """Return a row for each limit: its text, the rows that it judges, how many volumes have each verdict on it, and the
    worst figure with its row and volume."""
    found: dict[tuple[Any, ...], list[tuple[Host, LimitEntry]]] = {}
    for host in hosts:
        for limit in host.limits:
            key = tuple(limit[name] for name in ("limit", "rows", "hard", "severity"))
            found.setdefault(key, []).append((host, limit))
    return [
        [
            on[0][1]["limit"],
            _judges(*on[0]),
            *(sum(limit["verdict"] == verdict for host, limit in on) for verdict in _LIMIT_VERDICTS),
            _worst(on),
        ]
        for on in found.values()
    ]


def _settings(hosts: Iterable[Host]) -> str:
    """Return how many settings were checked, and which of them are not as expected or could not be read, with the
    number of volumes."""
    found: dict[str, Counter[str]] = {result: Counter() for result in SETTING_RESULTS}
    for host in hosts:
        for each in worst_settings(host.checked_settings):
            found[result_of(each)][each["id"]] += 1
    checked = len({name for counts in found.values() for name in counts})
    others = [
        f"{result}: {', '.join(f'{name} ({format_count(count)})' for name, count in sorted(counts.items()))}"
        for result, counts in found.items()
        if counts and result != PASS
    ]
    return "; ".join([f"{checked} checked", *others]) if checked else "none was checked"


def _worst(on: Iterable[tuple[Host, LimitEntry]]) -> str:
    known = [each for each in on if each[1]["worst"]["value"] is not None]
    if not known:
        return "no figure"
    host, limit = min(known, key=lambda each: _badness(each[1]))
    return f"{worst_text(limit)}{at_worst(host.words, limit)} on {shorten(host.label)}"


def _judges(host: Host, limit: LimitEntry) -> str:
    return judges_text(host.words, limit["rows"], str(limit["metric"]), bool(limit["hard"]))


def _badness(limit: LimitEntry) -> tuple[int, float]:
    return badness({"verdict": limit["verdict"], "value": limit["worst"]["value"], "bound": limit["bound"]})


def _waivers(model: Model) -> list[dict[str, Any]]:
    """Return the waivers of all profiles of the run, and whether a judgement of this run used them."""
    used = {
        (shorten(host.host, LONGEST_TEXT), about)
        for host in model.hosts
        for limit in host.limits
        if limit["worst"]["waiver"]
        for about in (limit["metric"], limit["limit_id"])
    }
    used |= {
        (shorten(host.host, LONGEST_TEXT), each["id"])
        for host in model.hosts
        for each in host.checked_settings
        if each.get("waiver")
    }
    stated = {_parts(waiver) for profile in model.profiles for waiver in profile.data.get("waivers") or []}
    return [{**dict(zip(_WAIVER_KEYS, parts)), "is_used": parts[:2] in used} for parts in sorted(stated)]


def _parts(waiver: Mapping[str, Any]) -> tuple[str, ...]:
    known = {**waiver, "metric": waiver.get("metric") or waiver.get("id")}
    return tuple(shorten(printable(str(known.get(key) or "")), LONGEST_TEXT) for key in _WAIVER_KEYS)


def _waiver_of(model: Model, cause: Cause) -> str:
    """Return the reasons for the waivers that cover a cause; empty if there are none."""
    if cause.verdict != WARN or cause.kind != LIMIT:
        return ""
    concerned = set(cause.hosts)
    limits = (limit for host in model.hosts if host.label in concerned for limit in host.limits)
    reasons = {
        limit["worst"]["waiver"]
        for limit in limits
        if cause.limit and all(limit[key] == cause.limit[key] for key in ("limit", "rows"))
    }
    return and_list(sorted(shorten(reason) for reason in reasons if reason))


def _may_be_waived(model: Model, cause: Cause) -> bool:
    """Return whether a waiver can excuse a cause on one of its hosts: a waiver excuses a figure that breaks a limit and
    a wrong setting, but never a hard failure."""
    if cause.kind == SETTING:
        return True
    if cause.limit is None or cause.verdict not in (FAIL, INCONCLUSIVE):
        return False
    concerned = {*cause.hosts}
    limits_of_hosts = (
        [
            limit
            for limit in host.limits
            if limit["verdict"] == cause.verdict and limit["metric"] == cause.limit["metric"]
        ]
        for host in model.hosts
        if host.label in concerned
    )
    return any(
        any(limit["worst"]["value"] is not None for limit in limits) and not any(limit["hard"] for limit in limits)
        for limits in limits_of_hosts
    )


def _sha256(path: str) -> str:
    """Return the SHA-256 of a file of the run that was written before this document."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except FileNotFoundError:
        return "the file does not exist"
    return digest.hexdigest()
