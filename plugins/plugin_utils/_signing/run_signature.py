# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Signs a run directory, and verifies one that may come from anywhere."""

from __future__ import annotations

import hashlib
import os
import shlex
from dataclasses import dataclass

from .._run.directory import RunDirectory
from .._run.files import read_file, write_file
from .._run.names import MANIFEST, SIGNATURE, STATEMENT
from .._run.table_reader import printable
from . import manifest, ssh_keygen
from .ssh_keygen import Signer, SigningError
from .statement import statement

_MOST_MANIFEST_BYTES = 256 << 20
_MOST_SIGNATURE_BYTES = 1 << 20


@dataclass(frozen=True)
class SignedRun:
    """A run with a valid signature: who signed it, the number of files, and what the signed files say about the run."""

    signer: Signer
    files: int
    run_id: str
    judged_at: str


def sign_run(directory: RunDirectory, key: str) -> None:
    """Write the statement, the manifest and its signature into the directory of a run that was judged. Raises OSError.

    If the only problem is the key, the manifest is complete and can be signed by hand.
    """
    verdict = directory.verdict()
    if verdict is None:
        raise SigningError("it has no verdict")
    directory.remove_signature()
    hashes = manifest.hash_files(directory.path)
    content = statement(verdict, hashes)
    write_file(os.path.join(directory.path, STATEMENT), content)
    path = os.path.join(directory.path, MANIFEST)
    text = manifest.encode({**hashes, STATEMENT: hashlib.sha256(content).hexdigest()})
    write_file(path, text)
    try:
        signature = ssh_keygen.sign(text, key)
    except SigningError as error:
        by_hand = shlex.join(["ssh-keygen", "-Y", "sign", "-f", key, "-n", ssh_keygen.NAMESPACE, path])
        raise SigningError(f"{error}; when the problem is solved, sign it with: {by_hand}") from None
    write_file(os.path.join(directory.path, SIGNATURE), signature)


def verify_run(path: str, signers: str, principal: str = "", moment: str = "") -> tuple[SignedRun | None, list[str]]:
    """Verify the signature of a run directory and every file in it; the arguments are the same as for
    ssh_keygen.verify.

    Returns the run (None if its signature is not valid) and a sentence for each problem.
    If there are no problems, the run has not changed since it was signed.
    """
    if not os.path.isdir(path):
        return None, ["it is not a directory"]
    try:
        text = _read(path, MANIFEST, _MOST_MANIFEST_BYTES)
        signer = ssh_keygen.verify(text, _read(path, SIGNATURE, _MOST_SIGNATURE_BYTES), signers, principal, moment)
        hashes = manifest.parse(text)
    except OSError as error:
        return None, [str(error)]
    problems = manifest.differences(path, hashes)
    if problems:
        return None, problems
    return _signed(path, signer, len(hashes))


def _signed(path: str, signer: Signer, files: int) -> tuple[SignedRun | None, list[str]]:
    """Return the run of a directory whose files have not changed since they were signed. Reports a problem if the run
    is in a directory that is named after another run."""
    try:
        directory = RunDirectory.open(path)
        verdict = directory.verdict() or {}
    except OSError as error:
        return None, [str(error)]
    run_id = directory.run["run_id"]
    if os.path.basename(path) != run_id:
        return None, [
            f"the directory contains the signed run {printable(run_id)}, and not the one that it is named after; if it "
            "is a copy, give it this name"
        ]
    return SignedRun(signer, files, run_id, str(verdict.get("created_at", ""))), []


def _read(path: str, name: str, most: int) -> bytes:
    try:
        return read_file(os.path.join(path, name), most)
    except FileNotFoundError:
        raise SigningError(f"the run is not signed: {name} does not exist") from None
    except OSError as error:
        raise SigningError(f"{name} cannot be read: {error.strerror or error}") from None
