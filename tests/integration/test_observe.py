# SPDX-License-Identifier: GPL-3.0-or-later
"""Live queue managers that are observed over SSH. The programs of tests/mq replay MQ's output."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import PROJECT, Controller
from certification import Certification
from mq import install_amqsrua
from testbed import Bed, HostSpec
from testbed.host import Host
from testbed.shell import wait_for

AMQSRUA = "opt/mqm/samp/bin/amqsrua"
RECORDED = PROJECT / "tests/fixtures/observe"
WAIT_S = 28
"""How long the endpoints are read. This is shorter than the time after which an endpoint without new data is abandoned.
Four publications are requested from amqsrua."""

OLD, NEW = 598876160 + 601202688 + 590135296, 41943040 + 39845888 + 52428800
"""The bytes in the recordings."""
FIGURES = {
    # host: bytes, writes (bytes over size), mean latency in microseconds, slowest write in this time in nanoseconds
    "old": (OLD, 48813, 287.66, ""),
    "ends": (NEW, 14251, 872.81, ""),
    "new": (NEW, 14251, 872.81, "187002000"),
    "micro": (OLD, 48813, 287.66, ""),
    "seconds": (NEW, 14251, 872.81, "187002000"),
    "container": (NEW, 14251, 872.81, "187002000"),
}
REASONS = {
    "container": (
        "http://localhost:9157/metrics cannot be read: nothing listens there. Start the exporter of the "
        "queue manager, or set observe_url"
    ),
    "ends": (
        "queue manager QM1 ended, or ended the connection (amqsrua: MQGET ended with reason code 2162). To go on: "
        "observe it again when it is running"
    ),
    "hangs": (
        "amqsrua printed nothing for 30 s, and was ended. Check whether QM1 still answers (echo 'PING QMGR' | "
        "runmqsc QM1)"
    ),
    "denied": "setmqaut -m QM1 -t topic -n SYSTEM.ADMIN.TOPIC -p ops +sub",
    "other": (
        "http://localhost:9157/metrics reports queue manager QM2, not QM1: set observe_url to the endpoint of this "
        "queue manager"
    ),
}


def recorded(name: str) -> str:
    return (RECORDED / name).read_text()


def answers(name: str) -> list[str]:
    """Return the answers of an endpoint: one for the check, then those of the recording, and finally one without any
    data about the log."""
    found = recorded(name).split("# --- the next GET ---\n")[1:]
    return [found[0], *found, 'ibmmq_qmgr_status{qmgr="QM1"} 2\n']


def in_microseconds(text: str) -> str:
    """Publish the latency as other exporters do."""
    name = "log_write_latency_seconds"
    lines = (
        line.rpartition(" ") if name in line and not line.startswith("#") else (line, "", "")
        for line in text.splitlines()
    )
    return "".join(f"{own}{blank}{float(value) * 1e6 if value else ''}\n" for own, blank, value in lines).replace(
        name, "log_write_latency_microseconds"
    )


def start_exporter(bed: Bed, host: Host, said: list[str]) -> None:
    place = host.root / "srv"
    shutil.copy(PROJECT / "tests/mq/exporter.py", place)
    (place / "play.json").write_text(json.dumps({"answers": said}))
    bed.ssh(host, "setsid python3 /srv/exporter.py /srv/play.json 9157 > /tmp/port 2> /dev/null < /dev/null &")
    wait_for(
        lambda: (host.root / "tmp/port").exists() and (host.root / "tmp/port").read_text().endswith("\n"),
        "the endpoint listens",
    )


def reason_of(run: Certification, host: str) -> str:
    record = run.records[host]
    tester = {row["key"]: row["value"] for row in run.table(host, "run.csv")} if (record.get("tester") or {}) else {}
    return " ".join([*record["reasons"], tester.get("exit_message", "")])


@pytest.mark.long
def test_what_mq_says_becomes_right_figures_or_a_clear_error(
    start: Callable[..., Bed], controller: Controller, tmp_path: Path
) -> None:
    """Three versions of MQ are observed with two sources, and both sources report their errors. Each case has a
    separate host. The user cannot become root."""
    names = [*FIGURES, *(name for name in REASONS if name not in FIGURES)]
    bed = start(*(HostSpec(name, user="ops", remove=("usr/bin/sudo",)) for name in names))
    install_amqsrua(bed["old"].root / AMQSRUA, text=recorded("amqsrua-9.0.5.txt"))
    install_amqsrua(bed["ends"].root / AMQSRUA, text=recorded("amqsrua-9.2.txt"))
    unknown = "Log - phase of the moon 7 furlongs\nParameter(99) Value(7) not recognised\nLog - write latency"
    install_amqsrua(bed["new"].root / AMQSRUA, text=recorded("amqsrua-9.4.txt").replace("Log - write latency", unknown))
    install_amqsrua(bed["hangs"].root / AMQSRUA, hang=True)
    install_amqsrua(bed["denied"].root / AMQSRUA, refuse=2035)
    start_exporter(bed, bed["micro"], [in_microseconds(answer) for answer in answers("mq_prometheus-9.1.txt")])
    start_exporter(bed, bed["seconds"], answers("mq_prometheus-9.4.txt"))
    start_exporter(bed, bed["container"], [*answers("mq-container-9.4.txt")[:-1], "stop"])
    start_exporter(
        bed, bed["other"], [answer.replace('qmgr="QM1"', 'qmgr="QM2"') for answer in answers("mq_prometheus-9.1.txt")]
    )

    outcome = controller.run(
        "observe",
        "-i",
        str(bed.inventory(tmp_path / "hosts.yml")),
        observe_queue_manager="QM1",
        observe_duration=WAIT_S,
        observe_interval=1,
    )

    assert outcome.status == 2
    run = outcome.certification
    for host, (written, operations, mean_us, longest_ns) in FIGURES.items():
        row = next(row for row in run.table(host) if row["worker"] == "all")
        assert (int(row["bytes"]), int(row["operations"]), row["latency_max_ns"]) == (
            written,
            operations,
            longest_ns,
        ), host
        assert abs(float(row["latency_mean_ns"]) / 1000 - mean_us) < 0.01, host
        assert row["latency_p99_ns"] == row["latency_min_ns"] == "", host
        assert run.records[host]["facts"]["user"] == "ops"
    assert {host: run.records[host]["verdict"] == "error" for host in names} == {
        host: host not in FIGURES for host in names
    }
    for host, reason in REASONS.items():
        assert reason in reason_of(run, host), host
    # amqsrua prints a publication every 10 s, but its replacement in the tests prints all of them immediately.
    shares = {host: float(next(iter(run.table(host)))["logger_utilisation_share"]) for host in ("old", "ends")}
    assert abs(shares["old"] - 14.041514 / 40.01) < 0.001 and abs(shares["ends"] - 12.438423 / 30) < 0.001
    for host in bed:
        assert not [path for path in host.files("/home/ops/.mqops-logdisk") if "/runs/" in path]
