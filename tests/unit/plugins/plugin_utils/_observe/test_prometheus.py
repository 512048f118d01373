# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The metrics of the log at three levels of MQ, under all names that exporters use for them."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.interval import LOG, Maximum, Options
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.samples import Sample
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.sources.prometheus import read
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._observe.test_amqsrua import figures

FIXTURES = Path(__file__).parents[4] / "fixtures/observe"
QM1 = Options("QM1")
START_EPOCH_S = 1794470399.0  # a second before the first publication of the fixtures


def samples(*texts, every_s=10):
    return [
        Sample(START_EPOCH_S + every_s * number, 10**12 + every_s * 10**9 * number, text)
        for number, text in enumerate(texts)
    ]


def after_another(text):
    """Return two answers: ``text``, and before it one that differs in the bytes written, so it is not repeated."""
    return samples(re.sub(r"(physical_written_bytes(?:\{.*\})?) [0-9]+", r"\1 2", text), text)


def gets(name):
    return samples(*(FIXTURES / name).read_text(encoding="utf-8").split("# --- the next GET ---\n")[1:])


PUBLICATIONS = "ibmmq_qmgr_exporter_publications 16\n"
"""mq_prometheus, or mq_otel through a collector."""


def exposition(qmgr="QM1", kind="gauge", suffix="", **figures):
    text = f"# TYPE ibmmq_qmgr_log_physical_written_bytes{suffix} {kind}\n"
    if not suffix:
        text += f'ibmmq_qmgr_exporter_publications{{platform="UNIX",qmgr="{qmgr}"}} 16\n'
    return text + "".join(
        f'ibmmq_qmgr_log_{name}{{platform="UNIX",qmgr="{qmgr}"}} {value}\n' for name, value in figures.items()
    )


def test_gauges_begin_anew_with_each_get():
    found = read(gets("mq_prometheus-9.1.txt"), QM1)
    assert figures(found) == [
        (16270, 598876160, 280e3, 36809),
        (16291, 601202688, 282e3, 36904),
        (0, 0, 282e3, 36904),
        (16252, 590135296, 301e3, 36311),
    ]
    assert [(each.start_epoch_s, each.elapsed_s, each.stream) for each in found.intervals] == [
        (START_EPOCH_S + 10 * n, 10, LOG) for n in range(4)
    ]
    assert found.facts == {
        "operations_are_estimated": 1,
        "latency_is_rolling": 1,
        "bytes_are_at_least": 1,
        "log_bytes_in_use": 50331648,
        "log_bytes_max": 83886080,
        "logical_bytes_per_s": pytest.approx((532921878 + 535100214 + 524880091) / 40),
    }
    assert (found.source, found.problems, found.maxima, found.ending) == ("prometheus", (), (), "")
    assert (found.start_epoch_s, found.elapsed_ns) == (START_EPOCH_S, 40 * 10**9)


NEWER = [(5120, 41943040, 512e3, 8192), (4864, 39845888, 498e3, 8192), (4267, 52428800, 1733e3, 12288)]


@pytest.mark.parametrize("name", ["mq_prometheus-9.4.txt", "mq-container-9.4.txt"])
def test_gauges_and_counters_of_a_newer_level(name):
    """The slowest write becomes slower in the second interval; a replica of Native HA has the same names in
    another class."""
    found = read(gets(name), QM1)
    assert figures(found) == NEWER
    assert [each.latency_max_ns for each in found.intervals] == [None, 187002000, None]
    (maximum,) = found.maxima
    assert (maximum.stream, maximum.previous_ns, maximum.new_ns) == (LOG, 20411000, 187002000)
    assert found.facts["slowest_write_since_restart_ns"] == 187002000
    if name.startswith("mq_prometheus"):
        assert maximum.epoch_s == found.facts["slowest_write_at_epoch_s"] == START_EPOCH_S + 15.25
        assert found.facts["bytes_are_at_least"] == 1
    else:
        assert maximum.epoch_s == START_EPOCH_S + 20  # this exporter does not publish the time of the slowest write
        assert "bytes_are_at_least" not in found.facts


