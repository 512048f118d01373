# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the test bed, on which other tests depend."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from testbed import Bed, HostSpec, Settings, power, reaper, servers
from testbed.bed import answers
from testbed.host import FILE_SYSTEMS
from testbed.shell import TestbedError, wait_for
from testbed.trees import USER

pytestmark = pytest.mark.thorough

Start = Callable[..., Bed]
WRITE = "dd if=/dev/zero of=/fut/file bs=4k count=1 oflag=direct,dsync conv=notrunc status=none"
SHOW_DISK = "ls /dev/disk/by-uuid; [ /dev/disk/by-uuid/* -ef $(findmnt -no SOURCE /fut) ] && echo /"
TESTS = Path(__file__).resolve().parents[1]
READ = "dd if=/fut/file of=/dev/null bs=4k count=1 iflag=direct status=none"


@pytest.mark.parametrize(
    ("disk", "file_system", "shown"),
    [
        ("ram", "ext4", "ext2/ext3"),
        ("ram", "xfs", "xfs"),
        ("file", "ext4", "ext2/ext3"),
        ("slow", "ext4", "ext2/ext3"),
        ("tmpfs", "ext4", "tmpfs"),
    ],
)
def test_each_disk_takes_direct_writes(start: Start, disk: str, file_system: str, shown: str) -> None:
    bed = start(HostSpec("h1", disk=disk, file_system=file_system))
    assert bed.ssh(bed["h1"], WRITE + " && stat -f -c %T /fut && stat -c %s /fut/file").split() == [shown, "4096"]


def test_a_directory_of_the_machine_is_never_frozen(start: Start) -> None:
    """Freezing a directory is refused, because the whole file system would be frozen."""
    bed = start(HostSpec("h1", disk="directory"))
    with pytest.raises(TestbedError, match="shares a file system with this machine"):
        bed["h1"].freeze()
    assert bed.ssh(bed["h1"], WRITE + " && stat -c %s /fut/file").split() == ["4096"]


def test_a_host_is_alone(start: Start) -> None:
    """A host has its own name and process table, and sees none of the machine's disks."""
    bed = start("h1", "h2")
    assert bed.ssh(bed["h2"], "uname -n; ps -o comm= -p 1; findmnt -n -o TARGET").split()[:3] == ["h2", "sshd", "/"]
    assert str(bed.settings.state) not in bed.ssh(
        bed["h2"], "cut -d' ' -f2 /proc/mounts; tr '\\0' '\\n' </proc/1/environ"
    )


def test_a_user_with_sudo(start: Start) -> None:
    bed = start(HostSpec("h1", user=USER))
    assert bed.ssh(bed["h1"], "id -un; sudo -n id -un").split() == [USER, "root"]


def test_what_is_missing(start: Start) -> None:
    bed = start(HostSpec("bare", compiler=False, python="none"), HostSpec("broken", python="broken"))
    assert "no" in bed.ssh(bed["bare"], "command -v gcc cc python3 || echo no")
    assert "127" in bed.ssh(bed["broken"], "python3 -c 1 2>/dev/null || echo $?")


def test_a_borrowed_interpreter(start: Start) -> None:
    try:
        spec = HostSpec("h1", python="3.6")
        interpreter = spec.interpreter
    except TestbedError as error:
        pytest.skip(str(error))
    bed = start(spec)
    assert bed.ssh(bed["h1"], f"{interpreter} -c 'import sys, ssl, ctypes; print(sys.version_info[:2])'") == "(3, 6)\n"
    assert bed.host_variables(bed["h1"])["ansible_python_interpreter"] == str(interpreter)


def test_the_slow_disk_fails_and_recovers(start: Start) -> None:
    bed = start(HostSpec("h1", disk="slow"))
    host = bed["h1"]
    bed.ssh(host, WRITE)
    host.set_eio(True)
    with pytest.raises(TestbedError, match="Input/output error"):
        bed.ssh(host, WRITE)
    host.set_eio(False)
    bed.ssh(host, WRITE)


