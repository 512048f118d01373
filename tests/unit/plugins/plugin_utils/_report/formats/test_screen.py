# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The summaries of every kind and verdict at the usual widths of a terminal."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.formats import summary_txt
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import build_model
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.terminal import fit
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs

WIDTHS = (80, 100, 120)


@pytest.mark.parametrize("kind", [kind for kind in runs.KINDS if kind != "hostile"])
def test_no_statement_is_cut(tmp_path, kind):
    text = "".join(summary_txt.render(build_model(runs.KINDS[kind](tmp_path))))
    for width in WIDTHS:
        shown = fit(text, width)
        assert not [line for line in shown.splitlines() if line.endswith(" ...")]
        long = [line for line in shown.splitlines() if len(line) > width]
        assert all(line.startswith(("  report ", "  signed ", "  kept ")) for line in long), long


def test_80_columns_keep_the_worst_figures(tmp_path):
    run = fabricate.run_directory(tmp_path, {"db07": runs.slow()}, queue_managers=("QMA", "QMB"))
    shown = fit("".join(summary_txt.render(build_model(run))), 80)
    (titles,) = (line for line in shown.splitlines() if "Block size" in line)
    assert {"p99.9", "Max"} <= set(titles.split())
    assert "Throughput" not in titles


def test_a_host_that_is_ready_is_not_called_not_measured(tmp_path):
    record = HostRecord("db07", kind="preflight")
    run = fabricate.run_directory(tmp_path, {}, [record], expected=["db07"], check_mode=True)
    shown = "".join(summary_txt.render(build_model(run)))
    assert shown.startswith("READY: ")
    assert "not measured" not in shown
