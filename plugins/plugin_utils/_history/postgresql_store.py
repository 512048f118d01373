# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The history in PostgreSQL, for several controllers and for AWX. The controller then needs psycopg 3."""

from __future__ import annotations

import contextlib
import urllib.parse
from collections.abc import Sequence
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store import APPEND_ONLY, History, HistoryError

try:
    import psycopg
except ImportError:  # only those who use PostgreSQL need it
    psycopg = None

SCHEMES = ("postgresql://", "postgres://")
CONNECT_TIMEOUT_S = 10
_MIGRATION_LOCK = 0x6C6F676469736B  # any number that nobody else locks


class PostgresqlHistory(History):
    """A history in a database, which must exist. The password comes from the caller, from PGPASSWORD or from a password file, never from the URL."""

    text_type = 'TEXT COLLATE "C"'
    refuse = "EXECUTE PROCEDURE logdisk_refuse()"

    def __init__(self, url: str, password: str = "", connect_timeout_s: int = CONNECT_TIMEOUT_S) -> None:
        refuse_password(url)
        super().__init__(url)
        if psycopg is None:
            raise HistoryError(f"the history {url} needs psycopg 3 on the controller: install it with pip install 'psycopg[binary]'")
        self.errors = (psycopg.Error,)
        given = {"password": password} if password else {}
        with self._reported("cannot be opened"):
            self._connection = psycopg.connect(url, autocommit=True, connect_timeout=connect_timeout_s, client_encoding="UTF8", **given)
        try:
            self._migrate()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def _transaction(self) -> contextlib.AbstractContextManager[Any]:
        return self._connection.transaction()

    def _execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(sql.replace("?", "%s"), values)

    def _execute_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> int:
        with self._connection.cursor() as cursor:
            cursor.executemany(sql.replace("?", "%s"), rows)
            return cursor.rowcount

    def _has_schema(self) -> bool:
        # to_regclass() may answer from a cache that does not know yet what another writer has just committed.
        return bool(self._execute("SELECT 1 FROM pg_tables WHERE schemaname = ANY (current_schemas(false)) AND tablename = 'logdisk_schema'").fetchall())

    def _begin_migration(self) -> None:
        self._execute("SELECT pg_advisory_xact_lock(?)", (_MIGRATION_LOCK,))
        body = f"BEGIN RAISE EXCEPTION '{APPEND_ONLY}'; END"
        self._execute(f"CREATE OR REPLACE FUNCTION logdisk_refuse() RETURNS trigger LANGUAGE plpgsql AS $${body}$$")


def refuse_password(url: str) -> None:
    """Raise HistoryError if there is a password in a URL; the message does not show it."""
    parts = urllib.parse.urlsplit(url)
    user = parts.netloc.rpartition("@")[0]
    if ":" in user or any(pair.lower().startswith("password=") for pair in parts.query.split("&")):
        raise HistoryError(
            "gate_history must not contain a password, because every report shows it: set LOGDISK_HISTORY_PASSWORD or PGPASSWORD in the environment, "
            "or use a password file"
        )
