# SPDX-License-Identifier: GPL-3.0-or-later
"""The file trees of the hosts. They are created once, kept in the cache, and shared read-only by all hosts."""

import fcntl
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

from testbed import images
from testbed.settings import Settings
from testbed.shell import TestbedError, attempt, run

PACKAGES = ("gcc", "libc6-dev", "nftables", "openssh-server", "procps", "python3", "sudo")
USER = "ops"  # logs in like root, and may run everything with sudo without a password
LAYOUT = 1  # incremented when prepare() changes


def tree(settings: Settings, release: str = "bookworm", image: str = "") -> Path:
    """Return the tree of a Debian release, or of a container image if one is named. It is created if it does not exist
    yet."""
    if image:
        built = images.build(image)
        return cached(settings, f"image-{digest(built)}", lambda root: images.unpack(built, root))
    return cached(
        settings, f"{release}-{digest(str(sorted(PACKAGES)))}", lambda root: bootstrap(settings, release, root)
    )


def digest(contents: str) -> str:
    return hashlib.sha256(f"{LAYOUT} {contents}".encode()).hexdigest()[:8]


def cached(settings: Settings, name: str, fill: Callable[[Path], None]) -> Path:
    """Return the tree with this name. If it does not exist, fill() writes its files to an empty directory."""
    target = settings.cache / name
    settings.cache.mkdir(parents=True, exist_ok=True)
    with (settings.cache / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.is_dir():
            unfinished = settings.cache / f"{name}.unfinished"
            remove_tree(unfinished)
            unfinished.mkdir(mode=0o755)
            fill(unfinished)
            prepare(unfinished)
            unfinished.rename(target)
    return target


def bootstrap(settings: Settings, release: str, root: Path) -> None:
    mirror = [settings.mirror] if settings.mirror else []
    run(
        "mmdebstrap",
        "--quiet",
        "--mode=root",
        "--variant=minbase",
        f"--include={','.join(PACKAGES)}",
        release,
        str(root),
        *mirror,
    )


def prepare(root: Path) -> None:
    if f"\n{USER}:" not in (root / "etc/passwd").read_text():
        run("chroot", str(root), "useradd", "--create-home", "--shell", "/bin/bash", "--password", "*", USER)
    sudoers = root / "etc/sudoers.d" / USER
    sudoers.write_text(f"{USER} ALL=(ALL) NOPASSWD: ALL\n")
    sudoers.chmod(0o440)
    (root / "fut").mkdir(exist_ok=True)
    for key in (root / "etc/ssh").glob("ssh_host_*"):
        key.unlink()


def remove_tree(root: Path) -> None:
    """Remove an unfinished tree with everything that was mounted there."""
    if not root.exists():
        return
    for line in Path("/proc/self/mounts").read_text().splitlines()[::-1]:
        point = line.split()[1]
        if point.startswith(f"{root}/") and not attempt("umount", point):
            raise TestbedError(f"{point} is mounted in an unfinished tree and in use")
    shutil.rmtree(root)
