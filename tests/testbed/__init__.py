# SPDX-License-Identifier: GPL-3.0-or-later
"""Real SSH hosts on one machine, which start within a second and without containers.

A host consists of network, mount, PID, UTS and IPC namespaces on top of a Debian tree, with its own file system on /fut
and its own sshd. The test bed needs root and only Debian packages. See ``python3 -m testbed --help`` (with ``tests`` in
PYTHONPATH) and README.md beside this file.
"""

from testbed.bed import Bed
from testbed.host import Host, HostSpec
from testbed.servers import Server, ServerSpec
from testbed.settings import Settings

__all__ = ["Bed", "Host", "HostSpec", "Server", "ServerSpec", "Settings"]
