# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The comparison of two selections of certificates, by class of similar volumes, as the plain data of comparison.json.

figures.py decides what can be compared, and change.py does the statistics. This module groups certificates into runs
and classes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ....module_utils._units import format_ratio
from ..._run.files import fingerprint
from ..._run.moment import seconds_between, utc_now
from ..._run.table_reader import printable
from ..._run.verdicts import INCONCLUSIVE
from ..certificate import ROW_KEYS, Entry, newest_of_each_run
from ..figures import Change, Content, RowKey, changes, class_of, row_order, rows_of, why_incomparable
from ..store.history import History
from .baseline import MOST_EARLIER
from .change import FEWEST_ALIKE, NON_INFERIOR, WORSE, ClassChange, HostChange, compare_class
from .selection import Selection, SelectionError

SCHEMA_VERSION = 1
ALPHA = 0.05
OUTCOMES = (WORSE, INCONCLUSIVE, NON_INFERIOR)
"""The worst first."""
LEAST_HOURS = 36
"""A few volumes are reported as worse only if the runs of each side are spread over this many hours: three nights.
Runs of one day resemble each other more than a small class can show."""

_CONCLUSIONS = ("p_value", "smallest_named", "runs_needed", "after_needed", "reason")

Rows = dict[RowKey, float]


@dataclass
class _Volume:
    """A host's volume: the figures of its comparable certificates by run, on both sides, and facts about the last
    certificate."""

    label: str
    kind: tuple[str, ...]
    entry: Entry
    reference: Content
    first: tuple[str, int, str, str, str]
    before: dict[str, Rows] = field(default_factory=dict)
    after: dict[str, Rows] = field(default_factory=dict)
    earlier: dict[str, Rows] = field(default_factory=dict)
    judged_at: dict[str, str] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    @property
    def hours(self) -> float | None:
        """How far the runs of a side are apart, of the side with the smaller spread. If no side has two runs, how far
        the earlier runs are apart; None if there are no two of these either."""
        several = [side for side in (self.before, self.after) if len(side) > 1] or [self.earlier]
        sides = [sorted(self.judged_at[run_id] for run_id in side) for side in several]
        spreads = [seconds_between(moments[0], moments[-1]) / 3600 for moments in sides if len(moments) > 1]
        return min(spreads, default=None)


