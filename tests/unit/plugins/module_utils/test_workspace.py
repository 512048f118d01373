# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import pwd
import resource
import shutil
import struct
from types import SimpleNamespace

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _marks, _mounts, _queue_managers, _workspace

RUN = "20261121T104935Z-1f0c2a"
CONFIGURED_LOG_PATHS = _queue_managers.configured_log_paths


@pytest.fixture(autouse=True)
def _no_queue_manager_on_this_machine(monkeypatch):
    monkeypatch.setattr(_queue_managers, "running_queue_managers", list)
    monkeypatch.setattr(_queue_managers, "open_log_file_systems", set)
    monkeypatch.setattr(_queue_managers, "sees_processes", lambda: True)
    monkeypatch.setattr(_queue_managers, "configured_log_paths", lambda mqs_ini: ({}, []))


def make(path, names=("QM1",), owner="", allow=()):
    plan = _workspace.layout(str(path), RUN, "log", list(names))
    return _workspace.make(plan, RUN, owner, allow)


def preflight(path, allow=(), **more):
    return _workspace.Preflight(str(path), allow, **more)


@pytest.mark.parametrize("name, folder", [("QM1", "QM1"), ("a/b", "a&b"), ("..", "!!"), ("QM.PROD%1", "QM!PROD%1")])
def test_a_queue_manager_gets_a_folder_as_mq_names_it(name, folder):
    assert _workspace.directory_name(name) == folder


@pytest.mark.parametrize("name", ["", "a b", "a\n", "x" * 49, "é", "a,b"])
def test_what_is_no_queue_manager_name_is_refused(name):
    with pytest.raises(_workspace.WorkspaceError, match="queue manager name"):
        _workspace.directory_name(name)


def test_a_thousand_queue_managers_need_no_thousand_descriptors(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 20, hard))
    try:
        made = make(tmp_path / "ws", [f"QM{number}" for number in range(1000)])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert all(os.path.isdir(directory) for directory in made["directories"])


@pytest.mark.parametrize("path", ["relative", "/", "/a/../b", "/a//b", "/a/", "/a,b", "/a\nb"])
def test_a_path_that_is_not_plain_is_refused(path):
    with pytest.raises(_workspace.WorkspaceError, match="workspace_path"):
        _workspace.layout(path, RUN, "log", ["QM1"])


def test_two_names_with_one_folder_are_refused():
    with pytest.raises(_workspace.WorkspaceError, match="twice"):
        _workspace.layout("/x", RUN, "log", ["QM1", "QM1"])


def test_places_have_a_folder_of_their_own_name_and_queue_managers_none():
    assert _workspace.layout("/x", RUN, "log", ["QM1"], ["asu-1", "wal.d"])["directories"] == [
        f"/x/logdisk-{RUN}-log/{name}" for name in ("asu-1", "wal.d")
    ]


@pytest.mark.parametrize("name", ["", ".", "..", "-x", "a/b", "a+b", "a,b", "x" * 33])
def test_what_is_no_name_of_a_place_is_refused(name):
    with pytest.raises(_workspace.WorkspaceError, match="name of a place"):
        _workspace.layout("/x", RUN, "log", [], [name])


@pytest.mark.parametrize("volume", ["log data", "a/b", "../x", "a,b", "é", "x\n", "x" * 121])
def test_a_volume_whose_run_could_not_start_is_refused(volume):
    with pytest.raises(_workspace.WorkspaceError, match="workspace_volume"):
        _workspace.layout("/x", RUN, volume, ["QM1"])


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
    for name in ("logdisk.0001", "logdisk.asu-1.0001", "logdisk.acknowledge", ".nfs0000000a"):
        open(os.path.join(made["directories"][0], name), "w").close()
    strange = os.path.join(made["directories"][0], "strange")
    open(strange, "w").close()
    removed, left = _workspace.remove(made["path"], made["run_directory"])
    assert removed == [] and left == [made["directories"][0]] and os.listdir(made["directories"][0]) == ["strange"]
    os.unlink(strange)
    assert _workspace.remove(made["path"], made["run_directory"])[1] == []


