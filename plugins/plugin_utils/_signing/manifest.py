# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The manifest of a run directory: the SHA-256 of every file, in the form that ``sha256sum --check`` reads.

A directory that is verified may come from anywhere, so nothing in it is trusted: links and special files are never
followed or opened, and a name that this collection would not have written is reported as a problem and not used as a
path.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping

from .._run.names import MANIFEST, SIGNATURE
from .._run.table_reader import printable

_CHUNK_BYTES = 1 << 20
_NAME = r"(?!\.\.?(?:/|\Z))[A-Za-z0-9_.~-]+"
_PATH = re.compile(rf"{_NAME}(?:/{_NAME})*")
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


class ManifestError(OSError):
    """A manifest cannot be created or read. The message is one sentence."""


def hash_files(root: str) -> dict[str, str]:
    """Return the SHA-256 of every file in a directory, sorted by the path in the directory. Raises ManifestError if the
    directory contains anything other than plain files."""
    hashes = {}
    for path, problem in sorted(_walk(root)):
        try:
            if problem or not _PATH.fullmatch(path):
                raise ManifestError(problem or "has a name that a manifest cannot contain")
            hashes[path] = sha256_of(os.path.join(root, path))
        except ManifestError as error:
            raise ManifestError(f"{printable(path)} in {root} {error}") from None
    return hashes


def encode(hashes: Mapping[str, str]) -> bytes:
    """Return the text of a manifest: a line for each file, sorted by path."""
    return "".join(f"{digest}  {path}\n" for path, digest in sorted(hashes.items())).encode("ascii")


def parse(text: bytes) -> dict[str, str]:
    """Return the files and hashes in a manifest. Raises ManifestError unless the text is exactly the same as encode
    would write."""
    try:
        lines = [_LINE.fullmatch(line) for line in text.decode("ascii").splitlines()]
    except UnicodeDecodeError:
        lines = []
    hashes = {line[2]: line[1] for line in lines if line and _PATH.fullmatch(line[2])}
    if not hashes or encode(hashes) != text:
        raise ManifestError("the manifest is not in the format that this collection writes")
    return hashes


def differences(root: str, hashes: Mapping[str, str]) -> list[str]:
    """Return the differences between a directory and a manifest, a sentence for each file."""
    problems = {path: problem or _difference(root, path, hashes.get(path)) for path, problem in _walk(root)}
    problems.update((path, "is missing") for path in hashes if path not in problems)
    return [f"{printable(path)} {problem}" for path, problem in sorted(problems.items()) if problem]


def _difference(root: str, path: str, signed: str | None) -> str:
    if signed is None:
        return "was added: it is not among the signed files"
    try:
        return (
            ""
            if sha256_of(os.path.join(root, path)) == signed
            else "has changed: its SHA-256 is not the one that was signed"
        )
    except ManifestError as error:
        return str(error)


def _walk(root: str) -> Iterator[tuple[str, str]]:
    """Yield the path of everything below a directory, except for directories and the signature, with a problem if it is
    not a regular file."""
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(os.path.join(root, folder)))
        except OSError as error:
            yield folder or ".", f"cannot be read: {error.strerror or error}"
            continue
        for entry in entries:
            path = os.path.join(folder, entry.name)
            if entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif path in (MANIFEST, SIGNATURE):
                continue
            elif entry.is_file(follow_symlinks=False):
                yield path, ""
            else:
                yield path, "is a link" if entry.is_symlink() else "is neither a file nor a directory"


def sha256_of(path: str) -> str:
    """Return the SHA-256 of a regular file. Raises ManifestError, whose message continues a sentence that begins with
    the file."""
    digest = hashlib.sha256()
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
    except OSError as error:
        raise ManifestError(f"cannot be read: {error.strerror or error}") from None
    return digest.hexdigest()
