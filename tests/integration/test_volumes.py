# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts with several volumes: each has its own record and verdict, and a problem with one does not affect the
others."""

import json
import os
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from ansible_runs import PROJECT, QUICK, Controller
from certification import read_csv
from leftovers import left_on, measuring
from mq import install_amqsrua
from testbed import Bed, HostSpec
from testbed.host import Host
from testbed.shell import run as command
from testbed.shell import wait_for

Start = Callable[..., Bed]

COUNTING = """#!/bin/sh
# A command to ssh's own master (-O) is not a call to the host.
case " $* " in *" -O "*) ;; *) echo call >> {calls} ;; esac
exec ssh "$@"
"""
REMOTE_CALLS = 6
"""The number of calls to a host, not counting polls, in a certification that builds the tester on the host. It does not
depend on the number of volumes."""

QUEUE_MANAGERS = {
    "QM1": ("/log1", "LogFilePages=64\nLogPrimaryFiles=8"),
    "QM2": ("/log1", "LogFilePages=128\nLogPrimaryFiles=4\nLogBufferPages=18"),
    "QM3": ("/log2", "LogFilePages=64"),
    "QM4": ("/log2", "LogFilePages=64\nLogPrimaryFiles=4"),
    "QM5": ("/log3", "LogFilePages=64\nLogPrimaryFiles=2"),
}
"""The queue managers of the host, each with the mount point of its log and the other content of the stanza Log."""
RUNNING = (
    "printf '#!/bin/sh\\nsleep 900\\n' > /usr/local/bin/amqzxma0; chmod 755 /usr/local/bin/amqzxma0; setsid "
    "/usr/local/bin/amqzxma0 -m QM3 > /dev/null 2>&1 &"
)
SWEEP = {
    "sweep_duration": 2,
    "sweep_poll_interval": 3,
    "sweep_rate": 500,
    "sweep_deadline": 30,
    "sweep_block_sizes": ["4K"],
}
VOLUMES = ("log1", "log2", "log3")

pytestmark = pytest.mark.usefixtures("machine")


def configure_qm1(host: Host) -> None:
    """Give the host the configuration of a queue manager, whose log directory is empty."""
    mqs_ini = host.root / "var/mqm/mqs.ini"
    (mqs_ini.parent / "qmgrs/QM1").mkdir(parents=True)
    mqs_ini.write_text("QueueManager:\n   Name=QM1\n   Prefix=/var/mqm\n   Directory=QM1\n")
    (mqs_ini.parent / "qmgrs/QM1/qm.ini").write_text(
        "Log:\n   LogPath=/log1/QM1/\n   LogFilePages=64\n   LogPrimaryFiles=4\n"
    )
    (host.root / "log1/QM1").mkdir(parents=True)


def install_queue_managers(host: Host) -> None:
    """Give the host the files of its queue managers, one of which is running."""
    mqs_ini = host.root / "var/mqm/mqs.ini"
    mqs_ini.parent.mkdir(parents=True)
    for name, (mount_point, settings) in QUEUE_MANAGERS.items():
        with mqs_ini.open("a") as file:
            file.write(f"QueueManager:\n   Name={name}\n   Prefix=/var/mqm\n   Directory={name}\n")
        qm_ini = mqs_ini.parent / "qmgrs" / name / "qm.ini"
        qm_ini.parent.mkdir(parents=True)
        qm_ini.write_text(f"Log:\nLogPath={mount_point}/{name}/\n{settings}\n")
        log = host.root / mount_point[1:] / name
        log.mkdir(parents=True)
        (log / "amqhlctl.lfh").touch()


def records_of(run: Path) -> dict[str, dict]:
    return {
        record["volume"]: record
        for record in (json.loads(path.read_text()) for path in run.glob("hosts/*/*/record.json"))
    }


def planned_start_s(directory: Path) -> float:
    (planned,) = (row["value"] for row in read_csv(directory / "run.csv") if row["key"] == "option_start_at_epoch_s")
    return float(planned)


def test_a_frozen_volume_costs_its_neighbours_nothing(
    start: Start, controller: Controller, tmp_path: Path, background: Callable[..., Future]
) -> None:
    """The volumes are discovered. One volume freezes while it is measured, and another one before its directories are
    created."""
    bed = start(
        HostSpec(
            "h1",
            more=("/log1", "/log2", "/log3"),
            variables={"workspace_discover": True, "workspace_discover_window": 60},
        )
    )
    host = bed["h1"]
    install_queue_managers(host)
    # The replacement of amqsrua prints all publications immediately, so the window ends early.
    install_amqsrua(
        host.root / "opt/mqm/samp/bin/amqsrua",
        queue_manager="QM3",
        text=(PROJECT / "tests/fixtures/observe/amqsrua-9.4.txt").read_text(),
    )
    bed.ssh(host, RUNNING)
    inventory = bed.inventory(tmp_path / "hosts.yml", variables={**QUICK, **SWEEP})
    preflight = controller.run("preflight", "-i", str(inventory))
    assert preflight.status == 2
    reasons = {volume: record["reasons"][0] for volume, record in records_of(preflight.certification.path).items()}
    assert reasons["log2"].endswith(
        "the running queue manager QM3 logs to this file system (/log2/QM3); to override: workspace_allow: [active_log]"
    )
    assert reasons["log1"].startswith("ready: 4 steps") and reasons["log3"].startswith("ready: 2 steps")
    given_back = preflight.certification.path / "hosts/h1/workspace_volumes.yml"
    assert (
        "log1: QM1, QM2 in /log1/logdisk: 8 files of 512K each, writes of 4K to 256K, 1 to 2 writers" in preflight.words
    )
    assert "QM1 did not report how large its log writes are: it is not running" in preflight.words
    assert (
        "log2: QM3, QM4 in /log2/logdisk: 4 files of 256K each, writes of 8K to 12K, 1 to 2 writers" in preflight.words
    )
    assert "QM3: according to amqsrua, its log writes have an average size of 8 KiB to 12 KiB" in preflight.words

    host.freeze("/log3")
    counting, calls = tmp_path / "ssh", tmp_path / "calls"
    counting.write_text(COUNTING.format(calls=calls))
    counting.chmod(0o755)
    running = background(
        controller.run,
        "certify",
        "-i",
        str(inventory),
        env={"ANSIBLE_SSH_EXECUTABLE": str(counting)},
        workspace_allow=["active_log"],
    )
    wait_for(lambda: measuring(host, "log2"), "the volumes are measured")
    host.freeze("/log2")
    outcome = running.result()

    assert outcome.status == 2
    run = outcome.certifications[-1].path
    records = records_of(run)
    assert {volume: record["verdict"] for volume, record in records.items()} == {
        "log1": "pass",
        "log2": "fail",
        "log3": "error",
    }
    assert records["log2"]["tester"]["in_flight"]["file"].startswith("/log2/")
    assert "the file system of /log3/logdisk did not answer" in records["log3"]["reasons"][0]
    assert {volume: bool(record["leftovers"]) for volume, record in records.items()} == {
        "log1": False,
        "log2": True,
        "log3": False,
    }
    sizes = {(row["block_size_bytes"], row["load_point"]) for row in read_csv(run / "hosts/h1/log1/results.csv")}
    assert sizes == {("4096", "1"), ("4096", "2"), ("262144", "1"), ("262144", "2")}
    expected = json.loads((run / "hosts/h1/volumes.json").read_text())["volumes"]
    assert {volume["name"]: volume["queue_managers"] for volume in expected} == {
        "log1": ["QM1", "QM2"],
        "log2": ["QM3", "QM4"],
        "log3": ["QM5"],
    }
    for volume in VOLUMES:
        assert f"h1/{volume}" in (run / "report.md").read_text()
    looks = sum(outcome.screen.count(task) for task in ("Ask a host]", "collect its tables if it has ended]"))
    # The last poll sends nothing if the previous one collected the tables.
    assert len(calls.read_text().splitlines()) - REMOTE_CALLS in (looks - 1, looks)

    host.thaw("/log2")
    host.thaw("/log3")
    places = [mount_point for mount_point, settings in QUEUE_MANAGERS.values()]
    wait_for(lambda: not [path for path in host.files(*places) if "logdisk" in path], "each volume is cleaned up")
    wait_for(lambda: not left_on(host), "nothing is left")

    again = controller.run("preflight", "-i", str(inventory), "-e", f"@{given_back}", workspace_allow=["active_log"])
    assert again.status == 0 and "volumes discovered" not in again.words
    assert {
        volume: record["verdict"] for volume, record in records_of(again.certifications[-1].path).items()
    } == dict.fromkeys(VOLUMES)


@pytest.mark.thorough
def test_a_log_that_is_not_mounted_is_not_certified_on_another_disk(
    start: Start, controller: Controller, tmp_path: Path
) -> None:
    """The queue manager is configured on two nodes, and its log is on one of them. On the other node, the mount point
    is empty."""
    bed = start(
        HostSpec("active", more=("/log1",), variables={"workspace_discover": True}),
        HostSpec("passive", variables={"workspace_discover": True, "locks_pair": ["active"]}),
    )
    for host in bed:
        configure_qm1(host)
    (bed["active"].root / "log1/QM1/amqhlctl.lfh").touch()
    inventory = bed.inventory(tmp_path / "hosts.yml", variables={**QUICK, **SWEEP})

    refused = controller.run("certify", "-i", str(inventory))
    assert refused.status == 2
    records = refused.certification.records
    assert {name: (record["verdict"], record["certified"]) for name, record in records.items()} == {
        "active": ("pass", False),
        "passive": ("error", False),
    }
    assert "the log directory /log1/QM1 has neither amqhlctl.lfh nor log files" in records["passive"]["reasons"][0]
    assert bed["passive"].files("/log1") == ["/log1/QM1"], "nothing was written"

    skipped = controller.run("certify", "-i", str(inventory), workspace_discover_absent="skip")
    assert skipped.status == 0 and "SKIPPED: QM1" in skipped.words
    assert {name: record["verdict"] for name, record in skipped.certifications[-1].records.items()} == {
        "active": "pass",
        "passive": "warn",
    }
    alone = controller.run("certify", "-i", str(inventory), "--limit", "passive", workspace_discover_absent="skip")
    assert alone.status == 2 and "no host of this run that shares its storage was tested on it" in alone.words


def test_a_queue_manager_that_is_mounted_nowhere_is_not_tested_by_another_host_with_its_name(
    start: Start, controller: Controller, tmp_path: Path
) -> None:
    """The log is on neither host of a pair. A third host has the default name, and a fourth has a queue manager of the
    same name with the same LogPath."""
    discover = {"workspace_discover": True, "workspace_discover_absent": "skip"}
    bed = start(
        HostSpec("one", variables={**discover, "locks_pair": ["two"]}),
        HostSpec("two", variables=discover),
        "default",
        HostSpec("same-name", more=("/log1",), variables=discover),
    )
    for name in ("one", "two", "same-name"):
        configure_qm1(bed[name])
    (bed["same-name"].root / "log1/QM1/amqhlctl.lfh").touch()
    inventory = bed.inventory(tmp_path / "hosts.yml", variables={**QUICK, **SWEEP})
    outcome = controller.certify(inventory)
    assert outcome.status == 2 and "QM1 was left out on one, two, because its log is not there" in outcome.words
    assert {name: record["verdict"] for name, record in outcome.certification.records.items()} == {
        "one": "warn",
        "two": "warn",
        "default": "pass",
        "same-name": "pass",
    }
    assert {
        name: record["facts"].get("queue_manager_logs") for name, record in outcome.certification.records.items()
    } == {
        "one": None,
        "two": None,
        "default": "",
        "same-name": "QM1",
    }


@pytest.mark.thorough
def test_volumes_on_one_disk_are_measured_together_or_in_turn(
    start: Start, controller: Controller, tmp_path: Path
) -> None:
    """The testers of one run do not refuse each other. If volumes are measured together, their records name each other.
    If they are measured in turn, one starts when the other has ended."""
    volumes = [{"name": name, "path": f"/fut/{name}"} for name in ("a", "b")]
    bed = start(
        HostSpec("both", variables={"workspace_volumes": volumes}),
        HostSpec("each", variables={"workspace_volumes": json.dumps(volumes), "sweep_volumes": "in_turn"}),
    )
    outcome = controller.certify(bed.inventory(tmp_path / "hosts.yml"), sweep_block_sizes=["4K"], sweep_duration=4)
    assert outcome.status == 0
    run = outcome.certification.path
    measured = [(host.name, name) for host in bed for name in "ab"]
    planned = {volume: planned_start_s(run.joinpath("hosts", *volume)) for volume in measured}
    assert planned["both", "a"] == planned["both", "b"] == planned["each", "a"] == planned["each", "b"] - 6
    # On a busy machine, measuring may begin late and take less time.
    rows = {volume: read_csv(run.joinpath("hosts", *volume, "results.csv"))[0] for volume in measured}
    began = {volume: float(row["start_time_epoch_s"]) for volume, row in rows.items()}
    assert began["each", "b"] >= began["each", "a"] + int(rows["each", "a"]["elapsed_ns"]) / 1e9
    notes = {path.parts[-3:-1]: json.loads(path.read_text())["notes"] for path in run.glob("hosts/*/*/record.json")}
    shared = {
        volume: [note for note in noted if "on the same disk at the same time" in note]
        for volume, noted in notes.items()
    }
    assert {volume: len(noted) for volume, noted in shared.items()} == {
        ("both", "a"): 1,
        ("both", "b"): 1,
        ("each", "a"): 0,
        ("each", "b"): 0,
    }
    assert {host.name: left_on(host) for host in bed} == {"both": [], "each": []}


@pytest.fixture
def disk() -> Iterator[str]:
    """A block device that contains only zeros. It is in memory, because other tests write to the machine's disk."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as image:
        image.truncate(64 << 20)
        loop = command("losetup", "-f", "--show", image.name).strip()
        yield loop
        command("losetup", "-d", loop)