def test_an_exporter_with_microseconds_and_without_the_write_size():
    found = read(gets("mq_rlog.txt"), QM1)
    assert figures(found) == [(None, 41943040, 512e3, None), (None, 39845888, 498e3, None)]
    assert found.facts["log_bytes_max"] == 83886080


@pytest.mark.parametrize(
    "name",
    ["ibmmq_qmgr_log_write_latency_seconds", "mine_qmgr_log_write_latency_seconds", "qmgr_log_write_latency_seconds"],
)
def test_the_namespace_is_a_setting_of_the_exporter(name):
    text = exposition(physical_written_bytes=8192) + f'{name}{{qmgr="QM1"}} 0.002\n'
    assert [each.latency_mean_ns for each in read(after_another(text), QM1).intervals] == [2e6]


@pytest.mark.parametrize(
    ("value", "wanted_ns"),
    [
        ("NaN", None),
        ("+Inf", None),
        ("1e10", None),
        ("fast", None),
        ("0.001", 1e6),
        ("1e-3 1794470400000", 1e6),
        ("0", 0),
    ],
)
def test_a_figure_that_cannot_be_is_not_known(value, wanted_ns):
    first, last = (
        exposition(physical_written_bytes=written, write_size_bytes=4096, write_latency_seconds=value)
        for written in (4096, 8192)
    )
    assert figures(read(samples(first, last), QM1)) == [(2, 8192, wanted_ns, 4096)]


def test_bytes_of_less_than_a_mean_write_were_written_by_one():
    text = exposition(physical_written_bytes=4096, write_size_bytes=16384)
    assert figures(read(after_another(text), QM1)) == [(1, 4096, None, 16384)]


def counter(*values):
    return samples(
        *(
            exposition(suffix="_total", kind="counter", physical_written_bytes_total=value, write_size_bytes=4096)
            for value in values
        )
    )


def test_a_counter_that_restarts_hides_one_interval():
    found = read(counter(100000, 140960, 4096, 12288), QM1)
    assert [each.bytes for each in found.intervals] == [40960, None, 8192]
    assert [each.operations for each in found.intervals] == [10, None, 2]
    assert found.problems == (
        "The exporter restarted its count 1 times: it is not known how much was written in those intervals.",
    )


def test_a_counter_that_one_get_lacks():
    texts = [each.text for each in counter(1000, 0, 9192)]
    texts[1] = exposition(suffix="_total", kind="counter", write_latency_seconds=0.001)
    found = read(samples(*texts), QM1)
    assert [each.bytes for each in found.intervals] == [None, None]


@pytest.mark.parametrize(
    "texts", [[], [""], [exposition(physical_written_bytes=1)], ["<html>not found</html>", "<html>"], ["\x00" * 50]]
)
def test_nothing_is_said_as_such(texts):
    found = read(samples(*texts), QM1)
    assert (found.intervals, found.elapsed_ns) == ((), 0)
    assert found.problems == (
        "The endpoint did not answer twice with metrics of the log: observe for at least three intervals.",
    )


def test_a_restart_of_the_queue_manager_is_said():
    texts = [
        exposition(physical_written_bytes=4096, slowest_write_since_restart_seconds=slowest)
        for slowest in ("0.5", "0.01", "0.02")
    ]
    found = read(samples(*texts), QM1)
    assert found.problems == (
        "The queue manager restarted while it was observed: its slowest write since restart became faster.",
    )
    assert found.maxima == (Maximum(START_EPOCH_S + 20, LOG, 10**7, 2 * 10**7),)


