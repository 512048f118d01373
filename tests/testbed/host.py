# SPDX-License-Identifier: GPL-3.0-or-later
"""One host: its specification, and how it is started, disturbed and inspected."""

import errno
import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from testbed import disk, power, processes
from testbed.servers import PORT, PRIORITY, Server, ServerSpec
from testbed.shell import TestbedError, run, wait_for

HERE = Path(__file__).resolve().parent
CUT_OFF = "testbed"  # the table of nft
DISKS = ("ram", "file", "slow", "cut", "tmpfs", "directory", "shared")
CHARACTERS = (
    "honest",
    "honest-garbage",
    "write-through",
    "drop",
    "misdirect",
    "tail",
    "reorder",
    "torn",
    "unreadable",
    "zero",
    "garbage",
)
FILE_SYSTEMS = ("ext4", "xfs")
COMPILERS = ("usr/bin/*gcc*", "usr/bin/cc", "usr/bin/c89*", "usr/bin/c99*", "usr/bin/*-linux-gnu-cpp*", "usr/bin/cpp*")


@dataclass
class HostSpec:
    """The properties of a host. ``disk``: see host-init; ``character``: how a disk whose power is cut behaves, see
    cutdisk.py; ``cache_blocks``: how many blocks of 4 KiB its cache holds; ``more``: mount points of further file
    systems, in memory; ``image``: a container image instead of a Debian release; ``python``: "" for the release's own,
    "none", "broken", or a version such as "3.6" for this machine's interpreter of that version (:func:`interpreter`);
    ``alone``: the host looks like a separate machine, so that a run can certify it, however busy this machine is; its
    disk is ``ram`` or ``slow``; ``tracing``: the host has tracefs and this machine's bpftrace; ``server``: the server
    of a disk that is ``shared``."""

    name: str
    disk: str = "ram"
    character: str = "honest"
    cache_blocks: int = 64
    file_system: str = "ext4"
    size: str = ""
    more: tuple[str, ...] = ()
    release: str = "bookworm"
    image: str = ""
    compiler: bool = True
    python: str = ""
    user: str = "root"
    remove: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    alone: bool = False
    tracing: bool = False
    variables: dict[str, object] = field(default_factory=dict)
    server: ServerSpec = field(default_factory=ServerSpec)

    def __post_init__(self) -> None:
        for value, allowed, what in ((self.disk, DISKS, "disk"), (self.file_system, FILE_SYSTEMS, "file system")):
            if value not in allowed:
                raise TestbedError(f"{self.name}: {what} {value!r} is not one of {', '.join(allowed)}")
        if self.character not in CHARACTERS:
            raise TestbedError(f"{self.name}: character {self.character!r} is not one of {', '.join(CHARACTERS)}")
        self.size = self.size or default_size(self.disk, self.file_system)

    @property
    def interpreter(self) -> Path | None:
        """An interpreter of this machine that is made available on the host."""
        return interpreter(self.python) if self.python[:1].isdigit() else None


def default_size(disk: str, file_system: str) -> str:
    if disk == "cut":
        return "512M"  # from this size on, ext4 has blocks of 4 KiB, as on any disk in use
    return "320M" if file_system == "xfs" else "256M"  # mkfs.xfs refuses less than 300 MB


def interpreter(version: str) -> Path:
    """Return the interpreter of the newest installed patch release of a minor version (such as 3.9), found in the
    directory of the version manager. The directory of the interpreter is self-contained, so it can be made available on
    a host at the same path."""
    base = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = sorted(base.glob(f"{version}.*/bin/python{version}"), key=lambda path: int(path.parts[-3].split(".")[2]))
    if not found:
        raise TestbedError(f"no Python {version} below {base}")
    return found[-1]