def test_a_directory_that_another_host_removes_at_the_same_time_is_not_left(tmp_path, monkeypatch):
    made = make(tmp_path / "ws")

    def removed_in_between(directory, removable):
        shutil.rmtree(directory)
        raise _marks.MarkError("it does not have the mark of this collection")

    monkeypatch.setattr(_marks, "remove_marked", removed_in_between)
    assert _workspace.remove(made["path"], made["run_directory"])[1] == []


def test_files_of_a_test_of_locks_are_removed_and_strange_files_are_not(tmp_path):
    made = make(tmp_path / "ws")
    for name in ("pair1-lock", "pair12-many7-0511", ".nfs0000000a", "pair1-log", "lock", "pair1-lock.old"):
        open(os.path.join(made["run_directory"], name), "w").close()
    os.symlink("/etc/passwd", os.path.join(made["run_directory"], "pair2-lock"))
    removed, left = _workspace.remove(made["path"], made["run_directory"])
    assert removed == [] and {os.path.basename(path) for path in left} == {"lock", "pair1-lock.old", "pair2-lock"}
    assert os.listdir(made["run_directory"]) != []


def test_an_unmarked_run_directory_is_left_alone(tmp_path):
    made = make(tmp_path / "ws")
    os.unlink(os.path.join(made["run_directory"], _marks.MARK_NAME))
    removed, left = _workspace.remove(made["path"], made["run_directory"])
    assert removed == [] and "not have the mark" in left[0]


def test_a_workspace_that_is_there_already_is_neither_taken_over_nor_removed(tmp_path):
    made = make(tmp_path / "ws")
    with pytest.raises(_workspace.WorkspaceError, match="cannot create"):
        make(tmp_path / "ws")
    assert os.path.isdir(made["directories"][0]) and _marks.read_mark(made["run_directory"])


def test_what_was_made_is_undone_where_a_step_fails(tmp_path):
    plan = _workspace.layout(str(tmp_path / "ws"), RUN, "log", ["QM1"])
    with pytest.raises(_workspace.WorkspaceError, match="cannot create"):
        _workspace.make(plan, RUN, "nobody-of-this-name")
    assert os.listdir(str(tmp_path)) == []


def swap(directory, target):
    """An action that another user can perform on a path whose parent directory is writable for that user."""
    os.rename(directory, directory + ".old")
    os.symlink(str(target), directory)


def after(monkeypatch, function, name, act):
    """Call ``act`` once, after ``os.<function>`` was called for an entry ``name``."""
    real, done = getattr(os, function), []

    def wrapper(path, *arguments, **more):
        result = real(path, *arguments, **more)
        if os.path.basename(path) == name and not done:
            done.append(act())
        return result

    monkeypatch.setattr(os, function, wrapper)


@pytest.fixture
def victim(tmp_path):
    """A directory that must not be touched."""
    directory = tmp_path / "victim"
    directory.mkdir()
    directory.chmod(0o711)
    yield directory
    assert directory.stat().st_mode & 0o7777 == 0o711 and os.listdir(str(directory)) == []


@pytest.mark.parametrize("link, path", [("ws", "ws"), ("up", "up/ws")])
def test_no_link_that_came_after_the_preflight_is_followed(tmp_path, victim, link, path):
    (tmp_path / link).symlink_to(victim)
    with pytest.raises(_workspace.WorkspaceError, match="%s is a symlink" % link):
        make(tmp_path / path)


@pytest.mark.parametrize("link, path", [("ws", "ws"), ("up", "up/ws")])
def test_a_link_is_followed_where_that_is_allowed(tmp_path, link, path):
    (tmp_path / "real").mkdir()
    (tmp_path / link).symlink_to(tmp_path / "real")
    made = make(tmp_path / path, allow=["symlink"])
    assert os.path.realpath(made["directories"][0]).startswith(str(tmp_path / "real"))
    assert _workspace.remove(made["path"], made["run_directory"])[1] == [] and os.listdir(str(tmp_path / "real")) == []


@pytest.mark.parametrize("name", ["ws", "logdisk-%s-log" % RUN, "QM1"])
def test_a_directory_exchanged_while_it_is_made_is_found_out(tmp_path, victim, monkeypatch, name):
    paths = {
        os.path.basename(path): path
        for path in (
            str(tmp_path / "ws"),
            str(tmp_path / "ws" / ("logdisk-%s-log" % RUN)),
            str(tmp_path / "ws" / ("logdisk-%s-log" % RUN) / "QM1"),
        )
    }
    after(monkeypatch, "mkdir", name, lambda: swap(paths[name], victim))
    with pytest.raises(_workspace.WorkspaceError, match="is a symlink"):
        make(tmp_path / "ws", owner=pwd.getpwuid(os.geteuid()).pw_name)


