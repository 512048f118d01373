# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tables of the history, version by version. The SQL is the same for every database except for a few words."""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
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
            accepted INTEGER NOT NULL
        )
        """,
        "CREATE INDEX logdisk_certificates_name ON logdisk_certificates (host, volume, judged_at)",
        "CREATE INDEX logdisk_certificates_volume ON logdisk_certificates (volume_id, judged_at)",
        # The contents are separate from the searched columns, so that a search of all certificates reads only a small
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
        # Triggers that protect the tables from faulty programs and from mistakes at an SQL prompt. Entries can be
        # deleted, because they are pruned. Revocations can never be deleted.
        "CREATE TRIGGER logdisk_certificates_kept BEFORE UPDATE ON logdisk_certificates {refuse}",
        "CREATE TRIGGER logdisk_contents_kept BEFORE UPDATE ON logdisk_contents {refuse}",
        "CREATE TRIGGER logdisk_revocations_kept BEFORE UPDATE ON logdisk_revocations {refuse}",
        "CREATE TRIGGER logdisk_revocations_left BEFORE DELETE ON logdisk_revocations {refuse}",
    ),
    (
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
        "CREATE TRIGGER logdisk_kept_runs_kept BEFORE UPDATE ON logdisk_kept_runs {refuse}",
    ),
    (
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
            tests {text} NOT NULL
        )
        """,
        "CREATE INDEX logdisk_power_cuts_volume ON logdisk_power_cuts (volume_id, judged_at)",
        "CREATE TRIGGER logdisk_power_cuts_kept BEFORE UPDATE ON logdisk_power_cuts {refuse}",
        "CREATE TRIGGER logdisk_power_cuts_left BEFORE DELETE ON logdisk_power_cuts {refuse}",
    ),
    (
        # The index of the certificates is rebuilt from their contents, because the definition of a volume's identity
        # has changed and there are more columns.
        "DROP TABLE logdisk_certificates",
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
            can_certify INTEGER NOT NULL
        )
        """,
        "CREATE INDEX logdisk_certificates_name ON logdisk_certificates (host, volume, judged_at)",
        "CREATE INDEX logdisk_certificates_volume ON logdisk_certificates (volume_id, judged_at)",
        "CREATE TRIGGER logdisk_certificates_kept BEFORE UPDATE ON logdisk_certificates {refuse}",
        "DROP TABLE logdisk_power_cuts",
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
            mount_point {text}
        )
        """,
        "CREATE INDEX logdisk_power_cuts_name ON logdisk_power_cuts (host, volume, judged_at)",
        "CREATE INDEX logdisk_power_cuts_volume ON logdisk_power_cuts (volume_id, judged_at)",
        "CREATE TRIGGER logdisk_power_cuts_kept BEFORE UPDATE ON logdisk_power_cuts {refuse}",
        "CREATE TRIGGER logdisk_power_cuts_left BEFORE DELETE ON logdisk_power_cuts {refuse}",
        """
        CREATE TABLE logdisk_plans (
            sha256 {text} PRIMARY KEY,
            run_id {text} NOT NULL,
            host {text} NOT NULL,
            volume {text} NOT NULL,
            mount_point {text} NOT NULL,
            planned_at {text} NOT NULL
        )
        """,
        "CREATE INDEX logdisk_plans_host ON logdisk_plans (host, planned_at)",
        "CREATE TRIGGER logdisk_plans_kept BEFORE UPDATE ON logdisk_plans {refuse}",
        "CREATE TRIGGER logdisk_plans_left BEFORE DELETE ON logdisk_plans {refuse}",
    ),
    (
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
            reason {text} NOT NULL
        )
        """,
        "CREATE TRIGGER logdisk_locks_kept BEFORE UPDATE ON logdisk_locks {refuse}",
        "CREATE TRIGGER logdisk_locks_left BEFORE DELETE ON logdisk_locks {refuse}",
    ),
    (
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
            text {text} NOT NULL
        )
        """,
        "CREATE INDEX logdisk_observations_name ON logdisk_observations (host, volume, mount_point, judged_at)",
        # Observations decide no state, so they can be pruned.
        "CREATE TRIGGER logdisk_observations_kept BEFORE UPDATE ON logdisk_observations {refuse}",
        # A part of each certificate's content, so that the status of a fleet need not read whole contents.
        "CREATE TABLE logdisk_closest_limits (sha256 {text} PRIMARY KEY, content {text} NOT NULL)",
        "CREATE TRIGGER logdisk_closest_limits_kept BEFORE UPDATE ON logdisk_closest_limits {refuse}",
    ),
    (
        # The order of results (dating.py): the earliest and the latest clock each time when a run stored what it had
        # just measured, and the position of each result. What was stored before this migration was placed by its date.
        """
        CREATE TABLE logdisk_storings (
            number INTEGER PRIMARY KEY,
            earliest {text} NOT NULL,
            latest {text} NOT NULL
        )
        """,
        "CREATE TRIGGER logdisk_storings_kept BEFORE UPDATE ON logdisk_storings {refuse}",
        "CREATE TRIGGER logdisk_storings_left BEFORE DELETE ON logdisk_storings {refuse}",
        # The clock that contradicted the date of a result.
        "CREATE TABLE logdisk_wrong_dates (sha256 {text} PRIMARY KEY, clock {text} NOT NULL)",
        "CREATE TRIGGER logdisk_wrong_dates_kept BEFORE UPDATE ON logdisk_wrong_dates {refuse}",
        "CREATE TRIGGER logdisk_wrong_dates_left BEFORE DELETE ON logdisk_wrong_dates {refuse}",
        *(
            f"ALTER TABLE {table} ADD COLUMN position INTEGER NOT NULL DEFAULT 1"
            for table in (
                "logdisk_certificates",
                "logdisk_power_cuts",
                "logdisk_plans",
                "logdisk_locks",
                "logdisk_observations",
            )
        ),
    ),
)
"""The statements that migrate each version of the schema to the next. The first ones start from an empty database.
Never change a released version; add another one."""

REINDEXED = 4
"""The version whose tables are filled from those of the version before, see reindexing.py."""
