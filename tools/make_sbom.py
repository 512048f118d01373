# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the software bill of materials (CycloneDX 1.6) of the collection's archive, of the static tester and of its
container image to build/sbom/logdisk.cdx.json, and validates it against its schema.

    make sbom
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

import make_artifact
import yaml
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

PROJECT = Path(__file__).resolve().parents[1]
BINARY = PROJECT / "src/build/static/logdisk"
SBOM = PROJECT / "build/sbom/logdisk.cdx.json"
LICENSE = LicenseExpression("GPL-3.0-or-later")


def main() -> None:
    compiler = os.environ.get("CC", "cc")
    subprocess.run(["make", "--no-print-directory", "--silent", "-C", PROJECT / "src", "static"], check=True)
    text = document(make_artifact.main(PROJECT / "build/artifact"), BINARY, compiler)
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        sys.exit(f"make_sbom: {error}")
    SBOM.parent.mkdir(parents=True, exist_ok=True)
    SBOM.write_text(text + "\n", encoding="utf-8")
    print(SBOM.relative_to(PROJECT))


def document(archive: Path, binary: Path, compiler: str) -> str:
    """Return the bill of materials as JSON."""
    version = yaml.safe_load((PROJECT / "galaxy.yml").read_text(encoding="utf-8"))["version"]
    needed = yaml.safe_load((PROJECT / "meta/runtime.yml").read_text(encoding="utf-8"))["requires_ansible"]
    collection = component("mqops.logdisk", version, path=archive, licenses=[LICENSE])
    tester = component("logdisk", version, path=binary, licenses=[LICENSE])
    tester.properties.add(Property(name="mqops:source_hash", value=source_hash(binary)))
    image = component(
        "logdisk-image", version, ComponentType.CONTAINER, path=PROJECT / "container/Containerfile", licenses=[LICENSE]
    )
    image.description = "An image without a base image that contains only the tester; the hash is its Containerfile's."
    archive_of_libc = Path(output(compiler, "-print-file-name=libc.a"))
    library = component(*libc(), ComponentType.LIBRARY, path=archive_of_libc)
    library.description = "The C library that is linked into the tester."
    built_with = component(Path(compiler).name, output(compiler, "-dumpfullversion", "-dumpversion"))
    built_with.description = output(compiler, "--version").splitlines()[0]
    core = component("ansible-core", needed, ComponentType.FRAMEWORK)
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, hashlib.sha256(archive.read_bytes()).hexdigest()))
    bom.metadata.component = collection
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(make_artifact.moment(), datetime.UTC)
    for each in (tester, image, library, built_with, core):
        bom.components.add(each)
    bom.register_dependency(collection, [core, tester])
    bom.register_dependency(tester, [library, built_with])
    bom.register_dependency(image, [tester])
    return JsonV1Dot6(bom).output_as_string(indent=1)


def component(
    name: str,
    version: str,
    kind: ComponentType = ComponentType.APPLICATION,
    path: Path | None = None,
    **more: object,
) -> Component:
    """Return a component, with the SHA-256 of its file if it has one."""
    hashes = (
        [HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(path.read_bytes()).hexdigest())] if path else []
    )
    return Component(name=name, version=version, type=kind, bom_ref=name, hashes=hashes, **more)


def source_hash(binary: Path) -> str:
    """Return the hash of the sources that a tester was built from, which it prints."""
    found = re.search(r"\b[0-9a-f]{64}\b", output(binary, "--version"))
    if not found:
        sys.exit(f"make_sbom: {binary} does not print the hash of its sources")
    return found[0]


def libc() -> tuple[str, str]:
    """Return the name and the version of the C library."""
    name, version = (os.confstr("CS_GNU_LIBC_VERSION") or "libc unknown").split()
    return name, version


def output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
