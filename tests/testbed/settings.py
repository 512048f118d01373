# SPDX-License-Identifier: GPL-3.0-or-later
"""The directories of a test bed, and the names of its parts."""

import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PREFIX_LENGTH_MAX = 8  # the name of an interface has at most 15 characters: the prefix, a dash and a host's number


def default_prefix(kind: str = "c") -> str:
    """Return a prefix that differs between checkouts. ``kind`` distinguishes hosts that were started manually (c) from
    those of a test run (t)."""
    chosen = os.environ.get("LOGDISK_TESTBED_PREFIX")
    return chosen or f"ld{kind}{zlib.crc32(str(PROJECT).encode()) & 0xFFFF:04x}"


@dataclass(frozen=True)
class Settings:
    """All names that a bed uses on this machine begin with ``prefix``, so the prefix is enough to find and remove
    everything."""

    prefix: str = field(default_factory=default_prefix)
    state_base: Path = Path(os.environ.get("LOGDISK_TESTBED_STATE", "/var/tmp/logdisk-testbed"))
    cache: Path = Path(os.environ.get("LOGDISK_TESTBED_CACHE", "/var/cache/logdisk-testbed"))
    mirror: str = os.environ.get("LOGDISK_TESTBED_MIRROR", "")

    def __post_init__(self) -> None:
        if not (self.prefix.isalnum() and 2 <= len(self.prefix) <= PREFIX_LENGTH_MAX):
            raise ValueError(f"prefix {self.prefix!r}: 2 to {PREFIX_LENGTH_MAX} letters and digits are allowed")

    @property
    def state(self) -> Path:
        return self.state_base / self.prefix

    @property
    def bridge(self) -> str:
        return f"{self.prefix}-br"

    @property
    def preferred_subnet(self) -> int:
        """The second number of 10.x.0.0/16 to try first."""
        return 100 + zlib.crc32(self.prefix.encode()) % 100
