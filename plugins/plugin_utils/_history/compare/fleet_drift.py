# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines the drift of the volumes of a fleet over their certificates, as the plain data of drift.json.

figures.py decides which certificates can be compared, nights.py finds conspicuous certificates, decline.py finds
classes that became slower together, and change_points.py finds out when figures changed. This module groups
certificates into series and nights, and adds the changes of the environment.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from ..._numerics.likeness import likeness
from ..._run.files import fingerprint
from ..._run.moment import utc_now
from ..._run.record import host_label
from ..._run.table_reader import printable
from ..certificate import ROW_KEYS, Entry, newest_of_each_run
from ..figures import (
    IMPORTED,
    RATES,
    THROUGHPUT,
    Content,
    RowKey,
    changes,
    class_of,
    comparable_with_newest,
    is_imported,
    row_order,
    rows_of,
)
from ..result import wrong_dates
from ..states import volumes
from ..store.history import History, HistoryError
from .change_points import ChangePoint, change_points
from .decline import Decline, class_decline
from .nights import IN_A_ROW, Figure, Watched, watch

SCHEMA_VERSION = 1
DRIFTING = "drifting"
CONSPICUOUS = "conspicuous"
CHANGED = "changed"
STEADY = "steady"
SHORT = "short"
STATES = (DRIFTING, CONSPICUOUS, CHANGED, STEADY, SHORT)
"""The results, worst first: the newest two certificates are beyond the control limit, only the newest one is, the
figures changed at some time, they did not change, or there are too few certificates."""

_Kind = tuple[str, str, str, str]
"""The class, the figure, the version of the method and the parameters: series are compared only if they have all of
these in common."""


class _Row(NamedTuple):
    """A row of a series: its value in each certificate, scaled so that higher is worse, the indexes of the certificates
    that are used, and the change points among these."""

    values: list[float | None]
    places: list[int]
    points: list[ChangePoint]


class _Series(NamedTuple):
    """One figure of a volume, and the reasons why some certificates are not used."""

    figure: str
    kind: _Kind
    left_out: dict[int, str]
    rows: dict[RowKey, _Row]

    @property
    def places(self) -> list[int]:
        """The indexes of the certificates that are used for a row, oldest first."""
        return sorted({place for row in self.rows.values() for place in row.places})


class _Volume(NamedTuple):
    """A host's volume with the certificates that have figures, oldest first, as plain data."""

    host: str
    volume: str
    group: str
    certificates: list[dict[str, Any]]
    series: list[_Series]


def fleet_drift(
    history: History,
    hosts: Collection[str],
    *,
    figure: str,
    margin: float,
    since: Mapping[str, datetime.date] | None = None,
) -> dict[str, Any]:
    """Return the drift of the volumes of some hosts. Raises HistoryError.

    Certificates are ignored if they are misdated, if they were revoked, or if they were judged before the day in
    ``since`` for the host.
    """
    names, revoked = {printable(host) for host in hosts}, history.revocations()
    entries = [entry for entry in history.between() if entry.sha256 not in revoked]
    misdated = [entry for entry in entries if entry.misdated and entry.host in names]
    dated = [entry for entry in entries if not entry.misdated]
    read = (_read(history, own, figure, margin) for own in _series_of_entries(dated, names, since or {}))
    found = [volume for volume in read if volume]
    if not found:
        raise HistoryError(f"the history {history.place} contains no certificate with figures of these hosts")
    kinds = {kind: _watch(members, margin) for kind, members in _by_kind(found).items()}
    judged = [_volume_data(volume, kinds) for volume in found]
    judged.sort(key=lambda each: (STATES.index(each["state"]), each["host"], each["volume"]))
    return {
        "schema": SCHEMA_VERSION,
        "created_at": utc_now(),
        "figure": figure,
        "margin": margin,
        "wrong_dates": wrong_dates(misdated),
        "states": {state: sum(volume["state"] == state for volume in judged) for state in STATES},
        "volumes": judged,
        "nights": [each for kind, class_nights in sorted(kinds.items()) for each in _nights_data(kind, class_nights)],
        "declines": [
            _decline_data(kind, members.decline) for kind, members in sorted(kinds.items()) if members.decline
        ],
        "classes": list(_classes(found, figure, margin)),
    }


