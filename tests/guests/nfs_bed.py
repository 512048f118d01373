# SPDX-License-Identifier: GPL-3.0-or-later
"""Guests on a bridge: a file server, and two hosts that mount its directory. Each is reached over SSH. The network and
all processes end with the process that starts them, because it runs in namespaces of its own."""

from __future__ import annotations

import base64
import contextlib
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kernel import image, run

NETWORK = "10.77.0"
DISK_BYTES = 1 << 30  # sparse
BOOT_S = int(os.environ.get("BOOT_S", "300"))
MEMORY_MB = "512"
ACCELERATOR = os.environ.get("ACCELERATOR", "tcg")
# Without no_timer_check, the kernel's test of the timer may fail on a busy machine.
LINE = "console=ttyS0 quiet mitigations=off panic=-1 no_timer_check random.trust_cpu=on"
ROOT = "root=/dev/nvme0n1 rw init=/sbin/guest-init"


def enter_namespaces() -> None:
    """Run this program again with a network, mounts and processes of its own."""
    if "GUESTS_INSIDE" not in os.environ:
        os.environ["GUESTS_INSIDE"] = "1"
        words = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child=SIGTERM", "--mount-proc"]
        os.execvp("unshare", [*words, sys.executable, *sys.argv])


@dataclass
class Guest:
    """A virtual machine that runs ``script`` when it boots. If its QEMU is killed, QEMU is started again ``off_s``
    seconds later: killing QEMU cuts the power of the guest for that time."""

    name: str
    number: int
    script: str
    host_name: str = ""
    machine_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    off_s: float = 0.0
    folder: Path = Path()
    disk: Path | None = None
    _process: subprocess.Popen | None = None
    _is_wanted: bool = True

    @property
    def address(self) -> str:
        return f"{NETWORK}.{10 + self.number}"

    @property
    def key(self) -> Path:
        return self.folder / "key"

    @property
    def pid_file(self) -> Path:
        return self.folder / f"{self.name}.pid"

    @property
    def console(self) -> Path:
        return self.folder / f"{self.name}.console"

    def start(self, root: Path) -> None:
        """Create the disk and the network interface of the guest, and boot it."""
        overlay = self.folder / f"{self.name}.qcow2"
        run("qemu-img", "create", "-q", "-f", "qcow2", "-b", root, "-F", "raw", overlay)
        run("ip", "tuntap", "add", "dev", f"tap{self.number}", "mode", "tap")
        run("ip", "link", "set", f"tap{self.number}", "master", "bridge", "up")
        threading.Thread(target=self._keep_running, args=[overlay], daemon=True).start()

    def end(self) -> None:
        self._is_wanted = False
        if self._process:
            self._process.kill()
            self._process.wait()
        run("ip", "link", "delete", f"tap{self.number}")

    def _keep_running(self, overlay: Path) -> None:
        while self._is_wanted:
            with self.console.open("ab") as console:
                self._process = subprocess.Popen(
                    self._command(overlay), stdin=subprocess.DEVNULL, stdout=console, stderr=console
                )
            self.pid_file.write_text(f"{self._process.pid}\n")
            self._process.wait()
            time.sleep(self.off_s)

    def _command(self, overlay: Path) -> list[str]:
        command = ["qemu-system-x86_64", "-accel", ACCELERATOR, "-M", "q35", "-cpu", "max", "-smp", "1"]
        command += ["-m", MEMORY_MB, "-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio"]
        command += ["-drive", f"file={overlay},format=qcow2,if=none,id=root,cache=unsafe"]
        command += ["-device", "nvme,drive=root,serial=root"]
        if self.disk:
            command += ["-drive", f"file={self.disk},format=raw,if=none,id=shared,cache=unsafe"]
            command += ["-device", "virtio-blk-pci,drive=shared"]
        command += ["-netdev", f"tap,id=net,ifname=tap{self.number},script=no,downscript=no"]
        command += ["-device", f"virtio-net-pci,netdev=net,mac=52:54:00:77:00:{10 + self.number:02x}"]
        return [*command, "-kernel", str(image()), "-append", self._line()]

    def _line(self) -> str:
        values = {
            "name": self.host_name or self.name,
            "address": self.address,
            "machine": self.machine_id,
            "key": encoded(self.key.with_suffix(".pub").read_text()),
            "script": encoded(self.script),
        }
        return " ".join([LINE, ROOT, *(f"{name}={value}" for name, value in values.items())])

    # What is done inside

    @property
    def ssh_options(self) -> list[str]:
        options = {
            "StrictHostKeyChecking": "no",
            "UserKnownHostsFile": "/dev/null",
            "LogLevel": "ERROR",
            "ConnectTimeout": "40",
            "IdentityFile": str(self.key),
            "IdentitiesOnly": "yes",
        }
        return [word for name, value in options.items() for word in ("-o", f"{name}={value}")]

    def try_shell(self, script: str) -> subprocess.CompletedProcess[str]:
        command = ["ssh", *self.ssh_options, f"root@{self.address}", script]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def shell(self, script: str) -> str:
        """Return what a script prints; end this program if it fails."""
        done = self.try_shell(f"set -eu\n{script}")
        if done.returncode:
            raise SystemExit(f"{self.name}: {script}\n{done.stderr}{done.stdout}\n{self.console.read_text()[-2000:]}")
        return done.stdout.strip()

    def wait_until(self, script: str, what: str) -> None:
        """Wait until a script succeeds; end this program if it does not in time."""
        end = time.monotonic() + BOOT_S
        while (done := self.try_shell(script)).returncode:
            if time.monotonic() > end:
                raise SystemExit(f"waited {BOOT_S} s: {self.name} {what}\n{done.stderr}\n{self.log()}")
            time.sleep(0.1)

    def log(self) -> str:
        return self.console.read_text(errors="replace")[-2000:]


@contextlib.contextmanager
def running(folder: Path, root: Path, server: Guest, clients: Sequence[Guest]) -> Iterator[None]:
    """Run guests that can be reached over SSH, with their files in an empty directory. The server has a disk for the
    directory that it shares."""
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", folder / "key")
    server.disk = folder / "disk"
    with server.disk.open("wb") as file:
        file.truncate(DISK_BYTES)
    with contextlib.ExitStack() as stack:
        for guest in (server, *clients):
            guest.folder = folder
            stack.callback(guest.end)
            guest.start(root)
        for guest in (server, *clients):
            guest.wait_until("true", "boots")
        yield


def make_network() -> None:
    """Make the bridge of the guests, which nothing beyond this network namespace reaches."""
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "bridge", "type", "bridge")
    run("ip", "address", "add", f"{NETWORK}.1/24", "dev", "bridge")
    run("ip", "link", "set", "bridge", "up")


def encoded(text: str) -> str:
    """Encode a text as one word of the kernel's command line; guest-init decodes it."""
    return base64.b64encode(text.encode()).decode().rstrip("=")
