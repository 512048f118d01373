# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action plugins of the test of locks: what they refuse, and how they pair hosts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.mqops.logdisk.plugins.action import lock_start
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.pairs import Pair, pairs_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.stage import LOG_BYTES
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import role_defaults
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.definitions import DefinitionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tester_options import OptionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import lock_guard, lock_pairs, lock_plan, lock_test

ASKED = {**role_defaults(), "workspace_path": "/MQHA/logdisk", "locks_pair": ["db02"]}
GROUPS = {"qm1": ["db01", "db02"], "qm2": ["db03"]}


def plan(**changes):
    return lock_plan.planned({**ASKED, **changes}, "db01", GROUPS)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"locks_confirm": "db02"}, "locks_confirm is db02, but a host is cut only if it is the host's own name"),
        ({"locks_group": "qm1"}, "both set"),
        ({"locks_group": "qm2", "locks_pair": []}, "the host is not in this group"),
        ({"locks_group": "none", "locks_pair": []}, "the host is not in this group"),
        ({"locks_lock_files": 0}, "locks_lock_files is 0, but must be from 1"),
        ({"locks_filter_port": 65536}, "locks_filter_port is 65536"),
        ({"workspace_discover": True}, "workspace_discover"),
        ({"workspace_volumes": [{"name": "a", "path": "/a"}, {"name": "b", "path": "/b"}]}, "one volume at a time"),
    ],
)
def test_what_is_refused_before_the_locks_of_any_host_are_tested(changes, problem):
    with pytest.raises(OptionError, match=problem):
        plan(**changes)


def test_the_maker_needs_space_for_the_files_of_all_pairs():
    volumes = {host: plan()["volumes"][0] for host in ("db01", "db02", "db03")}
    pairs = [Pair("db01", "db02", "db01", "pair1"), Pair("db01", "db03", "db01", "pair2")]
    ((volume,),) = lock_pairs.makers_of(volumes, pairs).values()
    assert volume["parts"][0]["footprint_bytes"] == 2 * 2 * LOG_BYTES


def queue_manager(name, directory, **changes):
    return {
        "name": name,
        "log_directory": f"{directory}/{name}",
        "log_parent": directory,
        "log_file_pages": 4096,
        "log_primary_files": 3,
        "log_buffer_pages": 0,
        "sources": {},
        "filesystem": {
            "mount_point": "/" + directory.split("/")[1],
            "device_number": f"0:{len(directory)}",
            "mount_source": "nas1:/mq",
            "filesystem_type": "nfs4",
            "filesystem_size_bytes": 1 << 40,
            "filesystem_free_bytes": 1 << 39,
        },
        **changes,
    }


def discovered(*queue_managers):
    return {"queue_managers": list(queue_managers), "problems": []}


def directories(answers, plans=None):
    """Return the pairs of hosts with these queue managers, and the volume or the problem of each host. Hosts without
    a plan of their own name no partner."""
    plans = {**dict.fromkeys(answers, plan(locks_pair=[])), **(plans or {})}
    logs = {host: lock_pairs.logs_of(answer) for host, answer in answers.items()}
    pairs = pairs_of(plans, logs)
    return [pair.hosts for pair in pairs], *lock_pairs.volumes_of(plans, answers, logs, pairs)


QM1, QM2 = queue_manager("QM1", "/MQHA/QM1"), queue_manager("QM2", "/MQHA/QM2")


@pytest.mark.parametrize(
    ("answers", "path", "names"),
    [
        # The standby of two active hosts
        ([[QM1], [QM1, QM2], [QM2]], "/MQHA/QM1/logdisk", [["QM1"], ["QM1", "QM2"], ["QM2"]]),
        # Only one of the queue managers is shared
        ([[QM1, QM2], [QM2]], "/MQHA/QM2/logdisk", [["QM2"], ["QM2"]]),
    ],
)
def test_hosts_that_are_connected_by_queue_managers_use_one_directory(answers, path, names):
    hosts = {f"db{number:02}": discovered(*items) for number, items in enumerate(answers, start=1)}
    _pairs, volumes, problems = directories(hosts)
    assert problems == {}
    assert {host: (each["path"], each["parts"][0]["path"]) for host, each in volumes.items()} == dict.fromkeys(
        hosts, (path, path)
    )
    assert [each["queue_managers"] for each in volumes.values()] == names


