# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks the preconditions of all other steps: two machines that see the same directory, as the same user, with mount
options and kernel parameters under which locks work. Also reads the settings that hosts report: they are untrusted, but
they are stored and shown, and root uses the address of the file server in the rules of a packet filter."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

from ..._run.shapes import Within, as_dict, fits
from ..._run.table_reader import printable
from ..locker import CallError, Locker
from ..protocol import DONE
from ..stage import NONCE, Stage
from ..step import Figures, StepEnd, broken, undecided

Settings = Mapping[str, Any]
"""The settings of a host, as the module ``lock_start`` returns them. They are untrusted."""
NFS = ("nfs", "nfs4")
ALL_LOCAL = ("all", "posix", "both")
"""The values of the mount option local_lock that make the kernel grant POSIX locks without asking the server."""
WANTED = {"soft": "hard", "softerr": "hard", "nolock": "lock"}
"""Mount options that make the kernel give up writes, or grant locks without asking the server, each with the
option that is required instead."""
UNLIKE = "unlike on both hosts"
TRUE = ("y", "1", "true")
FORBIDDEN, ABSENT = ("EACCES", "EPERM"), "ENOENT"
VISIBLE_S = 10.0
"""How long what one host wrote may take to become visible on the other host."""
NAMESPACES = ("pid_namespace", "mount_namespace")


def refuse_settings(settings: Mapping[str, Settings]) -> None:
    """Raise StepEnd if locks cannot work, or a test would prove nothing, with these settings of two hosts. The settings
    are given by the names of the hosts."""
    for end in _refusals(settings):
        raise end


def same_file_system(stage: Stage, settings: Mapping[str, Settings] | None = None) -> Figures:
    """Check that one host reads what the other host wrote, with all caches bypassed. Equal names and numbers of file
    systems would not prove that they are the same. A file or data that become visible late are no fault of locks."""
    nonce = secrets.token_hex(32)
    writer = stage.open(stage.holder, NONCE)
    writer.must("nonce", NONCE, "write", nonce)
    begin_ns = stage.clock.now_ns()
    other = _Reader(stage.other.start(), (settings or {}).get(stage.other.host) or {})
    if other.sees(nonce):
        return {}
    if not _reads(writer, nonce):
        raise broken("write_lost", host=writer.host)
    if not stage.clock.wait_until(lambda: other.sees(nonce), VISIBLE_S):
        raise broken("not_shared", **_place(stage.other.host, other.settings))
    return {"visible_after_ns": stage.clock.now_ns() - begin_ns}


class _Reader:
    """A locker of the other host that reads the file as soon as it exists there."""

    def __init__(self, locker: Locker, settings: Settings) -> None:
        self.settings = settings
        self._locker = locker
        self._is_open = False

    def sees(self, nonce: str) -> bool:
        """Whether the host reads this. Raises StepEnd if it may not open the file, and CallError if it cannot."""
        if not self._is_open:
            opened = self._locker.ask("open", NONCE)
            if opened.text("errno") == ABSENT:
                return False
            if opened.text("errno") in FORBIDDEN:
                raise _not_permitted(self._locker.host, self.settings, opened.text("errno"))
            if opened.outcome != DONE:
                raise CallError(self._locker.host, opened)
            self._is_open = True
        return _reads(self._locker, nonce)


def _reads(locker: Locker, nonce: str) -> bool:
    return locker.must("nonce", NONCE, "read").text("hex") == nonce


def _refusals(settings: Mapping[str, Settings]) -> Iterator[StepEnd]:
    one, two = settings.values()
    yield from _of_machines(one, two)
    for host, own in settings.items():
        yield from _of_host(host, own)
    for name in ("uid", "gid"):
        if one.get(name) != two.get(name):
            yield broken("other_identity", setting=name, value=f"{one.get(name)}, {two.get(name)}", wanted="the same")
    for host, own in settings.items():
        yield from _of_directory(host, own, two if own is one else one)


def _of_machines(one: Settings, two: Settings) -> Iterator[StepEnd]:
    if _are_equal(one, two, "boot_id"):
        is_same = all(_are_equal(one, two, name) for name in NAMESPACES)
        yield broken("same_machine" if is_same else "one_kernel", value=_text(one, "boot_id"))
    for name in ("machine_id", "nfs4_unique_id"):
        if _are_equal(one, two, name):
            yield broken("client_identity", setting=name, value=_text(one, name), wanted=UNLIKE)
    # A unique identifier replaces the host name in the identity of an NFS client, or is added to it.
    if _are_equal(one, two, "hostname") and not (_text(one, "nfs4_unique_id") and _text(two, "nfs4_unique_id")):
        yield broken("client_identity", setting="hostname", value=_text(one, "hostname"), wanted=UNLIKE)


