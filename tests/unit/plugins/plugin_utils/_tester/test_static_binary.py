# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import platform
import subprocess

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._tester.sources import (
    BinaryError,
    cached_binaries,
    read_binary,
    static_binary,
)

SOURCES = {"main.c": b'#include <stdio.h>\nint main(void) { puts("static"); return 0; }\n'}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_a_static_binary_is_built_once_and_runs(cache):
    first = static_binary(SOURCES, "", platform.machine())
    binary = cache / "run"
    binary.write_bytes(first)
    binary.chmod(0o755)
    assert subprocess.run([str(binary)], capture_output=True, check=True).stdout == b"static\n"
    (built,) = cache.glob("mqops-logdisk/*/logdisk")
    stamp = built.stat().st_mtime_ns
    assert static_binary(SOURCES, "", platform.machine()) == first
    assert built.stat().st_mtime_ns == stamp


def test_what_was_built_is_known_without_building():
    assert cached_binaries(SOURCES, "") == []
    built = static_binary(SOURCES, "", platform.machine())
    assert cached_binaries(SOURCES, "") == [built]
    assert cached_binaries(SOURCES, "-DOTHER") == []


def test_sources_that_do_not_compile_are_told():
    with pytest.raises(BinaryError, match="does not build"):
        static_binary({"main.c": b"int main(void) {"}, "", platform.machine())


def test_an_architecture_without_a_compiler_is_told():
    with pytest.raises(BinaryError, match="tester_binary"):
        static_binary(SOURCES, "", "pdp11")


def test_a_binary_that_is_not_there_is_told(tmp_path):
    with pytest.raises(BinaryError, match="tester_binary"):
        read_binary(str(tmp_path / "none"))
