# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Derives the state of a test from its objects, and determines whether two pods can test the locks of their claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .pod_log import last_complaint

WAITS, MEASURES, ENDED, FAILED = "waits", "measures", "ended", "failed"
"""The states: nothing is running yet, the tester is running, it has ended with tables, or there will be no tables."""

CONTAINER = "logdisk"
"""The tester's container. A cluster may add others to the pod."""
WITH_TABLES = (0, 3, 4)
"""Exit statuses with which the tester has printed its tables. With status 2, it may have printed them."""
_REFUSED = 2
_LONGEST = 500
# Kubernetes retries after these failures forever, so an administrator must intervene.
_IMAGE_MISSING = (
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "RegistryUnavailable",
    "ImageInspectError",
)
_CANNOT_START = (
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
    "StartError",
    "ContainerCannotRun",
)
_NO_SPACE = " bytes free"

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Seen:
    """The objects of a test as the API server returned them, unchecked.
    ``waited_s`` is the time for which nothing has been running."""

    job: Object
    claim: Object  # empty if the object was not requested
    pods: Sequence[Object]
    events: Sequence[Object]
    waited_s: float
    patience_s: float
    storage_class: str
    image: str


@dataclass(frozen=True)
class State:
    """The resulting state. ``reason`` is set if the test failed, and ``pod`` is set as soon as there is one."""

    name: str
    reason: str = ""
    pod: str = ""
    node: str = ""


def state_of(seen: Seen) -> State:
    """Return the state of a test."""
    if not seen.job:
        return State(FAILED, "the job has disappeared: somebody deleted it, or its namespace, while it was running")
    pod = _newest(seen.pods)
    name, node = _text(_get(pod, "metadata", "name")), _text(_get(pod, "spec", "nodeName"))
    reason = _ended_badly(seen, pod) or _never_starts(seen, pod)
    if reason:
        return State(FAILED, reason, name, node)
    if _terminated(pod):
        return State(ENDED, "", name, node)
    if _get(_container(pod), "state", "running"):
        return State(MEASURES, "", name, node)
    if seen.waited_s < seen.patience_s:
        return State(WAITS, "", name, node)
    return State(FAILED, _waited_too_long(seen, pod, node), name, node)


def exit_status(pod: Object) -> int | None:
    """Return the exit status of the pod's container, or None."""
    status = _terminated(pod).get("exitCode")
    return status if isinstance(status, int) else None


def refusal(message: str, size: str) -> str:
    """Return the reason why the tester refused to measure, from its last message, with advice for a cluster."""
    if _NO_SPACE in message:
        return (
            f"no space on the volume: {message} (the claim had {size}; set claim_size, or smaller "
            "sweep_file_size and sweep_files)"
        )
    return f"the tester refused to measure: {message or 'it did not say why'}"


def _ended_badly(seen: Seen, pod: Object) -> str:
    ended, status = _terminated(pod), exit_status(pod)
    reason = _text(ended.get("reason"))
    if reason in _CANNOT_START:
        return f"the container cannot be started: {_text(ended.get('message')) or reason}"
    if reason == "OOMKilled":
        return (
            "the tester was killed because the pod exceeded its memory limit: test fewer queue "
            "managers or block sizes in one run"
        )
    if status is not None and status > 128:
        return f"the tester was killed by signal {status - 128} before it printed its tables"
    if status is not None and status not in (*WITH_TABLES, _REFUSED):
        return (
            f"the tester ended with status {status}: "
            f"{last_complaint(_text(ended.get('message'), 4096)) or 'it did not say why'}"
        )
    if _get(pod, "status", "reason") and status is None:  # the pod was evicted, or its node was lost
        return (
            f"the pod was ended by Kubernetes ({_text(_get(pod, 'status', 'reason'))}): "
            f"{_text(_get(pod, 'status', 'message'))}"
        )
    failed = _condition(seen.job, "Failed", "True")
    if failed and status is None:
        return f"the job failed ({_text(failed.get('reason'))}): {_text(failed.get('message'))}"
    return ""


def _never_starts(seen: Seen, pod: Object) -> str:
    """Return the reason why the pod will never start; empty if it may still start."""
    waiting = _get(_container(pod), "state", "waiting") or {}
    reason, message = _text(waiting.get("reason")), _text(waiting.get("message"))
    if reason in _IMAGE_MISSING:
        node = _text(_get(pod, "spec", "nodeName")) or "the node"
        return (
            f"image missing: {node} cannot pull {seen.image} ({message or reason}). Push the image to a registry that "
            "the nodes reach and correct claim_image; a private registry needs imagePullSecrets in claim_pod"
        )
    if reason in _CANNOT_START:
        return f"the container cannot be started: {message or reason}"
    for event in [] if pod else _warnings(seen):
        if event.get("reason") == "FailedCreate" and "forbidden" in _text(event.get("message")):
            return f"forbidden: the cluster does not let the job create its pod: {_text(event['message'])}"
    return ""


def _waited_too_long(seen: Seen, pod: Object, node: str) -> str:
    last = next((_text(event.get("message")) for event in reversed(_warnings(seen)) if event.get("message")), "")
    because = f": {last}" if last else ""
    waited = f"after {seen.waited_s:.0f} s"
    unschedulable = _text(_condition(pod, "PodScheduled", "False").get("message"))
    if _get(seen.claim, "status", "phase") not in ("Bound", None):
        because = because or (f": {unschedulable}" if unschedulable else "")
        return (
            f"the claim of storage class {seen.storage_class} was still pending {waited}{because}. Look at its "
            "provisioner, the quota and the capacity of the storage; a slow one needs a larger claim_patience"
        )
    if not pod:
        return f"the job had no pod {waited}{because}"
    if not node:
        return f"no node took the pod {waited}: {unschedulable or last or 'it is not known why'}"
    return f"the pod had not started on {node} {waited}{because}"


def _newest(pods: Sequence[Object]) -> Object:
    found = [pod for pod in pods if isinstance(pod, Mapping)]
    return max(found, key=lambda pod: _text(_get(pod, "metadata", "creationTimestamp")), default={})


def _container(pod: Object) -> Object:
    return next((each for each in _list(_get(pod, "status", "containerStatuses")) if each.get("name") == CONTAINER), {})


def _terminated(pod: Object) -> Object:
    found = _get(_container(pod), "state", "terminated")
    return found if isinstance(found, Mapping) else {}


def _warnings(seen: Seen) -> list[Object]:
    """Return the warnings about the objects of this test, oldest first."""
    names = {_text(_get(each, "metadata", "name")) for each in (seen.job, seen.claim, *seen.pods)} - {""}
    warnings = [
        event
        for event in _list(list(seen.events))
        if event.get("type") == "Warning" and _text(_get(event, "involvedObject", "name")) in names
    ]
    return sorted(warnings, key=lambda event: _text(event.get("lastTimestamp") or event.get("eventTime")))


def _condition(found: Object, kind: str, status: str) -> Object:
    """Return the condition of an object with a type and a status; empty if it has none."""
    conditions = _list(_get(found, "status", "conditions"))
    return next((each for each in conditions if (each.get("type"), each.get("status")) == (kind, status)), {})


def _get(found: Any, *keys: str) -> Any:
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _list(found: Any) -> list[Object]:
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _text(found: Any, most: int = _LONGEST) -> str:
    return found[:most] if isinstance(found, str) else ""


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
