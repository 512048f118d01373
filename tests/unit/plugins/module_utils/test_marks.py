# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _marks


def everything(name, path):
    return True


def test_a_mark_is_read_back(tmp_path):
    _marks.write_mark(str(tmp_path), {"run_id": "R"})
    assert _marks.read_mark(str(tmp_path))["run_id"] == "R"


def test_a_mark_is_never_overwritten(tmp_path):
    _marks.write_mark(str(tmp_path), {})
    with pytest.raises(FileExistsError):
        _marks.write_mark(str(tmp_path), {})


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"kind": "other"}', b"\xff", b'{"kind": "mqops.logdisk"}' + b" " * 70000])
def test_a_foreign_file_is_no_mark(tmp_path, content):
    (tmp_path / _marks.MARK_NAME).write_bytes(content)
    assert _marks.read_mark(str(tmp_path)) is None


def test_a_linked_mark_is_none(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    _marks.write_mark(str(tmp_path / "a"), {})
    os.symlink(str(tmp_path / "a" / _marks.MARK_NAME), str(tmp_path / "b" / _marks.MARK_NAME))
    assert _marks.read_mark(str(tmp_path / "b")) is None


def test_without_a_mark_nothing_is_removed(tmp_path):
    (tmp_path / "file").write_text("precious")
    with pytest.raises(_marks.MarkError, match="no mark"):
        _marks.remove_marked(str(tmp_path), everything)
    assert (tmp_path / "file").read_text() == "precious"


def test_a_linked_directory_is_left_alone(tmp_path):
    (tmp_path / "real").mkdir()
    _marks.write_mark(str(tmp_path / "real"), {})
    os.symlink(str(tmp_path / "real"), str(tmp_path / "link"))
    with pytest.raises(_marks.MarkError, match="symlink"):
        _marks.remove_marked(str(tmp_path / "link"), everything)


def test_what_is_not_ours_keeps_the_directory_and_its_mark(tmp_path):
    ours = tmp_path / "ours"
    (ours / "mine").mkdir(parents=True)
    (ours / "theirs").write_text("precious")
    _marks.write_mark(str(ours), {})
    assert _marks.remove_marked(str(ours), lambda name, path: name == "mine") == [str(ours / "theirs")]
    assert (ours / "theirs").read_text() == "precious" and not (ours / "mine").exists()
    (ours / "theirs").unlink()
    assert _marks.remove_marked(str(ours), everything) == []
    assert not ours.exists()


def test_a_full_directory_below_stays(tmp_path):
    ours = tmp_path / "ours"
    (ours / "mine").mkdir(parents=True)
    (ours / "mine" / "file").write_text("precious")
    _marks.write_mark(str(ours), {})
    assert _marks.remove_marked(str(ours), everything) == [str(ours / "mine")]
    assert (ours / "mine" / "file").exists()
