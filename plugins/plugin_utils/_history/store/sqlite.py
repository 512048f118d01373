# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The history in one file on the controller: SQLite, which is part of Python.

The file may be on NFS, so there is no write-ahead log. A writer locks the file when it begins, after waiting for other
writers to finish.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import urllib.parse
from collections.abc import Iterator, Sequence
from typing import Any

from .history import APPEND_ONLY, PATIENCE_S, History, HistoryError


class SqliteHistory(History):
    """A history in a file. If the file does not exist and is not to be created, this is an error."""

    errors = (sqlite3.Error,)
    refuse = f"BEGIN SELECT RAISE(ABORT, '{APPEND_ONLY}'); END"

    def __init__(self, path: str, create: bool, make_tables: bool = True, patience_s: float = PATIENCE_S) -> None:
        super().__init__(path)
        if not create and not os.path.exists(path):
            raise HistoryError(
                f"the history {path} does not exist. Name the right one in gate_history. If there is none yet, a run "
                "that certifies creates it (playbooks/certify.yml), or import earlier runs (playbooks/history.yml with "
                "history_import: their directories)"
            )
        mode = "rwc" if create else "rw"
        with self._reported("cannot be opened"):
            self._connection = sqlite3.connect(
                f"file:{urllib.parse.quote(os.path.abspath(path))}?mode={mode}",
                uri=True,
                timeout=patience_s,
                isolation_level=None,
            )
        self._begin(make_tables)

    def close(self) -> None:
        self._connection.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # if the disk is full, it is already rolled back
                self._connection.execute("ROLLBACK")
            raise

    def _execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        return self._connection.execute(sql, values)

    def _execute_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> int:
        return self._connection.executemany(sql, rows).rowcount

    def _has_schema(self) -> bool:
        return bool(
            self._execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'logdisk_schema'").fetchall()
        )

    def _begin_making(self) -> None:
        """Does nothing, because the transaction has locked the whole file."""

    def _begin_storing(self) -> None:
        """Does nothing, because the transaction has locked the whole file."""
