# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The output of amqsrua about the log at three levels of MQ."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.interval import Options
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.samples import Sample
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.sources.amqsrua import read

FIXTURES = Path(__file__).parents[4] / "fixtures/observe"
QM1 = Options("QM1")
LATER_EPOCH_S = 1794500000.0


def observe(*texts):
    return read([Sample(LATER_EPOCH_S, number, text) for number, text in enumerate(texts)], QM1)


def fixture(name):
    return (FIXTURES / name).read_text(encoding="utf-8").split("\n\n")


def figures(observation):
    return [
        (each.operations, each.bytes, each.latency_mean_ns, each.write_size_mean_bytes)
        for each in observation.intervals
    ]


def publication(
    *elements, interval="10.000 seconds", physical="4096 410/sec", latency="280 uSec", size="4096", time="08000000"
):
    lines = [f"Publication received PutDate:20261112 PutTime:{time} Interval:{interval}"]
    lines += [
        f"Log - physical bytes written {physical}",
        f"Log - write latency {latency}",
        f"Log - write size {size}",
        *elements,
    ]
    return "\n".join(lines) + "\n\n"


def test_an_old_level():
    found = observe(*fixture("amqsrua-9.0.5.txt"))
    assert figures(found) == [
        (16270, 598876160, 280e3, 36809),
        (16291, 601202688, 282e3, 36904),
        (16252, 590135296, 301e3, 36311),
        (0, 0, 301e3, 36311),
        (16495, 610336768, 288e3, 37002),
    ]
    assert [each.elapsed_s for each in found.intervals] == [10, 10, 10.01, 10, 10]
    assert [round(each.start_epoch_s - 1794488672.35, 2) for each in found.intervals] == [0, 10, 20, 30.01, 40.01]
    assert (found.source, found.problems, found.ending, found.maxima) == ("amqsrua", (), "", ())
    assert found.facts["logical_bytes_per_s"] == pytest.approx((532921878 + 535100214 + 524880091 + 541233090) / 50.01)


def test_a_new_level_knows_the_slowest_write_and_when_it_was():
    found = observe(*fixture("amqsrua-9.4.txt"))
    assert [each.latency_max_ns for each in found.intervals] == [None, None, 187002000]
    (maximum,) = found.maxima
    assert (maximum.previous_ns, maximum.new_ns) == (20411000, 187002000)
    assert maximum.epoch_s == found.facts["slowest_write_at_epoch_s"] == 1794470414.25
    assert found.intervals[2].start_epoch_s < maximum.epoch_s < found.intervals[2].start_epoch_s + 10.001


@pytest.mark.parametrize(
    ("text", "wanted_ns"),
    [
        ("280 uSec", 280e3),
        ("280 \u00b5s", 280e3),
        ("0.000280 seconds", 280e3),
        ("1.234 s", 1234e6),
        ("0.280 ms", 280e3),
        ("280", None),
        ("0 furlongs", None),
        ("-280 uSec", None),
        ("9" * 40 + " uSec", None),
        ("uSec", None),
    ],
)
def test_numbers_and_units_of_a_latency(text, wanted_ns):
    found = observe(publication(latency=text), publication())
    assert [each.latency_mean_ns for each in found.intervals][-2:-1] == (
        [] if wanted_ns is None else [pytest.approx(wanted_ns)]
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("598876160 59887616/sec", 598876160),
        ("0 ", 0),
        ("12", 12),
        ("584840KB 59887616/sec", 598876160),
        ("571MB", 598736896),
        ("12XB", None),
        ("many", None),
    ],
)
def test_numbers_and_units_of_bytes(text, wanted):
    found = observe(publication(physical=text), publication())
    assert [each.bytes for each in found.intervals] == ([4096] if wanted is None else [wanted, 4096])
    assert len(found.problems) == (wanted is None)


@pytest.mark.parametrize(
    ("text", "wanted_s"),
    [
        ("10.000 seconds", 10),
        ("1 minutes,4.006 seconds", 64.006),
        ("1 days,2 hours,3 minutes,4.005 seconds", 93784.005),
        ("0.004 seconds", 0.004),
        ("0.000 seconds", 10),
        ("", 10),
    ],
)
def test_the_length_of_an_interval(text, wanted_s):
    assert observe(publication(), publication(interval=text, physical="4096")).intervals[1].elapsed_s == pytest.approx(
        wanted_s
    )


def test_a_first_publication_of_an_earlier_time_is_left_out():
    found = observe(publication(interval="3 hours,0 minutes,1.000 seconds", physical="999999999"), publication())
    assert [each.bytes for each in found.intervals] == [4096]
    assert found.problems == ()
    alone = observe(publication(interval="3 hours,0 minutes,1.000 seconds", physical="999999999"))
    assert alone.intervals == ()
    assert alone.problems == (
        "amqsrua printed one publication, which covers a time before the observation: observe for longer.",
    )


@pytest.mark.parametrize(
    "element",
    [
        "Log - phase of the moon 12 uSec",
        "Log - bytes required for media recovery 12MB",
        "Log file system - free space 83.66%",
        "Log - disk written log sequence number <0:0:1:52914>",
        "Parameter(99) Value(7) not recognised",
        "QM1.QUEUE                                        MQPUT count 7",
        "inst-b                                          Log - write latency 999 uSec",
        "\x1b[2J",
        "Log - ",
        "",
    ],
)
def test_an_element_that_is_not_known_is_passed_over(element):
    assert observe(publication(element), publication(element)) == observe(publication(""), publication(""))


def test_an_element_by_its_number():
    """If the program is older than the queue manager, this is how it prints elements that it does not know."""
    found = observe(
        publication("Parameter(16) Value(20411) not recognised", "Parameter(17) Value(1794470000000000) not recognised")
    )
    assert found.facts["slowest_write_since_restart_ns"] == 20411000
    assert found.facts["slowest_write_at_epoch_s"] == 1794470000


def test_a_publication_without_its_figures_is_left_out():
    found = observe(
        publication(),
        "Publication received PutDate:20261112 PutTime:08001000 Interval:10.000 seconds\nLog - write size 4096\n\n",
        publication(),
    )
    assert len(found.intervals) == 2
    assert found.problems == ("1 of 3 publications were not complete and are left out.",)


@pytest.mark.parametrize(
    "text", ["", "AMQ8146E: IBM MQ queue manager not available.\n", "Log - write latency 280 uSec\n", "\x00"]
)
def test_nothing_is_said_as_such(text):
    found = observe(text)
    assert found.intervals == ()
    assert found.problems == (
        "amqsrua printed no publication of the log: check its messages, and its authority to "
        "subscribe (docs/observe.md).",
    )


@pytest.mark.parametrize("time", ["99999999", "08000000"])
def test_a_time_that_cannot_be_is_that_of_its_arrival(time):
    found = observe(publication(time=time).replace("20261112", "20991112"))
    assert found.intervals[0].start_epoch_s == LATER_EPOCH_S - 10


def test_broken_text_never_fails():
    source = random.Random(5)
    whole = fixture("amqsrua-9.4.txt")[0]
    for dummy in range(300):
        letters = list(whole[: source.randrange(len(whole))])
        for dummy in range(min(len(letters), 30)):
            letters[source.randrange(len(letters))] = chr(
                source.choice([0, 10, 32, 44, 46, 48, 57, 65, 0x663, 0x1F600])
            )
        observe("".join(letters))
