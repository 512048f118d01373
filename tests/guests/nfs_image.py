# SPDX-License-Identifier: GPL-3.0-or-later
"""The root disk of the guests that use NFS: a Debian system with Python and SSH, both file servers, and the modules of
the kernel. The disk is made once; each guest writes to an overlay of its own."""

import hashlib
import shutil
from pathlib import Path

from kernel import BUILD, kernel, run

HERE = Path(__file__).resolve().parent
PACKAGES = (
    "iproute2",
    "kmod",
    "nfs-common",
    "nfs-ganesha",
    "nfs-ganesha-vfs",
    "nfs-kernel-server",
    "nftables",
    "openssh-server",
    "procps",
    "python3",
    "rpcbind",
)
PROGRAMS = {"nfs-guest-init": "sbin/guest-init", "file-server": "usr/local/sbin/file-server"}
SIZE = "1500M"  # sparse


def root_disk() -> Path:
    """A raw image with an ext4 file system."""
    contents = "".join(Path(HERE, name).read_text() for name in PROGRAMS) + " ".join(PACKAGES)
    disk = BUILD / f"nfs-{hashlib.sha256(contents.encode()).hexdigest()[:8]}.img"
    if not disk.exists():
        root, part = tree(), disk.with_suffix(".part")
        for name, path in PROGRAMS.items():
            shutil.copy(HERE / name, root / path)
        run("mke2fs", "-q", "-F", "-t", "ext4", "-d", root, part, SIZE)
        part.rename(disk)
    return disk


def tree() -> Path:
    """Return the directory with the system, without the programs of tests/guests."""
    target = BUILD / f"nfs-root-{hashlib.sha256(' '.join(PACKAGES).encode()).hexdigest()[:8]}"
    if not target.exists():
        part = target.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        BUILD.mkdir(parents=True, exist_ok=True)
        words = ("--quiet", "--mode=root", "--variant=minbase", f"--include={','.join(PACKAGES)}")
        run("mmdebstrap", *words, "bookworm", part)
        run("cp", "-a", kernel() / "lib/modules", part / "lib/")
        run("chroot", part, "depmod", next((part / "lib/modules").iterdir()).name)
        for folder in ("fut", "srv/shared", "root/.ssh"):
            (part / folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        part.rename(target)
    return target
