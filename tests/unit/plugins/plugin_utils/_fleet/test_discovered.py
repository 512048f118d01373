# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import copy
import json
import random

import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.discovered import (
    DiscoveryError,
    as_lines,
    as_yaml,
    footprint_bytes,
    plan_volumes,
)

SIZES = [4 << 10, 64 << 10, 256 << 10, 1 << 20]
GIB = 1 << 30


def queue_manager(name, mount_point="/var/mqm/log", device="8:1", directory="", **more):
    directory = directory or f"{mount_point.rstrip('/')}/{name}"
    filesystem = {
        "mount_point": mount_point,
        "mount_source": "/dev/sdb1",
        "filesystem_type": "xfs",
        "device_number": device,
        "filesystem_size_bytes": 10 * GIB,
        "filesystem_free_bytes": 9 * GIB,
    }
    found = {
        "name": name,
        "problem": "",
        "log_path": directory,
        "log_directory": directory,
        "log_parent": directory.rsplit("/", 1)[0] or "/",
        "log_file_pages": 4096,
        "log_primary_files": 3,
        "log_buffer_pages": 0,
        "sources": {},
        "filesystem": filesystem,
    }
    return {**found, **more}


def plan(*queue_managers, problems=(), sizes=SIZES, skip_absent=False, only=None):
    return plan_volumes({"queue_managers": list(queue_managers), "problems": list(problems)}, sizes, skip_absent, only)


def absent(name):
    return {"name": name, "problem": f"the log directory /mq/{name} has no files", "absent": True}


def test_files_that_contradict_qm_ini_are_planned_and_said():
    found = plan(queue_manager("QM1", contradicted={"log_file_pages": 8192}), queue_manager("QM2", contradicted={}))
    assert found.volumes[0]["file_size"] == "16M"
    sentence = (
        "QM1: each of its log files has 16 MiB, but LogFilePages=8192 in qm.ini means 32 MiB. The test uses the size "
        "of the files, because MQ may ignore a LogFilePages that was changed after it created the queue manager"
    )
    assert found.sizes == {"var-mqm-log": [sentence]}
    assert f"    {sentence}" in list(as_lines("db01", found, "plan.yml"))
    assert f"  # {sentence}\n" in as_yaml("db01", found)


@pytest.mark.parametrize("contradicted", [8192, {"log_file_pages": "8192"}, {"log_file_pages": 1}])
def test_a_contradiction_of_a_host_is_checked(contradicted):
    with pytest.raises(DiscoveryError, match="contradicted"):
        plan(queue_manager("QM1", contradicted=contradicted))


def test_each_file_system_with_logs_is_a_volume():
    found = plan(
        queue_manager("QM1"),
        queue_manager("QM2", "/mqlog", "8:2"),
        queue_manager("QM3", log_file_pages=1024, log_primary_files=20),
    )
    assert found.volumes == [
        {
            "name": "mqlog",
            "path": "/mqlog/logdisk",
            "queue_managers": ["QM2"],
            "expect_mount": "/mqlog",
            "file_size": "16M",
            "files": 3,
            "block_sizes": ["4K", "64K", "256K", "1M", "2M"],
            "load_points": [1],
            "log_buffer": "2M",
        },
        {
            "name": "var-mqm-log",
            "path": "/var/mqm/log/logdisk",
            "queue_managers": ["QM1", "QM3"],
            "expect_mount": "/var/mqm/log",
            "file_size": "16M",
            "files": 20,
            "block_sizes": ["4K", "64K", "256K", "1M", "2M"],
            "load_points": [1, 2],
            "log_buffer": "2M",
        },
    ]
    assert footprint_bytes(found.volumes[1]) == 2 * 20 * (16 << 20)
    assert found.about["var-mqm-log"] == [
        "/var/mqm/log (xfs on /dev/sdb1, 10 GiB): 640 MiB of test files fit into 9 GiB of free space",
        "QM1 logs to /var/mqm/log/QM1: 3 primary files of 16 MiB, a log buffer of 2 MiB",
        "QM3 logs to /var/mqm/log/QM3: 20 primary files of 4 MiB, a log buffer of 2 MiB",
        "these logs differ: the test uses the largest value of each setting",
    ]


