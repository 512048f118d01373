# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A manifest lists every file of a directory, and no file can be missing from it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.names import MANIFEST, SIGNATURE
from ansible_collections.mqops.logdisk.plugins.plugin_utils._signing.manifest import (
    ManifestError,
    differences,
    encode,
    hash_files,
    parse,
)

A = hashlib.sha256(b"a").hexdigest()


@pytest.fixture
def root(tmp_path):
    """A directory with two files, and the files that a signature adds."""
    (tmp_path / "hosts/db07~1f/log").mkdir(parents=True)
    (tmp_path / "hosts/db07~1f/log/run.csv").write_bytes(b"a")
    (tmp_path / "run.json").write_bytes(b"a")
    (tmp_path / MANIFEST).write_bytes(b"x")
    (tmp_path / SIGNATURE).write_bytes(b"x")
    return tmp_path


HASHES = {"hosts/db07~1f/log/run.csv": A, "run.json": A}


def test_a_manifest_is_what_sha256sum_checks(root):
    assert hash_files(str(root)) == HASHES
    (root / MANIFEST).write_bytes(encode(HASHES))
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", MANIFEST], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == "hosts/db07~1f/log/run.csv: OK\nrun.json: OK\n"
    assert parse((root / MANIFEST).read_bytes()) == HASHES
    assert differences(str(root), HASHES) == []


def outside(root):
    """Return an identical copy outside the directory, for a link to point to."""
    return shutil.copytree(root / "hosts", root.parent / f"{root.name}-outside")


CHANGED = "has changed: its SHA-256 is not the one that was signed"
ADDED = "was added: it is not among the signed files"
TABLE = "hosts/db07~1f/log/run.csv"


@pytest.mark.parametrize(
    "change, expected",
    [
        (lambda root: (root / "run.json").write_bytes(b"b"), [f"run.json {CHANGED}"]),
        (lambda root: (root / "run.json").write_bytes(b"aa"), [f"run.json {CHANGED}"]),
        (lambda root: (root / TABLE).unlink(), [f"{TABLE} is missing"]),
        (
            lambda root: (root / "hosts/db07~1f").rename(root / "hosts/db08"),
            ["hosts/db07~1f/log/run.csv is missing", f"hosts/db08/log/run.csv {ADDED}"],
        ),
        (lambda root: (root / ".hidden").touch(), [f".hidden {ADDED}"]),
        (lambda root: (root / "hosts" / MANIFEST).touch(), [f"hosts/{MANIFEST} {ADDED}"]),
        (lambda root: (root / "\x1b]0;owned\n").touch(), [f"\\x1b]0;owned\\x0a {ADDED}"]),
        (lambda root: open(os.fsencode(root) + b"/\xff", "w").close(), [f"\\udcff {ADDED}"]),
        (
            lambda root: (
                (root / "run.json").unlink(),
                (root / "run.json").symlink_to(outside(root) / "db07~1f/log/run.csv"),
            ),
            ["run.json is a link"],
        ),
        (lambda root: (shutil.rmtree(root / "hosts"), (root / "hosts").mkdir()), [f"{TABLE} is missing"]),
        (
            lambda root: (
                outside(root),
                shutil.rmtree(root / "hosts"),
                (root / "hosts").symlink_to(root.parent / f"{root.name}-outside"),
            ),
            ["hosts is a link", f"{TABLE} is missing"],
        ),
        (
            lambda root: ((root / "run.json").unlink(), os.mkfifo(root / "run.json")),
            ["run.json is neither a file nor a directory"],
        ),
        (lambda root: ((root / "run.json").unlink(), (root / "run.json").mkdir()), ["run.json is missing"]),
    ],
)
def test_every_change_is_found(root, change, expected):
    change(root)
    assert differences(str(root), HASHES) == expected


@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda root: (root / "a b").touch(), "a b in .* has a name"),
        (lambda root: (root / "a\nb").touch(), r"a\\x0ab in .* has a name"),
        (lambda root: (root / "a\\b").touch(), "has a name that a manifest cannot contain"),
        (lambda root: (root / "x").symlink_to("run.json"), "x in .* is a link"),
        (lambda root: os.mkfifo(root / "x"), "x in .* is neither a file nor a directory"),
    ],
)
def test_a_directory_with_anything_but_plain_files_is_not_signed(root, make, expected):
    make(root)
    with pytest.raises(ManifestError, match=expected):
        hash_files(str(root))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        f"{A}  run.json".encode(),
        f"{A} *run.json\n".encode(),
        f"{A.upper()}  run.json\n".encode(),
        f"{A}  b\n{A}  a\n".encode(),
        f"{A}  a\n{A}  a\n".encode(),
        f"{A}  /etc/passwd\n".encode(),
        f"{A}  hosts/../../etc/passwd\n".encode(),
        f"{A}  ./run.json\n".encode(),
        f"{A}  hosts//run.csv\n".encode(),
        f"\\{A}  a\\nb\n".encode(),
        f"# a comment\n{A}  a\n".encode(),
        f"{A}  \xe4\n".encode(),
        f"{A}  a\r\n".encode(),
    ],
)
def test_only_what_was_written_as_a_manifest_is_read_as_one(text):
    with pytest.raises(ManifestError):
        parse(text)
