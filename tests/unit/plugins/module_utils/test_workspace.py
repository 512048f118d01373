# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _marks, _queue_managers, _workspace

RUN = "20261121T104935Z-1f0c2a"


@pytest.fixture(autouse=True)
def _no_queue_manager_on_this_machine(monkeypatch):
    monkeypatch.setattr(_queue_managers, "running_queue_managers", list)
    monkeypatch.setattr(_queue_managers, "open_log_devices", set)


def make(path, names=("QM1",)):
    plan = _workspace.layout(str(path), RUN, "log", list(names))
    return _workspace.make(plan, RUN, "")


def preflight(path, footprint=1 << 20, reserve=0, allow=(), **more):
    return _workspace.Preflight(str(path), footprint, reserve, allow, **more)


@pytest.mark.parametrize("name, folder", [("QM1", "QM1"), ("a/b", "a&b"), ("..", "!!"), ("QM.PROD%1", "QM!PROD%1")])
def test_a_queue_manager_gets_a_folder_as_mq_names_it(name, folder):
    assert _workspace.directory_name(name) == folder


@pytest.mark.parametrize("name", ["", "a b", "a\n", "x" * 49, "é", "a,b"])
def test_what_is_no_queue_manager_name_is_refused(name):
    with pytest.raises(_workspace.WorkspaceError, match="queue manager name"):
        _workspace.directory_name(name)


@pytest.mark.parametrize("path", ["relative", "/", "/a/../b", "/a//b", "/a/", "/a,b", "/a\nb"])
def test_a_path_that_is_not_plain_is_refused(path):
    with pytest.raises(_workspace.WorkspaceError, match="workspace_path"):
        _workspace.layout(path, RUN, "log", ["QM1"])


def test_two_names_with_one_folder_are_refused():
    with pytest.raises(_workspace.WorkspaceError, match="once"):
        _workspace.layout("/x", RUN, "log", ["QM1", "QM1"])


def test_a_workspace_is_made_and_removed_whole(tmp_path):
    made = make(tmp_path / "ws", ["QM1", "QM2"])
    assert made["made_path"] and all(os.path.isdir(directory) for directory in made["directories"])
    removed, left = _workspace.remove(made["path"], made["run_directory"])
    assert left == [] and removed == [made["run_directory"], made["path"]]
    assert os.listdir(str(tmp_path)) == []


def test_a_path_that_was_there_stays(tmp_path):
    made = make(tmp_path)
    assert not made["made_path"]
    (tmp_path / "theirs").write_text("precious")
    assert _workspace.remove(made["path"], made["run_directory"]) == ([made["run_directory"]], [])
    assert os.listdir(str(tmp_path)) == ["theirs"]


def test_leftovers_of_a_crash_are_removed_and_strange_files_are_not(tmp_path):
    made = make(tmp_path / "ws")
    for name in ("logdisk.0001", ".nfs0000000a"):
        open(os.path.join(made["directories"][0], name), "w").close()
    strange = os.path.join(made["directories"][0], "strange")
    open(strange, "w").close()
    removed, left = _workspace.remove(made["path"], made["run_directory"])
    assert removed == [] and left == [made["directories"][0]] and os.listdir(made["directories"][0]) == ["strange"]
    os.unlink(strange)
    assert _workspace.remove(made["path"], made["run_directory"])[1] == []


def test_an_unmarked_run_directory_is_left_alone(tmp_path):
    made = make(tmp_path / "ws")
    os.unlink(os.path.join(made["run_directory"], _marks.MARK_NAME))
    removed, left = _workspace.remove(made["path"], made["run_directory"])
    assert removed == [] and "no mark" in left[0]


def test_a_workspace_that_is_there_already_is_neither_taken_over_nor_removed(tmp_path):
    made = make(tmp_path / "ws")
    with pytest.raises(_workspace.WorkspaceError, match="cannot make"):
        make(tmp_path / "ws")
    assert os.path.isdir(made["directories"][0]) and _marks.read_mark(made["run_directory"])


def test_what_was_made_is_undone_where_a_step_fails(tmp_path):
    plan = _workspace.layout(str(tmp_path / "ws"), RUN, "log", ["QM1"])
    with pytest.raises(_workspace.WorkspaceError, match="cannot make"):
        _workspace.make(plan, RUN, "nobody-of-this-name")
    assert os.listdir(str(tmp_path)) == []


def test_a_sound_place_has_no_refusal(tmp_path):
    found = preflight(tmp_path / "ws")
    assert found.refusals == [] and found.facts["mount_point"] and found.facts["filesystem_free_bytes"] > 0
    assert not found.needs_privilege() and not (tmp_path / "ws").exists()


@pytest.mark.parametrize("allow, refused", [((), True), (("symlink",), False)])
def test_a_symlink_is_refused_unless_allowed(tmp_path, allow, refused):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert any("symlink" in text for text in preflight(tmp_path / "link" / "ws", allow=allow).refusals) is refused


@pytest.mark.parametrize("mode, refused", [(0o777, True), (0o775, True), (0o1777, False), (0o755, False)])
def test_a_directory_that_others_can_change_is_refused(tmp_path, mode, refused):
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws").chmod(mode)
    assert any("shared_directory" in text for text in preflight(tmp_path / "ws").refusals) is refused


@pytest.mark.parametrize("footprint, reserve, refused", [(1 << 20, 0, False), (1 << 60, 0, True), (1, 1 << 60, True), (1, 0.9999, True)])
def test_what_does_not_fit_with_its_reserve_is_refused(tmp_path, footprint, reserve, refused):
    assert any("free" in text for text in preflight(tmp_path, footprint, reserve).refusals) is refused


def test_a_queue_managers_files_are_refused(tmp_path):
    (tmp_path / "active").mkdir()
    (tmp_path / "active" / "S0000001.LOG").write_text("")
    assert any("queue_manager_files" in text for text in preflight(tmp_path / "ws").refusals)
    assert preflight(tmp_path / "ws", allow=["queue_manager_files"]).refusals == []


def test_another_mount_than_expected_is_refused(tmp_path):
    assert any("workspace_expect_mount" in text for text in preflight(tmp_path, expect_mount="/nowhere").refusals)


def test_a_missing_parent_is_refused(tmp_path):
    assert any("mounted" in text for text in preflight(tmp_path / "a" / "b").refusals)
