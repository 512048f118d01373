# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The repository as an AWX project offers the playbooks of the collection, and nothing else."""

from __future__ import annotations

from fake_awx.project import ROOT, playbooks, project_files


def test_awx_lists_the_playbooks_and_nothing_else():
    assert playbooks(ROOT, project_files()) == {
        str(path.relative_to(ROOT)) for path in (ROOT / "playbooks").glob("*.yml")
    }
