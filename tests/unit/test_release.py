# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is published can be built again, byte for byte, and its bill of materials names what it is made of."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import make_artifact
import make_sbom
import pytest
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from fake_awx.project import project_files

ROOT = Path(__file__).resolve().parents[2]


def copy_of_project(target: Path, written_epoch_s: int) -> Path:
    """Return a copy of the checkout. Its files were created in the opposite order of the other copy's, and at another
    time."""
    for name in sorted(project_files(), reverse=bool(written_epoch_s % 2)):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target / name)
        os.utime(target / name, (written_epoch_s, written_epoch_s))
    return target


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """The archive and the static tester of two copies of the checkout in different directories."""
    found = []
    for number, name in enumerate(("one", "another/below")):
        project = copy_of_project(tmp_path_factory.mktemp("build") / name, 1_700_000_000 + number)
        subprocess.run([sys.executable, project / "tools/make_artifact.py"], check=True)
        subprocess.run(["make", "--silent", "-C", project / "src", "static"], check=True, stdout=subprocess.DEVNULL)
        (archive,) = (project / "build/artifact").iterdir()
        found.append((archive, project / "src/build/static/logdisk"))
    return found


def test_two_builds_in_different_directories_are_equal(builds):
    (archive, binary), (other_archive, other_binary) = builds
    assert archive.read_bytes() == other_archive.read_bytes()
    assert binary.read_bytes() == other_binary.read_bytes()


def test_the_archive_can_be_installed_and_its_files_are_unchanged(builds, tmp_path):
    galaxy = Path(sys.executable).with_name("ansible-galaxy")
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(tmp_path)}
    for arguments in (["install", "-p", tmp_path, builds[0][0]], ["verify", "mqops.logdisk"]):
        command = [galaxy, "collection", arguments[0], "--offline", *arguments[1:]]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_the_bill_of_materials_fits_its_schema_and_names_compiler_libc_and_hashes(builds):
    text = make_sbom.document(*builds[0], "cc")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bom = json.loads(text)
    known = {each["name"]: each for each in [*bom["components"], bom["metadata"]["component"]]}
    compiler, libc = known["cc"], known[make_sbom.libc()[0]]
    assert re.match(r"[0-9]+[.]", compiler["version"]) and re.match(r"[0-9]+[.]", libc["version"])
    for name in ("mqops.logdisk", "logdisk", "logdisk-image", libc["name"]):
        (sha256,) = known[name]["hashes"]
        assert re.fullmatch("[0-9a-f]{64}", sha256["content"])
    (source,) = known["logdisk"]["properties"]
    assert source["value"] == make_sbom.source_hash(builds[0][1])


def test_the_workflow_calls_existing_targets_only():
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())
    commands = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    called = {word for command in commands for word in re.findall(r"(?:^|&& )make ([a-z-]+)", command)}
    called |= {target.split()[0] for target in workflow["jobs"]["tests"]["strategy"]["matrix"]["target"]}
    made = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert called <= made
    # The jobs of a push together run what `make test` runs.
    assert {"lint", "sanity", "test-tester", "test-unit", "integration", "test-all"} <= called


def test_the_time_of_the_files_can_be_given(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "12345")
    assert make_artifact.moment() == 12345
