# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import plan as _plan
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.volumes import read_volumes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import KEYS_OF_VOLUMES
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tester_options import OptionError

DEFAULTS = {
    "name": "log",
    "path": "/var/tmp/logdisk",
    "places": {},
    "queue_managers": ["QM1"],
    "owner": "",
    "expect_mount": "",
}
SWEEP = {
    "sweep_block_sizes": ["4K", "1M"],
    "sweep_queue_managers": [],
    "sweep_duration": 60,
    "sweep_warmup": 5,
    "sweep_file_size": "64M",
    "sweep_files": 16,
}
ONE = {"name": "log1", "path": "/a"}
TWO = {
    "name": "log2",
    "path": "/b",
    "queue_managers": ["QM2", "QM3"],
    "file_size": "16M",
    "files": 3,
    "block_sizes": ["4K"],
    "load_points": [1, 2],
}


def read(given=(), **changes):
    return read_volumes(given, {**DEFAULTS, **changes})


def planned(*volumes, order=_plan.TOGETHER, **changes):
    return _plan.plan_host(read(volumes), {**SWEEP, **changes}, {}, 600, order)


@pytest.mark.parametrize("given", [[], None, "", "[]"])
def test_without_a_list_there_is_the_one_volume_of_the_variables(given):
    assert read(given) == [{**DEFAULTS, "sets": []}]
    assert read(given, queue_managers="QM1, QM2", owner=None)[0]["queue_managers"] == ["QM1", "QM2"]


def test_what_a_volume_leaves_out_falls_back_to_the_variables():
    first, second = read([ONE, {**TWO, "owner": "mqm"}], owner="mqm", queue_managers=["A", "B"])
    assert first == {
        **ONE,
        "places": {},
        "queue_managers": ["A", "B"],
        "owner": "mqm",
        "expect_mount": "",
        "sets": ["name", "path"],
    }
    assert {key: second[key] for key in TWO} == TWO


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("[", "workspace_volumes must be a list of volumes, each with a name and a path: The text is not valid YAML: "),
        ("QM1,QM2", "workspace_volumes must be a list"),
        (["log1"], "workspace_volumes: volume 1 must be a dictionary with a name and a path, not 'log1'"),
        (
            [ONE, {"path": "/b"}],
            "workspace_volumes: volume 2: name must be a short name of letters, digits and . _ -, not None",
        ),
        ([{**ONE, "name": "../x"}], "volume 1: name must be a short name"),
        ([{**ONE, "size": "1M"}], "workspace_volumes: log1: unknown key size; the keys are name, path, "),
        ([{**ONE, "path": "a"}], "workspace_volumes: log1: path must be an absolute path, not 'a'"),
        (
            [{**ONE, "queue_managers": []}],
            "workspace_volumes: log1: queue_managers must be a list of at least one name",
        ),
        ([ONE, {**TWO, "name": "log1"}], "workspace_volumes: two volumes have the name log1"),
        (
            [ONE, {**TWO, "path": "/a/b/"}],
            r"log1 and log2 must not have the same path, or one inside the other \(/a/b/\)",
        ),
        (
            [{"name": "a"}, {"name": "b"}],
            r"a and b must not have the same path, or one inside the other \(/var/tmp/logdisk\)",
        ),
        (
            [{**ONE, "owner": "mqm"}],
            (
                "workspace_volumes: log1: owner is 'mqm', but the testers of a host run as one "
                "user, that of workspace_owner"
            ),
        ),
    ],
)
def test_a_list_that_cannot_be_is_refused_by_name(given, said):
    with pytest.raises(OptionError, match=said):
        read(given)


def test_paths_that_only_begin_alike_are_two():
    assert [volume["path"] for volume in read([{**ONE, "path": "/a/log"}, {**TWO, "path": "/a/log2"}])] == [
        "/a/log",
        "/a/log2",
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"file_size": "many"}, "workspace_volumes: log2: file_size: "),
        (
            {"load_points": [3]},
            (
                "workspace_volumes: log2: load_points: 3 queue managers, but workspace_volumes: "
                "log2: queue_managers names 2"
            ),
        ),
    ],
)
def test_a_bad_value_is_named_by_volume_and_key(changes, said):
    with pytest.raises(OptionError, match=said):
        planned(ONE, {**TWO, **changes})


def test_each_volume_has_a_plan_of_its_own():
    host = planned(ONE, TWO)
    first, second = host["volumes"]
    assert (first["name"], first["load_points"], first["footprint_bytes"]) == ("log1", [1], 16 * 64 << 20)
    assert (second["queue_managers"], second["load_points"], second["block_sizes_bytes"]) == (
        ["QM2", "QM3"],
        [1, 2],
        [4096],
    )
    assert second["footprint_bytes"] == 2 * 3 * 16 << 20
    assert host["footprint_bytes"] == first["footprint_bytes"] + second["footprint_bytes"]
    assert (
        second["tester_options"]
        == _plan.make_plan(
            {
                **SWEEP,
                **{KEYS_OF_VOLUMES[key]: TWO[key] for key in ("file_size", "files", "block_sizes", "load_points")},
            },
            2,
            {},
            600,
        )["tester_options"]
    )


@pytest.mark.parametrize("order", _plan.ORDERS)
def test_the_times_of_a_host_are_those_of_its_volumes(order):
    host = planned(ONE, TWO, {"name": "log3", "path": "/c", "block_sizes": ["4K"]}, order=order)
    offsets, planned_s, certify_s, deadline_s = (
        [volume[key] for volume in host["volumes"]]
        for key in ("start_offset_s", "planned_s", "certify_s", "deadline_s")
    )
    in_turn = order == _plan.IN_TURN
    assert offsets == ([0, planned_s[0] + 2, planned_s[0] + planned_s[1] + 4] if in_turn else [0, 0, 0])
    assert host["planned_s"] == (sum(planned_s) + 4 if in_turn else max(planned_s))
    assert host["certify_s"] == (sum(certify_s) + 4 if in_turn else max(certify_s))
    assert host["deadline_s"] == max(offset + deadline for offset, deadline in zip(offsets, deadline_s, strict=True))
    assert host["format_s"] == sum(volume["format_s"] for volume in host["volumes"])
