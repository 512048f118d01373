# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The workspaces of several volumes: what is wrong with one of them concerns it alone."""

from __future__ import annotations

import os
import time

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _queue_managers, _workspace
from ansible_collections.mqops.logdisk.plugins.modules import workspace

RUN = "20261121T104935Z-1f0c2a"


@pytest.fixture(autouse=True)
def _no_queue_manager_on_this_machine(monkeypatch):
    monkeypatch.setattr(_queue_managers, "running_queue_managers", list)
    monkeypatch.setattr(_queue_managers, "open_log_devices", set)
    monkeypatch.setattr(_queue_managers, "sees_processes", lambda: True)


@pytest.fixture
def options(tmp_path):
    """The options of the module for three volumes on one file system."""

    def of_volume(name):
        path = str(tmp_path / name / "ws")
        os.makedirs(os.path.dirname(path))
        return {"name": name, "path": path, "queue_managers": ["QM1"], "places": [], "expect_mount": "", "footprint_bytes": 1 << 20, "direct_sizes": []}

    return {
        "run_id": RUN,
        "volumes": [of_volume(name) for name in ("a", "b", "c")],
        "owner": "",
        "reserve_bytes": 0,
        "reserve_share": None,
        "may_ask_for_privilege": True,
        "patience_s": 10,
        "allow": [],
        "mqs_ini": str(tmp_path / "mqs.ini"),
    }


def outcome(options):
    found = workspace.inspect_all(options, None)
    workspace.make_all(options, found)
    made = sorted(volume["name"] for volume in options["volumes"] if os.path.isdir(volume["path"]))
    return found, made


def test_each_volume_has_its_own_workspace(options):
    found, made = outcome(options)
    assert made == ["a", "b", "c"] and {volume["error"] for volume in found.values()} == {""}
    assert found["b"]["workspace"]["made_path"] and found["b"]["workspace"]["directories"] == [os.path.join(found["b"]["workspace"]["run_directory"], "QM1")]
    assert found["a"]["disks"] == found["b"]["disks"] != [] and found["a"]["facts"]["filesystem_free_bytes"] > 0


def test_a_refused_volume_costs_its_neighbours_nothing(options):
    first, second, _third = options["volumes"]
    first["path"] = "not/absolute"
    second["expect_mount"] = "/nowhere"
    found, made = outcome(options)
    assert made == ["c"]
    assert found["a"]["error"].startswith("workspace_path must be an absolute") and found["b"]["error"].startswith("refused: ")


def test_volumes_on_one_file_system_count_together_unless_they_are_refused(options):
    for volume in options["volumes"]:
        volume["footprint_bytes"] = int(workspace.inspect_all(options, None)["a"]["facts"]["filesystem_free_bytes"] * 0.45)
    found, made = outcome(options)
    assert made == [] and all("the tests of the volumes a, b, c together need" in volume["error"] for volume in found.values())
    options["volumes"][1]["expect_mount"] = "/nowhere"
    found, made = outcome(options)
    assert made == ["a", "c"] and "workspace_expect_mount" in found["b"]["error"]


@pytest.mark.parametrize(("may_ask", "wanted", "said"), [(True, True, ""), (False, True, "this user cannot write to ")])
def test_a_volume_that_this_user_may_not_write_to_waits_for_privilege_or_is_refused(options, monkeypatch, may_ask, wanted, said):
    denied = os.path.dirname(options["volumes"][1]["path"])
    monkeypatch.setattr(_workspace.Preflight, "needs_privilege", lambda preflight: preflight.existing == denied)
    found, made = outcome({**options, "may_ask_for_privilege": may_ask})
    assert made == ["a", "c"] and found["b"]["needs_privilege"] is wanted
    assert found["b"]["error"].startswith(said) and bool(found["b"]["error"]) is bool(said)


@pytest.mark.parametrize("function", ["Preflight", "make"])
def test_a_file_system_that_does_not_answer_costs_its_neighbours_nothing(options, monkeypatch, function):
    real, hanging = getattr(_workspace, function), options["volumes"][1]["path"]

    def hang(place, *arguments):
        time.sleep(4 if hanging in (place, place["path"] if isinstance(place, dict) else "") else 0)
        return real(place, *arguments)

    monkeypatch.setattr(_workspace, function, hang)
    found, made = outcome({**options, "patience_s": 2})
    assert made == ["a", "c"]
    assert found["b"]["error"].startswith("the file system of %s did not answer (no answer within 2 s): " % hanging)
    time.sleep(3)  # what it creates too late is undone
    assert not os.path.exists(hanging)
