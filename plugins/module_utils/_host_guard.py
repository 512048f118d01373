# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard of a host, which protects the host when a test cuts it off or cuts its power. It reads commands from its
input and answers each in a line::

    look                       clear | refused WHY
    cut ADDRESS PORT SECONDS   cut | no_privilege | no_nft | refused WHY | failed WHY
    heal                       healed | failed WHY

A cut is a table of nftables whose only element the kernel itself removes after SECONDS, so that the host comes back
even if this process is killed. The table is removed when the cut ends, when the input ends, and at a signal.

Private to this collection; it may change at any time.
"""

import os
import select
import signal
import socket
import subprocess
import sys

from . import _queue_managers

TABLE = "inet mqops_logdisk_locks"
PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
NFT_LIMIT_S = 10
RULES = """
add table {table}
delete table {table}
add table {table}
add set {table} server {{ type ipv{family}_addr . inet_service; flags timeout; timeout {seconds}s; }}
add element {table} server {{ {address} . {port} timeout {seconds}s }}
add chain {table} out {{ type filter hook output priority -300; policy accept; }}
add chain {table} in {{ type filter hook input priority -300; policy accept; }}
add rule {table} out {ip} daddr . tcp dport @server drop
add rule {table} in {ip} saddr . tcp sport @server drop
"""


class GuardError(Exception):
    """A command that failed; the message says why."""


class EndError(Exception):
    """Raised when a signal asks this process to end."""


def nft(rules):
    """Apply rules with nft. Raises GuardError if nft rejects them, and OSError if nft is not installed."""
    # Ansible's run_command needs a module.
    process = subprocess.Popen(  # pylint: disable=ansible-bad-function
        ["nft", "-f", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(os.environ, PATH=PATH),
    )
    try:
        said = process.communicate(rules.encode("ascii"), timeout=NFT_LIMIT_S)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise GuardError("nft does not answer")
    if process.returncode:
        raise GuardError(" ".join(said.decode("utf-8", "replace").split())[:300])


def family_of(address):
    """Return how rules name the family of an IP address. Any other text could contain statements, which nft would carry
    out as root. Raises GuardError."""
    for number, names in ((socket.AF_INET, ("4", "ip")), (socket.AF_INET6, ("6", "ip6"))):
        try:
            socket.inet_pton(number, address)
            return names
        except (OSError, ValueError):
            continue
    raise GuardError("%s is not an IP address" % address[:100])


def cut(address, port, seconds):
    """Drop all packets to and from a port of an address, for some seconds. Raises what ``nft`` raises."""
    family, ip = family_of(address)
    nft(RULES.format(table=TABLE, family=family, ip=ip, address=address, port=int(port), seconds=int(seconds)))


def heal():
    """Remove the table if there is one."""
    nft("add table {0}\ndelete table {0}\n".format(TABLE))


class Guard:
    """Answers commands."""

    def __init__(self, mqs_ini):
        self.mqs_ini = mqs_ini
        self.seconds = None
        """How long the cut lasts; None if there is no cut."""

    def answer(self, line):
        words = line.split()
        if words == ["look"]:
            return self.look() or "clear"
        if words == ["heal"]:
            return self.end()
        if len(words) == 4 and words[0] == "cut":
            return self.look() or self.cut(*words[1:])
        return "failed this is not a command: %s" % line[:100]

    def look(self):
        refusal = _queue_managers.why_not_to_cut(self.mqs_ini)
        return "refused %s" % refusal if refusal else ""

    def cut(self, address, port, seconds):
        if os.geteuid() != 0:
            return "no_privilege"
        try:
            self.seconds = int(seconds)
            cut(address, port, seconds)
        except OSError:
            self.seconds = None
            return "no_nft"
        except (GuardError, ValueError) as error:
            self.end()
            return "failed %s" % error
        return "cut"

    def end(self):
        if self.seconds is not None:
            try:
                heal()
            except (GuardError, OSError) as error:
                return "failed %s" % error
            self.seconds = None
        return "healed"


def lines(descriptor, limit):
    """Yield the lines of the input, and None whenever nothing has arrived for ``limit()`` seconds. Ends with the
    input."""
    rest = b""
    while True:
        if not select.select([descriptor], [], [], limit())[0]:
            yield None
            continue
        content = os.read(descriptor, 4096)
        if not content:
            return
        rest += content
        while b"\n" in rest:
            line, rest = rest.split(b"\n", 1)
            yield line.decode("ascii", "replace")


def end_at_signal(*dummy):
    raise EndError()


def main(arguments):
    """Answer the commands of the controller until there are no more."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, end_at_signal)
    guard = Guard(arguments[0])
    try:
        for line in lines(0, lambda: guard.seconds):
            answer = guard.end() if line is None else guard.answer(line)
            if line is not None:
                sys.stdout.write("guard: %s\n" % answer)
                sys.stdout.flush()
    except (EndError, EnvironmentError):
        pass  # the controller has gone
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        guard.end()
