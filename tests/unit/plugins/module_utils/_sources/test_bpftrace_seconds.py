# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The output of bpftrace is split into seconds: every operation counts once, in the second in which it returned."""

from __future__ import annotations

import json
import re

from ansible_collections.mqops.logdisk.plugins.module_utils._sources import bpftrace_program
from ansible_collections.mqops.logdisk.plugins.module_utils._sources.bpftrace_seconds import IN_FLIGHT_MAX, Seconds

S = 1_000_000_000
BASE = 1000 * S


def printed(words):
    return json.dumps({"type": "printf", "data": f"{words}\n"})


def maps(**content):
    return [json.dumps({"type": "map", "data": {f"@{name}": value}}) for name, value in content.items()]


def texts_of(lines, duration_s=60, names=("log",), delay_ns=0):
    """Return the texts that are read from these lines, each of which is read as soon as it is printed."""
    seconds = Seconds(names, duration_s)
    texts = []
    for line in lines:
        found = re.search(r"second \d+ (\d+)", line)
        now_ns = int(found.group(1)) if found else BASE
        texts += seconds.feed(line, now_ns + delay_ns)
    return [json.loads(text) for text in texts + seconds.finish()]


def rows(texts, stream="log"):
    return {text["second"]["number"]: text["second"]["streams"][stream] for text in texts if "second" in text}


def second(number):
    return printed(f"second {number} {BASE + number * S}")


def end(at_s):
    return printed(f"end {BASE + int(at_s * S)}")


def test_a_slot_that_comes_round_again_gives_only_what_it_gained():
    lines = [printed(f"base {BASE}")]
    lines += [
        *maps(n0={"0,513": 3, "0,5000": 900, "0,5001": 12288}, x0={"0,0": 310, "0,1": bpftrace_program.LONGEST - 290}),
        second(1),
    ]
    for number in (2, 3, 4):
        lines += [*maps(n0={"0,513": 3, "0,5000": 900, "0,5001": 12288}), second(number)]
    lines += [
        *maps(
            n0={"0,513": 4, "0,600": 1, "0,5000": 2000, "0,5001": 20480},
            x0={"0,0": 800, "0,1": bpftrace_program.LONGEST - 300},
        ),
        second(5),
    ]
    found = rows(texts_of(lines))
    assert found[1] == {"buckets": {"513": 3}, "sum_ns": 900, "bytes": 12288, "errors": 0, "min_ns": 290, "max_ns": 310}
    assert found[2] == found[3] == found[4] == {"buckets": {}, "sum_ns": 0, "bytes": 0, "errors": 0}
    assert found[5] == {
        "buckets": {"513": 1, "600": 1},
        "sum_ns": 1100,
        "bytes": 8192,
        "errors": 0,
        "min_ns": 300,
        "max_ns": 800,
    }


def test_operations_of_a_second_that_is_not_over_wait_for_its_turn():
    """The kernel continues counting while the maps are read."""
    lines = [
        printed(f"base {BASE}"),
        *maps(n0={"0,513": 1, "1,513": 7}),
        second(1),
        *maps(n0={"0,513": 1, "1,513": 9}),
        second(2),
    ]
    found = rows(texts_of(lines))
    assert [found[number]["buckets"] for number in (1, 2)] == [{"513": 1}, {"513": 9}]


def test_the_maps_at_the_end_give_the_last_seconds():
    lines = [
        printed(f"base {BASE}"),
        *maps(n0={"0,513": 1}),
        second(1),
        end(2.5),
        *maps(n0={"0,513": 1, "1,513": 2, "2,513": 3}),
    ]
    texts = texts_of(lines)
    assert [row["buckets"] for row in rows(texts).values()] == [{"513": 1}, {"513": 2}, {"513": 3}]
    assert {"end": BASE + 2 * S + S // 2} in texts


def test_a_program_that_ends_in_time_has_whole_seconds_and_no_end():
    texts = texts_of(
        [printed(f"base {BASE}"), *maps(n0={"0,513": 1}), second(1), end(2.1), *maps(n0={"0,513": 1, "1,513": 2})],
        duration_s=2,
    )
    assert list(rows(texts)) == [1, 2]
    assert not any("end" in text for text in texts)


def test_a_reader_that_is_held_up_says_so():
    """After three seconds, the kernel uses the same slot again."""
    lines = [printed(f"base {BASE}"), *maps(n0={"0,513": 1}), second(1)]
    assert [
        text["second"]["late"]
        for delay_ns in (0, 3 * S + 1)
        for text in texts_of(lines, delay_ns=delay_ns)
        if "second" in text
    ] == [False, True]


def test_a_second_without_a_tick_is_read_with_the_next_one():
    found = rows(texts_of([printed(f"base {BASE}"), *maps(n0={"0,513": 1, "1,513": 2}), second(2)]))
    assert [row["buckets"] for row in found.values()] == [{"513": 1}, {"513": 2}]


def test_events_are_told_with_the_name_of_their_stream():
    lines = [
        printed("maximum 1 7 800 0"),
        printed("stall 0 9 10000001 4096"),
        json.dumps({"type": "lost_events", "data": {"events": 5}}),
    ]
    assert texts_of(lines, names=("log", "MQPUT")) == [
        {"maximum": {"stream": "MQPUT", "at_ns": 7, "latency_ns": 800, "bytes": 0}},
        {"stall": {"stream": "log", "at_ns": 9, "latency_ns": 10000001, "bytes": 4096}},
        {"lost": 5},
    ]


def test_the_oldest_operations_in_flight_are_told_at_the_end():
    flying = {f"{thread},0": BASE - thread for thread in range(IN_FLIGHT_MAX + 5)}
    texts = texts_of([printed(f"base {BASE}"), second(1), end(1.5), *maps(t0=flying)])
    assert [text["in_flight"]["log"] for text in texts if "in_flight" in text] == [
        sorted(flying.values())[:IN_FLIGHT_MAX]
    ]


def test_anything_else_that_bpftrace_prints_is_passed_over():
    assert (
        texts_of(
            [
                json.dumps({"type": "attached_probes", "data": {"probes": 13}}),
                "Lost 5 events",
                "",
                "[]",
                json.dumps({"type": "printf", "data": ""}),
            ]
        )
        == []
    )
