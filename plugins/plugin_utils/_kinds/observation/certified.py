# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares the observed figures of a live queue manager with the certificate of its volume.

A certificate contains the mean latency for each write size. The line through these means gives the latency to expect
for the write size of the live queue manager. On a straight line, the mean latency of a mixture of sizes is the latency
at the mean size, so mixtures need no special treatment.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....module_utils import _units
from ..._estimate.line import NoLine, fit_line
from ..._history.certificate import Entry
from ..._history.figures import is_imported
from ..._history.result import Result
from ..._history.standing import cuts_of, standing_fact, standing_facts_text, standing_loss
from ..._history.states import EXPIRED, FAILED, REVOKED, SUPERSEDED, VALID, Today, entry_states, of_machine
from ..._history.store.history import History, HistoryError
from ..._history.store.open import open_history
from ..._judge.effect import ATTEMPT, CERTIFIES
from ..._run.columns import ALL_WORKERS, MQ_LOG, Row
from ..._run.directory import RunDirectory
from ..._run.record import HostRecord
from ..._run.run_files import RunDirectoryError
from ..._run.table_reader import TablesError
from ..._run.tables import parse_tables
from ..._run.volume_identity import VolumeIdentity, identity_of_record
from ..._run.words import mean_size_text, size_text

SLOWER, ALIKE, FASTER, UNKNOWN = "slower", "alike", "faster", "unknown"
"""The outcomes of a comparison with a certificate."""
NOISE = 1.5
"""Below this factor, no change is reported, because runs of one volume differ, a live load differs from that of a test,
and MQ's averages lag behind."""
STRONG = 2.0
"""At this factor or above, a cause is named."""
FEWEST_WRITES = 30
_SLACK = 0.05
"""How far a write may be outside the range of certified sizes without a remark."""
_MOST_READ = 10
"""How many certificates are searched for one that contains the means of log writes."""

_TOLD = ("sha256", "run_id", "profile", "judged_at", "valid_until")
"""The fields of a certificate that are shown beside an observation."""
_STATES = {
    VALID: "valid until {until}",
    EXPIRED: "which expired on {until}",
    FAILED: "which no longer holds, because a later test failed",
    REVOKED: "which was revoked",
    SUPERSEDED: "which was superseded",
}


@dataclass(frozen=True)
class Live:
    """The activity of a live queue manager's log: the mean latency and the mean size of its writes, and their number
    if known."""

    mean_ns: float
    size_bytes: float
    writes: int


@dataclass(frozen=True)
class Certified:
    """A certificate with the mean latencies of log writes. It contains its entry in the history, a description of its
    state, and the means by write size for each number of queue managers that wrote."""

    entry: Entry
    state: str
    words: str
    matched_by: str
    means: Mapping[int, Sequence[tuple[float, float]]]
    slowest_ns: float | None
    disturbed: bool


def hold_against_certificates(directory: RunDirectory) -> None:
    """Store in each record of a run of observations how it compares with the certificate of its volume. Raises
    RunDirectoryError."""
    folders = [
        folder for folder in directory.records.folders() if directory.records.read(folder).kind == directory.kind.name
    ]
    try:
        with open_history((directory.run.get("history") or {}).get("place") or "") as history:
            found = {folder: _held(directory, folder, history) for folder in folders}
    except HistoryError as error:
        found = dict.fromkeys(folders, unknown(f"There is no certificate to compare with: {error}."))
    for folder, certificate in found.items():
        record = directory.records.read(folder)
        directory.records.add_kind_data(record.host, record.volume, {"certificate": certificate})


def unknown(why: str) -> dict[str, Any]:
    """Return the note with the reason why a record cannot be compared."""
    return {"outcome": UNKNOWN, "text": why, "caveats": []}


def _held(directory: RunDirectory, folder: str, history: History) -> dict[str, Any]:
    record = directory.records.read(folder)
    try:
        live = live_of(parse_tables(directory.records.tables(record, ("run.csv", "results.csv"))).results)
    except (RunDirectoryError, TablesError) as error:
        return unknown(f"The observation cannot be compared: {error}")
    if live is None:
        return unknown("No log write was observed, so there is nothing to compare with a certificate.")
    today = datetime.datetime.now(datetime.timezone.utc).date()
    certified = find(record, history, today)
    if certified is None:
        return unknown(
            "The history contains no certificate of this volume that states how long its log writes take: certify "
            "it with playbooks/certify.yml."
        )
    return compared(live, certified)