def _of_directory(host: str, own: Settings, other: Settings) -> Iterator[StepEnd]:
    """Yield why a host does not see the directory that was created for the test."""
    errno = _text(own, "directory_errno")
    if own.get("directory_exists") is True:
        return
    if errno in FORBIDDEN:
        yield _not_permitted(host, own, errno)
    if errno != ABSENT:
        yield undecided("call_failed", host=host, verb="opening the directory", errno=errno or "an unknown error")
    one_server = any(_are_equal(own, other, name) for name in ("mount_source", "server_address"))
    if _text(own, "path") != _text(other, "path") and one_server:
        yield undecided("other_path", **_place(host, own), other_path=_text(other, "path"))
    yield broken("not_shared", **_place(host, own), other_path=_text(other, "path"))


def _not_permitted(host: str, own: Settings, errno: str) -> StepEnd:
    return undecided("not_permitted", **_place(host, own), user=str(own.get("uid", "")), errno=errno)


def _place(host: str, own: Settings) -> Figures:
    return {"host": host, "path": _text(own, "path")}


def _of_host(host: str, own: Settings) -> Iterator[StepEnd]:
    if _text(own, "filesystem_type") in NFS:
        for option, wanted in wrong_options(own).items():
            name, _equals, value = option.partition("=")
            yield broken("mount_option", host=host, setting=name, value=value or option, wanted=wanted)
        if (value := _text(own, "recover_lost_locks")).lower() in TRUE:
            yield broken("kernel_parameter", host=host, setting="recover_lost_locks", value=value, wanted="N")


def wrong_options(own: Settings) -> dict[str, str]:
    """Return the mount options of an NFS file system that make locks meaningless or let the kernel give up writes, each
    with the value that is required instead."""
    words = _text(own, "mount_options").split(",")
    given = dict(word.partition("=")[::2] for word in words)
    found = {word: WANTED[word] for word in words if word in WANTED}
    if given.get("local_lock") in ALL_LOCAL:
        found[f"local_lock={given['local_lock']}"] = "none"
    if (version := given.get("vers") or given.get("nfsvers") or "") and not version.startswith("4"):
        found[f"vers={version}"] = "4 or later"
    return found


def _are_equal(one: Settings, two: Settings, name: str) -> bool:
    return bool(_text(one, name)) and _text(one, name) == _text(two, name)


def _text(settings: Settings, name: str) -> str:
    return str(settings.get(name) or "")


IDENTITIES = (
    "machine_id",
    "boot_id",
    "hostname",
    "pid_namespace",
    "mount_namespace",
    "recover_lost_locks",
    "nfs4_unique_id",
)
PLACE = ("path", "directory_errno")
MOUNT = ("mount_point", "mount_source", "mount_options", "filesystem_type")
LONGEST_TEXTS = {**dict.fromkeys(IDENTITIES, 256), **dict.fromkeys((*MOUNT, *PLACE), 4096)}
NUMBERS = ("uid", "gid", "lease_s")


def read_settings(given: Any) -> dict[str, Any]:
    """Return the settings that are known to this collection. Texts are shortened, and their invisible characters are
    replaced. A value of another type is unknown: a text is then empty, and a number is None."""
    answer = as_dict(given)
    return {
        **{name: _shown_text(answer.get(name))[:most] for name, most in LONGEST_TEXTS.items()},
        **{name: _number(answer.get(name)) for name in NUMBERS},
        "server_address": _address(answer.get("server_address")),
        "directory_exists": answer.get("directory_exists") is True,
    }


def _shown_text(value: Any) -> str:
    return printable(value) if isinstance(value, str) else ""


def _number(value: Any) -> int | None:
    return value if fits(value, Within(0, (1 << 32) - 1, int)) else None


def _address(value: Any) -> str:
    """Return an IP address; empty if the value is none. An IPv6 address with a zone is none, because a zone can be any
    text."""
    try:
        return str(ipaddress.ip_address(value)) if isinstance(value, str) and "%" not in value else ""
    except ValueError:
        return ""
