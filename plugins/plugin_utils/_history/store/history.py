# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The history: where certificates are stored permanently. Entries are added and, on request, pruned; none is ever
changed.

It can also keep the run directories themselves, each as one archive. A later archive of a run replaces the earlier one.

The SQL is the same for every database. The subclasses contain the differences: how to connect, how a transaction
begins, and a few words of the schema.
"""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import datetime
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ..._judge.effect import ATTEMPT
from ..._run.findings import WRONG_CLOCK, Finding, finding
from ..._run.moment import CLOCK_TOLERANCE_S, MOMENT, later, seconds_between, utc_now
from ..._run.record import DEFAULT_VOLUME
from ..._run.table_reader import printable
from ..certificate import Certificate, CertificateError, Entry
from ..cut_result import CutResult, told_once
from ..dating import Dated, column_names, column_values
from ..figures import IMPORTED
from ..lock_result import LockResult
from ..observations import ObservedResult
from ..planned import Planned
from .schema import SCHEMA_VERSION, STATEMENTS

PATIENCE_S = 60.0
"""How long to wait for another process that is writing."""
APPEND_ONLY = "the history is append-only"

_INSERT_TEXT = "INSERT INTO {table} (sha256, content) VALUES (?, ?) ON CONFLICT DO NOTHING"
_CONTENTS, _CLOSEST = "logdisk_contents", "logdisk_closest_limits"
_KEPT_COLUMNS = "sha256, run_id, stage, kept_at, created_at, job_id, workflow_job_id"
_KEEP = (
    f"INSERT INTO logdisk_kept_runs ({_KEPT_COLUMNS}, archive) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_MOST_VALUES = 500
"""The largest number of values in one statement; databases allow somewhat more."""
# A state follows from the newest entry with each effect and each fact about the volume, revoked or not. Boot IDs
# distinguish clones, so the newest entry with each boot ID is kept.
_DECIDING = """
    volume_id, disk_id, host, volume, boot_id, profile, effect, volume_facts, verified, can_certify,
    CASE WHEN sha256 IN (SELECT sha256 FROM logdisk_revocations) THEN 1 ELSE 0 END
"""


class HistoryError(OSError):
    """A history cannot be opened, read or written. The message is one sentence with the location of the history and, if
    known, what to do."""


class _UndoneError(Exception):
    """Raised to end a trial transaction."""


@dataclass(frozen=True)
class Revocation:
    """A revocation: who withdrew a certificate, when, and why."""

    sha256: str
    revoked_at: str
    revoked_by: str
    reason: str


OPENED, STARTED, JUDGED = range(3)
"""The stage of a run when it was stored: before its hosts were contacted, while they were being measured, or with its
report."""


@dataclass(frozen=True)
class KeptRun:
    """A run directory that the history keeps: the stage of the run, when it was opened, and, if known, the job to which
    it belongs.

    Values that come from the run are untrusted text.
    """

    sha256: str
    run_id: str
    stage: int
    kept_at: str
    created_at: str
    job_id: str
    workflow_job_id: str


Result = CutResult | LockResult | ObservedResult | Planned
"""What the history stores about a run in addition to its certificates."""
_Result = TypeVar("_Result", Entry, CutResult, LockResult, ObservedResult, Planned)
_TABLES = {
    Entry: "logdisk_certificates",
    CutResult: "logdisk_power_cuts",
    LockResult: "logdisk_locks",
    ObservedResult: "logdisk_observations",
    Planned: "logdisk_plans",
}
"""The table of each kind of result. In addition to the columns of the result, it contains its position."""
_OF_VOLUME = {
    **dict.fromkeys(_TABLES.values(), "host = ? AND volume = ? AND mount_point = ?"),
    _TABLES[LockResult]: "? IN (first, second) AND volume = ? AND directory = ?",
}
"""The condition for the results of a volume, by table."""


# A result that is already in the history keeps the date that it has there.
_CONTRADICT_NEW = """
    INSERT INTO logdisk_wrong_dates (sha256, clock)
    SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE sha256 = ?) ON CONFLICT DO NOTHING
