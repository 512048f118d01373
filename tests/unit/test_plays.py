# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No option of the command line and no setting of Ansible leaves out a part of a playbook."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PLAYBOOKS = sorted((ROOT / "playbooks").rglob("*.yml"))


def parsed(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def plays():
    return [(path, play) for path in PLAYBOOKS for play in parsed(path) if "hosts" in play]


@pytest.mark.parametrize(
    ("path", "play"), [pytest.param(*each, id=f"{each[0].stem}: {each[1]['name']}") for each in plays()]
)
def test_no_setting_changes_how_a_play_runs(path, play):
    assert (play["strategy"], play["any_errors_fatal"], play["gather_facts"]) == ("linear", False, False)


FIRST = [path for path in PLAYBOOKS if "hosts" in parsed(path)[0] and path.name != "judge.yml"]


@pytest.mark.parametrize("path", FIRST, ids=lambda path: path.stem)
def test_the_first_play_selects_its_hosts_by_the_lookup_that_refuses_parts(path):
    """Tags, a limit or a pattern that matches nothing would otherwise end with status 0."""
    assert "query('mqops.logdisk.hosts_under_test'," in parsed(path)[0]["hosts"]
