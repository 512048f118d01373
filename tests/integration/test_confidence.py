# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run proves about a limit: it is kept, it is broken, or neither, and then the necessary duration is reported.

Limits are far above the latency of this machine, even if it is busy, and the stalls of a disk are far above the limits.
If the number of writes matters, the tester writes at a fixed rate. A host that shares its processors is disturbed, so
the verdict on a limit is inconclusive even if the limit is proven to be broken. `outcome_of` ignores such disturbances.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from pathlib import Path

import pytest
from ansible_runs import QUICK, Controller, Outcome
from leftovers import wait_until_measuring
from testbed import Bed, HostSpec
from testbed.host import Host

Start = Callable[..., Bed]
SWEEP = {"sweep_block_sizes": ["4K"], "sweep_file_size": "4M", "sweep_files": 16}
FREEZE_S = 0.4
STALL_S = 0.2
P99, OF_TIME = "latency_p99", "latency_time_weighted_p99"
STALLING = {"name": "stalling", "limits": [{"metric": metric, "max": "100 ms"} for metric in (P99, OF_TIME)]}
DISTURBED = " The host was disturbed: "
BEYOND_CHANCE = "This is beyond chance with 95 % confidence."


def stall(host: Host, stall_s: float, gaps_s: Iterable[float]) -> None:
    """Wait until the host measures. Then freeze its disk for a while after each gap, with one write in flight."""
    wait_until_measuring([host])
    for gap_s in gaps_s:
        time.sleep(gap_s)
        host.freeze()
        time.sleep(stall_s)
        host.thaw()


def freezes(duration_s: int, every_s: float) -> list[float]:
    """Return the gaps between freezes that go on until a run ends."""
    return [every_s - FREEZE_S] * int(duration_s / every_s - 1)


def stalls(count: int, burst: int, every_s: float) -> list[float]:
    """Return the gaps between stalls that come in bursts, as on real disks."""
    gap_s = 0.1
    pause_s = every_s - burst * (STALL_S + gap_s)
    return [gap_s if number % burst else pause_s for number in range(1, count + 1)]


def judgement_of(outcome: Outcome, host: str, metric: str) -> dict:
    """Return a judgement from the host's record; report.json must contain the same sentence."""
    (judgement,) = [
        each
        for each in outcome.certification.records[host]["judgements"]
        if each["metric"] == metric and not each["hard"]
    ]
    (shown,) = [each for each in outcome.certification.report["hosts"] if each["host"] == host]
    assert judgement["reason"] in [limit["worst"]["reason"] for limit in shown["limits"]]
    print(f"{host}: {judgement}")  # pytest shows it if the test fails
    return judgement


def outcome_of(judgement: dict) -> str:
    return "fail" if DISTURBED in judgement["reason"] else judgement["verdict"]


def check_freezing(outcome: Outcome, host: str) -> None:
    """The share of time that the freezes take breaks its limit. Their share of the writes is too small to matter."""
    per_write, of_time = (judgement_of(outcome, host, metric) for metric in (P99, OF_TIME))
    assert per_write["verdict"] == "pass"
    assert per_write["share"] < per_write["share_bound"] < 0.01
    assert "of them took longer (with 95 % confidence at most" in per_write["reason"]
    assert outcome_of(of_time) == "fail"
    assert of_time["share"] > 0.03
    assert "of the time went into writes that took longer (allowed 1 %)." in of_time["reason"]
    assert BEYOND_CHANCE in of_time["reason"]
    assert "of the time went into writes that took longer" in outcome.words


def check_at_the_limit(outcome: Outcome, host: str) -> None:
    at_limit = judgement_of(outcome, host, P99)
    assert (at_limit["verdict"], at_limit["seconds_needed"]) == ("inconclusive", None)
    assert 0.007 < at_limit["share"] < 0.02
    for text in (at_limit["reason"], outcome.words):
        assert "The figure lies at the limit, so measuring longer will not decide it." in text


