# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decides which sweeps may end early."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._run.columns import MQ_LOG
from .plan import IN_TURN

OPTION = "sweep_end_early"
NONE, FAIL, DECIDED = "none", "fail", "decided"
ISOLATED = "isolated"


def runs_alone(plan: Mapping[str, Any], hosts: Sequence[str]) -> bool:
    """Return whether each volume of this host is measured alone, so that ending its sweep early does not reduce the
    load on other volumes."""
    return (len(hosts) == 1 or plan.get("sweep_mode") == ISOLATED) and (
        len(plan["volumes"]) == 1 or plan["sweep_volumes"] == IN_TURN
    )


def early_end_problem(settings: Mapping[str, Any], plans: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the reason why sweeps must not end early with these plans; empty if they may, or if an early end was not
    requested."""
    if settings.get(OPTION, NONE) == NONE:
        return ""
    if settings[OPTION] == DECIDED and settings["gate_baseline"]:
        return (
            f"{OPTION}: {DECIDED} cannot be used in a run that is compared with a baseline, because the steps would "
            f"differ in length: set it to {FAIL}, or gate_baseline to none"
        )
    common_start = settings["sweep_start_at"] and settings["sweep_mode"] != ISOLATED
    for host, plan in plans.items():
        if any(volume["workload"] != MQ_LOG for volume in plan["volumes"]):
            return (
                f"{OPTION} is only for sweep_workload {MQ_LOG}: set it to {NONE}, because {host} has another workload"
            )
        if plan["searches"] or any(volume["load_target"] for volume in plan["volumes"]):
            return (
                f"{OPTION} cannot be used with a search or a target (sweep_loads: auto, sweep_load_target), which "
                f"need every step: set it to {NONE}"
            )
        # If the volumes still have to be discovered, there may be several.
        unknown = plan.get("discover") and plan["sweep_volumes"] != IN_TURN
        if unknown or common_start or not runs_alone(plan, list(plans)):
            return (
                f"{OPTION} is only for volumes that are measured alone, because a volume that ends early reduces the "
                f"load on the others: for several hosts, set sweep_mode: {ISOLATED}, and for several volumes of a "
                "host, or if "
                f"they are discovered, sweep_volumes: {IN_TURN}"
            )
    return ""
