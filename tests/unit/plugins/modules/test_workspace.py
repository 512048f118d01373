# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The workspaces of several volumes: a problem with one does not affect the others."""

from __future__ import annotations

import os
import time

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import (
    _machine,
    _marks,
    _queue_managers,
    _workspace,
    _workspaces,
)

RUN = "20261121T104935Z-1f0c2a"


@pytest.fixture(autouse=True)
def _no_queue_manager_on_this_machine(monkeypatch):
    monkeypatch.setattr(_queue_managers, "running_queue_managers", list)
    monkeypatch.setattr(_queue_managers, "open_log_file_systems", set)
    monkeypatch.setattr(_queue_managers, "sees_processes", lambda: True)


def part(path, *places):
    return {"path": str(path), "places": list(places), "footprint_bytes": 1 << 20, "direct_sizes": []}


@pytest.fixture
def options(tmp_path):
    """The options of the module for three volumes on one file system."""

    def of_volume(name):
        path = str(tmp_path / name / "ws")
        os.makedirs(os.path.dirname(path))
        return {"name": name, "queue_managers": ["QM1"], "expect_mount": "", "parts": [part(path)], "devices": []}

    return {
        "run_id": RUN,
        "volumes": [of_volume(name) for name in ("a", "b", "c")],
        "state_dir": str(tmp_path / "state"),
        "owner": "",
        "reserve_bytes": 0,
        "reserve_share": None,
        "may_ask_for_privilege": True,
        "patience_s": 10,
        "allow": [],
        "mqs_ini": str(tmp_path / "mqs.ini"),
        "settings": [],
    }


def outcome(options):
    found = _workspaces.inspect_all(options, None)
    _workspaces.make_all(options, found)
    made = sorted(volume["name"] for volume in options["volumes"] if os.path.isdir(volume["parts"][0]["path"]))
    return found, made


def test_a_refused_volume_costs_its_neighbours_nothing(options):
    first, second, _third = options["volumes"]
    first["parts"] = [part("not/absolute")]
    second["expect_mount"] = "/nowhere"
    found, made = outcome(options)
    assert made == ["c"]
    assert found["a"]["error"].startswith("workspace_path must be an absolute") and found["b"]["error"].startswith(
        "refused: "
    )


def test_volumes_on_one_file_system_count_together_unless_they_are_refused(options):
    for volume in options["volumes"]:
        volume["parts"][0]["footprint_bytes"] = int(
            _workspaces.inspect_all(options, None)["a"]["facts"]["filesystem_free_bytes"] * 0.45
        )
    found, made = outcome(options)
    assert made == [] and all(
        "the tests of the volumes a, b, c together need" in volume["error"] for volume in found.values()
    )
    options["volumes"][1]["expect_mount"] = "/nowhere"
    found, made = outcome(options)
    assert made == ["a", "c"] and "workspace_expect_mount" in found["b"]["error"]


@pytest.mark.parametrize(("may_ask", "wanted", "said"), [(True, True, ""), (False, True, "this user cannot write to ")])
def test_a_volume_that_this_user_may_not_write_to_waits_for_privilege_or_is_refused(
    options, monkeypatch, may_ask, wanted, said
):
    denied = os.path.dirname(options["volumes"][1]["parts"][0]["path"])
    monkeypatch.setattr(_workspace.Preflight, "needs_privilege", lambda preflight: preflight.existing == denied)
    found, made = outcome({**options, "may_ask_for_privilege": may_ask})
    assert made == ["a", "c"] and found["b"]["needs_privilege"] is wanted
    assert found["b"]["error"].startswith(said) and bool(found["b"]["error"]) is bool(said)


@pytest.mark.parametrize("function", ["Preflight", "make"])
def test_a_file_system_that_does_not_answer_costs_its_neighbours_nothing(options, monkeypatch, function):
    real, hanging = getattr(_workspace, function), options["volumes"][1]["parts"][0]["path"]

    def hang(place, *arguments):
        time.sleep(6 if hanging in (place, place["path"] if isinstance(place, dict) else "") else 0)
        return real(place, *arguments)

    monkeypatch.setattr(_workspace, function, hang)
    found, made = outcome({**options, "patience_s": 3})
    assert made == ["a", "c"]
    assert found["b"]["error"].startswith("the file system of %s did not answer (no answer within 3 s): " % hanging)
    time.sleep(4)  # anything created too late is removed again
    assert not os.path.exists(hanging)


