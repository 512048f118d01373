# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What decides which row, from which tables, and the sentences that say so. The tests themselves are in test_statistics.py."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.host import judge_host
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

MS = 10**6
P99 = {"metric": "latency_p99", "max": "1 ms"}
TIME = {"metric": "latency_time_weighted_p99", "max": "5 ms"}
MEAN = {"metric": "latency_mean", "max": "1 ms"}


def judge(files, *limits, queue_managers=("QM1", "QM2"), facts=None, **qualifies):
    record = HostRecord("db07", workspace={"queue_managers": list(queue_managers)}, facts=facts or {})
    return judge_host(record, parse_tables(files), load_profile({"name": "mine", "qualifies": qualifies, "limits": list(limits)}), fabricate.TODAY)


def judgement_of(result, metric, **wanted):
    (found,) = [
        each for each in result["judgements"] if each["metric"] == metric and not each["hard"] and all(each[key] == value for key, value in wanted.items())
    ]
    return found


def clean(seconds, load=1, **figures):
    """Return tables of a step whose 5,000 writes per second and queue manager take 0.2 ms, none longer than any threshold from 1 ms."""
    return fabricate.tables(fabricate.step_rows(1, 4096, load, seconds=seconds, **figures), over=())


def test_a_clean_run_of_enough_seconds_passes_and_says_what_it_covers():
    judgement = judgement_of(judge(clean(300), P99), "latency_p99")
    assert (judgement["verdict"], judgement["method"], judgement["seconds"], judgement["share"]) == ("pass", "share of operations", 300, 0)
    assert judgement["confidence"] == 0.95 and 0 < judgement["share_bound"] < 0.01 and judgement["seconds_needed"] is None
    assert judgement["reason"].startswith(
        "latency_p99 400 us <= 1 ms at 4 KiB, queue manager QM1 (1,500,000 writes): 0 % of them took longer (with 95 % confidence at most 0."
    )
    assert judgement["reason"].endswith(
        "%, allowed 1 %). Covered: slow phases of up to 1.4 s each. Not covered: longer ones, and what comes less often than once in 100 s."
    )


def test_too_short_a_run_is_inconclusive_and_names_the_seconds_that_a_run_needs():
    judgement = judgement_of(judge(clean(60), {"metric": "latency_p99_9", "max": "1 ms"}), "latency_p99_9")
    assert judgement["verdict"] == "inconclusive"
    needed = judgement["seconds_needed"]
    assert judgement["reason"].endswith(f"Measuring for {needed} s in all should decide it.")
    longer = judge(clean(needed), {"metric": "latency_p99_9", "max": "1 ms"})
    assert judgement_of(longer, "latency_p99_9")["verdict"] == "pass"


def slow_share(rows, over_ns, operations, seconds=range(1, 301)):
    return fabricate.over_rows(rows[-1], over_ns, operations, seconds)


@pytest.mark.parametrize(
    ("over", "p99_ns", "verdict", "said"),
    [
        (45, 900_000, "inconclusive", "Measuring for "),
        (50, 1_000_000, "inconclusive", "The figure lies at the limit, so measuring longer will not decide it."),
        (
            51,
            1_010_000,
            "inconclusive",
            "1.02 % of them took longer (with 95 % confidence at most 1.25 %, allowed 1 %). Measuring for 482 s in all should decide it.",
        ),
        (200, 1_500_000, "fail", "4 % of them took longer (allowed 1 %). This is beyond chance with 95 % confidence."),
        (10, 800_000, "pass", "0.2 % of them took longer (with 95 % confidence at most "),
    ],
)
def test_a_share_of_slow_writes(over, p99_ns, verdict, said):
    rows = fabricate.step_rows(1, 4096, seconds=300, latency_p99_ns=p99_ns)
    judgement = judgement_of(judge(fabricate.tables(rows, over=slow_share(rows, MS, over)), P99), "latency_p99")
    assert judgement["verdict"] == verdict
    assert said in judgement["reason"]


