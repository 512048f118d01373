# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The settings that must be right before a test of locks can prove anything."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.step import outcome_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.steps.settings import refuse_settings


def settings(host, **changes):
    return {
        "boot_id": f"boot of {host}",
        "machine_id": f"id of {host}",
        "hostname": host,
        "uid": 1001,
        "gid": 1001,
        "pid_namespace": "pid:[1]",
        "mount_namespace": "mnt:[1]",
        "filesystem_type": "nfs4",
        "mount_options": "rw,vers=4.1,hard,local_lock=none,addr=10.1.0.1",
        "settings": '{"SET-004": [["", "N"]]}',
        "nfs4_unique_id": "",
        "mount_source": "10.1.0.1:/mq",
        "server_address": "10.1.0.1",
        "path": "/MQHA",
        "directory_exists": True,
        "directory_errno": "",
        **changes,
    }


LOST_AGAIN = {"settings": '{"SET-004": [["", "Y"]]}'}


def refused(one=None, two=None, waived=()):
    both = {"db01": settings("db01", **(one or {})), "db02": settings("db02", **(two or {}))}
    return outcome_of(lambda: refuse_settings(both, waived) or {})


def test_two_machines_with_good_settings():
    assert refused() == ("kept", "", {})
    local = {"filesystem_type": "gfs2", "mount_options": "rw", **LOST_AGAIN}
    assert refused(local, local) == ("kept", "", {})


@pytest.mark.parametrize(
    ("changes", "setting_id", "host", "value"),
    [
        ({"mount_options": "rw,vers=3,addr=10.1.0.1"}, "SET-001", "db02", "3"),
        ({"mount_options": "rw,vers=4.1,softerr"}, "SET-002", "db02", "softerr"),
        ({"mount_options": "rw,vers=4.1,local_lock=posix"}, "SET-003", "db02", "posix"),
        (LOST_AGAIN, "SET-004", "db02", "Y"),
        ({"machine_id": "id of db01"}, "SET-005", "db01 and db02", "id of db01"),
        ({"gid": 7}, "SET-008", "db01 and db02", "1001:1001, 1001:7"),
        ({"uid": 7, "directory_exists": False}, "SET-008", "db01 and db02", "1001:1001, 7:1001"),
    ],
)
def test_a_setting_that_fails_ends_the_test_unless_it_is_waived(changes, setting_id, host, value):
    outcome, cause, figures = refused(two=changes)
    assert (outcome, cause) == ("broken", "setting")
    assert (figures["setting_id"], figures["host"], figures["value"]) == (setting_id, host, value)
    assert refused(two=changes, waived=[setting_id])[1] in ("", "call_failed")


def test_two_names_of_one_machine_and_containers_of_one_node():
    same = {"boot_id": "b"}
    assert refused(same, same)[:2] == ("broken", "same_machine")
    assert refused({**same, "pid_namespace": "pid:[2]"}, same)[:2] == ("broken", "one_kernel")


@pytest.mark.parametrize(
    ("changes", "outcome", "cause", "figures"),
    [
        ({"directory_errno": "ENOENT"}, "broken", "not_shared", {"path": "/MQHA", "other_path": "/MQHA"}),
        (
            {"directory_errno": "ENOENT", "path": "/data"},
            "undecided",
            "other_path",
            {"path": "/data", "other_path": "/MQHA"},
        ),
        (
            {"directory_errno": "ENOENT", "path": "/data", "mount_source": "/dev/sda1", "server_address": ""},
            "broken",
            "not_shared",
            {"path": "/data", "other_path": "/MQHA"},
        ),
        (
            {"directory_errno": "EACCES"},
            "undecided",
            "not_permitted",
            {"path": "/MQHA", "user": "1001", "errno": "EACCES"},
        ),
        (
            {"directory_errno": "ESTALE"},
            "undecided",
            "call_failed",
            {"verb": "opening the directory", "errno": "ESTALE"},
        ),
    ],
)
def test_a_directory_that_a_host_does_not_see(changes, outcome, cause, figures):
    found = refused(two={"directory_exists": False, **changes})
    assert found == (outcome, cause, {"host": "db02", **figures})


def test_settings_that_a_host_does_not_send_refuse_it():
    assert outcome_of(lambda: refuse_settings({"a": {}, "b": {}}))[0] == "undecided"
