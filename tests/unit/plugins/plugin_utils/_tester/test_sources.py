# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import hashlib

import pytest
from ansible_collections.mqops.logdisk.plugins.modules import build
from ansible_collections.mqops.logdisk.plugins.plugin_utils._tester import sources as _sources


@pytest.fixture
def folder(tmp_path):
    for name in (*_sources.FOLDERS, "tests"):
        (tmp_path / name).mkdir(exist_ok=True)
    for name, text in (
        ("main.c", "int main(void){}"),
        ("base/a.h", "#define A"),
        ("Makefile", "all:"),
        ("tests/unit.c", ""),
    ):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_hash_is_that_of_the_concatenated_files(folder):
    sources = _sources.read_sources(str(folder))
    assert _sources.source_hash(sources) == hashlib.sha256(b"#define Aint main(void){}").hexdigest()


def test_sources_and_flags_decide_the_build(folder):
    sources = _sources.read_sources(str(folder))
    flags = _sources.compiler_flags(sources, "-march=native '-DX=a b'")
    assert flags[-2:] == ["-march=native", "-DX=a b"]
    assert _sources.build_name(flags) != _sources.build_name(_sources.compiler_flags(sources, ""))
    (folder / "base/a.h").write_text("#define B")
    assert _sources.build_name(_sources.compiler_flags(_sources.read_sources(str(folder)), "")) != _sources.build_name(
        _sources.compiler_flags(sources, "")
    )


def test_an_archive_holds_the_bytes(tmp_path):
    files = {"base/x.c": b"\0\xff\n{", "a.h": b"", "main.c": b"int main"}
    assert build.unpack(_sources.pack(files), str(tmp_path)) == sorted(files)
    assert {name: (tmp_path / name).read_bytes() for name in files} == files


@pytest.mark.parametrize("empty", [True, False])
def test_a_folder_without_sources_is_refused(tmp_path, empty):
    with pytest.raises(_sources.SourcesError, match="tester_source_dir"):
        _sources.read_sources(str(tmp_path if empty else tmp_path / "none"))
