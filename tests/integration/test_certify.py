# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job: certify.yml over real hosts, and a report whose formats agree with each other and with the raw tables."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import SLOW_MS, Controller
from certification import Certification, summaries, summary_verdicts
from testbed import Bed, HostSpec

Start = Callable[..., Bed]


def leftovers(bed: Bed) -> dict[str, list[str]]:
    """What a certification left on each host that was not there before. The tester itself stays, for the next time."""
    places = ("/fut", "/tmp", "/var/tmp", "/root/.ansible/tmp")
    allowed = {"/fut/lost+found"}
    return {host.name: [*host.pids("logdisk").values(), *(path for path in host.files(*places) if path not in allowed)] for host in bed}


def test_three_hosts(start: Start, controller: Controller, tmp_path: Path) -> None:
    """One host is healthy, one slow, one out of reach."""
    bed = start("good", HostSpec("slow", disk="slow"), "dead")
    bed["slow"].set_delay_ms(SLOW_MS)
    bed["dead"].link_down()
    outcome = controller.certify(bed.inventory(tmp_path / "hosts.yml"))
    certification = outcome.certification
    expected = {"good": "pass", "slow": "fail", "dead": "unreachable"}

    assert outcome.status == 2
    assert certification.verdicts() == dict.fromkeys(certification.verdicts(), expected)
    assert summary_verdicts(outcome.screen) == {"slow": "fail", "dead": "unreachable"}
    assert len(summaries(outcome.screen)) == 1
    assert (outcome.directory / "reports/latest").resolve() == certification.path
    # The message of the task that fails the play names each host, limit, figure and count.
    assert "slow: fail: latency_mean" in outcome.screen
    assert "dead: unreachable" in outcome.screen

    check_tables(certification, {"good", "slow"})
    check_formats(certification)
    assert leftovers(bed) == {"good": [], "slow": [], "dead": []}
    check_report_again(controller, certification.path, tmp_path / "elsewhere")


def check_tables(certification: Certification, measured: set[str]) -> None:
    """The raw tables are those that the record names, and right in themselves."""
    for host, record in certification.records.items():
        assert set(record["tables"]) >= ({"run.csv", "results.csv", "intervals.csv", "histogram.csv"} if host in measured else set())
        folder = certification.path / "hosts" / host / record["volume"]
        for name, filed in record["tables"].items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == filed["sha256"]
    for host in measured:
        check_results(certification.table(host), certification.table(host, "intervals.csv"), certification.table(host, "histogram.csv"))


def check_results(results: list[dict[str, str]], intervals: list[dict[str, str]], histogram: list[dict[str, str]]) -> None:
    assert results
    for row in results:
        writes, bytes_written = int(row["writes"]), int(row["bytes"])
        assert bytes_written == writes * int(row["block_size_bytes"])
        assert float(row["latency_mean_ns"]) * writes == pytest.approx(int(row["latency_sum_ns"]), rel=0.001)
        assert float(row["bytes_per_s"]) == pytest.approx(bytes_written / int(row["elapsed_ns"]) * 1e9, rel=0.001)
        if row["queue_manager"] != "all":
            continue
        step = row["step"]
        parts = [other for other in results if other["step"] == step and other["queue_manager"] != "all"]
        assert writes == sum(int(part["writes"]) for part in parts)
        assert writes == sum(int(second["writes"]) for second in intervals if second["step"] == step)
        assert writes == sum(int(bucket["writes"]) for bucket in histogram if bucket["step"] == step)


