# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Imports the CSV files of IBM's mqldt into the history. docs/mqldt.md states which figures are used.

An imported entry is an attempt: it was not judged, so it does not change any state. It depends only on the figures, the
host, the volume and the date, and not on the rest of the file. Therefore, a file to which runs were appended can be
imported again.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ..._judge.effect import ATTEMPT
from ..._run.files import fingerprint, read_file
from ..._run.moment import MOMENT
from ..._run.table_reader import printable
from ..._run.verdicts import INCONCLUSIVE
from ..certificate import SCHEMA_VERSION, Certificate
from ..figures import IMPORTED
from ..store.history import History
from . import csv_reader
from .csv_reader import MqldtError, MqldtRun

_SEPARATORS = "-_."
_DATE_AT_END = re.compile(r"(?:\A|[-_.])([0-9]{4}-[0-9]{2}-[0-9]{2})\Z")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?\Z")
_NOT_JUDGED = "imported from mqldt: no profile has judged it"
_MOST_LISTED = 10


@dataclass(frozen=True)
class Origin:
    """Information from the user about mqldt files, which contain neither the host nor the date. ``host`` is empty and
    ``dates`` are None if the file's name contains this information. ``hosts`` are those of the inventory. ``dates`` are
    ISO 8601, one for each run of the file.
    """

    volume: str
    host: str = ""
    dates: Sequence[str] | None = None
    hosts: Collection[str] = ()


def import_mqldt(
    history: History, paths: Sequence[str], origin: Origin, today: datetime.date
) -> tuple[list[str], list[str]]:
    """Store the runs of mqldt files, each file as a whole.

    Returns a sentence for each file that was stored, and one for each file that could not be stored. Raises
    HistoryError, and MqldtError if dates are given for several files.
    """
    if origin.dates and len(paths) > 1:
        raise MqldtError(
            "history_mqldt_dates contains the dates of one file: import one file at a time, or rename the files to the "
            "form HOST-2019-05-04.csv"
        )
    done, problems = [], []
    for path in paths:
        shown = printable(path)
        try:
            certificates = certificates_of_file(
                os.path.basename(path), read_file(os.path.realpath(path), csv_reader.MAX_BYTES), origin, today
            )
        except MqldtError as error:
            problems.append(f"{shown}: {error}.")
        except OSError as error:
            problems.append(f"{shown} cannot be read: {error.strerror or error}.")
        else:
            added = history.store(certificates)
            entries = [certificate.entry for certificate in certificates]
            names = _listed([f"{entry.judged_at[:10]} {entry.sha256[:12]}" for entry in entries])
            done.append(f"{shown}: {_counted(entries)} of {entries[0].label}, {added} added: {names}.")
    return done, problems


def certificates_of_file(name: str, content: bytes, origin: Origin, today: datetime.date) -> list[Certificate]:
    """Return the certificates of the runs of a file with this name. Raises MqldtError."""
    runs = csv_reader.parse_mqldt(content)
    stem = name[:-4] if name.lower().endswith(".csv") else name
    date = _DATE_AT_END.search(stem)
    host = origin.host.strip() or _host_at_end(stem[: date.start()] if date else stem, origin.hosts)
    moments = _moments(runs, date.group(1) if date else "", origin.dates, today)
    return [Certificate.of_content(_content(run, host, origin.volume, moment)) for run, moment in zip(runs, moments)]


def _host_at_end(text: str, hosts: Collection[str]) -> str:
    """Return the longest host name of the inventory with which the text ends."""
    for place in range(len(text)):
        if (place == 0 or text[place - 1] in _SEPARATORS) and text[place:] in hosts:
            return text[place:]
    raise MqldtError(
        "its name does not contain a host of the inventory before the date: specify the host with -e "
        "history_mqldt_host=..."
    )


