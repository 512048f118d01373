# SPDX-License-Identifier: GPL-3.0-or-later
"""Certifies real hosts with certify.yml, and checks that the formats of the report agree with each other and with the
raw tables."""

import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import COMPILE, PROFILE, QUICK, SLOW_MS, Controller
from certification import Certification, summaries, summary_verdicts
from leftovers import left_on
from screen import widest
from testbed import Bed, HostSpec

Start = Callable[..., Bed]


@pytest.mark.long
def test_three_hosts(start: Start, controller: Controller, tmp_path: Path) -> None:
    """One host is healthy, one is slow, and one cannot be reached."""
    bed = start(HostSpec("good", variables=COMPILE), HostSpec("slow", disk="slow"), "dead")
    bed["slow"].set_delay_ms(SLOW_MS)
    bed["dead"].link_down()
    # A limit on the median that every disk of these tests keeps.
    profile = {**PROFILE, "limits": [*PROFILE["limits"], {"metric": "latency_p50", "below": "9 s"}]}
    outcome = controller.run(
        "certify", "-i", str(bed.inventory(tmp_path / "hosts.yml", variables={**QUICK, "gate_profile": profile}))
    )
    certification = outcome.certification
    expected = {"good": "pass", "slow": "fail", "dead": "unreachable"}

    assert outcome.status == 2
    assert certification.verdicts() == dict.fromkeys(certification.verdicts(), expected)
    assert summary_verdicts(outcome.screen, ("slow", "dead")) == {"slow": "fail", "dead": "unreachable"}
    (summary,) = summaries(outcome.screen)
    after_recap = outcome.screen[outcome.screen.index("PLAY RECAP") :]
    assert summary in after_recap
    assert str(certification.path) in after_recap
    assert (outcome.directory / "reports/latest").resolve() == certification.path
    # The messages of failed hosts contain the verdicts and the location of the report. The reasons are printed once,
    # after the recap.
    before_recap = outcome.screen[: outcome.screen.index("PLAY RECAP")]
    assert "slow: fail; see" in before_recap and "dead: unreachable; see" in before_recap
    assert "Connection timed out" not in before_recap
    assert len(widest(outcome.screen)) <= 200
    assert "dead, good, slow: test requires 300 s per row" in outcome.screen[: outcome.screen.index("PLAY [Measure]")]

    check_tables(certification, {"good", "slow"})
    check_formats(certification)
    assert {host.name: left_on(host) for host in bed} == {"good": [], "slow": [], "dead": []}
    check_report_again(controller, certification.path, tmp_path / "elsewhere")


def check_tables(certification: Certification, measured: set[str]) -> None:
    """The raw tables match the record, and are consistent."""
    for host, record in certification.records.items():
        assert set(record["tables"]) >= (
            {"run.csv", "results.csv", "intervals.csv", "histogram.csv", "over.csv"} if host in measured else set()
        )
        folder = certification.path / "hosts" / host / record["volume"]
        for name, filed in record["tables"].items():
            compressed = folder / f"{name}.gz"
            content = gzip.decompress(compressed.read_bytes()) if compressed.exists() else (folder / name).read_bytes()
            assert hashlib.sha256(content).hexdigest() == filed["sha256"]
    for host in measured:
        check_results(
            certification.table(host),
            certification.table(host, "intervals.csv"),
            certification.table(host, "histogram.csv"),
        )
        thresholds = {row["key"]: row["value"] for row in certification.table(host, "run.csv")}[
            "option_over_ns"
        ].split()
        assert "8999999999" in thresholds, "the profile's own limit"
        assert {row["over_ns"] for row in certification.table(host, "over.csv")} <= set(thresholds)
    slow = [int(row["operations"]) for row in certification.table("slow", "over.csv") if row["over_ns"] == "10000000"]
    assert sum(slow) == sum(int(row["operations"]) for row in certification.table("slow") if row["worker"] == "all")


def check_results(
    results: list[dict[str, str]], intervals: list[dict[str, str]], histogram: list[dict[str, str]]
) -> None:
    assert results
    for row in results:
        operations, bytes_written = int(row["operations"]), int(row["bytes"])
        assert bytes_written == operations * int(row["block_size_bytes"])
        assert float(row["latency_mean_ns"]) * operations == pytest.approx(int(row["latency_sum_ns"]), rel=0.001)
        assert float(row["bytes_per_s"]) == pytest.approx(bytes_written / int(row["elapsed_ns"]) * 1e9, rel=0.001)
        if row["worker"] != "all":
            continue
        step = row["step"]
        parts = [other for other in results if other["step"] == step and other["worker"] != "all"]
        assert operations == sum(int(part["operations"]) for part in parts)
        assert operations == sum(int(second["operations"]) for second in intervals if second["step"] == step)
        assert operations == sum(int(bucket["operations"]) for bucket in histogram if bucket["step"] == step)


def check_formats(certification: Certification) -> None:
    """Every format shows the figures of the raw tables, for every host and row."""
    compared = (
        "block_size_bytes",
        "load_point",
        "stream",
        "operation",
        "worker",
        "operations",
        "bytes",
        "latency_sum_ns",
        "latency_max_ns",
    )
    for host in certification.report["hosts"]:
        name = host["host"]
        raw = certification.table(name) if host["kind"] == "measurement" else []
        assert [[str(row[column]) for column in compared] for row in host["results"]] == [
            [row[column] for column in compared] for row in raw
        ]
        listed = [row for row in certification.results if row["host"] == name]
        if raw:
            assert [[row[column] for column in compared] for row in listed] == [
                [row[column] for column in compared] for row in raw
            ]
        else:
            assert len(listed) == 1
    assert certification.verdict["reasons"]
    for reason in certification.verdict["reasons"]:
        assert reason.split(":")[0] in certification.records
    assert certification.html.loads == [], "the page is self-contained"


def check_report_again(controller: Controller, original: Path, elsewhere: Path) -> None:
    """report.yml renders the same report from the run directory alone, and ends with the same exit status as
    certify.yml."""
    kept = {path.name: path.read_bytes() for path in original.iterdir() if path.is_file()}
    elsewhere.mkdir()
    moved = elsewhere / original.name
    original.rename(moved)
    for name in kept:
        if name not in ("run.json", "verdict.json"):
            (moved / name).unlink()

    outcome = controller.run("report", "-i", "localhost,", report_runs=[str(moved)])

    assert outcome.status == 2
    rendered = {path.name: path.read_bytes() for path in moved.iterdir() if path.is_file()}
    assert rendered.keys() == kept.keys()
    assert [name for name in kept if rendered[name] != kept[name] and not name.startswith(".")] == []


@pytest.mark.thorough
def test_check_mode_measures_nothing(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start("h1")
    before = bed["h1"].files("/fut", "/root", "/var/tmp", "/tmp")
    outcome = controller.certify(bed.inventory(tmp_path / "hosts.yml"), "--check")
    assert outcome.status == 0
    assert "READY: " in outcome.words
    assert [
        path
        for path in bed["h1"].files("/fut", "/root", "/var/tmp", "/tmp")
        if path not in before and not path.startswith("/root/.ansible")
    ] == []
