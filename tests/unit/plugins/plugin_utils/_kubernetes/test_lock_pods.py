# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When two pods show something about locks, and how the end of a command in a pod is read."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kubernetes.pod_stream import (
    NO_POD,
    exit_status,
    receive,
    running,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kubernetes.state import (
    ENDED,
    FAILED,
    MEASURES,
    State,
    settings_of,
    why_not,
)


def on(node, name=MEASURES, reason=""):
    return State(name, reason, "pod", node)


@pytest.mark.parametrize(
    ("states", "why"),
    [
        ((on("n1"), on("n2")), ""),
        ((on("n1"), on("n1")), "both pods ran on node n1"),
        ((on("n1"), on("")), "not known on which nodes"),
        ((on("n1"), on("", FAILED, "no node took the pod")), "perhaps the cluster has only one node"),
        ((on("n1"), on("n2", FAILED, "image missing")), "image missing"),
        ((on("n1"), on("n2", ENDED)), "ended before the test began"),
    ],
)
def test_two_pods_show_something_only_on_two_nodes(states, why):
    assert why in why_not(states) if why else why_not(states) == ""


def test_an_unknown_boot_id_is_empty():
    ready = SimpleNamespace(boot_id="-", uid=1, gid=2)
    found = settings_of(ready, "n1", "fast", {"filesystem_type": "nfs4", "mount_options": "rw,nolock"})
    assert (found["boot_id"], found["hostname"], found["uid"], found["mount_options"]) == ("", "n1", 1, "rw,nolock")


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (b'{"status": "Success"}', 0),
        (b'{"status": "Failure", "details": {"causes": [{"reason": "ExitCode", "message": "2"}]}}', 2),
        (b'{"status": "Failure", "details": {"causes": [{"message": "2"}]}}', NO_POD),
        (b'{"status": "Failure", "message": "container not found"}', NO_POD),
        (b"[]", NO_POD),
        (b"\xff", NO_POD),
        (b"", NO_POD),
    ],
)
def test_only_a_command_that_succeeded_has_status_0(said, status):
    assert exit_status(said) == status


def test_the_newest_pod_that_runs():
    def pod(name, phase="Running", day=1, **own):
        return {
            "metadata": {"name": name, "creationTimestamp": f"2026-11-0{day}T00:00:00Z", **own},
            "status": {"phase": phase},
        }

    ending = pod("ending", day=4, deletionTimestamp="2026-11-05T00:00:00Z")
    assert running({"items": [pod("old"), pod("new", day=2), pod("failed", "Failed", 3), ending]}) == "new"
    assert running({"items": [ending]}) == running({}) == ""


def test_the_output_of_a_command_is_passed_on(capfd):
    frames = [b"\x01ready\n", b"\x02complaint\n", b"", b"\x01", b'\x03{"status": "Success"}']
    received = [SimpleNamespace(data=data, opcode=2, OPCODE_CLOSE=8) for data in frames]
    socket = SimpleNamespace(recv_data_frame=lambda control_frame: (2, received.pop(0)))
    assert receive(socket) == 0
    assert capfd.readouterr() == ("ready\n", "complaint\n")
    closed = SimpleNamespace(data=b"", opcode=8, OPCODE_CLOSE=8)
    assert receive(SimpleNamespace(recv_data_frame=lambda control_frame: (8, closed))) == NO_POD