def live_of(rows: Iterable[Row]) -> Live | None:
    """Return the figures of the log in the rows of an observation, or None if the log was not written to or the source
    does not report them."""
    for row in rows:
        if (row["stream"], row["operation"], row["worker"]) == ("log", "write", ALL_WORKERS):
            size = row.get("write_size_mean_bytes") or row["block_size_bytes"]
            if row["operations"] and row["latency_mean_ns"] and size:
                return Live(float(row["latency_mean_ns"]), float(size), int(row["operations"]))
    return None


def find(record: HostRecord, history: History, today: datetime.date) -> Certified | None:
    """Return the most informative certificate for the volume of a record: one that is valid today, or else the newest
    one, or else a test that did not certify."""
    identity = identity_of_record(record)
    boot_id = record.facts.get("boot_id")
    entries = (
        of_machine(history.of_volume(identity.volume_id), record.host, boot_id, identity.disk_id) if identity else []
    )
    matched_by = "identity" if entries else "name"
    entries = entries or [entry for entry in history.of_name(record.host, record.volume) if _may_be_at(identity, entry)]
    revoked = history.revocations()
    fact = standing_fact(entries, revoked)
    states: dict[str, str] = {}
    for profile in {entry.profile for entry in entries}:
        states.update(entry_states((entry for entry in entries if entry.profile == profile), revoked, Today(today, 0)))
    newest_first = sorted(entries, key=lambda entry: entry.order, reverse=True)
    ordered = sorted(newest_first, key=lambda entry: (entry.effect == ATTEMPT, states.get(entry.sha256) != VALID))
    for entry in ordered[:_MOST_READ]:
        (content,) = history.contents([entry.sha256])
        means = _means(content)
        if means:
            state, words = _state_of(
                entry, states.get(entry.sha256, ATTEMPT), fact, standing_loss(cuts_of(history, record))
            )
            return Certified(entry, state, words, matched_by, means, _slowest(content), bool(content["disturbances"]))
    return None


def _means(content: Mapping[str, Any]) -> dict[int, list[tuple[float, float]]]:
    """Return the means of log writes by size, for each number of queue managers that wrote at once;
    empty for a test whose workload is not a queue manager's log."""
    found: dict[int, list[tuple[float, float]]] = {}
    if is_imported(content) or (content.get("parameters") or {}).get("workload") != MQ_LOG:
        return found
    for row in content["rows"]:
        if (row["stream"], row["operation"]) == ("log", "write") and row["block_size_bytes"] and row["latency_mean_ns"]:
            found.setdefault(row["load_point"], []).append(
                (float(row["block_size_bytes"]), float(row["latency_mean_ns"]))
            )
    return found


def _slowest(content: Mapping[str, Any]) -> float | None:
    return max(
        (row["latency_max_ns"] for row in content["rows"] if row["stream"] == "log" and row["latency_max_ns"]),
        default=None,
    )


def _may_be_at(identity: VolumeIdentity | None, entry: Entry) -> bool:
    """Return whether an entry may be about the same mount point."""
    return identity is None or entry.path in ("", identity.mount_point)


def _state_of(entry: Entry, state: str, fact: Entry | None, loss: Result | None) -> tuple[str, str]:
    """Return the state of an entry and a description of the state. ``state`` is the state under the profile alone. It
    is overridden by a fact about the volume or by writes that were lost in a power cut."""
    lost = f"lost acknowledged writes in a power cut on {loss.judged_at[:10]}" if loss else ""
    did = standing_facts_text(fact) if fact else lost
    if did and entry.effect == CERTIFIES and state != REVOKED:
        return FAILED, f"the certificate of a volume that {did}"
    if state == ATTEMPT:
        return state, f"a test that did not certify (verdict {entry.verdict})"
    if entry.effect != ATTEMPT and entry.valid_until is None:
        return state, "a test that failed"
    return state, "the certificate " + _STATES[state].format(until=entry.valid_until)


