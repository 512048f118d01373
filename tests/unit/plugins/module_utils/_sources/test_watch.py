# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils._sources import amqsrua, choice, prometheus
from ansible_collections.mqops.logdisk.plugins.modules import probe
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.fabricate import PROJECT
from mq import install_amqsrua

FIXTURES = PROJECT / "tests/fixtures/observe"


@pytest.fixture
def program(tmp_path):
    """The path of an amqsrua with the output of MQ 9.4 for QM1."""
    install_amqsrua(tmp_path / "amqsrua", text=(FIXTURES / "amqsrua-9.4.txt").read_text())
    return str(tmp_path / "amqsrua")


@pytest.fixture
def url(tmp_path):
    """The address of an endpoint with the metrics of mq_prometheus for QM2."""
    answers = (
        (FIXTURES / "mq_prometheus-9.4.txt")
        .read_text()
        .replace('qmgr="QM1"', 'qmgr="QM2"')
        .split("# --- the next GET ---\n")[1:]
    )
    (tmp_path / "play.json").write_text(json.dumps({"answers": answers}))
    with subprocess.Popen(
        [sys.executable, str(PROJECT / "tests/mq/exporter.py"), str(tmp_path / "play.json")],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield f"http://localhost:{int(process.stdout.readline())}/metrics"
        process.kill()


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Only the limit under test is reached."""
    for module, name in ((prometheus, "LIMIT_S"), (prometheus, "CHECK_S"), (amqsrua, "CHECK_S")):
        monkeypatch.setattr(module, name, 90)
    for dummy, source_class in choice.OF_AVERAGES:
        monkeypatch.setattr(source_class, "check_limit_s", 180)
    monkeypatch.setattr(choice, "INTERVAL_S", 0.05)


def test_each_queue_manager_is_heard_by_the_source_that_knows_it(program, url):
    heard = choice.watch(["QM1", "QM2", "QM3"], 2, url, program)
    assert {name: (answer["source"], bool(answer["samples"])) for name, answer in heard.items()} == {
        "QM1": ("amqsrua", True),
        "QM2": ("prometheus", True),
        "QM3": ("", False),
    }
    first = heard["QM1"]["samples"][0]
    assert (
        first["text"].startswith("Publication received")
        and first["epoch_s"] > 0
        and isinstance(first["monotonic_ns"], int)
    )
    assert f"{url} reports queue manager QM2, not QM3" in heard["QM3"]["problem"] and "2058" in heard["QM3"]["problem"]


def test_a_source_that_hangs_costs_the_others_nothing(program, url, monkeypatch):
    (PROJECT / program).with_suffix(".json").write_text('{"hang": true}')
    monkeypatch.setattr(amqsrua, "CHECK_S", 1)
    heard = choice.watch(["QM1", "QM2"], 1, url, program)
    assert "printed nothing for 1 s, and was ended" in heard["QM1"]["problem"]
    assert heard["QM2"]["source"] == "prometheus"


def test_what_is_kept_is_bounded(program, monkeypatch):
    monkeypatch.setattr(choice, "MOST_CHARACTERS", 1000)
    heard = choice.watch(["QM1"], 60, "http://localhost:1/", program)["QM1"]
    assert 0 < sum(len(each["text"]) for each in heard["samples"]) <= 1000


def test_only_queue_managers_that_may_run_are_asked(monkeypatch):
    monkeypatch.setattr(
        choice,
        "watch",
        lambda names, *dummy: {name: {"source": "amqsrua", "samples": [], "problem": name} for name in names},
    )
    found = [
        {"name": "A", "exists": True, "running": True},
        {"name": "B", "exists": True, "running": None},
        {"name": "C", "exists": True, "running": False},
        {"name": "D", "exists": False, "running": False},
    ]
    probe.observe(found, {"observe_window": 60, "observe_url": "", "observe_amqsrua": ""})
    assert [each["observed"]["problem"] for each in found] == ["A", "B", "it is not running", "it is not running"]
