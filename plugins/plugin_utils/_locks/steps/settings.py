# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks the preconditions of all other steps: two machines that see the same directory, as the same user, with mount
options and kernel parameters under which locks work. Also reads the settings that hosts report: they are untrusted, but
they are stored and shown, and root uses the address of the file server in the rules of a packet filter."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ..._run.findings import SETTING
from ..._run.lock_steps import LOCKS
from ..._run.settings import SETTINGS, outcomes_of_pair, worst_of_each
from ..._run.shapes import Within, as_dict, fits
from ..._run.table_reader import printable
from ..._run.verdicts import FAIL
from ..locker import CallError, Locker
from ..protocol import DONE
from ..stage import NONCE, Stage
from ..step import Figures, StepEnd, broken, undecided

Settings = Mapping[str, Any]
"""The settings of a host, as the module ``lock_start`` returns them. They are untrusted."""
FORBIDDEN, ABSENT = ("EACCES", "EPERM"), "ENOENT"
VISIBLE_S = 10.0
"""How long what one host wrote may take to become visible on the other host."""
NAMESPACES = ("pid_namespace", "mount_namespace")


def refuse_settings(settings: Mapping[str, Settings], waived: Collection[str] = ()) -> None:
    """Raise StepEnd if locks cannot work, or a test would prove nothing, with these settings of two hosts. The settings
    are given by the names of the hosts. Those with a ``waived`` id do not end the test."""
    for end in _refusals(settings, waived):
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


def _refusals(settings: Mapping[str, Settings], waived: Collection[str]) -> Iterator[StepEnd]:
    one, two = settings.values()
    if _are_equal(one, two, "boot_id"):
        is_same = all(_are_equal(one, two, name) for name in NAMESPACES)
        yield broken("same_machine" if is_same else "one_kernel", value=_text(one, "boot_id"))
    for wrong in worst_of_each(outcomes_of_pair(LOCKS, settings), FAIL):
        if wrong["id"] not in waived:
            known = {key: wrong[key] for key in ("title", "value", "expected")}
            yield broken(SETTING, setting_id=wrong["id"], host=wrong["subject"], **known)
    for host, own in settings.items():
        yield from _of_directory(host, own, two if own is one else one)


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
        SETTINGS: str(answer.get(SETTINGS) or ""),
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
