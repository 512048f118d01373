# SPDX-License-Identifier: GPL-3.0-or-later
"""What is tested on NFS: honest servers, which must keep every promise about locked files, and settings that defeat
locks, none of which may pass."""

from __future__ import annotations

from dataclasses import dataclass

RESTART, CRASH, NEW_SCOPE = "restart", "crash", "new scope"
"""How the server fails over: its service is restarted, its guest is killed and boots again, or its service is restarted
under another host name."""
UNLIKE = ("11" * 16, "22" * 16)


@dataclass(frozen=True)
class Case:
    """A pair of hosts and their server. ``refused`` are the settings for which the pair must be refused. ``convicted``
    contains steps, one of which must be broken. A case with neither must keep all steps. ``is_cut`` determines whether
    hosts are also cut off and lose power, which takes the most time. None of these servers then refuses late writes to
    a file that was not locked."""

    setting: str = ""
    server: str = "nfsd"
    version: str = "4.2"
    options: str = ""
    parameters: str = ""
    host_names: tuple[str, str] = ("one", "two")
    renamed: bool = False
    machine_ids: tuple[str, str] = UNLIKE
    fail_over: str = ""
    is_cut: bool = False
    refused: str = ""
    convicted: tuple[str, ...] = ()

    @property
    def is_honest(self) -> bool:
        return not self.refused and not self.convicted

    @property
    def mount_options(self) -> str:
        return ",".join(filter(None, (f"vers={self.version}", "hard", self.options)))


SAME = ("33" * 16, "33" * 16)
CLONE = ("clone", "clone")
CASES = {
    "nfsd-4.2": Case(fail_over=CRASH, is_cut=True),
    "nfsd-4.1": Case(version="4.1", fail_over=RESTART, is_cut=True),
    "ganesha-4.2": Case(server="ganesha", fail_over=CRASH, is_cut=True),
    "ganesha-4.1": Case(server="ganesha", version="4.1", fail_over=RESTART, is_cut=True),
    # The kernel applies these options only to NFSv3, and ignores them otherwise.
    "ignored-local": Case("local_lock=all, ignored", options="local_lock=all"),
    "ignored-nolock": Case("nolock, ignored", options="nolock"),
    "local": Case("local_lock=all", version="3", options="local_lock=all", refused="SET-001, SET-003"),
    "nolock": Case("nolock", version="3", options="nolock", refused="SET-001, SET-003"),
    "vers3": Case("vers=3", version="3", refused="SET-001"),
    "recover": Case("recover_lost_locks=1", parameters="recover_lost_locks=1", refused="SET-004"),
    "machine-id": Case("one machine-id", machine_ids=SAME, refused="SET-005"),
    "host-name": Case("one host name", host_names=CLONE, refused="SET-007"),
    "unique-id": Case("one nfs4_unique_id", parameters="nfs4_unique_id=clone", refused="SET-006"),
    # Two clones that were renamed after they had mounted the directory: nothing shows that the server takes them for
    # one client.
    "renamed": Case(
        "one host name at the mount",
        host_names=CLONE,
        renamed=True,
        convicted=("second_refused", "hand_over", "concurrent_updates", "under_load"),
    ),
    "scope": Case("new server scope", fail_over=NEW_SCOPE, convicted=("server_failover",)),
}