def check_formats(certification: Certification) -> None:
    """Every format shows the figures of the raw tables, for every host and row."""
    compared = ("block_size_bytes", "queue_manager", "writes", "bytes", "latency_sum_ns", "latency_max_ns")
    for host in certification.report["hosts"]:
        name = host["host"]
        raw = certification.table(name) if host["kind"] == "measurement" else []
        assert [[str(row[column]) for column in compared] for row in host["results"]] == [[row[column] for column in compared] for row in raw]
        listed = [row for row in certification.results if row["host"] == name]
        if raw:
            assert [[row[column] for column in compared] for row in listed] == [[row[column] for column in compared] for row in raw]
        else:
            assert len(listed) == 1
    assert certification.verdict["reasons"]
    for reason in certification.verdict["reasons"]:
        assert reason.split(":")[0] in certification.records
    assert certification.html.loads == [], "the page is self-contained"


def check_report_again(controller: Controller, original: Path, elsewhere: Path) -> None:
    """report.yml renders the same report from the run directory alone."""
    kept = {path.name: path.read_bytes() for path in original.iterdir() if path.is_file()}
    elsewhere.mkdir()
    moved = elsewhere / original.name
    original.rename(moved)
    for name in kept:
        if name not in ("run.json", "verdict.json"):
            (moved / name).unlink()

    outcome = controller.run("report", "-i", "localhost,", report_runs=[str(moved)])

    assert outcome.status == 0
    rendered = {path.name: path.read_bytes() for path in moved.iterdir() if path.is_file()}
    assert rendered.keys() == kept.keys()
    assert [name for name in kept if rendered[name] != kept[name] and not name.startswith(".")] == []


def test_a_user_with_sudo(start: Start, controller: Controller, tmp_path: Path) -> None:
    """The mount under test belongs to root; the tester runs as the connecting user all the same."""
    as_nobody = {"workspace_owner": "nobody", "tester_dir": "/var/tmp/tester", "sweep_state_dir": "/var/tmp/state"}
    bed = start(HostSpec("h1", user="ops"), HostSpec("h2", user="ops", variables=as_nobody))
    outcome = controller.certify(bed.inventory(tmp_path / "hosts.yml"))
    assert outcome.status == 0
    assert {name: record["facts"]["user"] for name, record in outcome.certification.records.items()} == {"h1": "ops", "h2": "nobody"}


def test_several_queue_managers(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start("h1")
    names = ["QM_A", "QM_B", "QM_C"]
    choices = {"workspace_queue_managers": names, "sweep_queue_managers": [1, 3], "sweep_block_sizes": ["4K"]}
    outcome = controller.certify(bed.inventory(tmp_path / "hosts.yml"), **choices)
    assert outcome.status == 0
    rows = [(row["queue_managers"], row["queue_manager"]) for row in outcome.certification.table("h1")]
    assert sorted(rows) == sorted([("1", "1"), ("1", "all"), ("3", "1"), ("3", "2"), ("3", "3"), ("3", "all")])
    assert all(name in (outcome.certification.path / "results.csv").read_text() for name in names)
    check_tables(outcome.certification, {"h1"})
    assert leftovers(bed) == {"h1": []}


def test_a_second_run_changes_nothing_but_measures_again(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start("h1")
    inventory = bed.inventory(tmp_path / "hosts.yml")
    first = controller.certify(inventory)
    tester = [path for path in bed["h1"].files("/root/.mqops-logdisk") if path.endswith("/logdisk")]
    second = controller.certify(inventory)
    assert (first.status, second.status) == (0, 0)
    assert "Build the tester" in first.screen
    assert [path for path in bed["h1"].files("/root/.mqops-logdisk") if path.endswith("/logdisk")] == tester
    assert len(second.certifications) == 2
    assert (second.directory / "reports/latest").resolve() == second.certifications[-1].path


def test_check_mode_measures_nothing(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start("h1")
    before = bed["h1"].files("/fut", "/root", "/var/tmp", "/tmp")
    outcome = controller.certify(bed.inventory(tmp_path / "hosts.yml"), "--check")
    assert outcome.status == 0
    assert "NOT MEASURED" in outcome.screen
    assert [path for path in bed["h1"].files("/fut", "/root", "/var/tmp", "/tmp") if path not in before and not path.startswith("/root/.ansible")] == []