def test_broken_text_never_fails():
    source = random.Random(5)
    whole = (FIXTURES / "mq_prometheus-9.4.txt").read_text(encoding="utf-8")
    for dummy in range(150):
        letters = list(whole[: source.randrange(len(whole))])
        for dummy in range(min(len(letters), 40)):
            letters[source.randrange(len(letters))] = chr(
                source.choice([0, 10, 34, 44, 48, 92, 123, 125, 0x663, 0x1F600])
            )
        read(samples(*"".join(letters).split("# --- the next GET ---\n")), QM1)


def test_long_hostile_lines_are_read_in_linear_time():
    for text in (
        "a{" + 'x="\\' * 200_000,
        'ibmmq_qmgr_log_max_bytes{qmgr="' + "\\" * 400_000,
        "_qmgr_log" * 50_000 + " 1",
        "a{}" * 100_000 + " 1",
    ):
        read(samples(text, text), QM1)


@pytest.mark.parametrize(
    ("slowest", "longest_ns"), [(("0.5", "0.5", "0.01", "0.02"), None), (("0.01", "0.5", "0.01", "0.02"), 500_000_000)]
)
def test_after_a_restart_the_slowest_write_is_known_only_if_it_is_longer_than_all_before(slowest, longest_ns):
    """Otherwise, the writes after the restart alone could meet a limit on the slowest write."""
    found = read(
        samples(
            *(exposition(physical_written_bytes=4096, slowest_write_since_restart_seconds=each) for each in slowest)
        ),
        QM1,
    )
    assert max((each.latency_max_ns for each in found.intervals if each.latency_max_ns), default=None) == longest_ns
    assert "slowest_write_since_restart_ns" not in found.facts


def other(
    written=4096, latency="write_latency_seconds", microseconds=500, *, bytes_name="physical_written_bytes", kind=""
):
    """Return an answer of an exporter that is neither mq_prometheus nor mq-container."""
    value = microseconds / 1e6 if latency.endswith("_seconds") else microseconds
    return (f"# TYPE ibmmq_qmgr_log_{bytes_name} {kind}\n" if kind else "") + "".join(
        f'ibmmq_qmgr_log_{name}{{qmgr="QM1"}} {figure}\n'
        for name, figure in ((bytes_name, written), ("write_size_bytes", 4096), (latency, value))
    )


def marked(text):
    """Return an answer with the metric of mq_prometheus, as mq_otel has it through a collector."""
    return PUBLICATIONS.replace(" 16", '{qmgr="QM1"} 16') + text


KEPT = (
    "6 of 9 answers of the endpoint repeat the figures of the answer before, so they count only once. Set "
    "observe_interval to at least the interval at which the exporter collects."
)
INSTEAD = "Set observe_url to mq_prometheus or mq-container, or set observe_source to amqsrua or bpftrace."


@pytest.mark.parametrize("wrap", [marked, str])
@pytest.mark.parametrize("kind", ["gauge", ""])
def test_a_gauge_that_is_kept_until_the_next_collection_counts_once(kind, wrap):
    """mq_otel with an interval of 30 s, through a collector, also has the metric of mq_prometheus."""
    texts = [wrap(other(written, kind=kind)) for written in (8192, 4096, 12288)]
    found = read(samples(*(text for text in texts for dummy in range(3))), QM1)
    assert [(each.elapsed_s, each.bytes, each.operations) for each in found.intervals] == [
        (30, 4096, 1),
        (30, 12288, 3),
    ]
    assert found.problems == (KEPT,)
    assert found.facts["bytes_are_at_least"] == 1


@pytest.mark.parametrize("wrap", [marked, str])
def test_a_gauge_that_never_changes_says_nothing(wrap):
    found = read(samples(*[wrap(other(kind="gauge"))] * 7), QM1)
    assert found.intervals == ()
    assert found.problems[0].startswith("6 of 7 answers of the endpoint repeat the figures")


