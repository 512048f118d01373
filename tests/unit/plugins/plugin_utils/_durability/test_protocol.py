# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lines of the tester are read from bytes that a host sends. An invalid line never increases the number of
acknowledged writes."""

from __future__ import annotations

import random

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.protocol import (
    MOST_FOREIGN_LINES,
    ProtocolError,
    Reader,
    acknowledged_text,
    sight_of,
)

ASKED = {"run_id": "R1", "seed": 7, "bsize": 4096, "file_size": 1048576, "files": 4, "qm": 2}
READY = b"ready R1 0f3c-aa seed=7 bsize=4096 file_size=1048576 files=4 qm=2 prefix=logdisk layout=2\n"
MS = 1_000_000


def feed(reader, stream, now_ns):
    for line in stream.decode("utf-8", "replace").splitlines():
        reader.read(line, now_ns)


def read(*parts):
    reader = Reader(ASKED)
    for number, part in enumerate(parts):
        feed(reader, part, (number + 1) * MS)
    return reader.seen


def test_the_greatest_count_of_each_queue_manager_counts():
    seen = read(READY + b"tick 5\nack 1 10\nack 2 3\n", b"ack 2 9\nack 1 8\ntick 105\n", b"end EIO\n")
    assert (seen.counts, seen.acknowledged_writes, seen.end) == ({1: 10, 2: 9}, 19, "EIO")
    assert acknowledged_text(seen) == READY.decode() + "tick 5\ntick 105\nack 1 10\nack 2 9\nend EIO\n"


def test_what_a_login_prints_is_passed_over():
    assert read(b"Welcome\nack 1 99\n" + READY + b"ack 1 2\n").counts == {1: 2}


def test_nothing_counts_after_the_end():
    assert read(READY + b"ack 1 2\nend signal\nack 1 9\n").counts == {1: 2}


@pytest.mark.parametrize(
    ("stream", "problem"),
    [
        (b"\n" * (MOST_FOREIGN_LINES + 1), "lines that no tester sends"),
        (READY + READY * (MOST_FOREIGN_LINES + 1), "lines that no tester sends"),
        (READY + b"ack 3 1\n", "queue manager 3"),
        (READY + b"ack 1 999999999999999\n", "acknowledges"),
        (READY.replace(b"seed=7", b"seed=8"), "seed 8, but it was told 7"),
        (READY.replace(b"R1", b"R2"), "run_id R2"),
        (READY.replace(b"files=4", b"files=-4"), "not a line of this tester"),
        (b"ready \x1b[2J\n", "\\\\x1b"),
    ],
)
def test_what_no_tester_sends_is_an_error(stream, problem):
    with pytest.raises(ProtocolError, match=problem):
        read(stream)


def test_garbage_never_acknowledges():
    chance = random.Random(16)
    for dummy in range(300):
        line = bytearray(b"ack 1 12345\n")
        line[chance.randrange(len(line) - 1)] = chance.choice(b"-+. \x00\xffae\n")
        try:
            counts = read(READY + bytes(line)).counts
        except ProtocolError:
            continue
        assert all(count <= 12345 for count in counts.values())


def test_what_a_witness_can_have_missed():
    # 10 ticks, the last of which is 8 ms late, with 200 writes per tick.
    reader = Reader(ASKED)
    feed(reader, READY, 0 + MS)
    for number in range(10):
        late = 8 * MS if number == 9 else 0
        feed(reader, b"tick %d\nack 1 %d\n" % (100 * MS + number * MS, number * 200), number * MS + 2 * MS + late)
    sight = sight_of(reader.seen, 0, 0)
    assert (sight.delay_p50_ns, sight.delay_p99_ns, sight.gap_max_ns, sight.silence_ns) == (0, 8 * MS, 9 * MS, 0)
    assert sight.visible_from_ns == 10 * MS
    assert sight.visible_from_writes == 1000 + 2  # 1,800 writes in 18 ms


@pytest.mark.parametrize(
    ("power_end_ms", "unseen_writes", "end", "silence_ms", "visible_ms"),
    [
        (0, 0, b"", 0, 2),  # a tick, and the longest gap
        (5, 0, b"", 0, 2),  # the last line shows that the host had power for longer
        (110, 0, b"", 99, 100),  # the command ended 99 ms after the last line
        (110, 0, b"end EIO\n", 0, 2),  # the tester had stopped writing
        (11, 5_000, b"", 0, 51),  # at 100 writes per ms
        (110, 5_000, b"", 99, 100),
    ],
)
def test_what_could_not_be_seen_is_as_long_as_the_silence_and_the_writes_before_the_power_was_off(
    power_end_ms, unseen_writes, end, silence_ms, visible_ms
):
    reader = Reader(ASKED)
    for number in range(11):
        feed(
            reader,
            (READY if number == 0 else b"") + b"tick %d\nack 1 %d\n" % (number * MS, number * 100),
            (number + 1) * MS,
        )
    feed(reader, end, 11 * MS)
    sight = sight_of(reader.seen, power_end_ms * MS, unseen_writes)
    assert (sight.silence_ns, sight.visible_from_ns) == (silence_ms * MS, visible_ms * MS)
    assert sight.visible_from_writes == visible_ms * 100 + 2 >= unseen_writes + 2


def test_without_ticks_or_writes_nothing_is_known_of_what_was_missed():
    for stream in (b"ack 1 2\n", b"tick 5\n"):
        assert set(vars(sight_of(read(READY + stream), 0, 0)).values()) == {None}
