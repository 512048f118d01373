# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the collection's archive as it would be published. Two builds of the same files are equal, byte for byte, in
any directory and at any time: files are in the order of their names and have the time of the newest commit.

    make artifact
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
MANIFEST, FILES = "MANIFEST.json", "FILES.json"


def main(directory: Path) -> Path:
    """Build the archive in a directory, which is created if needed. Returns the path of the archive."""
    with tempfile.TemporaryDirectory() as temporary:
        galaxy = Path(sys.executable).with_name("ansible-galaxy")
        command = [galaxy, "collection", "build", "--output-path", temporary, PROJECT]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (built,) = Path(temporary).iterdir()
        with tarfile.open(built) as archive:
            content = {member: archive.extractfile(member) for member in archive.getmembers()}
            members = [(member, stream.read() if stream else b"") for member, stream in content.items()]
        directory.mkdir(parents=True, exist_ok=True)
        made = directory / built.name
        made.write_bytes(packed(in_order(members), moment()))
    return made


def moment() -> int:
    """Return the time of the files in seconds: SOURCE_DATE_EPOCH, or the time of the newest commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    shown = subprocess.run(["git", "-C", PROJECT, "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return int(given or shown.stdout.strip() or 0)


def in_order(members: list[tuple[tarfile.TarInfo, bytes]]) -> list[tuple[tarfile.TarInfo, bytes]]:
    """Return the members of an archive in the order of their names, after the lists of files, whose order and hashes
    are adapted. ansible-galaxy uses the order in which the file system returns names."""
    contents = {member.name: content for member, content in members}
    files = json.loads(contents[FILES])
    files["files"].sort(key=lambda each: each["name"])
    contents[FILES] = json.dumps(files, indent=True).encode()
    manifest = json.loads(contents[MANIFEST])
    manifest["file_manifest_file"]["chksum_sha256"] = hashlib.sha256(contents[FILES]).hexdigest()
    contents[MANIFEST] = json.dumps(manifest, indent=True).encode()
    ordered = sorted(members, key=lambda each: (each[0].name not in (MANIFEST, FILES), each[0].name))
    return [(member, contents[member.name]) for member, _content in ordered]


def packed(members: list[tuple[tarfile.TarInfo, bytes]], mtime_s: int) -> bytes:
    """Return a compressed archive without traces of when and where it was made."""
    whole = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=whole, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for member, content in members:
            member.mtime, member.pax_headers = mtime_s, {}
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return whole.getvalue()


if __name__ == "__main__":
    main(PROJECT / "build/artifact")