# A volume with several paths


@pytest.fixture
def several(options, tmp_path):
    """The options for one volume with three paths, each below a directory that exists."""
    paths = [tmp_path / "mnt" / name / "logdisk" for name in ("1", "2", "3")]
    for path in paths:
        path.parent.mkdir(parents=True)
    parts = [part(paths[0], "asu1", "asu3"), part(paths[1], "asu2"), part(paths[2], "asu2")]
    return {**options, "volumes": [{**options["volumes"][0], "parts": parts}]}


def answer(options):
    found = _workspaces.inspect_all(options, None)
    _workspaces.make_all(options, found)
    return found["a"]


def on_mounts(options):
    return [each for part in options["volumes"][0]["parts"] for each in os.listdir(os.path.dirname(part["path"]))]


def test_a_queue_manager_whose_log_is_on_any_path_of_a_volume_was_tested(several, monkeypatch):
    here = {"1": [], "2": ["QM1"], "3": ["QM1", "QM2"]}
    several["volumes"][0]["queue_managers"] = ["QM1", "QM2", "QM3"]

    def logs_here(preflight, names):
        return [name for name in here[preflight.path.split("/")[-2]] if name in names]

    monkeypatch.setattr(_workspace.Preflight, "logs_here", logs_here)
    assert answer(several)["facts"]["queue_manager_logs"] == "QM1 QM2"


def test_a_volume_has_a_directory_for_each_place_on_each_of_its_paths(several):
    found = answer(several)
    assert found["error"] == ""
    made = [[os.path.basename(directory) for directory in part["directories"]] for part in found["workspace"]["parts"]]
    assert made == [["asu1", "asu3"], ["asu2"], ["asu2"]] and on_mounts(several) == ["logdisk"] * 3
    point = found["facts"]["mount_point"]
    assert [where.split(" (")[0] for where in found["facts"]["places"].split("; ")] == [
        f"asu1 and asu3 on {point}",
        f"asu2 on {point}",
        f"asu2 on {point}",
    ]


def test_what_is_wrong_with_one_path_refuses_the_volume_on_all(several, tmp_path):
    (tmp_path / "mnt/2/active").mkdir()
    (tmp_path / "mnt/2/active/S0000001.LOG").write_text("")
    found = answer(several)
    assert (
        found["error"].startswith(f"refused: {tmp_path}/mnt/2 contains a queue manager's files")
        and found["error"].count("refused") == 1
    )
    assert on_mounts(several) == ["active"]


def test_the_paths_of_a_volume_must_fit_on_one_file_system_together(several):
    free = _workspaces.inspect_all(several, None)["a"]["facts"]["filesystem_free_bytes"]
    for each in several["volumes"][0]["parts"]:
        each["footprint_bytes"] = int(free * 0.45)
    assert "but the test needs" in answer(several)["error"] and on_mounts(several) == []


def test_a_path_that_cannot_be_made_undoes_the_others(several, monkeypatch):
    real, failing = _workspace.make, several["volumes"][0]["parts"][2]["path"]

    def fail(plan, *more):
        if plan["path"] == failing:
            raise _workspace.WorkspaceError("no room")
        return real(plan, *more)

    monkeypatch.setattr(_workspace, "make", fail)
    assert answer(several)["error"] == "no room"
    assert on_mounts(several) == []


def test_what_cannot_be_undone_is_said(several, monkeypatch):
    real, failing = _workspace.make, several["volumes"][0]["parts"][2]["path"]

    def disturb(plan, *more):
        if plan["path"] == failing:
            raise _workspace.WorkspaceError("no room")
        made = real(plan, *more)
        open(os.path.join(made["run_directory"], "strange"), "w").close()
        return made

    monkeypatch.setattr(_workspace, "make", disturb)
    left = answer(several)["error"].split("; ")
    assert left[0] == "no room" and [text.rpartition("/")[2] for text in left[1:]] == ["strange", "strange"]


