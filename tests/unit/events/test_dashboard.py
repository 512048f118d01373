# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""promtool evaluates every query of the Grafana dashboard with the metrics that the collection writes."""

from __future__ import annotations

import datetime
import itertools
import json
import re

import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.overview import status_json
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.problems import problems_by_host
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import Today, fleet_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.status_txt import status_prom
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.effect import FAILS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.formats import logdisk_prom
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import build_model
from ansible_collections.mqops.logdisk.tests.unit.events.series import RULES, kept, of_logger, promtool
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history.made_up import (
    cuts_of,
    entry,
    pair_result,
)
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs

DASHBOARD = json.loads((RULES.parent / "logdisk.dashboard.json").read_text(encoding="utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
VARIABLES = [variable for variable in DASHBOARD["templating"]["list"] if variable["type"] == "query"]
QUERIES = {f"{panel['title']} {target['refId']}": target["expr"] for panel in PANELS for target in panel["targets"]} | {
    f"${variable['name']}": re.sub(r"label_values\((.+), (\w+)\)", r"count by (\2) (\1)", variable["query"]["query"])
    for variable in VARIABLES
}
SCHEMA_VERSION = 39
"""The schema version of Grafana 10.4 and 11. Later versions of Grafana convert it."""


VALID = entry("1970-01-10", host="db01", volume_id="1")
SOONER = entry("1970-01-08", host="db02", volume_id="2")
FAILED = entry("1970-01-10", FAILS, host="db03", volume_id="3")
LOST = entry("1970-01-07", host="db04", volume_id="4")
TODAY = Today(datetime.date(1970, 1, 11), 14)
FLEET = fleet_status(
    [VALID, SOONER, FAILED, LOST],
    (),
    TODAY,
    [cuts_of(VALID, "1970-01-09", "pass", 59), cuts_of(LOST, "1970-01-09", "fail", 2)],
)
PAIRS = {"locks": [pair_result("1970-01-09", until="1970-04-09"), pair_result("1970-01-09", "fail", first="db03")]}
STATUS = status_prom(
    status_json(FLEET, ["db01", "db02", "db03", "db04"], problems_by_host(FLEET, ["db03"], {}), TODAY, {}, {}, PAIRS)
).decode()


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    """The series of a fleet with a status, one run of each kind, and its live queue managers."""
    found = kept(STATUS)
    for kind in ("power_cuts", "observation", "certified", "locks"):
        run = runs.KINDS[kind](tmp_path_factory.mktemp(kind))
        found |= kept("".join(logdisk_prom.render(build_model(run))))
    found |= {f'node_textfile_mtime_seconds{{file="/metrics/{name}.prom"}}': "0+0x60" for name in ("status", "logdisk")}
    return found | of_logger("db01:9157", 1e6) | of_logger("db02", 1e6, counts_on=True)


def filled(query, value):
    """Return a query in which this value replaces the variables."""
    return re.sub(r"\$(?:host|profile)\b", lambda dummy: value, query)


def names_in(texts):
    """Return the words in queries that may be names of metrics: those with an underscore, outside of strings."""
    functions = {"label_replace", "avg_over_time", "sort_desc", "group_left", "group_right"}
    labels = {"mount_point", "queue_manager"}
    words = itertools.chain(
        *(re.findall(r"\b[a-z][a-z0-9:]*_[a-z0-9_:]+", re.sub(r'"[^"]*"', "", text)) for text in texts)
    )
    return set(words) - functions - labels


@pytest.mark.parametrize("value", [".*", "(db01|db02|db03|db04|silver|mq-log-silver)"], ids=["all", "several"])
def test_every_query_finds_series(tmp_path, series, value):
    cases = [
        {
            "expr": f"count({filled(query, value)}) > bool 0 and on () vector(1) # {name}",
            "eval_time": "30m",
            "exp_samples": [{"labels": "{}", "value": 1}],
        }
        for name, query in QUERIES.items()
    ]
    promtool(tmp_path, series, "1m", promql_expr_test=cases)


def test_the_dashboard_names_no_metric_that_nothing_writes(series):
    recorded = {
        rule["record"]
        for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
        for rule in group["rules"]
        if "record" in rule
    }
    assert names_in(QUERIES.values()) <= {name.partition("{")[0] for name in series} | recorded


def test_the_figures_are_those_of_the_status(tmp_path):
    """The values at noon on 1970-01-11, according to the metrics of the status."""

    def place(host, **labels):
        own = {"host": host, "profile": "silver", "volume": "log", **labels}
        return "{" + ", ".join(f"{label}={json.dumps(value)}" for label, value in own.items()) + "}"

    expected = {
        "Expected hosts A": {"{}": 4},
        "Problems A": {"{}": 1},
        "Certified volumes A": {"{}": 0.5},
        "Next expiry A": {"{}": 87.5},
        "Power cut losses A": {"{}": 1},
        "Certificates by state A": {
            f'{{state="{state}"}}': count
            for state, count in {"failed": 2, "valid": 2, "expiring": 0, "expired": 0, "none": 0, "revoked": 0}.items()
        },
        "Certificates by expiry A": {place("db01", state="valid"): 89.5, place("db02", state="valid"): 87.5},
        "Not certified A": {place(host, state="failed"): 1 for host in ("db03", "db04")},
        "Power cuts per volume A": {place("db01"): 59},
        "Power cuts per volume B": {place("db01"): 2.5},
        "Power cuts per volume C": {place("db04"): 2.5},
    }
    cases = [
        {
            "expr": filled(QUERIES[name], ".*"),
            "eval_time": "252h",
            "exp_samples": [{"labels": labels, "value": value} for labels, value in samples.items()],
        }
        for name, samples in expected.items()
    ]
    promtool(tmp_path, kept(STATUS), "12h", promql_expr_test=cases)


def test_the_data_source_is_chosen_on_import():
    def sources(part):
        if isinstance(part, dict):
            if "datasource" in part:
                yield part["datasource"]
            yield from itertools.chain(*map(sources, part.values()))
        elif isinstance(part, list):
            yield from itertools.chain(*map(sources, part))

    chosen = {"type": "prometheus", "uid": "${datasource}"}
    (source,) = (each for each in DASHBOARD["templating"]["list"] if each["type"] == "datasource")
    assert (source["name"], source["query"]) == ("datasource", "prometheus")
    assert all(panel["datasource"] == chosen for panel in [*PANELS, *VARIABLES])
    assert all(target["datasource"] == chosen for panel in PANELS for target in panel["targets"])
    assert all(each == chosen for each in sources(DASHBOARD))
    assert not {"__inputs", "__requires", "id"} & set(DASHBOARD)
    assert DASHBOARD["schemaVersion"] == SCHEMA_VERSION
