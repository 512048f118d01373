# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""promtool tests the Prometheus rules with the metrics that the collection writes."""

from __future__ import annotations

import datetime
import re
import subprocess

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.overview import status_json
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import Today, fleet_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.status_txt import status_prom
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.effect import ATTEMPT, FAILS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import GOOD
from ansible_collections.mqops.logdisk.tests.unit.events.series import (
    RULES,
    kept,
    of_logger,
    of_queue_manager,
    promtool,
)
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history.made_up import entry
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.fabricate import PROJECT
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.metrics import samples_of

VALID = entry("1970-01-10", host="valid", volume_id="1")
REVOKED = entry("1970-01-10", host="revoked", volume_id="2")
FAILED = entry("1970-01-10", FAILS, host="failed", volume_id="3")
TRIED = entry("1970-01-10", ATTEMPT, host="tried", volume_id="4")
TODAY = Today(datetime.date(1970, 1, 11), 14)
STATUS = status_prom(
    status_json(
        fleet_status([VALID, REVOKED, FAILED, TRIED], {REVOKED.sha256}, TODAY),
        [],
        {},
        TODAY,
        {},
        {},
    )
).decode()
END_DAYS = (datetime.date.fromisoformat(VALID.valid_until) - datetime.date(1970, 1, 1)).days + 1


CERTIFICATES = kept(STATUS, "logdisk_certificate_state", "logdisk_certificate_end_timestamp_seconds")


@pytest.fixture
def evaluate(tmp_path):
    """evaluate(alert, series, interval, {time: [(labels, annotations) of each alert that fires then]})"""

    def check(alert, series, interval, expected):
        cases = [
            {
                "alertname": alert,
                "eval_time": at,
                "exp_alerts": [{"exp_labels": labels, "exp_annotations": texts} for labels, texts in firing],
            }
            for at, firing in expected.items()
        ]
        promtool(tmp_path, series, interval, alert_rule_test=cases)

    return check


def test_prometheus_accepts_the_rules():
    subprocess.run(["promtool", "check", "rules", "--lint-fatal", str(RULES)], check=True)


def test_a_certificate_expires_even_if_its_status_is_old(evaluate):
    labels = {"host": "valid", "volume": "log", "profile": "silver", "severity": "warning", "recertify": "true"}

    def left(text):
        return [
            (
                labels,
                {
                    "summary": "valid: the certificate of volume log (silver) expires",
                    "description": f"Time left: {text}. Certify the host again.",
                },
            )
        ]

    expected = {
        f"{END_DAYS - 14}d": [],
        f"{END_DAYS - 13}d": left("13d 0h 0m 0s"),
        f"{END_DAYS + 2}d": left("-2d 0h 0m 0s"),
    }
    evaluate("LogdiskCertificateExpiring", CERTIFICATES, "1d", expected)


def test_volumes_that_are_not_certified_are_for_people(evaluate):
    def uncertified(host, state):
        texts = {
            "summary": f"{host}: volume log (silver) is not certified, state {state}",
            "description": "playbooks/status.yml prints the reason.",
        }
        return {"host": host, "volume": "log", "profile": "silver", "state": state, "severity": "critical"}, texts

    states = [("failed", "failed"), ("revoked", "revoked")]
    evaluate("LogdiskNotCertified", CERTIFICATES, "1d", {"0d": [uncertified(*each) for each in states]})


def test_a_volume_that_is_new_is_no_emergency(evaluate):
    labels = {"host": "tried", "volume": "log", "profile": "silver", "state": "none", "severity": "warning"}
    texts = {
        "summary": "tried: volume log (silver) has never been certified",
        "description": "Certify the host before a queue manager depends on it.",
    }
    evaluate("LogdiskNeverCertified", CERTIFICATES, "1d", {"0d": [(labels, texts)]})


