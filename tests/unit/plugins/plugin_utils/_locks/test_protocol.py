# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lines that a tester prints in a test of locks. They are untrusted."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.protocol import (
    Answer,
    ProtocolError,
    Ready,
    read_answer,
    read_ready,
)


def test_the_first_line():
    line = "ready 20260101T000000Z-abcdef 0a1b-2c version=1.4.0-rc1 uid=1001 gid=100 age_ns=5"
    assert read_ready(line) == Ready("20260101T000000Z-abcdef", "0a1b-2c", "1.4.0-rc1", 1001, 100, 5)
    assert read_ready("Last login: Tue") is None
    assert read_ready(line + " x") is None


def test_answers():
    held = read_answer("7 lock held tries=3 after_ns=1200", 5)
    assert held == Answer(7, "lock", "held", {"tries": "3", "after_ns": "1200"}, 5)
    assert (held.whole("tries"), held.text("errno")) == (3, "")
    assert read_answer("1 many done held=5 errno=-", 5).text("errno") == "-"
    refused = read_answer("12 error usage unknown verb \x1b[31m", 0)
    assert (refused.number, refused.verb, refused.outcome) == (12, "error", "failed")
    assert refused.text("errno").startswith("usage: unknown verb") and "\x1b" not in refused.text("errno")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "lock held",
        "65 lock held",
        "0 lock held",
        "1 lock maybe",
        "1 lock held tries",
        "1 lock held tries=3 <b>=4",
        "1 lock held tries=" + "9" * 2000,
    ],
)
def test_what_is_not_an_answer(line):
    with pytest.raises(ProtocolError, match="not an answer"):
        read_answer(line, 0)


@pytest.mark.parametrize("line", ["1 add done last=x", "1 add done", "1 add done last=-1"])
def test_a_number_that_is_none(line):
    with pytest.raises(ProtocolError, match="no number last"):
        read_answer(line, 0).whole("last")