class Host:
    def __init__(self, spec: HostSpec, number: int, prefix: str, subnet: int, state: Path, tree: Path) -> None:
        self.spec = spec
        self.name = spec.name
        self.number = number
        self.net = f"{prefix}-{number}"  # the network namespace of the host, and the interface to it
        self.address = f"10.{subnet}.{number // 250}.{number % 250 + 1}"
        self.dir = state / f"h{number}"
        self.tree = tree
        self.disk = disk.SlowDisk(self.dir / "disk")
        self.server: Server | None = None  # set by the bed if the disk is shared
        self.is_linked = True
        self._pid = 0
        self._process: subprocess.Popen[bytes] | None = None

    # Starting, restarting and switching off

    def network_commands(self, bridge: str) -> list[str]:
        """Return the commands that `ip -batch` must run before start()."""
        return [
            f"netns add {self.net}",
            f"link add {self.net} type veth peer name eth0 netns {self.net}",
            f"link set {self.net} master {bridge} up",
        ]

    def start(self) -> None:
        (self.dir / "ram").mkdir(parents=True)
        (self.dir / "name").write_text(self.name)
        run(
            "ip",
            "-n",
            self.net,
            "-batch",
            "-",
            stdin=f"addr add {self.address}/16 dev eth0\nlink set eth0 up\nlink set lo up\n",
        )
        with (self.dir / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    "ip",
                    "netns",
                    "exec",
                    self.net,
                    "unshare",
                    "--mount",
                    "--pid",
                    "--fork",
                    "--kill-child",
                    str(HERE / "host-init"),
                    "outer",
                ],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _environment(self) -> dict[str, str]:
        spec = self.spec
        remove = [*spec.remove]
        if not spec.compiler:
            remove += COMPILERS
        if spec.python == "none":
            remove += ["usr/bin/python3*"]
        borrowed = spec.interpreter
        return {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOST_NAME": spec.name,
            "HOST_DIR": str(self.dir),
            "TREE": str(self.tree),
            "DISK": spec.disk,
            "FILESYSTEM": spec.file_system,
            "SIZE": spec.size,
            "MORE": " ".join(spec.more),
            "ALONE": str(int(spec.alone)),
            "TRACING": str(int(spec.tracing)),
            "REMOVE": " ".join(remove),
            "BINDS": str(borrowed.parents[1]) if borrowed else "",
            "BROKEN_PYTHON": "1" if spec.python == "broken" else "0",
            "PLUGINS": str(HERE),
            "CHARACTER": spec.character,
            "CACHE_BLOCKS": str(spec.cache_blocks),
            "SERVER": self.server.source if self.server else "",
            "LEASE_S": str(spec.server.lease_s),
            "PRIORITY": " ".join(PRIORITY),
        }

    def check_alive(self) -> None:
        if self._process and self._process.poll() is not None:
            raise TestbedError(f"host {self.name} did not start: {self.log()}")

    def log(self) -> str:
        path = self.dir / "log"
        return path.read_text(errors="replace").strip() if path.exists() else ""

    def reboot(self) -> None:
        """Kill everything at once and start again on the same disks."""
        (self.dir / "reboot").touch()
        processes.kill(self.pid)

    def hang(self) -> None:
        """Make the disk whose power is to be cut stop responding. On a shared file system, the host's client stops
        responding instead."""
        power.hang(self.dir)

    def cut(self) -> None:
        """Cut the power of the host and of its disk. The host remains off until boot()."""
        power.cut(self.dir, self.net)
        self.is_linked = False

    @property
    def medium(self) -> Path:
        """The content of a disk after a cut, without its cache. It may be changed while the power is off."""
        return Path(f"/proc/{self._process.pid}/root{self.dir}/ram/medium")

    def boot(self) -> None:
        """Switch the power on. The root file system is unchanged, and the disk contains the data that had reached its
        medium. This does not wait for sshd."""
        power.on(self.dir, self.net)
        self.is_linked = True

    # The host's file system, as seen from the machine

    @property
    def pid(self) -> int:
        """The process ID that the host's PID 1 has on the machine."""
        if not (self._pid and processes.namespace_pids(self._pid)[-1:] == [1]):
            self._pid = power.first_pid(self.dir, self.net)
        return self._pid

    @property
    def root(self) -> Path:
        return Path(f"/proc/{self.pid}/root")

    def pids(self, name: str = "*") -> dict[int, str]:
        """Return the command lines of the host's processes whose program name matches the pattern, by their process ID
        on the machine."""
        inside = processes.namespace(self.pid, "pid")
        found = {}
        for pid in processes.all_pids():
            if processes.namespace(pid, "pid") == inside:
                words = processes.command_line(pid).split()
                if words and fnmatch(Path(words[0]).name, name):
                    found[pid] = " ".join(words)
        return found

    def zombies(self) -> list[int]:
        inside = processes.namespace(self.pid, "pid")
        return [
            pid
            for pid in processes.all_pids()
            if processes.is_zombie(pid) and processes.namespace(pid, "pid") == inside
        ]

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        """Send a signal to the host's processes of that name, and return how many there were."""
        found = self.pids(name)
        for pid in found:
            processes.kill(pid, number)
        return len(found)

    def command(self, *words: str) -> list[str]:
        """Return the command line that runs a command on the host without using the network. The command has the
        caller's standard streams."""
        return ["nsenter", "--target", str(self.pid), "--mount", "--pid", "--net", "--uts", "--ipc", "--", *words]

    def files(self, *directories: str) -> list[str]:
        """Return the paths of everything below the host's directories, without following links."""
        found = []
        for directory in directories:
            top = self.root / directory.lstrip("/")
            for folder, folders, names in os.walk(top):
                found += [f"/{Path(folder, name).relative_to(self.root)}" for name in (*folders, *names)]
        return sorted(found)

    # Disturbing the host

    def link_down(self) -> None:
        """Make the host unreachable. Its processes continue."""
        run("ip", "link", "set", self.net, "down")
        self.is_linked = False

    def link_up(self) -> None:
        run("ip", "link", "set", self.net, "up")
        self.is_linked = True

    def cut_off(self) -> None:
        """Make the server of the shared file system unreachable from this host, and change nothing else."""
        rules = f"type filter hook output priority 0; ip daddr {self.server.address} tcp dport {PORT} drop;"
        run(*self.command("nft", "-f", "-"), stdin=f"table inet {CUT_OFF} {{\nchain output {{\n{rules}\n}}\n}}\n")

    def reconnect(self) -> None:
        """Undo cut_off()."""
        run(*self.command("nft", f"delete table inet {CUT_OFF}"))

    def freeze(self, mount_point: str = "/fut") -> None:
        if self.spec.disk == "directory":
            raise TestbedError(f"host {self.name} shares a file system with this machine, which would freeze too")
        disk.freeze(self.root / mount_point.lstrip("/"))

    def thaw(self, mount_point: str = "/fut") -> None:
        disk.thaw(self.root / mount_point.lstrip("/"))

    def set_read_delay_ms(self, delay_ms: float) -> None:
        """Make every read request of the slow disk take this much longer."""
        self._slow().set(read_delay_us=round(delay_ms * 1000))

    def set_delay_ms(self, delay_ms: float) -> None:
        """Make every write request of the slow disk take this much longer."""
        self._slow().set(delay_us=round(delay_ms * 1000))

    def set_eio(self, on: bool) -> None:
        """Make every write request of the slow disk fail."""
        self._slow().set(errno=errno.EIO if on else 0)

    def set_pause(self, on: bool) -> None:
        """Stop the slow disk from answering write requests."""
        self._slow().set(pause=on)

    def set_limit(self, bytes_per_s: int, burst_bytes: int) -> None:
        """Limit the slow disk to this many bytes per second, after burst_bytes have been written at any rate."""
        self._slow().set(limit=(bytes_per_s, burst_bytes))

    def _slow(self) -> disk.SlowDisk:
        if self.spec.disk != "slow":
            raise TestbedError(f"host {self.name} has disk {self.spec.disk!r}: only a 'slow' disk can be changed")
        return self.disk

    # Removing the host

    def let_go(self) -> None:
        """Undo everything that would keep the host's processes and file system from ending."""
        self.disk.heal()
        with suppress(TestbedError, OSError):  # no longer running, or never started
            # A shared file system cannot be frozen, and a call on it may hang until its server answers.
            for mount_point in (*(("/fut",) if self.spec.disk != "shared" else ()), *self.spec.more):
                self.thaw(mount_point)

    def wait_until_ended(self) -> None:
        if self._process:
            wait_for(lambda: self._process.poll() is not None, f"host {self.name} ends")
