# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The model of a report: all data that the renderers show. It is read once from a run directory, and not judged
again."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...module_utils._units import format_count
from .._english.phrases import plural
from .._estimate.basis import Basis, Headroom, NoHeadroom, basis_of, headroom
from .._estimate.target import target_of
from .._judge.closest_limit import used_share
from .._judge.fleet import INSTEAD_OF, host_entry
from .._judge.judged_records import judged_record
from .._judge.limits import worker_name
from .._judge.profile import Limit
from .._judge.profile_reader import load_profile
from .._judge.statistics import AS_IT_STANDS
from .._records.fleet import GATE, missing_hosts, with_verdict
from .._run.columns import ALL_OPERATIONS, ALL_WORKERS, KEY_COLUMNS, Step
from .._run.definitions import DefinitionError
from .._run.directory import RunDirectory
from .._run.host_settings import profile_text, profiles_by_sha256
from .._run.kinds import CHECK_MODE, Kind, kind_named, kind_of
from .._run.record import DEFAULT_VOLUME, HostRecord, host_label
from .._run.run_files import RunDirectoryError
from .._run.settings import SETTINGS
from .._run.table_reader import TablesError, printable
from .._run.tables import Tables, parse_tables
from .._run.tester_options import with_variables
from .._run.verdicts import ERROR, FAIL, GOOD, INCONCLUSIVE, PASS, WARN, WORST_FIRST, badness, rank, worst
from .._run.volume_identity import volume_class
from .._run.words import Words, words_of
from .capacity import ShownCapacity, shown_capacity
from .folding import and_list, common_domain, fold_names, without_domain
from .reproduce import run_options
from .series import Figures, LimitEntry, Series, SeriesKey, judges_text, series_of
from .stalls import stall_period

_AS_RECORDED = ("host", "volume", "kind", "created_at", "notes", "disturbances")
_AS_TEXTS = ("workspace", "tester")
"""Fields of a record that the report shows as they are, and objects whose nested values it shows as text."""

NOT_MEASURED = CHECK_MODE.without_verdict
"""Replaces the verdict in check mode."""

WORKLOAD_IS_NOT = "workload_is_not"
"""The fact that contains the disclaimer of the workload."""

HOSTS_WITH_STALLS = 200
"""The largest number of hosts whose slowest writes are examined."""

CHARTED_HOSTS = 40
"""The largest number of hosts for which the tables of intervals are read, for the charts."""

_SHOWN_LEFT_OUT = 5
_NEAR = 1.25
"""If a host breaks a limit but uses at most this share of it, it may have failed by chance."""
_SHOWN_SHA256 = 8
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_ROW_KEYS = KEY_COLUMNS[1:]
"""Columns and keys that identify the row of a judgement."""
_SHOWN_LIMIT_KEYS = (
    "limit",
    "limit_id",
    "rows",
    "metric",
    "bound",
    "limit_value",
    "unit",
    "severity",
    "hard",
)
_SHOWN_WORST_KEYS = (
    "block_size_bytes",
    "load_point",
    "stream",
    "operation",
    "worker",
    "worker_name",
    "cause",
    "value",
    "value_at_least",
    "samples",
    "reason",
    "waiver",
    "method",
    "confidence",
    "share",
    "share_bound",
    "value_bound",
    "seconds",
    "blocks",
    "block_s",
    "episode_s",
    "seconds_needed",
)


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A row of a host's results.csv: its figures in the order of the host's columns,
    and the worst judgement on it with its reasons.

    ``used`` is the share that the row uses of the limit to which it comes closest. For example, 0.5 is half of the
    limit, and above 1 the limit is broken. It is None if no limit judges the row.
    """

    values: tuple[Any, ...]
    worker_name: str
    verdict: str
    reasons: tuple[str, ...]
    used: float | None = None


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A row that a limit judged, and its figure in the unit of the limit; the row is empty if no row that the limit
    judges was measured."""

    block_size_bytes: int | None
    load_point: int | None
    worker_name: str
    value: float | None
    stream: str | None = "log"
    operation: str | None = "write"

    @property
    def step(self) -> tuple[Any, ...]:
        """The step and series to which the row belongs, regardless of the worker."""
        return self.load_point, self.block_size_bytes, self.stream, self.operation


