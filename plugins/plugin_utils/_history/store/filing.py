# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files run directories in the history: makes their certificates, stores them when they are judged, imports them later,
and removes them together with their results. The certificate of each record is made once, written beside the record,
and stored."""

from __future__ import annotations

import datetime
import os
import shutil
from collections.abc import Iterable, Sequence

from ..._judge.judged_records import judged_record
from ..._run.directory import RunDirectory
from ..._run.kinds import kind_named
from ..._run.record import HostRecord
from ..._run.run_files import RunDirectoryError
from ..._run.table_reader import TablesError, printable
from ..._run.tables import parse_tables
from ..certificate import Certificate, CertificateError, certificate_of
from ..result import PLAN, Result
from .contradiction import refuse_contradiction, refuse_other_content
from .history import History
from .open import open_history

_RUN_FILE = "run.json"
_NEEDED_TABLES = ("run.csv", "results.csv")


def certify(directory: RunDirectory) -> tuple[list[Certificate], list[str]]:
    """Make the certificates of a run that was judged and write each beside its record.

    Returns the certificates, and a sentence for each record that cannot have one. Raises RunDirectoryError.
    """
    found, problems = _certificates(directory)
    for folder, certificate in found.items():
        directory.certificates.write(folder, certificate.text)
    return list(found.values()), problems


def certificates_of(directory: RunDirectory) -> tuple[list[Certificate], list[str]]:
    """Return the same as certify, but without writing anything. The directory is untrusted, so a record that
    contradicts its tables is a problem."""
    found, problems = _certificates(directory, check=True)
    return list(found.values()), problems


def store(
    place: str, certificates: list[Certificate], results: Sequence[Result] = (), is_clock_right: bool = True
) -> int:
    """Store certificates of a run that was just made, and its other results, in the history at a place. Returns how
    many of them were new to the history. ``is_clock_right``: whether the clocks of the hosts agree with the
    controller's.

    Raises HistoryError.

    The run created the history when it was opened. It is not created here: if it has disappeared, for example because a
    file system is not mounted, creating a new one would hide that.
    """
    with open_history(place) as history:
        history.expect_live(is_clock_right)
        return history.store(certificates, results)


def _certificates(directory: RunDirectory, check: bool = False) -> tuple[dict[str, Certificate], list[str]]:
    """Return the certificates by the folders of their records, and the problems of the other records.

    A merged run has no certificates, because the certificates of its records belong to the original runs. Only runs of
    a kind that certifies have certificates.
    """
    found: dict[str, Certificate] = {}
    problems = []
    if directory.run.get("merged_from") or not directory.kind.certifies:
        return found, problems
    for folder in directory.records.folders():
        try:
            record = judged_record(directory, folder)
            if check:
                refuse_contradiction(directory, folder)
            certificate = _written(directory, folder, record, check) or directory.kind.memory.certificate_of(
                directory, folder, record
            )
        except (CertificateError, RunDirectoryError, TablesError) as error:
            problems.append(f"{folder}: {error}")
            continue
        if certificate:
            found[folder] = certificate
    return found, problems


def _written(directory: RunDirectory, folder: str, record: HostRecord, check: bool) -> Certificate | None:
    """Return the certificate that is stored beside a record. It must not be made again, because a later version of this
    collection could make a certificate that differs from the one in the history."""
    text = directory.certificates.read(folder)
    if text is None:
        return None
    certificate = Certificate.parse(text)
    entry, run_id = certificate.entry, record.run_id or directory.run["run_id"]
    if (entry.run_id, entry.host, entry.volume) != (run_id, printable(record.host), printable(record.volume)):
        raise CertificateError(
            "its certificate.json belongs to another run, host or volume: remove the file, and "
            "it will be created from the record again"
        )
    if check:
        refuse_other_content(certificate, directory.kind.memory.certificate_of(directory, folder, record))
    return certificate


def make_certificate(directory: RunDirectory, folder: str, record: HostRecord) -> Certificate | None:
    """Return the certificate of a record in a folder, or None if it was not judged, or if it is of a kind that does not
    certify. Raises CertificateError, RunDirectoryError and TablesError."""
    if record.kind_data and not kind_named(record.kind).certifies:
        return None
    tables = (
        parse_tables(directory.records.tables(record, _NEEDED_TABLES))
        if kind_named(record.kind).tests_storage
        else None
    )
    return certificate_of(directory.run, record, tables)


def run_directories(path: str) -> list[str]:
    """Return the run directories that a path names: the path itself, or the run directories directly below it. Raises
    RunDirectoryError if there are none."""
    path = os.path.realpath(path)
    if os.path.lexists(os.path.join(path, _RUN_FILE)):
        return [path]
    try:
        below = sorted(entry.path for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False))
    except OSError as error:
        raise RunDirectoryError(f"{path} cannot be read: {error.strerror or error}.") from None
    found = [each for each in below if os.path.lexists(os.path.join(each, _RUN_FILE))]
    if not found:
        raise RunDirectoryError(f"{path} is not a run directory and contains none.")
    return found


def import_runs(history: History, paths: Iterable[str]) -> tuple[int, int, list[str]]:
    """Store the certificates and other results of the run directories at the given paths, each run as a whole.

    Returns the number of results, how many of them were new to the history, and a sentence for each that could not be
    stored. Raises HistoryError.
    """
    total, added, problems = 0, 0, []
    for path in paths:
        try:
            directories = run_directories(path)
        except RunDirectoryError as error:
            problems.append(str(error))
            continue
        for each in directories:
            try:
                directory = RunDirectory.open(each)
                certificates, damaged = certificates_of(directory)
                results = directory.kind.memory.of_run(directory)
            except RunDirectoryError as error:
                problems.append(str(error))
                continue
            problems += [f"{each}/{problem}" for problem in damaged]
            added += history.store(certificates, results)
            total += len(certificates) + sum(each.kind != PLAN for each in results)
    return total, added, problems


def prune(history: History, report_dir: str, before: datetime.date) -> tuple[int, list[str], int]:
    """Remove the entries that were judged before a day, and the older run directories, below ``report_dir`` and in the
    history, that no longer have an entry.

    Returns how many entries were removed, which run directories were removed, and how many run directories were removed
    from the history. Entries that determine a state are kept, together with their runs. Runs below ``report_dir`` that
    are not in the history are also kept. Raises HistoryError and RunDirectoryError.
    """
    old = [
        directory
        for directory in _below(report_dir)
        if str(directory.run.get("created_at", "")) < before.isoformat() and history.of_run(directory.run["run_id"])
    ]
    removed = history.prune(before)
    gone = []
    for directory in old:
        if not history.of_run(directory.run["run_id"]):
            try:
                shutil.rmtree(directory.path)
            except OSError as error:
                raise RunDirectoryError(f"{directory.path} cannot be removed: {error.strerror or error}.") from None
            gone.append(directory.run["run_id"])
    return removed, gone, history.prune_kept_runs(before)


def _below(report_dir: str) -> list[RunDirectory]:
    """Return the runs of a directory of reports; directories whose names are not run IDs are ignored."""
    try:
        paths = run_directories(report_dir)
    except RunDirectoryError:
        return []
    found = []
    for path in paths:
        try:
            directory = RunDirectory.open(path)
        except RunDirectoryError:
            continue
        if directory.run["run_id"] == os.path.basename(path):
            found.append(directory)
    return found
