# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import errno
import os

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _marks


def everything(name, descriptor):
    return True


@pytest.fixture
def ours(tmp_path):
    """A marked directory with an entry ``mine``."""
    directory = tmp_path / "ours"
    (directory / "mine").mkdir(parents=True)
    _marks.write_mark(str(directory), {"run_id": "R"})
    return directory


def test_a_mark_is_read_back(tmp_path):
    _marks.write_mark(str(tmp_path), {"run_id": "R"})
    assert _marks.read_mark(str(tmp_path))["run_id"] == "R"


def test_a_mark_is_never_overwritten(tmp_path):
    _marks.write_mark(str(tmp_path), {})
    with pytest.raises(FileExistsError):
        _marks.write_mark(str(tmp_path), {})


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'{"kind": "other"}', b"\xff", b'{"kind": "mqops.logdisk"}' + b" " * 70000]
)
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
    with pytest.raises(_marks.MarkError, match="not have the mark"):
        _marks.remove_marked(str(tmp_path), everything)
    assert (tmp_path / "file").read_text() == "precious"


def test_a_linked_directory_is_left_alone(tmp_path):
    (tmp_path / "real").mkdir()
    _marks.write_mark(str(tmp_path / "real"), {})
    os.symlink(str(tmp_path / "real"), str(tmp_path / "link"))
    with pytest.raises(_marks.MarkError, match="symlink"):
        _marks.remove_marked(str(tmp_path / "link"), everything)


def test_what_is_not_ours_keeps_the_directory_and_its_mark(ours):
    (ours / "theirs").write_text("precious")
    assert _marks.remove_marked(str(ours), lambda name, descriptor: name == "mine") == [str(ours / "theirs")]
    assert (ours / "theirs").read_text() == "precious" and not (ours / "mine").exists()
    (ours / "theirs").unlink()
    assert _marks.remove_marked(str(ours), everything) == []
    assert not ours.exists()


def test_a_full_directory_below_stays(ours):
    (ours / "mine" / "file").write_text("precious")
    assert _marks.remove_marked(str(ours), everything) == [str(ours / "mine")]
    assert (ours / "mine" / "file").exists()


def test_a_directory_is_marked_by_its_descriptor_too(tmp_path):
    descriptor = os.open(str(tmp_path), os.O_RDONLY)
    with _marks.closing(descriptor):
        _marks.write_mark(descriptor, {"run_id": "R"})
        assert _marks.read_mark(descriptor)["run_id"] == _marks.read_mark(str(tmp_path))["run_id"] == "R"


def test_a_link_put_in_its_place_is_not_followed(tmp_path, ours):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "mine").write_text("precious")
    _marks.write_mark(str(theirs), {})

    def swap(name, descriptor):
        ours.rename(tmp_path / "aside")
        ours.symlink_to(theirs)
        return True

    with pytest.raises(OSError):
        _marks.remove_marked(str(ours), swap)
    assert (theirs / "mine").read_text() == "precious" and _marks.read_mark(str(theirs))
    assert _marks.read_mark(str(tmp_path / "aside"))["run_id"] == "R"


def parent_not_writable(monkeypatch, ours):
    monkeypatch.setattr(os, "access", lambda *dummy, **more: False)


def sticky_parent_of_another(monkeypatch, ours):
    ours.parent.chmod(0o1777)
    monkeypatch.setattr(os, "geteuid", lambda: ours.stat().st_uid + 4711)


def rmdir_fails(number):
    def prepare(monkeypatch, ours):
        real = os.rmdir

        def rmdir(path, **more):
            if os.path.basename(path) == ours.name:
                raise OSError(number, os.strerror(number))
            real(path, **more)

        monkeypatch.setattr(os, "rmdir", rmdir)

    return prepare


@pytest.mark.parametrize(
    "prepare, error, reason",
    [
        (parent_not_writable, _marks.MarkError, "with privilege"),
        (sticky_parent_of_another, _marks.MarkError, "with privilege"),
        (rmdir_fails(errno.EACCES), _marks.MarkError, "with privilege"),
        (rmdir_fails(errno.EPERM), _marks.MarkError, "with privilege"),
        (rmdir_fails(errno.EBUSY), OSError, "busy"),
    ],
)
def test_a_directory_that_cannot_be_removed_keeps_its_mark(ours, monkeypatch, prepare, error, reason):
    prepare(monkeypatch, ours)
    with pytest.raises(error, match=reason):
        _marks.remove_marked(str(ours), everything)
    monkeypatch.undo()
    assert os.listdir(str(ours)) == [_marks.MARK_NAME] and _marks.read_mark(str(ours))["run_id"] == "R"
    assert _marks.remove_marked(str(ours) + "/", everything) == [] and not ours.exists()


def test_one_may_remove_ones_own_from_a_sticky_directory(ours):
    ours.parent.chmod(0o1777)
    assert _marks.remove_marked(str(ours), everything) == []
