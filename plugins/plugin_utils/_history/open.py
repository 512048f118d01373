# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which history gate_history names."""

from __future__ import annotations

import os

from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.postgresql_store import SCHEMES, PostgresqlHistory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.sqlite_store import SqliteHistory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store import History, HistoryError

PASSWORD_VARIABLE = "LOGDISK_HISTORY_PASSWORD"


def open_history(place: str, create: bool = False) -> History:
    """Open the history that a path or a URL of PostgreSQL names. A file is created only on request. Raises HistoryError."""
    if place.startswith(SCHEMES):
        return PostgresqlHistory(place, os.environ.get(PASSWORD_VARIABLE, ""))
    if "://" in place:
        raise HistoryError(f"gate_history must be a path or begin with {SCHEMES[0]}, not {place.partition('://')[0]}://")
    return SqliteHistory(os.path.abspath(os.path.expanduser(place)), create)