def test_a_counter_that_a_collector_keeps_is_not_what_mq_prometheus_resets():
    """The collector adds the time at which it received a figure."""
    texts = [marked(other(total, kind="counter").replace("\n", " 1794470400000\n")) for total in (5e9, 5.1e9, 5.2e9)]
    texts = [text.replace("counter 1794470400000", "counter") for text in texts]
    found = read(samples(*texts), QM1)
    assert [each.bytes for each in found.intervals] == [None, None]
    assert found.problems[0].startswith("The exporter declares the bytes written as a counter")


def test_a_total_that_is_declared_as_a_gauge_is_not_read():
    texts = [other(9_000_000, bytes_name="physical_written_bytes_total", kind="gauge")] * 3
    found = read(samples(*texts), QM1)
    assert [(each.bytes, each.operations, each.latency_mean_ns) for each in found.intervals] == [(None, None, 5e5)] * 2
    assert found.problems == (
        "The exporter names ibmmq_qmgr_log_physical_written_bytes_total as a running total, but declares it as a "
        f"gauge, so its meaning is not known. {INSTEAD}",
    )


@pytest.mark.parametrize("kind", ["counter", ""])
@pytest.mark.parametrize(
    ("totals", "problem"),
    [
        ((9e6, 9e6, 9e6), "did not grow while the averages of the writes changed"),
        ((9e6, 8e6, 9e6, 7e6), "fell 2 times"),
    ],
)
def test_a_total_that_does_not_behave_like_one_is_not_read(totals, problem, kind):
    found = read(
        samples(
            *(
                other(total, microseconds=500 + number, bytes_name="physical_written_bytes_total", kind=kind)
                for number, total in enumerate(totals)
            )
        ),
        QM1,
    )
    assert {each.bytes for each in found.intervals} == {None}
    assert len(found.problems) == 1 and problem in found.problems[0] and found.problems[0].endswith(INSTEAD)


def test_a_gauge_that_only_grows_is_a_total():
    found = read(samples(*(other(7e9 + 1e6 * number, kind="gauge") for number in range(8))), QM1)
    assert {each.bytes for each in found.intervals} == {None}
    assert found.problems[0].startswith(
        "The exporter seems to count physical bytes anew for each answer, but they grow like a running total"
    )


def test_a_type_that_changes_is_not_guessed():
    found = read(samples(other(1, kind="gauge"), other(2, kind="counter"), other(3, kind="gauge")), QM1)
    assert {each.bytes for each in found.intervals} == {None}
    assert found.problems


@pytest.mark.parametrize(
    ("latency", "help_text", "wanted_ns"),
    [
        ("write_latency", "", None),
        ("write_latency", "Log - write latency (microseconds)", 702e3),
        ("write_latency", "Log - write latency in usec", 702e3),
        ("write_latency", "Log - write latency in seconds or microseconds", None),
        ("write_latency_microseconds", "Log - write latency", 702e3),
        ("write_latency_microseconds", "Log - write latency of 10 seconds", 702e3),
        ("write_latency_seconds", "Log - write latency, in microseconds", None),
        ("write_latency_seconds", "Log write latency (microsecond precision)", 702e3),
        ("write_latency_microseconds", "Log write latency, sampled once per second", 702e3),
        ("write_latency_bytes", "", None),
        ("write_latency_microseconds_total", "", None),
    ],
)
def test_a_latency_is_read_only_in_a_known_unit(latency, help_text, wanted_ns):
    about = f"# HELP ibmmq_qmgr_log_{latency} {help_text}\n" if help_text else ""
    found = read(samples(*(about + other(written, latency, 702) for written in (8192, 4096))), QM1)
    assert figures(found) == [(1, 4096, wanted_ns, 4096)]
    assert len(found.problems) == (wanted_ns is None)
    assert all(latency in problem and problem.endswith(INSTEAD) for problem in found.problems)


