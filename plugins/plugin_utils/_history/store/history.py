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
from typing import Any

from ..._judge.effect import ATTEMPT
from ..._run.findings import WRONG_CLOCK, Finding, finding
from ..._run.kinds import DEFAULT, KINDS
from ..._run.moment import CLOCK_TOLERANCE_S, MOMENT, later, seconds_between, utc_now
from ..._run.record import DEFAULT_VOLUME
from ..._run.table_reader import printable
from ..certificate import Certificate, CertificateError, Entry
from ..figures import IMPORTED
from ..result import PLAN, Result
from .schema import SCHEMA_VERSION, STATEMENTS

PATIENCE_S = 60.0
"""How long to wait for another process that is writing."""
APPEND_ONLY = "the history is append-only"

_INSERT_CONTENT = "INSERT INTO logdisk_contents (sha256, content) VALUES (?, ?) ON CONFLICT DO NOTHING"
_KEPT_COLUMNS = "sha256, run_id, stage, kept_at, created_at, job_id, workflow_job_id"
_KEEP = (
    f"INSERT INTO logdisk_kept_runs ({_KEPT_COLUMNS}, archive) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_MOST_VALUES = 500
"""The largest number of values in one statement; databases allow somewhat more."""
_COLUMNS = tuple(each.name for each in dataclasses.fields(Result) if each.compare)
_NAMES = ", ".join(_COLUMNS)
_PLACES = ", ".join("?" * len(_COLUMNS))
_INSERT = f"INSERT INTO logdisk_results ({_NAMES}, position) VALUES ({_PLACES}, ?) ON CONFLICT DO NOTHING"
_REVOKED = "CASE WHEN sha256 IN (SELECT sha256 FROM logdisk_revocations) THEN 1 ELSE 0 END"
_CHAIN = "CASE chain WHEN '' THEN sha256 ELSE chain END"


class HistoryError(OSError):
    """A history cannot be opened, read or written. The message is one sentence with the location of the history and, if
    known, what to do."""


class _UndoneError(Exception):
    """Raised to end a trial transaction."""


OPENED, STARTED, JUDGED = range(3)
"""The stage of a run when it was stored: before its hosts were contacted, while they were being measured, or with its
report."""


# A result that is already in the history keeps the date that it has there.
_CONTRADICT_NEW = """
    INSERT INTO logdisk_wrong_dates (sha256, clock)
    SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM logdisk_results WHERE sha256 = ?) ON CONFLICT DO NOTHING
"""
_CONTRADICT = """
    INSERT INTO logdisk_wrong_dates (sha256, clock)
    SELECT sha256, ? FROM logdisk_results WHERE judged_at > ? ON CONFLICT DO NOTHING
"""
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

    def _read(self, kind: str, newest_of: str = "", condition: str = "", *values: Any) -> list[Any]:
        """Return the results of a kind that meet a condition, oldest first; only the newest with each combination of
        some values (``newest_of``) if there are any. Misdated results are a part of their own, because they hide no
        others."""
        wrong = "SELECT clock FROM logdisk_wrong_dates AS wrong WHERE wrong.sha256 = logdisk_results.sha256"
        source = f"""
            SELECT {_NAMES}, position, COALESCE(({wrong}), CASE WHEN judged_at > ? THEN ? END, '') AS misdated
            FROM logdisk_results WHERE kind = ? {condition and f"AND {condition}"}
        """
        if newest_of:
            source = f"""SELECT {_NAMES}, position, misdated FROM (
                SELECT dated.*, rank() OVER (
                    PARTITION BY {newest_of}, CASE WHEN misdated = '' THEN 0 ELSE 1 END
                    ORDER BY position DESC, judged_at DESC, run_id DESC
                ) AS age FROM ({source}) AS dated
            ) AS ranked WHERE age = 1"""
        now = self.now()
        with self._reported("cannot be read"):
            rows = self._execute(source, (later(now, CLOCK_TOLERANCE_S), now, kind, *values)).fetchall()
        try:
            found = [_result(row) for row in rows]
        except ValueError:
            raise HistoryError(f"the history {self.place} is damaged: the data of a result is not JSON") from None
        return sorted((each.void() if each.misdated else each for each in found), key=lambda each: each.order)

    def placed(self, results: Sequence[Result]) -> list[Any]:
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
                for passes, date in {(each.passes, each.judged_at) for each in results}
            }
        return [dataclasses.replace(each, position=2 * numbers[each.passes, each.judged_at] + 1) for each in results]

    def store(self, certificates: Iterable[Certificate], results: Sequence[Result] = ()) -> int:
        """Store the certificates and the other results of a run, all or none of them. Returns how many were new to the
        history, not counting plans."""
        # They are stored in a fixed order, so that two writers of the same certificates cannot deadlock.
        ordered = sorted(certificates, key=lambda certificate: certificate.sha256)
        others = sorted(results, key=lambda result: result.sha256)
        plans = [each for each in others if each.kind == PLAN]
        counted = [*(each.entry for each in ordered), *(each for each in others if each.kind != PLAN)]
        if not counted and not plans:
            return 0
        with self._reported("cannot be written"), self._transaction():
            added = self._add_rows(counted, plans)
            if ordered:
                self._execute_many(_INSERT_CONTENT, [(each.sha256, each.text) for each in ordered])
        return added

    def _add_rows(self, counted: Sequence[Result], plans: Sequence[Result] = ()) -> int:
        """Add results, and return how many of the counted ones were new."""
        self._begin_storing()
        results = [*counted, *plans]
        earliest, latest = self._clocks()
        limit = later(earliest, CLOCK_TOLERANCE_S)
        late = [(each.sha256, earliest, each.sha256) for each in results if each.judged_at > limit]
        if late:
            self._execute_many(_CONTRADICT_NEW, late)
        if self._is_live:
            number = self._execute("SELECT coalesce(max(number), 0) + 1 FROM logdisk_storings").fetchone()[0]
            self._execute("INSERT INTO logdisk_storings VALUES (?, ?, ?)", (number, earliest, latest))
            results = [dataclasses.replace(each, position=2 * number) for each in results]
        else:
            results = self.placed(results)
        rows = [_row(each) for each in results]
        added = self._execute_many(_INSERT, rows[: len(counted)]) if counted else 0
        if plans:
            self._execute_many(_INSERT, rows[len(counted) :])
        if self._is_live and self._is_clock_right and latest <= limit:
            self._execute(_CONTRADICT, (earliest, limit))
        return added

    def results(self, kind: str, host: str = "", volume: str = "") -> list[Result]:
        """Return the results of a kind that count, oldest first: the newest of each chain. Revoked ones do not count.
        If a host is named, only the results of its volume are returned."""
        named = (_hosts((printable(host),)), printable(volume)) if host else ()
        found = self._read(kind, _CHAIN, _NOT_REVOKED + (" AND hosts = ? AND volume = ?" if named else ""), *named)
        newest = {each.chain or each.sha256: each for each in found}
        return sorted(newest.values(), key=lambda each: each.order)

    def plans(self) -> dict[str, list[Result]]:
        """Return the newest plan of each host that has one, without volumes that were withdrawn since then. If a plan
        contains no mount point, the last known one is used."""
        newest = self._read(PLAN, _CHAIN)
        runs = {each.host: each.run_id for each in newest}
        # If a run could not determine a mount point, this does not mean that the mount point was different.
        known = self._read(PLAN, "hosts, volume", "path <> ''")
        paths = {(each.host, each.volume): each.path for each in known}
        revoked, found = self.revocations(), {}
        for planned in sorted(newest, key=lambda each: (each.host, each.volume, each.sha256)):
            if planned.run_id != runs[planned.host]:
                continue
            of_host = found.setdefault(planned.host, [])
            if planned.sha256 not in revoked:
                path = planned.path or paths.get((planned.host, planned.volume), "")
                of_host.append(dataclasses.replace(planned, path=path))
        return found

    def newest(self) -> list[Entry]:
        """Return the entries that decide today's states, oldest first, including those that were revoked."""
        return self._read(DEFAULT.name, f"{_CHAIN}, {_REVOKED}")

    def of_name(self, host: str, volume: str) -> list[Entry]:
        """Return all entries of a host's volume, oldest first, including those of replaced volumes."""
        name = _hosts((printable(host),)), printable(volume)
        return self._read(DEFAULT.name, "", "hosts = ? AND volume = ?", *name)

    def of_volume(self, volume_id: str) -> list[Entry]:
        """Return all entries of a volume, under any name, oldest first."""
        return self._read(DEFAULT.name, "", "identity = ?", volume_id)

    def of_run(self, run_id: str) -> list[Entry]:
        """Return all entries of a run."""
        found = self._read(DEFAULT.name, "", "run_id = ?", run_id)
        return sorted(found, key=lambda entry: (entry.host, entry.volume, entry.sha256))

    def between(self, first: datetime.date = datetime.date.min, last: datetime.date = datetime.date.max) -> list[Entry]:
        """Return all entries that were judged from one day to another, according to their dates, oldest first."""
        days = (first.isoformat(), f"{last.isoformat()}U")  # "T" sorts before "U"
        return self._read(DEFAULT.name, "", "judged_at >= ? AND judged_at < ?", *days)

    def contents(self, wanted: Sequence[str]) -> list[dict[str, Any]]:
        """Return the contents of certificates, in the order of their SHA-256."""
        texts = self._texts(wanted)
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

    def _texts(self, wanted: Sequence[str]) -> dict[str, str]:
        """Return those of the wanted contents that the history has, by SHA-256."""
        texts: dict[str, str] = {}
        for start in range(0, len(wanted), _MOST_VALUES):
            part = wanted[start : start + _MOST_VALUES]
            sql = f"SELECT sha256, content FROM logdisk_contents WHERE sha256 IN ({', '.join('?' * len(part))})"
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
            sql = "SELECT data FROM logdisk_results WHERE sha256 = ? AND kind = ?"
            found = [json.loads(data) for (data,) in self._execute(sql, (sha256, DEFAULT.name)).fetchall()]
            if not found or (found[0]["effect"] == ATTEMPT and found[0]["profile"] != IMPORTED):
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
            sql = "SELECT sha256, hosts FROM logdisk_results WHERE volume = ? AND path = ?"
            wanted = [
                sha256
                for host, volume in names
                for sha256, hosts in self._execute(sql, (printable(volume), printable(mount_point))).fetchall()
                if printable(host) in json.loads(hosts)
            ]
            if not wanted:
                raise HistoryError(f"the history {self.place} does not contain the volume {label}:{mount_point}")
            values = (utc_now(), printable(revoked_by), printable(_reason(reason)))
            self._execute_many(_REVOKE, [(sha256, *values) for sha256 in wanted])
        return len(wanted)

    def revocations(self) -> dict[str, dict[str, str]]:
        """Return by whom, when and why certificates were revoked, in the form of status.json, by their SHA-256."""
        with self._reported("cannot be read"):
            rows = self._execute("SELECT sha256, revoked_at, revoked_by, reason FROM logdisk_revocations").fetchall()
        return {row[0]: dict(zip(("at", "by", "reason"), row[1:])) for row in rows}

    def prune(self, before: datetime.date) -> int:
        """Remove the entries and observations that were judged before a day, and return their number. Entries that
        determine a state are kept, so that no state changes."""
        moment = datetime.datetime.combine(before, datetime.time()).strftime(MOMENT)
        with self._reported("cannot be written"), self._transaction():
            kept = {entry.sha256 for entry in self.newest()}
            old = f"SELECT sha256 FROM logdisk_results WHERE judged_at < ? AND kind IN ({_pruned_kinds()})"
            removed = [row for row in self._execute(old, (moment,)).fetchall() if row[0] not in kept]
            for table in ("logdisk_contents", "logdisk_results") if removed else ():
                self._execute_many(f"DELETE FROM {table} WHERE sha256 = ?", removed)
        return len(removed)

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

    def kept_runs(self, workflow_job_ids: Iterable[str]) -> list[str]:
        """Return the IDs of the stored runs of workflows, in the order in which the runs were opened."""
        wanted = sorted(set(workflow_job_ids) - {""})
        if not wanted:
            return []
        sql = f"""
            SELECT run_id FROM logdisk_kept_runs WHERE workflow_job_id IN ({", ".join("?" * len(wanted))})
            GROUP BY run_id ORDER BY max(created_at), run_id
        """
        with self._reported("cannot be read"):
            return [run_id for (run_id,) in self._execute(sql, wanted).fetchall()]

    def kept_run(self, run_id: str) -> bytes:
        """Return the newest archive of a run."""
        newest = "WHERE run_id = ? ORDER BY stage DESC, kept_at DESC, sha256 DESC LIMIT 1"
        with self._reported("cannot be read"):
            found = self._execute(f"SELECT sha256, archive FROM logdisk_kept_runs {newest}", (run_id,)).fetchall()
        if not found:
            raise HistoryError(
                f"the history {self.place} does not contain the report of the run {run_id!r}: it only keeps "
                "reports of runs with gate_keep_report: true"
            )
        ((sha256, archive),) = found
        if hashlib.sha256(archive).hexdigest() != sha256:
            raise HistoryError(
                f"the history {self.place} is damaged: the report of the run {run_id} differs from the one that was "
                "kept"
            )
        return bytes(archive)

    def prune_kept_runs(self, before: datetime.date) -> int:
        """Remove the run directories of runs that were opened before a day and have no entry left,
        and return the number of these runs."""
        moment = datetime.datetime.combine(before, datetime.time()).strftime(MOMENT)
        old = "created_at < ? AND run_id NOT IN (SELECT run_id FROM logdisk_results WHERE kind = ?)"
        with self._reported("cannot be written"), self._transaction():
            runs = self._execute(
                f"SELECT count(DISTINCT run_id) FROM logdisk_kept_runs WHERE {old}", (moment, DEFAULT.name)
            ).fetchone()[0]
            self._execute(f"DELETE FROM logdisk_kept_runs WHERE {old}", (moment, DEFAULT.name))
        return runs

    def try_writing(self) -> None:
        """Write an entry and roll it back, if there are tables. Raises HistoryError if it cannot be written."""
        with self._reported("cannot be written"), contextlib.suppress(_UndoneError):
            if self._has_schema():
                with self._transaction():
                    self._execute(_INSERT_CONTENT, ("", ""))
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
                words = {"text": self.text_type, "bytes": self.bytes_type, "refuse": self.refuse}
                self._execute(statement.format(**words, pruned=_pruned_kinds()))
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


def _hosts(hosts: Sequence[str]) -> str:
    """Return the hosts of a result as the column contains them."""
    return json.dumps(hosts)


def _row(result: Result) -> tuple[Any, ...]:
    """Return the values of the columns of a result."""
    as_text = {"hosts": _hosts(result.hosts), "data": json.dumps(result.data)}
    return (*(as_text.get(name, getattr(result, name)) for name in _COLUMNS), result.position)


def _result(row: Sequence[Any]) -> Result:
    """Return the result in a row of the database, which also contains its position and the clock that contradicts its
    date. Raises ValueError if it is malformed."""
    values = dict(zip((*_COLUMNS, "position", "misdated"), row))
    hosts, values["data"] = json.loads(f"[{values['hosts']},{values['data']}]")  # half as many calls
    values["hosts"] = tuple(hosts)
    return (Entry if values["kind"] == DEFAULT.name else Result)(**values)


def _pruned_kinds() -> str:
    """Return the kinds of results that can be removed, as SQL."""
    return ", ".join(f"'{kind.name}'" for kind in KINDS.values() if kind.memory.is_pruned)


def _reason(reason: str) -> str:
    if not reason.strip():
        raise HistoryError("revoking a certificate requires a reason: state it with -e history_reason=...")
    return reason