@pytest.mark.thorough
def test_freezes_and_a_figure_at_its_limit(
    start: Start, controller: Controller, tmp_path: Path, background: Callable[..., Future]
) -> None:
    duration_s, slow_rate = 20, 50
    bed = start(
        HostSpec("freezing", variables={"sweep_rate": 500}), HostSpec("edge", variables={"sweep_rate": slow_rate})
    )
    stalling = [
        background(stall, bed["freezing"], FREEZE_S, freezes(duration_s, 2)),
        # One stall for every hundred writes.
        background(stall, bed["edge"], STALL_S, stalls(duration_s * slow_rate // 100, 5, 8)),
    ]

    outcome = controller.certify(
        bed.inventory(tmp_path / "hosts.yml"), gate_profile=STALLING, sweep_duration=duration_s, **SWEEP
    )

    assert [each.result() for each in stalling] == [None, None]
    assert outcome.status == 2
    check_freezing(outcome, "freezing")
    check_at_the_limit(outcome, "edge")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("seconds", "rate"),
    [
        (5, 250),
        pytest.param(60, 20, marks=pytest.mark.acceptance),
    ],
)
def test_a_run_as_long_as_an_inconclusive_one_asks_for(
    start: Start, controller: Controller, tmp_path: Path, seconds: int, rate: int
) -> None:
    inventory = start("h1").inventory(tmp_path / "hosts.yml")
    profile = {"name": "test", "limits": [{"metric": "latency_p99_9", "max": "9 s"}]}
    sweep = {**SWEEP, "sweep_rate": rate, "gate_profile": profile}
    first = controller.certify(inventory, sweep_duration=seconds, **sweep)
    assert first.status == 2
    judgement = judgement_of(first, "h1", "latency_p99_9")
    assert judgement["verdict"] == "inconclusive"
    needed = judgement["seconds_needed"]
    assert seconds < needed <= 20 * seconds
    assert f"Measuring for {needed} s in all should decide it." in judgement["reason"]
    assert f"Measuring for {needed} s in all should decide it." in first.words

    (controller.directory / "reports").rename(tmp_path / "first")
    second = controller.certify(inventory, sweep_duration=needed, timeout_s=needed + 900, **sweep)
    assert second.status == 0
    judgement = judgement_of(second, "h1", "latency_p99_9")
    assert judgement["verdict"] == "pass"
    assert judgement["share_bound"] <= 0.001
    assert "Covered: slow phases of up to" in judgement["reason"]


@pytest.mark.acceptance
def test_ten_minutes(start: Start, controller: Controller, tmp_path: Path, background: Callable[..., Future]) -> None:
    """A healthy disk is certified, a disk that freezes now and then breaks the limit on the share of time, and the
    result for a disk at its limit remains inconclusive."""
    duration_s, slow_rate = 600, 50
    # Silver for one block size, relaxed because other tests write to the same disk, which makes it stall for a second
    # now and then. It does not extend silver, whose limit on 1 MiB could not be removed.
    limits = {"latency_mean": "10 ms", P99: "100 ms", "latency_p99_9": "1 s", "latency_max": "9 s", OF_TIME: "2 s"}
    shared_silver = {
        "name": "shared-silver",
        "qualifies": {"min_duration_s": duration_s, "min_footprint": "64 MiB", "block_sizes": ["4K"]},
        "limits": [{"metric": metric, "max": limit} for metric, limit in limits.items()],
    }
    bed = start(
        HostSpec("healthy", disk="directory", variables={"gate_profile": shared_silver}),
        HostSpec("freezing", variables={"gate_profile": STALLING}),
        HostSpec("edge", variables={"gate_profile": STALLING, "sweep_rate": slow_rate}),
    )
    stalling = [
        background(stall, bed["freezing"], FREEZE_S, freezes(duration_s, 7)),
        background(stall, bed["edge"], STALL_S, stalls(duration_s * slow_rate // 100, 10, 19)),
    ]
    sweep = {**QUICK, **SWEEP, "sweep_duration": duration_s, "sweep_poll_interval": 30}
    del sweep["gate_profile"]  # it would have priority over the hosts' own processes

    outcome = controller.run("certify", "-i", str(bed.inventory(tmp_path / "hosts.yml")), timeout_s=1800, **sweep)

    assert [each.result() for each in stalling] == [None, None]
    healthy = outcome.certification.records["healthy"]
    assert (healthy["verdict"], healthy["certified"], healthy["qualification"]) == ("pass", True, "")
    assert {each["method"] for each in healthy["judgements"]} >= {"share of operations", "share of time", "batch means"}
    check_freezing(outcome, "freezing")
    check_at_the_limit(outcome, "edge")
