# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When the page of a run in progress is written, and that no problem with it stops the run."""

from __future__ import annotations

import os
import types
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.callback.report import CallbackModule
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import live_page
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import open_run, wait
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

SCHEDULE = {"db01": {"start_epoch_s": 10.0, "end_epoch_s": 20.0}}


@pytest.fixture
def directory(tmp_path):
    return RunDirectory.create(str(tmp_path), fabricate.run_data(["db01"]))


def step(module):
    plugin, warnings = module.Step.__new__(module.Step), []
    plugin._display = types.SimpleNamespace(warning=warnings.append)
    return plugin, warnings


@pytest.mark.parametrize("deleted", [False, True])
def test_the_page_is_written_when_a_run_is_opened_and_named_unless_it_is_deleted(monkeypatch, directory, deleted):
    monkeypatch.setattr(open_run, "vanishes", lambda path: deleted)
    page = os.path.join(directory.path, "index.html")
    said = step(open_run)[0]._page(directory, ["Measuring takes 8 min."])
    assert said == ([] if deleted else [f"logdisk: progress, later the report: {page}"])
    assert "Measuring takes 8 min." in Path(page).read_text()


def test_a_page_that_cannot_be_written_is_a_warning(monkeypatch, directory):
    os.mkdir(os.path.join(directory.path, "index.html"))
    plugin, warnings = step(open_run)
    assert plugin._page(directory, []) == [] and "cannot be written: [Errno" in warnings[0]
    plugin, warnings = step(wait)
    plugin._write_page(directory.path, {}, SCHEDULE, 30.0)
    monkeypatch.setattr(wait, "write_round", lambda *arguments: {}["bug"])
    plugin._write_page(directory.path, {}, SCHEDULE, 30.0)
    assert len(warnings) == 2 and warnings[1].endswith("cannot be written: 'bug'")


def test_an_interrupted_command_leaves_a_page_that_says_so(monkeypatch, directory):
    live_page.write_round(directory, {}, SCHEDULE, 30.0)
    callback, said = CallbackModule(), []
    callback._display = types.SimpleNamespace(display=lambda text, color=None: said.append(text))
    callback._paths = [directory.path]
    callback._interrupted()
    text = Path(directory.path, "index.html").read_text()
    assert "<strong>interrupted</strong>" in text and f"collect_run={directory.path}" in text
    assert "stop_run_id" in said[0]
