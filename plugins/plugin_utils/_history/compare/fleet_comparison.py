# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The comparison of two selections of certificates, by class of similar volumes, as the plain data of comparison.json.
class_comparison.py compares the volumes of a class."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....module_utils._units import format_ratio
from ..._run.moment import seconds_between, utc_now
from ..._run.table_reader import printable
from ..._run.verdicts import INCONCLUSIVE
from ..certificate import ROW_KEYS, Entry, newest_of_each_run
from ..store.history import History
from .change import NON_INFERIOR, WORSE, ClassChange, HostChange
from .class_comparison import ALPHA, Compared, Reading, VolumeRuns, compare_volumes
from .selection import MOST_EARLIER, Selection, SelectionError

SCHEMA_VERSION = 1
OUTCOMES = (WORSE, INCONCLUSIVE, NON_INFERIOR)
"""The worst first."""
LEAST_HOURS = 36
"""A few volumes are reported as worse only if the runs of each side are spread over this many hours: three nights.
Runs of one day resemble each other more than a small class can show."""

_CONCLUSIONS = ("p_value", "smallest_named", "runs_needed", "after_needed", "reason")


def compare_fleet(
    history: History, before: Selection, after: Selection, hosts: Collection[str], *, figure: str, margin: float
) -> dict[str, Any]:
    """Return the comparison of the certificates of some hosts. Raises HistoryError,
    and SelectionError if a certificate is on both sides."""
    names = {printable(host) for host in hosts}
    if names.isdisjoint(entry.host for each in (before, after) for entry in each.entries.values()):
        raise SelectionError(
            "none of the selected certificates belongs to a host that certify_hosts and the limit select"
        )
    both = before.entries.keys() & after.entries.keys()
    if both:
        shared = before.entries[min(both)]
        raise SelectionError(
            f"the certificate {shared.sha256[:12]} of {shared.label} (run {shared.run_id}) is both "
            "before and after: select it once"
        )
    reading = Reading(history, figure, {**before.made, **after.made}, lambda volume: [_earlier(history, volume)])
    found: dict[tuple[str, ...], list[VolumeRuns]] = {}
    for label, sides in sorted(_by_volume(before, after, names).items()):
        volume = reading.read(label, *sides)
        if volume:
            found.setdefault(volume.kind, []).append(volume)
    total = sum(map(len, found.values()))
    classes, changed = [], []
    # Volumes of a class that were measured in different ways, but each in the same way on both sides, are apart.
    for kind, volumes in sorted(found.items()):
        compared = compare_volumes(reading, volumes, margin, len(volumes) / total)
        part, members = _class_and_hosts(compared, volumes, margin)
        changed += [{**host, "class": len(classes)} for host in members]
        classes.append({"class": kind[0], **part})
    selected = {entry.host for side in (before, after) for entry in side.entries.values()}
    changed += _uncompared(reading, sorted(names - selected), {host["host"] for host in changed})
    changed.sort(key=lambda host: (OUTCOMES.index(host["outcome"]), -(host["change"] or -math.inf), host["host"]))
    return {
        "schema": SCHEMA_VERSION,
        "created_at": utc_now(),
        "figure": figure,
        "margin": margin,
        "confidence": 1 - ALPHA,
        "outcome": _worst(
            [part["outcome"] for part in classes]
            + [host["outcome"] for host in changed if host["class"] is None or host["change"] is None]
        ),
        "before": _side(before, names),
        "after": _side(after, names),
        "classes": classes,
        "hosts": changed,
        "changes": _common_changes(changed),
        "left_out": reading.left_out,
    }


def _worst(outcomes: Iterable[str]) -> str:
    """Return the worst outcome, or inconclusive if nothing was compared."""
    return min(outcomes, key=OUTCOMES.index, default=INCONCLUSIVE)


# Reading.


def _by_volume(
    before: Selection, after: Selection, hosts: Collection[str]
) -> dict[str, tuple[list[Entry], list[Entry]]]:
    """Return the selected certificates of each volume before and after, oldest first, by the displayed name of the
    volume.

    Imported results do not name their mount point, so they belong to every volume of their name.
    """
    entries = [
        (number, entry)
        for number, side in enumerate((before, after))
        for entry in sorted(side.entries.values(), key=lambda entry: entry.order)
        if entry.host in hosts
    ]
    places: dict[str, set[str]] = {}
    for _number, entry in entries:
        places.setdefault(entry.label, set()).update({entry.place[2]} - {""})
    found: dict[str, tuple[list[Entry], list[Entry]]] = {}
    for number, entry in entries:
        known = places[entry.label]
        for mount_point in [entry.place[2]] if entry.place[2] else sorted(known) or [""]:
            label = f"{entry.label} at {mount_point}" if len(known) > 1 else entry.label
            found.setdefault(label, ([], []))[number].append(entry)
    return found