def test_what_is_exchanged_later_is_not_what_is_given_away(tmp_path, victim, monkeypatch):
    run = str(tmp_path / "ws" / ("logdisk-%s-log" % RUN))
    given = []
    for function in ("chown", "fchown"):
        monkeypatch.setattr(
            os, function, lambda path, *dummy, **more: given.append(os.stat(path, dir_fd=more.get("dir_fd")).st_ino)
        )
    inodes = []

    def swap_all():
        inodes.extend(os.stat(path).st_ino for path in (run, str(tmp_path / "ws")))
        swap(run, victim)

    after(monkeypatch, "mkdir", "QM1", swap_all)
    make(tmp_path / "ws", owner=pwd.getpwuid(os.geteuid()).pw_name)
    assert set(inodes) < set(given) and victim.stat().st_ino not in given


def test_a_full_directory_put_in_place_of_a_new_one_is_not_taken(tmp_path, monkeypatch):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "file").write_text("precious")

    def exchange():
        os.rmdir(str(tmp_path / "ws"))
        os.rename(str(tmp_path / "theirs"), str(tmp_path / "ws"))

    after(monkeypatch, "mkdir", "ws", exchange)
    with pytest.raises(_workspace.WorkspaceError, match="replaced"):
        make(tmp_path / "ws")
    assert os.listdir(str(tmp_path / "ws")) == ["file"]


@pytest.mark.parametrize(
    "mode, allow, refused",
    [
        (0o777, (), True),
        (0o775, (), True),
        (0o777, ("shared_directory",), False),
        (0o1777, (), False),
        (0o755, (), False),
    ],
)
def test_a_directory_that_appeared_after_the_preflight_is_looked_at(tmp_path, mode, allow, refused):
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws").chmod(mode)
    if refused:
        with pytest.raises(_workspace.WorkspaceError, match="writable by group or others"):
            make(tmp_path / "ws", allow=allow)
        assert os.listdir(str(tmp_path / "ws")) == []
    else:
        assert not make(tmp_path / "ws", allow=allow)["made_path"]
    assert (tmp_path / "ws").stat().st_mode & 0o7777 == mode


@pytest.mark.parametrize(
    "mode, uid, shared",
    [
        (0o755, 0, ""),
        (0o755, 4711, ""),
        (0o755, os.geteuid(), ""),
        (0o1777, 0, ""),
        (0o755, 4712, "uid 4712"),
        (0o1777, 4712, "uid 4712"),
        (0o775, 0, "group or others"),
        (0o757, 0, "group or others"),
    ],
)
def test_who_else_may_change_a_directory_is_said(mode, uid, shared):
    found = _workspace.why_shared("/x", SimpleNamespace(st_mode=mode, st_uid=uid), 4711)
    assert shared in found and bool(found) is bool(shared)


def test_a_base_that_another_run_made_meanwhile_is_shared_with_it(tmp_path, monkeypatch):
    real = os.mkdir

    def twice(path, mode=0o777, **more):
        if os.path.basename(path) == "ws":
            real(path, mode, **more)
        real(path, mode, **more)

    monkeypatch.setattr(os, "mkdir", twice)
    assert not make(tmp_path / "ws")["made_path"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives away")
def test_all_that_was_made_is_given_to_the_owner(tmp_path):
    made = make(tmp_path / "ws", owner="nobody")
    paths = [made["path"], made["run_directory"], *made["directories"]]
    paths.extend([os.path.join(path, _marks.MARK_NAME) for path in paths[:2]])
    assert {os.stat(path).st_uid for path in paths} == {pwd.getpwnam("nobody").pw_uid}
    assert [os.stat(path).st_mode & 0o7777 for path in paths[:3]] == [0o755, 0o700, 0o700]


def test_no_descriptor_stays_open(tmp_path):
    before = os.listdir("/proc/self/fd")
    made = make(tmp_path / "ws")
    with pytest.raises(_workspace.WorkspaceError):
        make(tmp_path / "ws")
    _workspace.remove(made["path"], made["run_directory"])
    assert len(os.listdir("/proc/self/fd")) == len(before)


def test_leftovers_are_not_looked_for_behind_a_link(tmp_path, monkeypatch):
    made = make(tmp_path / "ws")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "logdisk.0001").write_text("precious")
    real, calls = os.listdir, []

    def listdir(path):
        calls.append(path)
        if len(calls) == 2:  # the first is the run's directory, the second a queue manager's
            swap(made["directories"][0], tmp_path / "theirs")
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    _workspace.remove(made["path"], made["run_directory"])
    assert len(calls) >= 2 and (tmp_path / "theirs" / "logdisk.0001").read_text() == "precious"


