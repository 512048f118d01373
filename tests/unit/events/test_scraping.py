# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Prometheus server scrapes the files that the collection writes, evaluates its rules, and answers the queries of the
Grafana dashboard."""

from __future__ import annotations

import functools
import http.server
import json
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.formats import logdisk_prom
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import build_model
from ansible_collections.mqops.logdisk.tests.unit.events.series import RULES
from ansible_collections.mqops.logdisk.tests.unit.events.test_dashboard import QUERIES, STATUS, filled, names_in
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.metrics import samples_of

LONGEST_S = 60


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves a directory, without a log."""

    def log_message(self, *dummy):
        pass


@pytest.fixture(scope="module")
def metrics(tmp_path_factory):
    """A directory with the status of a fleet and one run of each kind."""
    folder = tmp_path_factory.mktemp("metrics")
    (folder / "status.prom").write_text(STATUS)
    for kind in ("power_cuts", "observation", "certified"):
        run = runs.KINDS[kind](tmp_path_factory.mktemp(kind))
        (folder / f"{kind}.prom").write_text("".join(logdisk_prom.render(build_model(run))))
    return folder


@pytest.fixture(scope="module")
def ask(metrics, tmp_path_factory):
    """Return a function that sends a request to the API of a Prometheus server, which scrapes these files, and returns
    the answer."""
    own = tmp_path_factory.mktemp("prometheus")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=metrics)) as files:
        threading.Thread(target=files.serve_forever, daemon=True).start()
        jobs = [
            {
                "job_name": path.stem,
                "metrics_path": f"/{path.name}",
                "static_configs": [{"targets": [f"127.0.0.1:{files.server_port}"]}],
            }
            for path in sorted(metrics.iterdir())
        ]
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES)],
            "scrape_configs": jobs,
        }
        (own / "prometheus.yml").write_text(yaml.safe_dump(config))
        address = f"127.0.0.1:{free_port()}"
        command = [
            "prometheus", f"--config.file={own}/prometheus.yml", f"--storage.tsdb.path={own}/data",
            f"--web.listen-address={address}",
        ]  # fmt: skip
        with open(own / "log", "wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as server:
            try:
                wait_until(lambda: have_run([target["lastScrape"] for target in targets(address)]))
                wait_until(lambda: have_run([rule["lastEvaluation"] for rule in rules(address)]))
                yield functools.partial(answer, address)
            finally:
                server.terminate()
                files.shutdown()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as own:
        return own.getsockname()[1]


def answer(address, path, **query):
    with urllib.request.urlopen(f"http://{address}/api/v1/{path}?{urllib.parse.urlencode(query)}") as found:
        return json.load(found)["data"]


def targets(address):
    return answer(address, "targets")["activeTargets"]


def rules(address):
    return [rule for group in answer(address, "rules")["groups"] for rule in group["rules"]]


def have_run(times):
    """Return whether all these times are known. Prometheus reports the year 1 for a scrape or an evaluation that has
    not happened yet, and at first no times at all."""
    return bool(times) and not any(time.startswith("0001") for time in times)


def wait_until(is_done):
    end_s = time.monotonic() + LONGEST_S
    while True:
        try:
            if is_done():
                return
        except (urllib.error.URLError, ConnectionError):
            pass  # the server does not listen yet
        assert time.monotonic() < end_s, "Prometheus did not get that far"
        time.sleep(0.1)


def test_every_file_can_be_scraped(ask, metrics):
    found = {target["labels"]["job"]: target["lastError"] for target in ask("targets")["activeTargets"]}
    assert found == {path.stem: "" for path in metrics.iterdir()}


def test_every_rule_can_be_evaluated(ask):
    found = [rule for group in ask("rules")["groups"] for rule in group["rules"]]
    assert {(rule["name"], rule["health"]) for rule in found} == {(rule["name"], "ok") for rule in found}


def test_the_dashboard_finds_what_was_scraped(ask, metrics):
    written = {name for path in metrics.iterdir() for name in samples_of(path.read_text())}
    own = {name: query for name, query in QUERIES.items() if names_in([query]) <= written}
    found = {name: ask("query", query=filled(query, ".*"))["result"] for name, query in own.items()}
    assert len(own) > len(QUERIES) / 2 and [name for name, series in found.items() if not series] == []
