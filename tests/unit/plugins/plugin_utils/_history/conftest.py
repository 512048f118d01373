# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A new, empty history for each test: a file, and a database on a real PostgreSQL server."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import postgresql_server


@pytest.fixture(scope="session")
def postgresql():
    with postgresql_server.running_server("fsync=off") as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path, monkeypatch):
    """The value for gate_history."""
    if request.param == "sqlite":
        return str(tmp_path / "history.sqlite")
    monkeypatch.setenv("LOGDISK_HISTORY_PASSWORD", postgresql_server.PASSWORD)
    return request.getfixturevalue("postgresql").new_database()