def test_a_reason_goes_on_in_sentences_after_that_of_evidence():
    rows = fabricate.step_rows(1, 4096, seconds=300, latency_p99_ns=1_500_000) + fabricate.step_rows(2, 8192, seconds=300, latency_p99_ns=1_500_000)
    over = [each for row in (rows[1], rows[3]) for each in fabricate.over_rows(row, MS, 200, range(1, 301))]
    (reason,) = judge(fabricate.tables(rows, over=over, foreign_io_share="0.400000"), P99)["reasons"]
    assert reason.endswith(
        "This is beyond chance with 95 % confidence. The host was disturbed: 40 % of the bytes that the disk transferred did not come from the test. "
        "1 more of its rows did not pass."
    )


def test_freezes_break_the_time_weighted_limit_and_hardly_touch_the_one_per_write():
    rows = fabricate.step_rows(1, 4096, seconds=600, latency_time_weighted_p99_ns=400 * MS)
    over = [row for over_ns in (MS, 5 * MS) for row in fabricate.over_rows(rows[-1], over_ns, 1, range(7, 601, 7), 400 * MS)]
    result = judge(fabricate.tables(rows, over=over), P99, TIME)
    per_write, over_time = judgement_of(result, "latency_p99"), judgement_of(result, "latency_time_weighted_p99")
    assert (per_write["verdict"], over_time["verdict"]) == ("pass", "fail")
    assert "5.67 % of the time went into writes that took longer (allowed 1 %)" in over_time["reason"]


@pytest.mark.parametrize(("p99_ns", "verdict"), [(1_010_000, "warn"), (990_000, "inconclusive")])
def test_a_waiver_excuses_a_figure_beyond_its_limit_even_without_proof(p99_ns, verdict):
    rows = fabricate.step_rows(1, 4096, seconds=300, latency_p99_ns=p99_ns)
    files = fabricate.tables(rows, over=slow_share(rows, MS, 51 if p99_ns > MS else 49))
    waivers = [{"host": "db07", "metric": "latency_p99", "until": "2027-01-01", "reason": "CHG1"}]
    profile = load_profile({"name": "mine", "limits": [P99], "waivers": waivers})
    result = judge_host(HostRecord("db07"), parse_tables(files), profile, fabricate.TODAY)
    assert judgement_of(result, "latency_p99")["verdict"] == verdict


def test_a_mean_is_held_against_its_bound():
    judgement = judgement_of(judge(clean(300), MEAN, {"metric": "bytes_per_s", "min": "10 MB/s"}), "latency_mean")
    assert (judgement["verdict"], judgement["method"], judgement["value_bound"]) == ("pass", "batch means", 200_000)
    assert judgement["reason"].endswith("(1,500,000 writes): with 95 % confidence at most 200 us.")
    failed = judgement_of(judge(clean(300), {**MEAN, "max": "0.15 ms"}), "latency_mean")
    assert failed["reason"].endswith("latency_mean 200 us > 150 us at 4 KiB, queue manager QM1 (1,500,000 writes): this is beyond chance with 95 % confidence.")
    short = judgement_of(judge(clean(12), MEAN), "latency_mean")
    assert (short["verdict"], short["seconds_needed"]) == ("inconclusive", 20)
    assert short["reason"].endswith(
        "the 12 whole seconds measured are too few to say how far the figure can be trusted. Measuring for 20 s in all should decide it."
    )


def test_a_mean_without_a_whole_second_is_not_decided():
    files = clean(1, elapsed_ns=500_000_000)
    files = fabricate.replace_in(files, "intervals.csv", "all,1,0,", "all,1,1,")
    judgement = judgement_of(judge(files, MEAN), "latency_mean")
    assert (judgement["verdict"], judgement["seconds_needed"]) == ("inconclusive", 20)


def test_a_maximum_stands_as_it_is_and_says_how_rare_worse_seconds_are():
    judgement = judgement_of(judge(clean(600), {"metric": "latency_max", "max": "100 ms"}), "latency_max")
    assert (judgement["verdict"], judgement["method"]) == ("pass", "as it stands")
    assert judgement["reason"].endswith("no second of 600 broke it, so with 95 % confidence fewer than 0.5 % of all seconds do (once in 201 s)")


