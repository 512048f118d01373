# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The repository as an AWX project offers the playbooks of the collection, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_awx.project import ROOT, playbooks, project_files


def test_awx_lists_the_playbooks_and_nothing_else():
    assert playbooks(ROOT, project_files()) == {
        str(path.relative_to(ROOT)) for path in (ROOT / "playbooks").glob("*.yml")
    }


@pytest.mark.parametrize(
    ("path", "content", "listed"),
    [
        ("tests/site.yml", "- name: x\n  hosts: all\n", True),
        ("inventories/lab.yml", "all:\n  hosts: {}\n", True),
        ("site.yaml", "- import_playbook: x.yml\n", True),
        ("site.yml", "- ansible.builtin.import_playbook: x.yml\n", True),
        ("site.yml", "- name: x\n  ansible.builtin.import_playbook: x.yml\n", True),
        ("extensions/eda/rulebooks/x.yml", "- name: x\n  hosts: all\n", True),
        ("extensions/eda/rulebooks/x.yml", '- name: x\n  "hosts": all\n', False),
        ("roles/x/tasks/main.yml", "hosts: all\n", False),
        ("molecule/.default/converge.yml", "hosts: all\n", False),
        ("vars/hosts.yml", "my_hosts: all\n", False),
    ],
)
def test_the_rule_itself(tmp_path, path, content, listed):
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    assert (playbooks(tmp_path, [Path(path)]) == {path}) is listed
