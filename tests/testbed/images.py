# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees that are taken from container images by Docker or Podman, for testing with other Linux distributions."""

import shutil
import tempfile
from pathlib import Path

from testbed.shell import TestbedError, attempt, run

ENGINES = ("podman", "docker")
# The packages that a host needs, by package manager. An image contains its own repositories.
INSTALL = {
    "apt-get": (
        "apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev "
        "openssh-server procps python3 sudo"
    ),
    "dnf": "dnf --assumeyes install gcc glibc-devel openssh-server procps-ng python3 shadow-utils sudo",
    "yum": "yum --assumeyes install gcc glibc-devel openssh-server procps-ng python3 shadow-utils sudo",
    "zypper": "zypper --non-interactive install gcc glibc-devel openssh procps python3 shadow sudo",
}


def containerfile(image: str) -> str:
    """Return the definition of an image with everything that a host needs. An image that already has everything does
    not need a package manager."""
    complete = " && ".join(
        f"command -v {program} > /dev/null" for program in ("gcc", "/usr/sbin/sshd", "ps", "python3", "sudo", "useradd")
    )
    choices = "".join(
        f"elif command -v {manager} > /dev/null; then {command}; " for manager, command in INSTALL.items()
    )
    return (
        f"FROM {image}\nUSER root\nRUN if {complete}; then :; {choices}else echo 'no package manager of "
        f"{', '.join(INSTALL)}' >&2; exit 1; fi\n"
    )


def build(image: str) -> str:
    """Turn the image into one for hosts. Returns the ID of the result, which changes with the image."""
    with tempfile.TemporaryDirectory() as context:
        recipe = Path(context, "Containerfile")
        recipe.write_text(containerfile(image))
        return run(engine(), "build", "--quiet", "--file", str(recipe), context).split()[-1]


def unpack(built: str, target: Path) -> None:
    """Write the image's files to an existing directory."""
    container = run(engine(), "create", built, "true").split()[-1]
    archive = target.with_name(f"{target.name}.tar")
    try:
        run(engine(), "export", "--output", str(archive), container)
        run("tar", "--extract", "--numeric-owner", "--file", str(archive), "--directory", str(target))
    finally:
        run(engine(), "rm", container)
        archive.unlink(missing_ok=True)


def engine() -> str:
    """Return the container engine that works on this machine."""
    for name in ENGINES:
        if shutil.which(name) and attempt(name, "info"):
            return name
    raise TestbedError(f"an image is named, and neither {' nor '.join(ENGINES)} answers on this machine")
