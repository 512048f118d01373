# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The objects of a test in a Kubernetes cluster: creating, following and removing them by calls of its API, and
sentences about why a call failed, made from the messages of the kubernetes.core modules."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .manifests import RUN_LABEL, SECOND, Claim, claim_of, label_of
from .state import ENDED, FAILED, MEASURES, Seen, State, state_of

SPARE_S = 120
"""How much longer than expected a job may take to wait, measure and print."""
SILENCE_S = 300
"""How long the API server may be unavailable while a pod measures."""
REMOVAL_S = 180
"""How long Kubernetes may take to delete the objects: a pod has 30 s to end, and its claim is kept until then."""
FIRST_LOOKS_S = 5
JOB = {"api_version": "batch/v1", "kind": "Job"}
CLAIM = {"api_version": "v1", "kind": "PersistentVolumeClaim"}
POD = {"api_version": "v1", "kind": "Pod"}
EVENT = {"api_version": "v1", "kind": "Event"}
STORAGE_CLASS = {"api_version": "storage.k8s.io/v1", "kind": "StorageClass"}

# The modules quote the answer of the API server as the repr of its bytes.
_MESSAGE = re.compile(r'"message":\s*"((?:[^"\\]|\\.)*)"')
_CODE = re.compile(r'"code":\s*([0-9]{3})\b')
_UNREACHABLE = (
    "Max retries exceeded",
    "Failed to establish a new connection",
    "Connection refused",
    "timed out",
    "Name or service not known",
)
_LIBRARY = re.compile(r"required Python library \(([\w.-]+)\)")
_LONGEST = 600
NEEDS = "docs/kubernetes.md lists the rights that this needs"


class ClusterError(Exception):
    """The test has no result. The message is the reason. ``unreachable`` is true if the cluster did not answer at
    all."""

    def __init__(self, reason: str, unreachable: bool = False) -> None:
        super().__init__(reason)
        self.unreachable = unreachable


@dataclass(frozen=True)
class Cluster:
    """A cluster. ``call`` runs a module of kubernetes.core for a purpose with arguments, and returns its result; it
    raises ClusterError. ``patience_s`` is how long a claim or pod may be pending, and ``interval_s`` how often a pod
    that is measuring is checked."""

    call: Callable[..., dict[str, Any]]
    patience_s: int
    interval_s: float

    def objects(self, kind: Mapping[str, str], what: str, **arguments: Any) -> list[dict[str, Any]]:
        """Return the objects of a kind. Raises ClusterError."""
        found = self.call("k8s_info", what, **kind, **arguments).get("resources")
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    def storage_class(self, name: str) -> dict[str, Any]:
        """Return the properties of a storage class; empty if reading it is not permitted.
        Raises ClusterError if it does not exist."""
        try:
            found = self.objects(STORAGE_CLASS, f"read the storage class {name}", name=name)
        except ClusterError as error:
            if error.unreachable or not str(error).startswith("forbidden"):
                raise
            return {}  # storage classes belong to the whole cluster, and not every user may read them
        if not found:
            raise ClusterError(
                f"no such storage class: the cluster has none with the name {name}; kubectl get "
                "storageclass lists those that it has"
            )
        return {
            "storage_provisioner": str(found[0].get("provisioner", ""))[:200],
            "storage_reclaim_policy": str(found[0].get("reclaimPolicy", ""))[:40],
        }

    def wait(self, claim: Claim, until: Sequence[str] = (ENDED, FAILED)) -> State:
        """Return the state of a test when it is one of ``until``. Raises ClusterError if the API server does not answer
        for a long time."""
        begin = answered = waiting_since = time.monotonic()
        while True:
            now = time.monotonic()
            try:
                state = state_of(self._seen(claim, now - waiting_since))
                answered = now
            except ClusterError:
                if now - answered > SILENCE_S or answered == begin or MEASURES in until:
                    raise
                state = State(MEASURES)
            if state.name in until:
                return state
            if state.name == MEASURES:
                waiting_since = now
            if now - begin > claim.longest_s + SPARE_S:
                return State(FAILED, f"the job had not ended after {now - begin:.0f} s", state.pod, state.node)
            interval_s = self.interval_s
            time.sleep(interval_s if state.name == MEASURES else min(FIRST_LOOKS_S, interval_s))

    def _seen(self, claim: Claim, waited_s: float) -> Seen:
        """Return the existing objects of a test. Each API call is a process on the controller, so
        only the necessary objects are requested."""
        pods = self._pods(claim)
        seen = Seen(
            {"metadata": {"name": claim.name}},
            {},
            pods,
            [],
            waited_s,
            self.patience_s,
            claim.storage_class,
            claim.image,
        )
        if pods and state_of(seen).name != FAILED:
            return seen
        job, found = (
            self.objects(kind, "read job and claim", name=name, namespace=claim.namespace)
            for kind, name in ((JOB, claim.name), (CLAIM, claim.volume_claim or claim.name))
        )
        events: list[Any] = []
        with contextlib.suppress(ClusterError):  # not every user may read events, which only add an explanation
            events = self.objects(EVENT, "read events", namespace=claim.namespace, field_selectors=["type=Warning"])
        return replace(seen, job=job[0] if job else {}, claim=found[0] if found else {}, events=events)

    def _pods(self, claim: Claim) -> list[dict[str, Any]]:
        return self.objects(
            POD, "read the pods of the job", namespace=claim.namespace, label_selectors=[f"job-name={claim.name}"]
        )

    def _delete(self, kind: Mapping[str, str], found: Mapping[str, Any], namespace: str, **options: Any) -> None:
        """Delete this very object, and not one that has replaced it. Raises ClusterError."""
        self.call(
            "k8s",
            f"delete the {kind['kind'].lower()}",
            state="absent",
            name=found["metadata"]["name"],
            namespace=namespace,
            delete_options={**options, "preconditions": {"uid": found["metadata"]["uid"]}},
            **kind,
        )

    def remove(self, claim: Claim) -> list[str]:
        """Delete the job of this run, by its uid, and return what remains. Kubernetes then removes the pod and the
        claim, which the job owns."""
        end, left = time.monotonic() + REMOVAL_S, [f"job and claim {claim.name} in namespace {claim.namespace}"]
        mine = {"namespace": claim.namespace, "label_selectors": [f"{RUN_LABEL}={label_of(claim.run_id)}"]}
        try:
            for job in self.objects(JOB, "look for the job", **mine):
                if named(job, claim):
                    self._delete(JOB, job, claim.namespace, propagationPolicy="Background")
            while True:
                left = [
                    f"claim {claim.name} in namespace {claim.namespace}"
                    for each in self.objects(CLAIM, "look for the claim", **mine)
                    if named(each, claim)
                ]
                if not left or time.monotonic() > end:
                    return left
                time.sleep(min(2, self.interval_s))
        except ClusterError as error:
            return [f"{item} ({error})" for item in left]

    def create(self, job: Mapping[str, Any], claim: Claim) -> None:
        """Create a job, and the claim that it owns. Raises ClusterError."""
        made = self.call("k8s", "create the job", state="present", definition=job).get("result") or {}
        definition = claim_of(claim, str(made.get("metadata", {}).get("uid", "")))
        self.call("k8s", "create the claim", state="present", definition=definition)

    def delete_pod(self, job: Claim) -> None:
        """Delete the pod of a job by force, by its uid. The job replaces it. Raises ClusterError."""
        for pod in self._pods(job):
            self._delete(POD, pod, job.namespace, gracePeriodSeconds=0)