def _moments(
    runs: Sequence[MqldtRun], date_of_name: str, dates: Sequence[str] | None, today: datetime.date
) -> list[str]:
    """Return the time at which each run was measured. The date in the file's name can be used only for a single run."""
    if not dates:
        dates = [date_of_name] if date_of_name and len(runs) == 1 else []
    if len(dates) != len(runs):
        lines = _listed([run.line for run in runs])
        given = "1 date is given" if len(dates) == 1 else f"{len(dates)} dates are given"
        raise MqldtError(
            f"it has {_counted(runs)} (first lines: {lines}), but {given}: give the date of each run, in the "
            "order of the file, with -e history_mqldt_dates=2019-05-04,2020-05-04,... (the file of a single "
            "run can be named HOST-2019-05-04.csv)"
        )
    return [_moment(text.strip(), today) for text in dates]


def _moment(text: str, today: datetime.date) -> str:
    """Return an ISO 8601 date or time in the format of certificates. A date stands for its first second."""
    moment = text if "T" in text else f"{text}T00:00:00Z"
    try:
        day = datetime.datetime.strptime(moment, MOMENT).date() if _MOMENT.match(text) else None
    except ValueError:
        day = None
    if day is None:
        raise MqldtError(
            f'"{printable(text[:40])}" is not a day such as 2019-05-04 or a moment such as 2019-05-04T13:00:00Z'
        )
    if day > today:
        raise MqldtError(f"its date {text} is in the future")
    return moment


def _content(run: MqldtRun, host: str, volume: str, moment: str) -> dict[str, Any]:
    """Return the content of the certificate of a run. It contains only what mqldt reports, and what the history
    needs."""
    rows = [_row(row, run.queue_managers) for row in run.rows.values()]
    return {
        "schema": SCHEMA_VERSION,
        "source": IMPORTED,
        "run_id": f"{moment.replace('-', '').replace(':', '')}-{fingerprint(rows)[:6]}",
        "host": printable(host),
        "volume": printable(volume),
        "volume_id": None,
        "identity": None,
        "machine": {"boot_id": "", "hostname": ""},
        "environment": {},
        "profile": {"name": IMPORTED, "version": "", "sha256": ""},
        "effect": ATTEMPT,
        "can_certify": True,
        "volume_facts": [],
        "verdict": INCONCLUSIVE,
        "limits_verdict": INCONCLUSIVE,
        "qualification": _NOT_JUDGED,
        "reasons": [_NOT_JUDGED],
        "disturbances": [],
        "judged_at": moment,
        "valid_from": None,
        "valid_until": None,
        "collection_version": "",
        "tester_version": "",
        "method_version": None,
        "parameters": {},
        "closest_limit": None,
        "rows": rows,
        "tables": {},
    }


def _row(row: csv_reader.Row, queue_managers: int) -> dict[str, Any]:
    """Return a row of the certificate.

    The mean latency has a separate name, because it is biased and must not be judged. The rates of single seconds are
    those of a single queue manager, so they are left out if there were several.
    """
    found = {
        "block_size_bytes": row[csv_reader.BLOCK_SIZE],
        "load_point": queue_managers,
        "stream": "log",
        "operation": "write",
        "operations": row[csv_reader.WRITES],
        "bytes_per_s": row[csv_reader.THROUGHPUT],
        "latency_mean_biased_ns": row[csv_reader.LATENCY_MEAN],
        "latency_min_ns": row[csv_reader.LATENCY_MIN],
        "latency_max_ns": row[csv_reader.LATENCY_MAX],
        "limits": [],
    }
    if queue_managers == 1 and csv_reader.SECOND_MIN in row:
        found["interval_bytes_per_s_min"] = row[csv_reader.SECOND_MIN]
    return found


def _counted(runs: Sequence[Any]) -> str:
    return "1 run" if len(runs) == 1 else f"{len(runs)} runs"


def _listed(values: Sequence[Any]) -> str:
    more = ["..."] if len(values) > _MOST_LISTED else []
    return ", ".join([*map(str, values[:_MOST_LISTED]), *more])
