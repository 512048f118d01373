#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manages the hosts of a scenario: starts them from its molecule.yml, checks what is left on them, and serves as their
inventory.

hosts.py --list          print the inventory for Ansible; it is empty if no hosts were started
hosts.py up MOLECULE_YML start the platforms of the scenario; the `bed` of each has the fields of testbed.HostSpec
hosts.py left            end with status 1 and print what is left if a certification left anything on a host
hosts.py down            end the hosts

LOGDISK_MOLECULE_IMAGE in the environment names a container image that all hosts run from,
instead of their Debian release.
"""

# ruff: noqa: E402 -- the test bed is elsewhere in the checkout
import json
import os
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT / "tests"), str(PROJECT / "tests/integration")]

import yaml
from leftovers import left_on
from testbed import Bed, Host, HostSpec, Settings
from testbed.settings import default_prefix
from testbed.shell import TestbedError, wait_for

SETTINGS = Settings(prefix=default_prefix("m"))
STARTED = SETTINGS.state / "started.json"


def up(molecule_yml: str) -> None:
    platforms = yaml.safe_load(Path(molecule_yml).read_text())["platforms"]
    image = os.environ.get("LOGDISK_MOLECULE_IMAGE", "")
    specs = [{"name": platform["name"], "image": image, **platform.get("bed", {})} for platform in platforms]
    bed = Bed(SETTINGS).up(HostSpec(**spec) for spec in specs)
    STARTED.write_text(
        json.dumps(
            {"subnet": bed.subnet, "hosts": [{"spec": spec, "tree": str(bed[spec["name"]].tree)} for spec in specs]}
        )
    )


def attach() -> Bed:
    """Return the bed that up() started in another process."""
    bed = Bed(SETTINGS)
    if STARTED.exists():
        started = json.loads(STARTED.read_text())
        for number, known in enumerate(started["hosts"], start=1):
            spec = HostSpec(**known["spec"])
            bed.hosts[spec.name] = Host(
                spec, number, SETTINGS.prefix, started["subnet"], SETTINGS.state, Path(known["tree"])
            )
    return bed


def inventory() -> None:
    bed = attach()
    variables = {host.name: bed.host_variables(host) for host in bed}
    group = {"hosts": list(variables), "vars": {"ansible_control_path_dir": str(SETTINGS.state / "cp")}}
    print(json.dumps({"_meta": {"hostvars": variables}, "targets": group}))


def left() -> None:
    bed = attach()
    try:
        wait_for(lambda: not any(left_on(host) for host in bed), "nothing is left on the hosts")
    except TestbedError:
        raise TestbedError(f"left behind: {json.dumps({host.name: left_on(host) for host in bed})}") from None


def main(arguments: list[str]) -> int:
    try:
        match arguments:
            case ["--list"]:
                inventory()
            case ["up", molecule_yml]:
                up(molecule_yml)
            case ["left"]:
                left()
            case ["down"]:
                attach().down()
            case _:
                print(__doc__, file=sys.stderr)
                return 64
    except TestbedError as error:
        print(f"hosts.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
