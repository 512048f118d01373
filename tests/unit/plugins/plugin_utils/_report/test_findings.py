# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reports depend only on findings. Neither the wording of sentences nor the messages of a host affect the advice, the
grouping or a verdict."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from contextlib import contextmanager
from xml.etree import ElementTree

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.outcome import Place
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import note
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes import advice
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes.groups import causes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.formats import evidence_md
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import build_model
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.findings import CLOCK, SOURCE_MESSAGE, finding
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps.gate import failing_hosts
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs

MAKERS_OF_TEXT = ("in_words", "figure_in_words", "sentence_of", "why_text", "disturbances_text", "and_others")
ENGLISH = "ansible_collections.mqops.logdisk.plugins.plugin_utils._english"
PLUGINS = "ansible_collections.mqops.logdisk.plugins."


def disturbed(base):
    """Make a run with causes that could depend on the wording of sentences: disturbed hosts, a write that hangs or
    fails, too few writes for a figure."""
    slow = fabricate.sweep_rows((4096,), seconds=20, latency_ns=3_000_000)
    hanging = fabricate.sweep_rows((4096,), seconds=20, latency_max_ns=12 * 10**9, latency_max_in_flight=1)
    broken = {"exit_status": 3, "exit_reason": "io_error", "error_call": "pwritev2", "error_errno_name": "EIO"}
    files = {
        "stolen": fabricate.tables(slow, cpu_steal_share="0.2"),
        "shared": fabricate.tables(slow, foreign_io_share="0.4"),
        "hung": fabricate.tables(hanging, exit_status=4, exit_reason="deadline", in_flight_age_ns=12 * 10**9),
        "broken": fabricate.tables(slow, **broken),
        "few": fabricate.tables(fabricate.sweep_rows((4096,), seconds=20, latency_p99_ns=None)),
        "brief": fabricate.tables(fabricate.sweep_rows((4096,), seconds=10)),
        "ended": fabricate.tables(slow, exit_status=4, exit_reason="interrupted"),
    }
    limits = [{"metric": "latency_mean", "max": "1 ms"}, {"metric": "latency_p99", "max": "100 ms"}]
    profile = {"name": "mine", "qualifies": {"min_duration_s": 20}, "limits": limits}
    directory = fabricate.run_directory(base, files, profile=profile, expected=[*files, "never"])
    note(
        directory,
        "brief",
        "log",
        [finding(CLOCK, None, offset_s=1.5, error_s=0.1), finding(SOURCE_MESSAGE, None, text="the tester warned")],
    )
    directory.records.note_leftovers("few", "log", ["/mnt/x"])
    return directory


MAKERS = {**runs.KINDS, "disturbed": disturbed}


def loud(make):
    """Wrap a function that makes text, so that every word differs from before."""

    def shout(*args, **keys):
        made = make(*args, **keys)
        return [text.upper() for text in made] if isinstance(made, list) else made.upper()

    return shout


@contextmanager
def reworded(monkeypatch):
    """Replace every function that turns findings into text, wherever it was imported."""
    makers = {}
    for name in [name for name in sys.modules if name.startswith(f"{ENGLISH}.")]:
        for key, value in vars(sys.modules[name]).items():
            if getattr(value, "__module__", "") == name and key in (
                "in_words",
                "figure_in_words",
                "sentence_of",
                "why_text",
                "disturbances_text",
                "and_others",
            ):
                makers[value] = loud(value)
    assert len(makers) == len(MAKERS_OF_TEXT)
    with monkeypatch.context() as patch:
        for module in [module for name, module in sys.modules.items() if name.startswith(PLUGINS)]:
            for key, value in list(vars(module).items()):
                if callable(value) and getattr(value, "__hash__", None) and value in makers:
                    patch.setattr(module, key, makers[value])
        yield


def said(record, say):
    """Return a record whose sentences are worded differently, including the host's text in them."""
    error = record.error and {**record.error, "reason": say(record.error["reason"])}
    judgements = [{**judgement, "reason": say(judgement["reason"])} for judgement in record.judgements]
    lists = {key: [say(text) for text in getattr(record, key)] for key in ("reasons", "notes", "disturbances")}
    return dataclasses.replace(
        record, qualification=say(record.qualification), error=error, judgements=judgements, **lists
    )


