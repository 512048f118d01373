# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Everything that asks for the mount of a path gets the answer of the kernel, on real mounts."""

from __future__ import annotations

import os

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import (
    _lock_settings,
    _mounts,
    _places,
    _queue_manager_info,
    _queue_managers,
    _runs,
    _volume_counters,
    _volume_identity,
    _workspace,
)
from ansible_collections.mqops.logdisk.plugins.module_utils._sources import bpftrace
from unit.plugins.module_utils.own_namespace import bind, in_own_namespace, move, tmpfs


def plain(root):
    tmpfs("log", root / "mqm/log")


def hidden_by_a_bind_mount(root):
    tmpfs("theirs", root / "mqm/log")
    tmpfs("log", root / "other")
    bind(root / "other", root / "mqm")


def hidden_by_a_later_mount(root):
    tmpfs("theirs", root / "mqm/log")
    tmpfs("log", root / "mqm")


def stacked(root):
    tmpfs("theirs", root / "mqm/log")
    tmpfs("log", root / "mqm/log")


def moved_onto_a_later_mount(root):
    tmpfs("log", root / "before")
    tmpfs("theirs", root / "mqm/log")
    move(root / "before", root / "mqm/log")


def moved_with_a_mount_below_it(root):
    tmpfs("theirs", root / "before")
    tmpfs("log", root / "before/log")
    move(root / "before", root / "mqm")


def nested(root):
    tmpfs("theirs", root / "mqm")
    tmpfs("log", root / "mqm/log")
    tmpfs("theirs", root / "mqm/log/below")


def bind_mount_of_a_directory(root):
    tmpfs("log", root / "other")
    bind(root / "other/sub", root / "mqm/log")


LAYOUTS = (
    plain,
    hidden_by_a_bind_mount,
    hidden_by_a_later_mount,
    stacked,
    moved_onto_a_later_mount,
    moved_with_a_mount_below_it,
    nested,
    bind_mount_of_a_directory,
)


def of_clean_up(path):
    """Return the source of the mount at the mount point that a run records for its clean-up."""
    run = _runs.Run(os.path.dirname(path) + "/state", "R1", "log")
    run.create()
    run.write_start({"paths": [path]})
    assert run.missing_mounts() == {}
    return _mounts.mount_of(run.read_start()["mount_points"][path])["mount_source"]


def of_bpftrace(path):
    ((number, dummy),) = bpftrace.places_of(path)
    (mount,) = {
        mount["mount_source"]
        for mount in _mounts.read_mounts()
        if mount["device_number"] == f"{number >> 20}:{number & 0xFFFFF}"
    }
    return mount


