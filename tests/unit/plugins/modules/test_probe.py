# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import subprocess
from types import SimpleNamespace

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _tester
from ansible_collections.mqops.logdisk.plugins.modules import probe

COMPONENTS = ["", "bin", "bin/0f3c", "bin/0f3c/logdisk"]


class Failed(Exception):
    """The module failed."""


class Module:
    """Records the commands that are run."""

    def __init__(self):
        self.ran = []
        self.answer = (0, "logdisk 1.0.0 56a7\n", "")

    def run_command(self, command, **more):
        self.ran.append(command[0])
        return self.answer

    def fail_json(self, msg):
        raise Failed(msg)


@pytest.fixture
def module():
    return Module()


@pytest.fixture
def tester(tmp_path):
    """A tester's directory with a tester in it."""
    directory = tmp_path / "tester"
    (directory / "bin" / "0f3c").mkdir(parents=True)
    (directory / "bin" / "0f3c" / "logdisk").write_text("")
    _tester.write_hash(binary(directory))
    for component in COMPONENTS:
        (directory / component).chmod(0o755)
    return directory


def binary(directory):
    return str(directory / "bin" / "0f3c" / "logdisk")


@pytest.mark.parametrize(
    ("knows", "method", "headers"),
    [
        (("stdatomic.h", "stdio.h"), "compile", True),
        (("stdio.h",), "compile", Failed),
        (("stdio.h",), "binary", True),
        ((), "compile", False),
    ],
)
def test_a_compiler_that_is_too_old_for_the_tester_is_refused_before_it_builds(
    tmp_path, module, knows, method, headers
):
    """gcc 4.8 has the headers of the C library, but not stdatomic.h."""
    compiler = tmp_path / "cc"
    known = "|".join(f"*{name}*" for name in (*knows, "pthread.h", "sys/uio.h"))
    compiler.write_text(
        "#!/bin/sh\n"
        '[ "$1" = --version ] && echo "cc (GCC) 4.8.5" && exit\n'
        f'while read line; do case $line in {known}) ;; "#include"*) exit 1 ;; esac; done\n'
    )
    compiler.chmod(0o755)
    module.params = {"method": method}
    module.run_command = run_command
    if headers is Failed:
        with pytest.raises(
            Failed, match=r"cc \(GCC\) 4\.8\.5\): install gcc 4\.9.*tester_compiler.*tester_method: binary"
        ):
            probe.has_headers(module, str(compiler))
    else:
        assert probe.has_headers(module, str(compiler)) is headers


def run_command(command, data=""):
    done = subprocess.run(command, input=data, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def found(module, path, expected=None):
    return probe.installed_source_hash(module, path, [_tester.read_hash(path)] if expected is None else expected)


def test_a_tester_of_ones_own_is_run_and_a_missing_one_is_not(tester, module):
    assert found(module, binary(tester)) == "56a7" and module.ran == [binary(tester)]
    assert not found(module, binary(tester.parent / "none")) and len(module.ran) == 1


@pytest.mark.parametrize("answer", [(1, "logdisk 1.0.0 56a7\n", ""), (0, "fio-3.36\n", ""), (0, "", "")])
def test_what_does_not_answer_as_the_tester_is_not_installed(tester, module, answer):
    module.answer = answer
    assert found(module, binary(tester)) == ""


def test_a_tester_that_is_not_what_was_put_there_is_not_run(tester, module):
    (tester / "bin" / "0f3c" / "logdisk").write_text("#!/bin/sh")
    assert found(module, binary(tester)) == ""
    assert found(module, binary(tester), [_tester.file_sha256(__file__)]) == ""
    assert module.ran == []
    assert found(module, binary(tester), [_tester.file_sha256(__file__), _tester.file_sha256(binary(tester))]) == "56a7"


def test_a_tester_without_a_hash_beside_it_is_not_run(tester, module):
    (tester / "bin" / "0f3c" / "logdisk.sha256").unlink()
    assert found(module, binary(tester)) == "" and module.ran == []


def linked(directory, component, monkeypatch):
    path = directory / component
    path.rename(directory.parent / "theirs")
    path.symlink_to(directory.parent / "theirs")


def writable_by(mode):
    return lambda directory, component, monkeypatch: (directory / component).chmod(mode)


def owned_by(uid):
    def prepare(directory, component, monkeypatch):
        real = os.lstat

        def lstat(path, **more):
            status = real(path, **more)
            if path != os.path.normpath(str(directory / component)):
                return status
            return SimpleNamespace(st_mode=status.st_mode, st_uid=uid)

        monkeypatch.setattr(os, "lstat", lstat)

    return prepare


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize(
    "prepare, reason",
    [
        (linked, "is a symlink"),
        (writable_by(0o775), "writable"),
        (writable_by(0o757), "writable"),
        (writable_by(0o1777), "writable"),
        (owned_by(os.geteuid() + 4711), "another user"),
        (owned_by(0), None),
    ],
)
def test_a_tester_that_others_could_have_put_there_is_not_run(tester, module, monkeypatch, component, prepare, reason):
    prepare(tester, component, monkeypatch)
    if reason is None:
        assert found(module, binary(tester))
        return
    with pytest.raises(Failed, match="%s.*tester_dir" % reason):
        found(module, binary(tester))
    assert module.ran == []
