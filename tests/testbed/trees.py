# SPDX-License-Identifier: GPL-3.0-or-later
"""The Debian trees that hosts run from: made once, kept in the cache, shared read-only by all hosts."""

import fcntl
import hashlib
import shutil
from pathlib import Path

from testbed.settings import Settings
from testbed.shell import TestbedError, attempt, run

PACKAGES = ("gcc", "libc6-dev", "openssh-server", "procps", "python3", "sudo")
USER = "ops"  # logs in like root, and may do everything by sudo without a password
LAYOUT = 1  # counted up when prepare() changes


def tree(settings: Settings, release: str = "bookworm", packages: tuple[str, ...] = PACKAGES) -> Path:
    """The tree of a Debian release with these packages, made now where it does not exist yet."""
    key = hashlib.sha256(f"{LAYOUT} {sorted(packages)}".encode()).hexdigest()[:8]
    target = settings.cache / f"{release}-{key}"
    settings.cache.mkdir(parents=True, exist_ok=True)
    with (settings.cache / f"{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.is_dir():
            build(settings, release, packages, target)
    return target


def build(settings: Settings, release: str, packages: tuple[str, ...], target: Path) -> None:
    unfinished = target.with_name(f"{target.name}.unfinished")
    remove_tree(unfinished)
    mirror = [settings.mirror] if settings.mirror else []
    include = f"--include={','.join(packages)}"
    run("mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", include, release, str(unfinished), *mirror)
    prepare(unfinished)
    unfinished.rename(target)


def prepare(root: Path) -> None:
    run("chroot", str(root), "useradd", "--create-home", "--shell", "/bin/bash", "--password", "*", USER)
    sudoers = root / "etc/sudoers.d" / USER
    sudoers.write_text(f"{USER} ALL=(ALL) NOPASSWD: ALL\n")
    sudoers.chmod(0o440)
    (root / "fut").mkdir()
    for key in (root / "etc/ssh").glob("ssh_host_*"):
        key.unlink()


def remove_tree(root: Path) -> None:
    """Remove an unfinished tree, with whatever its unfinished maker had mounted there."""
    if not root.exists():
        return
    for line in Path("/proc/self/mounts").read_text().splitlines()[::-1]:
        point = line.split()[1]
        if point.startswith(f"{root}/") and not attempt("umount", point):
            raise TestbedError(f"{point} is mounted in an unfinished tree and in use")
    shutil.rmtree(root)