def give_disk(host: Host, loop: str, entry: str) -> None:
    """Make the device available on the host under the name that udev would give it."""
    number, node, link = os.stat(loop).st_rdev, host.root / loop[1:], host.root / entry[1:]
    os.mknod(node, 0o600 | stat.S_IFBLK, number)
    link.parent.mkdir(parents=True)
    link.symlink_to(f"../../{node.name}")


@pytest.mark.thorough
def test_places_on_several_mounts_and_on_a_device(
    start: Start, controller: Controller, tmp_path: Path, disk: str
) -> None:
    """If something is wrong with one of the mounts, the volume that consists of them is refused."""
    entry = "/dev/disk/by-id/test-DISK_1"
    places = {"asu1": "/fut/logdisk", "asu2": ["/mnt1/logdisk", "/mnt2/logdisk"], "asu3": "/mnt2/logdisk"}
    more = ("/mnt1", "/mnt2")
    bed = start(
        HostSpec("three", more=more, variables={"workspace_places": places}),
        HostSpec("refused", more=more, variables={"workspace_places": places}),
        HostSpec("device", variables={"workspace_places": {"asu1": entry}, "sweep_devices_erase": [entry]}),
    )
    queue_manager = bed["refused"].root / "mnt2/active"
    queue_manager.mkdir()
    (queue_manager / "S0000000.LOG").touch()
    give_disk(bed["device"], disk, entry)
    profile = {
        "name": "all",
        "qualifies": {"confidence": "none"},
        "limits": [{"metric": "latency_mean", "stream": "all", "max": "2 s"}],
    }
    inventory = bed.inventory(tmp_path / "hosts.yml")
    outcome = controller.certify(
        inventory, sweep_workload="spc1-like", sweep_loads=[20], sweep_duration=3, sweep_files=20, gate_profile=profile
    )

    assert outcome.status == 2
    records = {
        path.parts[-3]: json.loads(path.read_text())
        for path in outcome.certification.path.glob("hosts/*/log/record.json")
    }
    assert {host: record["verdict"] for host, record in records.items()} == {
        "three": "pass",
        "refused": "error",
        "device": "pass",
    }
    assert "refused: /mnt2 contains a queue manager's files (S0000000.LOG)" in records["refused"]["reasons"][0]
    places = [text.split(" (")[0] for text in records["three"]["facts"]["places"].split("; ")]
    assert places == ["asu1 on /fut", "asu2 on /mnt1", "asu2 and asu3 on /mnt2"]
    assert [path.split("/")[1] for path in records["three"]["workspace"]["directories"]] == [
        "fut",
        "mnt1",
        "mnt2",
        "mnt2",
    ]
    assert records["device"]["workspace"]["directories"][0] == entry
    found = {host.name: [*left_on(host), *host.files(*host.spec.more)] for host in bed}
    mounts = [f"{mount_point}/lost+found" for mount_point in more]
    assert {host: sorted(left) for host, left in found.items()} == {
        "three": mounts,
        "refused": sorted([*mounts, "/mnt2/active", "/mnt2/active/S0000000.LOG"]),
        "device": [],
    }


