# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plans the power cuts of a host, and describes what they test and what they do not. Nothing is sent to the host."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from .._action_base import ControllerAction
from .._fleet.plan import LONGEST_DEADLINE_S, of_tester, plan_host
from .._fleet.settings import refuse_computed, refuse_unconfirmed
from .._fleet.volumes import only_volume
from .._judge.durability import STAGE
from .._run.kinds import POWER_CUT
from .._run.tester_options import OptionError

SPARE_S = 3600
"""How much longer than planned the tester may write. It ends when the power is cut or its connection ends."""


class Step(ControllerAction):
    """Runs only on the controller."""

    stage = STAGE

    argument_spec = {
        "options": {"type": "dict", "required": True},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        asked = options["options"]
        handed_on = {"options": asked, "state_dir": asked["sweep_state_dir"], "tester": of_tester(asked)}
        try:
            refuse_computed("cut_confirm", task_vars.get("cut_confirm"))
            return {**planned(asked, task_vars["inventory_hostname"]), **handed_on}
        except OptionError as error:
            return {"problem": POWER_CUT.in_its_terms(str(error)), **handed_on}


def planned(asked: Mapping[str, Any], host: str) -> dict[str, Any]:
    """Return the plan of a host, from the values of all options. Raises OptionError."""
    check(asked, host)
    volume = only_volume(asked, "a power cut tests")
    names = volume["queue_managers"]
    writers = asked["cut_queue_managers"] or len(names)
    if writers > len(names):
        raise OptionError(
            f"cut_queue_managers: {writers} queue managers, but workspace_queue_managers names {len(names)}"
        )
    variables = {
        "sweep_block_sizes": [asked["cut_block_size"]],
        "sweep_file_size": asked["cut_file_size"],
        "sweep_files": asked["cut_files"],
        "sweep_duration": math.ceil(asked["cut_after"]) + SPARE_S,
        "sweep_warmup": 0,
    }
    # The sweep options of a volume do not apply to power cuts.
    plan = plan_host([{**volume, "queue_managers": names[:writers], "sets": []}], variables, {})
    size_bytes = plan["volumes"][0]["block_sizes_bytes"][0]
    if size_bytes % 4096:
        raise OptionError(f"cut_block_size: {size_bytes} bytes are not a multiple of 4096")
    command = asked["cut_command"]
    cuts = {
        "count": asked["cut_count"],
        "after_s": asked["cut_after"],
        "wait_s": asked["cut_wait"],
        "command": command,
        "serial": asked["cut_serial"],
        "tests": what_is_tested(command),
        "bsize": size_bytes,
        "qm": writers,
        "deadline_s": min(int(plan["deadline_s"]), LONGEST_DEADLINE_S),
        "ready_s": 4 * plan["format_s"] + 300,
    }
    return {"volumes": [{**each, "notes": []} for each in plan["volumes"]], "cuts": cuts}


def check(asked: Mapping[str, Any], host: str) -> None:
    """Raise OptionError if the power of a host must not be cut, or not in this way."""
    refuse_unconfirmed("cut_confirm", asked["cut_confirm"], host, "the power of a host is cut")
    if not asked["cut_command"]:
        raise OptionError("specify how the power is cut: set cut_command to a command on the controller")
    if asked["workspace_discover"]:
        raise OptionError(
            "workspace_discover is not used for a power cut: name the directory to test as workspace_path"
        )
    if asked["cut_count"] < 1:
        raise OptionError(f"cut_count is {asked['cut_count']}, but must be at least 1")
    if asked["cut_after"] < 1:
        raise OptionError(f"cut_after is {asked['cut_after']:g}, but must be at least 1 second")


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
