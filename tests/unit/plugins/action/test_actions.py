# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
import zlib

import pytest
from ansible_collections.mqops.logdisk.plugins.action import collect, record
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _remote


def packed(data):
    return base64.b64encode(zlib.compress(data)).decode()


def test_tables_arrive_as_they_were():
    assert collect.unpack_tables({"run.csv": packed(b"key,value\n"), "evil.sh": packed(b"x")}) == {"run.csv": b"key,value\n"}


def test_a_table_that_unpacks_to_too_much_is_refused_before_it_does(monkeypatch):
    monkeypatch.setattr(collect, "TABLE_MAX_BYTES", 1000)
    with pytest.raises(ValueError, match="larger"):
        collect.unpack("results.csv", packed(b"0" * 100000))


@pytest.mark.parametrize("tables", [None, [], "x", {"run.csv": "%%%"}, {"run.csv": base64.b64encode(b"no zlib").decode()}, {"run.csv": None}])
def test_what_is_no_table_is_refused(tables):
    with pytest.raises(ValueError):
        collect.unpack_tables(tables)


@pytest.mark.parametrize("value, expected", [({"a": 1}, {"a": 1}), (None, {}), ([1], {}), ("x", {})])
def test_only_a_dict_is_a_dict(value, expected):
    assert collect.as_dict(value) == expected


@pytest.mark.parametrize("failed, verdict, reason", [
    ({"logdisk": {"verdict": "unreachable", "reason": "no route"}}, "unreachable", "no route"),
    ({"unreachable": True, "msg": "timed out"}, "unreachable", "timed out"),
    ({"msg": "it broke"}, "error", "it broke"),
    ({"msg": "MODULE FAILURE", "module_stderr": "python3:\nnot found\x00"}, "error", "MODULE FAILURE: python3: not found"),
    ({"logdisk": "x", "msg": "m", "stderr": "E: nope"}, "error", "m: E: nope"),
    ({}, "error", "the task failed without a message"),
])
def test_every_failure_has_a_verdict_and_a_reason(failed, verdict, reason):
    assert record.verdict_and_reason(failed) == (verdict, reason)


def test_a_reason_is_one_short_line():
    assert len(_remote.failure_reason({"msg": "x\n" * 5000})) <= 1000
    assert _remote.one_line("a\r\n\tb\x1b[31m  c") == "a b [31m c"