def test_only_the_row_of_all_queue_managers_is_tested():
    result = judge(clean(300, load=2), P99)
    rows = {each["worker"]: each for each in result["judgements"] if each["metric"] == "latency_p99"}
    assert {worker: each["method"] for worker, each in rows.items()} == {1: "as it stands", 2: "as it stands", "all": "share of operations"}
    assert rows[1]["reason"] == "latency_p99 400 us <= 1 ms at 4 KiB, queue manager QM1 of 2 (1,500,000 writes), without confidence"


def test_one_queue_manager_is_one_judgement():
    result = judge(clean(300), P99)
    assert [(each["worker"], each["worker_name"]) for each in result["judgements"] if each["metric"] == "latency_p99"] == [("all", "QM1")]


def test_a_host_with_more_judgements_is_failed_less_easily():
    rows = fabricate.step_rows(1, 4096, seconds=12, latency_p99_ns=2 * MS)
    files = fabricate.tables(rows, over=slow_share(rows, MS, 100, range(1, 13)))
    assert judgement_of(judge(files, P99), "latency_p99")["verdict"] == "fail"
    others = [{"metric": "latency_mean", "max": f"{limit_ms} ms"} for limit_ms in range(1, 50)]
    assert judgement_of(judge(files, P99, *others), "latency_p99")["verdict"] == "inconclusive"


