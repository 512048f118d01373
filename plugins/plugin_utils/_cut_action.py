# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Code that the action plugins of power cuts share: handling connections that break when a host loses power, and
passing data from one plugin to the next."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from ._durability import witness
from ._durability.cut import Command, Returned, Witnessed
from ._durability.witness import Files
from ._run.directory import RunDirectory
from ._run.table_reader import printable

KEEP_ALIVE = "-o ServerAliveInterval=5 -o ServerAliveCountMax=6"
MOST_ROWS = 10_000


def keep_alive(connection: Any) -> None:
    """Prevent calls over a new connection from hanging if the host loses power."""
    if connection.transport == "ssh":
        given = connection.get_option("ssh_extra_args") or ""
        connection.set_option("ssh_extra_args", f"{given} {KEEP_ALIVE}".strip())


def renew(connection: Any) -> None:
    """Reset the connection, so that the next call uses a new one. The previous connection may have died with the host
    without being noticed."""
    if connection.transport != "local":
        connection.reset()


def files_of(directory: RunDirectory, host: str, volume: str, number: int) -> Files:
    return Files(directory.folder_of(host, volume), number)


def command_of(given: Mapping[str, Any], problem: str) -> Command:
    """Return the outcome of the cut command. It is derived from the result of its task, or from the failure of a user's
    task."""
    return Command(
        done=given.get("go") is True,
        status=given.get("status"),
        output=str(given.get("output") or ""),
        problem=problem or str(given.get("problem") or ""),
        seconds=float(given.get("seconds") or 0),
        ended_ns=int(given.get("ended_ns") or 0),
    )


def witnessed_of(state: witness.State, command: Command, broken: bool) -> Witnessed:
    return Witnessed(
        state.seen,
        broken=broken,
        early=not command.done,
        problem=state.problem,
        said=state.said,
        status=state.status,
        lost_ns=state.lost_ns,
    )


def returned_of(before: Mapping[str, Any], given: Mapping[str, Any]) -> Returned:
    after = given.get("after")
    return Returned(
        before,
        after if isinstance(after, Mapping) else None,
        str(given.get("problem") or ""),
        float(given.get("waited_s") or 0),
    )


def read_rows(content: bytes) -> list[dict[str, str]]:
    """Return the rows of durability.csv, which is untrusted. Raises ValueError."""
    try:
        header, *lines = csv.reader(io.StringIO(content.decode("utf-8", "replace"), newline=""), strict=True)
    except csv.Error as error:
        raise ValueError(f"durability.csv cannot be read: {error}") from None
    if len(lines) > MOST_ROWS or any(len(line) != len(header) for line in lines):
        raise ValueError("durability.csv is not a table of the tester")
    return [{printable(name): printable(text) for name, text in zip(header, line, strict=True)} for line in lines]