def test_the_slow_disk_is_as_slow_as_asked(start: Start) -> None:
    bed = start(HostSpec("h1", disk="slow"))
    for slow, command in ((bed["h1"].set_delay_ms, WRITE), (bed["h1"].set_read_delay_ms, READ)):
        slow(300)
        took = bed.ssh(bed["h1"], f"a=$(date +%s%N); {command}; b=$(date +%s%N); echo $((b - a))")
        assert int(took) >= 300_000_000  # a lower bound is also valid on a busy machine
        slow(0)


@pytest.mark.parametrize(("disk", "hang", "release"), [("ram", "freeze", "thaw"), ("slow", "pause", "resume")])
def test_a_hung_write(start: Start, disk: str, hang: str, release: str) -> None:
    bed = start(HostSpec("h1", disk=disk))
    host = bed["h1"]
    switches = {
        "freeze": host.freeze,
        "thaw": host.thaw,
        "pause": lambda: host.set_pause(True),
        "resume": lambda: host.set_pause(False),
    }
    switches[hang]()
    bed.ssh(host, f"{WRITE} </dev/null >/dev/null 2>&1 &")
    wait_for(lambda: host.pids("dd"), "dd runs")
    host.kill("dd")
    assert host.pids("dd"), "a process in a hung write cannot be killed"
    switches[release]()
    wait_for(lambda: not host.pids("dd"), "dd ends once its write returns")


def test_a_frozen_host_ends(start: Start) -> None:
    bed = start(HostSpec("h1", more=("/log1", "/log2")), HostSpec("h2", disk="slow"))
    bed["h1"].freeze()
    bed["h1"].freeze("/log2")
    bed["h2"].set_pause(True)
    for host in bed:
        bed.ssh(host, f"{WRITE} </dev/null >/dev/null 2>&1 &")
    bed.ssh(bed["h1"], "touch /log1/file && (touch /log2/file </dev/null >/dev/null 2>&1 &)")
    bed.down()
    assert reaper.leftovers(bed.settings) == []


def test_link(start: Start) -> None:
    bed = start("h1")
    bed["h1"].link_down()
    with pytest.raises(TestbedError):
        bed.ssh(bed["h1"], "true")
    bed["h1"].link_up()
    assert bed.ssh(bed["h1"], "echo up") == "up\n"


def test_looking_into_a_host(start: Start) -> None:
    bed = start("h1")
    host = bed["h1"]
    bed.ssh(host, "mkdir -p /fut/a && touch /fut/a/b && (setsid sleep 600 </dev/null >/dev/null 2>&1 &)")
    assert {"/fut/a", "/fut/a/b"} <= set(host.files("/fut"))
    wait_for(lambda: list(host.pids("sleep").values()) == ["sleep 600"], "sleep is there")
    assert host.kill("sleep") == 1
    wait_for(lambda: not host.pids("sleep"), "sleep ends")
    wait_for(lambda: not host.zombies(), "PID 1 reaps the processes that it adopted")


def test_reboot(start: Start) -> None:
    bed = start("h1")
    host = bed["h1"]
    bed.ssh(host, "touch /fut/kept; (setsid sleep 600 </dev/null >/dev/null 2>&1 &)")
    host.reboot()
    wait_for(lambda: "kept" in _try(lambda: bed.ssh(host, "ls /fut")), "the host is back")
    assert not host.pids("sleep")


