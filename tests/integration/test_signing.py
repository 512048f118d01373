# SPDX-License-Identifier: GPL-3.0-or-later
"""A run is signed at its end, and anyone can verify it. If the key cannot sign, the run is refused at the beginning, or
fails at the end.

The host is this machine, which does not need to certify for these tests.
"""

import json
import subprocess
from pathlib import Path

import pytest
from ansible_runs import QUICK, Controller, first_of

MANIFEST = "manifest.sha256"


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    """This machine, and a host without Python, which fails at once."""
    python = "ansible_python_interpreter"
    hosts = {
        "h1": {python: "{{ ansible_playbook_python }}"},
        "broken": {python: "/nonexistent"},
    }
    variables = {
        **QUICK,
        "ansible_connection": "local",
        "workspace_path": "/var/tmp/logdisk-signing",
        "tester_dir": str(tmp_path / "tester"),
        "sweep_file_size": "64K",
        "gate_sign_key": "key",
    }
    path = tmp_path / "hosts.json"
    path.write_text(json.dumps({"all": {"hosts": hosts, "vars": variables}}))
    return path


@pytest.fixture
def signers(controller: Controller) -> Path:
    """The file of allowed signers. It allows the key in the file ``key`` in the controller's working directory."""
    key = controller.directory / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key], check=True)
    path = controller.directory / "signers"
    path.write_text(f'ops@example.com namespaces="run@mqops.logdisk" {key.with_suffix(".pub").read_text()}')
    return path


@pytest.fixture
def signed(inventory: Path, controller: Controller, signers: Path) -> Path:
    """The directory of a run that is signed."""
    certified = controller.run("certify", "-i", str(inventory), "--limit", "h1", gate_report_only=True)
    run = certified.certification.path
    assert certified.status == 0 and f"signed   {run}/{MANIFEST}.sig" in certified.screen
    return run


def verify(controller: Controller, path: str, *arguments: str, **variables: object) -> tuple[int, str]:
    outcome = controller.run("verify", *arguments, verify_run=path, verify_signers="signers", **variables)
    return outcome.status, outcome.screen


@pytest.mark.usefixtures("machine")
def test_a_run_is_signed_and_verified(controller: Controller, signed: Path) -> None:
    status, screen = verify(controller, "reports/latest")
    fingerprint = subprocess.run(
        ["ssh-keygen", "-l", "-f", "key"], cwd=controller.directory, capture_output=True, text=True, check=True
    ).stdout.split()[1]
    assert (
        status == 0
        and f"{signed.name}: signed by ops@example.com with ED25519 key {fingerprint}, judged at 2" in screen
    )

    certificate = signed / "hosts/h1/log/certificate.json"
    certificate.write_bytes(certificate.read_bytes().replace(b'"host": "h1"', b'"host": "h2"'))
    status, screen = verify(controller, str(signed))
    assert status == 2 and "hosts/h1/log/certificate.json has changed" in screen


@pytest.mark.thorough
@pytest.mark.usefixtures("machine")
def test_what_is_signed_is_reported_and_verified_as_it_was_signed(
    inventory: Path, controller: Controller, signed: Path, signers: Path
) -> None:
    assert verify(controller, "reports/latest", "--check", "-i", str(inventory), "--limit", "h1")[0] == 0
    assert verify(controller, "reports/latest", verify_principal="somebody@example.com")[0] == 2

    refused = controller.run("report", report_runs="reports/latest")
    assert refused.status == 2 and "is signed, so it may not change" in refused.words
    merged = controller.run(
        "report", report_runs=["reports/latest", "reports/latest"], gate_sign_key="key", gate_report_only=True
    )
    assert merged.status == 0
    assert verify(controller, ",".join(str(each.path) for each in merged.certifications))[0] == 0

    signers.write_text(signers.read_text().replace("namespaces", 'valid-before="20200101",namespaces'))
    status, screen = verify(controller, str(signed))
    assert status == 2 and "key has expired" in screen


@pytest.mark.parametrize("playbook", first_of(["certify", "preflight"]))
def test_a_key_that_cannot_sign_is_refused_first(
    inventory: Path, controller: Controller, signers: Path, playbook: str
) -> None:
    refused = controller.run(playbook, "-i", str(inventory), gate_sign_key=str(signers))
    assert refused.status == 2 and "USAGE: ssh-keygen cannot sign" in refused.words
    assert refused.certifications == []


@pytest.mark.thorough
@pytest.mark.usefixtures("signers")
def test_a_preflight_is_not_signed(inventory: Path, controller: Controller) -> None:
    preflight = controller.run("preflight", "-i", str(inventory), "--limit", "broken")
    assert not (preflight.certification.path / MANIFEST).exists()


@pytest.mark.thorough
@pytest.mark.usefixtures("signers")
def test_a_key_that_is_lost_meanwhile_loses_no_report(inventory: Path, controller: Controller, tmp_path: Path) -> None:
    """An ssh-keygen that signs when the run is opened, and fails from then on."""
    once = tmp_path / "bin/ssh-keygen"
    once.parent.mkdir()
    once.write_text(f'#!/bin/sh\nmkdir {tmp_path}/called || exit 1\nexec /usr/bin/ssh-keygen "$@"\n')
    once.chmod(0o755)
    path = f"{once.parent}:{controller.tools}:/usr/bin:/bin"
    outcome = controller.run(
        "certify", "-i", str(inventory), "--limit", "broken", env={"PATH": path}, gate_report_only=True
    )
    run = outcome.certification.path
    assert outcome.status == 2 and "the run is not signed: ssh-keygen cannot sign" in outcome.words
    assert (run / "index.html").exists() and (run / MANIFEST).exists() and not (run / f"{MANIFEST}.sig").exists()
    assert json.loads((run.parent / "outcome.json").read_text())["outcome"] == "internal"
