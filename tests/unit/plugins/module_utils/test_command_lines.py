# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import shlex

import pytest
from ansible import context
from ansible.parsing.dataloader import DataLoader
from ansible.utils.vars import load_extra_vars
from ansible_collections.mqops.logdisk.plugins.module_utils._command_lines import command, extra_variable

VALUES = [
    "run-1",
    "/reports/2026-11-27/run1",
    "db07:/var/mqm/log",
    "",
    "/my reports/run 1",
    "it's",
    'say "x"',
    "a=b c=d",
    "back\\slash\\n",
    "$HOME `id` ; rm -rf /",
    "{{ 7 * 7 }}",
    "{% if x %}",
    "{a: b}",
    "[1]",
    "@file",
    "#x",
    "yes",
    "1e3",
    "Gr\u00f6\u00dfe",
    "\u202e\u0007",
    "\U0001f4be",
    "tab\tline\nend",
]


@pytest.mark.parametrize("value", VALUES)
def test_a_value_arrives_as_it_is(value, monkeypatch):
    """A shell splits the command, and Ansible reads the option."""
    option, text = shlex.split(extra_variable("collect_run", value))
    monkeypatch.setattr(context, "CLIARGS", {"extra_vars": (text,)})
    monkeypatch.setattr(load_extra_vars, "extra_vars", None, raising=False)
    assert option == "-e"
    assert load_extra_vars(DataLoader())["collect_run"] == value


@pytest.mark.parametrize("value", VALUES)
def test_each_word_is_one_word(value):
    assert shlex.split(command(["program", value, "--end"])) == ["program", value, "--end"]