def decided(make, base, say=str):
    """Create, judge and render a run whose records are worded in a certain way. Return all decisions about it, and the
    reasons."""
    base.mkdir()
    directory = make(base)
    for folder in directory.records.folders():
        record = directory.records.read(folder)
        directory.records.amend(record.host, record.volume, lambda record: said(record, say))
    judge_run(directory, GATE)
    render(directory)
    model = build_model(directory)
    with open(os.path.join(directory.path, "verdict.json"), encoding="utf-8") as file:
        verdict = json.load(file)
    cases = [
        (suite.get("name"), case.get("name"), [(each.tag, each.get("type")) for each in case])
        for suite in ElementTree.parse(os.path.join(directory.path, "junit.xml")).getroot()
        for case in suite.iter("testcase")
    ]
    found = causes(model)
    made = {
        "hosts": [(host["host"], host["verdict"], host["certified"]) for host in verdict["hosts"]],
        "gate": (
            verdict["verdict"],
            verdict["gate_failed"],
            verdict["problems"],
            sorted(failing_hosts(verdict, Place(directory.path))),
        ),
        "notes": [(host.host, [found["kind"] for found in host.findings], len(host.notes)) for host in model.hosts],
        "causes": [
            (
                cause.kind,
                cause.verdict,
                cause.hosts,
                cause.consequence,
                cause.next_step,
                cause.limit and cause.limit["limit"],
            )
            for cause in found
        ],
        "waived": [(evidence_md._waiver_of(model, cause), evidence_md._may_be_waived(model, cause)) for cause in found],
        "junit": [(suite, name, [tag for tag in tags if tag[0] != "system-out"]) for suite, name, tags in cases],
        "decisive": [
            (host.host, host.capacity.criterion, host.capacity.metric) for host in model.hosts if host.capacity
        ],
    }
    return made, verdict["reasons"]


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_rewording_all_english_of_findings_notes_and_reasons_changes_no_advice_no_grouping_and_no_verdict(
    name, tmp_path, monkeypatch
):
    before, dummy = decided(MAKERS[name], tmp_path / "before")
    with reworded(monkeypatch):
        after, reasons = decided(MAKERS[name], tmp_path / "after", str.upper)
    assert after == before
    if name == "disturbed":
        assert any("HAD NOT RETURNED AFTER 12 S" in reason for reason in reasons) and not any(
            "had not returned" in reason for reason in reasons
        )


@pytest.mark.parametrize(
    "file",
    [
        "/mnt/a write had not returned/log",
        "/mnt/the tester ended before it had measured everything/log",
        "/mnt/db07: left behind",
    ],
)
def test_a_failed_write_is_advised_as_one_whatever_its_path_says(tmp_path, file):
    run_keys = {
        "error_call": "pwritev2",
        "error_errno_name": "EIO",
        "error_file": file,
        "error_offset_bytes": 4096,
        "error_message": "the host was disturbed",
    }
    files = fabricate.tables(
        fabricate.sweep_rows((4096,), seconds=20), exit_status=3, exit_reason="io_error", **run_keys
    )
    directory = fabricate.run_directory(
        tmp_path, {"db07": files}, profile={"name": "mine", "limits": [{"metric": "latency_p50", "max": "1 s"}]}
    )
    (cause,) = [cause for cause in causes(build_model(directory)) if cause.verdict == "fail"]
    assert (cause.kind, cause.next_step) == ("measurement", advice.OTHERS["io_error"].text)
    assert file in cause.statement


def test_a_host_that_fails_and_was_interrupted_has_each_reason_under_one_verdict(tmp_path):
    rows = fabricate.sweep_rows((4096,), seconds=20, latency_ns=15_000_000)
    files = fabricate.tables(rows, exit_status=4, exit_reason="interrupted")
    directory = fabricate.run_directory(
        tmp_path, {"db07": files}, profile={"name": "mine", "limits": [{"metric": "latency_mean", "max": "1 ms"}]}
    )
    (host,) = build_model(directory).hosts
    assert [(finding["kind"], finding["verdict"]) for finding in host.findings] == [
        ("interrupted", "inconclusive"),
        ("limit", "fail"),
        ("limit", "fail"),
    ]
    assert {cause.verdict for cause in causes(build_model(directory)) if cause.kind == "measurement"} == {
        "inconclusive"
    }
