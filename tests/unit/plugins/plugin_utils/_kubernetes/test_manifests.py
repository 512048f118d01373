# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import dataclasses

import kubernetes_validate
import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kubernetes.manifests import (
    RUN_LABEL,
    Claim,
    ManifestError,
    claim_of,
    claim_size,
    job_of,
    object_name,
)

RUN_ID = "20261122T101112Z-1f0c2a"
CLAIM = Claim(
    name=object_name(RUN_ID, "prod", 1),
    run_id=RUN_ID,
    namespace="mq",
    storage_class="fast",
    path="/data/fast",
    size="2Gi",
    access_mode="ReadWriteOnce",
    image="registry.example.com/logdisk:1.0.0",
    arguments=("--bsize=4096", "--tables=-"),
    fs_group="10001",
    pod={"nodeSelector": {"pool": "mq"}, "imagePullSecrets": [{"name": "registry"}]},
    longest_s=1000,
)


@pytest.mark.parametrize("claim", [CLAIM, dataclasses.replace(CLAIM, fs_group="none", pod={})])
def test_what_is_made_fits_the_schema(claim):
    for made in (job_of(claim), claim_of(claim, "11-22")):
        kubernetes_validate.validate(made, "1.37", strict=True)
        assert made["metadata"]["labels"][RUN_LABEL] == "20261122t101112z-1f0c2a"
        assert (made["metadata"]["name"], made["metadata"]["namespace"]) == (
            "logdisk-20261122t101112z-1f0c2a-b5b41197-1",
            "mq",
        )


def test_the_job_is_that_of_the_manifest_with_the_test_in_it():
    job = job_of(CLAIM)
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert (container["args"], container["image"]) == (
        ["--bsize=4096", "--tables=-"],
        "registry.example.com/logdisk:1.0.0",
    )
    assert "env" not in container
    assert (container["volumeMounts"][0]["mountPath"], pod["volumes"][0]["persistentVolumeClaim"]["claimName"]) == (
        "/data/fast",
        CLAIM.name,
    )
    assert (pod["hostname"], pod["securityContext"]["fsGroup"], pod["nodeSelector"]) == (
        CLAIM.name,
        10001,
        {"pool": "mq"},
    )
    assert (job["spec"]["activeDeadlineSeconds"], job["spec"]["ttlSecondsAfterFinished"] > 0) == (1000, True)
    assert claim_of(CLAIM, "11-22")["metadata"]["ownerReferences"][0]["uid"] == "11-22"


def test_the_pod_may_be_completed_but_not_replaced():
    completed = dataclasses.replace(CLAIM, pod={"securityContext": {"supplementalGroups": [5]}})
    assert job_of(completed)["spec"]["template"]["spec"]["securityContext"] == {
        "runAsNonRoot": True,
        "fsGroup": 10001,
        "seccompProfile": {"type": "RuntimeDefault"},
        "supplementalGroups": [5],
    }
    with pytest.raises(ManifestError, match="claim_pod must not set containers"):
        job_of(dataclasses.replace(CLAIM, pod={"containers": []}))
    with pytest.raises(ManifestError, match="claim_fs_group must be the number of a group, or none, not 'mqm'"):
        job_of(dataclasses.replace(CLAIM, fs_group="mqm"))


def test_a_claim_has_room_for_files_and_reserve():
    assert [claim_size(footprint) for footprint in (4 << 20, 1 << 30, 40 << 30)] == ["1Gi", "2Gi", "45Gi"]


def test_two_hosts_that_lead_to_one_cluster_do_not_share_a_job():
    assert len({object_name(RUN_ID, host, number) for host in ("prod", "test") for number in (1, 2)}) == 4
    assert len(object_name("x" * 200, "h" * 300, 9999)) <= 63
