# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the next steps name exists: playbooks, options, pages and the values of options."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._english.findings import in_words
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import options
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes import advice
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.findings import QUALIFICATION, UNMEASURED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import KINDS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.words import words_of

ROOT = Path(__file__).parents[6]


def next_steps():
    tables = (advice.SYMPTOMS, advice.DISTURBANCES, advice.OTHERS)
    yield from ((f"{key} {number}", each.text) for number, table in enumerate(tables) for key, each in table.items())
    for kind in KINDS.values():
        yield from ((f"{kind.name} {key}", text) for key, text in kind.view.advice.items())
        yield from ((f"{kind.name} {key}", each.text) for key, each in kind.view.advice_on_metrics.items())


@pytest.mark.parametrize(("name", "text"), [pytest.param(*each, id=each[0]) for each in next_steps()])
def test_what_a_next_step_names_exists(name, text):
    for place in re.findall(r"(?:playbooks|docs)/[a-z_]+\.[a-z]+", text):
        assert (ROOT / place).is_file(), place
    for option in re.findall(r"\b(?:sweep|gate|workspace|tester|observe|cut|locks|certify)_[a-z_]+\b", text):
        assert option in options(), option


@pytest.mark.parametrize("stage", ["workspace", "tester", "sweep", "discovery"])
def test_an_error_that_says_what_to_do_has_no_other_next_step(stage):
    key = advice.key_of({"kind": UNMEASURED, "verdict": "error"}, stage)
    assert advice.of_key(key) == (advice.UNKNOWN, "")


@pytest.mark.parametrize(
    ("stage", "wanted", "unwanted"),
    [
        ("collect", "playbooks/collect.yml", "--limit"),
        # What ended without tables cannot be collected either.
        ("start", "playbooks/certify.yml with --limit", "collect"),
        ("ended", "playbooks/certify.yml with --limit", "collect"),
        ("sweep", "", "collect"),
    ],
)
def test_a_next_step_does_not_end_in_the_same_error(stage, wanted, unwanted):
    text = advice.of_key(advice.key_of({"kind": UNMEASURED, "verdict": "error"}, stage))[1]
    assert wanted in text and unwanted not in text


def test_a_quick_look_is_not_to_be_repeated_in_order_to_certify():
    quick = {"kind": QUALIFICATION, "verdict": "pass", "cause": advice.NEVER_CERTIFIES, "profile": "look"}
    short = {"kind": QUALIFICATION, "verdict": "pass", "cause": "too_short"}
    assert advice.of_key(advice.key_of(quick, ""))[1] == ""
    assert "leave out sweep_preset: look" in in_words(quick, words_of(""))
    assert "Measure again as the profile requires" in advice.of_key(advice.key_of(short, ""))[1]