@dataclass
class _Reading:
    """The data that is read from the certificates of a fleet.

    ``left_out`` are certificates that cannot be compared, as plain data, and ``missing`` are the hosts without a
    selected certificate.
    """

    history: History
    figure: str
    revoked: Collection[str]
    volumes: list[_Volume] = field(default_factory=list)
    left_out: list[dict[str, Any]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def why_incomparable(self, entry: Entry, content: Content, other: Content) -> str:
        if entry.misdated:
            return f"it is {entry.date_text()}"
        return "it was revoked" if entry.sha256 in self.revoked else why_incomparable(content, other, self.figure)

    def leave_out(self, label: str, entry: Entry, side: str, reason: str) -> None:
        self.left_out.append(
            {
                "host": label,
                "side": side,
                "certificate": entry.sha256,
                "run_id": entry.run_id,
                "judged_at": entry.judged_at,
                "reason": reason,
            }
        )


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
    reading = _read(history, before, after, names, figure)
    classes, changed = [], []
    for name, volumes in _classes(reading.volumes):
        part, members = _compare(reading, volumes, margin, len(volumes) / len(reading.volumes))
        changed += [{**host, "class": len(classes)} for host in members]
        classes.append({"class": name, **part})
    changed += _uncompared(reading, {host["host"] for host in changed})
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


def _read(history: History, before: Selection, after: Selection, hosts: Collection[str], figure: str) -> _Reading:
    reading = _Reading(history, figure, history.revocations())
    for label, sides in sorted(_by_volume(before, after, hosts).items()):
        contents = [
            selection.contents(history, [entry.sha256 for entry in side])
            for selection, side in zip((before, after), sides)
        ]
        _read_volume(reading, label, list(zip(sides[0], contents[0])), list(zip(sides[1], contents[1])))
    reading.missing = sorted(
        set(hosts).difference(entry.host for selection in (before, after) for entry in selection.entries.values())
    )
    return reading


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


def _read_volume(
    reading: _Reading, label: str, before: Sequence[tuple[Entry, Content]], after: Sequence[tuple[Entry, Content]]
) -> None:
    """Add a volume with all certificates that can be compared with the newest comparable one."""
    reference = next(
        (
            (entry, content)
            for entry, content in reversed([*before, *after])
            if not reading.why_incomparable(entry, content, content)
        ),
        None,
    )
    volume = None
    if reference is not None:
        entry, newest = reference
        first = min(entry.order for entry, _content in (*before, *after))
        kind = (class_of(newest), str(newest["method_version"]), fingerprint(newest.get("parameters")))
        volume = _Volume(label, kind, entry, newest, first)
        reading.volumes.append(volume)
    used: dict[str, list[Content]] = {"before": [], "after": []}
    for side, certificates in (("before", before), ("after", after)):
        for entry, content in certificates:
            reason = reading.why_incomparable(entry, content, volume.reference if volume else content)
            if reason or volume is None:
                reading.leave_out(label, entry, side, reason)
                continue
            getattr(volume, side)[entry.run_id] = rows_of(content, reading.figure)
            volume.judged_at[entry.run_id] = entry.judged_at
            used[side].append(content)
    if volume and all(used.values()):
        volume.changes = changes(used["before"][-1], used["after"][-1])


def _classes(volumes: Iterable[_Volume]) -> list[tuple[str, list[_Volume]]]:
    """Return the volumes by class. If volumes of a class were measured in different ways, but each in the same way
    before and after, they form separate classes."""
    found: dict[tuple[str, ...], list[_Volume]] = {}
    for volume in volumes:
        found.setdefault(volume.kind, []).append(volume)
    return [(kind[0], members) for kind, members in sorted(found.items())]


def _add_earlier_runs(reading: _Reading, volumes: Sequence[_Volume]) -> None:
    """Read the earlier runs of the volumes, which show how much the runs of a volume differ."""
    for volume in volumes:
        own = volume.entry
        same = [entry for entry in reading.history.of_name(own.host, own.volume) if entry.order < volume.first]
        same = newest_of_each_run(
            entry for entry in same if (entry.identity, entry.disk_id) == (own.identity, own.disk_id)
        )[-MOST_EARLIER:]
        contents = reading.history.contents([entry.sha256 for entry in same])
        volume.earlier = {
            entry.run_id: rows_of(content, reading.figure)
            for entry, content in zip(same, contents)
            if not reading.why_incomparable(entry, content, volume.reference)
        }
        volume.judged_at.update((entry.run_id, entry.judged_at) for entry in same)


# Comparing.


def _compare(
    reading: _Reading, volumes: Sequence[_Volume], margin: float, share: float
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the results for a class and for each of its hosts."""
    before, after = (_runs_of(volumes, side) for side in ("before", "after"))
    runs = before + after
    too_few = sum(all(volume.label in run for run in runs) for volume in volumes) < FEWEST_ALIKE
    if too_few or 1 in (
        len(before),
        len(after),
    ):  # several runs on both sides are enough, and reading the earlier runs of a large fleet takes long
        _add_earlier_runs(reading, volumes)
    common = set.intersection(*(set(rows) for run in runs for rows in run.values()))
    rows = sorted(common, key=row_order)
    if rows:
        known = [
            {label: figures for label, figures in run.items() if common <= figures.keys()}
            for run in _runs_of(volumes, "earlier")
        ]
        before, after, earlier = ([_only(rows, run) for run in part] for part in (before, after, known))
        change = compare_class(before, after, margin=margin, alpha=ALPHA, share=share, earlier=[earlier])
    else:
        nothing = "the volumes of its class have no row in common"
        change = ClassChange(tuple(_undecided(each.label, nothing, each) for each in volumes), {})
    by_label = {volume.label: volume for volume in volumes}
    compared = {host.host for host in change.hosts}
    few = "the runs in which it took part contain too few hosts of its class"
    hosts = [*change.hosts, *(_undecided(each.label, few, each) for each in volumes if each.label not in compared)]
    if not change.correlation_is_known:
        hosts = [_of_apart_runs(host, by_label[host.host].hours) for host in hosts]
        change = replace(change, hosts=tuple(host for host in hosts if host.host in compared))
    part = _class_data(change, rows, len(before), len(after), margin)
    part["assumption"] = _assumption(change, [volume.hours for volume in volumes])
    if part["worse_together"]:
        hosts = [_with_its_class(host, margin) for host in hosts]
    return part, [_host_data(host, by_label[host.host]) for host in hosts]


def _runs_of(volumes: Sequence[_Volume], side: str) -> list[dict[str, Rows]]:
    """Return the runs of one side of a class. Runs without a common host are combined into one, because a fleet is
    often measured in parts, or a host is measured again.

    A run with few hosts, for example of a single host that was measured again, is not used. Otherwise, no host would
    have taken part in every run.
    """
    by_run: dict[str, dict[str, Rows]] = {}
    for volume in volumes:
        for run_id, rows in getattr(volume, side).items():
            by_run.setdefault(run_id, {})[volume.label] = rows
    merged: list[dict[str, Rows]] = []
    for dummy, run in sorted(by_run.items()):
        place = next((other for other in merged if not other.keys() & run.keys()), None)
        if place is None:
            merged.append(dict(run))
        else:
            place.update(run)
    most = max(map(len, merged), default=0)
    return [run for run in merged if most < FEWEST_ALIKE or 2 * len(run) >= most]


def _only(rows: Sequence[RowKey], run: Mapping[str, Rows]) -> dict[str, Rows]:
    return {label: {row: figures[row] for row in rows} for label, figures in run.items()}


def _undecided(label: str, reason: str, volume: _Volume | None = None) -> HostChange:
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


def _uncompared(reading: _Reading, compared: Collection[str]) -> list[dict[str, Any]]:
    """Return the hosts for which no certificate was selected, or none of whose certificates can be compared."""
    reasons = {
        **dict.fromkeys((each["host"] for each in reading.left_out), "none of its certificates can be compared"),
        **dict.fromkeys(reading.missing, "none of the selected certificates belongs to this host"),
    }
    changes = (_undecided(label, reason) for label, reason in reasons.items() if label not in compared)
    return [{**_host_data(change, None), "class": None} for change in changes]


# Conversion to plain data.


def _class_data(
    change: ClassChange, rows: Sequence[RowKey], runs_before: int, runs_after: int, margin: float
) -> dict[str, Any]:
    return {
        "outcome": _class_outcome(change, margin),
        "hosts": len(change.hosts),
        "worse_hosts": sum(host.outcome == WORSE for host in change.hosts),
        "runs_before": runs_before,
        "runs_after": runs_after,
        "hold_against_class": bool(change.shift),
        "moved_together": _moved(change),
        "worse_together": _is_worse_together(change, margin),
        "change": change.change,
        "lower_bound": change.lower_bound,
        "upper_bound": change.upper_bound,
        "correlation": change.correlation,
        "shift": [{**_row_data(row), "change": change.shift[row]} for row in rows if row in change.shift],
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


def _host_data(change: HostChange, volume: _Volume | None) -> dict[str, Any]:
    worst = change.worst_row
    return {
        **{name: getattr(change, name) for name in ("host", "outcome", "runs_before", "runs_after")},
        "earlier_runs": len(volume.earlier) if volume else 0,
        **{name: getattr(change, name) for name in ("change", "lower_bound")},
        "upper_bound": change.bound,
        "beyond_class": change.beyond_class,
        "worst_row": None if worst is None else {**_row_data(worst), "change": change.worst_row_change},
        **{name: getattr(change, name) for name in _CONCLUSIONS},
        "changes": [asdict(each) for each in volume.changes] if volume else [],
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
