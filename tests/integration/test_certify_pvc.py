# SPDX-License-Identifier: GPL-3.0-or-later
"""certify_pvc.yml with a simulated API server: a storage class that is measured, and one for each way in which a test
can fail."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from ansible_runs import PROJECT, QUICK, Controller, Outcome
from kubernetes_api import TOKEN, Cluster, serve
from testbed.shell import run

Measure = Callable[[str, list[str]], tuple[int, str]]
"""Runs the tester as in a pod with this host name and these arguments, and returns its exit status and output."""
FETCHED = PROJECT / "build/galaxy"
SMALL = {
    **QUICK,
    "sweep_options": {"reserve": 0},
    "claim_image": "registry.example.com/logdisk:1.0.0",
    "claim_namespace": "mq",
    "claim_patience": 3,
}
# Runs the tester as in a container: as an unprivileged user, with a separate host name, and without files other than
# itself and its volume.
CONTAINED = """
hostname "$1"; root=$2; shift 2
mount -t proc proc "$root/proc" && mount --bind "$root" "$root" && mount -o remount,ro,bind "$root" || exit 99
mount -t tmpfs -o mode=1777 volume "$root/data" || exit 99
mkdir -m 1777 "$root/data/fast" && exec chroot --userspec=4242:4242 "$root" /logdisk "$@"
"""


@pytest.fixture
def controller(tmp_path: Path) -> Controller:
    """The ansible-core of the development environment, which contains the package kubernetes."""
    subprocess.run(
        [sys.executable, str(PROJECT / "tools/fetch-collections"), str(FETCHED), "kubernetes.core"], check=True
    )
    directory = tmp_path / "work"
    directory.mkdir()
    return Controller(
        Path(sys.executable).parent, directory, {"ANSIBLE_COLLECTIONS_PATH": f"{PROJECT / 'collections'}:{FETCHED}"}
    )


@pytest.fixture
def measure() -> Iterator[Measure]:
    run("make", "-C", str(PROJECT / "src"), "static")
    with tempfile.TemporaryDirectory(prefix="logdisk-root-") as root:
        for name in ("data", "proc"):
            Path(root, name).mkdir()
        Path(root).chmod(0o755)
        shutil.copy(PROJECT / "src/build/static/logdisk", root)

        def start(host: str, arguments: list[str]) -> tuple[int, str]:
            command = [
                "unshare",
                "--mount",
                "--uts",
                "--net",
                "sh",
                "-c",
                CONTAINED,
                "contained",
                host,
                root,
                *arguments,
            ]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            return done.returncode, done.stdout

        yield start


def certify(controller: Controller, cluster: Cluster, classes: str, token: str = TOKEN, **variables: object) -> Outcome:
    server = serve(cluster)
    try:
        env = {
            "K8S_AUTH_HOST": f"http://127.0.0.1:{server.server_port}",
            "K8S_AUTH_API_KEY": token,
            "HOME": str(controller.directory),
        }
        # Each call of the API starts a process, which imports many modules.
        return controller.run(
            "certify_pvc",
            "-i",
            "prod,",
            env=env,
            timeout_s=1800,
            **{**SMALL, "claim_storage_classes": classes, **variables},
        )
    finally:
        server.shutdown()
        server.server_close()


def reasons(outcome: Outcome) -> dict[str, str]:
    return {host["volume"]: host["reasons"][0] for host in outcome.certification.verdict["hosts"] if host["reasons"]}


def test_a_storage_class_that_is_measured_and_one_that_is_not(controller: Controller, measure: Measure) -> None:
    cluster = Cluster(["fast"], measure)
    outcome = certify(controller, cluster, "fast, no-such")
    assert outcome.status == 2
    assert {host["volume"]: host["verdict"] for host in outcome.certification.verdict["hosts"]} == {
        "fast": "pass",
        "no-such": "error",
    }
    assert reasons(outcome)["no-such"].startswith("claim: no such storage class: ")
    assert cluster.objects["jobs"] == cluster.objects["persistentvolumeclaims"] == {}


@pytest.mark.thorough
def test_each_storage_class_has_its_verdict_or_its_sentence(controller: Controller, measure: Measure) -> None:
    classes = ["fast", "pending", "no-image", "no-space", "forbidden"]
    cluster = Cluster(classes, measure)
    cluster.objects["storageclasses"]["no-space"]["reclaimPolicy"] = "Retain"
    outcome = certify(controller, cluster, ", ".join([*classes, "no-such"]))
    assert outcome.status == 2
    verdict = outcome.certification.verdict
    assert {host["volume"]: host["verdict"] for host in verdict["hosts"]} == {
        **dict.fromkeys([*classes, "no-such"], "error"),
        "fast": "pass",
    }
    said = reasons(outcome)
    assert said["no-such"] == (
        "claim: no such storage class: the cluster has none with the name no-such; kubectl get "
        "storageclass lists those that it has"
    )
    assert "claim: the claim of storage class pending was still pending after" in said["pending"]
    assert "storage pool full. Look at its provisioner" in said["pending"]
    assert said["no-image"].startswith(
        "claim: image missing: node1 cannot pull registry.example.com/logdisk:1.0.0 (failed to "
        "resolve reference: not found)"
    )
    assert said["no-space"].startswith("claim: no space on the volume: /data/no-space/QM1 has 1000000 bytes free")
    assert "set claim_size" in said["no-space"]
    assert said["forbidden"].startswith(
        'claim: forbidden: cannot create the job: jobs.batch is forbidden: User "ci" cannot create resource "jobs"'
    )
    # The created objects, and no others, are deleted in every case.
    assert cluster.objects["jobs"] == cluster.objects["persistentvolumeclaims"] == {}
    deleted = [made for made in cluster.deleted if made["kind"] != "Pod"]
    assert len(cluster.made) == len(deleted) == 8
    for made in deleted:
        kubernetes_validate.validate(
            {key: value for key, value in made.items() if key != "status"}, "1.37", strict=True
        )
    record, refused = (
        yaml.safe_load((outcome.certification.path / f"hosts/prod/{name}/record.json").read_text())
        for name in ("fast", "no-space")
    )
    assert (
        [note for note in record["notes"] if "Retain" in note],
        "delete the PersistentVolume" in refused["notes"][-1],
    ) == ([], True)
    assert (record["facts"]["storage_provisioner"], record["facts"]["kubernetes_node"]) == ("fake.example.com", "node1")
    assert "fast" in outcome.words and TOKEN not in outcome.words


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("token", "variables", "reason"),
    [
        ("wrong", {}, "the cluster does not accept the credentials"),
        (
            TOKEN,
            {"claim_namespace": "elsewhere"},
            'no such namespace: cannot create the job: namespaces "elsewhere" not found',
        ),
    ],
)
def test_a_cluster_that_cannot_be_used(
    controller: Controller, token: str, variables: dict[str, object], reason: str
) -> None:
    outcome = certify(controller, Cluster(["fast"], lambda *dummy: (0, "")), "fast", token, **variables)
    assert outcome.status == 2
    assert reasons(outcome)["fast"].startswith(f"claim: {reason}")


@pytest.mark.thorough
def test_nothing_is_opened_without_an_image(controller: Controller) -> None:
    outcome = controller.run(
        "certify_pvc", "-i", "prod,", **{**SMALL, "claim_image": "", "claim_storage_classes": "fast"}
    )
    assert outcome.status == 2
    assert "claim_image is empty" in outcome.words
    assert outcome.certifications == []