def compared(live: Live, certified: Certified) -> dict[str, Any]:
    """Return how an observation compares with a certificate: figures, a text, and reservations."""
    loads = sorted(certified.means)
    expected = {load: _expected(certified.means[load], live.size_bytes) for load in loads}
    main = expected[loads[0]]
    ratio = live.mean_ns / main.mean_ns
    noise = max(NOISE, 1 + 2 * main.error)
    outcome = SLOWER if ratio > noise else FASTER if ratio < 1 / noise else ALIKE
    if live.writes < FEWEST_WRITES:
        outcome = UNKNOWN
    explained = (
        next((load for load in loads[1:] if live.mean_ns <= expected[load].mean_ns * noise), None)
        if outcome == SLOWER
        else None
    )
    sizes = [size for size, dummy in certified.means[loads[0]]]
    return {
        "outcome": outcome,
        "text": _words(live, outcome, ratio, explained),
        **{name: getattr(certified.entry, name) for name in _TOLD},
        "state": certified.state,
        "state_text": certified.words,
        "queue_managers": loads[0],
        "write_size_bytes": live.size_bytes,
        "expected_ns": main.mean_ns,
        "observed_ns": live.mean_ns,
        "slowest_ns": certified.slowest_ns,
        "ratio": ratio,
        "noise_factor": noise,
        "others": [
            {
                "queue_managers": load,
                "expected_ns": expected[load].mean_ns,
                "ratio": live.mean_ns / expected[load].mean_ns,
            }
            for load in loads[1:]
        ],
        "caveats": list(_caveats(live, certified, main, loads[0], (min(sizes), max(sizes)))),
    }


@dataclass(frozen=True)
class _Expected:
    """The expected mean according to a certificate, its uncertainty as a share, and the reason why the mean does not
    come from a line (empty if it does, or if it was measured)."""

    mean_ns: float
    error: float
    no_line: str


def _expected(means: Sequence[tuple[float, float]], size: float) -> _Expected:
    try:
        line = fit_line(means)
    except NoLine as why:
        return _Expected(_between(sorted(means), size), 0.0, "" if size in dict(means) else str(why))
    return _Expected(line.latency_ns(size), line.worst, "")


def _between(means: Sequence[tuple[float, float]], size: float) -> float:
    """Return the mean, interpolated between the nearest two sizes, or the mean of the nearest size beyond the ends."""
    if size <= means[0][0]:
        return means[0][1]
    for (below, low_ns), (above, high_ns) in zip(means, means[1:]):
        if size <= above:
            return low_ns + (high_ns - low_ns) * (size - below) / (above - below)
    return means[-1][1]


def _words(live: Live, outcome: str, ratio: float, explained: int | None) -> str:
    """Return the verdict as text."""
    if outcome == UNKNOWN:
        return (
            f"Only {_units.format_count(live.writes)} log writes were observed, which is too few to "
            "compare them with a certificate."
        )
    if outcome == ALIKE:
        return (
            f"As certified ({_units.format_number(ratio, 2)} times the certified latency, which is within the usual "
            "differences between runs)."
        )
    if outcome == FASTER:
        return (
            f"{_units.format_number(1 / ratio, 2)} times faster than certified: the volume "
            "changed, or the load during the test was different."
        )
    slower = f"{_units.format_number(ratio, 2)} times slower than certified"
    if explained:
        return f"{slower} for one queue manager, but as certified for {explained}: the volume is shared."
    return (
        f"{slower}: the volume changed or is shared."
        if ratio >= STRONG
        else f"{slower}. Observe again: if this continues, the volume changed or is shared."
    )


def _caveats(
    live: Live, certified: Certified, expected: _Expected, load: int, sizes: tuple[float, float]
) -> Iterator[str]:
    """Yield the reservations about the comparison, one sentence each."""
    if certified.state != VALID:
        yield f"It is compared with {certified.words}, of {certified.entry.judged_at[:10]}."
    if certified.matched_by == "name":
        yield (
            "The certificate was found by the names of the host and the volume, not by the identity of the file "
            "system, which may have been replaced since."
        )
    if load > 1:
        yield (
            f"The test was of {load} queue managers that wrote at once. A queue manager that writes alone should be "
            "faster."
        )
    if not (1 - _SLACK) * sizes[0] <= live.size_bytes <= (1 + _SLACK) * sizes[1]:
        smallest, largest = (size_text(round(size)) for size in sizes)
        outside = f"outside the range of certified sizes ({smallest} to {largest}): extrapolated"
        yield f"The queue manager writes {mean_size_text(live.size_bytes)} on average, which is {outside}."
    if expected.no_line:
        yield (
            f"The certified means do not follow a line ({expected.no_line}), so the expected mean is interpolated "
            "between those of the nearest sizes."
        )
    if certified.disturbed:
        yield "The test was disturbed, so its means may be too high."
