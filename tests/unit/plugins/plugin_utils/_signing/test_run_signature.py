# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Signing and verifying runs with the real ssh-keygen."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import certify
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.names import MANIFEST, SIGNATURE, STATEMENT
from ansible_collections.mqops.logdisk.plugins.plugin_utils._signing import ssh_keygen
from ansible_collections.mqops.logdisk.plugins.plugin_utils._signing.run_signature import sign_run, verify_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._signing.ssh_keygen import (
    NAMESPACE,
    SigningError,
    parse_moment,
    sign,
    try_key,
    verify,
)
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

DOCUMENTATION = Path(__file__).resolve().parents[5] / "docs/signing.md"
OPS = "ops@example.com"


def new_key(path, passphrase=""):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "", "-f", str(path)], check=True)
    return str(path)


def allow(path, key, principals=OPS, options=""):
    """Write a file with one allowed signer; returns its path."""
    public = Path(f"{key}.pub").read_text(encoding="ascii")
    path.write_text(f"{principals} {options} {public}", encoding="ascii")
    return str(path)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """A directory with a key that may sign, another one, and one with a passphrase."""
    base = tmp_path_factory.mktemp("keys")
    new_key(base / "key")
    new_key(base / "other")
    new_key(base / "locked", "secret words")
    allow(base / "signers", base / "key")
    return base


@pytest.fixture(scope="module")
def signed(keys, tmp_path_factory):
    """The directory of a signed run that has all possible files."""
    tables = fabricate.tables()
    directory = fabricate.run_directory(
        tmp_path_factory.mktemp("reports"), {"db01": tables, "DB 02": tables}, [fabricate.failed("db03")]
    )
    certify(directory)
    render(directory)
    sign_run(directory, str(keys / "key"))
    return directory


@pytest.fixture
def copy(signed, tmp_path):
    """A copy of the signed run, to be changed."""
    return Path(shutil.copytree(signed.path, tmp_path / "reports" / signed.run["run_id"]))


def problems(path, keys, **options):
    return verify_run(str(path), str(keys / "signers"), **options)[1]


def files(path):
    return sorted(str(each.relative_to(path)) for each in Path(path).rglob("*") if each.is_file())


def test_a_signed_run_verifies(signed, keys):
    run, found = verify_run(signed.path, str(keys / "signers"))
    assert found == []
    assert (run.run_id, run.signer.principal, run.judged_at) == (
        signed.run["run_id"],
        OPS,
        signed.verdict()["created_at"],
    )
    fingerprint = subprocess.run(
        ["ssh-keygen", "-l", "-f", str(keys / "key")], capture_output=True, text=True, check=True
    ).stdout.split()[1]
    assert run.signer.key == f"ED25519 key {fingerprint}"
    assert run.files == len(files(signed.path)) - 2
    statement = json.loads(Path(signed.path, STATEMENT).read_text(encoding="ascii"))
    assert {subject["name"] for subject in statement["subject"]} == set(files(signed.path)) - {
        MANIFEST,
        SIGNATURE,
        STATEMENT,
    }
    assert (statement["predicate"]["result"], statement["predicate"]["failedTests"]) == ("FAILED", ["db03"])


def harmless(signature):
    """Return the positions in a signature at which ssh-keygen could ignore a change: white space, and the last letters
    of its base64."""
    spaces = [place for place, letter in enumerate(signature) if letter in b"\n"]
    return [*spaces, spaces[-2] - 1, spaces[-2] - 2, spaces[-2] - 3]