def test_what_only_root_may_remove_is_left_with_its_mark(tmp_path, monkeypatch):
    made = make(tmp_path / "ws")
    monkeypatch.setattr(os, "access", lambda *dummy, **more: False)
    removed, left = _workspace.remove(made["path"], made["run_directory"])
    assert removed == [] and made["run_directory"] in left[0] and "with privilege" in left[0]
    monkeypatch.undo()
    assert _workspace.remove(made["path"], made["run_directory"]) == ([made["run_directory"], made["path"]], [])


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


@pytest.mark.parametrize(
    "footprint, reserve, refused", [(1 << 20, 0, False), (1 << 60, 0, True), (1, 1 << 60, True), (1, 0.9999, True)]
)
def test_what_does_not_fit_with_its_reserve_is_refused(tmp_path, footprint, reserve, refused):
    facts = preflight(tmp_path).facts
    assert [
        " free, but the test needs " in text
        for text in _workspace.space_refusals({("log", "/a"): footprint}, {("log", "/a"): facts}, reserve).values()
    ] == [True] * refused


MIB = 1 << 20
SPACE = {
    "device_number": "8:1",
    "mount_point": "/a",
    "filesystem_free_bytes": 100 * MIB,
    "filesystem_size_bytes": 200 * MIB,
}
OTHER = {**SPACE, "device_number": "8:2", "mount_point": "/b"}
ZFS = {**SPACE, "filesystem_type": "zfs", "mount_source": "tank/a"}
ZFS_OTHER = {
    **ZFS,
    "device_number": "8:2",
    "mount_point": "/b",
    "mount_source": "tank/b",
    "filesystem_free_bytes": 110 * MIB,
}


@pytest.mark.parametrize(
    "needed_mib, facts, reserve, refused",
    [
        ((60, 60), (SPACE, OTHER), 0, []),
        ((50, 50), (SPACE, SPACE), 0, []),
        ((60, 60), (SPACE, SPACE), 0, ["log0", "log1"]),
        ((45, 46), (SPACE, SPACE), 0.05, ["log0", "log1"]),
        ((45, 45), (SPACE, SPACE), 0.05, []),
        ((60, 60, 60), (SPACE, OTHER, SPACE), 0, ["log0", "log2"]),
        ((60, 60), ({**SPACE, "device_number": None}, {**OTHER, "device_number": None}), 0, []),
        ((101, 1), (SPACE, OTHER), 0, ["log0"]),
        ((50, 51), (ZFS_OTHER, ZFS), 0, ["log0", "log1"]),
        ((50, 51), ({**ZFS_OTHER, "mount_source": "pool2"}, ZFS), 0, []),
    ],
)
def test_volumes_on_one_file_system_must_fit_there_together(needed_mib, facts, reserve, refused):
    keys = [("log%d" % number, "/a") for number in range(len(facts))]
    found = _workspace.space_refusals(
        {key: mib * MIB for key, mib in zip(keys, needed_mib)}, dict(zip(keys, facts)), reserve
    )
    assert sorted(name for name, dummy in found) == refused
    together = (
        ["the tests of the volumes %s together need" % ", ".join(refused)] if len(refused) > 1 else ["the test needs"]
    )
    assert all(text.startswith("/a has 100 MiB free, but %s" % together[0]) for text in found.values())


def test_paths_of_a_volume_on_one_file_system_count_together():
    paths = [("log", "/a/x"), ("log", "/a/y")]
    found = _workspace.space_refusals(dict.fromkeys(paths, 60 * MIB), dict.fromkeys(paths, SPACE), 0)
    assert sorted(found) == paths and all("but the test needs 120 MiB" in text for text in found.values())


