# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian's cloud kernel, which all guests run."""

import re
import subprocess
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
BUILD = PROJECT / "build/guests"


def run(*words: object) -> str:
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def kernel() -> Path:
    """Return the directory with the kernel's unpacked package. No modules from elsewhere are needed, and ext4 and NVMe
    are built in."""
    tree = BUILD / "kernel"
    if not tree.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        package = re.search(r"Depends: (linux-image-\S+)", run("apt-cache", "depends", "linux-image-cloud-amd64"))[1]
        run("apt-get", "-qq", "update")
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            subprocess.run(["apt-get", "download", "-qq", package], cwd=folder, check=True, stderr=subprocess.DEVNULL)
            run("dpkg", "-x", next(Path(folder).glob("*.deb")), Path(folder, "tree"))
            Path(folder, "tree").rename(tree)
    return tree


def image() -> Path:
    """The file that QEMU boots."""
    return next(kernel().glob("boot/vmlinuz-*"))