READERS = {
    "measurement": lambda path: _workspace.Preflight(path, ()).facts["mount_source"],
    "observation and power cut": lambda path: _volume_identity.facts_of(path)["mount_source"],
    "locks": lambda path: _lock_settings.settings_of(path, path)["mount_source"],
    "discovery": lambda path: _queue_manager_info._located(path)["filesystem"]["mount_source"],
    "counters": lambda path: _volume_counters.read_below(path),
    "tester": lambda path: "log" if "is on" in _places.why_not_executable(path) else "a file system with programs",
    "clean-up": of_clean_up,
    "bpftrace": of_bpftrace,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_reader_finds_the_mount_that_the_kernel_uses(tmp_path, monkeypatch, layout):
    monkeypatch.setattr(_volume_counters, "read_counters", lambda number, source: source)
    path = tmp_path / "mqm/log/logdisk"

    def body():
        layout(tmp_path)
        (tmp_path / "mqm/log").mkdir(exist_ok=True)
        missing = {name: reader(str(path)) for name, reader in READERS.items() if name not in ("clean-up", "bpftrace")}
        path.mkdir()
        return [missing, {name: reader(str(path)) for name, reader in READERS.items()}]

    missing, existing = in_own_namespace(body)
    assert missing == dict.fromkeys(missing, "log")
    assert existing == dict.fromkeys(READERS, "log")


@pytest.mark.parametrize("name", ["a\rb", "a\u2028b", "a\x85b", "a b", "a\nb", "a - b", "a\\b"])
def test_a_mount_point_may_have_any_name(tmp_path, name):
    def body():
        tmpfs("log", tmp_path / name)
        found = _mounts.mount_of(str(tmp_path / name / "ws"))
        return [found["mount_source"], found["mount_point"]]

    assert in_own_namespace(body) == ["log", str(tmp_path / name)]


def test_an_expected_mount_that_is_hidden_is_refused(tmp_path):
    """The file system is mounted at mqm/log, and then mqm is hidden by another mount."""
    path, expected = tmp_path / "mqm/log/logdisk", str(tmp_path / "mqm/log")

    def body():
        plain(tmp_path)
        path.mkdir()
        before = _workspace.Preflight(str(path), (), expected).refusals
        (tmp_path / "other/log/logdisk").mkdir(parents=True)
        bind(tmp_path / "other", tmp_path / "mqm")
        return before, _workspace.Preflight(str(path), (), expected).refusals

    before, (refusal,) = in_own_namespace(body)
    assert before == []
    assert refusal == (f"{path} is on the mount point {tmp_path}/mqm, but workspace_expect_mount is {expected}")


def test_a_directory_whose_mount_is_hidden_is_not_cleaned_up(tmp_path):
    path = tmp_path / "mqm/log/ws"

    def body():
        plain(tmp_path)
        path.mkdir()
        run = _runs.Run(str(tmp_path / "state"), "R1", "log")
        run.create()
        run.write_start({"paths": [str(path)]})
        there = run.missing_mounts()
        bind(tmp_path / "other", tmp_path / "mqm")
        return there, run.missing_mounts()

    assert in_own_namespace(body) == [{}, {str(path): str(tmp_path / "mqm/log")}]


def test_what_this_user_may_not_look_up_is_unknown(tmp_path):
    """The mount of the nearest directory that the user can see would be a guess."""

    def body():
        plain(tmp_path)
        closed = tmp_path / "mqm"
        closed.chmod(0)
        os.seteuid(65534)
        try:
            return _mounts.mount_of(str(closed / "log/ws"))
        finally:
            os.seteuid(0)

    if os.geteuid():
        pytest.skip("only root can become another user")
    tmp_path.chmod(0o755)
    for directory in (tmp_path, *tmp_path.parents)[:3]:
        directory.chmod(0o755)
    assert in_own_namespace(body) == {}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_running_queue_manager_of_a_mount_is_found_although_its_storage_hangs(tmp_path, monkeypatch, layout):
    """The mount of storage that does not answer is determined from the tree of mounts alone."""
    monkeypatch.setattr(_queue_managers, "running_queue_managers", lambda: ["QM1"])
    monkeypatch.setattr(_queue_managers, "open_log_file_systems", set)
    monkeypatch.setattr(_workspace, "DEVICE_LIMIT_S", 0.3)
    path = tmp_path / "mqm/log/QM1"

    def hang(where, real=_mounts.mount_at):
        return os.read(os.pipe()[0], 1) if where == str(path) else real(where)

    def body():
        layout(tmp_path)
        (tmp_path / "mqm/log").mkdir(exist_ok=True)
        path.mkdir()
        monkeypatch.setattr(_queue_managers, "configured_log_paths", lambda mqs_ini: ({"QM1": str(path)}, []))
        known = _mounts.mount_of(str(path))
        monkeypatch.setattr(_mounts, "mount_at", hang)
        here, elsewhere = (
            _workspace.Preflight(str(each), ()).refusals for each in (path.parent / "ws", tmp_path / "ws")
        )
        return [known == _mounts.mount_by_name(str(path)), here, elsewhere]

    same, here, elsewhere = in_own_namespace(body)
    assert (same, ["active_log" in text for text in here], elsewhere) == (True, [True], [])