def test_a_queue_managers_files_are_refused(tmp_path):
    (tmp_path / "active").mkdir()
    (tmp_path / "active" / "S0000001.LOG").write_text("")
    assert any("queue_manager_files" in text for text in preflight(tmp_path / "ws").refusals)
    assert preflight(tmp_path / "ws", allow=["queue_manager_files"]).refusals == []


def test_another_mount_than_expected_is_refused(tmp_path):
    assert any("workspace_expect_mount" in text for text in preflight(tmp_path, expect_mount="/nowhere").refusals)
    point = preflight(tmp_path).facts["mount_point"]
    assert preflight(tmp_path, expect_mount="/nowhere, " + point).refusals == []


def test_a_missing_parent_is_refused(tmp_path):
    assert any("mounted" in text for text in preflight(tmp_path / "a" / "b").refusals)


@pytest.mark.parametrize(
    "log_path, override", [("", None), ("/dev/shm", None), ("here", "active_log"), ("gone/QM1", "unknown_log")]
)
def test_a_running_queue_managers_log_is_placed_or_refused(tmp_path, monkeypatch, log_path, override):
    place = str(tmp_path / log_path) if log_path else ""
    (tmp_path / "here").mkdir()
    monkeypatch.setattr(_queue_managers, "running_queue_managers", lambda: ["QM1"] if log_path else [])
    monkeypatch.setattr(
        _queue_managers, "configured_log_paths", lambda mqs_ini: ({"QM1": place, "QM2": "/not/running"}, [])
    )
    if place == "/dev/shm" and os.stat(place).st_dev == os.stat(str(tmp_path)).st_dev:
        pytest.skip("one file system")
    refusals = preflight(tmp_path / "ws").refusals
    assert [override in text and "QM1" in text for text in refusals] == ([True] if override else [])
    assert preflight(tmp_path / "ws", allow=[override]).refusals == []


def test_the_queue_managers_of_an_mqs_ini_elsewhere_are_known(tmp_path, monkeypatch):
    mqs_ini = tmp_path / "opt/mqs.ini"
    (tmp_path / "opt/qmgrs/QM1").mkdir(parents=True)
    mqs_ini.write_text(f"QueueManager:\n  Name=QM1\n  Prefix={tmp_path}/opt\n  Directory=QM1\n")
    (tmp_path / "opt/qmgrs/QM1/qm.ini").write_text(f"Log:\n  LogPath={tmp_path}\n")
    monkeypatch.setattr(_queue_managers, "running_queue_managers", lambda: ["QM1"])
    monkeypatch.setattr(_queue_managers, "configured_log_paths", CONFIGURED_LOG_PATHS)
    (refusal,) = preflight(tmp_path / "ws", mqs_ini=str(mqs_ini)).refusals
    assert "the running queue manager QM1 logs to this file system" in refusal


def test_the_queue_managers_whose_log_is_on_the_file_system_are_named(tmp_path, monkeypatch):
    """A log that is not there looks like the empty mount point of another file system."""
    for name, file in (("QM1", "amqhlctl.lfh"), ("QM2", "active/S0000000.LOG"), ("QM3", "qm.ini"), ("OTHER", "")):
        (tmp_path / name / "active").mkdir(parents=True)
        (tmp_path / name / file).touch()
    paths = {name: str(tmp_path / name) for name in ("QM1", "QM2", "QM3", "OTHER", "GONE")}
    monkeypatch.setattr(
        _queue_managers, "configured_log_paths", lambda mqs_ini: ({**paths, "ELSEWHERE": "/proc/self"}, [])
    )
    monkeypatch.setattr(
        _queue_managers, "has_log", lambda path, own=_queue_managers.has_log: path == "/proc/self" or own(path)
    )
    found = preflight(tmp_path / "ws")
    assert found.logs_here(["ELSEWHERE", "GONE", "QM3", "QM2", "QM1", "unknown"]) == ["QM1", "QM2"]
    assert found.logs_here(["QM2"]) == ["QM2"] and found.logs_here([]) == []


