# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from ansible_collections.mqops.logdisk.plugins.modules import probe

COMPONENTS = ["", "bin", "bin/0f3c", "bin/0f3c/logdisk"]


class Failed(Exception):
    """The module failed."""


class Module:
    """Notes what is run."""

    def __init__(self):
        self.ran = []

    def run_command(self, command, **more):
        self.ran.append(command[0])
        return 0, "", ""

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
    for component in COMPONENTS:
        (directory / component).chmod(0o755)
    return directory


def binary(directory):
    return str(directory / "bin" / "0f3c" / "logdisk")


def test_a_tester_of_ones_own_is_run_and_a_missing_one_is_not(tester, module):
    assert probe.runs(module, binary(tester)) and module.ran == [binary(tester)]
    assert not probe.runs(module, binary(tester.parent / "none")) and len(module.ran) == 1


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
@pytest.mark.parametrize("prepare, reason", [
    (linked, "is a symlink"), (writable_by(0o775), "writable"), (writable_by(0o757), "writable"), (writable_by(0o1777), "writable"),
    (owned_by(os.geteuid() + 4711), "another user"), (owned_by(0), None),
])
def test_a_tester_that_others_could_have_put_there_is_not_run(tester, module, monkeypatch, component, prepare, reason):
    prepare(tester, component, monkeypatch)
    if reason is None:
        assert probe.runs(module, binary(tester))
        return
    with pytest.raises(Failed, match="%s.*tester_dir" % reason):
        probe.runs(module, binary(tester))
    assert module.ran == []
