# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A queue manager may be left out on passive nodes, but not on all hosts of a run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import file_skipped, judge_error
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render, summary
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

REASON = "the log directory /mq/QM2 has no files"


def filed(base, logs_by_host, skipped, of_hosts, check_mode=False, **keys):
    """Return a run that has not been judged. Each host was tested for QM1, on a file system with the logs that are
    given for it, or skipped the queue managers that are given for it. ``of_hosts`` holds the hosts' own options."""
    run = fabricate.run_data([*logs_by_host, *skipped], check_mode=check_mode, host_parameters=of_hosts, **keys)
    directory = RunDirectory.create(str(base), run)
    tables = fabricate.tables()
    for host, logs in logs_by_host.items():
        record = fabricate.judged(directory.run, host, tables)
        record.facts["queue_manager_logs"] = logs
        if check_mode:
            record = replace(record, kind="preflight", verdict=None, certified=False, tester=None)
        directory.records.write(record, {} if check_mode else tables)
    for host, names in skipped.items():
        directory.volumes.write(host, [{"name": name, "skipped": True} for name in names])
        for name in names:
            file_skipped(directory, host, name, "discovery", REASON, name)
    return directory


@pytest.fixture
def judged(tmp_path):
    def run(queue_manager, *passive, **keys):
        """Judge a run in which db01 was measured for QM1, and a queue manager was skipped on each passive node. These
        hosts share their storage."""
        of_hosts = {host: {"locks_group": "mq1"} for host in ("db01", *passive)}
        directory = filed(tmp_path, {"db01": "QM1"}, {host: [queue_manager] for host in passive}, of_hosts, **keys)
        return directory, judge_run(directory, GATE)

    return run


PAIR = {"db01": {"locks_pair": ["db02"]}}
OTHER_WAY = {"db02": {"locks_pair": ["db01"]}}
GROUP = {host: {"locks_group": "mq1"} for host in ("db01", "db02")}


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize(
    ("tested", "of_hosts", "skipped", "untested"),
    [
        # Discovered or named: the host found the log of QM1 on the file system that was tested.
        ({"db01": "QM1"}, PAIR, {"db02": ["QM1"]}, ""),
        ({"db01": "QM1 QM2"}, OTHER_WAY, {"db02": ["QM1"]}, ""),
        ({"db01": "QM1"}, GROUP, {"db02": ["QM1"]}, ""),
        # The host was tested for the name alone: a default name, or a volume that does not hold the log.
        ({"db01": ""}, PAIR, {"db02": ["QM1"]}, "QM1 on db02"),
        ({"db01": None}, PAIR, {"db02": ["QM1"]}, "QM1 on db02"),
        ({"db01": ["QM1"]}, PAIR, {"db02": ["QM1"]}, "QM1 on db02"),
        ({"db01": "QM10 QM2"}, PAIR, {"db02": ["QM1"]}, "QM1 on db02"),
        # A host of another group, or of no group, has a queue manager with the same name.
        ({"db01": "QM1"}, {}, {"db02": ["QM1"]}, "QM1 on db02"),
        ({"db01": "QM1"}, {"db01": {"locks_group": "mq1"}}, {"db02": ["QM1"]}, "QM1 on db02"),
        (
            {"db01": "QM1"},
            {"db01": {"locks_group": "mq1"}, "db02": {"locks_group": "mq2"}, "db03": {"locks_group": "mq2"}},
            {"db02": ["QM1"], "db03": ["QM1"]},
            "QM1 on db02, db03",
        ),
        ({"db01": "QM1"}, PAIR, {"db02": ["QM1"], "db03": ["QM1"]}, "QM1 on db03"),
        # db02 shares other storage with db03: that does not make db01 and db03 a pair.
        ({"db01": "QM1"}, {"db02": {"locks_pair": ["db01", "db03"]}}, {"db03": ["QM1"]}, "QM1 on db03"),
        ({"db03": "QM1"}, {}, {"db01": ["QM1"], "db02": ["QM1"]}, "QM1 on db01, db02"),
        # Another queue manager of the pair.
        ({"db01": "QM1"}, PAIR, {"db02": ["QM1", "QM2"]}, "QM2 on db02"),
        # Unusable values of options.
        ({"db01": "QM1"}, {"db01": {"locks_pair": "db02"}}, {"db02": ["QM1"]}, "QM1 on db02"),
    ],
)
def test_a_queue_manager_was_tested_if_a_host_of_its_own_group_was_tested_on_its_log(
    tmp_path, tested, of_hosts, skipped, untested, check_mode
):
    verdict = judge_run(filed(tmp_path, tested, skipped, of_hosts, check_mode), GATE)
    assert verdict["gate_failed"] is bool(untested)
    found = [f"{each['queue_manager']} on {', '.join(each['hosts'])}" for each in verdict["problems"]]
    assert found == ([untested] if untested else [])


def test_a_passive_node_does_not_stop_the_gate_and_is_not_certified(judged):
    directory, verdict = judged("QM1", "db02", "db03")
    assert (verdict["verdict"], verdict["certified"], verdict["gate_failed"], verdict["fleet_problems"]) == (
        "warn",
        False,
        False,
        [],
    )
    assert {
        (host["host"], host["verdict"], host["certified"]) for host in verdict["hosts"] if host["volume"] == "QM1"
    } == {
        ("db02", "warn", False),
        ("db03", "warn", False),
    }
    render(directory)
    said = summary(directory)
    assert (
        f"discovery: {REASON}" in said
        and "not certified for this queue manager" in said
        and "db02/QM1 passed" not in said
    )


def test_a_queue_manager_that_no_host_was_tested_for_stops_the_gate(judged):
    dummy, verdict = judged("QM2", *(f"db{number:02}" for number in range(2, 9)))
    assert verdict["gate_failed"]
    assert verdict["fleet_problems"] == [
        "QM2 was left out on db02, db03, db04, db05, db06 and 2 more, because its log is not there, and no host of "
        "this run that shares its storage was tested on it: certify such a host in the same run, and name the hosts "
        "that share storage in locks_pair or locks_group"
    ]


def test_a_run_of_passive_nodes_alone_is_no_success(tmp_path):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["db02"]))
    directory.volumes.write("db02", [{"name": "QM1", "skipped": True}])
    file_skipped(directory, "db02", "QM1", "discovery", REASON, "QM1")
    assert judge_run(directory, GATE)["gate_failed"]


def test_only_what_was_left_out_is_a_warning():
    record = fabricate.failed("db01", verdict="warn", stage="discovery", reason=REASON)
    assert record.verdict == "error"
    assert judge_error({**record.error, "skipped": "QM1"})["verdict"] == "warn"
