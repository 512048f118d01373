# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes the objects for a test of a storage class: playbooks/kubernetes/job.yml with the names, sizes and arguments of
this test."""

from __future__ import annotations

import copy
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

MANIFEST = Path(__file__).parents[3] / "playbooks/kubernetes/job.yml"

RUN_LABEL = "mqops.logdisk/run"
"""The label by which the objects of a run are found. Objects without it are never deleted."""
MANAGED_BY = {"app.kubernetes.io/managed-by": "mqops.logdisk"}

OF_THE_CLUSTER = "none"
"""The value for a group that the cluster chooses."""

SECOND = "-b"
"""The end of the name of the second job of a test of locks."""
PAIR_LABEL = "mqops.logdisk/pair"
"""The label that the two pods of a test of locks have in common."""

KEEP_S = 3600
"""How long Kubernetes keeps a finished job if the Ansible controller is no longer there to delete it."""
PODS_REPLACED = 6
"""How many pods of a job that tests locks may end before the job fails."""
_RESERVED_OF_POD = ("containers", "volumes", "restartPolicy", "hostname", "activeDeadlineSeconds")
_MIB, _GIB = 1 << 20, 1 << 30


class ManifestError(ValueError):
    """The objects of a test cannot be made. The message names the option."""


@dataclass(frozen=True)
class Claim:
    """One test of one storage class. ``pod`` is merged into the spec of the pod. ``volume_claim`` is the name of the
    claim if it has another name than the job."""

    name: str
    run_id: str
    namespace: str
    storage_class: str
    path: str
    size: str
    access_mode: str
    image: str
    arguments: Sequence[str]
    fs_group: str
    pod: Mapping[str, Any]
    longest_s: int
    volume_claim: str = ""

    @property
    def labels(self) -> dict[str, str]:
        return {**MANAGED_BY, RUN_LABEL: label_of(self.run_id)}


def label_of(run_id: str) -> str:
    """Return a run ID in a form that can be the value of a label and a part of a name."""
    return run_id.lower().replace("_", "-").replace(".", "-")


def object_name(run_id: str, host: str, number: int) -> str:
    """Return the common name of the claim, the job and the pod, which is short enough for a host name. Two hosts may
    represent the same cluster, but they never share a job."""
    return f"logdisk-{label_of(run_id)[:40]}-{zlib.crc32(host.encode('utf-8', 'surrogateescape')):08x}-{number}"


def follow_up(run_id: str) -> str:
    """Return sentences about what happens to a run whose controller has ended, and the command that ends the run."""
    return (
        f"If this command ends, the job of run {run_id} continues in its cluster. Kubernetes removes it with its claim "
        "one hour after its end. To remove both at once:\n  kubectl delete job --namespace NAMESPACE --selector "
        f"{RUN_LABEL}={label_of(run_id)}"
    )


def claim_size(footprint_bytes: int) -> str:
    """Return a size with room for the test files, the file system's own data, and the tester's reserve."""
    return f"{math.ceil((footprint_bytes * 1.1 + 256 * _MIB) / _GIB)}Gi"


def job_of(claim: Claim) -> dict[str, Any]:
    """Return the job. Raises ManifestError if ``pod`` would change values that the test itself sets."""
    reserved = sorted(set(claim.pod) & set(_RESERVED_OF_POD))
    if reserved:
        raise ManifestError(f"claim_pod must not set {', '.join(reserved)}: the playbook sets it")
    job = _template("Job")
    job["metadata"] = _metadata(claim, job)
    # If the controller is lost, the job ends, and Kubernetes later removes it with its claim.
    job["spec"].update(activeDeadlineSeconds=claim.longest_s, ttlSecondsAfterFinished=KEEP_S)
    template = job["spec"]["template"]
    template["metadata"]["labels"].update(claim.labels)
    pod = template["spec"]
    (container,) = pod["containers"]
    container.update(
        image=claim.image, args=list(claim.arguments), volumeMounts=[{"name": "volume", "mountPath": claim.path}]
    )
    del container["env"]
    pod["volumes"][0]["persistentVolumeClaim"]["claimName"] = claim.volume_claim or claim.name
    pod["hostname"] = claim.name
    if claim.fs_group == OF_THE_CLUSTER:
        del pod["securityContext"]["fsGroup"]
    elif claim.fs_group.isdecimal():
        pod["securityContext"]["fsGroup"] = int(claim.fs_group)
    else:
        raise ManifestError(
            f"claim_fs_group must be the number of a group, or {OF_THE_CLUSTER}, not {claim.fs_group!r}"
        )
    template["spec"] = merged(pod, claim.pod)
    return job


def lock_jobs_of(claim: Claim) -> list[tuple[Claim, dict[str, Any]]]:
    """Return the two jobs that test the locks of one claim, each with its own ``Claim``. Their pods run on two nodes.
    Each pod waits until it is deleted or its job reaches its deadline, and is replaced if it is deleted by force.

    Raises ManifestError.
    """
    both = [claim, replace(claim, name=claim.name + SECOND, volume_claim=claim.name)]
    return [(each, _lock_job(each, claim.name)) for each in both]


def _lock_job(claim: Claim, pair: str) -> dict[str, Any]:
    job = job_of(replace(claim, pod=copy.deepcopy(claim.pod)))  # the affinity of the user is completed below
    job["spec"]["backoffLimit"] = PODS_REPLACED
    template = job["spec"]["template"]
    template["metadata"]["labels"][PAIR_LABEL] = pair
    pod = template["spec"]
    # The tester waits for commands that never come. Without input, it would end at once.
    pod["containers"][0]["stdin"] = True
    pod["terminationGracePeriodSeconds"] = 5
    apart = {"labelSelector": {"matchLabels": {PAIR_LABEL: pair}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = pod.setdefault("affinity", {}).setdefault("podAntiAffinity", {})
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    affinity[required] = [*affinity.get(required, []), apart]
    return job


def claim_of(claim: Claim, job_uid: str) -> dict[str, Any]:
    """Return the claim, which belongs to the job: Kubernetes removes it with the job."""
    found = _template("PersistentVolumeClaim")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": claim.name, "uid": job_uid}
    found["metadata"] = {**_metadata(claim, found), "ownerReferences": [owner]}
    found["spec"].update(
        storageClassName=claim.storage_class,
        accessModes=[claim.access_mode],
        resources={"requests": {"storage": claim.size}},
    )
    return found


def merged(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with the values of ``more``. Dictionaries are merged, and everything else is replaced."""
    both = {**base, **more}
    return {
        key: merged(base[key], value) if isinstance(base.get(key), Mapping) and isinstance(value, Mapping) else value
        for key, value in both.items()
    }


def _template(kind: str) -> dict[str, Any]:
    documents = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))["items"]
    return copy.deepcopy(next(document for document in documents if document["kind"] == kind))


def _metadata(claim: Claim, template: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": claim.name,
        "namespace": claim.namespace,
        "labels": {**template["metadata"]["labels"], **claim.labels},
    }
