# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs the rulebook in ansible-rulebook: the test posts Alertmanager notifications to the webhook, and a controller
receives the requests to start jobs.

A host is certified once per day, so each test has its own hosts.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.fabricate import PROJECT
from fake_awx import data
from fake_awx.api import served
from fake_awx.jobs import Job, StartingAwx

RULEBOOK = PROJECT / "extensions/eda/rulebooks/recertify.yml"
ALERTS = PROJECT / "tests/fixtures/alerts"
TOKEN = "31415926"  # text that looks like a number
PATIENCE_S = 120
EXPIRING, SLOW = "LogdiskCertificateExpiring", "MQLogWriteLatencyHigh"


class Rulebook:
    """A running ansible-rulebook that receives notifications and starts jobs."""

    def __init__(self, port: int, awx: StartingAwx) -> None:
        self._url = f"http://127.0.0.1:{port}/alerts"
        self._awx = awx
        self._numbers = itertools.count()

    def post(self, notification: object, token: str = TOKEN) -> int:
        """Send a notification as Alertmanager does, and return the status of the answer."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self._url, json.dumps(notification).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def jobs(self, *notifications: object, until: tuple[str, ...] = ()) -> list[Job]:
        """Return the jobs that notifications start. Notifications are processed in order, so one more job shows that
        all of them were processed."""
        before, last = len(self._awx.jobs), f"last-{next(self._numbers)}"
        assert {self.post(each) for each in (*notifications, about(last))} == {200}
        self._awx.wait_for({*until, last}, PATIENCE_S)
        return [job for job in self._awx.jobs[before:] if job.limit != last]

    def request_for(self, limit: str) -> dict:
        """Return the data that was sent to start the job with this limit."""
        (body,) = [
            body for dummy, path, body in self._awx.requests if path.endswith("/launch/") and body["limit"] == limit
        ]
        return body

    def limits(self, *notifications: object, until: tuple[str, ...] = ()) -> list[str]:
        return sorted(job.limit for job in self.jobs(*notifications, until=until))


@pytest.fixture(scope="module")
def rulebook(tmp_path_factory):
    directory = tmp_path_factory.mktemp("rulebook")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    variables = directory / "variables.yml"
    variables.write_text(json.dumps({"recertify_port": port, "recertify_token": TOKEN}))
    command = [sys.executable, "-m", "ansible_rulebook", "--rulebook", str(RULEBOOK), "--vars", str(variables)]
    # ansible-rulebook looks for ansible-galaxy in PATH.
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    awx = StartingAwx([])
    for template in data.load()["controller_templates"]:
        awx.add_template(template)
    with served(awx) as address, (directory / "log").open("wb") as log:
        command += ["--controller-url", address, "--controller-token", "token"]
        process = subprocess.Popen(
            command, cwd=directory, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            await_listener(port, process)
            yield Rulebook(port, awx)
        finally:
            process.kill()
            process.wait()
            print((directory / "log").read_text())


def await_listener(port: int, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("ansible-rulebook does not listen")


def recorded(name):
    """Return a notification that Alertmanager 0.25, configured as in docs/events.md, sent for an alert of the rules of
    this project in Prometheus 2.42."""
    return json.loads((ALERTS / f"{name}.json").read_text(encoding="utf-8"))


def about(host, alert=EXPIRING, **keys):
    """Return a recorded notification with another host, alert or other keys."""
    return {**recorded("certificate_expiring"), "groupLabels": {"alertname": alert, "host": host}, **keys}


@pytest.mark.parametrize(
    ("name", "host"), [("certificate_expiring", "mq01.example.com"), ("log_write_latency", "mq02.example.com")]
)
def test_an_alert_starts_the_template_limited_to_its_host(rulebook, name, host):
    assert rulebook.jobs(recorded(name), until=(host,)) == [Job("logdisk recertify", host, {"gate_expected_count": 1})]
    assert rulebook.request_for(host) == {"limit": host, "extra_vars": {"gate_expected_count": 1}}


def test_a_host_is_certified_once_whatever_the_number_of_its_alerts(rulebook):
    alerts = [about("twice"), about("other"), about("twice"), about("twice", SLOW)]
    assert rulebook.limits(*alerts, until=("twice", "other")) == ["other", "twice"]
    assert rulebook.limits(*alerts) == []


def test_other_alerts_and_resolved_ones_do_nothing(rulebook):
    others = [
        recorded("not_certified"),
        recorded("certificate_renewed"),
        about("h1", "logdiskcertificateexpiring"),
        about("h2", status="resolved"),
    ]
    assert rulebook.limits(*others) == []


PATTERNS = [
    "all",
    "ungrouped",
    "localhost",
    "mq*",
    "mq0?",
    "mq[0:9]",
    "mq01,mq02",
    "mq01:mq02",
    "!mq01",
    "&mq01",
    "~mq",
    "@/etc/hosts",
]
BLANKS = ["", " ", "mq01 mq02", "mq01 ", "mq01\n", "mq01\nall", "mq01\r", "mq01\u2028", "mq01\0"]
NO_NAMES = ["mq01'", "{{ 7 }}", "-i", "--limit", ".mq", "mq.", "ｍｑ01", "a" * 254]
NO_TEXTS = [None, [], ["mq01"], ["mq01", "mq02"], {"mq01": 1}]


@pytest.mark.parametrize(
    "hosts", [PATTERNS, BLANKS, NO_NAMES, NO_TEXTS], ids=["patterns", "blanks", "no names", "no texts"]
)
def test_what_is_not_the_name_of_one_host_does_nothing(rulebook, hosts):
    assert rulebook.limits(*map(about, hosts)) == []


def test_any_name_of_a_host_becomes_the_limit_as_it_is(rulebook):
    names = ("10.1.2.3", "1_0", "0x10", "007", "None", "mq_03-b.example.com", "a" * 253)
    assert rulebook.limits(*map(about, names), until=names) == sorted(names)


def test_notifications_of_another_form_do_nothing(rulebook):
    labels = [[], "x", {"host": "h3"}, {"alertname": EXPIRING}, {"alertname": [EXPIRING], "host": "h4"}]
    assert (
        rulebook.limits([], "x", 5, None, {}, {"status": "firing"}, *(about("", groupLabels=each) for each in labels))
        == []
    )


def test_a_notification_cannot_choose_another_limit(rulebook):
    assert rulebook.limits(about("h5", limit="all", meta={"limit": "all", "hosts": "all"}), until=("h5",)) == ["h5"]


def test_a_notification_without_the_token_is_refused(rulebook):
    assert (rulebook.post(about("h6"), token="wrong"), rulebook.limits()) == (401, [])