@pytest.mark.parametrize(
    ("limit_ms", "operations", "verdict"),
    [("1.5 ms", 10, "pass"), ("1.5 ms", 45, "inconclusive"), ("1.5 ms", 200, "inconclusive"), ("0.05 ms", 10, "inconclusive"), ("9 s", 10, "pass")],
)
def test_a_limit_that_was_not_counted_needs_the_next_threshold_on_the_safe_side(limit_ms, operations, verdict):
    rows = fabricate.step_rows(1, 4096, seconds=300, latency_p99_ns=40_000)
    over = [row for over_ns in (MS // 10, MS) for row in slow_share(rows, over_ns, operations)]
    judgement = judgement_of(judge(fabricate.tables(rows, over=over), {**P99, "max": limit_ms}), "latency_p99")
    assert judgement["verdict"] == verdict
    if limit_ms == "1.5 ms":
        assert "of them took longer than 1 ms (" in judgement["reason"]
        open_question = "The tester did not count the writes over the limit itself: measure again with this profile."
        assert judgement["reason"].endswith(open_question) == (verdict == "inconclusive")


def test_a_limit_below_is_counted_one_nanosecond_below():
    rows = fabricate.step_rows(1, 4096, seconds=300)
    files = fabricate.tables(rows, over=slow_share(rows, MS - 1, 5), option_over_ns=f"{MS - 1} {MS}")
    judgement = judgement_of(judge(files, {"metric": "latency_p99", "below": "1 ms"}), "latency_p99")
    assert (judgement["verdict"], judgement["share"]) == ("pass", 0.001)


def test_a_write_still_in_flight_counts_as_slow():
    rows = fabricate.step_rows(1, 4096, seconds=300, latency_mean_ns="100000.000", latency_max_ns=30 * 10**9, latency_max_in_flight=1)
    judgement = judgement_of(judge(fabricate.tables(rows, over=()), TIME), "latency_time_weighted_p99")
    assert judgement["verdict"] != "pass"
    assert judgement["share"] == pytest.approx(30 / 180)
    assert judgement["reason"].endswith("allowed 1 %). The figure does not include the write that was still in flight.")


def test_no_confidence_reads_as_certainty():
    result = judge(clean(600), P99, {"metric": "latency_max", "max": "100 ms"}, confidence=0.99999)
    assert all("with 99.999 % confidence" in judgement_of(result, metric)["reason"] for metric in ("latency_p99", "latency_max"))


def test_without_confidence_figures_stand_as_they_are_and_never_certify():
    result = judge(clean(300), P99, confidence="none")
    assert judgement_of(result, "latency_p99")["reason"] == "latency_p99 400 us <= 1 ms at 4 KiB, queue manager QM1 (1,500,000 writes)"
    assert (result["verdict"], result["certified"], result["qualification"]) == ("pass", False, "mine compares figures as they stand (confidence: none)")


def test_tables_without_counts_never_certify():
    result = judge(fabricate.tables(fabricate.step_rows(1, 4096, seconds=300)), P99)
    assert (result["verdict"], result["certified"]) == ("pass", False)
    assert result["qualification"] == "its tables have no over.csv, so its figures were taken as they stand"


@pytest.mark.parametrize(("episode_s", "certified"), [(1, True), (1.5, False)])
def test_a_pass_that_covers_shorter_slow_phases_than_asked_does_not_certify(episode_s, certified):
    result = judge(clean(300), P99, episode_s=episode_s)
    assert (result["verdict"], result["certified"]) == ("pass", certified)
    if not certified:
        assert result["qualification"] == "latency_p99 at 4 KiB covers slow phases of up to 1.4 s, and mine asks for 1.5 s: measure longer"


@pytest.mark.parametrize(
    ("figures", "facts", "said"),
    [
        (
            {"ring_passes": "0.400"},
            {},
            "at 4 KiB it wrote only 40 % of its files once, which a write cache may have absorbed entirely: measure for 750 s per row",
        ),
        ({}, {"queue_manager_log_set_bytes": 2 << 30}, "the files of a queue manager had 1 GiB in total, but the recovery log on this host has 2 GiB: "),
        ({}, {"queue_manager_log_set_bytes": 1 << 30}, ""),
        ({}, {"queue_manager_log_set_bytes": "large"}, ""),
    ],
)
def test_the_files_must_be_as_large_as_the_log_and_written_once(figures, facts, said):
    result = judge(clean(300, **figures), P99, facts=facts)
    assert result["verdict"] == "pass"
    assert result["qualification"].startswith(said) and result["certified"] is not bool(said)


def test_a_disturbed_pass_certifies_and_says_that_it_was_disturbed():
    files = fabricate.tables(fabricate.step_rows(1, 4096, seconds=300), over=(), foreign_io_share="0.400000")
    result = judge(files, P99)
    assert (result["verdict"], result["certified"]) == ("pass", True)
    assert result["disturbances"] == ["40 % of the bytes that the disk transferred did not come from the test"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda files: fabricate.drop_lines(files, "intervals.csv", 5), "does not have each second of step 1 once"),
        (lambda files: fabricate.replace_in(files, "intervals.csv", ",5000,", ",4999,"), "differ in the operations of step 1"),
        (lambda files: fabricate.replace_in(files, "over.csv", ",4000,", ",6000,"), "Second 1 has 6000 operations over the limit"),
        (
            lambda files: fabricate.drop_lines(files, "over.csv", 2),
            "over.csv and intervals.csv differ in which seconds of step 1 had",
        ),
        (lambda files: fabricate.replace_in(files, "intervals.csv", "all,3,0,", "all,3,1,"), "cut-short second before the last one of step 1"),
        (lambda files: fabricate.replace_in(files, "results.csv", "all,1795258175.000000,30000000000,", "all,1795258175.000000,32000000000,"), "took 32.000 s"),
        (
            lambda files: {name: content for name, content in files.items() if name != "over.csv"},
            "option_over_ns in run.csv has thresholds, but there is no",
        ),
        (lambda files: fabricate.replace_in(files, "run.csv", "option_over_ns,100000 ", "other,100000 "), "has no thresholds, but there is an over.csv"),
        (lambda files: {name: content for name, content in files.items() if name != "intervals.csv"}, "There is an over.csv, but no intervals.csv"),
    ],
)
def test_tables_that_contradict_each_other_are_an_error(change, said):
    rows = fabricate.step_rows(1, 4096, seconds=30)
    result = judge(change(fabricate.tables(rows, over=slow_share(rows, MS, 4000, [1]))), P99)
    assert (result["verdict"], result["certified"], result["judgements"]) == ("error", False, [])
    assert said in result["reasons"][0]