# Reading.


def _series_of_entries(
    entries: Sequence[Entry], hosts: Collection[str], since: Mapping[str, datetime.date]
) -> Iterator[list[Entry]]:
    """For each volume name, yield the entries of the volume that has this name today, and the results imported under
    it."""
    imported: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        if entry.identity is None and entry.profile == IMPORTED and entry.host in hosts:
            imported.setdefault((entry.host, entry.volume), []).append(entry)
    present = {
        (volume.newest.host, volume.newest.volume): volume
        for volume in sorted(volumes(entries), key=lambda volume: volume.newest.order)
    }
    for name in sorted({*imported, *(name for name in present if name[0] in hosts)}):
        own = [*imported.get(name, []), *(present[name].entries if name in present else ())]
        first = since.get(name[0], datetime.date.min).isoformat()
        yield newest_of_each_run(entry for entry in own if entry.judged_at >= first)


def _read(history: History, entries: Sequence[Entry], figure: str, margin: float) -> _Volume | None:
    """Return a volume with its series: one for the figure and, if results were imported, one for the throughput,
    because no other imported figure can be used. None if no certificate has figures."""
    contents = history.contents([entry.sha256 for entry in entries])
    with_rows = [(entry, content) for entry, content in zip(entries, contents) if content["rows"]]
    if not with_rows:
        return None
    newest, certificates = with_rows[-1][0], []
    before: Content | None = None
    for entry, content in with_rows:
        certificates.append(_certificate_data(entry, content, before))
        before = before if is_imported(content) else content
    group = class_of(before or with_rows[-1][1])
    kept = [content for _entry, content in with_rows]
    figures = dict.fromkeys([figure, THROUGHPUT] if any(map(is_imported, kept)) else [figure])
    series = [series for each in figures if (series := _series(group, kept, each, margin)).rows]
    return _Volume(newest.host, newest.volume, group, certificates, series)


def _certificate_data(entry: Entry, content: Content, before: Content | None) -> dict[str, Any]:
    return {
        "certificate": entry.sha256,
        "run_id": entry.run_id,
        "judged_at": entry.judged_at,
        "verdict": entry.verdict,
        "imported": is_imported(content),
        "accepted": entry.accepted,
        "changes": []
        if before is None or is_imported(content)
        else [asdict(change) for change in changes(before, content)],
    }


def _series(group: str, contents: Sequence[Content], figure: str, margin: float) -> _Series:
    """Return the values of a figure in all certificates. A certificate is used if it can be compared with the newest
    one that can be compared at all."""
    reference, reasons = comparable_with_newest(contents, figure)
    by_certificate = [rows_of(content, figure) for content in contents]
    rows = {}
    for key in sorted({key for found in by_certificate for key in found}, key=row_order):
        values = [found.get(key) for found in by_certificate]
        used = {place: value for place, value in enumerate(values) if value is not None and not reasons[place]}
        rows[key] = _Row(values, list(used), change_points(list(used.values()), margin=margin))
    known = reference or {}
    kind = (group, figure, str(known.get("method_version")), fingerprint(known.get("parameters")))
    return _Series(figure, kind, {place: reason for place, reason in enumerate(reasons) if reason}, rows)


# Judging.


@dataclass
class _ClassNights:
    """The nights of a class, oldest first. For each night, ``places`` holds the index of the certificate of each volume
    that was certified; ``watched`` is the result for all volumes together, and ``decline`` that for the class since its
    reference. ``accepted`` holds the day of the newest accepted certificate of each volume that has one."""

    days: list[str]
    places: list[dict[str, int]]
    watched: Watched
    decline: Decline | None
    accepted: Mapping[str, str]

    def is_own(self, volume: str, newest: float, limit: float) -> bool:
        """Return whether a volume whose newest value is beyond its limit would be beyond it without the decline of its
        class. In large classes, the limit contains what the class shares. If a volume was accepted after the class
        became slower, its reference contains the decline."""
        if self.decline is None or self.watched.fleet:
            return True
        is_accepted = self.accepted.get(volume, "") >= self.decline.since.isoformat()
        return is_accepted or newest - self.decline.level > limit


