# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests how an observer's samples are read from bytes that a host sends: impossible samples are left out and
counted."""

from __future__ import annotations

import json
import random

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe import samples
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.samples import LONGEST_LINE, Sample, read_samples


def line(**keys):
    return json.dumps({"epoch_s": 1.5, "monotonic_ns": 7, "text": "x", **keys}).encode() + b"\n"


END = b'{"end": "finished", "reason": "the duration is over"}\n'


def test_samples_and_the_end():
    found = read_samples(line() + line(epoch_s=2, monotonic_ns=8, text="y\nz") + END)
    assert found.samples == (Sample(1.5, 7, "x"), Sample(2.0, 8, "y\nz"))
    assert (found.end, found.reason, found.problems) == ("finished", "the duration is over", ())


def test_a_last_line_without_an_end_is_left_for_the_next_time():
    whole = line() + line(monotonic_ns=8) + END
    for length in range(len(whole)):
        found = read_samples(whole[:length])
        assert len(found.samples) == whole[:length].count(b"\n")
        assert (found.end, found.problems) == ("", ())


@pytest.mark.parametrize(
    "bad",
    [
        b"\n",
        b"nothing\n",
        b"[]\n",
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
        b'{"epoch_s": ' + b"9" * 5000 + b', "monotonic_ns": 7, "text": "x"}\n',
        line(epoch_s=float("nan")),
        line(epoch_s=-1),
        line(epoch_s=1e12),
        line(epoch_s=True),
        line(monotonic_ns=-1),
        line(monotonic_ns=1 << 64),
        line(monotonic_ns=1.5),
        line(text=None),
        line(monotonic_ns=6),
        line(text="x" * LONGEST_LINE),
        b'{"end": "never"}\n',
        b'{"end": {}}\n',
    ],
)
def test_a_line_that_cannot_be_is_left_out_and_counted(bad):
    found = read_samples(line() + bad + line(monotonic_ns=8))
    assert [sample.monotonic_ns for sample in found.samples] == [7, 8]
    assert found.problems == ("1 of 3 lines of the observer could not be read and are left out.",)
    assert found.end == ""


def test_a_reason_is_short_and_printable():
    found = read_samples(json.dumps({"end": "failed", "reason": "\x1b[2J" + "x" * 5000}).encode() + b"\n")
    assert found.end == "failed"
    assert found.reason.startswith("\\x1b[2Jx") and len(found.reason) < 1100
    assert read_samples(b'{"end": "failed", "reason": null}\n').reason == ""


def test_any_bytes_are_read():
    source = random.Random(3)
    whole = line() * 3 + END
    for dummy in range(300):
        broken = bytearray(whole)
        for dummy in range(source.randrange(1, 9)):
            broken[source.randrange(len(broken))] = source.randrange(256)
        read_samples(bytes(broken))


def test_samples_without_a_file_have_the_same_limits(monkeypatch):
    """A discovery receives samples in the answer of a host, not in a file."""
    monkeypatch.setattr(samples, "LONGEST_LINE", 3)
    monkeypatch.setattr(samples, "MOST_BYTES", 5)
    sent = [
        {"epoch_s": 1, "monotonic_ns": number, "text": text} for number, text in enumerate(("abc", "long", "ab", "c"))
    ]
    assert [each.text for each in samples.samples_of(sent)] == ["abc", "ab"]