@pytest.mark.thorough
def test_the_volumes_of_a_lost_controller_are_stopped_and_collected(
    start: Start, controller: Controller, tmp_path: Path
) -> None:
    bed = start(
        HostSpec(
            "h1",
            more=("/log1",),
            variables={"workspace_volumes": [{"name": "a", "path": "/fut/a"}, {"name": "b", "path": "/log1/b"}]},
        )
    )
    inventory, variables = bed.inventory(tmp_path / "hosts.yml"), tmp_path / "variables.json"
    variables.write_text(json.dumps({**QUICK, **SWEEP, "sweep_duration": 600, "sweep_deadline": 0}))
    lost = controller.start("certify", "-i", str(inventory), "-e", f"@{variables}")
    for volume in ("a", "b"):
        wait_for(lambda volume=volume: measuring(bed["h1"], volume), "the volumes are measured")
    os.killpg(lost.pid, signal.SIGKILL)
    lost.wait()
    (run,) = (controller.directory / "reports").glob("2*")
    assert controller.run("stop", "-i", str(inventory)).status == 0
    assert bed["h1"].pids("logdisk") == {}
    # The run itself knows its volumes, because the inventory may have changed in the meantime.
    collected = controller.run("collect", "-i", str(inventory), collect_run=str(run), workspace_volumes=[{"name": "c"}])
    assert collected.status == 2
    assert {volume: record["verdict"] for volume, record in records_of(run).items()} == {
        "a": "inconclusive",
        "b": "inconclusive",
    }
    assert left_on(bed["h1"]) == [] and bed["h1"].files("/log1") == ["/log1/lost+found"]