def test_a_host_that_cannot_see_the_directory_of_the_others_is_not_tested():
    """Otherwise, the missing directory would look like a fault of the storage."""
    narrow = queue_manager("QM2", "/MQHA/QM2")
    narrow["filesystem"] = {**narrow["filesystem"], "mount_point": "/MQHA/QM2"}
    pairs, volumes, problems = directories(
        {"db01": discovered(QM1), "db02": discovered(QM1, QM2), "db03": discovered(narrow)}
    )
    assert pairs == [("db01", "db02"), ("db02", "db03")]
    assert list(volumes) == ["db01", "db02"]
    assert problems["db03"].startswith(
        "hosts that are connected by queue managers are tested in one directory, here /MQHA/QM1/logdisk, but on this "
        "host it would not be on the file system of QM2, which is mounted on /MQHA/QM2. "
    )


@pytest.mark.parametrize("named", [["db02"], []])
def test_the_other_hosts_use_the_volume_name_of_the_host_that_creates_the_directory(named):
    """The name is part of the directory of the run."""
    plans = {
        host: plan(locks_pair=partners, workspace_volumes=[{"name": f"log-{host}", "path": "/MQHA/logdisk"}])
        for host, partners in (("db01", named), ("db02", []))
    }
    _pairs, volumes, _problems = directories(dict.fromkeys(plans, discovered(QM1)), plans)
    assert [each["name"] for each in volumes.values()] == ["log-db01"] * 2


def test_hosts_that_share_several_directories_have_to_name_one():
    answer = discovered(queue_manager("QM1", "/MQHA1/log"), queue_manager("QM2", "/MQHA22/log"))
    _pairs, volumes, problems = directories({"db01": answer, "db02": answer})
    assert volumes == {} and "QM1, QM2 share 2 file systems with other hosts" in problems["db02"]


UNREAD = {"name": "QM2", "problem": "LogPath /MQHA/QM2/QM2 cannot be inspected", "absent": True}


@pytest.mark.parametrize(
    ("answers", "refused"),
    [
        ([[QM1, QM2], [QM1, {**UNREAD, "problem": "LogPath\n/MQHA/QM2/QM2 cannot be inspected"}]], ["db02"]),
        ([[QM1, UNREAD], [QM1, UNREAD]], ["db01", "db02"]),
        ([[QM2], [UNREAD]], ["db02"]),
        ([[QM1], [QM1, UNREAD]], []),
    ],
)
def test_a_host_that_cannot_inspect_the_log_of_a_queue_manager_of_another_host_is_not_tested(answers, refused):
    """Otherwise, nobody would notice that the directory of this queue manager is not tested."""
    hosts = {f"db{number:02}": discovered(*items) for number, items in enumerate(answers, start=1)}
    _pairs, _volumes, problems = directories(hosts)
    told = [host for host, problem in problems.items() if "QM2: LogPath /MQHA/QM2/QM2 cannot be inspected" in problem]
    assert told == refused


def test_hosts_that_name_their_partner_are_not_expected_to_share_queue_managers():
    plans = {"db03": plan(locks_pair=["db04"]), "db04": plan(locks_pair=[])}
    answers = {"db01": [QM1], "db02": [QM1, UNREAD], "db03": [], "db04": [QM2]}
    _pairs, volumes, problems = directories({host: discovered(*own) for host, own in answers.items()}, plans)
    assert list(volumes) == list(answers) and problems == {}


def test_a_shared_log_without_a_place_beside_it_is_refused():
    mounted = queue_manager("QM3", "/MQHB", log_directory="/MQHB", log_parent="/")
    _pairs, volumes, problems = directories(dict.fromkeys(("db01", "db02"), discovered(QM1, mounted)))
    assert volumes == {} and "the LogPath of QM3, /MQHB, is a mount point" in problems["db02"]


@pytest.mark.parametrize("answer", [{}, {"queue_managers": None}, {"queue_managers": ["x", {"name": "QM1"}]}])
def test_what_a_host_sends_instead_of_queue_managers_pairs_nobody(answer):
    assert lock_pairs.logs_of(answer) == frozenset()
    problem = {"queue_managers": [queue_manager("QM1", "/MQHA/log", problem="not mounted")]}
    assert lock_pairs.logs_of(problem) == frozenset()


def test_a_tester_does_not_end_before_the_longest_test():
    """The load runs in both directions, and then the other host may have to come back."""
    with pytest.raises(OptionError, match="from 0 to 86400"):
        plan(locks_seconds=86_401)
    with pytest.raises(OptionError, match="from 1 to 86400"):
        plan(locks_wait=86_401)
    limits = [{"metric": "latency_mean", "max": "1 ms"}]
    with pytest.raises(DefinitionError, match="at most 86400 seconds"):
        load_profile({"name": "mine", "limits": limits, "locks": {"load_s": 86_401}})
    assert lock_start.DEADLINE_S > 3 * 86_400


