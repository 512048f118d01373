# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The history in PostgreSQL, for several controllers and for AWX. The controller then needs psycopg 3."""

from __future__ import annotations

import contextlib
import re
import urllib.parse
from collections.abc import Iterator, Sequence
from typing import Any

from .history import APPEND_ONLY, PATIENCE_S, History, HistoryError

SCHEMES = ("postgresql://", "postgres://")
CONNECT_TIMEOUT_S = 10
_UNLESS_IN_URL = {
    "connect_timeout": CONNECT_TIMEOUT_S,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""With this option, an error is raised after a minute instead of hours if the network drops all packets."""
_MAKING_LOCK = 0x6C6F676469736B  # any number that no other program locks
_SERVER = r"(\[[^\]@/?#]*\]|[^\[\]:@/?#,]*)(:[0-9]+)?"
# This is stricter than libpq, which also recognizes a password inside text that looks like a host, a path or options.
_URL = re.compile(rf"postgres(ql)?://([^:@/?#]*@)?{_SERVER}(,{_SERVER})*(/[^@?#]*)?(\?(?P<options>[^@#]*))?\Z")


class PostgresqlHistory(History):
    """A history in a database, which must exist. The password comes from the caller,
    from PGPASSWORD or from a password file, never from the URL."""

    text_type = 'TEXT COLLATE "C"'
    bytes_type = "BYTEA"
    refuse = "EXECUTE PROCEDURE logdisk_refuse()"

    def __init__(self, url: str, password: str = "", make_tables: bool = True, patience_s: float = PATIENCE_S) -> None:
        refuse_password(url)
        super().__init__(url)
        psycopg = _psycopg(url)
        self.errors = (psycopg.Error,)
        self._patience_ms = round(patience_s * 1000)
        with self._reported("cannot be opened"):
            named = psycopg.conninfo.conninfo_to_dict(url)
            given = {key: value for key, value in _UNLESS_IN_URL.items() if key not in named}
            if password:
                given["password"] = password
            self._connection = psycopg.connect(url, autocommit=True, client_encoding="UTF8", **given)
        self._begin(make_tables)

    def close(self) -> None:
        self._connection.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._connection.transaction():
            self._execute(f"SET LOCAL lock_timeout = {self._patience_ms}")
            yield

    def _execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(sql.replace("?", "%s"), values)

    def _execute_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> int:
        with self._connection.cursor() as cursor:
            cursor.executemany(sql.replace("?", "%s"), rows)
            return cursor.rowcount

    def _has_schema(self) -> bool:
        # to_regclass() may use a cache that does not contain what another writer has just committed.
        return bool(
            self._execute(
                "SELECT 1 FROM pg_tables WHERE schemaname = ANY (current_schemas(false)) AND "
                "tablename = 'logdisk_schema'"
            ).fetchall()
        )

    def _begin_storing(self) -> None:
        self._execute("LOCK TABLE logdisk_storings IN EXCLUSIVE MODE")

    def server_clock(self) -> str:
        clock = "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
        with self._reported("cannot be read"):
            return str(self._execute(f"SELECT {clock}").fetchone()[0])

    def _begin_making(self) -> None:
        self._execute("SELECT pg_advisory_xact_lock(?)", (_MAKING_LOCK,))
        body = f"BEGIN RAISE EXCEPTION '{APPEND_ONLY}'; END"
        self._execute(f"CREATE OR REPLACE FUNCTION logdisk_refuse() RETURNS trigger LANGUAGE plpgsql AS $${body}$$")


def refuse_password(url: str) -> None:
    """Raise HistoryError if a URL contains, or could contain, a password. The message does not show it."""
    parts = _URL.match(url)
    options = urllib.parse.unquote((parts and parts["options"]) or "").lower()
    if not parts or re.search(r"(^|&)(ssl)?password=", options):
        raise HistoryError(
            "gate_history must look like postgresql://user@host:port/database?option=value, with %40 for an @ in a "
            "name, and must not contain a password, because every report shows it: set LOGDISK_HISTORY_PASSWORD or "
            "PGPASSWORD in the environment, or use a password file"
        )


def _psycopg(url: str) -> Any:
    """Return the library, which is needed only for PostgreSQL and takes a long time to import."""
    try:
        import psycopg
        import psycopg.conninfo
    except ImportError as error:
        raise HistoryError(
            f"the history {url} needs psycopg 3 on the controller: install it with pip install 'psycopg[binary]'"
        ) from error
    return psycopg