def _by_kind(found: Iterable[_Volume]) -> dict[_Kind, dict[str, tuple[_Volume, _Series]]]:
    """Return the series that can be compared with one another, by volume."""
    members: dict[_Kind, dict[str, tuple[_Volume, _Series]]] = {}
    for volume in found:
        for series in volume.series:
            members.setdefault(series.kind, {})[host_label(volume.host, volume.volume)] = (volume, series)
    return members


def _watch(members: Mapping[str, tuple[_Volume, _Series]], margin: float) -> _ClassNights:
    """Judge a class night by night. A night is a run; runs on the same day without a common volume are one night,
    because a fleet is often measured in parts."""
    runs: dict[str, dict[str, int]] = {}
    began: dict[str, str] = {}
    for label, (volume, series) in members.items():
        for place in series.places:
            certificate = volume.certificates[place]
            runs.setdefault(certificate["run_id"], {})[label] = place
            began[certificate["run_id"]] = min(
                certificate["judged_at"], began.get(certificate["run_id"], certificate["judged_at"])
            )
    days: list[str] = []
    places: list[dict[str, int]] = []
    for run_id in sorted(runs, key=lambda run_id: (began[run_id], run_id)):
        if places and days[-1][:10] == began[run_id][:10] and not places[-1].keys() & runs[run_id].keys():
            places[-1].update(runs[run_id])
        else:
            days.append(began[run_id])
            places.append(runs[run_id])
    periods = {
        label: list(accumulate(each["accepted"] for each in volume.certificates))
        for label, (volume, dummy) in members.items()
    }
    figures = [
        {label: _figures_at(members[label][1], place, periods[label][place]) for label, place in night.items()}
        for night in places
    ]
    dates = [datetime.date.fromisoformat(day[:10]) for day in days]
    watched = watch(figures, margin=margin, days=dates)
    accepted = {
        label: each["judged_at"]
        for label, (volume, dummy) in members.items()
        for each in volume.certificates
        if each["accepted"]
    }
    decline = class_decline(figures, dates, watched.references, margin=margin)
    return _ClassNights(days, places, watched, decline, accepted)


def _figures_at(series: _Series, place: int, period: int) -> dict[RowKey, Figure]:
    """Return the figures of a certificate that is used, each with the number of change points until then."""
    return {
        key: Figure(math.log(value), sum(row.places[point.place] <= place for point in row.points), period)
        for key, row in series.rows.items()
        if (value := row.values[place]) is not None
    }


def _nights_data(kind: _Kind, class_nights: _ClassNights) -> Iterator[dict[str, Any]]:
    """Yield the nights that were slow for a whole class, and whether the newest ones fail the gate."""
    slow = [(number, night) for number, night in class_nights.watched.fleet.items() if night.slow]
    last = sorted(class_nights.watched.fleet)[-IN_A_ROW:]
    for number, night in slow:
        yield {
            "class": kind[0],
            "figure": kind[1],
            "judged_at": class_nights.days[number],
            "volumes": len(class_nights.places[number]),
            "change": math.expm1(night.change),
            "limit": math.expm1(night.limit),
            "gates": class_nights.watched.gates and number in last,
        }


def _decline_data(kind: _Kind, decline: Decline) -> dict[str, Any]:
    return {
        "class": kind[0],
        "figure": kind[1],
        "volumes": decline.volumes,
        "change": math.expm1(decline.level),
        "since": decline.since.isoformat(),
        "per_month": None if decline.per_month is None else math.expm1(decline.per_month),
    }


def _volume_data(volume: _Volume, kinds: Mapping[_Kind, _ClassNights]) -> dict[str, Any]:
    label = host_label(volume.host, volume.volume)
    series = [_series_data(each, kinds[each.kind], label) for each in volume.series]
    rows = [row for each in series for row in each["rows"]]
    return {
        "host": volume.host,
        "volume": volume.volume,
        "class": volume.group,
        "state": _state(rows),
        "certificates": volume.certificates,
        "series": series,
        "events": [event for each in series for event in _events(each, volume.certificates)],
    }


