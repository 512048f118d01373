# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kinds of runs: everything that differs between them is in their folders. The folders depend on the rest, and the rest
does not depend on them."""

from __future__ import annotations

import ast
import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _kinds
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import (
    CHECK_MODE,
    DATA_KEYS,
    DEFAULT,
    KINDS,
    kind_named,
    kind_of,
    opened_for,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord, RecordError
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.source_imports import imports

FOLDER = Path(_kinds.__file__).parent
PLUGINS = fabricate.PROJECT / "plugins"
FACETS = ("criteria", "english", "opening", "memory", "view")
EVERY = (*KINDS.values(), CHECK_MODE)
PACKAGE = "ansible_collections.mqops.logdisk.plugins.plugin_utils"


@pytest.mark.parametrize(
    ("run", "did", "was_opened_for"),
    [
        ({}, DEFAULT, DEFAULT),
        ({"kind": "durability"}, KINDS["durability"], KINDS["durability"]),
        ({"kind": "durability", "controller": {"check_mode": True}}, CHECK_MODE, KINDS["durability"]),
        ({"kind": ["of a later version"]}, DEFAULT, DEFAULT),
        ({"kind": CHECK_MODE.name}, DEFAULT, DEFAULT),
    ],
)
def test_the_kind_of_a_run_is_what_it_was_opened_for_unless_it_was_a_preflight_of_that(run, did, was_opened_for):
    assert (kind_of(run), opened_for(run)) == (did, was_opened_for)


def test_a_record_that_only_says_why_there_is_nothing_tests_no_storage():
    assert kind_named("measurement").tests_storage
    assert not kind_named("error").tests_storage


def test_each_folder_is_a_kind_whose_facets_are_its_modules():
    assert {each.name for each in FOLDER.iterdir() if (each / "__init__.py").exists()} == {
        kind.folder for kind in EVERY
    }
    for kind in EVERY:
        assert kind.facets == tuple(name for name in FACETS if (FOLDER / kind.folder / f"{name}.py").exists()), (
            kind.name
        )
        for name in FACETS:
            module = f"{PACKAGE}._kinds.{kind.folder}.{name}" if name in kind.facets else f"{PACKAGE}._kinds.facets"
            assert type(getattr(kind, name)).__module__ == module


def test_a_record_holds_what_is_its_kinds_own_under_the_key_of_that_kind():
    for kind in filter(lambda kind: kind.data_key, EVERY):
        own = {"cuts": [], "losses": [], "tests": "", "claim": "", "cut_count": 1, "pairs": []}
        own["required"] = {"takeover_s": 45, "load_s": 300, "lock_count": 512, "steps": []}
        data = HostRecord("h", kind=kind.name, kind_data=own).as_dict()
        assert {key: data[key] for key in DATA_KEYS} == {**dict.fromkeys(DATA_KEYS), kind.data_key: own}
        assert HostRecord.from_dict({**data, **{key: 7 for key in DATA_KEYS if key != kind.data_key}}).kind_data == own
        with pytest.raises(RecordError, match=f"has no usable {kind.data_key}"):
            HostRecord.from_dict({**data, kind.data_key: 7})
    error = {**HostRecord("h", kind="error").as_dict(), "": own, **dict.fromkeys(DATA_KEYS, own)}
    assert HostRecord.from_dict(error).kind_data is None
    assert not {*DATA_KEYS} & {each.name for each in dataclasses.fields(HostRecord)}


def test_each_kind_that_tests_no_storage_says_why_it_is_not_merged():
    for kind in EVERY:
        assert bool(kind.why_untested) == bool(kind.why_left_out) == (not kind.tests_storage), kind.name


def test_asking_a_kind_imports_nothing_that_judges_or_shows():
    program = f"""
import sys
import {PACKAGE}._run.kinds
import {PACKAGE}._judge.fleet
print(*sorted({{name.split(".")[5] for name in sys.modules if name.startswith("{PACKAGE}.")}}))
"""
    imported = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": ":".join(sys.path)},
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    assert not {"_kinds", "_report", "_history", "_fleet"}.intersection(imported.split()), imported


OF_ONE_KIND = ("cut", "observe", "observed", "lock_test", "lock_plan", "claim")
"""Actions and steps that exist for only one kind of run import its folder."""

NAMED_ELSEWHERE = {
    "_judge/judged_records.py": "a key of profiles has the name of a kind",
    "_run/lock_steps.py": "the same",
    "_history/problems.py": "a playbook has the name of a kind",
    "_history/standing.py": "writes that were lost fail a volume under every profile",
    "_history/status_txt.py": "a playbook and a key of status.json have it",
    "_report/history/status_html.py": "the same key",
    "_run/findings.py": "a finding that explains a preflight",
    "_run/kinds.py": "it lists the kinds",
}
"""Places where the name of a kind is used with another meaning, or as a key in a file that others read."""


def test_nothing_else_knows_the_name_of_a_kind():
    names = {kind.name for kind in EVERY}
    found = {}
    for path in PLUGINS.rglob("*.py"):
        where = path.relative_to(PLUGINS).as_posix().removeprefix("plugin_utils/")
        if where.startswith(("_kinds/", *NAMED_ELSEWHERE)):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        } & names
        folders = {f"{PACKAGE}._kinds.{kind.folder}" for kind in EVERY if path.stem not in OF_ONE_KIND}
        named |= {module for module in imports(path) if module.startswith(tuple(folders))}
        if named:
            found[where] = named
    assert found == {}