def _earlier(history: History, volume: VolumeRuns) -> list[Entry]:
    """Return the earlier certificates of a volume."""
    own = volume.entry
    same = [entry for entry in history.of_name(own.host, own.volume) if entry.order < volume.first]
    return newest_of_each_run(
        entry for entry in same if (entry.identity, entry.disk_id) == (own.identity, own.disk_id)
    )[-MOST_EARLIER:]


# Comparing.


def _class_and_hosts(
    compared: Compared, volumes: Sequence[VolumeRuns], margin: float
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the results for a class and for each of its hosts."""
    nothing = "the volumes of its class have no row in common"
    change = compared.change or ClassChange(tuple(_undecided(each.label, nothing, each) for each in volumes), {})
    by_label = {volume.label: volume for volume in volumes}
    named = {host.host for host in change.hosts}
    few = "the runs in which it took part contain too few hosts of its class"
    hosts = [*change.hosts, *(_undecided(each.label, few, each) for each in volumes if each.label not in named)]
    if not change.correlation_is_known:
        hosts = [_of_apart_runs(host, _hours(by_label[host.host])) for host in hosts]
        change = replace(change, hosts=tuple(host for host in hosts if host.host in named))
    part = _class_data(change, compared, margin)
    part["assumption"] = _assumption(change, map(_hours, volumes))
    if part["worse_together"]:
        hosts = [_with_its_class(host, margin) for host in hosts]
    return part, [_host_data(host, by_label[host.host]) for host in hosts]


def _hours(volume: VolumeRuns) -> float | None:
    """Return how far the runs of a side are apart, of the side with the smaller spread. If no side has two runs, how
    far the earlier runs are apart; None if there are no two of these either."""
    several = [side for side in (volume.before, volume.after) if len(side) > 1] or volume.earlier
    sides = [sorted(volume.judged_at[run_id] for run_id in side) for side in several]
    spreads = [seconds_between(moments[0], moments[-1]) / 3600 for moments in sides if len(moments) > 1]
    return min(spreads, default=None)


def _undecided(label: str, reason: str, volume: VolumeRuns | None = None) -> HostChange:
    runs = (len(volume.before), len(volume.after)) if volume else (0, 0)
    return HostChange(label, INCONCLUSIVE, *runs, reason=reason)


def _of_apart_runs(change: HostChange, hours: float | None) -> HostChange:
    """Do not name a host as worse if its runs are too close together to show how much runs differ."""
    if change.outcome != WORSE or hours is None or hours >= LEAST_HOURS:
        return change
    within = f"{max(1, round(hours))} h"
    reason = f"the runs that show how much it varies were made within {within}; a few volumes need {LEAST_HOURS} h"
    return replace(change, outcome=INCONCLUSIVE, reason=reason)


def _assumption(change: ClassChange, hours: Iterable[float | None]) -> dict[str, float] | None:
    """Return what a comparison assumes because its runs do not show it; None if they do, or if nothing follows."""
    known = [each for each in hours if each is not None]
    if change.correlation_is_known or change.correlation is None or not known:
        return None
    return {"correlation": change.correlation, "hours": min(known)}


def _with_its_class(change: HostChange, margin: float) -> HostChange:
    """If a host became worse together with its class, note that more runs of this host alone cannot decide anything."""
    if change.outcome != INCONCLUSIVE or change.lower_bound is None or change.lower_bound <= margin:
        return change
    return replace(change, reason="it became worse, but no more than its class", runs_needed=None, after_needed=None)


def _uncompared(reading: Reading, missing: Iterable[str], compared: Collection[str]) -> list[dict[str, Any]]:
    """Return the hosts for which no certificate was selected, or none of whose certificates can be compared."""
    reasons = {
        **dict.fromkeys((each["host"] for each in reading.left_out), "none of its certificates can be compared"),
        **dict.fromkeys(missing, "none of the selected certificates belongs to this host"),
    }
    changes = (_undecided(label, reason) for label, reason in reasons.items() if label not in compared)
    return [{**_host_data(change, None), "class": None} for change in changes]


# Conversion to plain data.


def _class_data(change: ClassChange, compared: Compared, margin: float) -> dict[str, Any]:
    return {
        "outcome": _class_outcome(change, margin),
        "hosts": len(change.hosts),
        "worse_hosts": sum(host.outcome == WORSE for host in change.hosts),
        "runs_before": compared.runs_before,
        "runs_after": compared.runs_after,
        "hold_against_class": bool(change.shift),
        "moved_together": _moved(change),
        "worse_together": _is_worse_together(change, margin),
        "change": change.change,
        "lower_bound": change.lower_bound,
        "upper_bound": change.upper_bound,
        "correlation": change.correlation,
        "shift": [{**_row_data(row), "change": change.shift[row]} for row in compared.rows if row in change.shift],
    }


def _class_outcome(change: ClassChange, margin: float) -> str:
    """Return the result for a class; with fewer than eight hosts, only each host's own runs are used."""
    outcomes = [host.outcome for host in change.hosts]
    if WORSE in outcomes or _is_worse_together(change, margin):
        return WORSE
    good = change.non_inferior if change.shift else set(outcomes) == {NON_INFERIOR}
    return NON_INFERIOR if good else INCONCLUSIVE


def _moved(change: ClassChange) -> bool:
    """Return whether the hosts of a class that are not worse have, taken together, changed more than chance
    explains."""
    return _is_worse_together(change, 0) or (bool(change.shift) and (change.upper_bound or 0.0) < 0)


def _is_worse_together(change: ClassChange, margin: float) -> bool:
    return bool(change.shift) and change.lower_bound is not None and change.lower_bound > margin


def _host_data(change: HostChange, volume: VolumeRuns | None) -> dict[str, Any]:
    worst = change.worst_row
    return {
        **{name: getattr(change, name) for name in ("host", "outcome", "runs_before", "runs_after")},
        "earlier_runs": sum(map(len, volume.earlier)) if volume else 0,
        **{name: getattr(change, name) for name in ("change", "lower_bound")},
        "upper_bound": change.bound,
        "beyond_class": change.beyond_class,
        "worst_row": None if worst is None else {**_row_data(worst), "change": change.worst_row_change},
        **{name: getattr(change, name) for name in _CONCLUSIONS},
        "changes": volume.changes if volume else [],
    }


def _row_data(row: Any) -> dict[str, Any]:
    return dict(zip(ROW_KEYS, row))


def _common_changes(hosts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what changed and on how many hosts, the most frequent first."""
    counts = Counter((each["name"], each["before"], each["after"]) for host in hosts for each in host["changes"])
    return [
        {"name": name, "before": old, "after": new, "hosts": count} for (name, old, new), count in counts.most_common()
    ]


def _side(selection: Selection, hosts: Collection[str]) -> dict[str, Any]:
    """Return the terms that were requested for one side, and the runs that they select, oldest first."""
    runs: dict[str, list[Entry]] = {}
    for entry in sorted(selection.entries.values(), key=lambda entry: entry.order):
        if entry.host in hosts:
            runs.setdefault(entry.run_id, []).append(entry)
    return {
        "selected": list(selection.terms),
        "runs": [
            {"run_id": run_id, "judged_at": entries[0].judged_at, "volumes": len(entries)}
            for run_id, entries in runs.items()
        ],
    }


def statement_of(comparison: Mapping[str, Any]) -> str:
    """Return a comparison as one sentence."""
    margin = format_ratio(comparison["margin"])
    counts = Counter(host["outcome"] for host in comparison["hosts"])
    total = len(comparison["hosts"])
    worse = (
        f"{counts[WORSE]} of {total} volumes became worse"
        if counts[WORSE]
        else f"no volume of {total} is shown to have become worse"
    )
    parts = [f"{worse} by at least {margin}"]
    if counts[INCONCLUSIVE]:
        parts.append(f"{counts[INCONCLUSIVE]} cannot be decided")
    together = sum(part["worse_together"] for part in comparison["classes"])
    if together:
        parts.append(f"{together} {'class' if together == 1 else 'classes'} became worse as a whole")
    return "; ".join(parts) + "."