@pytest.mark.parametrize(
    ("buffer_pages", "file_pages", "sizes"),
    [
        (0, 4096, ["4K", "64K", "256K", "1M", "2M"]),
        (256, 4096, ["4K", "64K", "256K", "1M"]),
        (18, 4096, ["4K", "64K", "72K"]),
        (4096, 65535, ["4K", "64K", "256K", "1M", "16M"]),
        (0, 64, ["4K", "64K", "256K"]),
    ],
)
def test_block_sizes_go_up_to_the_largest_write_of_the_logger(buffer_pages, file_pages, sizes):
    found = plan(queue_manager("QM1", log_buffer_pages=buffer_pages, log_file_pages=file_pages))
    assert (found.volumes[0]["block_sizes"], found.volumes[0]["log_buffer"]) == (sizes, sizes[-1])
    assert any("left out" in sentence for sentence in found.about["var-mqm-log"]) is ("1M" not in sizes)


def published(*sizes, source="amqsrua", **more):
    """Return a host's answer about a queue manager that published these write sizes, 10 s apart."""
    texts = [
        f"Publication received PutDate:20261122 PutTime:1700{number:02}00 Interval:10.000 seconds\nLog - physical "
        "bytes written 40960 4096/sec\n"
        f"Log - write latency 250 uSec\nLog - write size {size}"
        for number, size in enumerate(sizes)
    ]
    samples = [
        {"epoch_s": 1795366800.0 + 10 * number, "monotonic_ns": 10**10 * number, "text": text}
        for number, text in enumerate(texts)
    ]
    return {"observed": {"source": source, "samples": samples, "problem": "", **more}}


ROLLING = (
    "the block sizes are the smallest, the median and the largest of these sizes in whole pages. Each of them is a "
    "rolling average: MQ does not report how much smaller or larger single writes are"
)


@pytest.mark.parametrize(
    ("sizes", "block_sizes"),
    [
        ((9000, 4096, 61441, 8000, 12288), ["4K", "12K", "64K"]),
        ((8000, 8100, 8192), ["8K"]),
        ((100, 20000), ["4K", "20K"]),
        ((4096, 5 << 20), ["4K", "2M"]),
    ],
)
def test_block_sizes_may_be_those_that_were_published(sizes, block_sizes):
    found = plan(queue_manager("QM1", **published(*sizes)))
    assert found.volumes[0]["block_sizes"] == block_sizes
    assert found.sizes["var-mqm-log"][-1] == ROLLING


def test_the_sizes_of_all_queue_managers_of_a_file_system_count():
    idle = {"source": "", "samples": [], "problem": "QM2 is not running \x1b[2J"}
    found = plan(
        queue_manager("QM1", **published(8192, 8192)),
        queue_manager("QM2", observed=idle),
        queue_manager("QM3", **published(60000)),
    )
    assert found.volumes[0]["block_sizes"] == ["8K", "60K"]
    sentences = [
        "QM1: according to amqsrua, its log writes have an average size of 8 KiB (2 publications)",
        "QM2 did not report how large its log writes are: QM2 is not running \\x1b[2J",
        "QM3: according to amqsrua, its log writes have an average size of 60,000 B (1 publication)",
        ROLLING,
    ]
    assert found.sizes["var-mqm-log"] == sentences
    assert list(as_lines("db01", found, "x.yml"))[3:] == [f"    {sentence}" for sentence in sentences]
    assert yaml.safe_load(as_yaml("db01", found))["workspace_volumes"] == found.volumes
    assert f"  # {ROLLING}\n" in as_yaml("db01", found)


@pytest.mark.parametrize(
    "observed",
    [
        {"source": "amqsrua", "samples": [], "problem": ""},
        {"source": "other", "samples": ["x"], "problem": "no authority"},
        {"source": "amqsrua", "samples": [{"epoch_s": "x"}, 7, None]},
        {"source": "prometheus", "samples": [{"epoch_s": 1, "monotonic_ns": 1, "text": "nothing"}], "problem": {}},
        None,
    ],
)
def test_without_published_sizes_they_are_those_of_the_variable_and_the_plan_says_why(observed):
    found = plan(queue_manager("QM1", observed=observed))
    assert found.volumes[0]["block_sizes"] == ["4K", "64K", "256K", "1M", "2M"]
    first, second = found.sizes["var-mqm-log"]
    assert (
        first.startswith("QM1 did not report how large its log writes are: ")
        and second == "so the block sizes are taken from sweep_block_sizes"
    )


