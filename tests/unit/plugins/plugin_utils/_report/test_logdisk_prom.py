# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which metrics logdisk.prom contains for each volume, by default and with gate_metrics: all."""

from __future__ import annotations

import collections
import re

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.formats import logdisk_prom
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import build_model
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs

MOST = 15
VOLUME = re.compile(r"[^#].*\{host=\"([^\"]*)\",volume=\"([^\"]*)\"")


def metrics_of(directory, metrics):
    """Return the lines of the file that is written with this value of the option gate_metrics."""
    model = build_model(directory)
    model.run["parameters"] = {**(model.run.get("parameters") or {}), "gate_metrics": metrics}
    return "".join(logdisk_prom.render(model)).splitlines()


def series(text):
    """Return how many series each volume has."""
    return collections.Counter(found.groups() for line in text if (found := VOLUME.match(line)))


def of_metric(text, name, **labels):
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    return [line for line in text if line.startswith(f"{name}{{") and all(each in line for each in wanted)]


def test_there_are_few_series_of_each_volume(of_each_kind):
    few, every = (series(metrics_of(of_each_kind, metrics)) for metrics in ("few", "all"))
    assert set(few) == set(every) and all(1 < few[volume] <= MOST for volume in few)
    assert all(few[volume] <= every[volume] for volume in few)


def test_all_series_are_in_the_file_on_request(rendered):
    directory = rendered("streams")
    text = metrics_of(directory, "all")
    step = {"host": "db02", "step": "3", "load_point": "8", "stream": "all", "operation": "all", "quantile": "0.99"}
    assert len(of_metric(text, "logdisk_run_latency_seconds", **step)) == 1
    assert len(of_metric(text, "logdisk_run_verdict", host="db02")) > 5
    assert len(of_metric(text, "logdisk_run_limit_margin_ratio", host="db02")) == len(
        build_model(directory).hosts[1].limits
    )


def test_the_figures_are_those_of_the_step_that_comes_nearest_to_a_limit(tmp_path):
    directory = runs.every_verdict(tmp_path)
    few, every = metrics_of(directory, "few"), metrics_of(directory, "all")
    measured = [host.host for host in build_model(directory).hosts if host.rows]
    assert len(measured) > 1
    for host in measured:
        margins = of_metric(every, "logdisk_run_limit_margin_ratio", host=host)
        (least,) = of_metric(few, "logdisk_run_limit_margin_ratio", host=host)
        assert least in margins and float(least.split()[-1]) == min(float(line.split()[-1]) for line in margins)
        (p99,) = of_metric(few, "logdisk_run_latency_seconds", host=host, quantile="0.99")
        assert p99 in every
        (verdict,) = of_metric(few, "logdisk_run_verdict", host=host)
        assert verdict.endswith(" 1") and verdict in every


@pytest.mark.parametrize("parameters", [None, {}])
def test_a_run_that_did_not_record_the_option_has_few_series(tmp_path, parameters):
    model = build_model(runs.every_verdict(tmp_path))
    model.run["parameters"] = parameters
    assert max(series("".join(logdisk_prom.render(model)).splitlines()).values()) <= MOST
