# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates are stored by each run, reported without contacting a host, and restored from run directories. Problems
with the history are always reported."""

import datetime
import json
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
from ansible_runs import QUICK, Controller, Outcome
from testbed import Bed, HostSpec
from testbed.shell import wait_for


def profile(**limit: str) -> dict:
    """Return a profile that certifies even a quick, late or shortened sweep, if the measured figure keeps the limit."""
    return {"name": "quick", "version": 1, "qualifies": {"min_duration_s": 0.5, "confidence": 0.95}, "limits": [limit]}


GOOD = profile(metric="latency_max", max="9 s")
# Disturbances do not excuse a low throughput.
BAD = profile(metric="interval_bytes_per_s_min", min="1000 GB/s")
MQLDT_CSV = (
    "Blocksize,Total bytes written to files,Avg bytes/sec written to files,Max latency of write (ns),Min latency of "
    "write (ns),Avg latency of write (ns)\r\n"
    "4096,103673856,34558314,724878,56458,112402\r\n"
)
STATES = {"certifies": "valid", "fails": "failed", "attempt": "none"}
"""The state of a volume with a single certificate, by the effect of that certificate."""


@pytest.fixture
def inventory(start: Callable[..., Bed], tmp_path: Path) -> Path:
    """A host h1 that a run can certify, and h2, which was never certified."""
    return start(HostSpec("h1", alone=True), "h2").inventory(
        tmp_path / "hosts.yml", variables={**QUICK, "gate_profile": GOOD}
    )


def certify(controller: Controller, inventory: Path, effect: str = "certifies", **variables: object) -> Outcome:
    """Certify h1, or let it fail, regardless of how busy this machine is."""
    return controller.certify_until(
        lambda outcome: certificate_of(outcome)["effect"] == effect, inventory, "--limit", "h1", **variables
    )


def certificate_of(outcome: Outcome) -> dict:
    return json.loads((outcome.certifications[-1].path / "hosts/h1/log/certificate.json").read_text())


def states(outcome: Outcome) -> dict[str, str]:
    """Return the state of each host in status.json."""
    content = json.loads((outcome.directory / "reports/status.json").read_text())
    return {volume["host"]: volume["state"] for volume in content["volumes"]}


@pytest.mark.long
def test_the_memory_of_a_fleet(inventory: Path, controller: Controller) -> None:
    everything, h1 = ("-i", str(inventory)), ("-i", str(inventory), "--limit", "h1")
    assert certify(controller, inventory).status == 0
    missing = controller.run("status", *everything)
    assert missing.status == 2 and "h2: never measured" in missing.words and states(missing)["h1"] == "valid"

    (only,) = missing.certifications
    compared = controller.run("compare", *h1, compare_before="2020-01-01", compare_after=only.path.name)
    assert compared.status == 2 and "has nothing under '2020-01-01'" in compared.words.replace("''", "'")
    (missing.directory / "reports/history.sqlite").unlink()
    # The playbook runs even with a limit.
    assert "had 0 of 1 entries, and 1 were added" in controller.run("history", *h1, history_import="reports").screen
    drift = controller.run("drift", *h1)
    assert drift.status == 0 and "UNKNOWN: 1 volume cannot be judged yet" in drift.words


@pytest.mark.thorough
def test_the_states_of_a_volume(inventory: Path, controller: Controller) -> None:
    everything, h1 = ("-i", str(inventory)), ("-i", str(inventory), "--limit", "h1")
    nothing = controller.run("status", *everything)
    assert nothing.status == 2 and "does not exist" in nothing.words

    first = certify(controller, inventory, gate_profile=GOOD, gate_array_settings={"pool": "gold1", "cache": 64})
    assert first.status == 0
    assert certificate_of(first)["environment"]["array_settings"] == "cache=64, pool=gold1"
    assert "cache=64, pool=gold1" in (first.certification.path / "index.html").read_text()
    certified = controller.run("status", *h1)
    assert (certified.status, states(certified)) == (0, {"h1": "valid"})
    stricter = controller.run("status", *h1, gate_profile={**GOOD, "name": "stricter"})
    assert stricter.status == 2 and "h1: it has not been certified against stricter yet" in stricter.words
    later = (datetime.date.today() + datetime.timedelta(days=100)).isoformat()
    expired = controller.run("status", *h1, status_today=later)
    assert (expired.status, states(expired)) == (2, {"h1": "expired"})

    # A comparison of one run with one other is inconclusive, and the report shows how many runs are needed, unless the
    # runs were disturbed.
    second = certify(controller, inventory, gate_profile=GOOD, gate_array_settings={"pool": "gold1", "cache": 64})
    first, second = (each.path for each in second.certifications)
    compared = controller.run("compare", *h1, compare_before=first.name, compare_after=str(second))
    assert compared.status == 2 and (
        "3 before and 3 after can" in compared.words or "its measurement was disturbed" in compared.words
    )
    (page,) = (second.parent).glob("compare-*/comparison.html")
    assert (
        "inconclusive" in page.read_text()
        and json.loads(page.with_suffix(".json").read_text())["outcome"] == "inconclusive"
    )
    assert 'href="../status.html"' in page.read_text() and (second.parent / "status.html").is_file()

    assert (
        certify(
            controller, inventory, "fails", gate_profile=BAD, gate_array_settings={"pool": "gold2", "cache": 64}
        ).status
        == 2
    )
    failed = controller.run("status", *h1)
    assert (failed.status, states(failed)) == (2, {"h1": "failed"})
    assert "array_settings cache=64, pool=gold1 -> cache=64, pool=gold2" in failed.words

    (failed.directory / "reports/history.sqlite").unlink()
    assert "had 0 of 3 entries, and 3 were added" in controller.run("history", *h1, history_import="reports").screen
    rebuilt = controller.run("status", *h1)
    assert (rebuilt.status, states(rebuilt)) == (2, {"h1": "failed"})
    again = controller.run("history", *everything, history_import="reports")
    assert again.status == 0 and "0 were added" in again.words
    for name in ("old.csv", "QM1-h1-2019-05-04.csv"):
        (controller.directory / name).write_text(MQLDT_CSV)
    assert "1 run of h1, 1 added" in controller.run("history", *h1, history_import_mqldt="QM1-h1-2019-05-04.csv").screen
    origin = {"history_mqldt_host": "h2", "history_mqldt_dates": ["2019-05-04"], "history_mqldt_volume": "data"}
    assert (
        "1 run of h2/data, 1 added" in controller.run("history", *h1, history_import_mqldt="old.csv", **origin).screen
    )
    imported = controller.run("status", *everything)
    assert "h2: it has not been certified" in imported.words and states(imported) == {"h1": "failed", "h2": "none"}
    assert controller.run("history", *everything).status == 2

    # The throughput of imported results is shown together with later measurements.
    drift = controller.run("drift", *everything)
    assert drift.status == 0 and "UNKNOWN: 2 volumes cannot be judged yet" in drift.words
    reports = controller.directory / "reports"
    shown = {volume["host"]: volume for volume in json.loads((reports / "drift.json").read_text())["volumes"]}
    assert shown["h1"]["certificates"][0]["judged_at"][:4] == "2019" and shown["h2"]["volume"] == "data"
    assert {each["figure"] for each in shown["h2"]["series"]} == {"bytes_per_s"}
    assert (reports / "drift.html").read_text().count("<svg") >= 2


@pytest.mark.thorough
def test_a_history_that_cannot_be_written(inventory: Path, controller: Controller, tmp_path: Path) -> None:
    h1 = ("-i", str(inventory), "--limit", "h1")
    broken = tmp_path / "broken"
    broken.write_text("this is not a database, " * 100)
    for playbook in ("certify", "preflight"):
        refused = controller.run(
            playbook,
            *h1,
            "-vvv",
            env={"LOGDISK_HISTORY_PASSWORD": "hunter2"},
            gate_profile=GOOD,
            gate_history=str(broken),
        )
        assert refused.status == 2 and "USAGE" in refused.words and "certificates cannot be stored" in refused.words
        assert refused.certifications == [] and "hunter2" not in refused.words

    optional = controller.run(
        "certify", *h1, gate_profile=GOOD, gate_history=str(broken), gate_history_required=False, gate_report_only=True
    )
    assert (
        optional.status == 0
        and "certificates cannot be stored" in optional.words
        and "were not stored" in optional.words
    )
    for wrong in ({"gate_history": "postgresql://u:hunter2@h/db"}, {"gate_valid_days": 0}):
        outcome = controller.run("certify", *h1, gate_profile=GOOD, **wrong)
        assert outcome.status == 2 and "USAGE" in outcome.words and "hunter2" not in outcome.words


@pytest.mark.thorough
def test_a_history_that_fails_while_hosts_are_measured(
    inventory: Path, controller: Controller, background: Callable[..., Future]
) -> None:
    h1 = ("-i", str(inventory), "--limit", "h1")
    running = background(controller.run, "certify", *h1, gate_profile=GOOD)
    reports = controller.directory / "reports"
    wait_for(lambda: list(reports.glob("*/run.json")) or running.done(), "the run is opened")
    (reports / "history.sqlite").write_text("this is not a database, " * 100)
    failed = running.result()
    assert failed.status == 2 and "were not stored" in failed.words
    directory = failed.certification.path
    assert (directory / "index.html").exists() and (directory / "hosts/h1/log/certificate.json").exists()
    outcome = json.loads((reports / "outcome.json").read_text())
    assert outcome["outcome"] == "internal" and "were not stored" in outcome["message"]
    (reports / "history.sqlite").unlink()
    assert (
        "had 0 of 1 entries, and 1 were added" in controller.run("history", *h1, history_import=str(directory)).screen
    )
    # A run that was disturbed by other load has no valid certificate in the history.
    assert states(controller.run("status", *h1)) == {"h1": STATES[certificate_of(failed)["effect"]]}
