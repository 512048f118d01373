# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether something other than the disk can have made writes slow while they were measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import Tables


@dataclass(frozen=True)
class _Sign:
    """A key of run.csv that shows a disturbance: the value from which it counts, its message, and the file systems on which it means nothing."""

    key: str
    from_value: float
    text: str
    not_on: tuple[str, ...] = ()
    show: Callable[[float], str] = _units.format_ratio


# A write to these causes many times its size in metadata. The tester did not write that, but nobody else did either.
_COPY_ON_WRITE = ("btrfs", "zfs", "bcachefs")

_FROZEN = _Sign("oversleep_max_ns", 0.5e9, "the tester itself was frozen for {value}", show=_units.format_duration)

# Well above what the test causes by itself: on two idle processors its own wake-ups make 0.006 of run_queue_wait_share and 0.25 of psi_cpu_some_share.
_SIGNS = (
    _Sign("cpu_steal_share", 0.01, "the hypervisor took {value} of the processor time"),
    _Sign("run_queue_wait_share", 0.02, "the tester waited for a processor {value} of its time"),
    _Sign("psi_cpu_some_share", 0.50, "processes waited for a processor {value} of the time"),
    _Sign("foreign_io_share", 0.10, "{value} of the bytes that the disk transferred did not come from the test", not_on=_COPY_ON_WRITE),
    _FROZEN,
)


def disturbances(tables: Tables) -> list[str]:
    """Return what disturbed the measuring, a few words each; figures that the kernel did not provide are left out.

    The waiting for I/O (psi_io_some_share) is not a sign: the test itself causes it.
    """
    found = []
    for sign in _SIGNS:
        value = tables.number(sign.key)
        if value is not None and value >= sign.from_value and tables.run.get("filesystem_type") not in sign.not_on:
            found.append(_told(sign, value))
    return found


def freeze_behind(tables: Tables, step: float | None, longest_ns: float | None, limit_ns: float) -> list[str]:
    """Return the freeze without which a step's slowest write would not have reached a limit on the longest stall; empty if the disk alone did.

    While the tester is frozen (SIGSTOP, a virtual machine that migrates) no write can return, so a freeze is part of the latency of the write in flight.
    """
    frozen_ns = tables.number(_FROZEN.key) or 0
    if frozen_ns < _FROZEN.from_value or tables.number("oversleep_max_step") != step or longest_ns is None or longest_ns - frozen_ns >= limit_ns:
        return []
    return [_told(_FROZEN, frozen_ns)]


def _told(sign: _Sign, value: float) -> str:
    return sign.text.format(value=sign.show(value))
