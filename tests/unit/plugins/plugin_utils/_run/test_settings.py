# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each setting of the catalogue is seen right and wrong, from what a host shows of it to its outcome."""

from __future__ import annotations

import json
import os
from functools import partial

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _block_devices, _mounts, _queue_managers, _settings
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.settings import derived
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.definitions import DefinitionError, parse_yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.settings import (
    CATALOGUE,
    NOT_READ,
    NOTED,
    catalogue,
    outcomes_of,
    outcomes_of_pair,
    read_catalogue,
    read_on_host,
    result_of,
    worst_settings,
)

# /proc/self/mountinfo of NFS guests with Debian 13 (options as given to mount), and of a disk.
NFS = "36 29 0:45 / /MQHA rw,relatime shared:1 - nfs4 10.1.0.1:/mq rw,{},proto=tcp,timeo=600,addr=10.1.0.1\n"
DISK = "36 29 8:1 / /MQHA rw,relatime shared:1 - {} /dev/sda1 rw{}\n"
GOOD_NFS = "vers=4.2,rsize=262144,wsize=262144,namlen=255,hard,local_lock=none"
# "drbdsetup show --json" of drbd-utils 9.22, shortened to the keys that are read.
DRBD = (
    '[{{"resource": "qm1", "options": {{"quorum": "{quorum}", "on-no-quorum": "{lost}"}}, "connections": '
    '[{{"net": {{"protocol": "{protocol}", "timeout": 60}}}}]}}]'
)
MULTIPATH = "defaults {{\n\tuser_friendly_names yes\n\t{}\n}}\n"  # as in multipath.conf(5)


MEASUREMENT, LOCKS = "measurement", "locks"


class Host:
    """What a host shows: a mount, files of the system, the output of commands, and configurations of queue managers."""

    def __init__(self, mount="", files=(), command="", ini="", **facts):
        self.mount, self.files, self.command, self.ini, self.facts = mount, dict(files), command, ini, facts


nfs = partial(str.format, NFS)
disk = partial(str.format, DISK)
drbd = partial(DRBD.format, quorum="majority", lost="io-error", protocol="C")
in_drbd = partial(Host, device_layers="drbd")
in_mpath = partial(Host, device_layers="mpath")