def test_a_flipped_byte_in_any_file_is_found(copy, keys):
    assert problems(copy, keys) == []
    tried = 0
    for name in files(copy):
        content = (copy / name).read_bytes()
        for place in {0, len(content) // 2, len(content) - 1, *(harmless(content) if name == SIGNATURE else ())}:
            flipped = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
            (copy / name).write_bytes(flipped)
            found = problems(copy, keys)
            assert found, (name, place)
            assert name in (MANIFEST, SIGNATURE) or found == [
                f"{name} has changed: its SHA-256 is not the one that was signed"
            ]
            tried += 1
        (copy / name).write_bytes(content)
    assert tried >= 60
    assert problems(copy, keys) == []


def test_what_is_added_or_missing_is_found(copy, keys):
    (copy / "hosts/db01/log/certificate.json").unlink()
    (copy / "hosts/db01/log/more.csv").touch()
    assert problems(copy, keys) == [
        "hosts/db01/log/certificate.json is missing",
        "hosts/db01/log/more.csv was added: it is not among the signed files",
    ]


@pytest.mark.parametrize("name", [MANIFEST, SIGNATURE])
def test_a_run_without_a_signature_is_an_error(copy, keys, name):
    (copy / name).unlink()
    assert problems(copy, keys) == [f"the run is not signed: {name} does not exist"]
    (copy / name).symlink_to("run.json")
    assert problems(copy, keys)[0].startswith(f"{name} cannot be read")


def test_a_signed_run_in_the_place_of_another_one_is_found(copy, keys):
    other = copy.rename(copy.with_name("20200101T000000Z-000000"))
    assert "contains the signed run" in problems(other, keys)[0]


def test_the_signature_of_another_run_is_refused(copy, keys):
    (copy / MANIFEST).write_bytes((copy / MANIFEST).read_bytes() + b"0" * 64 + b"  zz\n")
    assert "incorrect signature" in problems(copy, keys)[0]


@pytest.mark.parametrize(
    "key, options, expected",
    [
        ("other", "", "no allowed signer made the signature: No principal matched."),
        ("key", 'valid-before="20200101"', "key has expired"),
        ("key", 'valid-after="20990101"', "key is not yet valid"),
        ("key", 'namespaces="git"', f'not permitted for use in signature namespace "{NAMESPACE}"'),
    ],
)
def test_who_may_not_sign_is_refused(signed, keys, tmp_path, key, options, expected):
    run, found = verify_run(signed.path, allow(tmp_path / "signers", keys / key, options=options))
    assert run is None
    assert expected in found[0]


def test_a_signature_for_another_purpose_is_refused(copy, keys):
    (copy / SIGNATURE).unlink()
    subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-f", keys / "key", "-n", "file", copy / MANIFEST],
        check=True,
        capture_output=True,
    )
    assert "namespace does not match" in problems(copy, keys)[0]


def test_an_expired_signer_verifies_as_of_a_day_before(signed, keys, tmp_path):
    signers = allow(tmp_path / "signers", keys / "key", options='valid-after="20260101",valid-before="20260601"')
    assert verify_run(signed.path, signers)[0] is None
    assert verify_run(signed.path, signers, moment=parse_moment("2026-03-01"))[1] == []
    assert verify_run(signed.path, signers, moment=parse_moment("2026-03-01T12:00:00Z"))[1] == []
    assert verify_run(signed.path, signers, moment=parse_moment("2026-07-01"))[0] is None


@pytest.fixture
def auckland(monkeypatch):
    """A controller whose day begins 13 hours before that of UTC."""
    monkeypatch.setenv("TZ", "NZDT-13")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("auckland")
def test_a_moment_is_read_in_utc():
    assert parse_moment("2026-03-01") == "20260301130000"
    assert parse_moment("2026-03-01T12:30:00Z") == "20260302013000"
    with pytest.raises(ValueError, match="neither a day such as"):
        parse_moment("20260301")


def test_the_principal_must_be_the_one_who_signed(signed, keys, tmp_path):
    signers = allow(tmp_path / "signers", keys / "key", principals=f"gate@example.com,{OPS}")
    assert verify_run(signed.path, signers)[0].signer.principal == "gate@example.com"
    assert verify_run(signed.path, signers, principal=OPS)[0].signer.principal == OPS
    assert (
        "is not valid for somebody@example.com"
        in verify_run(signed.path, signers, principal="somebody@example.com")[1][0]
    )


def by_hand(path):
    """Run the commands of the documentation in the directory of a run; return the status of each."""
    section = DOCUMENTATION.read_text(encoding="utf-8").partition("### Without this collection")[2].partition("## ")[0]
    _cd, *commands = re.findall(r"^\$ (.*)$", section, re.MULTILINE)
    return [
        subprocess.run(["bash", "-c", command], cwd=path, capture_output=True, check=False).returncode
        for command in commands
    ]


def test_a_signed_run_is_verified_by_the_commands_of_the_documentation(copy, keys):
    allow(copy.parent.parent / "allowed_signers", keys / "key", principals="gate@example.com")
    assert by_hand(copy) == [0, 0, 0]
    (copy / "hosts/manifest.sha256").touch()
    assert by_hand(copy) == [0, 0, 1]
    (copy / "report.md").write_text("x", encoding="ascii")
    assert by_hand(copy) == [0, 1, 1]
    (copy / MANIFEST).write_text("x", encoding="ascii")
    assert by_hand(copy) == [255, 1, 1]