def test_what_is_assumed_and_what_does_not_fit_is_said():
    item = queue_manager(
        "QM1", sources={"log_file_pages": "assumed", "log_primary_files": "qm.ini", "log_buffer_pages": "assumed"}
    )
    item["filesystem"]["filesystem_free_bytes"] = 1 << 20
    first, second = plan(item).about["var-mqm-log"]
    assert first.endswith("48 MiB of test files DO NOT FIT into 1 MiB of free space")
    assert second.endswith("(assumed to be MQ's defaults: LogFilePages, LogBufferPages)")


@pytest.mark.parametrize(
    ("queue_managers", "path"),
    [
        ([("QM1", "/", "/QM1")], "/logdisk"),
        ([("QM1", "/", "/var/mqm/log/QM1")], "/var/mqm/log/logdisk"),
        ([("logdisk", "/var/mqm/log", "/var/mqm/log/logdisk")], "/var/mqm/log/logdisk-test"),
        ([("A", "/mq", "/mq/log"), ("B", "/mq", "/mq/log/B")], "/mq/logdisk"),
        ([("A", "/mq", "/mq/log/A"), ("B", "/mq", "/mq/log")], "/mq/logdisk"),
        ([("A", "/mq", "/mq"), ("B", "/other", "/other/b/B")], "/other/b/logdisk"),
    ],
)
def test_the_directory_under_test_is_beside_a_log_and_inside_none(queue_managers, path):
    items = [queue_manager(name, mount_point, "8:1", directory) for name, mount_point, directory in queue_managers]
    assert plan(*items).volumes[0]["path"] == path


def test_a_plan_for_some_queue_managers_stays_out_of_the_logs_of_the_others():
    found = plan(
        queue_manager("QM1"),
        queue_manager("logdisk"),
        queue_manager("QM2", "/mqlog", "8:2"),
        {"name": "QM3", "problem": "no answer"},
        only=["QM1"],
    )
    assert [(each["queue_managers"], each["path"]) for each in found.volumes] == [
        (["QM1"], "/var/mqm/log/logdisk-test"),
    ]
    assert found.refused == []


def test_a_log_that_is_a_mount_point_is_refused_with_the_way_out_and_costs_no_other_volume():
    found = plan(queue_manager("QM1", "/var/mqm/log/QM1", "8:2", "/var/mqm/log/QM1"), queue_manager("QM2"))
    assert [volume["queue_managers"] for volume in found.volumes] == [["QM2"]]
    (refused,) = found.refused
    assert refused.name == "var-mqm-log-QM1"
    assert (
        "is a mount point" in refused.reason
        and "/var/mqm/log/QM1/logdisk" in refused.reason
        and "workspace_allow: [queue_manager_files]" in refused.reason
    )


def test_without_any_volume_there_is_no_plan():
    with pytest.raises(
        DiscoveryError, match=r"can be planned: no answer; no file; and 2 more queue managers\. Correct"
    ):
        plan(
            *(
                {"name": f"QM{number}", "problem": problem}
                for number, problem in enumerate(("no answer", "no file", "x", "y"))
            )
        )
    with pytest.raises(DiscoveryError, match="is a mount point"):
        plan(queue_manager("QM1", "/mq", "8:1", "/mq"))
    with pytest.raises(DiscoveryError, match=r"no queue manager was discovered.* Set workspace_mqs_ini if "):
        plan()
    with pytest.raises(DiscoveryError, match=r"may be missing from what was discovered: mqs\.ini, line 1: bad"):
        plan(queue_manager("QM1"), problems=["mqs.ini, line 1: bad"])


def test_a_queue_manager_that_is_not_on_this_host_is_an_error_unless_it_is_to_be_skipped():
    given = (absent("QM/2"), queue_manager("QM1"), {"name": "QM3", "problem": "no answer"})
    way_out = (
        "Correct that, set workspace_discover_absent: skip to leave out queue managers that a host does not have, "
        "or specify the volumes of this host as workspace_volumes"
    )
    refused, skipping = plan(*given), plan(*given, skip_absent=True)
    assert [
        (each.name, each.reason.startswith(f"the log directory /mq/QM/2 has no files. {way_out}"))
        for each in refused.refused
    ] == [
        ("QM-2", True),
        ("QM3", False),
    ]
    assert [(each.name, each.queue_manager, each.reason) for each in skipping.skipped] == [
        ("QM-2", "QM/2", "the log directory /mq/QM/2 has no files")
    ]
    assert [each.name for each in skipping.refused] == ["QM3"] and "skip" not in skipping.refused[0].reason
    assert refused.volumes == skipping.volumes and refused.skipped == []
    assert "  SKIPPED: QM/2: the log directory /mq/QM/2 has no files" in as_lines("db01", skipping, "x.yml")
    assert "# Skipped, because it is not on this host: QM/2: " in as_yaml("db01", skipping)