"""
_CONTRADICT = """
    INSERT INTO logdisk_wrong_dates (sha256, clock)
    SELECT sha256, ? FROM {table} WHERE {date} > ? ON CONFLICT DO NOTHING
"""


def _insert(result: type, *more: str) -> str:
    """Return the statement that adds a result, with more columns."""
    names = (*column_names(result), *more)
    places = ", ".join("?" * len(names))
    return f"INSERT INTO {_TABLES[result]} ({', '.join(names)}) VALUES ({places}) ON CONFLICT DO NOTHING"


_NOT_REVOKED = "sha256 NOT IN (SELECT sha256 FROM logdisk_revocations)"
_REVOKE = (
    "INSERT INTO logdisk_revocations (sha256, revoked_at, revoked_by, reason) VALUES (?, "
    "?, ?, ?) ON CONFLICT DO NOTHING"
)


class History(abc.ABC):
    """An open history. If it is used as a context manager, it is closed at the end of the block. Every method
    raises HistoryError."""

    errors: tuple[type[Exception], ...] = ()
    """The exception classes of the database's library."""

    text_type = "TEXT"
    """The type of a text column that sorts by code points."""

    bytes_type = "BLOB"
    """The type of a column with bytes."""

    refuse = ""
    """The last part of a CREATE TRIGGER statement, which makes the trigger refuse the operation."""

    def __init__(self, place: str) -> None:
        self.place = place
        self._is_live = False
        self._is_clock_right = True
        self._last_moment = ""

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abc.abstractmethod
    def close(self) -> None:
        """Close the connection."""

    @abc.abstractmethod
    def _transaction(self) -> contextlib.AbstractContextManager[None]:
        """Begin a transaction that writes; it is committed if the block succeeds, and otherwise rolled back."""

    @abc.abstractmethod
    def _execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Execute a statement with question marks for its values and return a cursor."""

    @abc.abstractmethod
    def _execute_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> int:
        """Execute a statement for each row; return how many rows of the database were affected."""

    @abc.abstractmethod
    def _has_schema(self) -> bool:
        """Return whether the history has tables."""

    @abc.abstractmethod
    def _begin_making(self) -> None:
        """Prevent other writers from creating tables until the end of the transaction, and create the objects that
        :attr:`refuse` needs."""

    @abc.abstractmethod
    def _begin_storing(self) -> None:
        """Prevent other writers from storing until the end of the transaction."""

    def server_clock(self) -> str:
        """Return the time according to the database server, if that is another machine; otherwise empty."""
        return ""

    def now(self) -> str:
        """Return the present time. If the clocks of the controller and the database server differ, this is the earlier
        time, because a date that is later than one of them may be wrong."""
        earliest, _latest = self._clocks()
        return min(earliest, self._last_moment or earliest)

    def look_from(self, day: datetime.date) -> None:
        """Show the history as on an earlier day: what is dated later certifies nothing."""
        self._last_moment = datetime.datetime.combine(day, datetime.time(23, 59, 59)).isoformat() + "Z"

    def expect_live(self, is_clock_right: bool = True) -> None:
        """Note that what is stored was just measured, so that it is newer than everything in the history. By default,
        it is placed by its date. ``is_clock_right``: whether the clocks of the hosts agree with the controller's, which
        is otherwise no evidence against other dates."""
        self._is_live, self._is_clock_right = True, is_clock_right

    def wrong_clock(self) -> Finding | None:
        """Return what contradicts the controller's clock; None if nothing does."""
        with self._reported("cannot be read"):
            now, server = utc_now(), self.server_clock()
            if server and abs(seconds_between(now, server)) > CLOCK_TOLERANCE_S:
                return finding(WRONG_CLOCK, None, cause="server", clock=now, other=server)
            if self._has_schema():
                newest = self._execute("SELECT earliest FROM logdisk_storings ORDER BY number DESC LIMIT 1").fetchall()
                if newest and seconds_between(now, newest[0][0]) > CLOCK_TOLERANCE_S:
                    return finding(WRONG_CLOCK, None, cause="history", clock=now, other=newest[0][0])
        return None

    def _clocks(self) -> tuple[str, str]:
        """Return the earlier and the later one of the clocks of the controller and of the database server."""
        controller = utc_now()
        server = self.server_clock() or controller
        return min(controller, server), max(controller, server)

    def _read(
        self, result: type[_Result], condition: str = "TRUE", values: Sequence[Any] = (), newest_of: str = ""
    ) -> list[_Result]:
        """Return the results that meet a condition, oldest first; only the newest with each combination of some values
        (``newest_of``) if there are any. Misdated results are a part of their own, because they hide no others."""
        names, date, table = ", ".join(column_names(result)), result.date_column, _TABLES[result]
        wrong = f"SELECT clock FROM logdisk_wrong_dates AS wrong WHERE wrong.sha256 = {table}.sha256"
        source = f"""
            SELECT {names}, position, COALESCE(({wrong}), CASE WHEN {date} > ? THEN ? END, '') AS misdated
            FROM {table} WHERE {condition}
        """
        if newest_of:
            source = f"""SELECT {names}, position, misdated FROM (
                SELECT dated.*, rank() OVER (
                    PARTITION BY {newest_of}, CASE WHEN misdated = '' THEN 0 ELSE 1 END
                    ORDER BY position DESC, {date} DESC, run_id DESC
                ) AS age FROM ({source}) AS dated
            ) AS ranked WHERE age = 1"""
        now = self.now()
        with self._reported("cannot be read"):
            rows = self._execute(source, (later(now, CLOCK_TOLERANCE_S), now, *values)).fetchall()
        found: list[Any] = [result(*row[:-2], position=row[-2], misdated=row[-1]) for row in rows]
        return sorted((each.void() if each.misdated else each for each in found), key=lambda each: each.order)

    def placed(self, results: Sequence[_Result]) -> list[_Result]:
        """Return results that were not just measured, each with the position that follows from its date. A pass is
        placed before the first storing with a clock that is later, so that it hides no failure that may be newer.
        Anything else is placed after the last storing with a clock that is earlier."""
        first_later = """
            SELECT coalesce(
                (SELECT min(number) - 1 FROM logdisk_storings WHERE latest > ?),
                (SELECT max(number) FROM logdisk_storings),
                0
            )
        """
        last_earlier = "SELECT coalesce(max(number), 0) FROM logdisk_storings WHERE earliest <= ?"
        with self._reported("cannot be read"):
            numbers = {
                (passes, date): self._execute(first_later if passes else last_earlier, (date,)).fetchone()[0]
                for passes, date in {(each.passes, each.date) for each in results}
            }
        return [dataclasses.replace(each, position=2 * numbers[each.passes, each.date] + 1) for each in results]

    def store(self, certificates: Iterable[Certificate]) -> int:
        """Store certificates, all or none of them. Returns how many were new to the history."""
        # They are stored in a fixed order, so that two writers of the same certificates cannot deadlock.
        ordered = sorted(certificates, key=lambda certificate: certificate.sha256)
        entries = [certificate.entry for certificate in ordered]
        texts = {
            _CONTENTS: [(each.sha256, each.text) for each in ordered],
            _CLOSEST: [(each.sha256, text) for each in ordered if (text := each.closest_limit)],
        }
        with self._reported("cannot be written"), self._transaction():
            added = self._add_rows(Entry, entries)
            for table, rows in texts.items():
                if rows:
                    self._execute_many(_INSERT_TEXT.format(table=table), rows)
        return added

    def store_results(self, results: Sequence[Result]) -> int:
        """Store the other results of a run. Returns how many were new to the history, not counting plans."""
        added = 0
        for kind in _TABLES:
            own = sorted((each for each in results if isinstance(each, kind)), key=lambda each: each.sha256)
            if not own:
                continue
            with self._reported("cannot be written"), self._transaction():
                new = self._add_rows(kind, own)
            added += new if kind is not Planned else 0
        return added

    def power_cuts(self) -> list[CutResult]:
        """Return the results of all power cuts, oldest first. Results are never pruned, because a loss must not be
        forgotten. Revoked results are left out."""
        return told_once(self._read(CutResult, _NOT_REVOKED))

    def power_cuts_of(self, host: str, volume: str) -> list[CutResult]:
        """Return the results of all power cuts of a host's volumes of one name, oldest first."""
        own = f"host = ? AND volume = ? AND {_NOT_REVOKED}"
        return told_once(self._read(CutResult, own, (printable(host), printable(volume))))

    def locks(self) -> list[LockResult]:
        """Return the results of all tests of locks, oldest first. They are never pruned, and those that were revoked do
        not count."""
        return self._read(LockResult, _NOT_REVOKED)

    def observations(self) -> list[ObservedResult]:
        """Return the newest observation of each volume, oldest first. Those of withdrawn volumes are left out."""
        found = self._read(ObservedResult, _NOT_REVOKED, newest_of="host, volume, mount_point")
        newest = {(each.host, each.volume, each.mount_point): each for each in found}
        return sorted(newest.values(), key=lambda each: each.order)

    def _add_rows(self, result: type, results: Sequence[Dated]) -> int:
        if not results:
            return 0
        self._begin_storing()
        earliest, latest = self._clocks()
        limit = later(earliest, CLOCK_TOLERANCE_S)
        late = [(each.sha256, earliest, each.sha256) for each in results if each.date > limit]
        if late:
            self._execute_many(_CONTRADICT_NEW.format(table=_TABLES[result]), late)
        if self._is_live:
            number = self._execute("SELECT coalesce(max(number), 0) + 1 FROM logdisk_storings").fetchone()[0]
            self._execute("INSERT INTO logdisk_storings VALUES (?, ?, ?)", (number, earliest, latest))
            rows = [(*column_values(each), 2 * number) for each in results]
        else:
            rows = [(*column_values(each), each.position) for each in self.placed(results)]
        added = self._execute_many(_insert(result, "position"), rows)
        if self._is_live and self._is_clock_right and latest <= limit:
            for each, table in _TABLES.items():
                self._execute(_CONTRADICT.format(table=table, date=each.date_column), (earliest, limit))
        return added

    def plans(self) -> dict[str, list[Planned]]:
        """Return the newest plan of each host that has one, without volumes that were withdrawn since then. If a plan
        contains no mount point, the last known one is used."""
        newest = self._read(Planned, newest_of="host")
        runs = {each.host: each.run_id for each in newest}
        # If a run could not determine a mount point, this does not mean that the mount point was different.
        known = self._read(Planned, "mount_point <> ''", newest_of="host, volume")
        places = {(each.host, each.volume): each.mount_point for each in known}
        revoked, found = self.revocations(), {}
        for planned in sorted(newest, key=lambda each: (each.host, each.volume, each.sha256)):
            if planned.run_id != runs[planned.host]:
                continue
            of_host = found.setdefault(planned.host, [])
            if planned.sha256 not in revoked:
                of_host.append(
                    dataclasses.replace(
                        planned, mount_point=planned.mount_point or places.get((planned.host, planned.volume), "")
                    )
                )
        return found

    def newest(self) -> list[Entry]:
        """Return the entries that decide today's states: for each volume, name, boot and profile, the newest entry with
        each effect."""
        return self._read(Entry, newest_of=_DECIDING)

    def of_name(self, host: str, volume: str) -> list[Entry]:
        """Return all entries of a host's volume, oldest first, including those of replaced volumes."""
        return self._read(Entry, "host = ? AND volume = ?", (printable(host), printable(volume)))

    def of_volume(self, volume_id: str) -> list[Entry]:
        """Return all entries of a volume, under any name, oldest first."""
        return self._read(Entry, "volume_id = ?", (volume_id,))

    def of_run(self, run_id: str) -> list[Entry]:
        """Return all entries of a run."""
        found = self._read(Entry, "run_id = ?", (run_id,))
        return sorted(found, key=lambda entry: (entry.host, entry.volume, entry.sha256))

    def between(self, first: datetime.date = datetime.date.min, last: datetime.date = datetime.date.max) -> list[Entry]:
        """Return all entries that were judged from one day to another, according to their dates, oldest first."""
        days = (first.isoformat(), f"{last.isoformat()}U")  # "T" sorts before "U"
        return self._read(Entry, "judged_at >= ? AND judged_at < ?", days)

    def contents(self, wanted: Sequence[str]) -> list[dict[str, Any]]:
        """Return the contents of certificates, in the order of their SHA-256."""
        texts = self._texts(_CONTENTS, wanted)
        damaged = [
            sha256
            for sha256 in wanted
            if not texts.get(sha256, "").isascii() or Certificate(texts.get(sha256, "")).sha256 != sha256
        ]
        if damaged:
            raise HistoryError(
                f"the history {self.place} is damaged: it contains no certificate, or a changed one, under {damaged[0]}"
            )
        return [Certificate(texts[sha256]).content for sha256 in wanted]

    def closest_limits(self, wanted: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return, by the SHA-256 of each certificate, the figure in it that comes closest to its limit, if there is
        one."""
        texts = self._texts(_CLOSEST, wanted)
        try:
            return {sha256: json.loads(text) for sha256, text in texts.items()}
        except ValueError:
            raise HistoryError(f"the history {self.place} is damaged: a figure of a certificate is not JSON") from None

    def _texts(self, table: str, wanted: Sequence[str]) -> dict[str, str]:
        """Return those of the wanted texts that a table contains, by SHA-256."""
        texts: dict[str, str] = {}
        for start in range(0, len(wanted), _MOST_VALUES):
            part = wanted[start : start + _MOST_VALUES]
            sql = f"SELECT sha256, content FROM {table} WHERE sha256 IN ({', '.join('?' * len(part))})"
            with self._reported("cannot be read"):
                texts.update(self._execute(sql, part).fetchall())
        return texts

    def certificate(self, beginning: str) -> Certificate:
        """Return the certificate whose SHA-256 begins with this text."""
        with self._reported("cannot be read"):
            sql = "SELECT content FROM logdisk_contents WHERE sha256 >= ? AND sha256 < ? ORDER BY sha256 LIMIT 2"
            found = self._execute(sql, (beginning, beginning + "g")).fetchall()
        if len(found) != 1:
            raise HistoryError(
                f"the history {self.place} has {'more than one' if found else 'no'} certificate whose "
                f"SHA-256 begins with {beginning!r}"
            )
        try:
            return Certificate.parse(found[0][0].encode("ascii", "replace"))
        except CertificateError as error:
            raise HistoryError(f"the history {self.place} is damaged at {beginning}: {error}") from None

    def revoke(self, sha256: str, reason: str, revoked_by: str) -> None:
        """Withdraw a certificate, a fail, or a result that was imported from mqldt, at the request of a person. Only
        the first revocation is recorded."""
        reason = _reason(reason)
        with self._reported("cannot be written"), self._transaction():
            found = self._execute(
                "SELECT effect, profile FROM logdisk_certificates WHERE sha256 = ?", (sha256,)
            ).fetchall()
            if not found or (found[0][0] == ATTEMPT and found[0][1] != IMPORTED):
                raise HistoryError(f"the history {self.place} has no certificate {sha256} to revoke")
            self._execute(_REVOKE, (sha256, utc_now(), printable(revoked_by), printable(reason)))

    def take_out(self, label: str, mount_point: str, reason: str, revoked_by: str) -> int:
        """Withdraw all entries of a volume, so that it no longer needs to be certified, and the results of its locks if
        it is a directory that hosts share; return the number of these entries.

        The label is the host's name, followed by a slash and the name of the volume unless it is the default name.
        Judgements that are made afterwards are valid.
        """
        names = {(label, DEFAULT_VOLUME), tuple(label.rpartition("/")[::2])}
        with self._reported("cannot be written"), self._transaction():
            wanted = [
                row[0]
                for table, is_of_volume in _OF_VOLUME.items()
                for name in names
                for row in self._execute(
                    f"SELECT sha256 FROM {table} WHERE {is_of_volume}", [*map(printable, (*name, mount_point))]
                ).fetchall()
            ]
            if not wanted:
                raise HistoryError(f"the history {self.place} does not contain the volume {label}:{mount_point}")
            values = (utc_now(), printable(revoked_by), printable(_reason(reason)))
            self._execute_many(_REVOKE, [(sha256, *values) for sha256 in wanted])
        return len(wanted)

    def revocations(self) -> dict[str, Revocation]:
        """Return the revocations, by the SHA-256 of the certificate."""
        with self._reported("cannot be read"):
            rows = self._execute("SELECT sha256, revoked_at, revoked_by, reason FROM logdisk_revocations").fetchall()
        return {row[0]: Revocation(*row) for row in rows}

    def prune(self, before: datetime.date) -> int:
        """Remove the entries and observations that were judged before a day, and return their number. Entries that
        determine a state are kept, so that no state changes."""
        moment = datetime.datetime.combine(before, datetime.time()).strftime(MOMENT)
        with self._reported("cannot be written"), self._transaction():
            kept = {entry.sha256 for entry in self.newest()}
            old = self._execute("SELECT sha256 FROM logdisk_certificates WHERE judged_at < ?", (moment,)).fetchall()
            removed = [(sha256,) for (sha256,) in old if sha256 not in kept]
            for table in (_CONTENTS, _CLOSEST, _TABLES[Entry]) if removed else ():
                self._execute_many(f"DELETE FROM {table} WHERE sha256 = ?", removed)
            observed = self._execute("DELETE FROM logdisk_observations WHERE judged_at < ?", (moment,)).rowcount
        return len(removed) + observed

    def keep_run(self, run: Mapping[str, Any], archive: bytes, stage: int) -> None:
        """Keep the archive of a run directory. ``run`` is the content of its run.json. Any archive of this run at this
        stage or an earlier one is replaced."""
        job = (run.get("controller") or {}).get("job") or {}
        sha256 = hashlib.sha256(archive).hexdigest()
        texts = (run["run_id"], run.get("created_at"), job.get("id"), job.get("workflow_job_id"))
        run_id, created_at, job_id, workflow_job_id = (printable(str(text or "")) for text in texts)
        with self._reported("cannot be written"), self._transaction():
            self._execute(_KEEP, (sha256, run_id, stage, utc_now(), created_at, job_id, workflow_job_id, archive))
            # Earlier archives are removed only after adding, so that two controllers that keep a run at the same time
            # do not remove each other's archive.
            self._execute(
                "DELETE FROM logdisk_kept_runs WHERE run_id = ? AND stage <= ? AND sha256 <> ?", (run_id, stage, sha256)
            )

    def kept_runs(self, workflow_job_ids: Iterable[str]) -> list[KeptRun]:
        """Return the stored archives of runs of workflows, the newest of each run, in the order in which the runs were
        opened."""
        wanted = sorted(set(workflow_job_ids) - {""})
        return self._kept(f"workflow_job_id IN ({', '.join('?' * len(wanted))})", wanted) if wanted else []

    def kept_run(self, run_id: str) -> bytes:
        """Return the newest archive of a run."""
        kept = self._kept("run_id = ?", [run_id])
        if not kept:
            raise HistoryError(
                f"the history {self.place} does not contain the report of the run {run_id!r}: it only keeps "
                "reports of runs with gate_keep_report: true"
            )
        with self._reported("cannot be read"):
            found = self._execute(
                "SELECT archive FROM logdisk_kept_runs WHERE sha256 = ?", (kept[0].sha256,)
            ).fetchall()
        if not found or hashlib.sha256(found[0][0]).hexdigest() != kept[0].sha256:
            raise HistoryError(
                f"the history {self.place} is damaged: the report of the run {run_id} differs from the one that was "
                "kept"
            )
        return bytes(found[0][0])

    def _kept(self, condition: str, values: Sequence[Any]) -> list[KeptRun]:
        with self._reported("cannot be read"):
            sql = f"SELECT {_KEPT_COLUMNS} FROM logdisk_kept_runs WHERE {condition} ORDER BY stage, kept_at, sha256"
            newest = {row[1]: KeptRun(*row) for row in self._execute(sql, values).fetchall()}
        return sorted(newest.values(), key=lambda kept: (kept.created_at, kept.run_id))

    def prune_kept_runs(self, before: datetime.date) -> int:
        """Remove the run directories of runs that were opened before a day and have no entry left,
        and return the number of these runs."""
        moment = datetime.datetime.combine(before, datetime.time()).strftime(MOMENT)
        old = "created_at < ? AND run_id NOT IN (SELECT run_id FROM logdisk_certificates)"
        with self._reported("cannot be written"), self._transaction():
            runs = self._execute(
                f"SELECT count(DISTINCT run_id) FROM logdisk_kept_runs WHERE {old}", (moment,)
            ).fetchone()[0]
            self._execute(f"DELETE FROM logdisk_kept_runs WHERE {old}", (moment,))
        return runs

    def try_writing(self) -> None:
        """Write an entry and roll it back, if there are tables. Raises HistoryError if it cannot be written."""
        with self._reported("cannot be written"), contextlib.suppress(_UndoneError):
            if self._has_schema():
                with self._transaction():
                    self._execute(_INSERT_TEXT.format(table=_CONTENTS), ("", ""))
                    self._execute(_KEEP, ("", "", OPENED, "", "", "", "", b""))
                    raise _UndoneError

    def _begin(self, make_tables: bool) -> None:
        """Refuse a history with another schema. If there are no tables, create them, unless ``make_tables`` is false.
        A history that cannot be used is closed."""
        try:
            with self._reported("cannot be opened"):
                if make_tables and not self._has_schema():
                    self._make_tables()
                if self._has_schema():
                    self._refuse_other_schema()
        except BaseException:
            self.close()
            raise

    def _make_tables(self) -> None:
        with self._transaction():
            self._begin_making()
            if self._has_schema():  # another writer was faster
                return
            for statement in STATEMENTS:
                self._execute(statement.format(text=self.text_type, bytes=self.bytes_type, refuse=self.refuse))
            self._execute("INSERT INTO logdisk_schema (version, applied_at) VALUES (?, ?)", (SCHEMA_VERSION, utc_now()))

    def _refuse_other_schema(self) -> None:
        version = self._execute("SELECT max(version) FROM logdisk_schema").fetchone()[0]
        if version != SCHEMA_VERSION:
            raise HistoryError(
                f"the history {self.place} has schema {version}, but this version of the collection reads schema "
                f"{SCHEMA_VERSION}: use the version that wrote it, or name another history in gate_history and import "
                "the run directories into it"
            )

    @contextlib.contextmanager
    def _reported(self, what: str) -> Iterator[None]:
        """Convert the exceptions of the database's library into a HistoryError."""
        try:
            yield
        except self.errors as error:
            raise HistoryError(f"the history {self.place} {what}: {' '.join(str(error).split())}") from None


def _reason(reason: str) -> str:
    if not reason.strip():
        raise HistoryError("revoking a certificate requires a reason: state it with -e history_reason=...")
    return reason