@pytest.mark.parametrize(
    ("unit", "value", "wanted_ns"),
    [("_seconds", "0.02", 20_000_000), ("_seconds", "20411", None), ("_microseconds", "0.02", None)],
)
def test_a_slowest_write_without_a_unit_is_in_seconds_only_beside_seconds(unit, value, wanted_ns):
    text = f'ibmmq_qmgr_log_slowest_write_since_restart{{qmgr="QM1"}} {value}\n'
    found = read(samples(*(other(each, f"write_latency{unit}") + text for each in (8192, 4096))), QM1)
    assert found.facts.get("slowest_write_since_restart_ns") == wanted_ns
    assert len(found.problems) == (wanted_ns is None)


def test_names_that_are_not_known_are_the_cause():
    names = ("physical_written_bytes", "write_latency_seconds", "write_size_bytes")
    text = "".join(f'ibmmq_qmgr_log_{name}_gauge{{qmgr="QM1"}} 5\n' for name in names)
    found = read(samples(text, text), QM1)
    assert (found.intervals, found.problems) == (
        (),
        (
            "The endpoint has metrics of the log whose names are not known: "
            + ", ".join(f"ibmmq_qmgr_log_{name}_gauge" for name in names)
            + f". {INSTEAD}",
        ),
    )


def test_two_values_of_one_element_are_not_chosen_from():
    text = other(8192) + 'ibmmq_qmgr_log_write_latency_seconds{qmgr="QM1",instance="b"} 0.9\n'
    found = read(samples(text, text.replace("8192", "4096")), QM1)
    assert [each.latency_mean_ns for each in found.intervals] == [None]
    assert found.problems == (
        f"The endpoint has more than one ibmmq_qmgr_log_write_latency_seconds, with different values. {INSTEAD}",
    )


@pytest.mark.parametrize("at", [0, 4, 5, 9])
def test_an_answer_without_figures_does_not_make_repetitions_count(at):
    texts = [marked(other(written, kind="gauge")) for written in (8192, 4096, 12288) for dummy in range(3)]
    found = read(samples(*texts[:at], marked(""), *texts[at:]), QM1)
    assert [each.bytes for each in found.intervals] == [4096, 12288]
    assert any("repeat the figures of the answer before" in problem for problem in found.problems)


@pytest.mark.parametrize("wrap", [marked, str])
@pytest.mark.parametrize(
    "totals",
    [
        [10e9 + 9e6 * n for n in range(29)],
        [10e9 + 9e6 * n for n in range(5)],
        [10e9 + 9e6 * n for n in range(8)] + [9e6 * n for n in range(1, 4)],
        [9e6 * n for n in range(1, 29)],
    ],
    ids=["long", "five answers", "restart", "young"],
)
def test_a_gauge_that_behaves_like_a_total_is_not_read(totals, wrap):
    texts = [wrap(other(total, microseconds=500 + n % 3, kind="gauge")) for n, total in enumerate(totals)]
    found = read(samples(*texts), QM1)
    assert {each.bytes for each in found.intervals} == {None}
    (problem,) = found.problems
    assert "but they grow like a running total" in problem


@pytest.mark.parametrize("wrap", [marked, str])
@pytest.mark.parametrize("step", [1e6, 5e6, 40e6])
def test_a_rising_load_is_not_a_total(step, wrap):
    texts = [wrap(other(20e6 + step * n, microseconds=500 + n, kind="gauge")) for n in range(8)]
    found = read(samples(*texts), QM1)
    assert [each.bytes for each in found.intervals] == [20e6 + step * n for n in range(1, 8)]
    assert found.problems == ()


def test_a_total_may_restart_twice_in_an_hour():
    totals = [8192 * (n % 130 + 1) for n in range(360)]
    texts = [
        other(total, microseconds=500 + n % 7, bytes_name="physical_written_bytes_total", kind="counter")
        for n, total in enumerate(totals)
    ]
    found = read(samples(*texts), QM1)
    assert [each.bytes for each in found.intervals].count(8192) == 357
    (problem,) = found.problems
    assert problem.startswith("The exporter restarted its count 2 times")


