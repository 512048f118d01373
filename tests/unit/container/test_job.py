# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""playbooks/kubernetes/job.yml matches Kubernetes' own schema, and requests no more rights than it needs."""

from __future__ import annotations

import re
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

JOB = Path(__file__).resolve().parents[3] / "playbooks/kubernetes/job.yml"
VERSIONS = ("1.27", "1.37")


@pytest.fixture
def documents():
    return {document["kind"]: document for document in yaml.safe_load(JOB.read_text(encoding="utf-8"))["items"]}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_manifest_fits_the_schema(documents, version):
    assert list(documents) == ["PersistentVolumeClaim", "Job"]
    for document in documents.values():
        kubernetes_validate.validate(document, version, strict=True)


def test_the_pod_has_no_rights(documents):
    spec = documents["Job"]["spec"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    assert (spec["backoffLimit"], pod["restartPolicy"], pod["automountServiceAccountToken"]) == (0, "Never", False)
    assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["seccompProfile"]) == (
        True,
        {"type": "RuntimeDefault"},
    )
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["terminationMessagePolicy"] == "FallbackToLogsOnError"


def test_every_parameter_is_an_environment_variable_that_the_arguments_use(documents):
    (container,) = documents["Job"]["spec"]["template"]["spec"]["containers"]
    used = re.findall(r"\$\((\w+)\)", " ".join(container["args"]))
    assert sorted(used) == sorted(variable["name"] for variable in container["env"])
    assert all(isinstance(variable["value"], str) for variable in container["env"])