def test_a_pair_whose_locks_failed_or_expire_is_for_people(evaluate):
    states = [("db01", "failed"), ("db03", "valid"), ("db05", "expired")]
    names = {"directory": "/mqha", "volume": "log"}
    pairs = {first: {"first": first, "second": f"{first}b", **names} for first, state in states}
    series = {f"logdisk_lock_state{text_of({**pairs[first], 'state': state})}": "1+0x30" for first, state in states}
    series[f"logdisk_lock_end_timestamp_seconds{text_of(pairs['db03'])}"] = f"{20 * 86400}+0x30"

    def firing(first, state):
        texts = {
            "summary": f"{first} and {first}b: the test of their locks on /mqha is {state}",
            "description": "A failover of a queue manager between these hosts may damage its log. playbooks/status.yml "
            "prints the reason, and playbooks/locks.yml tests them again.",
        }
        return {**pairs[first], "state": state, "severity": "warning"}, texts

    evaluate("LogdiskLocksNotValid", series, "1d", {"1d": [firing("db01", "failed"), firing("db05", "expired")]})
    expiring = {
        "summary": "db03 and db03b: the test of their locks on /mqha expires",
        "description": "Time left: 13d 0h 0m 0s. Test them again with playbooks/locks.yml.",
    }
    evaluate(
        "LogdiskLocksExpiring",
        series,
        "1d",
        {"5d": [], "7d": [({**pairs["db03"], "severity": "warning"}, expiring)]},
    )


def test_lost_writes_are_an_emergency_until_they_are_cleared(evaluate):
    labels = {"host": "db04", "volume": "log", "profile": "silver"}
    texts = {
        "summary": "db04: volume log lost acknowledged writes in a power cut",
        "description": "Correct the cache that lost them. Only as many cuts without a loss (playbooks/power_cut.yml) "
        "end this alert.",
    }
    series = {f"logdisk_power_cut_loss_timestamp_seconds{text_of(labels)}": "86400 86400 stale"}
    evaluate("LogdiskWritesLost", series, "1d", {"1d": [({**labels, "severity": "critical"}, texts)], "2d": []})


def test_a_busy_logger_of_an_observation_is_for_people(evaluate):
    labels = {"host": "db01", "volume": "log", "queue_manager": "QM1"}
    texts = {
        "summary": "db01: the logger of queue manager QM1 was busy 80% of the time",
        "description": "Commits queue up before it reaches 100 %. Reduce the load, or get faster storage.",
    }
    series = {f"logdisk_run_logger_utilisation_ratio{text_of(labels)}": "0.6 0.8"}
    fires = [({**labels, "severity": "warning"}, texts)]
    evaluate("LogdiskLoggerBusy", series, "1m", {"0m": [], "1m": fires})


def text_of(labels):
    """Return labels as the text of a series."""
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}"


WITHOUT_RULE_OR_PANEL = {
    "logdisk_run_info": "names the run for joins",
    "logdisk_run_certified": "LogdiskVerdict and LogdiskNotCertified say which volume is why",
    "logdisk_run_gate_failed": "LogdiskVerdict says which volume is why",
    "logdisk_run_volume_certified": "the state of the certificate counts, not that of the newest run",
    "logdisk_run_certificate_end_timestamp_seconds": "logdisk_certificate_end_timestamp_seconds covers all runs",
    "logdisk_run_capacity": "its limit is in logdisk_run_limit_margin_ratio",
    "logdisk_run_throughput_bytes_per_second": "its limit is in logdisk_run_limit_margin_ratio",
    "logdisk_run_power_cut_loss_bound_ratio": "it follows from the number of cuts, which a panel shows",
    "logdisk_run_lock_takeover_seconds": "logdisk_lock_takeover_seconds is of the test that counts",
    "logdisk_run_lock_late_writes": "a pair with late writes fails, which LogdiskVerdict reports",
}
"""The metrics that neither a rule nor a panel uses, and why not."""


