# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What makes two pods a test of the locks of their claim: they run on two nodes, which have two kernels. Otherwise, the
kernel of the node decides about the locks, and the storage is never asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .state import FAILED, MEASURES, State

OF_THE_CLAIM = ("filesystem_type", "mount_options")
"""The facts about the mount that a measurement of the same storage class has found."""


def pod_names(host: str) -> tuple[str, str]:
    """Return the names of the two pods in results. They are the same in every run, so that results can be compared."""
    return f"pod 1 of {host}", f"pod 2 of {host}"


def why_not(states: Sequence[State]) -> str:
    """Return why two pods cannot show anything about locks; empty if they can."""
    for state in states:
        if state.name == FAILED and not state.node:
            return (
                f"the two pods need two nodes, but perhaps the cluster has only one node that can run them: "
                f"{state.reason}"
            )
        if state.name != MEASURES:
            return state.reason or "the tester of a pod ended before the test began"
    nodes = [state.node for state in states]
    if not all(nodes):
        return "it is not known on which nodes the pods ran"
    if nodes[0] == nodes[1]:
        return f"both pods ran on node {nodes[0]}, whose kernel decides about their locks without asking the storage"
    return ""


def settings_of(ready: Any, node: str, storage_class: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a pod in the form of those of a host. The node mounts the volume, so its name is that of
    the client. ``ready`` is the first line of the pod's tester, and ``facts`` are those of the measurement."""
    return {
        "boot_id": "" if ready.boot_id == "-" else ready.boot_id,
        "hostname": node,
        "uid": ready.uid,
        "gid": ready.gid,
        "mount_source": f"storage class {storage_class}",
        "directory_exists": True,
        **{key: str(facts[key]) for key in OF_THE_CLAIM if facts.get(key)},
    }
