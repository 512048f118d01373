# SPDX-License-Identifier: GPL-3.0-or-later
"""certify_pvc.yml with a simulated API server: a storage class that is measured, and one for each way in which a test
can fail."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from ansible_runs import PROJECT, QUICK, Controller, Outcome
from kubernetes_api import TOKEN, Cluster, serve
from lock_pairs import PROFILE
from testbed import Bed, Host, HostSpec
from testbed.servers import ServerSpec
from testbed.shell import run

Measure = Callable[[str, list[str]], tuple[int, str]]
"""Runs the tester as in a pod with this host name and these arguments, and returns its exit status and output."""
Nodes = tuple[dict[str, Callable[[list[str]], list[str]]], Bed]
"""How commands run on each node, and the hosts that represent the nodes."""
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
mkdir -m 1777 "$root/data/$CLASS" && exec chroot --userspec=4242:4242 "$root" /logdisk "$@"
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
            (name,) = {word.split("/")[2] for word in arguments if word.startswith("--dir=/data/")}
            env = {**os.environ, "CLASS": name}
            done = subprocess.run(
                command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            )
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


@pytest.fixture
def nodes(start: Callable[..., Bed], tmp_path: Path) -> Callable[..., Nodes]:
    """Hosts that share a directory of a server with this character represent the nodes of a cluster."""

    def make(character: str = "honest") -> Nodes:
        run("make", "-C", str(PROJECT / "src"), "static")
        server = ServerSpec(character, character=character, lease_s=3.0, crowded_s=5.0)
        bed = start(*(HostSpec(f"node{number}", disk="shared", server=server) for number in (1, 2)))
        for host in bed:
            shutil.copy(PROJECT / "src/build/static/logdisk", host.root / "logdisk")
        return {host.name: partial(on_node, host) for host in bed}, bed

    return make


def on_node(host: Host, command: list[str]) -> list[str]:
    """Return the command line for a command of a pod on a node, where the claim is the shared directory."""
    return host.command(*(re.sub(r"^--dir=/data/[a-z0-9-]+", "--dir=/fut", word) for word in command))


LOCKS = {
    "claim_access_mode": "ReadWriteMany",
    "gate_profile": {
        **PROFILE,
        "limits": [*PROFILE["limits"], {"metric": "lock_takeover", "max": "20 s"}],
        "locks": {"load_s": 4},
    },
}


def test_the_locks_of_a_claim_that_several_nodes_may_write_to(
    controller: Controller, measure: Measure, nodes: Callable[..., Nodes]
) -> None:
    hosts, bed = nodes()
    cluster = Cluster(["fast"], measure, hosts)
    outcome = certify(controller, cluster, "fast", **LOCKS)
    record = yaml.safe_load((outcome.certification.path / "hosts/prod/fast_locks/record.json").read_text())
    (pair,) = record["locks"]["pairs"]
    assert [(step["step"], step["outcome"], step["cause"]) for step in pair["steps"] if step["outcome"] != "kept"] == [
        (step, "not_covered", "is_pod") for step in ("cut_off", "cut_off", "server_failover", "host_lost", "host_lost")
    ]
    assert outcome.status == 0, outcome.words
    assert {"second_refused", "same_host", "hand_over", "concurrent_updates", "under_load", "pod_deleted"} <= {
        step["step"] for step in pair["steps"]
    }
    deleted = [step for step in pair["steps"] if step["step"] == "pod_deleted"]
    assert [step["holder"] for step in deleted] == ["pod 1 of prod", "pod 2 of prod"]
    assert all(step["figures"]["takeover_ns"] < 20e9 and step["figures"]["tries"] > 1 for step in deleted)
    assert record["facts"]["kubernetes_node"] == "node1 and node2"
    nothing_left(cluster, bed)


@pytest.mark.thorough
def test_each_test_of_locks_that_shows_nothing_says_so(
    controller: Controller, measure: Measure, nodes: Callable[..., Nodes]
) -> None:
    classes = ["one-node", "same-node", "one-kernel"]
    hosts, bed = nodes()
    cluster = Cluster(classes, measure, hosts)
    outcome = certify(controller, cluster, ", ".join(classes), **LOCKS)
    assert outcome.status == 2
    said = reasons(outcome)
    verdicts = {host["volume"]: host["verdict"] for host in outcome.certification.verdict["hosts"]}
    assert [verdicts[f"{name}_locks"] for name in classes] == ["inconclusive", "inconclusive", "fail"]
    assert "perhaps the cluster has only one node that can run them" in said["one-node_locks"]
    assert "didn't match pod anti-affinity rules" in said["one-node_locks"]
    assert "both pods ran on node node1, whose kernel decides about their locks" in said["same-node_locks"]
    assert "pod 1 of prod and pod 2 of prod are two names of the same machine" in said["one-kernel_locks"] or (
        "share one kernel" in said["one-kernel_locks"]
    )
    nothing_left(cluster, bed)


@pytest.mark.thorough
def test_a_storage_class_that_gives_a_lock_to_two_pods(
    controller: Controller, measure: Measure, nodes: Callable[..., Nodes]
) -> None:
    hosts, bed = nodes("grant")
    cluster = Cluster(["fast"], measure, hosts)
    outcome = certify(controller, cluster, "fast", **LOCKS)
    assert outcome.status == 2
    assert "pod 2 of prod got the lock while pod 1 of prod held it" in reasons(outcome)["fast_locks"]
    nothing_left(cluster, bed)


def nothing_left(cluster: Cluster, bed: Bed) -> None:
    assert cluster.objects["jobs"] == cluster.objects["persistentvolumeclaims"] == cluster.objects["pods"] == {}
    for made in cluster.deleted:
        if made["kind"] != "Pod":
            kubernetes_validate.validate(
                {key: value for key, value in made.items() if key != "status"}, "1.37", strict=True
            )
    assert [pid for host in bed for pid in host.pids("logdisk")] == []


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