CASES = {
    "SET-001": (Host(nfs(GOOD_NFS)), Host(nfs("vers=3,hard")), "3"),
    "SET-002": (Host(nfs(GOOD_NFS)), Host(nfs("vers=4.2,soft")), "soft"),
    "SET-003": (Host(nfs(GOOD_NFS)), Host(nfs("vers=3,hard,nolock,local_lock=all")), "nolock"),
    "SET-004": (
        Host(nfs(GOOD_NFS), {"/sys/module/nfs/parameters/recover_lost_locks": "N\n"}),
        Host(nfs(GOOD_NFS), {"/sys/module/nfs/parameters/recover_lost_locks": "Y\n"}),
        "Y",
    ),
    "SET-010": (Host(nfs(GOOD_NFS)), Host(nfs("vers=4.2,wsize=4096")), "4096"),
    "SET-011": (Host(nfs(GOOD_NFS)), Host(nfs(f"{GOOD_NFS},nconnect=8")), "8"),
    "SET-012": (Host(disk("ext4", "")), Host(disk("ext4", ",nobarrier")), "nobarrier"),
    "SET-013": (
        Host(files={"/sys/block/sda/device/state": "running\n"}),
        Host(files={"/sys/block/sda/device/state": "offline\n"}),
        "offline",
    ),
    "SET-014": (in_mpath(files={"slaves": 2}), in_mpath(files={"slaves": 1}), "1"),
    "SET-015": (
        in_mpath(files={"/etc/multipath.conf": MULTIPATH.format("no_path_retry 12")}),
        in_mpath(files={"/etc/multipath.conf": MULTIPATH.format('features "1 queue_if_no_path"')}),
        "queue_if_no_path",
    ),
    "SET-016": (
        Host(files={"/sys/block/sda/queue/nomerges": "0\n"}),
        Host(files={"/sys/block/sda/queue/nomerges": "2\n"}),
        "2",
    ),
    "SET-017": (
        Host(files={"/sys/block/sda/queue/scheduler": "[none] mq-deadline kyber bfq \n"}),
        Host(files={"/sys/block/sda/queue/scheduler": "none mq-deadline kyber [bfq] \n"}),
        "bfq",
    ),
    "SET-018": (Host(clock=0), Host(clock=5), "not synchronized"),
    "SET-019": (in_drbd(command=drbd()), in_drbd(command=drbd(protocol="A")), "A"),
    "SET-020": (in_drbd(command=drbd()), in_drbd(command=drbd(quorum="off")), "off"),
    "SET-021": (in_drbd(command=drbd()), in_drbd(command=drbd(lost="ignore")), "ignore"),
    "SET-022": (
        in_drbd(os="Red Hat Enterprise Linux 9.4 (Plow)"),
        in_drbd(os="Red Hat Enterprise Linux 10.0 (Coughlan)"),
        "Red Hat Enterprise Linux 10.0 (Coughlan)",
    ),
    "SET-023": (Host(ini="Log:\n", data="8:2"), Host(ini="Log:\n", data="8:1"), "same disk"),
    "SET-024": (Host(errors="xfs"), Host(errors="nfs4"), "nfs4"),
    "SET-025": (
        Host(ini="NativeHALocalInstance:\n   Name=a\n   KeyRepository=/keys/qm1\n"),
        Host(ini="NativeHALocalInstance:\n   Name=a\n"),
        "",
    ),
    "SET-026": (
        Host(ini="NativeHARecoveryGroup:\n   SyncReplication=Yes\n"),
        Host(ini="NativeHARecoveryGroup:\n   SyncReplication=Yes\n   SyncConsistency=Eventual\n"),
        "Eventual",
    ),
    "SET-027": (
        Host(ini="Log:\n   LogWriteIntegrity=TripleWrite\n"),
        Host(ini="Log:\n   LogWriteIntegrity=SingleWrite\n"),
        "SingleWrite",
    ),
    "SET-028": (
        Host(ini="Log:\n   LogType=LINEAR\n   LogManagement=Automatic\n"),
        Host(ini="Log:\n   LogType=LINEAR\n   LogManagement=Manual\n"),
        "Manual",
    ),
    "SET-029": (
        Host(
            queue_manager_log_set_bytes=1 << 30, target_message_bytes=2048, target_messages_per_s=5000, target_clients=1
        ),
        Host(
            queue_manager_log_set_bytes=1 << 26, target_message_bytes=2048, target_messages_per_s=5000, target_clients=1
        ),
        "6.6",
    ),
    "SET-030": (Host(nfs(GOOD_NFS)), Host(nfs(f"{GOOD_NFS},sync")), "sync"),
}
"""For each setting, a host where it is right, one where it is wrong, and the value there. Files and output are as their
sources above or the manual page that the entry names show them."""

OF_PAIRS = {
    "SET-005": ({"machine_id": "a"}, {"machine_id": "b"}, {"machine_id": "a"}),
    "SET-006": ({"nfs4_unique_id": "a"}, {"nfs4_unique_id": "b"}, {"nfs4_unique_id": "a"}),
    "SET-007": ({"hostname": "db01"}, {"hostname": "db02"}, {"hostname": "db01"}),
    "SET-008": ({"uid": 1001, "gid": 1001}, {"uid": 1001, "gid": 1001}, {"uid": 1001, "gid": 7}),
}
"""For each setting of two hosts, the facts of the first host, and those of a second one for which it is right or
wrong."""


def test_each_setting_has_a_case():
    assert {*CASES, *OF_PAIRS, "SET-009"} == {*catalogue()}