@dataclass(frozen=True, slots=True)
class Span:
    """The rows that a limit judges. ``sizes`` are the smallest and the largest block size, ``loads`` the smallest and
    the largest load point. Each of the two is None if the rows have no block size or no load point. ``series`` are the
    series of the rows."""

    sizes: tuple[int, int] | None
    loads: tuple[int, int] | None
    series: frozenset[SeriesKey]

    def judges(self, series: Series) -> bool:
        """Return whether the limit judges a series at some load point."""
        size = series.block_size_bytes
        return series.key in self.series and (
            size is None or (self.sizes is not None and self.sizes[0] <= size <= self.sizes[1])
        )


@dataclass(slots=True)
class Host:
    """The data that a report shows for one host's volume. Text is printable; nothing in it is escaped for any format.

    ``findings`` and ``notes`` come from its record. The notes include what was noticed later, such as directories that
    were left behind. ``profile`` is the name of the profile that judged it, and ``profile_sha256`` is the SHA-256 of
    the profile; both are empty if no profile judged it. ``settings`` are the options that differ between hosts, and
    ``checked_settings`` the outcomes of the settings of the host (see ``_run/settings.py``).
    ``decisive`` holds, for each element of ``limits``, the rows that have its verdict (none if the verdict is pass).
    ``volume_class`` is the name of the class of similar volumes. ``valid_until`` is the last day of its certificate,
    and ``certificate`` is the SHA-256 of the certificate; both are empty if there is none. ``comparison`` is the result
    of the comparison with its baseline, empty if none was requested. ``previous`` holds the
    figures of the previous run of the volume, empty if there is none. ``stall_period`` is the interval between stalls;
    empty if the stalls were not regular or were not examined. ``options`` are those that the tester repeated in
    run.csv, and ``method`` names the version of the tester; both are empty if nothing was measured. ``spans`` holds,
    for each element of ``limits``, the rows that it judges. ``distributions`` (the counts of operations by upper bound
    for each load point and series), ``stalls`` (the slowest operations), ``slow_counts`` (of
    the operations above thresholds by second) and ``fidelity`` (the requested and achieved
    values of streams) are for charts and empty in a large fleet. ``basis`` is the basis of estimates for the volume,
    or None if nothing wrote to a log. ``headroom`` compares the load that the volume carries with its target. If the
    volume has a target but no headroom, ``no_headroom`` contains the reason. ``capacity`` is None if only one load was
    measured. ``own`` is the data that only records of this kind contain, empty if there is none.
    """

    host: str
    volume: str
    folder: str
    verdict: str
    certified: bool
    qualification: str
    kind: str
    stage: str
    created_at: str
    reasons: list[str]
    notes: list[str]
    facts: dict[str, Any]
    workspace: dict[str, Any]
    tester: dict[str, Any]
    limits: list[LimitEntry]
    words: Words
    profile: str = ""
    profile_sha256: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    checked_settings: list[dict[str, Any]] = field(default_factory=list)
    volume_class: str = ""
    valid_until: str = ""
    certificate: str = ""
    comparison: dict[str, Any] = field(default_factory=dict)
    previous: dict[str, Any] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)
    recorded_notes: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    decisive: list[tuple[JudgedRow, ...]] = field(default_factory=list)
    disturbances: list[str] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    stall_period: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    method: str = ""
    spans: list[Span] = field(default_factory=list)
    distributions: dict[tuple[int, Series], list[tuple[int, int]]] = field(default_factory=dict)
    stalls: list[dict[str, Any]] = field(default_factory=list)
    slow_counts: dict[tuple[Any, ...], dict[int, dict[int, int]]] = field(default_factory=dict)
    initial_write: tuple[float, float] | None = None
    basis: Basis | None = None
    headroom: Headroom | None = None
    no_headroom: str = ""
    capacity: ShownCapacity | None = None
    fidelity: list[dict[str, Any]] = field(default_factory=list)
    columns: tuple[str, ...] = ()
    rows: list[ResultRow] = field(default_factory=list)
    intervals: list[Figures] = field(default_factory=list)

    @property
    def of_kind(self) -> Kind:
        """The kind of the host's record."""
        return kind_named(self.kind)

    @property
    def climbed(self) -> ShownCapacity | None:
        """The capacity, if it is of interest. The capacity of streams is always of interest. For other workloads, it is
        of interest if the load points come from a search or if there is a target."""
        return self.capacity if self.capacity and (self.words.layout.over_load or self.capacity.is_asked_for) else None

    @property
    def label(self) -> str:
        """The host's name, with the volume if it is not the default one."""
        return host_label(self.host, self.volume)

    def duration_limits(self) -> Iterator[tuple[LimitEntry, Span]]:
        """Yield the limits on latencies and responses, each with the rows that it judges, except for hard limits."""
        for limit, span in zip(self.limits, self.spans, strict=True):
            if limit["unit"] == "ns" and limit["limit_value"] and not limit["hard"]:
                yield limit, span

    def results(self) -> Iterator[tuple[ResultRow, Mapping[str, Any]]]:
        """Yield each row with its figures by column name."""
        places = {name: place for place, name in enumerate(self.columns)}
        for row in self.rows:
            yield row, _Figures(places, row.values)


