# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tables of the history. The SQL is the same for every database except for a few words."""

from __future__ import annotations

SCHEMA_VERSION = 8
"""The version of the tables. Raise it whenever they change: a history of another version is refused."""

_TABLES = (
    "CREATE TABLE logdisk_schema (version INTEGER PRIMARY KEY, applied_at {text} NOT NULL)",
    """
    CREATE TABLE logdisk_results (
        kind {text} NOT NULL,
        sha256 {text} PRIMARY KEY,
        run_id {text} NOT NULL,
        hosts {text} NOT NULL,
        volume {text} NOT NULL,
        path {text} NOT NULL,
        judged_at {text} NOT NULL,
        verdict {text} NOT NULL,
        identity {text},
        valid_until {text},
        chain {text} NOT NULL,
        data {text} NOT NULL,
        position INTEGER NOT NULL
    )
    """,
    "CREATE INDEX logdisk_results_kind ON logdisk_results (kind, judged_at)",
    "CREATE INDEX logdisk_results_name ON logdisk_results (hosts, volume, judged_at)",
    "CREATE INDEX logdisk_results_identity ON logdisk_results (identity, judged_at)",
    # The contents of certificates are separate from the results, so that a search of all results reads only a small
    # part of the history.
    "CREATE TABLE logdisk_contents (sha256 {text} PRIMARY KEY, content {text} NOT NULL)",
    """
    CREATE TABLE logdisk_revocations (
        sha256 {text} PRIMARY KEY,
        revoked_at {text} NOT NULL,
        revoked_by {text} NOT NULL,
        reason {text} NOT NULL
    )
    """,
    """
    CREATE TABLE logdisk_kept_runs (
        sha256 {text} PRIMARY KEY,
        run_id {text} NOT NULL,
        stage INTEGER NOT NULL,
        kept_at {text} NOT NULL,
        created_at {text} NOT NULL,
        job_id {text} NOT NULL,
        workflow_job_id {text} NOT NULL,
        archive {bytes} NOT NULL
    )
    """,
    "CREATE INDEX logdisk_kept_runs_run ON logdisk_kept_runs (run_id)",
    "CREATE INDEX logdisk_kept_runs_workflow ON logdisk_kept_runs (workflow_job_id)",
    # The order of results (result.py): the earliest and the latest clock each time when a run stored what it had just
    # measured, and the position of each result.
    """
    CREATE TABLE logdisk_storings (
        number INTEGER PRIMARY KEY,
        earliest {text} NOT NULL,
        latest {text} NOT NULL
    )
    """,
    # The clock that contradicted the date of a result.
    "CREATE TABLE logdisk_wrong_dates (sha256 {text} PRIMARY KEY, clock {text} NOT NULL)",
)

_NEVER_CHANGED = (
    "logdisk_results",
    "logdisk_contents",
    "logdisk_kept_runs",
    "logdisk_revocations",
    "logdisk_storings",
    "logdisk_wrong_dates",
)
_NEVER_DELETED = _NEVER_CHANGED[3:]

STATEMENTS = (
    *_TABLES,
    # Triggers that protect the tables from faulty programs and from mistakes at an SQL prompt.
    *(f"CREATE TRIGGER {table}_kept BEFORE UPDATE ON {table} {{refuse}}" for table in _NEVER_CHANGED),
    *(f"CREATE TRIGGER {table}_left BEFORE DELETE ON {table} {{refuse}}" for table in _NEVER_DELETED),
    "CREATE TRIGGER logdisk_results_left BEFORE DELETE ON logdisk_results "
    "FOR EACH ROW WHEN (OLD.kind NOT IN ({pruned})) {refuse}",
)
"""The statements that create the history in an empty database. ``pruned`` are the kinds of results that can be removed,
as SQL."""
