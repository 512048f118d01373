# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Made-up runs of every kind that a report can be about."""

from __future__ import annotations

import html
import os
import re
from dataclasses import replace

from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.cut import Cut
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import certify, store
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.merged_run import merge_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.observation.certified import (
    hold_against_certificates,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.observation.record import observed
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.power_cut.record import cut_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.buckets import bucket_of, upper_ns
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.interval import (
    Interval,
    Maximum,
    Observation,
    Options,
    Second,
    Stall,
    seen_of,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.tables import tables_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate, lock_pairs
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.pages import HOSTILE
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.lock_pairs import changed


def fast():
    return fabricate.tables(fabricate.sweep_rows(queue_managers=(1, 2)))


def slow():
    return fabricate.tables(fabricate.sweep_rows(latency_ns=1_400_000, queue_managers=(1, 2)))


def few():
    return fabricate.tables(fabricate.sweep_rows(latency_p99_9_ns=None))


EVERY_VERDICT = {
    "good": "pass",
    "slow": "fail",
    "few": "inconclusive",
    "waived": "warn",
    "gone": "unreachable",
    "broken": "error",
    "never": "missing",
}


def every_verdict(base):
    """Return a run with a host for each verdict."""
    profile = {
        "name": "mine",
        "qualifies": {"min_duration_s": 300},
        "limits": [
            {"metric": "latency_mean", "max": "1 ms", "block_size": {"max": "64K"}},
            {"metric": "latency_p99", "max": "2 ms", "block_size": {"max": "64K"}},
            {"metric": "latency_p99_9", "max": "10 ms", "block_size": {"max": "64K"}},
            {"metric": "bytes_per_s", "min": "250 MB/s", "block_size": "1M"},
        ],
        "waivers": [
            {"host": "waived", "metric": metric, "owner": "storage", "until": "2027-01-31", "reason": "CHG7"}
            for metric in ("latency_mean", "latency_p99", "latency_p99_9")
        ],
    }
    measured = {"good": fast(), "slow": slow(), "few": few(), "waived": slow()}
    unmeasured = [fabricate.failed("gone"), fabricate.failed("broken", "error", "tester", "no compiler")]
    return fabricate.run_directory(
        base, measured, unmeasured, expected=list(EVERY_VERDICT), profile=profile, queue_managers=("QMA", "QMB")
    )


def hostile(base):
    """Return a run in which everything that a host or an inventory can name is hostile."""
    rows = fabricate.sweep_rows(block_sizes=(4096,), latency_ns=5_000_000)
    measured = {
        name: fabricate.tables(rows, warning_1=name.replace("\x00", ""), device_model=name.replace("\x00", ""))
        for name in HOSTILE
    }
    directory = RunDirectory.create(
        str(base),
        fabricate.run_data(HOSTILE, parameters=dict.fromkeys(HOSTILE, HOSTILE[0]), collection_version=HOSTILE[0]),
    )
    for name, files in measured.items():
        facts = {**dict.fromkeys(HOSTILE, name), "nested": {name: [name]}}
        directory.records.write(
            fabricate.judged(directory.run, name, files, volume=name, queue_managers=(name,), facts=facts), files
        )
        directory.records.write(fabricate.failed(name, "error", name, name))
    judge_run(directory, GATE)
    return directory


def certified(base):
    """Return a run of two hosts with certificates. One host has two queue managers and a volume with another name."""
    names = ("db07", "db08")
    kept = {
        "history": {"place": "postgresql://h/db", "required": True, "keep_report": True},
        "upload_url": "https://storage.example/reports/",
    }
    run = fabricate.run_data(names, left_out_hosts=["db09"], host_classes={"db08": "gold"}, **kept)
    directory = RunDirectory.create(str(base), run)
    for name, volume, loads in (("db07", "log", (1,)), ("db08", "log", (1, 2)), ("db08", "audit", (1,))):
        files = fabricate.tables(fabricate.sweep_rows(queue_managers=loads), over=())
        directory.records.write(
            fabricate.judged(directory.run, name, files, volume=volume, queue_managers=("QMA", "QMB")), files
        )
    judge_run(directory, GATE)
    assert certify(directory)[1] == []
    return directory


def preflight(base):
    """Return a run in check mode: a host that can be measured, one that would be refused, and one without a record."""
    refused = fabricate.failed("db08", "error", "workspace", "it holds a queue manager")
    return fabricate.run_directory(
        base, {}, [HostRecord("db07", kind="preflight"), refused], expected=["db07", "db08", "db09"], check_mode=True
    )


def merged(base):
    """Return a run that was merged from two others."""
    runs = [fabricate.run_directory(base / name, {f"db0{name}": fast()}) for name in ("1", "2")]
    directory = merge_runs([run.path for run in runs], str(base / "merged"))
    judge_run(directory, GATE)
    return directory


def interrupted(base):
    """Return a run without its gate, with a tester that was cut short and left something behind."""
    files = fabricate.tables(
        exit_status=4, exit_reason="deadline", in_flight_age_ns=12 * 10**9, warning_1="on a file system under test"
    )
    directory = fabricate.run_directory(base, {"db07": files}, gate=False, expected=["db07", "db08"])
    directory.records.note_leftovers("db07", "log", ["/var/mqm/x"])
    judge_run(directory, "report")
    return directory


def commits(base):
    """Return a run of the commit workload, with two queue managers."""
    measured = {
        (2048, 1): (2400, 8192, 200_000, 410_000),
        (2048, 60): (110_000, 106_496, 280_000, 550_000),
        (1 << 20, 1): (950, 1_052_672, 1_050_000, 1_060_000),
    }
    rows = fabricate.commit_rows(measured, queue_managers=2)
    files = {
        **fabricate.tables(rows, **fabricate.COMMIT_RUN),
        "histogram.csv": fabricate.histogram_table(rows, {300_000: 900, 600_000: 90, 5_000_000: 10}),
    }
    profile = {"name": "commits", "limits": [{"stream": "commit", "metric": "latency_p99", "max": "1 ms"}]}
    return fabricate.run_directory(base, {"db07": files}, profile=profile, queue_managers=("QMA", "QMB"))


READS, WRITES, SCANS, LOG = ("database", "read"), ("database", "write"), ("maintenance", "read"), ("log", "write")
MAILBOX_FACTS = {
    "workload_name": "mailbox-2010",
    "workload_version": 1,
    "workload_is_not": "Not Jetstress and not a Jetstress result.",
}
MAILBOX_PROFILE = {
    "name": "mailbox",
    "qualifies": {"confidence": "none"},
    "limits": [
        {
            "stream": "database",
            "operation": "read",
            "metric": "latency_mean",
            "below": "20 ms",
            "source": "Jetstress 2010",
        },
        {"metric": "latency_mean", "below": "10 ms", "source": "Jetstress 2010"},
        {"stream": "maintenance", "metric": "response_mean", "max": "200 ms"},
    ],
}


def mailbox(reads_ms=1.0, log_ms=1.0, loads=(2, 4, 8)):
    """Tables of a database beside a log. A read takes reads_ms times the number of threads, and a log write half of
    log_ms times that number."""
    steps = {
        load: {
            WRITES: (load, int(load * 2e6), {"block_size_bytes": 32768}),
            READS: (load, int(load * reads_ms * 1e6), {"block_size_bytes": 32768}),
            SCANS: (
                1,
                int(load * 3e6),
                {
                    "response_mean_ns": load * 4e6,
                    "response_p99_ns": load * 9e6,
                    "operations_not_started": load // 8 * 5,
                },
            ),
            LOG: (1, int(load * log_ms * 5e5), {}),
        }
        for load in loads
    }
    rows = [
        {**row, "block_size_bytes": None} if row["stream"] == "maintenance" else row
        for row in fabricate.stream_rows(steps, seconds=60)
    ]
    described = {
        "place_1": "name=database,dir=/mnt/1/logdisk-20261121T104935Z-1f0c2a-log/database,share=90%,direct=yes",
        "stream_1": "name=database,place=database,pattern=random,size=32K,read=60%,sync=none,workers=load",
        "option_loads": " ".join(map(str, loads)),
    }
    parts = [row for row in rows if row["operation"] != "all"]
    histogram = fabricate.histogram_table(parts, {1_000_000: 900, 6_000_000: 90, 30_000_000: 10})
    return {**fabricate.tables(rows, **fabricate.STREAMS_RUN, **described), "histogram.csv": histogram}


def streams(base):
    """Return a run of a workload of streams: a host that passes, one with slow reads, and one with slow log writes."""
    measured = {"db01": mailbox(), "db02": mailbox(reads_ms=3), "db03": mailbox(log_ms=4)}
    run = fabricate.run_data(measured, profile=MAILBOX_PROFILE, parameters={"sweep_workload": "mailbox-2010"})
    directory = RunDirectory.create(str(base), run)
    for host, files in measured.items():
        record = fabricate.judged(run, host, files, queue_managers=())
        record.facts.update(MAILBOX_FACTS)
        directory.records.write(record, files)
    judge_run(directory, GATE)
    return directory


def _published(source="prometheus", latency_ns=690_000, slowest_ns=812_000_000):
    intervals = tuple(
        Interval(
            1_795_258_000.0 + 10 * place,
            10.0,
            "log",
            814,
            30_000_000,
            latency_ns + 10_000 * place,
            write_size_mean_bytes=36_855.0,
        )
        for place in range(6)
    )
    facts = {
        "operations_are_estimated": 1,
        "slowest_write_since_restart_ns": slowest_ns,
        "slowest_write_at_epoch_s": 1_795_000_000,
    }
    return Observation(source, 1_795_258_000.0, 60 * 10**9, intervals, facts=facts, problems=("One answer was late.",))


def _traced():
    upper = upper_ns(bucket_of(2_690_000))
    seconds = tuple(
        Second(
            number,
            stream,
            100,
            3_600_000 if stream == "log" else 0,
            269_000_000,
            900_000,
            5_000_000,
            buckets={bucket_of(2_690_000): 100},
        )
        for stream in ("log", "MQPUT")
        for number in range(1, 61)
    )
    intervals = tuple(
        Interval(
            1_795_258_000.0 + 10 * place,
            10.0,
            stream,
            1000,
            36_000_000,
            2_690_000,
            900_000,
            5_000_000,
            2_690_000_000,
            36_000.0,
        )
        for stream in ("log", "MQPUT")
        for place in range(6)
    )
    return Observation(
        "bpftrace",
        1_795_258_000.0,
        60 * 10**9,
        intervals,
        seconds,
        {(stream, batch): {upper: 200} for stream in ("log", "MQPUT") for batch in range(1, 31)},
        maxima=(Maximum(1_795_258_001.5, "log", None, 900_000), Maximum(1_795_258_002.5, "log", 900_000, 5_000_000)),
        stalls=(Stall(1_795_258_002.4, 5_000_000),),
        facts={"probe_overhead_ns": 900},
    )


def observation(
    base,
    names=("db01", "db02", "db03"),
    queue_manager="QM1",
    latency_ns=690_000,
    ending="",
    own_profile=True,
    profile="mq-live",
):
    """Return a run that observed live queue managers: one is judged and is slower than certified, two are judged only
    if all of them are, and one has disappeared."""
    place = str(base / "history.sqlite")
    open_history(place, create=True).close()
    tested = RunDirectory.create(str(base), fabricate.run_data(names[:2], history={"place": place}))
    for name in names[:2]:
        files = fabricate.tables(fabricate.sweep_rows(queue_managers=(1, 2)), over=())
        tested.records.write(fabricate.judged(tested.run, name, files), files)
    judge_run(tested, GATE)
    store(place, certify(tested)[0])
    live = load_profile("mq-live", fabricate.PROFILES).as_dict()
    keys = {
        "kind": "observation",
        "host_profiles": {names[0]: live} if own_profile else {},
        "history": {"place": place, "required": False},
    }
    directory = RunDirectory.create(
        str(base), fabricate.run_data([*names, "gone"], "mq-log-silver" if own_profile else profile, **keys)
    )
    options = Options(queue_manager, f"/var/mqm/log/{queue_manager}")
    for name, seen in zip(names, (_traced(), _published(latency_ns=latency_ns), _published("amqsrua", 230_000))):
        seen = replace(seen, ending=ending)
        files, facts = tables_of(seen, options), {"mount_point": "/var/mqm/log", "filesystem_type": "xfs"}
        workspace = {"path": options.log_path, "queue_managers": [queue_manager]}
        directory.records.write(
            observed(directory.run, name, "log", facts, workspace, files, seen_of(seen, options), fabricate.TODAY),
            files,
        )
    hold_against_certificates(directory)
    judge_run(directory, GATE)
    return directory


def cut(number, outcome="kept", reason="all 31,200 acknowledged writes were found", **row):
    """Return a power cut of a host with one queue manager, in the form in which a record contains it."""
    known = {"acknowledged_writes": "31200", "found_writes": "31201", "in_flight": "new", "outcome": outcome, **row}
    checked = [{**known, "worker": worker} for worker in ("1", "all")] if outcome != "inconclusive" else []
    figures = {
        "acknowledged_writes": 31200,
        "rate_writes_per_s": 3120.0,
        "writing_s": 10.0,
        "delay_p50_ns": 92_000,
        "delay_p99_ns": 540_000,
    }
    seen = {
        "gap_max_ns": 1_300_000,
        "visible_from_ns": 2_300_000,
        "visible_from_writes": 9,
        "boot_id_before": "a",
        "boot_id_after": "b",
    }
    return Cut(number, outcome, reason, **figures, **seen, back_after_s=61.5, rows=checked).as_dict()


def lost_tail(number, **row):
    """Return a power cut that lost the newest writes."""
    size = {"lost_tail_writes": "63", "lost_tail_bytes": str(63 * 4096), "lost_tail_ns": "20192307"}
    first = {
        "finding": "lost tail",
        "finding_file": "/var/mqm/log/QM1/x-1",
        "finding_offset_bytes": "8192",
        "finding_expected_write": "31138",
        "finding_found_write": "2",
    }
    return cut(
        number,
        "lost",
        "63 acknowledged writes at the end are gone (258,048 bytes, 20.2 ms of writing)",
        **{**size, **first, **row},
    )


def power_cuts(base, loss=lost_tail):
    """Return a run of power cuts: a host that keeps everything, one that loses its newest writes,
    one that does not come back, and one without a record."""
    run = fabricate.run_data(["db01", "db02", "db03", "db04"], kind="durability")
    directory = RunDirectory.create(str(base), run)
    gone = "the host did not come back within 600 s: nothing is known about its files, which are still there"
    cuts = {
        "db01": [cut(1), cut(2, in_flight="torn")],
        "db02": [cut(1), loss(2)],
        "db03": [cut(1, "inconclusive", gone)],
    }
    for host, made in cuts.items():
        facts = {"filesystem_type": "ext4", "block_size_bytes": 4096}
        workspace = {"path": "/var/mqm/log", "queue_managers": ["QM1"]}
        about = {
            "cut_count": 2,
            "cuts": made,
            "tests": "Cutting the power of the chassis tests the host, its controller and its local drives.",
        }
        directory.records.write(
            cut_record(directory.run, host, "log", facts, workspace, {}, about), {"durability_1.csv": b"worker\nall\n"}
        )
    judge_run(directory, GATE)
    return directory


def kept_cuts(base, count, profile=None, hosts=("db01",)):
    """Return a run of power cuts of hosts that keep everything, each with that many cuts."""
    run = fabricate.run_data(list(hosts), *([profile] if profile else []), kind="durability")
    directory = RunDirectory.create(str(base), run)
    for host in hosts:
        about = {"cut_count": count, "cuts": [cut(number) for number in range(1, count + 1)], "tests": ""}
        directory.records.write(
            cut_record(directory.run, host, "log", {"filesystem_type": "ext4"}, {}, {}, about),
            {"durability_1.csv": b"worker\nall\n"},
        )
    judge_run(directory, GATE)
    return directory


def locks(base):
    """Return a test of locks: a pair that keeps every promise, one whose former holder still writes, one that takes
    over too late and lacks the commands for further steps, one that was not finished, and a host without a record."""
    pairs = [
        lock_pairs.pair("db01", "db02"),
        changed(
            lock_pairs.pair("db03", "db04"),
            "cut_off",
            "broken",
            "late_write_landed",
            "db03",
            late_writes=88,
            late_sectors=704,
        ),
        changed(lock_pairs.pair("db05", "db06"), "host_lost", holder="db05", takeover_ns=31 * 10**9, tries=31),
        changed(lock_pairs.pair("db07", "db08"), "cut_off", "undecided", "agent_lost"),
    ]
    pairs[2] = changed(pairs[2], "server_failover", "not_covered", "no_command")
    return lock_pairs.run_of(base, pairs, unmeasured=["db09"])


def empty(base):
    """Return a run that expected no host."""
    return fabricate.run_directory(base, {})


KINDS = {
    make.__name__: make
    for make in (
        every_verdict,
        certified,
        preflight,
        merged,
        interrupted,
        commits,
        streams,
        observation,
        power_cuts,
        locks,
        empty,
        hostile,
    )
}


def content(directory, name):
    with open(os.path.join(directory.path, name), encoding="utf-8") as file:
        return file.read()


def page_text(directory):
    """Return the text of the page, without markup."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", content(directory, "index.html"))).split())
