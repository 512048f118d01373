# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Made-up tables, records and run directories for tests and benchmarks, in the tester's own format."""

from __future__ import annotations

import csv
import datetime
import io
from dataclasses import replace
from pathlib import Path

from ansible_collections.mqops.logdisk.plugins.plugin_utils._english.findings import in_words
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import judge_error, judge_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.columns import KEY_COLUMNS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.host_settings import profile_data, profile_key
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import DEFAULT_FAIL_ON
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.words import words_of

PROJECT = Path(__file__).resolve().parents[4]
PROFILES = str(PROJECT / "roles/gate/files/profiles")
BLOCK_SIZES = (4096, 8192, 16384, 32768, 65536, 262144, 1048576)
OVER_NS = tuple(digit * 10**power for power in range(5, 10) for digit in (1, 2, 5))[:15]
"""Thresholds of over.csv: 0.1 ms to 5 s."""
TODAY = datetime.date(2026, 11, 21)

RESULT_COLUMNS = (
    *KEY_COLUMNS,
    "start_time_epoch_s",
    "elapsed_ns",
    "operations",
    "bytes",
    "bytes_per_s",
    "operations_per_s",
    "interval_bytes_per_s_max",
    "interval_bytes_per_s_min",
    "latency_sum_ns",
    "latency_mean_ns",
    "latency_stddev_ns",
    "latency_cv",
    "latency_min_ns",
    "latency_min_operation_number",
    "latency_max_ns",
    "latency_max_operation_number",
    "latency_max_in_flight",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p99_ns",
    "latency_p99_9_ns",
    "latency_p99_99_ns",
    "latency_p99_999_ns",
    "latency_time_weighted_mean_ns",
    "latency_time_weighted_p50_ns",
    "latency_time_weighted_p99_ns",
    "latency_time_weighted_p99_9_ns",
    "ring_passes",
    "latency_min_worker",
    "latency_max_worker",
    "flush_sum_ns",
    "flush_mean_ns",
    "flush_min_ns",
    "flush_max_ns",
    "flush_p50_ns",
    "flush_p99_ns",
    "flush_p99_9_ns",
    "response_sum_ns",
    "response_mean_ns",
    "response_min_ns",
    "response_max_ns",
    "response_p50_ns",
    "response_p99_ns",
    "response_p99_9_ns",
    "first_pass_latency_mean_ns",
    "later_passes_latency_mean_ns",
    "start_skew_ns",
    "round_spread_share",
    "round_slope_share",
    "late_to_early_latency_ratio",
    "steady_state",
    "operations_not_started",
    "messages_per_s",
    "log_record_bytes",
    "write_size_mean_bytes",
    "write_size_min_bytes",
    "write_size_max_bytes",
    "write_size_p50_bytes",
    "write_size_p99_bytes",
    "logger_utilisation_share",
    "over_counted",
    "io_limit_used_share",
    "io_limit_file",
    "io_limit",
)


