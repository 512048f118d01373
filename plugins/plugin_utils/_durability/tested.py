# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Describes what a cut command tests and what it does not."""

from __future__ import annotations

import re

_KINDS = (
    (
        re.compile(r"\b(virsh|qm|VBoxManage|xl|govc|prlctl|qemu|nova|openstack|aws|az|gcloud)\b"),
        (
            "Destroying a guest tests the guest and the process of its hypervisor, but neither the page cache of the "
            "hypervisor nor its drives."
        ),
    ),
    (
        re.compile(r"sysrq|\breset\b|\bcycle_soft\b|\breboot\b|\bkexec\b"),
        (
            "A reset tests the page cache and the drivers of the host only: its drives and its "
            "controller keep their power."
        ),
    ),
    (
        re.compile(
            r"ipmitool|redfish|racadm|hponcfg|ilorest|\bpdu\b|snmpset|outlet|power\s+(off|cycle)", re.IGNORECASE
        ),
        "Cutting the power of the chassis tests the host, its controller and its local drives.",
    ),
)
UNKNOWN = (
    "What this tests depends on what it cuts: the power of the chassis (host, controller and local drives), a reset "
    "(page cache and drivers only), or a guest (the guest and the process of its hypervisor)."
)
NEVER_AN_ARRAY = "No cut of a host tests a SAN array, which keeps its power."


def what_is_tested(command: str) -> str:
    """Return sentences about what a cut command tests and what it does not, as far as its text shows this."""
    found = next((sentence for pattern, sentence in _KINDS if pattern.search(command)), UNKNOWN)
    return f"{found} {NEVER_AN_ARRAY}"