def test_a_log_path_that_this_user_may_not_look_up_is_unknown(tmp_path, monkeypatch):
    def mount_at(path):
        if path == "/closed/log/QM1/":
            raise PermissionError(13, "Permission denied")
        return real(path)

    real = _mounts.mount_at
    monkeypatch.setattr(_queue_managers, "running_queue_managers", lambda: ["QM1"])
    monkeypatch.setattr(_queue_managers, "configured_log_paths", lambda mqs_ini: ({"QM1": "/closed/log/QM1/"}, []))
    monkeypatch.setattr(_mounts, "mount_at", mount_at)
    assert ["(QM1)" in text and "unknown_log" in text for text in preflight(tmp_path / "ws").refusals] == [True]


def test_why_a_log_path_is_unknown_is_said_with_the_refusal(tmp_path, monkeypatch):
    unknown = ["the log path of queue manager QM (other)", "the log path of queue manager QM1 (qm.ini cannot be read)"]
    monkeypatch.setattr(_queue_managers, "running_queue_managers", lambda: ["QM1"])
    monkeypatch.setattr(_queue_managers, "configured_log_paths", lambda mqs_ini: ({}, unknown))
    (refusal,) = preflight(tmp_path / "ws").refusals
    assert "(QM1); unknown: the log path of queue manager QM1 (qm.ini cannot be read); to override" in refusal


@pytest.mark.parametrize(
    "unknown", [[], ["the log path of queue manager QM2 (/data/QM2/qm.ini cannot be read by mq: act as mqm)"]]
)
def test_a_queue_manager_that_mqs_ini_does_not_list_is_found_by_another_mqs_ini(tmp_path, monkeypatch, unknown):
    """With MQ_OVERRIDE_DATA_PATH, there may be no /var/mqm/mqs.ini, or one of other queue managers."""
    monkeypatch.setattr(_queue_managers, "running_queue_managers", lambda: ["QM1"])
    monkeypatch.setattr(_queue_managers, "configured_log_paths", lambda mqs_ini: ({}, unknown))
    (refusal,) = preflight(tmp_path / "ws", mqs_ini="/var/mqm/mqs.ini").refusals
    assert refusal == (
        "the log path of running queue managers cannot be determined (QM1); /var/mqm/mqs.ini does not list it: set "
        "workspace_mqs_ini to the mqs.ini of this queue manager. If MQ_OVERRIDE_DATA_PATH is set for MQ, this file is "
        "in that directory; to override: workspace_allow: [unknown_log]"
    )


def test_open_extents_are_only_mentioned_without_a_name(tmp_path, monkeypatch):
    monkeypatch.setattr(
        _queue_managers, "open_log_file_systems", lambda: {_mounts.mount_of(str(tmp_path))["device_number"]}
    )
    assert ["extents open" in text for text in preflight(tmp_path / "ws").refusals] == [True]
    monkeypatch.setattr(_queue_managers, "running_queue_managers", lambda: ["QM1"])
    monkeypatch.setattr(_queue_managers, "configured_log_paths", lambda mqs_ini: ({"QM1": str(tmp_path)}, []))
    assert ["the running queue manager QM1 logs" in text for text in preflight(tmp_path / "ws").refusals] == [True]


@pytest.mark.parametrize("names, refused, unknown", [(["QM1", "QM2"], True, False), ([], False, True)])
def test_hidden_processes_may_be_queue_managers(tmp_path, monkeypatch, names, refused, unknown):
    monkeypatch.setattr(_queue_managers, "sees_processes", lambda: False)
    monkeypatch.setattr(_queue_managers, "configured_queue_managers", lambda mqs_ini: names)
    found = preflight(tmp_path / "ws")
    assert [", ".join(names) in text and "unknown_log" in text for text in found.refusals] == [True] * refused
    assert [text for text in found.unknown if "hidepid" in text] == found.unknown and bool(found.unknown) is unknown
    assert preflight(tmp_path / "ws", allow=["unknown_log"]).refusals == []


def test_a_file_server_is_asked_for_the_locks_of_few_files(tmp_path, monkeypatch):
    """A slow one may take seconds for each of them."""
    asked = []
    many = ["pair1-many%d-%04d" % (locker, number) for locker in range(2) for number in range(9)]
    for name in ("pair1-lock", "pair1-nonce", *many):
        (tmp_path / name).write_text("")
    unlocked = struct.pack("h", _workspace.fcntl.F_UNLCK)
    monkeypatch.setattr(_workspace.fcntl, "fcntl", lambda *_arguments: asked.append(1) or unlocked)
    assert not _workspace.in_use(str(tmp_path))
    assert len(asked) == 2