@pytest.mark.parametrize("grown", [0, 1, 20])
def test_a_total_may_stand_still_once_while_an_average_changes(grown):
    totals = [9e6, 9e6, *(9e6 + 8192 * n for n in range(1, grown + 1))]
    texts = [
        other(total, microseconds=500 + n, bytes_name="physical_written_bytes_total", kind="counter")
        for n, total in enumerate(totals)
    ]
    found = read(samples(*texts), QM1)
    assert [each.bytes for each in found.intervals] == [0, *[8192] * grown]
    assert found.problems == ()


@pytest.mark.parametrize("wrap", [marked, str])
@pytest.mark.parametrize("burst", [(0, 8192), (0, 0, 8192), (0, 4096, 8192), (4096, 4097, 1000)])
def test_a_load_in_bursts_is_not_a_total(burst, wrap):
    values = [value for dummy in range(60) for value in burst]
    texts = [wrap(other(value, microseconds=500 + n % 7, kind="gauge")) for n, value in enumerate(values)]
    found = read(samples(*texts), QM1)
    assert [each.bytes for each in found.intervals] == values[1:]
    assert found.problems == ()


@pytest.mark.parametrize(("seconds", "wanted_ns"), [("30", 30e9), ("60", 60e9), ("702", None)])
def test_an_average_of_more_than_a_minute_is_not_in_seconds(seconds, wanted_ns):
    """A storage that stalls for 30 s is shown; the number of microseconds is not."""
    texts = [other(written, microseconds=float(seconds) * 1e6) for written in (8192, 4096)]
    texts[0] = texts[0].replace(" 702.0", " 703.0")
    found = read(samples(*texts), QM1)
    assert figures(found) == [(1, 4096, wanted_ns, 4096)]
    assert found.problems == (
        (
            "According to ibmmq_qmgr_log_write_latency_seconds, a log write takes more than 60 s. Either the storage "
            f"stalled, or the value is in another unit, so the figure is not used. {INSTEAD}",
        )
        if wanted_ns is None
        else ()
    )


@pytest.mark.parametrize(("seconds", "wanted_ns"), [("300", 300e9), ("20411", None)])
def test_a_slowest_write_of_hours_is_not_in_seconds(seconds, wanted_ns):
    slowest = f'ibmmq_qmgr_log_slowest_write_since_restart_seconds{{qmgr="QM1"}} {seconds}\n'
    found = read(samples(*(other(written) + slowest for written in (8192, 4096))), QM1)
    assert found.facts.get("slowest_write_since_restart_ns") == wanted_ns
    assert len(found.problems) == (wanted_ns is None)


def test_a_slowest_write_without_a_unit_needs_the_unit_of_a_latency_only_once():
    slowest = 'ibmmq_qmgr_log_slowest_write_since_restart{qmgr="QM1"} 0.02\n'
    texts = [other(written) + slowest for written in (8192, 4096, 12288)]
    texts[1] = texts[1].replace('seconds{qmgr="QM1"} 0.0005', 'seconds{qmgr="QM1"} NaN')
    assert "NaN" in texts[1]
    found = read(samples(*texts), QM1)
    assert found.facts["slowest_write_since_restart_ns"] == 20_000_000
    assert [each.latency_mean_ns for each in found.intervals] == [None, 5e5]
    assert found.problems == ()


@pytest.mark.parametrize(
    ("name", "kind", "what"),
    [
        (
            "write_latency_microseconds_total",
            "",
            "names ibmmq_qmgr_log_write_latency_microseconds_total as a running total",
        ),
        ("write_latency_microseconds", "counter", "declares ibmmq_qmgr_log_write_latency_microseconds as a counter"),
    ],
)
def test_an_average_that_is_called_a_total_is_named_as_such(name, kind, what):
    declared = f"# TYPE ibmmq_qmgr_log_{name} {kind}\n" if kind else ""
    found = read(samples(*(declared + other(written, name) for written in (8192, 4096))), QM1)
    assert found.problems == (
        f"The exporter {what}, but MQ publishes single values of it, so its meaning is not known. {INSTEAD}",
    )
