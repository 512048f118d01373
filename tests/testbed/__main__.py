# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of the test bed. It starts hosts that run until `down`."""

import argparse
import sys
import time
from pathlib import Path

from testbed import power, reaper, servers, trees
from testbed.bed import Bed
from testbed.host import CHARACTERS, DISKS, FILE_SYSTEMS, HostSpec
from testbed.servers import ServerSpec
from testbed.settings import Settings, default_prefix
from testbed.shared.characters import CHARACTERS as SERVER_CHARACTERS
from testbed.shell import TestbedError


def main() -> int:
    options = parser().parse_args()
    try:
        options.do(Settings(prefix=options.prefix), options)
    except TestbedError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python3 -m testbed", description=__doc__)
    top.add_argument("--prefix", default=default_prefix(), help="the prefix of all names (default: %(default)s)")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    tree = commands.add_parser("tree", help="create the Debian tree that hosts run from, and print its path")
    tree.add_argument("release", nargs="?", default="bookworm")
    tree.set_defaults(do=make_tree)

    start = commands.add_parser("up", help="start hosts and write their inventory")
    start.add_argument("hosts", type=int, help="the number of hosts")
    start.add_argument("--disk", choices=DISKS, default="ram")
    start.add_argument("--character", choices=CHARACTERS, default="honest", help="how a disk that is cut behaves")
    start.add_argument(
        "--server", choices=SERVER_CHARACTERS, default="honest", help="how a shared disk's server behaves"
    )
    start.add_argument("--lease", type=float, default=3.0, metavar="SECONDS", help="lease of a shared disk's server")
    start.add_argument("--file-system", choices=FILE_SYSTEMS, default="ext4")
    start.add_argument("--size", default="")
    start.add_argument("--release", default="bookworm")
    start.add_argument("--image", default="", help="a container image instead of a Debian release")
    start.add_argument("--python", default="", help='"none", "broken", or a version such as 3.6')
    start.add_argument("--no-compiler", dest="compiler", action="store_false")
    start.add_argument("--user", default="root", help=f"root (default), or {trees.USER}, who may use sudo")
    start.add_argument("--inventory", type=Path, help="the path of the inventory (default: in the bed's own directory)")
    start.set_defaults(do=up)

    off = commands.add_parser("cut", help="cut the power of a host whose disk is 'cut' or 'shared'")
    off.add_argument(
        "--hang", type=float, default=0.0, metavar="SECONDS", help="how long before the cut the disk stops answering"
    )
    off.add_argument(
        "--silent", type=float, default=0.0, metavar="SECONDS", help="how long before the cut the network fails"
    )
    off.set_defaults(do=cut)
    on = commands.add_parser("boot", help="switch the power on")
    on.set_defaults(do=boot)
    for switch in (off, on):
        switch.add_argument("host", help="the name of the host")

    over = commands.add_parser("fail-over", help="let the server of a shared file system fail over")
    over.add_argument("server", nargs="?", default=ServerSpec.name, help="name of the server (default: %(default)s)")
    over.add_argument("--no-wait", dest="wait", action="store_false", help="do not wait until it listens again")
    over.set_defaults(do=fail_over)

    stop = commands.add_parser("down", help="remove everything under the prefix")
    stop.add_argument("--all", action="store_true", help="do this for every prefix that has a directory")
    stop.set_defaults(do=down)
    commands.add_parser("left", help="list everything under the prefix").set_defaults(do=left)
    return top


def make_tree(settings: Settings, options: argparse.Namespace) -> None:
    print(trees.tree(settings, options.release))


def up(settings: Settings, options: argparse.Namespace) -> None:
    wanted = ("disk", "character", "file_system", "size", "release", "image", "python", "compiler", "user")
    choices = {name: getattr(options, name) for name in wanted}
    choices["server"] = ServerSpec(character=options.server, lease_s=options.lease)
    bed = Bed(settings).up(HostSpec(name=f"h{number}", **choices) for number in range(1, options.hosts + 1))
    print(bed.inventory(options.inventory or settings.state / "inventory.yml"))


def cut(settings: Settings, options: argparse.Namespace) -> None:
    directory, net = power.find(settings, options.host)
    if options.hang:
        power.hang(directory)
        time.sleep(options.hang)
    if options.silent:
        power.set_link(net, up=False)
        time.sleep(options.silent)
    power.cut(directory, net)


def boot(settings: Settings, options: argparse.Namespace) -> None:
    power.on(*power.find(settings, options.host))


def fail_over(settings: Settings, options: argparse.Namespace) -> None:
    servers.fail_over(settings, options.server, wait=options.wait)


def down(settings: Settings, options: argparse.Namespace) -> None:
    beds = [settings]
    if options.all:
        beds += [Settings(prefix=path.name) for path in settings.state_base.iterdir()]
    for bed in beds:
        reaper.reap(bed)


def left(settings: Settings, options: argparse.Namespace) -> None:
    print("\n".join(reaper.leftovers(settings)) or "nothing")


if __name__ == "__main__":
    sys.exit(main())
