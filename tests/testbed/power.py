# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches the power of a host off, so that its disk, network and processes die at the same instant, and on again."""

import fcntl
import signal
import socket
import struct
from pathlib import Path

from testbed import processes
from testbed.settings import Settings
from testbed.shell import TestbedError, run

SIOCGIFFLAGS = 0x8913
SIOCSIFFLAGS = 0x8914
IFF_UP = 0x1
CLIENT = "testbed.shared.client"
INTERFACE_REQUEST = "16sH14x"


def find(settings: Settings, name: str) -> tuple[Path, str]:
    """Return the directory and the interface of a host, for callers that did not start the host."""
    for path in settings.state.glob("h*/name"):
        if path.read_text() == name:
            return path.parent, f"{settings.prefix}-{path.parent.name[1:]}"
    raise TestbedError(f"there is no host {name} in {settings.state}")


def first_pid(directory: Path, net: str) -> int:
    """Return the process ID that a host's PID 1 has on the machine."""
    for word in run("ip", "netns", "pids", net).split():
        # There are two nested PID namespaces: the outer one contains the processes of the host's disks, and the inner
        # one is the host.
        if len(numbers := processes.namespace_pids(int(word))) >= 3 and numbers[-1] == 1:
            return int(word)
    log = directory / "log"
    raise TestbedError(f"host {net} is not running: {log.read_text(errors='replace').strip() if log.exists() else ''}")


def disk_pids(directory: Path) -> list[int]:
    """Return the processes that provide a host's disk, in the order in which they die: nbdkit, which has the cache, and
    nbdfuse; or the client of a shared file system."""
    lines = {pid: processes.command_line(pid) for pid in processes.all_pids()}
    shared = [pid for pid, line in lines.items() if f" -m {CLIENT} " in line and line.endswith(f" {directory}")]
    of_disk = {pid: line for pid, line in lines.items() if f"{directory}/nbd/" in line}
    server = [pid for pid, line in of_disk.items() if "cutdisk.py" in line]
    client = [pid for pid, line in of_disk.items() if line.startswith("nbdfuse ")]
    found = shared or (server[:1] + client[:1] if server and client else [])
    if not found:
        raise TestbedError(f"the host in {directory} has no disk that can be cut: its disk is not 'cut' or 'shared'")
    return found


def hang(directory: Path) -> None:
    """Make the disk stop answering, so that everything that it has acknowledged reaches a witness before cut(), no
    matter how slow the connection is."""
    processes.kill(disk_pids(directory)[0], signal.SIGSTOP)


def cut(directory: Path, net: str) -> None:
    """Kill all processes of a host, which remains off until on().

    The disk is killed first: if an acknowledgement were lost before that, a disk that ignores flushes would look
    honest. The network is next, because no output of the host about its dead disk may leave the host.
    """
    first, *others = disk_pids(directory)
    host = first_pid(directory, net)
    (directory / "power").unlink(missing_ok=True)
    (directory / "cut").touch()
    processes.kill(first)
    set_link(net, up=False)
    processes.kill(host)
    for pid in others:
        processes.kill(pid)  # nbdfuse does not always end with its server


def forget_connections(net: str) -> None:
    """Remove pending data from the network namespace, which outlives the host. Otherwise, as soon as the link is up,
    the data in its connections and neighbour queues would be sent."""
    run("ip", "netns", "exec", net, "ss", "--kill", "--tcp", "--all")
    run("ip", "-n", net, "-batch", "-", stdin="link set eth0 down\nlink set eth0 up\n")


def on(directory: Path, net: str) -> None:
    forget_connections(net)
    set_link(net, up=True)
    (directory / "power").touch()


def set_link(interface: str, *, up: bool) -> None:
    """Do the same as `ip link set`, without the milliseconds that a process needs to start."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack(INTERFACE_REQUEST, interface.encode(), 0)
        flags = struct.unpack(INTERFACE_REQUEST, fcntl.ioctl(control, SIOCGIFFLAGS, request))[1]
        flags = flags | IFF_UP if up else flags & ~IFF_UP
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack(INTERFACE_REQUEST, interface.encode(), flags))
