# SPDX-License-Identifier: GPL-3.0-or-later
"""Inspects what a certification does and leaves behind on hosts of the test bed, as seen from the machine that runs
them."""

from collections.abc import Iterable
from contextlib import suppress

from testbed.host import Host
from testbed.shell import wait_for

PLACES = ("/fut", "/tmp", "/var/tmp", "/root/.ansible/tmp", "/root/.mqops-logdisk/runs")


def left_on(host: Host) -> list[str]:
    """Return what a certification left on a host, except for the tester, which is kept for the next run."""
    # If there is only one host, the directory with the image of its disk is inside the host's own directory.
    given = {"/fut/lost+found", *map(str, (host.dir, *host.dir.parents))}
    left = [path for path in host.files(*PLACES) if path not in given and not path.startswith(f"{host.dir}/")]
    return [*host.pids("logdisk").values(), *left]


def measuring(host: Host, volume: str = "") -> bool:
    """Return whether the tester on the host, or that of one of its volumes, has finished its preparations and is still
    running."""
    name = f"-{volume}/progress" if volume else "/progress"
    for path in host.files("/root/.mqops-logdisk/runs"):
        with suppress(FileNotFoundError):
            if path.endswith(name) and "state=measuring" in (host.root / path.lstrip("/")).read_text():
                return True
    return False


def wait_until_measuring(hosts: Iterable[Host]) -> None:
    for host in hosts:
        wait_for(lambda host=host: measuring(host), f"{host.name} measures")
