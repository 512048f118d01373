# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Commands are shown in the form that the reader used to start the current one."""

from __future__ import annotations

import os
import shutil

import pytest
from ansible import context
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.follow_up import playbooks_in
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import finish, summary
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.environment import as_started
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

NEXT = "Next: certify again: ansible-playbook playbooks/certify.yml --limit db07"


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Start a command in a directory that has a copy of the playbooks and a playbook that imports one of them."""
    shutil.copytree(fabricate.PROJECT / "playbooks", tmp_path / "playbooks")
    (tmp_path / "site.yml").write_text("- import_playbook: mqops.logdisk.certify\n")
    monkeypatch.chdir(tmp_path)

    def start(*arguments):
        monkeypatch.setattr(context, "CLIARGS", {"args": arguments})
        return playbooks_in()

    return start


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("playbooks/certify.yml",), "playbooks/certify.yml"),
        (("./playbooks/status.yml",), "./playbooks/certify.yml"),
        (("mqops.logdisk.status",), "mqops.logdisk.certify"),
        (("site.yml",), "mqops.logdisk.certify"),
        (("site.yml", "playbooks/certify.yml"), "playbooks/certify.yml"),
    ],
)
def test_a_playbook_is_named_as_the_command_named_its_own(started, arguments, shown):
    assert as_started(NEXT, started(*arguments)) == f"Next: certify again: ansible-playbook {shown} --limit db07"


def test_from_elsewhere_the_path_is_complete(started, tmp_path):
    assert as_started(NEXT, started(str(tmp_path / "playbooks/certify.yml"))).split()[4] == str(
        tmp_path / "playbooks/certify.yml"
    )
    os.rename(tmp_path / "playbooks", tmp_path / "my playbooks")
    assert started(str(tmp_path / "my playbooks/certify.yml")) == ""


@pytest.mark.parametrize("unknown", [None, 7, "<script>", "$(reboot)"])
def test_without_a_command_the_text_stays(unknown):
    assert as_started(NEXT, unknown) == NEXT


def test_other_files_keep_their_names():
    text = "look at /etc/playbooks/status.yml, playbooks/mine.yml and my-playbooks/status.yml"
    assert as_started(text, "") == text


def test_a_report_names_playbooks_as_its_run_was_started(tmp_path):
    measured = {"db01": fabricate.tables(fabricate.sweep_rows(fabricate.BLOCK_SIZES))}
    for form, shown in (("", "mqops.logdisk.collect"), ("playbooks", "playbooks/collect.yml")):
        directory = fabricate.run_directory(
            tmp_path / (form or "name"), measured, expected=["db01", "lost"], playbooks_in=form
        )
        finish(directory)
        assert f"{shown} fetches what it measured" in " ".join(summary(directory).split())
