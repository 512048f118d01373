# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decides whether something other than the disk may have slowed down the measured writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .._run.columns import ALL_OPERATIONS, ALL_STREAMS, Row
from .._run.tables import Tables


@dataclass(frozen=True)
class _Sign:
    """A kind of disturbance: the key of run.csv that shows it, the smallest relevant value, and the file systems and
    other kinds of disturbances for which it is ignored."""

    kind: str
    key: str
    from_value: float
    not_on: tuple[str, ...] = ()
    not_with: str = ""


# On these file systems, a write can cause many times its own size in metadata. The tester did not write this metadata
# itself, but neither did other processes.
_COPY_ON_WRITE = ("btrfs", "zfs", "bcachefs")

STEAL, QUOTA, RUN_QUEUE, PROCESSORS, FOREIGN_IO, FREEZE, IO_LIMIT = (
    "steal",
    "quota",
    "run_queue",
    "processors",
    "foreign_io",
    "freeze",
    "io_limit",
)
"""Kinds of disturbances: time taken by the hypervisor, time withheld by a quota, waits of the tester and of other
processes, transfers by others, a tester that was frozen, and requests that a limit on a control group held back."""

_FROZEN = _Sign(FREEZE, "oversleep_max_ns", 0.5e9)

_IO_LIMITED_FROM = 0.5
"""The share of a limit on I/O above which the limit, and not the storage, can be what a step measured."""

# These are well above the values that the test itself causes: on two idle processors, its own wake-ups cause a
# run_queue_wait_share of 0.006 and a psi_cpu_some_share of 0.25. The test does not cause throttling: without a quota,
# or with a sufficiently large one, throttling is exactly 0. With a quota that is too small, every thread stands still
# until the next period, up to 0.1 s later. If throttling or steal affects at least 0.01 of the time, it can by itself
# explain the slowest 1 % of the time-weighted writes, and therefore the p99. The kernel counts a thread that is
# throttled by a quota as waiting for a processor. Therefore, if there is a quota, such waiting does not prove that
# other work was running.
_SIGNS = (
    _Sign(STEAL, "cpu_steal_share", 0.01),
    _Sign(QUOTA, "cpu_throttled_share", 0.01),
    _Sign(RUN_QUEUE, "run_queue_wait_share", 0.02, not_with=QUOTA),
    _Sign(PROCESSORS, "psi_cpu_some_share", 0.50, not_with=QUOTA),
    _Sign(FOREIGN_IO, "foreign_io_share", 0.10, not_on=_COPY_ON_WRITE),
    _FROZEN,
)


def disturbances(tables: Tables) -> list[dict[str, Any]]:
    """Return the disturbances of the measurement, each with its kind and its figure; figures that the kernel did not
    provide are ignored.

    If a step ended early, a disturbance of this step alone is sufficient, because the step may be a small part of the
    run.

    Waiting for I/O (psi_io_some_share) is not evidence of a disturbance, because the test itself causes it.
    """
    found: dict[str, dict[str, Any]] = {}
    for sign in _SIGNS:
        value = max(filter(None, (tables.number(sign.key), tables.number(f"ended_early_{sign.key}"))), default=None)
        if (
            value is not None
            and value >= sign.from_value
            and tables.run.get("filesystem_type") not in sign.not_on
            and sign.not_with not in found
        ):
            found[sign.kind] = {"kind": sign.kind, "value": value}
    return [*found.values(), *_io_limits(tables.results)]


def _io_limits(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the limit on a control group of which the most was used, as a disturbance; empty if no limit held back
    what the rows of results.csv are about."""
    most = max(rows, key=lambda row: row.get("io_limit_used_share") or 0, default={})
    share = most.get("io_limit_used_share")
    if share is None or share < _IO_LIMITED_FROM:
        return []
    names = {key: most.get(key) or "" for key in ("io_limit_file", "io_limit")}
    return [{"kind": IO_LIMIT, "value": share, **names}]


def io_limits_behind(
    tables: Tables, step: float | None = None, stream: str = ALL_STREAMS, operation: str = ALL_OPERATIONS
) -> list[dict[str, Any]]:
    """Return the limit on a control group that held back these operations in this step (all steps if it is None), as a
    disturbance; empty if there is none, or if others used the device, because the counters of the device then do not
    show how much of the limit the tester used.

    Under such a limit, every figure of the storage can be that of the limit: a latency of any size, a stall, and the
    throughput.
    """
    found = _io_limits(
        row
        for row in tables.results
        if step in (None, row["step"])
        and stream in (ALL_STREAMS, row["stream"])
        and operation in (ALL_OPERATIONS, row["operation"])
    )
    return [] if found and any(each["kind"] == FOREIGN_IO for each in disturbances(tables)) else found


def freeze_behind(
    tables: Tables, step: float | None, longest_ns: float | None, limit_ns: float
) -> list[dict[str, Any]]:
    """Return the freeze that made a step's slowest write reach a limit on the longest stall; empty if the write would
    have exceeded it even without the freeze.

    While the tester is frozen (SIGSTOP, a virtual machine that migrates) no write can return, so a freeze is part of
    the latency of the write in flight.
    """
    frozen_ns = tables.number(_FROZEN.key) or 0
    if (
        frozen_ns < _FROZEN.from_value
        or tables.number("oversleep_max_step") != step
        or longest_ns is None
        or longest_ns - frozen_ns >= limit_ns
    ):
        return []
    return [{"kind": FREEZE, "value": frozen_ns}]
