# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Creates the input series of promtool from the metrics that the collection writes and those that queue managers
publish. Time in promtool begins in 1970."""

from __future__ import annotations

import json
import subprocess

import yaml
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.fabricate import PROJECT
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.metrics import samples_of

RULES = PROJECT / "docs/prometheus/logdisk.rules.yml"


def kept(exposition, *names):
    """Return the series of the given metrics, or of all metrics. Each series keeps its value for 365 intervals."""
    found = samples_of(exposition)
    return {
        f"{name}{{{','.join(f'{label}={json.dumps(value)}' for label, value in labels)}}}": f"{value:.9g}+0x365"
        for name in names or found
        for labels, value in found[name].items()
    }


def of_queue_manager(instance, latency_s, size_bytes):
    """Return the series of mq_prometheus for a queue manager."""
    own = f'{{instance="{instance}",platform="UNIX",qmgr="QM1"}}'
    return {
        f"ibmmq_qmgr_log_write_latency_seconds{own}": f"{latency_s}+0x60",
        f"ibmmq_qmgr_log_write_size_bytes{own}": f"{size_bytes}+0x60",
    }


def of_logger(instance, bytes_per_s, counts_on=False):
    """Return the series of a queue manager that writes this many bytes per second. Each write contains 8 KiB and takes
    0.8 ms, so the rate can be at most about 10 MB/s."""
    per_minute = round(60 * bytes_per_s)
    name = "ibmmq_qmgr_log_physical_written_bytes"
    own = f'{{instance="{instance}",platform="UNIX",qmgr="QM1"}}'
    written = {f"{name}_total{own}": f"0+{per_minute}x60"} if counts_on else {f"{name}{own}": f"{per_minute}+0x60"}
    return of_queue_manager(instance, 0.0008, 8192) | written


def promtool(tmp_path, series, interval, **tests):
    """Evaluate the rules with these series, and compare the results with the expected ones (alert_rule_test or
    promql_expr_test)."""
    test = {
        "interval": interval,
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        **tests,
    }
    path = tmp_path / "test.yml"
    path.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "evaluation_interval": interval, "tests": [test]}))
    done = subprocess.run(["promtool", "test", "rules", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
