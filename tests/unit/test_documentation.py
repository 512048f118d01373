# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pages for users: generated ones are current, links have a target, and the commands can be run."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
import write_reference
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import OF_COMMANDS

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / name
    for name in subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
]
DOCS = [page for page in PAGES if page.parent in (ROOT, ROOT / "docs")]
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"https?://(?!example\.com/mqops/logdisk/(docs|blob))")
"""The beginning of a URL that no test checks. Links to pages of this project are relative, so that they work in a
checkout."""
NOT_FOR_USERS = {"certify_preflight", "logdisk_sliced"}
"""Variables that only playbooks and AWX set."""


@cache
def prose(page: Path) -> str:
    return FENCED.sub("", page.read_text(encoding="utf-8"))


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and Galaxy make them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.+)$", prose(page), re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")
        found.add(
            next(name for name in (plain, *(f"{plain}-{number}" for number in range(1, 100))) if name not in found)
        )
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    broken = []
    for link in LINK.findall(prose(page)):
        if ELSEWHERE.match(link):
            continue
        path, dummy, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", write_reference.pages(), ids=lambda page: page.name)
def test_generated_pages_are_current(page):
    assert page.read_text(encoding="utf-8") == write_reference.pages()[page], "run: make reference"


def test_every_variable_of_a_playbook_is_described():
    text = "".join(page.read_text(encoding="utf-8") for page in DOCS)
    assert [name for name in OF_COMMANDS if name not in NOT_FOR_USERS and not re.search(rf"\b{name}\b", text)] == []


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_every_playbook_that_is_named_exists(page):
    text = page.read_text(encoding="utf-8")
    named = {
        *re.findall(r"\bplaybooks/(\w+)\.yml", text),
        *re.findall(r"ansible-playbook [^\n`]*\bmqops\.logdisk\.(\w+)", text),
    } - {"NAME"}
    assert [name for name in named if not (ROOT / f"playbooks/{name}.yml").exists()] == []


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_commands_name_only_what_exists(page):
    commands = "\n".join(found[0] for found in FENCED.finditer(page.read_text(encoding="utf-8"))).replace("\\\n", " ")
    variables = {
        *re.findall(r"-e '?\{?\"?([a-z]+_\w+)(?:=|\":)", commands),
        *re.findall(
            r"^\$ ansible-playbook .*?[{,] ?\"((?:gate|sweep|workspace|observe)_\w+)\":", commands, re.MULTILINE
        ),
    }
    described = (ROOT / "docs/variables.md").read_text(encoding="utf-8")
    unknown = {name for name in variables if name not in OF_COMMANDS and f"`{name}`" not in described}
    targets = set(re.findall(r"^\$ make (?!-)(\w[\w-]*)", commands, re.MULTILINE))
    made = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    options = set(re.findall(r"(--\w+)", " ".join(re.findall(r"^(?:\$ )?logdisk .*", commands, re.MULTILINE))))
    assert (unknown - {"logdisk_project_url"}, targets - made, options - options_of_the_tester()) == (
        set(),
        set(),
        set(),
    )


@cache
def options_of_the_tester() -> set[str]:
    done = subprocess.run([ROOT / "src/build/logdisk", "--help"], capture_output=True, text=True)
    return set(re.findall(r"--\w+", done.stdout + done.stderr))
