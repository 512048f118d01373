# SPDX-License-Identifier: GPL-3.0-or-later
"""A host with a queue manager is refused before a byte is written, and the refusal names what overrides it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from ansible_runs import QUICK, Controller
from certification import Certification
from testbed import Bed
from testbed.host import Host

Start = Callable[..., Bed]

pytestmark = pytest.mark.usefixtures("machine")

FAKE_QUEUE_MANAGER = (
    "printf '#!/bin/sh\\nsleep 900\\n' > /usr/local/bin/amqzxma0; chmod 755 /usr/local/bin/amqzxma0; {run}"
)
RUNNING = "setsid /usr/local/bin/amqzxma0 -m QMA > /dev/null 2>&1 &"
CONFIGURED = (
    "mkdir -p /var/mqm/qmgrs/QMA /fut/log/QMA;"
    " printf 'QueueManager:\\n   Name=QMA\\n   Prefix=/var/mqm\\n   Directory=QMA\\n' > /var/mqm/mqs.ini;"
    " printf 'Log:\\n   LogPath=/fut/log/QMA/\\n' > /var/mqm/qmgrs/QMA/qm.ini;"
)
QUEUE_MANAGER = CONFIGURED + FAKE_QUEUE_MANAGER.format(run=RUNNING)


@dataclass(frozen=True)
class Case:
    """A condition on a host, the text of the refusal, and the words of workspace_allow or other variables that
    override it."""

    prepare: str
    refusal: str
    override: str = ""
    variables: Mapping[str, object] = field(default_factory=dict)


CASES = {
    "files": Case(
        "mkdir /fut/logdisk; echo precious > /fut/logdisk/S0000000.LOG",
        "contains a queue manager's files (S0000000.LOG)",
        "queue_manager_files",
    ),
    "running": Case(
        QUEUE_MANAGER, "the running queue manager QMA logs to this file system (/fut/log/QMA)", "active_log"
    ),
    "unknown": Case(
        FAKE_QUEUE_MANAGER.format(run=RUNNING),
        "the log path of running queue managers cannot be determined (QMA)",
        "unknown_log",
    ),
    "extents": Case(
        "mkdir -p /fut/log/QMB/active; setsid sh -c 'exec sleep 900' 3> "
        "/fut/log/QMB/active/S0000001.LOG > /dev/null 2>&1 &",
        "a process has recovery log extents open on this file system",
        "active_log",
    ),
    "link": Case(
        "mkdir /fut/real; ln -s real /fut/link",
        "/fut/link is a symlink: name the directory itself",
        "symlink",
        {"workspace_path": "/fut/link/logdisk"},
    ),
    "shared": Case(
        "mkdir -m 777 /fut/logdisk; chmod 777 /fut/logdisk",
        "/fut/logdisk is writable by group or others",
        "shared_directory",
    ),
    "mount": Case(
        "", "is on the mount point /fut, but workspace_expect_mount is /mqlog", "", {"workspace_expect_mount": "/mqlog"}
    ),
    "hidden": Case(
        "mkdir -p /fut/mqm/log /fut/other/log; mount -t tmpfs log /fut/mqm/log; mount --bind /fut/other /fut/mqm",
        "is on the mount point /fut/mqm, but workspace_expect_mount is /fut/mqm/log",
        "",
        {"workspace_path": "/fut/mqm/log/logdisk", "workspace_expect_mount": "/fut/mqm/log"},
    ),
    "unmounted": Case(
        "", "/fut/none does not exist: is its file system mounted?", "", {"workspace_path": "/fut/none/logdisk"}
    ),
    "full": Case("", "reduce workspace_reserve", "", {"workspace_reserve": "99%"}),
}


def prepare(bed: Bed, inventory: Path, allow: bool = False) -> Path:
    """Give each host a reason to refuse a test and, with allow, the option that overrides the refusal. Return the
    inventory."""
    for name, case in CASES.items():
        if name in bed.hosts:
            bed.ssh(bed[name], case.prepare or "true")
            bed[name].spec.variables.update(case.variables)
            if allow:
                bed[name].spec.variables["workspace_allow"] = [case.override]
    return bed.inventory(inventory, variables=QUICK)


def contents(host: Host) -> dict[str, int]:
    """Return the files in the places to which a certification writes, with the times of their last change."""
    places = ("/fut", "/var/tmp", "/tmp", "/root/.mqops-logdisk")
    return {path: (host.root / path.lstrip("/")).lstat().st_mtime_ns for path in host.files(*places)}


def test_every_refusal_before_a_byte_is_written(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start("good", *CASES)
    inventory = prepare(bed, tmp_path / "hosts.yml")
    before = {host.name: contents(host) for host in bed}
    outcome = controller.run("preflight", "-i", str(inventory), sweep_duration=0)
    assert outcome.status == 2
    assert f"NOT READY: {len(CASES)} of {len(CASES) + 1} hosts. " in outcome.words
    records = outcome.certification.records
    # Without a duration, a run measures for as long as the profile requires.
    assert outcome.certification.run["parameters"]["sweep_duration"] == 300
    assert records["good"]["reasons"][0].startswith("ready: 2 steps in about 11 min")
    assert {name: record["verdict"] for name, record in records.items() if record["verdict"]} == dict.fromkeys(
        CASES, "error"
    )
    for name, case in CASES.items():
        (reason,) = records[name]["reasons"]
        assert case.refusal in reason
        assert f"workspace_allow: [{case.override}]" in reason or not case.override
    assert {host.name: contents(host) for host in bed} == before


def test_an_override_lets_a_certification_through(start: Start, controller: Controller, tmp_path: Path) -> None:
    """Existing files are unchanged."""
    bed = start(*(name for name, case in CASES.items() if case.override))
    outcome = controller.run("certify", "-i", str(prepare(bed, tmp_path / "hosts.yml", allow=True)))
    assert outcome.status == 0
    certification: Certification = outcome.certification
    assert {record["verdict"] for record in certification.records.values()} == {"pass"}
    assert bed.ssh(bed["files"], "ls -A /fut/logdisk; cat /fut/logdisk/S0000000.LOG") == "S0000000.LOG\nprecious\n"
    assert bed.ssh(bed["shared"], "ls -A /fut/logdisk") == ""
    assert bed.ssh(bed["link"], "ls -A /fut/real") == ""


WRONG_SETTINGS = (
    "mount -o remount,nobarrier /fut; mkdir -p /fut/mqm/qmgrs/QMA /fut/log/QMA /var/mqm/errors;"
    " printf 'QueueManager:\\n   Name=QMA\\n   Prefix=/fut/mqm\\n   Directory=QMA\\n' > /var/mqm/mqs.ini;"
    " printf 'Log:\\n   LogPath=/fut/log/QMA/\\n   LogWriteIntegrity=SingleWrite\\nNativeHALocalInstance:\\n"
    "   Name=a\\n' > /fut/mqm/qmgrs/QMA/qm.ini; chmod -R a+rX /fut/mqm /fut/log /var/mqm"
)


def test_settings_are_read_and_judged(start: Start, controller: Controller, tmp_path: Path) -> None:
    """The mount and the configuration of the queue manager are real; the preflight says the same in advance."""
    waiver = {"host": "waived", "id": "SET-012", "until": "2099-01-31", "reason": "a battery"}
    bed = start("good", "wrong", "waived")
    for name in ("wrong", "waived"):
        bed.ssh(bed[name], WRONG_SETTINGS)
        bed[name].spec.variables["workspace_queue_managers"] = ["QMA"]
    profile = {"name": "own", "limits": [{"metric": "latency_p50", "max": "10 s"}], "waivers": [waiver]}
    inventory = str(bed.inventory(tmp_path / "hosts.yml", variables={**QUICK, "gate_profile": profile}))
    before = controller.run("preflight", "-i", inventory).certification
    told = before.records["wrong"]["reasons"]
    assert "SET-012 would warn: write barriers of the file system: nobarrier, expected: on" in told
    outcome = controller.run("certify", "-i", inventory)
    (certified,) = (each for each in outcome.certifications if each.path != before.path)
    records = certified.records
    assert {name: record["verdict"] for name, record in records.items()} == {
        "good": "pass",
        "wrong": "warn",
        "waived": "warn",
    }
    wrong = {
        name: {each["id"]: each["value"] for each in record["settings"] if each["verdict"] == "warn"}
        for name, record in records.items()
    }
    found = {"SET-012": "nobarrier", "SET-023": "same disk", "SET-025": "", "SET-027": "SingleWrite"}
    assert wrong == {"good": {}, "wrong": found, "waived": found}
    waived = {each["id"] for each in records["waived"]["settings"] if each["waiver"]}
    assert (waived, outcome.status) == ({"SET-012"}, 0)
    cases = [case.get("name", "") for case in certified.suites["wrong"].iter("testcase")]
    assert "setting SET-024: file system of the error logs" in cases
