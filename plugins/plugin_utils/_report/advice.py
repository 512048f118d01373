# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What to do next, by what was seen. docs/causes.md has the same table with its sources, and a test compares them."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import Host

UNDECIDED = "Nothing is proven: this storage may keep the limit or break it."
UNKNOWN = "Nothing is known about this storage."

NEXT_STEPS = {
    "unreachable": ("Connect to the host with ssh as the user of the inventory. If that works, run the certification again for these hosts with --limit."),
    "missing": "Look in Ansible's output for the last task of the host. If its tester was started, playbooks/collect.yml fetches what it measured.",
    "tester": "Do what the message asks for. If no compiler can be installed there, set tester_method: binary.",
    "workspace": "Choose a path that may be tested with workspace_path, or do what the message asks for. Nothing was written.",
    "sweep": "Look in the message and in the system log of the host for what ended the tester, and measure the host again.",
    "collect": "Run playbooks/collect.yml for this run: it fetches the tables again. If they cannot be used, measure the host again.",
    "error": "Do what the message asks for, and measure the host again.",
    "io_error": "Look in the system log of the host for errors of this device, and show them to whoever runs the storage. Do not put a log there before.",
    "hung": "Look in the system log for timeouts and path failures of this device, and show the time of the write to whoever runs the storage.",
    "ended_early": "Measure the host again and let the run come to its end.",
    "worse_than_baseline": (
        "Find out what changed since the baseline: firmware, paths, neighbours, settings. playbooks/status.yml names the changes that it knows of."
    ),
    "baseline_open": "Measure again as the sentence says: more runs decide it. If it lacks a baseline, begin one with gate_baseline_accept.",
    "does_not_certify": "Measure again with what the sentence asks for. playbooks/preflight.yml says in advance whether a run can certify.",
    "left_behind": "Run playbooks/cleanup.yml on these hosts when their disks respond.",
    "preflight": "",
    "slow": "",
    "disturbed": "",
    "too_few": "Measure longer: set sweep_duration, or leave it at 0 so that the profile decides.",
    "open": "Measure for as long as the sentence of each host says. If it says that no duration decides, the storage lies at the limit.",
}
"""What to do next by what was seen."""


def of_sentence(kind: str, verdict: str, stage: str, sentence: str) -> tuple[str, str]:
    """Return consequence and next step of a cause that is not about a limit."""
    return "", ""


def of_limit(metric: str, why: str, hosts: Sequence[Host]) -> tuple[str, str]:
    """Return what was seen on the hosts that do not keep a limit, and the next step."""
    return "", ""
