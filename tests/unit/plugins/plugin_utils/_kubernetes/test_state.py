# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kubernetes.state import (
    ENDED,
    FAILED,
    MEASURES,
    WAITS,
    Seen,
    refusal,
    state_of,
)

JOB = {"metadata": {"name": "t1"}}
BOUND = {"metadata": {"name": "t1"}, "status": {"phase": "Bound"}}
PENDING = {"metadata": {"name": "t1"}, "status": {"phase": "Pending"}}


def pod(state=None, node="node1", **status):
    containers = [{"name": "logdisk", "state": state}] if state else []
    return {
        "metadata": {"name": "t1-x"},
        "spec": {"nodeName": node},
        "status": {"containerStatuses": containers, **status},
    }


def ended(code, **more):
    return pod({"terminated": {"exitCode": code, **more}})


def waiting(reason, message=""):
    return pod({"waiting": {"reason": reason, "message": message}})


def warning(message, reason="Failed", about="t1"):
    return {"type": "Warning", "reason": reason, "message": message, "involvedObject": {"name": about}}


def seen(*pods, job=JOB, claim=BOUND, events=(), waited_s=10):
    return Seen(job, claim, pods, events, waited_s, 300, "fast", "registry/logdisk")


@pytest.mark.parametrize(
    "found, name",
    [
        (seen(), WAITS),
        (seen(pod()), WAITS),
        (seen(waiting("ContainerCreating")), WAITS),
        (seen(pod({"running": {"startedAt": "x"}}), waited_s=9999), MEASURES),
        (seen(ended(0), job={**JOB, "status": {"conditions": [{"type": "Complete", "status": "True"}]}}), ENDED),
        (
            seen(
                ended(3, reason="Error"), job={**JOB, "status": {"conditions": [{"type": "Failed", "status": "True"}]}}
            ),
            ENDED,
        ),
        (seen(ended(2)), ENDED),
    ],
)
def test_what_may_still_come_to_something(found, name):
    assert (state_of(found).name, state_of(found).reason) == (name, "")


def test_only_the_testers_container_counts():
    both = pod({"running": {"startedAt": "x"}})
    both["status"]["containerStatuses"].insert(0, {"name": "istio-proxy", "state": {"terminated": {"exitCode": 1}}})
    assert state_of(seen(both)).name == MEASURES


@pytest.mark.parametrize(
    "found, reason",
    [
        (seen(job={}), "the job has disappeared"),
        (
            seen(waiting("ImagePullBackOff", "not found")),
            "image missing: node1 cannot pull registry/logdisk (not found). Push the image",
        ),
        (
            seen(waiting("CreateContainerConfigError", "has runAsNonRoot")),
            "the container cannot be started: has runAsNonRoot",
        ),
        (
            seen(ended(128, reason="StartError", message="no such file")),
            "the container cannot be started: no such file",
        ),
        (seen(ended(137, reason="OOMKilled")), "the tester was killed because the pod exceeded its memory limit"),
        (seen(ended(137, reason="Error")), "the tester was killed by signal 9 before it printed its tables"),
        (seen(ended(1, message="logdisk: '--x' is unknown\n")), "the tester ended with status 1: '--x' is unknown"),
        (
            seen(pod(reason="Evicted", message="low on memory")),
            "the pod was ended by Kubernetes (Evicted): low on memory",
        ),
        (
            seen(
                job={
                    **JOB,
                    "status": {
                        "conditions": [
                            {"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "too long"}
                        ]
                    },
                }
            ),
            "the job failed (DeadlineExceeded): too long",
        ),
        (
            seen(events=[warning("pods is forbidden: violates PodSecurity", "FailedCreate")]),
            "forbidden: the cluster does not let the job create its pod: pods is",
        ),
        (
            seen(
                pod(node=""),
                claim=PENDING,
                events=[warning("pool full", about="t1"), warning("not ours", about="t2")],
                waited_s=301,
            ),
            "the claim of storage class fast was still pending after 301 s: pool full. Look at its provisioner",
        ),
        (seen(waited_s=301, events=[warning("slow")]), "the job had no pod after 301 s: slow"),
        (
            seen(
                pod(
                    node="",
                    conditions=[{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}],
                ),
                waited_s=301,
            ),
            "no node took the pod after 301 s: 0/3 nodes are available",
        ),
        (
            seen(waiting("ContainerCreating"), waited_s=301, events=[warning("cannot attach", about="t1-x")]),
            "the pod had not started on node1 after 301 s: cannot",
        ),
    ],
)
def test_what_will_come_to_nothing_says_why(found, reason):
    state = state_of(found)
    assert state.name == FAILED
    assert state.reason.startswith(reason)


@pytest.mark.parametrize(
    "odd",
    [
        {"status": 5},
        {"metadata": []},
        {"status": {"containerStatuses": "x"}},
        {"status": {"containerStatuses": [7]}},
        {"spec": None},
    ],
)
def test_odd_objects_are_waited_for(odd):
    assert (
        state_of(
            seen(
                odd,
                job={"status": {"conditions": 3}},
                claim={"status": []},
                events=[None, {"type": "Warning", "involvedObject": 3}],
            )
        ).name
        == WAITS
    )


def test_a_refusal_for_want_of_space_says_which_option_helps():
    assert refusal("/data/x has 10 bytes free, but", "1Gi").startswith(
        "no space on the volume: /data/x has 10 bytes free, but (the claim had 1Gi; set claim_size"
    )
    assert refusal("cannot open /data/x", "1Gi") == "the tester refused to measure: cannot open /data/x"
