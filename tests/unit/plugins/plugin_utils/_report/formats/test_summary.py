# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The summary of a run that passes: the verdict, and then the figure behind it, how long the certificates are valid,
and what to do next."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import certify
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.formats import summary_txt
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import build_model
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs

NEXT = (
    "  next     certify again before that day, or when the storage changes; playbooks/status.yml lists the "
    "certificates that expire"
)


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """The model of a run that certifies three hosts, the second of which is the slowest."""
    latencies = {"db1": 200_000, "db2": 400_000, "db3": 300_000}
    measured = {
        name: fabricate.tables(fabricate.sweep_rows(latency_ns=latency), over=()) for name, latency in latencies.items()
    }
    history = {"place": "unused", "required": True}
    directory = fabricate.run_directory(tmp_path_factory.mktemp("certified"), measured, history=history)
    judge_run(directory, GATE)
    assert certify(directory)[1] == []
    return build_model(directory)


def lines(model):
    return "".join(summary_txt.render(model)).splitlines()


def fleet(model, count):
    """Return a model with that many copies of its hosts."""
    hosts = [replace(model.hosts[number % 3], host=f"h{number}") for number in range(count)]
    run = {**model.run, "expected_hosts": [host.host for host in hosts]}
    return replace(model, hosts=hosts, run=run, fleet={**model.fleet, "counts": {"pass": count}})


@pytest.mark.parametrize("count", [3, 20, 300])
def test_a_pass_tells_its_worst_figure_validity_and_next_step_in_as_many_lines_for_any_fleet(certified, count):
    head, limits, valid, following, run, result = lines(fleet(certified, count))
    assert head == f"PASS: This run certifies {count} hosts against mq-log-silver 3."
    assert limits.startswith("  limits   the worst uses ") and limits.endswith(" on h1")
    assert valid == f"  valid    until {certified.valid_until}" and following == NEXT
    assert run.startswith("  run      ") and result == f"  result   {count} hosts: {count} pass"


def test_a_single_host_has_its_figures_after_the_answer(certified):
    shown = lines(fleet(certified, 1))
    assert [line.split()[0] for line in shown[1:6]] == ["limits", "valid", "next", "run", "result"]
    assert "it uses at most" in shown[1]
    assert shown[6].split()[0] == "Block" and len(shown) == 6 + 1 + len(fabricate.BLOCK_SIZES)


def test_the_margin_comes_before_the_validity(tmp_path, certified):
    hosts = [replace(host, no_headroom="nothing was measured at 4 KiB") for host in certified.hosts]
    words = [line.split()[0] for line in lines(replace(certified, hosts=hosts))]
    assert words == ["PASS:", "limits", *3 * ["headroom"], "valid", "next", "run", "result"]


def test_a_certificate_that_does_not_expire_is_renewed_when_the_storage_changes(certified):
    hosts = [replace(host, valid_until="") for host in certified.hosts]
    shown = lines(replace(certified, hosts=hosts))
    assert shown[2] == "  next     certify again when the storage changes"
    assert not any(line.startswith("  valid") for line in shown)


def test_hosts_that_the_limit_left_out_are_told_even_if_all_others_pass(certified):
    shown = lines(replace(certified, run={**certified.run, "left_out_hosts": ["db9"]}))
    assert "  expected 3 hosts; the limit left out db9" in shown


def test_a_run_that_does_not_pass_or_certify_tells_no_validity(tmp_path):
    uncertified = fabricate.run_directory(tmp_path / "a", {"db1": runs.few(), "db2": runs.fast()})
    failed = fabricate.run_directory(tmp_path / "b", {"db1": runs.slow(), "db2": runs.fast()})
    for directory in (uncertified, failed):
        shown = lines(build_model(directory))
        assert not any(line.startswith(("  valid", "  next ")) for line in shown)
    assert not any(line.startswith("  limits") for line in lines(build_model(failed)))