class _Figures(Mapping[str, Any]):
    """The figures of a row by column name. Most readers need a few of 60 columns, so a dict of all would cost more."""

    __slots__ = ("_places", "_values")

    def __init__(self, places: Mapping[str, int], values: tuple[Any, ...]) -> None:
        self._places, self._values = places, values

    def __getitem__(self, name: str) -> Any:
        return self._values[self._places[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@dataclass(frozen=True, slots=True)
class ShownProfile:
    """A profile that judged hosts: its name and version, its SHA-256, its content in run.json, its limits, and the
    labels of the volumes that it judged."""

    text: str
    sha256: str
    data: dict[str, Any]
    limits: list[Limit]
    labels: list[str]


@dataclass(slots=True)
class Model:
    """A whole report. ``run`` is run.json, ``fleet`` is verdict.json without its hosts, ``profiles`` are those that
    judged hosts; the profile that judged most hosts comes first. ``domain`` is the common domain of all hosts, such as
    ".example.com"; empty if there is none.

    ``found_causes`` is used by causes.causes to store the causes, so that they are found only once.
    """

    path: str
    run: dict[str, Any]
    fleet: dict[str, Any]
    gate_ran: bool
    check_mode: bool
    hosts: list[Host]
    columns: list[str]
    profiles: list[ShownProfile]
    domain: str = ""
    found_causes: list[Any] | None = None

    def shown_name(self, host: Host) -> str:
        """The label of a host without the common domain."""
        return without_domain(host.label, self.domain)

    @property
    def criteria(self) -> list[tuple[str, Limit]]:
        """The limits of all profiles, each with its id and text. If there are several profiles, the text begins with
        the name of the profile."""
        several = len(self.profiles) > 1
        texts = (
            (profile, f"{limit.id} {limit.text}".strip(), limit)
            for profile in self.profiles
            for limit in profile.limits
        )
        return [(f"{profile.text}: {text}" if several else text, limit) for profile, text, limit in texts]

    def judged_by(self, limit: Limit) -> str:
        """Describes the rows that a limit judges."""
        return judges_text(self.words, limit.rows_text, limit.metric.name, limit.hard)

    @property
    def valid_until(self) -> str:
        """The last day on which the certificates of all hosts are valid, or empty if any host has no certificate."""
        return min((host.valid_until for host in self.hosts), default="")

    @property
    def profile_name(self) -> str:
        """The name and version of the profile that judged the hosts or, if there are several, how many volumes each one
        judged."""
        if len(self.profiles) < 2:
            return self.profiles[0].text if self.profiles else "no profile"
        return and_list(
            [f"{profile.text} ({format_count(len(profile.labels))} of {self.size})" for profile in self.profiles]
        )

    @property
    def run_id(self) -> str:
        """The run's id."""
        return printable(str(self.run.get("run_id", "")))

    @property
    def verdict(self) -> str:
        """The fleet's verdict, or "not measured"."""
        return self.fleet["verdict"] or self.kind.without_verdict or NOT_MEASURED

    @property
    def kind(self) -> Kind:
        """The kind of the run."""
        return kind_of(self.run)

    @property
    def hosts_with_own(self) -> list[Host]:
        """The hosts whose records contain data that only the run's kind has."""
        return [host for host in self.hosts if host.own and host.of_kind is self.kind]

    @property
    def can_certify(self) -> bool:
        """Whether the run is of a kind that certifies, or a preflight of such a run."""
        return self.check_mode or self.kind.certifies

    @property
    def words(self) -> Words:
        """The displayed name of the workers in the workload that the hosts ran."""
        return next((host.words for host in self.hosts if host.rows), words_of("queue managers"))

    @property
    def subject(self) -> str:
        """The purpose of the storage."""
        if not self.words.layout.described:
            return f"IBM MQ recovery logs{self.kind.view.subject}"
        names = dict.fromkeys(name for host in self.hosts if (name := _workload(host)))
        return f"the workload {' and '.join(names)}" if names else "a workload of streams"

    @property
    def disclaimers(self) -> list[str]:
        """The disclaimers of the workloads of streams."""
        found = dict.fromkeys(
            str(host.facts.get(WORKLOAD_IS_NOT) or "") for host in self.hosts if host.words.layout.described
        )
        return [text for text in found if text]

    @property
    def steps(self) -> list[Step]:
        """Every pair of load point and block size that any host measured, sorted."""
        return sorted({step for host in self.hosts for step in _steps(host)}, key=lambda step: (step[0], step[1] or 0))

    @property
    def size(self) -> str:
        """How much the run covers: "3 hosts", or "5 volumes" if a host has a volume other than the default one."""
        noun = "host" if all(host.volume == DEFAULT_VOLUME for host in self.hosts) else "volume"
        return plural(len(self.hosts), noun)

    @property
    def headline(self) -> str:
        """The heading of the report; empty if the verdict is the heading."""
        return self.kind.view.headline(self)

    @property
    def headed_statement(self) -> str:
        """The statement, which follows the heading if there is one."""
        return f"{self.headline}. {self.statement}" if self.headline else self.statement

    @property
    def finding(self) -> str:
        """The most important figure, which follows the verdict in the heading; empty if the statement contains it."""
        return self.kind.view.finding(self)

    @property
    def statement(self) -> str:
        """Describes what was found and what the run proves."""
        proves = self.kind.view.statement(self)
        return f"{self.finding}. {proves}" if self.finding else proves

    @property
    def verdicts_told(self) -> list[str]:
        """How many hosts have each verdict, worst first."""
        return _counts_told(self.fleet["counts"], WORST_FIRST)

    @property
    def bad_verdicts_told(self) -> list[str]:
        """How many hosts have each verdict that is not good, worst first."""
        return _counts_told(self.fleet["counts"], [verdict for verdict in WORST_FIRST if verdict not in GOOD])

    @property
    def gate_statement(self) -> str:
        """Describes the merged runs and the result of the gate; empty if the run was not merged and the gate accepted
        it without exceptions."""
        return " ".join(filter(None, (self._merge_statement, self._policy_statement, self._gate_statement)))

    @property
    def _merge_statement(self) -> str:
        merged, unclaimed = len(self.run.get("merged_from") or []), len(self.run.get("unclaimed_hosts") or [])
        if not merged:
            return ""
        runs = f"Merged from {plural(merged, 'run')}"
        return (
            f"{runs}; {format_count(unclaimed)} of the hosts {'is' if unclaimed == 1 else 'are'} in none of them."
            if unclaimed
            else f"{runs}."
        )

    @property
    def _policy_statement(self) -> str:
        """Describes the overrides of the recorded policy; empty if there are none."""
        policy = self.fleet["policy"]
        replaced = [
            f"gate_{key}: {_setting_text(policy.get(key))} instead of {_setting_text(value)}"
            for key, value in (policy.get(INSTEAD_OF) or {}).items()
        ]
        return f"This report was given {' and '.join(replaced)}, which the run recorded." if replaced else ""

    @property
    def _gate_statement(self) -> str:
        if not self.gate_ran:
            return "The gate did not run; this verdict is based on the records that were filed."
        if self.fleet["gate_failed"]:
            return "The gate fails this run: ansible-playbook ends with status 2."
        if self.fleet["policy"].get("report_only"):
            return "The gate only reports, so it did not stop this run."
        let_through = ", ".join(self.bad_verdicts_told)
        return f"The gate let {let_through} through, because gate_fail_on does not name it." if let_through else ""

    @property
    def chance_statement(self) -> str:
        """A sentence about how many hosts may have failed by chance alone. The text is empty if this number is at most
        one, or if all failing hosts are far from their limits."""
        expected = self.fleet.get("wrong_fails_expected")
        near = [host.label for host in self.hosts if host.verdict == FAIL and only_just(host)]
        if not expected or not near:
            return ""
        most = min(expected, len(near))
        return (
            f"{fold_names(near)} {'fails' if len(near) == 1 else 'fail'} by at most {round(100 * (_NEAR - 1))} %. In a "
            f"fleet of this size, up to {format_count(most)} of such hosts may fail by chance although their storage "
            "keeps every limit: measure them again before you act."
        )

    @property
    def measured_as_expected(self) -> bool:
        """Whether the size of the run is the number of expected hosts, and no host was left out."""
        return (
            not self.run.get("left_out_hosts")
            and not self.run.get("localhost_left_out")
            and {host.host for host in self.hosts} == {*(self.run.get("expected_hosts") or [])}
            and all(host.volume == DEFAULT_VOLUME for host in self.hosts)
        )

    @property
    def expectation(self) -> str:
        """Describes how many hosts were expected, and which hosts of the inventory were left out."""
        expected, left_out = self.run.get("expected_hosts") or [], self.run.get("left_out_hosts") or []
        text = f"{plural(len(expected), 'host')}"
        text += "; certify_hosts left out localhost" if self.run.get("localhost_left_out") else ""
        if not left_out:
            return text
        more = f" and {format_count(len(left_out) - _SHOWN_LEFT_OUT)} more" if len(left_out) > _SHOWN_LEFT_OUT else ""
        return (
            f"{text}; the limit left out {', '.join(printable(str(host)) for host in left_out[:_SHOWN_LEFT_OUT])}{more}"
        )


def build_model(run_directory: RunDirectory) -> Model:
    """Build the model of a report from a run that has been judged. Raises RunDirectoryError."""
    run = run_directory.run
    verdict = run_directory.verdict()
    if verdict is None:
        raise RunDirectoryError(f"{run_directory.path} has no verdict: judge the run before it is rendered.")
    fleet = {key: value for key, value in verdict.items() if key not in ("hosts", "problems")}
    fleet["reasons"] = [printable(str(reason)) for reason in fleet.get("reasons") or []]
    folders = run_directory.records.folders()
    reader = _Reader(run_directory, charted=len(folders) <= CHARTED_HOSTS)
    hosts = [reader.host(folder, judged_record(run_directory, folder)) for folder in folders]
    hosts += [reader.host("", record) for record in missing_hosts(run_directory)]
    hosts.sort(key=lambda host: (rank(host.verdict), host.host, host.volume))
    gate_ran = fleet.get("asked_by") == GATE
    return Model(
        run_directory.path,
        run,
        fleet,
        gate_ran,
        run_directory.is_check_mode,
        hosts,
        reader.columns,
        _name_profiles(run, hosts),
        common_domain(host.host for host in hosts),
    )


def only_just(host: Host) -> bool:
    """Return whether a host fails, or is inconclusive, only because of figures that are at most 25 % beyond their
    limits."""
    decisive = [limit for limit in host.limits if limit["verdict"] == host.verdict]
    shares = [used_share(limit, limit["worst"]["value"]) for limit in decisive]
    return (
        host.verdict in (FAIL, INCONCLUSIVE)
        and bool(decisive)
        and all(share is not None and share <= _NEAR for share in shares)
    )


def _counts_told(counts: Mapping[str, int], verdicts: Sequence[str]) -> list[str]:
    """Return how many hosts have each of some verdicts, without those that do not occur."""
    return [f"{counts[verdict]} {verdict}" for verdict in verdicts if counts.get(verdict)]


def _setting_text(value: Any) -> str:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else printable(", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))
    )


def _workload(host: Host) -> str:
    """Return the name and version of a host's workload; empty if it has no name."""
    name, version = host.facts.get("workload_name"), host.facts.get("workload_version")
    return f"{name}, version {version}" if name and version else str(name or "")


def _steps(host: Host) -> Iterator[Step]:
    if host.columns:
        load, size = host.columns.index("load_point"), host.columns.index("block_size_bytes")
        for row in host.rows:
            yield host.words.layout.step_of({"load_point": row.values[load], "block_size_bytes": row.values[size]})


class _Reader:
    """Reads a run directory's hosts one by one, and keeps the data of each host that the report on the fleet needs."""

    def __init__(self, run_directory: RunDirectory, charted: bool) -> None:
        self._run_directory = run_directory
        self._charted = charted
        self._settings = run_directory.run.get("host_parameters") or {}
        self._classes = run_directory.run.get("host_classes") or {}
        self._stalls_left = HOSTS_WITH_STALLS
        self._headers: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._options: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}

    @property
    def columns(self) -> list[str]:
        """Every column of the tables read so far, in the order in which they first occurred."""
        return list(dict.fromkeys(column for header in self._headers for column in header))

    def host(self, folder: str, record: HostRecord) -> Host:
        """Return the data that the report shows for one record, with its tables."""
        record = with_verdict(record, self._run_directory.is_check_mode)
        entry = host_entry(self._run_directory.run, record)
        measured = bool(record.verdict) or not self._run_directory.is_check_mode
        groups, kind = _by_limit(record.judgements), kind_named(record.kind)
        host = Host(
            **{key: _safe(getattr(record, key)) for key in _AS_RECORDED},
            **{key: _plain(getattr(record, key)) for key in _AS_TEXTS},
            facts=_plain({key: value for key, value in record.facts.items() if key != SETTINGS}),
            folder=folder,
            verdict=(entry["verdict"] or kind.without_verdict) if measured else NOT_MEASURED,
            certified=entry["certified"],
            qualification=printable(entry["qualification"]),
            stage=printable(str((record.error or {}).get("stage") or "")),
            reasons=_safe(entry["reasons"] if measured else record.reasons),
            findings=_safe(entry["findings"]),
            limits=[_limit(group) for group in groups],
            words=words_of(record.load_unit),
            profile=printable(profile_text(record.profile)),
            profile_sha256=printable(str((record.profile or {}).get("sha256") or "")),
            settings=_safe(self._settings.get(record.host) or {}),
            checked_settings=_safe(record.settings),
            volume_class=printable(volume_class(self._classes.get(record.host), record.facts))
            if record.facts and not kind.is_live
            else "",
            comparison=_safe(record.comparison or {}),
            previous=_safe(self._run_directory.previous.read(folder) or {}) if folder and self._charted else {},
            own=_safe(record.kind_data or {}),
            leftovers=_safe(entry["leftovers"]),
            decisive=[_decisive(group) for group in groups],
            spans=[_span(group) for group in groups],
            capacity=shown_capacity(record),
        )
        self._add_certificate(host)
        host.recorded_notes = list(host.notes)
        host.notes.extend(f"Disturbed while it was measured: {item}" for item in host.disturbances)
        host.notes.extend(f"Left behind on the host: {item}" for item in host.leftovers)
        if record.tables and kind.has_results:
            self._add_tables(host, record)
        return host

    def _add_certificate(self, host: Host) -> None:
        if not host.folder:
            return
        try:
            text = self._run_directory.certificates.read(host.folder)
            valid_until = "" if text is None else json.loads(text)["valid_until"] or ""
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            host.notes.append(printable(f"Its certificate cannot be read: {error}"))
            return
        if text is not None:
            host.certificate = hashlib.sha256(text).hexdigest()
            host.valid_until = valid_until if _DAY.match(str(valid_until)) else ""

    def _add_tables(self, host: Host, record: HostRecord) -> None:
        detailed = ["intervals.csv", "histogram.csv", "over.csv", "fidelity.csv"] if self._charted else []
        wanted = [
            "run.csv",
            "results.csv",
            *detailed,
            *(["stalls.csv"] if self._charted or self._wants_stalls(host) else []),
        ]
        try:
            tables = parse_tables(self._run_directory.records.tables(record, wanted))
        except (TablesError, RunDirectoryError) as error:
            host.notes.append(printable(f"The figures are not shown: {error}"))
            return
        header = tuple(tables.results[0]) if tables.results else ()
        host.columns = self._headers.setdefault(header, header)
        host.rows = _rows(record, tables)
        host.words = tables.words
        options = run_options(tables.run)
        host.options = self._options.setdefault(tuple(options.items()), options)
        host.method = "" if host.of_kind.is_live else _method(tables)
        host.basis = None if host.of_kind.is_live else basis_of(tables, record.facts)
        _add_headroom(host)
        if not host.of_kind.is_live:  # the problems of the observation are listed with its notes
            host.notes.extend(
                f"The tester warns: {with_variables(value)}"
                for key, value in tables.run.items()
                if key.startswith("warning_") and value
            )
        try:
            host.intervals = tables.intervals
        except TablesError as error:
            host.notes.append(printable(f"The seconds are not shown: {error}"))
        host.stall_period = stall_period(tables)
        if self._charted:
            _add_charted(host, tables)

    def _wants_stalls(self, host: Host) -> bool:
        """Return whether to examine the stalls of a host. Stalls are only useful to explain why the host does not pass,
        and a large fleet has too many of them."""
        wanted = self._stalls_left > 0 and host.verdict in (FAIL, INCONCLUSIVE, WARN)
        self._stalls_left -= wanted
        return wanted


def _add_headroom(host: Host) -> None:
    target = target_of(host.facts)
    if target:
        try:
            host.headroom = headroom(host.basis, target)
        except NoHeadroom as why:
            host.no_headroom = printable(str(why))


def _add_charted(host: Host, tables: Tables) -> None:
    """Add the data that only charts show."""
    rate, slowest = tables.number("initial_write_bytes_per_s"), tables.number("initial_write_slowest_ns")
    host.initial_write = (rate, slowest) if rate and slowest else None
    try:
        for (load, stream, operation, size), counts in tables.distributions().items():
            series = series_of(host.words, {"stream": stream, "operation": operation, "block_size_bytes": size})
            if series:
                host.distributions[load, series] = counts
        host.stalls = tables.stalls
        host.slow_counts = tables.slow_counts()
        host.fidelity = tables.fidelity
    except TablesError as error:
        host.notes.append(printable(f"Some charts are left out: {error}"))


def _method(tables: Tables) -> str:
    """Return the version of the tester, the version of its measuring method, and the beginning of the hash of its
    sources."""
    version, method, sources = (
        tables.run.get(key) or "unknown" for key in ("version", "method_version", "source_hash")
    )
    return sys.intern(f"logdisk {version}, method {method}, sources {sources[:16]}")


def _rows(record: HostRecord, tables: Tables) -> list[ResultRow]:
    judged: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for judgement in record.judgements:
        judged.setdefault(tuple(map(judgement.get, _ROW_KEYS)), []).append(judgement)
    names = record.worker_names if tables.layout.of_mq else []
    rows = []
    for row in tables.results:
        key = {**row, "worker": ALL_WORKERS} if tables.repeats_all(row) else row
        judgements = judged.get(tuple(key[column] for column in _ROW_KEYS), [])
        if tables.layout.adds_up and row["worker"] == ALL_WORKERS != row["operation"]:
            # There is no separate row for the sum of a stream's reads and writes.
            judgements = [
                *judgements,
                *judged.get(tuple({**row, "operation": ALL_OPERATIONS}[column] for column in _ROW_KEYS), []),
            ]
        reasons = tuple(printable(judgement["reason"]) for judgement in judgements if judgement["verdict"] != PASS)
        name = (
            ALL_WORKERS if row["worker"] == ALL_WORKERS else worker_name(row["worker"], names, tables.workers_of(row))
        )
        rows.append(ResultRow(tuple(row.values()), printable(name), _worst(judgements), reasons, _used(judgements)))
    return rows


def _used(judgements: list[dict[str, Any]]) -> float | None:
    """Return the largest share that any of the judgements uses of its limit."""
    shares = (used_share(judgement, judgement["value"]) for judgement in judgements)
    return max((share for share in shares if share is not None), default=None)


def _worst(judgements: list[dict[str, Any]]) -> str:
    verdicts = [judgement["verdict"] if judgement["verdict"] in WORST_FIRST else ERROR for judgement in judgements]
    return worst(verdicts) if verdicts else ""


def _by_limit(judgements: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the judgements of each limit."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for judgement in judgements:
        groups.setdefault(tuple(map(judgement.get, _SHOWN_LIMIT_KEYS)), []).append(judgement)
    return list(groups.values())


def _limit(group: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the entry of a limit: what it requires, how many rows it judged, how many of them do not pass,
    and its worst row."""
    rows = [judgement for judgement in group if judgement["worker"] is not None or judgement["value"] is not None]
    first = min(rows or group, key=lambda judgement: (_is_untested(judgement), *badness(judgement)))
    return {
        **{key: _printable_value(first.get(key)) for key in _SHOWN_LIMIT_KEYS},
        "verdict": _worst(group),
        "rows_judged": len(rows),
        "rows_not_passed": sum(judgement.get("verdict") != PASS for judgement in rows),
        "worst": {
            **{key: _printable_value(first.get(key)) for key in _SHOWN_WORST_KEYS},
            "details": _safe(first.get("details")),
        },
    }


def _decisive(group: list[dict[str, Any]]) -> tuple[JudgedRow, ...]:
    """Return the rows that have the same verdict as their limit; none if it is pass."""
    verdict = _worst(group)
    return tuple(
        JudgedRow(
            *(judgement[key] for key in ("block_size_bytes", "load_point")),
            printable(judgement["worker_name"]),
            *(_printable_value(judgement[key]) for key in ("value", "stream", "operation")),
        )
        for judgement in group
        if judgement["verdict"] == verdict != PASS
    )


def _span(group: list[dict[str, Any]]) -> Span:
    sizes, loads = (
        sorted(judgement[key] for judgement in group if judgement[key]) for key in ("block_size_bytes", "load_point")
    )
    series = {(judgement["stream"], judgement["operation"]) for judgement in group}
    return Span(
        (sizes[0], sizes[-1]) if sizes else None,
        (loads[0], loads[-1]) if loads else None,
        frozenset((_printable_value(stream), _printable_value(operation)) for stream, operation in series),
    )


def _is_untested(judgement: Mapping[str, Any]) -> bool:
    """Return whether a figure passed without a confidence bound. If all rows of a limit pass, the worst row is chosen
    from those that passed with one."""
    return judgement["verdict"] == PASS and judgement["method"] == AS_IT_STANDS


def _plain(data: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a dict of printable text and numbers; nested values become text."""
    return {printable(str(key)): _printable_value(value) for key, value in (data or {}).items()}


def _safe(value: Any) -> Any:
    """Return nested data of a record, after making all of its text printable."""
    if isinstance(value, Mapping):
        return {printable(str(key)): _safe(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_safe(each) for each in value]
    return _printable_value(value)


def _printable_value(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return ", ".join(printable(str(item)) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(
            f"{printable(str(key))}={printable(str(item))}" for key, item in value.items() if item is not None
        )
    return printable(str(value))


def _name_profiles(run: Mapping[str, Any], hosts: list[Host]) -> list[ShownProfile]:
    """Return the profiles that judged hosts. The profile that judged most hosts comes first. If profiles have the same
    name and version, a part of the SHA-256 is added to their names."""
    known = profiles_by_sha256(run)
    labels: dict[tuple[str, str], list[str]] = {}
    for host in hosts:
        if host.profile:
            labels.setdefault((host.profile, host.profile_sha256), []).append(host.label)
    same = Counter(text for text, dummy in labels)
    names = {key: f"{key[0]} ({key[1][:_SHOWN_SHA256]})" if same[key[0]] > 1 else key[0] for key in labels}
    for host in hosts:
        host.profile = names.get((host.profile, host.profile_sha256), "")
    ordered = sorted(labels, key=lambda key: (-len(labels[key]), names[key]))
    return [
        ShownProfile(names[key], key[1], known.get(key[1]) or {}, _limits_of(run, known.get(key[1]) or {}), labels[key])
        for key in ordered
    ]


def _limits_of(run: Mapping[str, Any], profile: Mapping[str, Any]) -> list[Limit]:
    """Return the limits of a profile. The list is empty if the limits do not judge runs of this kind."""
    try:
        return [*kind_of(run).criteria.limits_of(load_profile(profile))]
    except DefinitionError:
        return []