def test_every_metric_has_a_rule_or_a_panel_or_a_reason_why_not():
    pages = "".join((PROJECT / "docs" / page).read_text(encoding="utf-8") for page in ("report.md", "history.md"))
    written = set(re.findall(r"\blogdisk_[a-z_]+\b", pages)) - {"logdisk_results"}  # a table of the history
    used = RULES.read_text(encoding="utf-8") + (RULES.parent / "logdisk.dashboard.json").read_text(encoding="utf-8")
    unused = {name for name in written if not re.search(rf"\b{name}\b", used)}
    assert unused == set(WITHOUT_RULE_OR_PANEL)


def test_a_status_that_no_longer_comes_is_reported(evaluate):
    series = {
        f'node_textfile_mtime_seconds{{file="{file}",instance="awx:9100"}}': "0+0x10"
        for file in ("/var/lib/metrics/status.prom", "other.prom")
    }
    labels = {"file": "/var/lib/metrics/status.prom", "instance": "awx:9100", "severity": "warning"}
    texts = {
        "summary": "The status of the certificates is 3d 0h 0m 0s old",
        "description": (
            "playbooks/status.yml no longer runs every night, or its status.prom no longer arrives at awx:9100."
        ),
    }
    evaluate("LogdiskStatusStale", series, "1d", {"2d": [], "3d": [(labels, texts)]})


def test_a_bad_verdict_is_for_people(evaluate, tmp_path):
    run = runs.KINDS["every_verdict"](tmp_path)
    render(run)
    exposition = (tmp_path / run.path / "logdisk.prom").read_text(encoding="utf-8")
    verdicts = [dict(labels) for labels, value in samples_of(exposition)["logdisk_run_verdict"].items() if value]
    texts = "The report of the run contains the reasons and the next steps."
    bad = [
        (
            {**each, "severity": "critical"},
            {
                "summary": f"{each['host']}: the verdict on volume {each['volume']} is {each['verdict']}",
                "description": texts,
            },
        )
        for each in verdicts
        if each["verdict"] not in GOOD
    ]
    assert 0 < len(bad) < len(verdicts)
    evaluate("LogdiskVerdict", kept(exposition, "logdisk_run_verdict"), "1m", {"1m": bad})


@pytest.mark.parametrize("port", ["", ":9157"])
def test_slow_log_writes_of_small_blocks(evaluate, port):
    slow = of_queue_manager(f"mq01.example.com{port}", 0.003, 8192)
    others = of_queue_manager("fast:9157", 0.0009, 8192) | of_queue_manager("large:9157", 0.003, 262144)
    labels = {
        "host": "mq01.example.com",
        "instance": f"mq01.example.com{port}",
        "platform": "UNIX",
        "qmgr": "QM1",
        "severity": "warning",
        "recertify": "true",
    }
    texts = {
        "summary": "mq01.example.com: the log writes of queue manager QM1 take 3ms on average",
        "description": "mq-log-silver allows 1 ms. Commits of persistent messages wait for these writes.",
    }
    evaluate("MQLogWriteLatencyHigh", slow | others, "1m", {"9m": [], "10m": [(labels, texts)]})


@pytest.mark.parametrize("counts_on", [False, True])
def test_a_logger_that_is_near_its_limit_is_for_people(evaluate, counts_on):
    busy = of_logger("mq01:9157", 0.8 / 0.0008 * 8192, counts_on)
    idle = (
        of_logger("half:9157", 0.5 / 0.0008 * 8192, counts_on)
        | of_logger("idle:9157", 0)
        | of_queue_manager("silent:9157", 0, 0)
    )
    labels = {"host": "mq01", "instance": "mq01:9157", "platform": "UNIX", "qmgr": "QM1", "severity": "warning"}
    texts = {
        "summary": "mq01: the logger of queue manager QM1 is busy 80% of the time",
        "description": (
            "It has one write outstanding at a time, so commits queue up before it reaches 100 %. Reduce the "
            "load, or get faster storage."
        ),
    }
    evaluate("MQLogUtilisationHigh", busy | idle, "1m", {"5m": [], "30m": [(labels, texts)]})