def _series_data(series: _Series, class_nights: _ClassNights, label: str) -> dict[str, Any]:
    return {
        "figure": series.figure,
        "left_out": [{"place": place, "reason": reason} for place, reason in series.left_out.items()],
        "rows": [_row_data(series, key, row, class_nights, label) for key, row in series.rows.items()],
    }


def _row_data(series: _Series, key: RowKey, row: _Row, class_nights: _ClassNights, label: str) -> dict[str, Any]:
    """Return the result for one row. Certificates are given by their indexes."""
    places, watched = row.places, class_nights.watched
    found = [class_nights.places[night][label] for night in watched.conspicuous.get((label, key), ())]
    limit = watched.limits.get((label, key))
    own = limit is None or class_nights.is_own(label, math.log(row.values[places[-1]] or 1.0), limit[1])
    as_measured = _inverted if series.figure in RATES else float
    return {
        **dict(zip(ROW_KEYS, key)),
        "values": [None if value is None else as_measured(value) for value in row.values],
        "judged": len(places),
        "usual": as_measured(math.exp(limit[0])) if limit else None,
        "limit": as_measured(math.exp(limit[1])) if limit else None,
        "conspicuous": found,
        "newest_is_conspicuous": own and bool(places) and places[-1] in found,
        "gates": own and len(places) >= IN_A_ROW and set(places[-IN_A_ROW:]) <= set(found),
        "change_points": [
            {**asdict(point), "place": places[point.place], "place_before": places[point.place - 1]}
            for point in row.points
        ],
    }


def _inverted(value: float) -> float:
    return 1 / value


def _state(rows: Sequence[Mapping[str, Any]]) -> str:
    for state, key in ((DRIFTING, "gates"), (CONSPICUOUS, "newest_is_conspicuous"), (CHANGED, "change_points")):
        if any(row[key] for row in rows):
            return state
    return STEADY if any(row["limit"] for row in rows) else SHORT


def _events(series: Mapping[str, Any], certificates: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the times at which the figures changed, with everything else that changed then. Rows that changed at about
    the same time are combined."""
    points = sorted(
        ((point["place"], place, point) for place, row in enumerate(series["rows"]) for point in row["change_points"]),
        key=lambda each: each[:2],
    )
    groups: list[list[tuple[int, int, dict[str, Any]]]] = []
    for each in points:
        if groups and each[0] - groups[-1][-1][0] <= 1 and (each[2]["change"] > 0) == (groups[-1][-1][2]["change"] > 0):
            groups[-1].append(each)
        else:
            groups.append([each])
    for group in groups:
        first, last = min(each[2]["place_before"] for each in group), max(each[0] for each in group)
        moved = [each[2] for each in group]
        yield {
            "figure": series["figure"],
            "place": group[0][0],
            "judged_at": certificates[group[0][0]]["judged_at"],
            "rows": [
                {**{key: series["rows"][row][key] for key in ROW_KEYS}, "change": point["change"]}
                for dummy, row, point in group
            ],
            "preliminary": all(point["preliminary"] for point in moved),
            "changes": [
                change for certificate in certificates[first + 1 : last + 1] for change in certificate["changes"]
            ],
        }


# Comparisons of similar devices.


def _classes(found: Iterable[_Volume], figure: str, margin: float) -> Iterator[dict[str, Any]]:
    """Yield how similar the newest certificates of each class are, using the rows that all of them have."""
    members: dict[_Kind, dict[str, dict[RowKey, float]]] = {}
    for volume in found:
        for series in volume.series:
            if series.figure == figure and series.places:
                members.setdefault(series.kind, {})[host_label(volume.host, volume.volume)] = {
                    key: value
                    for key, row in series.rows.items()
                    if (value := row.values[series.places[-1]]) is not None
                }
    for kind, figures in sorted(members.items()):
        common = set.intersection(*map(set, figures.values()))
        if len(figures) < 2 or not common:
            continue
        alike = likeness(
            {label: [rows[row] for row in sorted(common, key=repr)] for label, rows in figures.items()}, margin=margin
        )
        unlike = [{"host": label, "deviation": share} for label, share in sorted(alike.conspicuous.items())]
        yield {
            "class": kind[0],
            "volumes": len(figures),
            "middle": alike.middle,
            "lowest": alike.lowest,
            "highest": alike.highest,
            "unlike": unlike,
        }