@pytest.mark.parametrize("file_system", FILE_SYSTEMS)
def test_a_power_cut(start: Start, file_system: str) -> None:
    """Another process cuts the power, and synchronized data still exists afterwards. Other data may exist as well,
    because other programs on this machine may have called sync."""
    bed = start(HostSpec("h1", disk="cut", file_system=file_system))
    host = bed["h1"]
    boot_id = bed.ssh(host, "cat /proc/sys/kernel/random/boot_id")
    disk = bed.ssh(host, SHOW_DISK)
    bed.ssh(host, "touch /root/kept /run/lost /fut/kept; sync")
    for command in (["cut", "--hang", "0.1", "h1"], ["boot", "h1"]):
        if command[0] == "boot":
            assert not answers(host)
        subprocess.run(
            [sys.executable, "-m", "testbed", "--prefix", bed.settings.prefix, *command], cwd=TESTS, check=True
        )
    wait_for(lambda: answers(host), "the host is back")
    assert bed.ssh(host, "ls /root/kept /run/lost /fut/kept 2>/dev/null || :").split() == ["/fut/kept", "/root/kept"]
    assert bed.ssh(host, "cat /proc/sys/kernel/random/boot_id") != boot_id
    assert "/" in disk and bed.ssh(host, SHOW_DISK) == disk


def test_a_file_system_that_did_not_survive(start: Start) -> None:
    """If a file system does not survive a cut, the host boots without it, and can be booted again."""
    bed = start(HostSpec("h1", disk="cut", file_system="xfs"))
    host = bed["h1"]
    for _ in range(2):
        host.cut()
        with host.medium.open("r+b") as medium:
            medium.write(bytes(4096))
        host.boot()
        wait_for(lambda: answers(host), "the host is back")
        assert bed.ssh(host, "findmnt /fut || echo nothing") == "nothing\n"


def test_only_a_disk_that_loses_something_is_cut(start: Start) -> None:
    bed = start(HostSpec("h1", disk="slow"))
    with pytest.raises(TestbedError, match="its disk is not 'cut' or 'shared'"):
        bed["h1"].cut()
    with pytest.raises(TestbedError, match="no host h2"):
        power.find(bed.settings, "h2")


def _try(what: Callable[[], str]) -> str:
    try:
        return what()
    except TestbedError:
        return ""


def test_nothing_is_left_of_a_killed_run(settings: Settings) -> None:
    """The run that started the hosts is killed with SIGKILL. The prefix alone is enough to remove the hosts, although
    a process on one of them waits for a server that it does not reach."""
    script = f"""
import os, signal
from testbed import Bed, HostSpec, Settings
hosts = [HostSpec("h1"), HostSpec("h2", disk="slow"), HostSpec("h3", disk="cut"), HostSpec("h4", disk="cut")]
hosts += [HostSpec("h5", disk="shared"), HostSpec("h6", disk="shared")]
bed = Bed(Settings(prefix={settings.prefix!r})).up(hosts)
bed["h4"].cut()
bed["h6"].cut()
bed["h5"].cut_off()
bed.ssh(bed["h5"], "ls /fut </dev/null >/dev/null 2>&1 &")
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=TESTS, check=False)
    assert done.returncode == -9
    assert reaper.leftovers(settings)
    reaper.reap(settings)
    assert reaper.leftovers(settings) == []
    assert not servers.pids(settings)


def test_a_quick_restart(settings: Settings) -> None:
    for _ in range(3):
        with Bed(settings) as bed:
            bed.up([HostSpec("h1"), HostSpec("h2")])
    assert reaper.leftovers(settings) == []


def test_two_beds_side_by_side(start: Start) -> None:
    bed = start("h1")
    with Bed(Settings(prefix="ldtother")) as other:
        other.up([HostSpec("h1")])
        assert other["h1"].address != bed["h1"].address
    assert bed.ssh(bed["h1"], "echo here") == "here\n"


def test_names_and_prefixes_are_checked(settings: Settings) -> None:
    with pytest.raises(ValueError, match="2 to 8 letters"):
        Settings(prefix="much-too-long")
    with pytest.raises(TestbedError, match="not one of ram"):
        HostSpec("h1", disk="floppy")
    with pytest.raises(TestbedError, match="not one of honest"):
        HostSpec("h1", disk="cut", character="kind")
    with Bed(settings) as bed, pytest.raises(TestbedError, match="not unique"):
        bed.up([HostSpec("h1"), HostSpec("h1")])
