# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tables of the history. The SQL is the same for every database except for a few words."""

from __future__ import annotations

SCHEMA_VERSION = 7
"""The version of the tables. Raise it whenever they change: a history of another version is refused."""

_TABLES = (
    "CREATE TABLE logdisk_schema (version INTEGER PRIMARY KEY, applied_at {text} NOT NULL)",
    """
    CREATE TABLE logdisk_certificates (
        sha256 {text} PRIMARY KEY,
        run_id {text} NOT NULL,
        host {text} NOT NULL,
        volume {text} NOT NULL,
        volume_id {text},
        boot_id {text} NOT NULL,
        profile {text} NOT NULL,
        method_version INTEGER,
        effect {text} NOT NULL,
        verdict {text} NOT NULL,
        disturbed INTEGER NOT NULL,
        judged_at {text} NOT NULL,
        valid_from {text},
        valid_until {text},
        parameters {text} NOT NULL,
        limits_verdict {text} NOT NULL,
        outcome {text},
        baseline {text},
        accepted INTEGER NOT NULL,
        disk_id {text},
        mount_point {text},
        volume_facts {text} NOT NULL,
        verified INTEGER NOT NULL,
        can_certify INTEGER NOT NULL,
        position INTEGER NOT NULL
    )
    """,
    "CREATE INDEX logdisk_certificates_name ON logdisk_certificates (host, volume, judged_at)",
    "CREATE INDEX logdisk_certificates_volume ON logdisk_certificates (volume_id, judged_at)",
    # The contents are separate from the searched columns, so that a search of all certificates reads only a small part
    # of the history.
    "CREATE TABLE logdisk_contents (sha256 {text} PRIMARY KEY, content {text} NOT NULL)",
    # A part of each certificate's content, so that the status of a fleet need not read whole contents.
    "CREATE TABLE logdisk_closest_limits (sha256 {text} PRIMARY KEY, content {text} NOT NULL)",
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
    """
    CREATE TABLE logdisk_power_cuts (
        sha256 {text} PRIMARY KEY,
        run_id {text} NOT NULL,
        host {text} NOT NULL,
        volume {text} NOT NULL,
        volume_id {text},
        judged_at {text} NOT NULL,
        verdict {text} NOT NULL,
        cuts INTEGER NOT NULL,
        reason {text} NOT NULL,
        claim {text} NOT NULL,
        tests {text} NOT NULL,
        disk_id {text},
        mount_point {text},
        position INTEGER NOT NULL
    )
    """,
    "CREATE INDEX logdisk_power_cuts_name ON logdisk_power_cuts (host, volume, judged_at)",
    "CREATE INDEX logdisk_power_cuts_volume ON logdisk_power_cuts (volume_id, judged_at)",
    """
    CREATE TABLE logdisk_plans (
        sha256 {text} PRIMARY KEY,
        run_id {text} NOT NULL,
        host {text} NOT NULL,
        volume {text} NOT NULL,
        mount_point {text} NOT NULL,
        planned_at {text} NOT NULL,
        position INTEGER NOT NULL
    )
    """,
    "CREATE INDEX logdisk_plans_host ON logdisk_plans (host, planned_at)",
    """
    CREATE TABLE logdisk_locks (
        sha256 {text} PRIMARY KEY,
        run_id {text} NOT NULL,
        first {text} NOT NULL,
        second {text} NOT NULL,
        volume {text} NOT NULL,
        directory {text} NOT NULL,
        server {text} NOT NULL,
        profile {text} NOT NULL,
        judged_at {text} NOT NULL,
        verdict {text} NOT NULL,
        valid_until {text},
        takeover_ns BIGINT,
        failed_steps {text} NOT NULL,
        passed_steps {text} NOT NULL,
        text {text} NOT NULL,
        reason {text} NOT NULL,
        position INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE logdisk_observations (
        sha256 {text} PRIMARY KEY,
        run_id {text} NOT NULL,
        host {text} NOT NULL,
        volume {text} NOT NULL,
        mount_point {text} NOT NULL,
        disk_id {text},
        queue_manager {text} NOT NULL,
        profile {text} NOT NULL,
        judged_at {text} NOT NULL,
        verdict {text} NOT NULL,
        outcome {text} NOT NULL,
        ratio DOUBLE PRECISION,
        text {text} NOT NULL,
        position INTEGER NOT NULL
    )
    """,
    "CREATE INDEX logdisk_observations_name ON logdisk_observations (host, volume, mount_point, judged_at)",
    # The order of results (dating.py): the earliest and the latest clock each time when a run stored what it had just
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

_PRUNED = (
    "logdisk_certificates",
    "logdisk_contents",
    "logdisk_closest_limits",
    "logdisk_kept_runs",
    "logdisk_observations",
)
_NEVER_DELETED = (
    "logdisk_revocations",
    "logdisk_power_cuts",
    "logdisk_plans",
    "logdisk_locks",
    "logdisk_storings",
    "logdisk_wrong_dates",
)

STATEMENTS = (
    *_TABLES,
    # Triggers that protect the tables from faulty programs and from mistakes at an SQL prompt.
    *(f"CREATE TRIGGER {table}_kept BEFORE UPDATE ON {table} {{refuse}}" for table in (*_PRUNED, *_NEVER_DELETED)),
    *(f"CREATE TRIGGER {table}_left BEFORE DELETE ON {table} {{refuse}}" for table in _NEVER_DELETED),
)
"""The statements that create the history in an empty database."""