@pytest.fixture
def seen(monkeypatch, tmp_path):
    """Return a function that reads what a host shows, and returns the outcomes by id."""

    def read(host, kind=MEASUREMENT):
        facts = {"mount_options": None, "filesystem_type": None, **derived(host.facts)}
        facts.update(*_mounts.parse_mountinfo(host.mount))
        monkeypatch.setattr(_settings, "_text", host.files.get)
        monkeypatch.setattr(os.path, "lexists", lambda path: path in host.files)
        monkeypatch.setattr(_settings, "_output", lambda command: host.command or None)
        monkeypatch.setattr(_settings, "_multipath_devices", lambda context: ["dm-0"])
        monkeypatch.setattr(os, "listdir", lambda path: ["sda", "sdb"][: host.files.get("slaves", 0)])
        monkeypatch.setattr(
            _settings, "ctypes", type("Ctypes", (), {"CDLL": Libc(host), "create_string_buffer": bytearray})
        )
        return outcomes(host, kind, facts)

    def outcomes(host, kind, facts):
        data = tmp_path / "qm"
        data.mkdir(exist_ok=True)
        log = "" if "Log:" in host.ini and "data" not in host.facts else "Log:\n"
        text = (host.ini.replace("Log:\n", "Log:\n   LogPath=/MQHA/log\n") or log) if host.ini else ""
        (data / "qm.ini").write_text(text)
        (tmp_path / "mqs.ini").write_text(f"QueueManager:\n   Name=QM1\n   DataPath={data}\n" if host.ini else "")
        mounts = {"/MQHA/log": "8:1", str(data): host.facts.get("data"), "/var/mqm/errors": "8:9"}
        monkeypatch.setattr(
            _mounts,
            "mount_of",
            lambda path: {"device_number": mounts[path], "filesystem_type": host.facts.get("errors")},
        )
        monkeypatch.setattr(os.path, "exists", lambda path: "errors" in host.facts)
        monkeypatch.setattr(_block_devices, "disks_below", lambda number: [f"/sys/{number}"])
        read = _settings.readings(read_on_host(kind), facts, ["sda"], ["QM1", "QM2"], str(tmp_path / "mqs.ini"))
        return {each["id"]: each for each in outcomes_of(kind, {**facts, "settings": json.dumps(read)})}

    return read


class Libc:
    def __init__(self, host):
        self._state = host.facts.get("clock", 0)

    def __call__(self, name):
        return self

    def adjtimex(self, buffer):
        return self._state


@pytest.mark.parametrize("name", CASES)
def test_a_setting_is_seen_right_and_wrong(seen, name):
    right, wrong, value = CASES[name]
    assert seen(right)[name]["verdict"] == "pass"
    found, severity = seen(wrong)[name], catalogue()[name].severity[MEASUREMENT]
    assert (found["value"], result_of(found)) == (value, NOTED if severity == "note" else severity)


@pytest.mark.parametrize("name", OF_PAIRS)
def test_a_setting_of_two_hosts_is_seen_right_and_wrong(name):
    one, good, bad = OF_PAIRS[name]
    for other, verdict in ((good, "pass"), (bad, "fail")):
        (found,) = outcomes_of_pair(LOCKS, {"db01": one, "db02": other})
        assert (found["id"], found["subject"], found["verdict"]) == (name, "db01 and db02", verdict)


def test_a_setting_that_two_hosts_do_not_both_show_is_not_compared():
    assert outcomes_of_pair(LOCKS, {"db01": {"machine_id": "a"}, "db02": {"machine_id": ""}}) == []
    same = {"hostname": "db", "nfs4_unique_id": "a"}
    (identity,) = outcomes_of_pair(LOCKS, {"db01": same, "db02": {**same, "nfs4_unique_id": "b"}})
    assert (identity["id"], identity["verdict"]) == ("SET-006", "pass")


@pytest.mark.parametrize(("lease_s", "verdict"), [(9, "warn"), (10, "pass"), (90, "pass"), (91, "warn")])
def test_the_lease_of_a_file_server(lease_s, verdict):
    (found,) = (
        each for each in outcomes_of(LOCKS, {"filesystem_type": "nfs4", "lease_s": lease_s}) if each["id"] == "SET-009"
    )
    assert found["verdict"] == verdict


def test_what_cannot_be_read_does_not_pass(seen):
    found = seen(in_drbd(nfs(GOOD_NFS)))
    assert {name for name, each in found.items() if result_of(each) == NOT_READ} == {
        "SET-004",
        "SET-019",
        "SET-020",
        "SET-021",
    }
    assert seen(Host(ini="Log:\n   LogWriteIntegrity\n"))["SET-027"]["verdict"] is None