def test_one_path_that_wants_privilege_makes_the_volume_wait_for_it(several, monkeypatch):
    denied = os.path.dirname(several["volumes"][0]["parts"][1]["path"])
    monkeypatch.setattr(_workspace.Preflight, "needs_privilege", lambda preflight: preflight.existing == denied)
    found = answer(several)
    assert (found["error"], found["needs_privilege"], on_mounts(several)) == ("", True, [])
    assert answer({**several, "may_ask_for_privilege": False})["error"].startswith(
        f"this user cannot write to {denied}/logdisk: "
    )


def test_a_volume_of_devices_alone_has_no_directory(several):
    several["volumes"][0].update(parts=[], devices=[{"place": "data", "path": "/dev/disk/by-id/none"}])
    found = answer(several)
    assert (found["error"], found["workspace"], found["disks"]) == ("", {"parts": []}, [])
    assert found["facts"]["places"] == "data is the device /dev/disk/by-id/none"


OLD_RUN = "20261120T104935Z-1f0c2a"


def left_by_another_run(options, age_s):
    """Return the directory that a run, which ended before its tester started, left in the workspace of volume a."""
    path = options["volumes"][0]["parts"][0]["path"]
    directory = _workspace.make(_workspace.layout(path, OLD_RUN, "a", ["QM1", "QM2"]), OLD_RUN, "")["run_directory"]
    os.utime(directory, (time.time() - age_s, time.time() - age_s))
    return directory


def test_a_run_removes_the_workspaces_of_runs_that_never_started(options):
    left = left_by_another_run(options, age_s=7200)
    found, _made = outcome(options)
    (where,) = found["a"]["workspace"]["parts"]
    assert not os.path.exists(left) and os.path.isdir(where["run_directory"])
    # The path now belongs to this run, which removes it at the end.
    assert where["made_path"]


@pytest.mark.parametrize(
    "what", ["young", "known", "another machine", "in use", "a file", "no mark", "no state directory"]
)
def test_a_workspace_that_may_belong_to_somebody_is_kept(options, monkeypatch, what):
    with monkeypatch.context() as patch:
        if what == "another machine":
            patch.setattr(_machine, "identity", lambda: {"machine_id": "", "boot_id": "x", "hostname": "db08"})
        left = left_by_another_run(options, age_s=0 if what == "young" else 7200)
    if what == "known":  # as between two rounds of a search, and after a power cut
        os.makedirs(os.path.join(options["state_dir"], "runs", f"{OLD_RUN}-a"))
    elif what == "in use":
        monkeypatch.setattr(_workspace, "in_use", lambda directory: directory == left)
    elif what == "a file":
        with open(os.path.join(left, "QM1", "logdisk.0001"), "w"):
            os.utime(left, (0, 0))
    elif what == "no mark":
        os.unlink(os.path.join(left, _marks.MARK_NAME))
        os.utime(left, (0, 0))
    elif what == "no state directory":
        options["state_dir"] = ""
    found, _made = outcome(options)
    assert (
        os.path.isdir(os.path.join(left, "QM1"))
        and os.path.isdir(os.path.join(left, "QM2"))
        and found["a"]["error"] == ""
    )


def test_a_path_that_another_host_removes_because_it_is_empty_is_created_again(tmp_path, monkeypatch):
    base, removed = _workspace._Making.base, []

    def removed_once(making, path, run_id):
        descriptor = base(making, path, run_id)
        if not removed:
            removed.append(path)
            _workspace.remove(path, path + "/none")
        return descriptor

    monkeypatch.setattr(_workspace._Making, "base", removed_once)
    path = str(tmp_path / "ws")
    found = _workspace.make(_workspace.layout(path, OLD_RUN, "a", ["QM1"]), OLD_RUN, "")
    assert (removed, found["made_path"], os.path.isdir(found["directories"][0])) == ([path], True, True)
