# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Signs and verifies with ssh-keygen. It is never allowed to ask a question; it fails if it would have to."""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass

from .._run.files import absolute
from .._run.moment import MOMENT
from .._run.table_reader import printable

NAMESPACE = "run@mqops.logdisk"
"""The purpose of a signature. Signatures that were made for any other purpose are not valid."""

TIMEOUT_S = 60.0
"""How long ssh-keygen may take. The agent may wait until the user touches a token."""

_HINTS = {
    "incorrect passphrase": (
        "it needs a passphrase, which nobody can enter here: add the key to an SSH agent, and name its public key"
    ),
    "No private key found": "there is no private key beside it, and no SSH agent has it",
    "Couldn't load public key": (
        "it is not a key, it lacks the line end after its last line, or it needs a passphrase and "
        "there is no public key beside it"
    ),
}
"""Explanations of problems, by a part of ssh-keygen's message."""

_GOOD = re.compile(r'Good "[^"]*" signature for (?P<principal>.+) with (?P<key>\S+ key \S+)')
_ARMOUR = re.compile(rb"-----BEGIN SSH SIGNATURE-----\n(?:[A-Za-z0-9+/=]+\n)+-----END SSH SIGNATURE-----\n")
"""The format that ssh-keygen writes. It also accepts other white space, so without this check, some changed bytes would
have no effect."""

_MOST_LETTERS = 500


class SigningError(OSError):
    """A signature cannot be made or is not valid. The message is one sentence."""


@dataclass(frozen=True)
class Signer:
    """The signer: a principal in the file of allowed signers, and the type and fingerprint of the key."""

    principal: str
    key: str


def try_key(key: str) -> str:
    """Return the absolute path of a key that the user named, after testing it by signing some text. Raises
    SigningError."""
    path = absolute(key)
    sign(b"", path)
    return path


def sign(content: bytes, key: str) -> bytes:
    """Return the detached signature of the content, made with a private key, or with a public key whose private key is
    in an SSH agent. Raises SigningError."""
    if not os.path.isfile(key):
        raise SigningError(f"the key {key} does not exist, or is not a file")
    done = _run(["-Y", "sign", "-P", "", "-f", key, "-n", NAMESPACE], content)
    if done.returncode:
        said = _said(done)
        hint = next((hint for part, hint in _HINTS.items() if part in said), "")
        raise SigningError(f"ssh-keygen cannot sign with {key}: {f'{hint} ({said})' if hint else said}")
    return done.stdout


def verify(content: bytes, signature: bytes, signers: str, principal: str = "", moment: str = "") -> Signer:
    """Return the signer of the content. Raises SigningError unless the signature is valid and was made by an allowed
    signer.

    signers is the path of a file of allowed signers, principal is the principal who must have signed (any by default),
    and moment is a result of parse_moment (the current time by default).
    """
    if not _ARMOUR.fullmatch(signature):
        raise SigningError("the signature is not in the format that ssh-keygen writes")
    as_of = [f"-Overify-time={moment}"] if moment else []
    with tempfile.NamedTemporaryFile(prefix="logdisk-") as copy:  # ssh-keygen reads the content from standard input
        copy.write(signature)
        copy.flush()
        common = [*as_of, "-f", signers, "-s", copy.name]
        for candidate in [principal] if principal else _principals(common):
            done = _run(["-Y", "verify", *common, "-n", NAMESPACE, "-I", candidate], content)
            good = _GOOD.match(done.stdout.decode("utf-8", "replace"))
            if done.returncode == 0 and good:
                return Signer(printable(good["principal"]), printable(good["key"]))
    raise SigningError(f"the signature is not valid for {printable(candidate)}: {_said(done)}")


def parse_moment(text: str) -> str:
    """Return a day such as 2026-11-21 (its beginning in UTC), or a time such as 2026-11-21T10:49:35Z, in the format
    that ssh-keygen accepts. Raises ValueError."""
    for form in ("%Y-%m-%d", MOMENT):
        try:
            moment = datetime.datetime.strptime(text, form).replace(tzinfo=datetime.timezone.utc)
        except ValueError:
            continue
        return moment.astimezone().strftime("%Y%m%d%H%M%S")  # older versions accept only local time
    raise ValueError(f"{text!r} is neither a day such as 2026-11-21 nor a moment such as 2026-11-21T10:49:35Z")


def _principals(arguments: list[str]) -> list[str]:
    """Return the principals of the allowed signer whose key made a signature. Raises SigningError if there is none."""
    done = _run(["-Y", "find-principals", *arguments], b"")
    found = [line for line in done.stdout.decode("utf-8", "replace").splitlines() if line]
    if done.returncode or not found:
        raise SigningError(f"no allowed signer made the signature: {_said(done)}")
    return found


def _run(arguments: list[str], content: bytes) -> subprocess.CompletedProcess[bytes]:
    # There is no terminal, and the program that would ask for the passphrase cannot be started. Versions before 8.4 do
    # not have SSH_ASKPASS_REQUIRE, and get the passphrase as an option.
    environment = {**os.environ, "LC_ALL": "C", "SSH_ASKPASS": os.devnull, "SSH_ASKPASS_REQUIRE": "force"}
    try:
        return subprocess.run(
            ["ssh-keygen", *arguments],
            input=content,
            capture_output=True,
            check=False,
            timeout=TIMEOUT_S,
            env=environment,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise SigningError(f"ssh-keygen did not end within {TIMEOUT_S:g} s") from None
    except OSError as error:
        raise SigningError(
            f"ssh-keygen cannot be run ({error.strerror or error}): install OpenSSH on the controller"
        ) from None


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return what ssh-keygen wrote, without its banner, in one short line."""
    lines = [line.strip() for line in (done.stderr + done.stdout).decode("utf-8", "replace").splitlines()]
    text = "; ".join(
        printable(line) for line in lines if line and not line.startswith(("@", "Signing data on standard input"))
    )
    return text[:_MOST_LETTERS] or f"it ended with status {done.returncode}"
