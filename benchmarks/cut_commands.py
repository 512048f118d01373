#!/usr/bin/env python3
# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures commands that cut the power of a virtual machine (guest): the time from the start of the command to the
guest's last sign of life, and from then to the end of the command.

    ROUNDS=20 benchmarks/cut_commands.py        # needs qemu-system-x86_64; `virsh destroy` also needs virsh with qemu:///session

The guest is a boot sector that writes to its serial port as fast as it can,
so its last byte is its last sign of life. No KVM is needed.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

ROUNDS = int(os.environ.get("ROUNDS", "20"))
BOOT_SECTOR = (
    bytes.fromhex("baf803b02eeeebfd").ljust(510, b"\0") + b"\x55\xaa"
)  # mov dx, 0x3f8; mov al, '.'; again: out dx, al; jmp again
QEMU = ("qemu-system-x86_64", "-accel", "tcg", "-m", "16", "-display", "none", "-monitor", "none", "-nodefaults")
DOMAIN = """<domain type='qemu'><name>cut-commands</name><memory unit='MiB'>16</memory>
<os><type arch='x86_64'>hvm</type></os><devices><emulator>{emulator}</emulator>
<disk type='file' device='disk'><source file='{disk}'/><target dev='hda' bus='ide'/></disk>
<serial type='tcp'><source mode='connect' host='127.0.0.1' service='{port}'/></serial></devices></domain>"""
ENOUGH_S = 60


class Signs:
    """Reads a guest's output, and records the time at which its last byte arrived."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(ENOUGH_S)
        self.port = self._listener.getsockname()[1]
        self.last_s = 0.0
        self._lives, self._over = threading.Event(), threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with self._listener, self._listener.accept()[0] as connection:
            try:
                while content := connection.recv(1 << 16):
                    self.last_s = time.monotonic()
                    if b".." in content:
                        self._lives.set()
            except ConnectionResetError:
                pass
        self._over.set()

    def wait(self, over: bool = False) -> None:
        if not (self._over if over else self._lives).wait(ENOUGH_S):
            raise SystemExit("the guest gave no sign of life" if not over else "the guest lives on")


def measured(signs: Signs, cut: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds from the start of a command to the guest's last sign of life, and from then to the end of the
    command."""
    signs.wait()
    time.sleep(0.5)
    begun_s = time.monotonic()
    cut()
    ended_s = time.monotonic()
    signs.wait(over=True)
    return signs.last_s - begun_s, ended_s - signs.last_s


def by_signal(disk: Path, number: int) -> tuple[float, float]:
    signs = Signs()
    drive = f"file={disk},format=raw,if=ide"
    with subprocess.Popen(
        [*QEMU, "-drive", drive, "-serial", f"tcp:127.0.0.1:{signs.port}"], stdin=subprocess.DEVNULL
    ) as guest:
        return measured(signs, lambda: (os.kill(guest.pid, number), guest.wait()))


def by_virsh(disk: Path) -> tuple[float, float]:
    signs = Signs()
    definition = disk.with_name("domain.xml")
    definition.write_text(DOMAIN.format(emulator=shutil.which(QEMU[0]), disk=disk, port=signs.port))
    virsh("create", str(definition))
    return measured(signs, lambda: virsh("destroy", "cut-commands"))


def virsh(*words: str) -> None:
    subprocess.run(["virsh", "-q", "-c", os.environ.get("LIBVIRT_DEFAULT_URI", "qemu:///session"), *words], check=True)


def show(name: str, rounds: list[tuple[float, float]]) -> None:
    texts = []
    for title, values in zip(
        ("to the last sign of life", "from that to the return"), zip(*rounds, strict=True), strict=True
    ):
        texts.append(
            f"{title} {statistics.median(values) * 1e3:.0f} ms ({min(values) * 1e3:.0f} to {max(values) * 1e3:.0f})"
        )
    print(f"{name}, {len(rounds)} rounds: {', '.join(texts)}", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        disk = Path(directory, "disk")
        disk.write_bytes(BOOT_SECTOR.ljust(1 << 20, b"\0"))
        show("kill -9 of QEMU", [by_signal(disk, signal.SIGKILL) for _ in range(ROUNDS)])
        show("kill of QEMU", [by_signal(disk, signal.SIGTERM) for _ in range(ROUNDS)])
        if shutil.which("virsh"):
            show("virsh destroy", [by_virsh(disk) for _ in range(ROUNDS)])


if __name__ == "__main__":
    main()
