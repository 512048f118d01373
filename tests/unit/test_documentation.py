# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pages for users: generated ones are current, and what they name can be run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import write_reference
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import OF_COMMANDS

ROOT = Path(__file__).parents[2]
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOT_FOR_USERS = {"certify_preflight", "logdisk_sliced"}
"""What playbooks and AWX set, and no user."""


@pytest.mark.parametrize("page", write_reference.pages(), ids=lambda page: page.name)
def test_generated_pages_are_current(page):
    assert page.read_text(encoding="utf-8") == write_reference.pages()[page], "run: make reference"


def test_every_variable_of_a_playbook_is_described():
    text = "".join(page.read_text(encoding="utf-8") for page in DOCS)
    assert [name for name in OF_COMMANDS if name not in NOT_FOR_USERS and not re.search(rf"\b{name}\b", text)] == []


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_every_playbook_that_is_named_exists(page):
    text = page.read_text(encoding="utf-8")
    named = {*re.findall(r"\bplaybooks/(\w+)\.yml", text), *re.findall(r"ansible-playbook [^\n`]*\bmqops\.logdisk\.(\w+)", text)} - {"NAME"}
    assert [name for name in named if not (ROOT / f"playbooks/{name}.yml").exists()] == []