def table(columns, rows):
    """Return a CSV table as bytes; None is an empty field."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(["" if value is None else value for value in row] for row in rows)
    return buffer.getvalue().encode("utf-8")


def recorded_run(name):
    """Return the keys and values of run.csv from a recorded run of the tester."""
    text = (PROJECT / f"tests/fixtures/tables/{name}/run.csv").read_text(encoding="utf-8")
    return dict(csv.reader(io.StringIO(text)))


def run_table(**keys):
    """Return run.csv. Its last row is complete=1 unless complete is None. Any other key that is None is left out."""
    content = {
        "schema_version": 1,
        "program": "logdisk",
        "version": "1.0.0",
        "source_hash": "ab" * 32,
        "method_version": 1,
        "exit_status": 0,
        "exit_reason": "measured",
        "exit_message": "",
        "workload": "mq-log",
        "load_unit": "queue managers",
        "option_delay_us": 0,
        "option_sync": "dsync",
        "option_direct": "yes",
        "option_rate_per_s": "",
        "option_file_size_bytes": 64 << 20,
        "option_files": 16,
        "filesystem_type": "xfs",
        "backing_filesystem_type": "xfs",
        "backing_unknown": "",
        "device_model": "Example Disk, 2 TB",
        "complete": 1,
        **keys,
    }
    content["complete"] = content.pop("complete")
    return table(("key", "value"), [(key, value) for key, value in content.items() if value is not None])


def result_row(
    step=1, block_size_bytes=4096, queue_managers=1, queue_manager="all", seconds=600, latency_ns=200_000, **figures
):
    """Return a row of results.csv as a dict. Its values are consistent unless figures contains others."""
    elapsed_ns = int(seconds * 1e9)
    writers = queue_managers if queue_manager == "all" else 1
    writes = elapsed_ns // latency_ns * writers
    row = {
        "step": step,
        "block_size_bytes": block_size_bytes,
        "load_point": queue_managers,
        "stream": "log",
        "operation": "write",
        "worker": queue_manager,
        "start_time_epoch_s": "1795258175.000000",
        "elapsed_ns": elapsed_ns,
        "operations": writes,
        "bytes": writes * block_size_bytes,
        "bytes_per_s": round(writes * block_size_bytes / seconds, 3),
        "operations_per_s": round(writes / seconds, 3),
        "interval_bytes_per_s_max": int(writes * block_size_bytes / seconds * 1.1),
        "interval_bytes_per_s_min": int(writes * block_size_bytes / seconds * 0.9),
        "latency_sum_ns": writes * latency_ns,
        "latency_mean_ns": f"{latency_ns:.3f}",
        "latency_stddev_ns": latency_ns // 10,
        "latency_cv": 0.1,
        "latency_min_ns": latency_ns // 2,
        "latency_min_operation_number": 17,
        "latency_max_ns": latency_ns * 20,
        "latency_max_operation_number": 4711,
        "latency_max_in_flight": 0,
        "latency_p50_ns": latency_ns,
        "latency_p90_ns": int(latency_ns * 1.2),
        "latency_p99_ns": latency_ns * 2,
        "latency_p99_9_ns": latency_ns * 4,
        "latency_p99_99_ns": latency_ns * 8,
        "latency_p99_999_ns": None,
        "latency_time_weighted_mean_ns": int(latency_ns * 1.01),
        "latency_time_weighted_p50_ns": latency_ns,
        "latency_time_weighted_p99_ns": latency_ns * 2,
        "latency_time_weighted_p99_9_ns": latency_ns * 5,
        "ring_passes": "12.345",
        "round_slope_share": "-0.012345",
    }
    row.update(figures)
    return row


def step_rows(step, block_size_bytes, queue_managers=1, **figures):
    """Return a step's rows: one for each queue manager and one for all."""
    return [
        result_row(step, block_size_bytes, queue_managers, queue_manager, **figures)
        for queue_manager in (*range(1, queue_managers + 1), "all")
    ]


def results_table(rows, extra_columns=()):
    """Return results.csv from rows as dicts."""
    columns = (*RESULT_COLUMNS, *extra_columns)
    return table(columns, [[row.get(column) for column in columns] for row in rows])


def sweep_rows(block_sizes=BLOCK_SIZES, queue_managers=(1,), latency_ns=200_000, bandwidth=2e9, **figures):
    """Return the rows of a sweep over a disk with this latency, and this bandwidth in bytes per second."""
    steps = [(load, size) for load in queue_managers for size in block_sizes]
    rows = []
    for number, (load, size) in enumerate(steps, start=1):
        rows.extend(
            step_rows(number, size, load, latency_ns=int((latency_ns + size / bandwidth * 1e9) * load**0.5), **figures)
        )
    return rows


