# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes a bed, complete or not, regardless of which run created it and how that run ended. It needs only the
prefix."""

import json
import os
import re
import shutil
import signal
from contextlib import suppress
from pathlib import Path

from testbed import disk, processes, servers
from testbed.settings import Settings
from testbed.shell import TestbedError, attempt, run, wait_for


def reap(settings: Settings) -> None:
    """Remove all processes, namespaces, interfaces, mounts, loop devices and files of the bed."""
    spaces = network_namespaces(settings)
    pids = {pid for name in spaces for pid in namespace_pids(name)} | helpers(settings)
    for control in settings.state.glob("h*/disk"):
        disk.SlowDisk(control).heal()  # while a disk is paused, processes that wait for it cannot end
    devices = loop_devices(settings)
    for pid in pids:
        for mount_point in mounts_of(pid, devices):
            with suppress(OSError):
                disk.thaw(mount_point)  # a frozen file system would outlive its mount
    for pid in pids:
        processes.kill(pid, signal.SIGKILL)
    for name in interfaces(settings):
        attempt("ip", "link", "del", name)
    wait_for(lambda: not any(namespace_pids(name) for name in spaces), f"the processes of {settings.prefix} end")
    for name in spaces:
        attempt("ip", "netns", "del", name)
    wait_for(lambda: not loop_devices(settings), f"the loop devices of {settings.prefix} are released")
    if settings.state.exists():
        shutil.rmtree(settings.state)
    left = leftovers(settings)
    if left:
        raise TestbedError(f"left behind: {', '.join(left)}")


def leftovers(settings: Settings) -> list[str]:
    """Return the remains of the bed on this machine."""
    found = [f"network namespace {name}" for name in network_namespaces(settings)]
    found += [f"interface {name}" for name in interfaces(settings)]
    found += [f"process {pid}" for pid in helpers(settings)]
    found += [f"loop device {name}" for name in loop_devices(settings)]
    found += [
        f"mount {line.split()[1]}"
        for line in Path("/proc/mounts").read_text().splitlines()
        if f"{settings.state}/" in line
    ]
    if settings.state.exists():
        found.append(f"directory {settings.state}")
    return found


def _ours(settings: Settings, name: str) -> bool:
    return re.fullmatch(rf"{settings.prefix}-(\d+|br)", name) is not None


def network_namespaces(settings: Settings) -> list[str]:
    return [
        words[0]
        for line in run("ip", "netns", "list").splitlines()
        if (words := line.split()) and _ours(settings, words[0])
    ]


def namespace_pids(name: str) -> list[int]:
    try:
        return [int(word) for word in run("ip", "netns", "pids", name).split()]
    except TestbedError:
        return []


def interfaces(settings: Settings) -> list[str]:
    return [name for name in os.listdir("/sys/class/net") if _ours(settings, name)]


def mounts_of(pid: int, devices: list[str]) -> list[Path]:
    """Return the paths, as seen from the machine, at which a process has mounted the file systems on some devices."""
    found = []
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/mounts").read_text().splitlines():
            device, mount_point = line.split()[:2]
            if device in devices:
                found.append(Path(f"/proc/{pid}/root{mount_point}"))
    return found


def helpers(settings: Settings) -> set[int]:
    """Return the processes outside the hosts that work for the bed, such as ssh's masters and servers. Their command
    lines contain the bed's directory."""
    state = f"{settings.state}/"
    masters = {
        pid for pid in processes.all_pids() if pid != os.getpid() and _is_master(processes.command_line(pid), state)
    }
    return masters | set(servers.pids(settings))


def _is_master(command_line: str, state: str) -> bool:
    return command_line.startswith("ssh: ") and state in command_line


def loop_devices(settings: Settings) -> list[str]:
    devices = json.loads(run("losetup", "--json", "--list") or '{"loopdevices": []}')["loopdevices"]
    return [device["name"] for device in devices if str(device["back-file"]).startswith(f"{settings.state}/")]
