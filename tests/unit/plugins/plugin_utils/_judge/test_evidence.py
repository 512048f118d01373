# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which statistical test decides each row, from which tables, and the sentences about the result.
The tests themselves are in test_statistics.py."""

from __future__ import annotations

import math

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.evidence import confidence_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import judge_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

MS = 10**6
P99 = {"metric": "latency_p99", "max": "1 ms"}
TIME = {"metric": "latency_time_weighted_p99", "max": "5 ms"}
MEAN = {"metric": "latency_mean", "max": "1 ms"}


def judge(files, *limits, queue_managers=("QM1", "QM2"), facts=None, **qualifies):
    record = HostRecord("db07", workspace={"queue_managers": list(queue_managers)}, facts=facts or {})
    return judge_record(
        record,
        parse_tables(files),
        load_profile({"name": "mine", "qualifies": qualifies, "limits": list(limits)}),
        fabricate.TODAY,
    )


def judgement_of(result, metric, **wanted):
    (found,) = [
        each
        for each in result["judgements"]
        if each["metric"] == metric and not each["hard"] and all(each[key] == value for key, value in wanted.items())
    ]
    return found


def clean(seconds, load=1, **figures):
    """Return tables of a step with 5,000 writes per second and queue manager. They take 0.2 ms, and none takes 1 ms or
    longer."""
    return fabricate.tables(fabricate.step_rows(1, 4096, load, seconds=seconds, **figures), over=())


def test_a_clean_run_of_enough_seconds_passes_and_says_what_it_covers():
    judgement = judgement_of(judge(clean(300), P99), "latency_p99")
    assert (judgement["verdict"], judgement["method"], judgement["seconds"], judgement["share"]) == (
        "pass",
        "share of operations",
        300,
        0,
    )
    assert (
        judgement["confidence"] == 0.95 and 0 < judgement["share_bound"] < 0.01 and judgement["seconds_needed"] is None
    )
    assert judgement["reason"].startswith(
        "latency_p99 400 us <= 1 ms at 4 KiB, queue manager QM1 (1,500,000 writes): 0 % of them took longer "
        "(with 95 % confidence at most 0."
    )
    assert judgement["reason"].endswith(
        "%, allowed 1 %). Covered: slow phases of up to 1.4 s each that come independently; crowded ones count as "
        "one, with their slow time added. Seen: no slow time within 30 s. Not covered: longer ones, and anything "
        "that occurs less often than once in 100 s."
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
            (
                "1.02 % of them took longer (with 95 % confidence at most 1.25 %, allowed 1 %). Measuring for "
                "482 s in all should decide it."
            ),
        ),
        (
            200,
            1_500_000,
            "fail",
            (
                "4 % of them took longer (allowed 1 %). This is beyond chance with 95 % confidence. Seen: at most "
                "4.5 s of slow time within 30 s. Of hosts just within their limit, up to 15 % also fail if their slow "
                "phases come in crowds."
            ),
        ),
        (300, 1_500_000, "fail", "6 % of them took longer (allowed 1 %). This is beyond chance with 95 % confidence."),
        (10, 800_000, "pass", "0.2 % of them took longer (with 95 % confidence at most "),
    ],
)
def test_a_share_of_slow_writes(over, p99_ns, verdict, said):
    rows = fabricate.step_rows(1, 4096, seconds=300, latency_p99_ns=p99_ns)
    judgement = judgement_of(judge(fabricate.tables(rows, over=slow_share(rows, MS, over)), P99), "latency_p99")
    assert judgement["verdict"] == verdict
    assert said in judgement["reason"]


def test_a_reason_goes_on_in_sentences_after_that_of_evidence():
    rows = fabricate.step_rows(1, 4096, seconds=300, latency_p99_ns=1_500_000) + fabricate.step_rows(
        2, 8192, seconds=300, latency_p99_ns=1_500_000
    )
    over = [each for row in (rows[1], rows[3]) for each in fabricate.over_rows(row, MS, 300, range(1, 301))]
    (reason,) = judge(fabricate.tables(rows, over=over, foreign_io_share="0.400000"), P99)["reasons"]
    assert reason.endswith(
        "This is beyond chance with 95 % confidence. The host was disturbed: 40 % of the bytes that the disk "
        "transferred did not come from the test. 1 more of its rows did not pass."
    )


def test_freezes_break_the_time_weighted_limit_and_hardly_touch_the_one_per_write():
    rows = fabricate.step_rows(1, 4096, seconds=600, latency_time_weighted_p99_ns=400 * MS)
    over = [
        row for over_ns in (MS, 5 * MS) for row in fabricate.over_rows(rows[-1], over_ns, 1, range(7, 601, 7), 400 * MS)
    ]
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
    result = judge_record(HostRecord("db07"), parse_tables(files), profile, fabricate.TODAY)
    assert judgement_of(result, "latency_p99")["verdict"] == verdict


def test_a_mean_is_held_against_its_bound():
    judgement = judgement_of(judge(clean(300), MEAN, {"metric": "bytes_per_s", "min": "10 MB/s"}), "latency_mean")
    assert (judgement["verdict"], judgement["method"], judgement["value_bound"]) == ("pass", "batch means", 200_000)
    assert judgement["reason"].endswith(
        "(1,500,000 writes): with 95 % confidence at most 200 us. Covered: standstills of up to 24 s each that come "
        "independently; crowded ones count as one, with their slow time added. Seen: no slow time within 30 s. "
        "Not covered: longer ones, and anything that occurs less often than once in 100 s."
    )
    failed = judgement_of(judge(clean(300), {**MEAN, "max": "0.15 ms"}), "latency_mean")
    assert failed["reason"].endswith(
        "latency_mean 200 us > 150 us at 4 KiB, queue manager QM1 (1,500,000 writes): this is beyond "
        "chance with 95 % confidence."
    )
    short = judgement_of(judge(clean(12), MEAN), "latency_mean")
    assert (short["verdict"], short["seconds_needed"]) == ("inconclusive", 20)
    assert short["reason"].endswith(
        "the 12 whole seconds measured are too few to say how far the figure can be trusted. Measuring for "
        "20 s in all should decide it."
    )


def test_a_mean_without_a_whole_second_is_not_decided():
    files = clean(1, elapsed_ns=500_000_000)
    files = fabricate.replace_in(files, "intervals.csv", "all,1,0,", "all,1,1,")
    judgement = judgement_of(judge(files, MEAN), "latency_mean")
    assert (judgement["verdict"], judgement["seconds_needed"]) == ("inconclusive", 20)


def test_a_maximum_stands_as_it_is_and_says_how_rare_worse_seconds_are():
    judgement = judgement_of(judge(clean(600), {"metric": "latency_max", "max": "100 ms"}), "latency_max")
    assert (judgement["verdict"], judgement["method"]) == ("pass", "as it stands")
    assert judgement["reason"].endswith(
        "no second of 600 broke it, so with 95 % confidence fewer than 0.5 % of all seconds do (once in 201 s)"
    )


def test_crowded_slow_phases_are_said_and_those_that_hang_together_are_not_decided():
    rows = fabricate.step_rows(1, 4096, seconds=300)
    seen = judgement_of(judge(fabricate.tables(rows, over=slow_share(rows, MS, 500, (40, 69))), P99), "latency_p99")
    assert "Seen: at most 900 ms of slow time within 30 s. Not covered" in seen["reason"]
    crowded = judgement_of(judge(fabricate.tables(rows, over=slow_share(rows, MS, 900, (40, 69))), P99), "latency_p99")
    assert "of slow time within 30 s, which is more than covered. Not covered" in crowded["reason"]
    crowds = [*range(101, 116), *range(181, 196), *range(251, 266)]
    rows = fabricate.step_rows(1, 4096, seconds=300, latency_p99_ns=3 * MS)
    judgement = judgement_of(judge(fabricate.tables(rows, over=slow_share(rows, MS, 800, crowds)), P99), "latency_p99")
    assert (judgement["verdict"], judgement["resolved"], judgement["share_bound"]) == ("inconclusive", False, None)
    assert (
        "Slow phases come in clusters longer than 8 s, so there is too little independent evidence. Measuring for "
        in judgement["reason"]
    )


# Single queue managers among several.


def several(slow, *, load=4, seconds=300, counted=1, batches=None, run=None, **figures):
    """Return tables of queue managers whose writes take 0.2 ms, except for slow ones over 1 ms. slow is {queue manager:
    (writes per second, seconds that have them)}."""
    rows = fabricate.step_rows(1, 4096, load, seconds=seconds)
    together = {}
    over = []
    for row in rows:
        row["over_counted"] = counted if row["worker"] != "all" else 1
        writes, places = slow.get(row["worker"], (0, ()))
        row["latency_p99_ns"] = 1_500_000 if writes * len(list(places)) > row["operations"] / 100 else 400_000
        row.update(figures.get(f"qm{row['worker']}", {}))
        if writes and counted:
            over += fabricate.over_rows(row, MS, writes, places)
        for second in places:
            together[second] = together.get(second, 0) + writes
    for second, writes in together.items():
        over += fabricate.over_rows(rows[-1], MS, writes, [second])
    rows[-1]["latency_p99_ns"] = 1_500_000 if sum(together.values()) > rows[-1]["operations"] / 100 else 400_000
    rows[-1].update(figures.get("all", {}))
    files = fabricate.tables(rows, over=over, over_worker_ns=MS, **(run or {}))
    return {**files, "batches.csv": fabricate.batches_table(rows, batches)}


def rows_judged(files, *limits, **options):
    result = judge(files, *limits, queue_managers=[f"QM{number}" for number in range(1, 65)], **options)
    return result, {each["worker"]: each for each in result["judgements"] if not each["hard"]}


def test_a_queue_manager_among_several_fails_by_its_own_evidence_and_by_name():
    result, rows = rows_judged(several({3: (200, range(1, 301))}), P99)
    assert {worker: each["verdict"] for worker, each in rows.items()} == {
        1: "pass",
        2: "pass",
        3: "fail",
        4: "pass",
        "all": "inconclusive",
    }
    assert result["verdict"] == "fail" and rows[3]["method"] == "share of operations"
    assert rows[3]["reason"] == (
        "latency_p99 1.5 ms > 1 ms at 4 KiB, queue manager QM3 of 4 (1,500,000 writes): 4 % of them took longer "
        "(allowed 1 %). This is beyond chance with 95 % confidence. Seen: at most 4.5 s of slow time within 30 s. Of "
        "hosts just within their limit, up to 15 % also fail if their slow phases come in crowds."
    )
    assert (
        rows[1]["reason"]
        == "latency_p99 400 us <= 1 ms at 4 KiB, queue manager QM1 of 4 (1,500,000 writes), without confidence"
    )


def test_a_queue_manager_above_its_limit_within_chance_is_said_and_is_no_verdict():
    result, rows = rows_judged(several({2: (800, range(20, 300, 14))}, load=16), P99)
    assert (result["verdict"], rows[2]["verdict"], rows[2]["within_chance"], rows["all"]["verdict"]) == (
        "pass",
        "pass",
        True,
        "pass",
    )
    assert rows[2]["reason"].endswith(
        "queue manager QM2 of 16 (1,500,000 writes): 1.07 % of them took longer (allowed 1 %). "
        "Above the limit, but by no more than chance explains among 16 queue managers: the row of all of them together "
        "decides."
    )


def test_a_suspicious_queue_manager_keeps_the_limit_from_passing():
    result, dummy = rows_judged(
        several({2: (53, range(1, 301))}, load=16), P99, *[{**MEAN, "max": f"{each} ms"} for each in range(1, 60)]
    )
    of_p99 = {each["worker"]: each for each in result["judgements"] if each["metric"] == "latency_p99"}
    assert (of_p99["all"]["verdict"], of_p99[2]["verdict"], result["verdict"]) == (
        "pass",
        "inconclusive",
        "inconclusive",
    )
    assert "1.06 % of them took longer (allowed 1 %). Measuring for " in of_p99[2]["reason"]


def freezing(freeze_ms, seconds, **run):
    """Return tables of four queue managers. The writes of one hang for that long, and return in these seconds."""
    files = several({2: (1, seconds)}, qm2={"latency_time_weighted_p99_ns": freeze_ms * MS}, run=run)
    files["over.csv"] = files["over.csv"].replace(b",1,1250000\n", b",1,%d\n" % (freeze_ms * MS))
    return rows_judged(files, {**TIME, "max": "1 ms"})


def test_the_time_of_a_queue_manager_that_freezes_is_its_own():
    dummy, rows = freezing(400, range(7, 301, 7))
    assert {worker: each["verdict"] for worker, each in rows.items()} == {
        1: "pass",
        2: "fail",
        3: "pass",
        4: "pass",
        "all": "inconclusive",
    }
    assert rows[2]["share"] == pytest.approx(42 * 0.4 / 300, rel=0.05)


def test_a_freeze_is_not_spread_over_the_seconds_of_other_queue_managers():
    dummy, rows = freezing(400, range(20, 301, 28))
    assert (rows[2]["verdict"], rows[2]["within_chance"], rows[2]["block_s"]) == ("pass", True, 1)
    product = sum((1 + 39 * 4.0**-bet) ** 11 * (1 - 4.0**-bet) ** 289 / 6 for bet in range(6))
    assert rows[2]["log_evidence"] == pytest.approx(math.log(product), rel=0.02)


def test_a_write_that_hangs_for_several_seconds_fills_them():
    dummy, rows = freezing(2500, [100])
    assert rows[2]["share"] == pytest.approx(2.5 / 300, rel=0.01)
    assert rows[2]["crowded_s"] == pytest.approx(2.5, rel=0.02)


@pytest.mark.parametrize(
    "run",
    [
        {"option_delay_us": 500},
        {"option_rate_per_s": "100.0"},
        {"option_think_time_us": 1000},
        {"option_remote_delay_us": 500},
    ],
)
def test_the_time_of_a_queue_manager_that_pauses_cannot_fail_it(run):
    result, rows = freezing(400, range(7, 301, 7), **run)
    assert (rows[2]["verdict"], rows[1]["verdict"], result["verdict"]) == ("inconclusive", "pass", "inconclusive")
    assert rows[2]["reason"].endswith(
        "(1,500,000 writes): how much of each second it spent writing is unknown, because it pauses or waits between "
        "writes"
    )


def test_the_mean_of_a_queue_manager_is_tested_with_its_own_batches():
    slow = {"latency_mean_ns": "1500000.000", "operations": 200_000, "latency_sum_ns": 300 * 10**9}
    wave = {1: [1_000 if batch % 2 else 12_333 for batch in range(30)]}
    steady, rows = rows_judged(several({}, qm1=slow), MEAN)
    assert (rows[1]["verdict"], rows[1]["method"], rows[2]["verdict"], steady["verdict"]) == (
        "fail",
        "batch means",
        "pass",
        "fail",
    )
    dummy, rows = rows_judged(
        several({}, qm1={**slow, "operations": sum(wave[1])}, batches=wave), {**MEAN, "max": "1.4 ms"}
    )
    assert (rows[1]["verdict"], rows[1]["within_chance"]) == ("pass", True)
    assert rows[1]["reason"].endswith(
        "writes): above the limit, but by no more than chance explains among 4 queue managers: the row of all of them "
        "together decides."
    )


def test_slow_writes_that_were_too_many_to_count_by_themselves_decide_nothing():
    result, rows = rows_judged(several({3: (200, range(1, 301))}, counted=0), P99)
    assert (rows[3]["verdict"], rows[1]["verdict"], result["verdict"]) == ("inconclusive", "pass", "inconclusive")
    assert rows[3]["reason"].endswith("(1,500,000 writes): its slow writes were not counted separately")


def test_each_tested_row_is_a_judgement_of_its_own():
    parsed = parse_tables(several({}, load=16))
    profile = load_profile({"name": "mine", "limits": [P99, MEAN, {"metric": "bytes_per_s", "min": "1 MB/s"}]})
    assert confidence_of(profile, parsed).judgements == 17 + 17 + 1


def test_tables_of_older_testers_keep_their_rule():
    """Rows of queue managers without their own counts are compared directly with the limit: they can fail without
    statistical evidence, and only the row of all queue managers together counts as a judgement."""
    rows = fabricate.step_rows(1, 4096, 4, seconds=300)
    rows[2]["latency_p99_ns"] = 1_010_000
    files = fabricate.tables(rows, over=[])
    dummy, judged = rows_judged(files, P99)
    assert {worker: (each["verdict"], each["method"]) for worker, each in judged.items()} == {
        1: ("pass", "as it stands"),
        2: ("pass", "as it stands"),
        3: ("fail", "as it stands"),
        4: ("pass", "as it stands"),
        "all": ("pass", "share of operations"),
    }
    assert judged[3]["reason"].endswith("queue manager QM3 of 4 (1,500,000 writes), without confidence")
    assert confidence_of(load_profile({"name": "mine", "limits": [P99]}), parse_tables(files)).judgements == 1


def test_each_queue_manager_of_recorded_tables_is_judged_by_what_the_tester_counted():
    """Two queue managers whose writes all take longer than a limit that the tester counts."""
    folder = fabricate.PROJECT / "tests/fixtures/tables/measured"
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    limit = {"metric": "latency_p50", "max": "1 us"}
    dummy, rows = rows_judged(files, limit)
    assert {each["method"] for worker, each in rows.items() if worker != "all"} == {"share of operations"}
    assert confidence_of(load_profile({"name": "mine", "limits": [limit]}), parse_tables(files)).judgements == 8


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda files: fabricate.drop_lines(files, "over.csv", 2),
            "over.csv: the slow operations of individual workers differ from those of all together in second 1 of "
            "step 1",
        ),
        (
            lambda files: fabricate.replace_in(files, "over.csv", ",3,1,1000000,200,", ",3,1,1000000,201,"),
            "over.csv: the slow operations of individual workers differ",
        ),
        (
            lambda files: fabricate.replace_in(files, "over.csv", ",3,1,1000000,200,", ",3,1,2000000,200,"),
            "which over_worker_ns in run.csv does not have",
        ),
        (
            lambda files: fabricate.drop_lines(files, "batches.csv", 2),
            "batches.csv does not have each batch of worker 1 in step 1 once",
        ),
        (
            lambda files: fabricate.drop_lines(files, "batches.csv", 31),
            "batches.csv and results.csv differ in the operations of worker 1 in step 1",
        ),
        (
            lambda files: {name: content for name, content in files.items() if name != "batches.csv"},
            "batches.csv and results.csv differ",
        ),
        (
            lambda files: fabricate.replace_in(files, "run.csv", "over_worker_ns,1000000", "over_worker_ns,many"),
            "instead of a whole number in over_worker_ns",
        ),
    ],
)
def test_tables_that_contradict_each_other_about_queue_managers_are_errors(change, said):
    result = judge(change(several({3: (200, range(1, 301))})), P99, MEAN)
    assert result["verdict"] == "error" and said in result["reasons"][0]


def test_one_queue_manager_is_one_judgement():
    result = judge(clean(300), P99)
    assert [
        (each["worker"], each["worker_name"]) for each in result["judgements"] if each["metric"] == "latency_p99"
    ] == [("all", "QM1")]


def test_a_host_with_more_judgements_is_failed_less_easily():
    rows = fabricate.step_rows(1, 4096, seconds=12, latency_p99_ns=2 * MS)
    files = fabricate.tables(rows, over=slow_share(rows, MS, 100, range(1, 13)))
    assert judgement_of(judge(files, P99), "latency_p99")["verdict"] == "fail"
    others = [{"metric": "latency_mean", "max": f"{limit_ms} ms"} for limit_ms in range(1, 50)]
    assert judgement_of(judge(files, P99, *others), "latency_p99")["verdict"] == "inconclusive"


@pytest.mark.parametrize(
    ("limit_ms", "operations", "verdict"),
    [
        ("1.5 ms", 10, "pass"),
        ("1.5 ms", 45, "inconclusive"),
        ("1.5 ms", 200, "inconclusive"),
        ("0.05 ms", 10, "inconclusive"),
        ("9 s", 10, "pass"),
    ],
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
    rows = fabricate.step_rows(
        1, 4096, seconds=300, latency_mean_ns="100000.000", latency_max_ns=30 * 10**9, latency_max_in_flight=1
    )
    judgement = judgement_of(judge(fabricate.tables(rows, over=()), TIME), "latency_time_weighted_p99")
    assert judgement["verdict"] != "pass"
    assert judgement["share"] == pytest.approx(30 / 180)
    assert judgement["reason"].endswith("allowed 1 %). The figure does not include the write that was still in flight.")


def test_no_confidence_reads_as_certainty():
    result = judge(clean(600), P99, {"metric": "latency_max", "max": "100 ms"}, confidence=0.99999)
    assert all(
        "with 99.999 % confidence" in judgement_of(result, metric)["reason"]
        for metric in ("latency_p99", "latency_max")
    )


def test_without_confidence_figures_stand_as_they_are_and_never_certify():
    result = judge(clean(300), P99, confidence="none")
    assert (
        judgement_of(result, "latency_p99")["reason"]
        == "latency_p99 400 us <= 1 ms at 4 KiB, queue manager QM1 (1,500,000 writes)"
    )
    assert (result["verdict"], result["certified"], result["qualification"]) == (
        "pass",
        False,
        "mine never certifies. To certify, leave out sweep_preset: look, or choose another gate_profile",
    )


def test_tables_without_counts_never_certify():
    result = judge(fabricate.tables(fabricate.step_rows(1, 4096, seconds=300)), P99)
    assert (result["verdict"], result["certified"]) == ("pass", False)
    assert result["qualification"] == "its tables contain no over.csv, so its figures were judged without confidence"


@pytest.mark.parametrize(("episode_s", "certified"), [(1, True), (1.5, False)])
def test_a_pass_that_covers_shorter_slow_phases_than_asked_does_not_certify(episode_s, certified):
    result = judge(clean(300), P99, episode_s=episode_s)
    assert (result["verdict"], result["certified"]) == ("pass", certified)
    if not certified:
        assert (
            result["qualification"]
            == "latency_p99 at 4 KiB covers slow phases of up to 1.4 s, and mine requires 1.5 s: measure longer"
        )


@pytest.mark.parametrize(
    ("figures", "facts", "said"),
    [
        (
            {"ring_passes": "0.400"},
            {},
            (
                "at 4 KiB it wrote only 40 % of its files once, which a write cache may have absorbed "
                "entirely: measure for 750 s per row"
            ),
        ),
        (
            {},
            {"queue_manager_log_set_bytes": 2 << 30},
            "the files of a queue manager had 1 GiB in total, but the recovery log on this host has 2 GiB: ",
        ),
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
        (lambda files: fabricate.drop_lines(files, "intervals.csv", 5), "does not contain each second of step 1 once"),
        (
            lambda files: fabricate.replace_in(files, "intervals.csv", ",5000,", ",4999,"),
            "differ in the operations of step 1",
        ),
        (
            lambda files: fabricate.replace_in(files, "over.csv", ",4000,", ",6000,"),
            "Second 1 has 6000 operations over the limit",
        ),
        (
            lambda files: fabricate.drop_lines(files, "over.csv", 2),
            "over.csv and intervals.csv differ in which seconds of step 1 had",
        ),
        (
            lambda files: fabricate.replace_in(files, "intervals.csv", "all,3,0,", "all,3,1,"),
            "cut-short second before the last one of step 1",
        ),
        (
            lambda files: fabricate.replace_in(
                files, "results.csv", "all,1795258175.000000,30000000000,", "all,1795258175.000000,32000000000,"
            ),
            "took 32.000 s",
        ),
        (
            lambda files: {name: content for name, content in files.items() if name != "over.csv"},
            "option_over_ns in run.csv has thresholds, but there is no",
        ),
        (
            lambda files: fabricate.replace_in(files, "run.csv", "option_over_ns,100000 ", "other,100000 "),
            "has no thresholds, but there is an over.csv",
        ),
        (
            lambda files: {name: content for name, content in files.items() if name != "intervals.csv"},
            "There is an over.csv, but no intervals.csv",
        ),
    ],
)
def test_tables_that_contradict_each_other_are_an_error(change, said):
    rows = fabricate.step_rows(1, 4096, seconds=30)
    result = judge(change(fabricate.tables(rows, over=slow_share(rows, MS, 4000, [1]))), P99)
    assert (result["verdict"], result["certified"], result["judgements"]) == ("error", False, [])
    assert said in result["reasons"][0]
