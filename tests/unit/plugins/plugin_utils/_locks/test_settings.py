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
        "recover_lost_locks": "N",
        "nfs4_unique_id": "",
        "mount_source": "10.1.0.1:/mq",
        "server_address": "10.1.0.1",
        "path": "/MQHA",
        "directory_exists": True,
        "directory_errno": "",
        **changes,
    }


def refused(one=None, two=None):
    both = {"db01": settings("db01", **(one or {})), "db02": settings("db02", **(two or {}))}
    return outcome_of(lambda: refuse_settings(both) or {})


def test_two_machines_with_good_settings():
    assert refused() == ("kept", "", {})
    local = {"filesystem_type": "gfs2", "mount_options": "rw", "recover_lost_locks": "Y"}
    assert refused(local, local) == ("kept", "", {})


@pytest.mark.parametrize(
    ("option", "setting", "value", "wanted"),
    [
        ("vers=3", "vers", "3", "4 or later"),
        ("vers=4.1,soft", "soft", "soft", "hard"),
        ("vers=4.1,softerr", "softerr", "softerr", "hard"),
        ("vers=4.1,nolock", "nolock", "nolock", "lock"),
        ("vers=4.1,local_lock=all", "local_lock", "all", "none"),
        ("vers=4.1,local_lock=posix", "local_lock", "posix", "none"),
    ],
)
def test_a_mount_option_is_named(option, setting, value, wanted):
    figures = {"host": "db02", "setting": setting, "value": value, "wanted": wanted}
    assert refused(two={"mount_options": f"rw,{option},addr=10.1.0.1"}) == ("broken", "mount_option", figures)


def test_a_kernel_that_takes_lost_locks_again():
    assert refused({"recover_lost_locks": "Y"})[1:] == (
        "kernel_parameter",
        {"host": "db01", "setting": "recover_lost_locks", "value": "Y", "wanted": "N"},
    )


def test_two_names_of_one_machine_and_containers_of_one_node():
    same = {"boot_id": "b"}
    assert refused(same, same)[:2] == ("broken", "same_machine")
    assert refused({**same, "pid_namespace": "pid:[2]"}, same)[:2] == ("broken", "one_kernel")


@pytest.mark.parametrize("name", ["machine_id", "hostname", "nfs4_unique_id"])
def test_clients_with_the_same_identity(name):
    clones = {name: "same"}
    outcome, cause, figures = refused(clones, clones)
    assert (outcome, cause, figures["setting"], figures["value"]) == ("broken", "client_identity", name, "same")


def test_an_identifier_replaces_the_name_of_the_host():
    same = {"hostname": "db"}
    assert refused({**same, "nfs4_unique_id": "a"}, {**same, "nfs4_unique_id": "b"})[0] == "kept"


def test_other_users_and_other_directories():
    assert refused(two={"gid": 7})[1:] == (
        "other_identity",
        {"setting": "gid", "value": "1001, 7", "wanted": "the same"},
    )
    assert refused({"uid": 7}, {"directory_exists": False})[1] == "other_identity"


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
