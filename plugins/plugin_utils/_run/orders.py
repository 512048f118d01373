# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The data about a host before its record exists: its orders, the rounds of a search, and the samples of an
observation."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from .names import ORDER, SAMPLES, round_folder, volume_folder
from .run_files import MAX_TABLE_BYTES, RunDirectoryError, RunFiles
from .shapes import Items, Keys, Maybe, Within, check

MAX_SAMPLES_BYTES = 80 << 20
"""The largest number of bytes that is accepted from one observer. An observer ends when its samples reach 64 MiB, but
its last sample can take the total above that."""


_ORDER = Keys(
    {
        **dict.fromkeys(("run_id", "host", "volume", "source_hash"), str),
        **dict.fromkeys(("ordered_epoch_s", "deadline_epoch_s", "clock_error_s"), Within(0, 1e11)),
        **dict.fromkeys(("options", "texts"), Keys({}, every=str)),
        "machine": Keys(dict.fromkeys(("hostname", "machine_id"), str)),
        "directories": Items(str),
        **dict.fromkeys(("facts", "workspace"), Maybe(dict)),
        "search": Maybe(
            Keys({"group": Maybe(str), **dict.fromkeys(("largest", "rounds", "round"), Within(1, 1 << 31, int))})
        ),
    }
)
"""The structure of order.json."""


class Orders:
    """The order for each volume and, in a search, the order for each of its rounds."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files

    def write(self, order: Mapping[str, Any]) -> None:
        """Record what a host is ordered to measure, before it is started. Raises RunDirectoryError."""
        with self._files.writing(f"The order of {order['host']!r}"):
            self._files.write_json(volume_folder(order["host"], order["volume"]), ORDER, order)

    def read(self, host: str, volume: str) -> dict[str, Any]:
        """Return the order for a host. Raises RunDirectoryError, for example if there is none."""
        order = self._files.read_json(volume_folder(host, volume), ORDER)
        check(order, _ORDER, lambda part: RunDirectoryError(f"The {ORDER} of {host!r} has no usable {part}."))
        return order

    def write_round(self, order: Mapping[str, Any], number: int, tables: Mapping[str, bytes]) -> None:
        """Write the tables and the order of a round of a search, replacing earlier ones. Raises RunDirectoryError."""
        folder = round_folder(order["host"], order["volume"], number)
        with self._files.writing(f"The tables of {order['host']!r}"):
            self._files.write_json(folder, ORDER, order)
            for name, content in tables.items():
                self._files.write(folder, name, content)

    def read_round(self, host: str, volume: str, number: int, names: Iterable[str]) -> dict[str, bytes]:
        """Return the existing tables of a round. Raises RunDirectoryError if any of them cannot be read."""
        folder = round_folder(host, volume, number)
        tables = {name: self._files.read("", MAX_TABLE_BYTES, folder, name) for name in names}
        return {name: content for name, content in tables.items() if content is not None}


class Samples:
    """The output of an observation's source for each volume, with its bytes unchanged."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files

    def size(self, host: str, volume: str) -> int:
        """Return how many bytes are stored."""
        try:
            return os.lstat(self._files.path(volume_folder(host, volume), SAMPLES)).st_size
        except OSError:
            return 0

    def add(self, host: str, volume: str, content: bytes) -> None:
        """Append what an observer has written since the last time. Raises RunDirectoryError, for example if there is
        more than an observer can write."""
        folder = volume_folder(host, volume)
        if self.size(host, volume) + len(content) > MAX_SAMPLES_BYTES:
            raise RunDirectoryError(f"The observer of {host!r} sent more than {MAX_SAMPLES_BYTES >> 20} MiB.")
        with self._files.writing(f"The samples of {host!r}", folder, SAMPLES):
            self._files.make_folder(folder)
            descriptor = os.open(
                self._files.path(folder, SAMPLES),
                os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC,
                0o644,
            )
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)

    def read(self, host: str, volume: str) -> bytes:
        """Return everything that an observer has written, or empty if nothing was received. Raises
        RunDirectoryError."""
        return self._files.read("The samples", MAX_SAMPLES_BYTES, volume_folder(host, volume), SAMPLES) or b""