def test_what_is_filed_or_judged_later_removes_the_signature(copy):
    directory = RunDirectory.open(str(copy))
    directory.write_verdict(directory.verdict())
    assert not directory.is_signed and not (copy / SIGNATURE).exists() and not (copy / STATEMENT).exists()
    for name in (MANIFEST, SIGNATURE, STATEMENT):
        (copy / name).touch()
    directory.records.note_leftovers("db01", "log", ["x"])
    assert not directory.is_signed and not (copy / SIGNATURE).exists() and not (copy / STATEMENT).exists()


def test_a_run_that_cannot_be_signed_can_be_signed_by_hand(copy, keys, tmp_path):
    directory = RunDirectory.open(str(copy))
    with pytest.raises(SigningError, match=r"gone does not exist.*sign it with: ssh-keygen") as caught:
        sign_run(directory, str(tmp_path / "gone"))
    assert not (copy / SIGNATURE).exists()
    command = str(caught.value).partition("sign it with: ")[2].replace(str(tmp_path / "gone"), str(keys / "key"))
    subprocess.run(command.split(), check=True, capture_output=True)
    assert problems(copy, keys) == []


def test_only_what_was_judged_is_signed(keys, tmp_path):
    directory = fabricate.run_directory(tmp_path, {"db01": fabricate.tables()}, gate=False)
    with pytest.raises(SigningError, match="no verdict"):
        sign_run(directory, str(keys / "key"))


@contextlib.contextmanager
def agent(monkeypatch, *keys_held):
    """Run an SSH agent that holds some keys."""
    said = subprocess.run(["ssh-agent", "-s"], capture_output=True, text=True, check=True).stdout
    for line in said.splitlines()[:2]:
        name, _, value = line.partition(";")[0].partition("=")
        monkeypatch.setenv(name, value)
    try:
        for key in keys_held:
            subprocess.run(["ssh-add", "-q", str(key)], check=True, stdin=subprocess.DEVNULL)
        yield
    finally:
        subprocess.run(["ssh-agent", "-k"], check=True, capture_output=True)


def test_a_public_key_signs_by_an_agent(keys, tmp_path, monkeypatch):
    public = shutil.copy(keys / "key.pub", tmp_path / "key.pub")
    with agent(monkeypatch, keys / "key"):
        assert verify(b"x", sign(b"x", public), str(keys / "signers")).principal == OPS
    with agent(monkeypatch), pytest.raises(SigningError, match="no private key beside it, and no SSH agent has it"):
        sign(b"x", public)


def refused_key(name, keys, base):
    """Make a key that cannot sign; returns its path."""
    path = base / name
    if name == "locked":
        return keys / name
    if name == "open":
        shutil.copy(keys / "key", path)
        path.chmod(0o644)
    if name == "garbage":
        path.write_text("not a key\n", encoding="ascii")
    if name == "fifo":
        os.mkfifo(path)
    if name == "folder":
        path.mkdir()
    return path


@pytest.mark.parametrize(
    "name, expected",
    [
        ("locked", "it needs a passphrase, which nobody can enter here"),
        ("open", "are too open"),
        ("garbage", "it is not a key"),
        ("fifo", "does not exist, or is not a file"),
        ("folder", "does not exist, or is not a file"),
        ("absent", "does not exist, or is not a file"),
    ],
)
def test_a_key_that_cannot_sign_is_refused(keys, tmp_path, monkeypatch, name, expected):
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with pytest.raises(SigningError, match=expected) as caught:
        try_key(str(refused_key(name, keys, tmp_path)))
    assert "@@@" not in str(caught.value) and "\n" not in str(caught.value)


def test_a_key_is_found_in_the_home_directory(keys, monkeypatch):
    monkeypatch.setenv("HOME", str(keys))
    assert try_key("~/key") == str(keys / "key")


def test_a_controller_without_openssh(keys, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SigningError, match="install OpenSSH on the controller"):
        try_key(str(keys / "key"))


def test_ssh_keygen_has_an_end(keys, tmp_path, monkeypatch):
    (tmp_path / "ssh-keygen").write_text("#!/bin/sh\nexec sleep 60\n", encoding="ascii")
    (tmp_path / "ssh-keygen").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(ssh_keygen, "TIMEOUT_S", 0.2)
    with pytest.raises(SigningError, match="did not end"):
        try_key(str(keys / "key"))
