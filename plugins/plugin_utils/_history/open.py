# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which history gate_history names."""

from __future__ import annotations

import os

from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.postgresql_store import SCHEMES, PostgresqlHistory, refuse_password
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.sqlite_store import SqliteHistory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store import History, HistoryError

PASSWORD_VARIABLE = "LOGDISK_HISTORY_PASSWORD"
FILE_NAME = "history.sqlite"
"""The history of those who name none, in the directory of their reports."""


def place_of(history: str, report_dir: str) -> str:
    """Return the absolute path or the URL that gate_history stands for. Raises HistoryError if it cannot be one, or has a password in it."""
    if history.startswith(SCHEMES):
        refuse_password(history)
        return history
    if "://" in history:
        raise HistoryError(f"gate_history must be a path or begin with {SCHEMES[0]}, not {history.partition('://')[0]}://")
    return os.path.abspath(os.path.expanduser(history or os.path.join(report_dir, FILE_NAME)))


def open_history(place: str, create: bool = False) -> History:
    """Open the history at a place of :func:`place_of`. A file is created only on request. Raises HistoryError."""
    if place.startswith(SCHEMES):
        return PostgresqlHistory(place, os.environ.get(PASSWORD_VARIABLE, ""))
    return SqliteHistory(place, create)