def test_a_disk_that_is_not_known_is_not_the_same_disk(monkeypatch):
    monkeypatch.setattr(_mounts, "mount_of", lambda path: {})
    assert _settings._disks_of("/MQHA/log") == set()


def test_settings_of_other_file_systems_and_queue_managers_are_left_out(seen):
    assert {*seen(Host(disk("xfs", "")))} == {"SET-012", "SET-018"}


@pytest.mark.parametrize(
    "sent",
    [None, [], {"SET-016": "0"}, {"SET-016": [["sda"]]}, {"SET-016": [5, {}]}, {"SET-016": {"sda": "0"}}],
)
def test_what_a_host_sends_in_another_form_is_ignored(sent):
    assert outcomes_of(MEASUREMENT, {"settings": json.dumps(sent)}) == []
    assert outcomes_of(MEASUREMENT, {"settings": sent}) == []


def test_what_a_host_sends_is_shortened_and_printable():
    (found,) = outcomes_of(MEASUREMENT, {"settings": json.dumps({"SET-016": [["sda\x1b", "0" * 999], [3, 5]][:1]})})
    assert (found["subject"], found["value"], found["verdict"]) == ("sda\\x1b", "0" * 200, None)
    (found,) = outcomes_of(MEASUREMENT, {"settings": json.dumps({"SET-016": [[3, 5]]})})
    assert (found["subject"], found["value"], result_of(found)) == ("", None, NOT_READ)


def test_the_worst_outcome_of_a_setting_is_shown_first():
    outcomes = outcomes_of(
        MEASUREMENT,
        {"settings": json.dumps({"SET-013": [["sda", "running"], ["sdb", "offline"]], "SET-016": [["sda", "0"]]})},
    )
    assert [(each["id"], each["subject"]) for each in worst_settings(outcomes)] == [
        ("SET-013", "sdb"),
        ("SET-016", "sda"),
    ]


ENTRY = {
    **dict.fromkeys(("title", "expected", "source", "consequence", "next_step"), "x"),
    "id": "SET-901",
    "severity": {"measurement": "warn"},
    "read": {"fact": ["os"]},
    "check": {"match": "x"},
}


def test_a_catalogue_is_read_strictly():
    assert [*read_catalogue([ENTRY])] == ["SET-901"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": "SET-1"}, "must be SET- and three digits"),
        ({"severity": {"measurement": "bad"}}, "is not one of fail, warn, note"),
        ({"severity": {"nothing": "fail"}}, "unknown key"),
        ({"read": {}}, "in one way"),
        ({"read": {"fact": ["a"], "file": "/a"}}, "in one way"),
        ({"check": {"match": "("}}, "not a regular expression"),
        ({"consequence": ""}, "consequence"),
        ({"extra": 1}, "unknown key"),
    ],
)
def test_a_wrong_entry_is_refused(change, said):
    with pytest.raises(DefinitionError, match=said):
        read_catalogue([{**ENTRY, **change}])
    with pytest.raises(DefinitionError, match="same id"):
        read_catalogue([ENTRY, ENTRY])


def test_no_pattern_of_the_catalogue_takes_long(seen):
    hostile = ("a" * 1000 + '" \t\n') * 60
    for entry in parse_yaml(CATALOGUE.read_text(encoding="utf-8")):
        if "pattern" in entry["read"]:
            assert len(_settings._matches(entry["read"], hostile)) < 100


def test_real_readers_answer_on_this_machine():
    found = _settings.readings(read_on_host(), {}, ["no/such", "none"], [], _queue_managers.MQS_INI)
    assert found["SET-018"][0][1] in ("synchronized", "not synchronized")
    assert "SET-016" not in found
    assert _settings._output(["/no/such/command"]) is None
    assert _settings._output(["/bin/sh", "-c", "exit 3"]) is None
    assert _settings._output(["/bin/sh", "-c", "echo $LC_ALL"]) == "C\n"
    assert _settings._text("/dev/zero") is None
    assert _settings._text("/") is None
