# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This code is private to the collection and may change at any time.

"""Whether something other than the disk can have made writes slow while they were measured."""

from __future__ import annotations

from dataclasses import dataclass

from ..module_utils import _units
from ._tables import Tables


@dataclass(frozen=True)
class _Sign:
    """A key of run.csv that tells of a disturbance: the share from which it counts, what it means for people, and the file systems where it says nothing."""

    key: str
    from_share: float
    text: str
    not_on: tuple[str, ...] = ()


# A write to these makes many times its size of metadata, which is nobody else's I/O although the tester did not ask for it.
_COPY_ON_WRITE = ('btrfs', 'zfs', 'bcachefs')

# Well above what the test causes by itself: on two idle processors its own wake-ups make 0.006 of run_queue_wait_share and 0.25 of psi_cpu_some_share.
_SIGNS = (
    _Sign('cpu_steal_share', 0.01, 'the hypervisor took {share} of the processor time'),
    _Sign('run_queue_wait_share', 0.02, 'the tester waited for a processor {share} of its time'),
    _Sign('psi_cpu_some_share', 0.50, 'processes waited for a processor {share} of the time'),
    _Sign('foreign_io_share', 0.10, '{share} of what the disk moved was not ours', not_on=_COPY_ON_WRITE),
)


def disturbances(tables: Tables) -> list[str]:
    """Return what disturbed the measuring, a few words each; what the kernel did not tell is not among them.

    The waiting for I/O (psi_io_some_share) is no sign: the test itself causes it.
    """
    found = []
    for sign in _SIGNS:
        share = tables.number(sign.key)
        if share is not None and share >= sign.from_share and tables.run.get('filesystem_type') not in sign.not_on:
            found.append(sign.text.format(share=_units.format_ratio(share)))
    return found