def named(found: Mapping[str, Any], claim: Claim) -> bool:
    """Whether an object of the run belongs to this claim. A test of locks has two jobs."""
    return found.get("metadata", {}).get("name") in (claim.name, claim.name + SECOND)


def api_failure(what: str, text: str) -> ClusterError:
    """Return the error for a failed call, from the message of the failed module. ``what`` is a phrase for the purpose
    of the call."""
    text = re.sub(r'\\+(?=")', r"\\", text)
    said, code = _MESSAGE.search(text), _CODE.search(text)
    message = " ".join((re.sub(r"\\(.)", r"\1", said[1]) if said else text).split())[:_LONGEST]
    if said is None:
        return _of_the_way(what, message)
    status = int(code[1]) if code else 0
    if "exceeded quota" in message:
        return ClusterError(f"no space in the quota of the namespace: cannot {what}: {message}")
    if status == 403:
        return ClusterError(f"forbidden: cannot {what}: {message}; {NEEDS}")
    if status == 401:
        return ClusterError(
            f"the cluster does not accept the credentials: cannot {what}: {message}; set K8S_AUTH_API_KEY, or "
            "claim_kubeconfig and claim_context"
        )
    if status == 404 and "namespaces" in message:
        return ClusterError(f"no such namespace: cannot {what}: {message}; create it, or correct claim_namespace")
    return ClusterError(f"cannot {what}: {message}")


def _of_the_way(what: str, message: str) -> ClusterError:
    """Return the error for a call to which no API server replied."""
    library = _LIBRARY.search(message)
    if library:
        return ClusterError(
            f"the Python package {library[1]} is not installed for the Python that runs "
            f"Ansible: pip install {library[1]}"
        )
    if "kubernetes.core" in message and "not found" in message:
        return ClusterError(
            "the collection kubernetes.core is not installed: ansible-galaxy collection install "
            f"kubernetes.core ({message})"
        )
    if "HTTP response" not in message and any(word in message for word in _UNREACHABLE):
        return ClusterError(f"the API server of the cluster cannot be reached: {message}", unreachable=True)
    return ClusterError(f"cannot {what}: {message}")