def test_a_host_without_any_of_its_logs_has_no_volume_only_if_they_are_to_be_skipped():
    found = plan(absent("QM1"), absent("QM2"), skip_absent=True)
    assert (found.volumes, [each.name for each in found.skipped]) == ([], ["QM1", "QM2"])
    assert yaml.safe_load(as_yaml("db01", found)) == {"workspace_volumes": []}
    assert next(as_lines("db01", found, "x.yml")).startswith("db01: 0 volumes discovered. ")
    with pytest.raises(
        DiscoveryError,
        match=(
            r"can be planned: the log directory /mq/QM1 has no files\. Correct that, set "
            r"workspace_discover_absent: skip"
        ),
    ):
        plan(absent("QM1"))
    with pytest.raises(DiscoveryError, match=r"can be planned: no answer\. Correct that, or specify"):
        plan(absent("QM1"), {"name": "QM2", "problem": "no answer"}, skip_absent=True)
    with pytest.raises(DiscoveryError, match="cannot be used"):
        plan({"name": "QM1", "problem": "", "absent": True}, queue_manager("QM2"), skip_absent=True)


def test_names_are_different_from_each_other_and_short():
    mounts = ["/", "/a/b", "/a-b", "/\u00e9", "/" + "x" * 100]
    found = plan(
        *(
            queue_manager(f"QM{number}", mount, f"8:{number}", f"{mount.rstrip('/')}/log/QM")
            for number, mount in enumerate(mounts)
        )
    )
    assert [volume["name"] for volume in found.volumes] == ["root", "a-b", "a-b-2", "x" * 60, "volume"]


class TextOfAHost(str):
    """Text from a host, which ansible-core 2.16 marks by a class of its own."""


def test_the_plan_is_written_whatever_class_the_texts_of_a_host_have():
    plain, marked = (as_yaml("db01", plan(queue_manager(kind("QM1"), kind("/mqlog")))) for kind in (str, TextOfAHost))
    assert marked == plain


@pytest.mark.parametrize("text", ["{{ lookup('pipe', 'id') }}", "{% raw %}", "{# no #}"])
def test_nothing_that_a_host_says_becomes_a_template_in_the_variables(text):
    """If people use the plan as variables, Ansible evaluates the templates in it."""
    for given in (
        queue_manager(text),
        queue_manager("QM1", f"/mq{text}"),
        queue_manager("QM1", directory=f"/mq/{text}/QM1"),
    ):
        with pytest.raises(DiscoveryError, match="cannot be used"):
            plan(given)


def test_any_answer_gives_a_plan_or_one_sentence():
    """Data from a host is untrusted."""
    chance = random.Random(5)
    good = {
        "queue_managers": [
            queue_manager("QM1"),
            queue_manager("QM2", "/b", "8:2"),
            {"name": "QM3", "problem": "x"},
            absent("QM4"),
        ],
        "problems": [],
    }
    strange = [None, "", [], {}, -1, 10**30, True, 1.5, "x\n- y", "\ud800", ["x"], {"a": 1}, "{{ 1 }}"]

    def places(value):
        if isinstance(value, (dict, list)):
            for key in list(value) if isinstance(value, dict) else range(len(value)):
                yield value, key
                yield from places(value[key])

    plans = 0
    for _try in range(2000):
        answer = copy.deepcopy(good)
        for _change in range(chance.randrange(1, 3)):
            container, key = chance.choice(list(places(answer)))
            container[key] = chance.choice(strange)
        try:
            found = plan_volumes(answer, SIZES, skip_absent=chance.random() < 0.5)
        except DiscoveryError as error:
            assert "\n" not in str(error)
            continue
        plans += 1
        json.dumps(found.volumes)
        assert yaml.safe_load(as_yaml("h", found)) == {"workspace_volumes": found.volumes}
    assert plans > 100
