# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""--rate: a stall counts for every write that it delays, including those that could not start."""

import time

from support import consistent, contains, equal, frozen, mounted, near, root_test, strace, test, wait_until_measuring


@test
def open_loop_charges_the_stall_to_all_it_delays(place):
    result = place.logdisk(
        "--duration=3", "--rate=200", before=strace(place, "pwritev:delay_enter=500000:when=200", calls="pwritev")
    )
    equal(result.status, 0, result.err)
    row = result.all()
    assert 560 <= int(row["operations"]) <= 600, row["operations"]
    assert int(row["response_p50_ns"]) >= int(row["latency_min_ns"])
    assert int(row["latency_p90_ns"]) < 100000000 and int(row["response_max_ns"]) >= 500000000, row
    assert int(row["response_p99_ns"]) > 300000000, "a stall of 0.5 s delays about 100 of 600 writes"


@test
def open_loop_charges_a_stall_that_lasts_to_the_end(place):
    """With a stall from 1.0 to 3.2 s, 2000 of the 3000 intended writes were due but never started."""
    result = place.logdisk(
        "--duration=3", "--rate=1000", before=strace(place, "pwritev:delay_enter=2200000:when=1000", calls="pwritev")
    )
    equal(result.status, 0, result.err)
    run, row = consistent(result), result.all()
    left = int(row["operations_not_started"])
    near(int(row["operations"]) + left, 3000, 1, "writes done and left")
    assert left >= 1500, left
    assert int(row["response_p50_ns"]) > 500000000, row["response_p50_ns"]
    assert int(row["response_max_ns"]) >= int(row["latency_max_ns"]) >= 2200000000, row
    near(float(row["response_mean_ns"]), int(row["response_sum_ns"]) / (int(row["operations"]) + left), 0.0006, "mean")
    contains(result.err, "warning", "%d writes were due" % left)
    contains(run["warning_1"], "step 1: %d writes were due" % left)
    shifted = place.logdisk("--duration=1", "--rate=2", "--qm=2", "--createDirs", dir=place.dir + "/s")
    assert all(int(r["start_skew_ns"]) < 200000000 for r in shifted.rows("results.csv")), (
        "the shift of 0.25 s is not skew"
    )
    closed = place.logdisk("--duration=1", "--delay=5000")
    equal(closed.all()["operations_not_started"], "", "without --rate")


@root_test
def open_loop_charges_a_freeze_until_the_deadline(place):
    """The step ends while a write hangs. Operations that were due in the meantime are still counted."""
    with mounted(place) as point:
        process = place.start(
            "--duration=3", "--rate=200", "--deadline=5", "--progress=" + place.path + "/progress", dir=point
        )
        wait_until_measuring(place, process)
        time.sleep(0.5)
        with frozen(point):
            place.wait_for("run.csv", "complete,1", process)
        result = place.finish(process)
    equal(result.status, 4, result.err)
    consistent(result)
    row = result.all()
    near(int(row["operations"]) + 1 + int(row["operations_not_started"]), 600, 1, "done, in flight, and left")
    assert int(row["response_p50_ns"]) > 1000000000, row["response_p50_ns"]