def intervals_table(rows, over=None):
    """Return intervals.csv for the steps of rows of results.csv, with the operations of each step spread evenly over
    its seconds.

    If there are rows of over.csv, the slowest operation of a second is just above the greatest threshold that they have
    for that second, or below all thresholds.
    """
    columns = (
        *KEY_COLUMNS,
        "second",
        "partial",
        "operations",
        "bytes",
        "latency_sum_ns",
        "latency_min_ns",
        "latency_p50_ns",
        "latency_p99_ns",
        "latency_p99_9_ns",
        "latency_max_ns",
    )
    lines = []
    longest = {}
    for each in over or ():
        longest[each["step"], each["second"]] = max(each["over_ns"], longest.get((each["step"], each["second"]), 0))
    for row in (row for row in rows if row["worker"] == "all" and row["operation"] != "all"):
        seconds = max(1, row["elapsed_ns"] // 10**9)
        for second in range(1, seconds + 1):
            mean = int(float(row["latency_mean_ns"] or 0))
            wave = 1 + (second * 7919 + row["step"] * 104729) % 13 / 13 + (20 if second % 23 == row["step"] else 0)
            writes = row["operations"] // seconds + (second <= row["operations"] % seconds)
            lines.append(
                (
                    *(row[column] for column in KEY_COLUMNS),
                    second,
                    0,
                    writes,
                    writes * (row["bytes"] // max(1, row["operations"])),
                    writes * mean,
                    mean // 2,
                    mean,
                    int(mean * 2 * (1 + wave / 20)),
                    int(mean * 4 * wave),
                    int(mean * 5 * wave) if over is None else longest.get((row["step"], second), OVER_NS[0] - 1) + 1,
                )
            )
    return table(columns, lines)


def histogram_table(rows, counts):
    """Return a histogram.csv with the same counts (operations by upper bound) for each step of the rows of results.csv,
    in each of two batches."""
    columns = (*KEY_COLUMNS, "batch", "latency_upper_ns", "operations")
    together = [row for row in rows if row["worker"] == "all"]
    return table(
        columns,
        [
            (*(row[column] for column in KEY_COLUMNS), batch, upper, count)
            for row in together
            for batch in (1, 2)
            for upper, count in counts.items()
        ],
    )


def batches_table(rows, counts=None):
    """Return batches.csv for rows of results.csv. Each worker's operations are spread evenly over 30 batches, at the
    row's mean latency. A worker in ``counts`` has these numbers of operations instead, and a 30th of the row's total
    latency in each batch."""
    lines = []
    for row in (row for row in rows if row["worker"] != "all"):
        operations = (counts or {}).get(row["worker"]) or [
            row["operations"] * (batch + 1) // 30 - row["operations"] * batch // 30 for batch in range(30)
        ]
        for batch, count in enumerate(operations, start=1):
            latency_ns = (
                row["latency_sum_ns"] // 30
                if row["worker"] in (counts or {})
                else int(count * float(row["latency_mean_ns"]))
            )
            lines.append([*(row[column] for column in KEY_COLUMNS), batch, count, latency_ns])
    return table((*KEY_COLUMNS, "batch", "operations", "latency_sum_ns"), lines)


def stalls_table(rows, stalls):
    """Return a stalls.csv with the same slowest writes for each step of the rows of results.csv.
    ``stalls`` has the start in the step and the latency of each write, both in ns."""
    columns = (
        *KEY_COLUMNS,
        "rank",
        "operation_number",
        "start_offset_ns",
        "latency_ns",
        "in_flight",
        "file",
        "offset_bytes",
    )
    steps = [
        [row["step"], row["block_size_bytes"], row["load_point"], "log", "write", 1]
        for row in rows
        if row["worker"] == "all"
    ]
    ranked = list(enumerate(sorted(stalls, key=lambda stall: -stall[1]), start=1))
    return table(
        columns,
        [
            [*step, rank, 17, start, latency, 0, "/log/logdisk.0000", 4096]
            for step in steps
            for rank, (start, latency) in ranked
        ],
    )


def over_table(rows):
    """Return over.csv from rows as dicts."""
    columns = (*KEY_COLUMNS, "second", "over_ns", "operations", "latency_sum_ns")
    return table(columns, [[row[column] for column in columns] for row in rows])


def over_rows(row, over_ns, operations, seconds, latency_ns=None):
    """Return rows of over.csv: in each of these seconds of a row of results.csv, that many operations took longer than
    a threshold, and each took latency_ns."""
    key = {column: row[column] for column in KEY_COLUMNS}
    latency_sum_ns = operations * (latency_ns or over_ns * 5 // 4)
    return [
        {**key, "second": second, "over_ns": over_ns, "operations": operations, "latency_sum_ns": latency_sum_ns}
        for second in seconds
    ]


def tables(rows=None, extra_columns=(), over=None, **run_keys):
    """Return the tester's tables, as bytes by file name, for rows of results.csv (by default those of a complete, good
    sweep).

    over contains rows of over.csv. Without them, there is no over.csv, so figures are compared directly with the
    limits.
    """
    rows = sweep_rows() if rows is None else rows
    run_keys = {"steps_planned": len({row["step"] for row in rows}), **run_keys}
    files = {"results.csv": results_table(rows, extra_columns), "intervals.csv": intervals_table(rows, over)}
    if run_keys.get("workload") == "streams":
        files["fidelity.csv"] = fidelity_table(fidelity_rows(rows))
    if over is not None:
        files["over.csv"] = over_table(over)
        run_keys = {"option_over_ns": " ".join(map(str, OVER_NS)), **run_keys}
    return {"run.csv": run_table(**run_keys), **files}


def run_data(hosts, profile="mq-log-silver", check_mode=False, **keys):
    """Return run.json of a run that expects hosts."""
    return {
        "created_at": "2026-11-21T10:49:35Z",
        "collection_version": "1.0.0",
        "controller": {
            "hostname": "controller",
            "user": "ops",
            "ansible_version": "2.19.14",
            "python_version": "3.11.7",
            "check_mode": check_mode,
        },
        "expected_hosts": list(hosts),
        "parameters": {
            "sweep_duration": 600,
            "sweep_block_sizes": ["4K", "64K", "1M"],
            "sweep_file_size": "64 MiB",
            "sweep_files": 16,
        },
        "profile": load_profile(profile, PROFILES).as_dict(),
        "policy": {"fail_on": list(DEFAULT_FAIL_ON), "report_only": False, "valid_days": 90},
        **keys,
    }


def told(notes, load_unit=""):
    """Return notes in sentences."""
    return [in_words(note, words_of(load_unit)) for note in notes]


def judged(run, host, files, volume="log", queue_managers=("QM1",), today=TODAY, **keys):
    """Return a measured host's record with its verdict."""
    parsed = parse_tables(files)
    known = {
        "created_at": "2026-11-21T11:24:00Z",
        "profile": profile_key(profile_data(run, host)),
        "facts": {
            "os": "Rocky Linux 9.4",
            "kernel": "5.14.0-427.el9.x86_64",
            "cpus": 16,
            "memory_bytes": 67430219776,
            "filesystem_type": "xfs",
            "mount_point": "/var/mqm/log",
            "mount_options": "rw,noatime,attr2",
            "device_name": "dm-3",
            "device_model": "Example Disk",
            "device_scheduler": "none",
            "device_write_cache": "write through",
            "tester_version": "1.0.0",
            **(run.get("host_targets") or {}).get(host, {}),
        },
        "load_unit": parsed.run.get("load_unit", ""),
        "workspace": {"path": "/var/mqm/log/logdisk", "queue_managers": list(queue_managers), "directories": []},
        "tester": {
            "exit_status": parsed.exit_status,
            "exit_reason": parsed.run["exit_reason"],
            "exit_message": "",
            "error": None,
            "in_flight": None,
        },
        **keys,
    }
    record = HostRecord(host, volume, **known)
    return replace(record, **judge_record(record, parsed, load_profile(run["profile"]), today))


def failed(host, verdict="unreachable", stage="probe", reason="no route to host", volume="log", **keys):
    """Return the record of a host that was not measured."""
    error = {"stage": stage, "verdict": verdict, "reason": reason}
    record = HostRecord(host, volume, "error", created_at="2026-11-21T10:50:00Z", error=error)
    return replace(record, **{**judge_error(error), **keys})


def run_directory(base, measured, unmeasured=(), gate=True, expected=None, queue_managers=("QM1",), **keys):
    """Create a run directory in base. measured contains tables by host, unmeasured contains records, and gate
    determines whether verdict.json is written."""
    hosts = [*measured, *(record.host for record in unmeasured)]
    run = run_data(hosts if expected is None else expected, **keys)
    directory = RunDirectory.create(str(base), run)
    for host, files in measured.items():
        directory.records.write(judged(run, host, files, queue_managers=queue_managers), files)
    for record in unmeasured:
        key = record.profile or profile_key(profile_data(run, record.host))
        directory.records.write(replace(record, profile=key))
    if gate:
        judge_run(directory, GATE)
    return directory


def drop_lines(files, name, number):
    """Return the tables without one line of one of them. Line 1 is the header."""
    lines = files[name].splitlines(keepends=True)
    return {**files, name: b"".join(lines[: number - 1] + lines[number:])}


def replace_in(files, name, old, new):
    """Return the tables with the first occurrence of a text in one of them replaced."""
    assert old.encode() in files[name]
    return {**files, name: files[name].replace(old.encode(), new.encode(), 1)}


def commit_rows(commits, queue_managers=1, seconds=60, **figures):
    """Return the rows of the commit workload. commits holds, by message size and number of applications,
    the commits per second of a queue manager, the size of the log's writes, and the mean latencies of a
    write and of a commit in ns."""
    rows = []
    for step, ((message_bytes, applications), (rate, write_bytes, write_ns, commit_ns)) in enumerate(
        commits.items(), start=1
    ):
        for operation, mean_ns, per_s in (("write", write_ns, 1e9 / write_ns), ("commit", commit_ns, rate)):
            for worker in (*range(1, queue_managers + 1), "all"):
                together = queue_managers if worker == "all" else 1
                row = result_row(
                    step,
                    message_bytes,
                    1,
                    worker,
                    seconds,
                    int(mean_ns),
                    stream="log" if operation == "write" else "commit",
                    **figures,
                )
                row.update(
                    operation=operation,
                    load_point=applications,
                    operations=int(per_s * seconds * together),
                    operations_per_s=round(per_s * together, 3),
                )
                row.update(
                    {"write_size_mean_bytes": write_bytes}
                    if operation == "write"
                    else {"messages_per_s": round(per_s * together, 3)}
                )
                rows.append(row)
    return rows


COMMIT_RUN = {
    "workload": "commit",
    "load_unit": "applications",
    "step_size": "message",
    "option_log_buffer_bytes": 2 << 20,
    "option_puts_per_commit": 1,
    "option_remote_delay_us": 0,
    "option_think_time_us": 0,
}
"""Keys of run.csv of the commit workload."""


def stream_rows(steps, seconds=600):
    """Return the rows of a workload of streams. steps contains the streams of each load point, by name and operation:
    the number of workers, the mean latency in ns, and other figures. Every stream has a row for each worker and a row
    for all workers, and every step has a row for the whole workload."""
    rows = []
    for step, (load, streams) in enumerate(steps.items(), start=1):
        made = []
        for (stream, operation), (workers, latency_ns, figures) in streams.items():
            named = {"block_size_bytes": 8192, "stream": stream, "operation": operation, "load_point": load, **figures}
            of_stream = {"step": step, "queue_managers": workers, "seconds": seconds, "latency_ns": latency_ns, **named}
            made += [result_row(queue_manager=worker, **of_stream) for worker in (*range(1, workers + 1), "all")]
        rows += [*made, _whole_row(step, load, [row for row in made if row["worker"] == "all"], seconds)]
    return rows


def _whole_row(step, load, parts, seconds):
    operations, total, latency_sum_ns = (
        sum(row[column] for row in parts) for column in ("operations", "bytes", "latency_sum_ns")
    )
    row = (
        {**result_row(step, 0, 1, "all", seconds, latency_sum_ns // operations), "block_size_bytes": None}
        if operations
        else {**parts[0], "block_size_bytes": None}
    )
    extremes = {
        "latency_min_ns": min(part["latency_min_ns"] for part in parts),
        "latency_max_ns": max(part["latency_max_ns"] for part in parts),
    }
    counts = {
        "operations": operations,
        "bytes": total,
        "latency_sum_ns": latency_sum_ns,
        "operations_per_s": round(operations / seconds, 3),
    }
    named = {
        "load_point": load,
        "stream": "all",
        "operation": "all",
        "bytes_per_s": round(total / seconds, 3),
        "interval_bytes_per_s_min": None,
    }
    return {**row, **extremes, **counts, **named, "ring_passes": None}


def fidelity_rows(rows):
    """Return a row of fidelity.csv for each stream of the rows of results.csv: each stream made as many reads as
    requested."""
    counts = {}
    for row in rows:
        if row["worker"] == "all" and row["stream"] != "all":
            counted = counts.setdefault((row["step"], row["load_point"], row["stream"]), {"read": 0, "write": 0})
            counted[row["operation"]] = row["operations"]
    found = []
    for (step, load, stream), counted in counts.items():
        operations = sum(counted.values())
        share = counted["read"] / operations if operations else 0
        found.append(fidelity_row(step, load, stream, "read_share", share, share, operations))
    return found


def fidelity_row(step, load, stream, what, asked, achieved, operations, item=None):
    """Return a row of fidelity.csv as a dict."""
    key = dict(zip(KEY_COLUMNS, (step, None, load, stream, "all", "all"), strict=True))
    deviation = abs(achieved - asked) / asked if asked else achieved
    figures = {"asked": round(asked, 6), "achieved": round(achieved, 6)}
    return {
        **key,
        "property": what,
        "item": item,
        **figures,
        "deviation_share": round(deviation, 6),
        "operations": operations,
    }


def fidelity_table(rows):
    """Return fidelity.csv from rows as dicts."""
    columns = (*KEY_COLUMNS, "property", "item", "asked", "achieved", "deviation_share", "operations")
    return table(columns, [[row[column] for column in columns] for row in rows])


def responses_table(row, counts):
    """Return responses.csv with the response times of one row of results, as operations by upper bound in ns."""
    return table(
        (*KEY_COLUMNS, "response_upper_ns", "operations"),
        [(*(row[column] for column in KEY_COLUMNS), *count) for count in counts.items()],
    )


STREAMS_RUN = {"workload": "streams", "load_unit": "threads", "step_size": "none"}
"""Keys of run.csv of a workload of streams."""
