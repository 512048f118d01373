# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files for programs: for runs of every kind, each file is accepted by its schema or by the parser that reads
it."""

from __future__ import annotations

import datetime
import json
import os
import re

import jsonschema
import pytest
import xmlschema
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.runs import content
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.test_logdisk_prom import metrics_of
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.metrics import samples_of

TESTER_COLUMNS = {"step", "elapsed_ns", "operations", "bytes"}
"""Described in docs/columns.md."""


@pytest.fixture(scope="module")
def jenkins():
    return xmlschema.XMLSchema(str(fabricate.PROJECT / "tests/fixtures/jenkins/junit-10.xsd"))


@pytest.fixture(scope="module")
def published():
    """The schema of report.json, as a validator that checks dates as well."""
    with open(fabricate.PROJECT / "docs/report.schema.json", encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker(["date"]))


def problems(validator, data):
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(data)]


def test_the_report_keeps_to_its_schema(of_each_kind, published):
    assert problems(published, json.loads(content(of_each_kind, "report.json"))) == []


def test_the_report_of_a_slice_keeps_to_the_schema(tmp_path, published):
    directory = fabricate.run_directory(tmp_path, {}, [fabricate.failed("db07")], unmatched_limit_terms=["db99"])
    render(directory)
    assert problems(published, json.loads(content(directory, "report.json"))) == []


def test_the_schema_knows_every_key_of_what_this_collection_says(rendered, published):
    data = json.loads(content(rendered("every_verdict"), "report.json"))
    (slow,) = [host for host in data["hosts"] if host["host"] == "slow"]
    limit, run = slow["limits"][0], data["run"]
    owned = [
        data,
        data["fleet"],
        data["limits"][0],
        data["causes"][0],
        slow,
        limit,
        limit["worst"],
        run,
        run["policy"],
        run["profile"],
    ]
    owned += [run["profile"]["qualifies"], run["profile"]["limits"][0], run["profile"]["waivers"][0], run["controller"]]
    for place in owned:
        place["surprise"] = 1
        assert len(problems(published, data)) == 1
        del place["surprise"]
    assert problems(published, data) == []


def test_the_documentation_names_every_key_of_the_schema(published):
    schema = published.schema
    text = "".join(
        (fabricate.PROJECT / "docs" / name).read_text(encoding="utf-8") for name in ("files.md", "report_json.md")
    )
    named = set(re.findall(r"`(\w+)`", text))
    described = [
        schema,
        *(
            schema["$defs"][name]
            for name in ("run", "policy", "fleet", "criterion", "cause", "worst", "limit", "result", "host")
        ),
    ]
    assert [
        key for part in described for key in part["properties"] if key not in named and key not in TESTER_COLUMNS
    ] == []


def test_jenkins_accepts_the_results(of_each_kind, jenkins):
    assert [error.reason for error in jenkins.iter_errors(os.path.join(of_each_kind.path, "junit.xml"))] == []


def test_monitoring_reads_the_metrics(of_each_kind):
    found = samples_of(content(of_each_kind, "logdisk.prom"))
    hosts = json.loads(content(of_each_kind, "report.json"))["hosts"]
    verdicts = [dict(labels) for labels, value in found.get("logdisk_run_verdict", {}).items() if value]
    assert sorted((each["host"], each["volume"], each["verdict"]) for each in verdicts) == sorted(
        (host["host"], host["volume"], host["verdict"]) for host in hosts
    )
    assert sum(map(len, (host["results"] for host in hosts))) == 0 or found["logdisk_run_latency_seconds"]


def test_metrics_have_the_figures_in_seconds_and_the_margins_of_both_kinds_of_limits(rendered):
    found = samples_of("\n".join([*metrics_of(rendered("every_verdict"), "all"), ""]))

    def value(name, **wanted):
        (found_value,) = [value for labels, value in found[name].items() if wanted.items() <= dict(labels).items()]
        return found_value

    slow = {"host": "slow", "volume": "log", "block_size_bytes": "4096", "load_point": "1"}
    assert value("logdisk_run_latency_seconds", quantile="0.99", **slow) == 0.002804096
    assert value("logdisk_run_latency_seconds_count", **slow) == 427945
    assert value("logdisk_run_throughput_bytes_per_second", **slow) == pytest.approx(427945 * 4096 / 600)
    assert value(
        "logdisk_run_limit_margin_ratio", host="slow", metric="latency_p99", rows="block size <= 64 KiB"
    ) == pytest.approx(1 - 2.026 / 1, rel=0.01)
    assert value("logdisk_run_limit_margin_ratio", host="good", metric="bytes_per_s") == pytest.approx(
        1 - 250e6 / 1.446e9, rel=0.01
    )
    assert not [labels for labels in found["logdisk_run_limit_margin_ratio"] if ("host", "gone") in labels]


def test_metrics_say_until_when_a_volume_is_certified(rendered):
    found = samples_of(content(rendered("certified"), "logdisk.prom"))
    end = datetime.datetime(2027, 2, 20, tzinfo=datetime.timezone.utc).timestamp()
    volumes = [("db07", "log"), ("db08", "audit"), ("db08", "log")]
    assert found["logdisk_run_certificate_end_timestamp_seconds"] == {
        (("host", host), ("volume", volume)): end for host, volume in volumes
    }
    assert found["logdisk_run_certified"] == {(): 1}
