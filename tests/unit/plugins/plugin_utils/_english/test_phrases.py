# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Templates of sentences: which values are shown, in which form, and what is left out."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._english.phrases import phrase, plural


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [
        ("{a} and {b:duration}", {"a": "x", "b": 1_500_000}, "x and 1.5 ms"),
        ("{share:ratio,2}, {shares:list}", {"share": 0.12345, "shares": [1, "b"]}, "12 %, 1, b"),
        ("{offset:+.1f}", {"offset": 2.0}, "+2.0"),
        ("after[ {took:seconds}]", {"took": 0}, "after 0 ns"),
        ("after[ {took:seconds}]", {"took": None}, "after"),
        ("[{path}|the directory] on [{host}|{first}]", {"path": "", "first": "db01"}, "the directory on db01"),
        ("[{a} of {b} ]writes", {"a": 1}, "writes"),
    ],
    ids=["forms", "digits", "a form of Python", "zero is known", "unknown", "alternatives", "one of two unknown"],
)
def test_a_template_is_filled(template, values, text):
    assert phrase(template, values) == text


def test_a_value_outside_brackets_must_exist():
    with pytest.raises(KeyError):
        phrase("{a}", {})


def test_text_of_a_host_is_no_template():
    assert phrase("[{a}]{b}", {"a": "{b}", "b": "[{a}]"}) == "{b}[{a}]"


@pytest.mark.parametrize(("count", "text"), [(0, "0 hosts"), (1, "1 host"), (1200, "1,200 hosts")])
def test_a_noun_agrees_with_its_count(count, text):
    assert plural(count, "host") == text
