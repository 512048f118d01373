# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the history that gate_history names."""

from __future__ import annotations

import os
from typing import Any

from ..._run.environment import REPORTS
from ..._run.files import absolute
from ..._run.findings import Finding
from .history import History, HistoryError
from .postgresql import SCHEMES, PostgresqlHistory, refuse_password
from .sqlite import SqliteHistory

PASSWORD_VARIABLE = "LOGDISK_HISTORY_PASSWORD"
FILE_NAME = "history.sqlite"
"""The name of the default history in the directory of reports."""
TRY_PATIENCE_S = 30.0
"""How long to wait for another writer before there is anything to store. Storing a large fleet may take this long."""


def place_of(history: str, report_dir: str) -> str:
    """Return the absolute path or the URL to which gate_history refers. Raises HistoryError if the value is neither a
    path nor a URL, or if it contains a password.

    ``report_dir`` is the directory in gate_report_dir. The artifacts of ansible-runner are not a place for a history,
    because each run has its own.
    """
    if history.startswith(SCHEMES):
        refuse_password(history)
        return history
    if "://" in history:
        raise HistoryError(
            f"gate_history must be a path or begin with {SCHEMES[0]}, not {history.partition('://')[0]}://"
        )
    return absolute(history or os.path.join(report_dir or REPORTS, FILE_NAME))


def open_history(place: str, create: bool = False, **how: Any) -> History:
    """Open the history at a place that :func:`place_of` returned. A file is created only on request. Raises
    HistoryError.

    ``how`` can contain make_tables=False, which leaves an empty database empty, and patience_s, the time to wait for
    another writer.
    """
    if place.startswith(SCHEMES):
        return PostgresqlHistory(place, os.environ.get(PASSWORD_VARIABLE, ""), **how)
    return SqliteHistory(place, create, **how)


def try_history(place: str, create: bool) -> Finding | None:
    """Raise HistoryError if certificates could not be stored at a place now. Nothing is changed, except that the
    history is created if this is allowed. Returns what contradicts the controller's clock; None if nothing does."""
    if not place.startswith(SCHEMES) and not os.path.lexists(place):
        directory = os.path.dirname(place)
        if not os.access(directory, os.W_OK | os.X_OK):
            problem = "cannot be written" if os.path.isdir(directory) else "is not a directory"
            raise HistoryError(f"the history {place} cannot be created: {directory} {problem}")
        if not create:
            return None
    with open_history(place, create, make_tables=create, patience_s=TRY_PATIENCE_S) as history:
        history.try_writing()
        return history.wrong_clock()