def test_what_a_host_says_is_not_shown_as_it_is(monkeypatch):
    said = []
    action = object.__new__(lock_start.ActionModule)
    vars(action).update(
        _task=SimpleNamespace(check_mode=True),
        _display=None,
        _tester={"facts": {}},
        _volume={"name": "log"},
        _plan=plan(locks_confirm="db01"),
        _pairs=[{"first": "db01", "second": "db02"}],
        _directory=SimpleNamespace(run={}, records=SimpleNamespace(write=lambda record: None)),
    )
    monkeypatch.setattr(lock_start, "ready", lambda *record: record)
    monkeypatch.setattr(lock_start, "say", lambda display, text: said.append(text))
    action.take_in({"settings": {"server_address": "\x1b[2J"}}, {"inventory_hostname": "db01"})
    assert "cut off from an unknown file server, port 2049" in said[0]


def variables(**changes):
    started = {"stream": ["ssh"], "guard": ["ssh", "guard"], "settings": {"uid": 0}}
    own = {"locks_plan": {"lock_test": plan()["lock_test"]}, "tester_ready": {}, "locks_started": started}
    return {**own, **changes}


def test_a_host_that_was_prepared():
    side = lock_test.side_of("db01", variables(locks_guard={"command": ["sudo"]}))
    assert (side.stream, side.root_guard, side.cut, side.problem) == (["ssh"], ["sudo"], None, "")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"locks_started": {"failed": True, "logdisk": {"reason": "hung"}}}, "hung"),
        ({"workspace_layout": {"failed": True, "msg": "no space"}}, "no space"),
        ({"tester_ready": {"failed": True}}, "could not be prepared"),
        ({"locks_started": {}}, "could not be prepared"),
        ({"locks_started": {"skipped": True}}, "could not be prepared"),
    ],
)
def test_a_host_that_cannot_be_tested(changes, problem):
    side = lock_test.side_of("db01", variables(**changes))
    assert problem in side.problem
    assert not side.stream


def test_no_host_of_a_pair_is_tested_without_the_one_that_creates_the_directory(monkeypatch):
    def pair_test(pair, sides, *rest):
        return SimpleNamespace(run=lambda: {"steps": [], "problems": [side.problem for side in sides.values()]})

    monkeypatch.setattr(lock_test, "PairTest", pair_test)
    monkeypatch.setattr(lock_test, "say", lambda *said: None)
    monkeypatch.setattr(lock_test, "profile_of", lambda run, host: None)
    monkeypatch.setattr(lock_test, "waivers_of", lambda profile, hosts, today: {})
    monkeypatch.setattr(lock_test, "required_of", lambda profile: {"load_s": 1, "takeover_s": 1, "lock_count": 1})
    step = SimpleNamespace(
        _directory=SimpleNamespace(run={"run_id": "R1", "created_at": "2026-11-29T00:00:00Z"}),
        _sides={"db00": lock_test.Side("db00", problem="db00 is full"), "db01": lock_test.side_of("db01", variables())},
        _plans={"db00": variables()["locks_plan"]["lock_test"]},
        _volumes={},
        _clock=None,
        _display=None,
        _follow=print,
    )
    tested = lock_test.Step._test(step, Pair("db00", "db01", "db00", "pair1"))
    assert tested["problems"] == ["db00 is full", "db00 is full"]


@pytest.mark.parametrize(
    ("settings", "server"),
    [
        ({"mount_source": "nas1:/mq", "server_address": "10.1.0.1"}, "10.1.0.1"),
        ({"mount_source": "nas1:/mq"}, "nas1"),
        ({"mount_source": "/dev/mapper/gfs"}, "/dev/mapper/gfs"),
        ({}, ""),
    ],
)
def test_pairs_on_one_server_are_recognized(settings, server):
    assert lock_test.server_of(settings) == server


@pytest.mark.parametrize(
    ("asked", "required", "tried"),
    [(512, [128, 128], 512), (100, [512, 128], 512), (512, [128, 1000], 1000)],
)
def test_a_host_tries_to_hold_as_many_locks_as_a_profile_requires(asked, required, tried):
    assert lock_test.lock_files(asked, [{"lock_count": count} for count in required]) == tried


def test_the_commands_of_the_user():
    assert lock_test.command_of("", 9) is None
    found = lock_test.command_of("echo done; exit 3", 9)()
    assert (found.status, found.output, found.problem) == (3, "done", "")


def test_a_guard_of_a_tester_that_runs_as_root_needs_no_sudo():
    """Such a host may not have sudo."""
    started = {"settings": {"uid": 0}, "guard": ["ssh", "db01", "python3"]}
    assert lock_guard.command_of_root(started) == started["guard"]
    assert lock_guard.command_of_root({**started, "settings": {"uid": 1001}}) == []
