# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import plan as _plan
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.volumes import (
    read_volumes,
    recorded_volumes,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tester_options import OptionError, command_line
from ansible_collections.mqops.logdisk.plugins.plugin_utils._workload.reader import load_workload
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

DEFAULTS = {"name": "log", "path": "/ws", "places": {}, "queue_managers": ["QM1"], "owner": "", "expect_mount": ""}
SWEEP = {
    "sweep_block_sizes": ["4K"],
    "sweep_duration": 60,
    "sweep_warmup": 5,
    "sweep_file_size": "10M",
    "sweep_files": 10,
}
WORKLOADS = str(fabricate.PROJECT / "roles/sweep/files/workloads")
DISK, OTHER = "/dev/disk/by-id/nvme-X_1", "/dev/disk/by-id/wwn-0x1+2"
MIB = 1 << 20


def planned(places, erase=None, given=(), workload="spc1-like", **changes):
    volumes = read_volumes(list(given), {**DEFAULTS, "places": places, **changes})
    return _plan.plan_host(
        volumes, {**SWEEP, "sweep_devices_erase": erase}, {}, workload=load_workload(workload, WORKLOADS)
    )["volumes"]


def test_each_path_has_its_places_and_their_share_of_the_files():
    (volume,) = planned({"asu1": "/1/x", "asu2": ["/2/x", "/1/x"]})
    assert [(part["path"], part["places"], part["footprint_bytes"]) for part in volume["parts"]] == [
        ("/1/x", ["asu1", "asu2"], int(67.5 * MIB)),
        ("/2/x", ["asu2"], int(22.5 * MIB)),
        ("/ws", ["asu3"], 10 * MIB),
    ]
    assert volume["footprint_bytes"] == 100 * MIB and volume["devices"] == []
    assert recorded_volumes([volume]) == [
        {"name": "log", "path": "/ws", "queue_managers": ["QM1"], "paths": ["/1/x", "/2/x", "/ws"]}
    ]


def test_only_what_bypasses_the_page_cache_there_asks_for_sizes_of_a_path():
    (volume,) = planned({"asu3": "/3/x"})
    assert {part["path"]: part["direct_sizes_bytes"] for part in volume["parts"]}["/3/x"] == [
        4096,
        8192,
        16384,
        32768,
        65536,
    ]
    streams = [
        {"name": "a", "place": "a", "pattern": "random", "size": "4K"},
        {"name": "b", "place": "b", "pattern": "random", "size": 512},
    ]
    mine = load_workload(
        {"name": "mine", "places": [{"name": "a"}, {"name": "b", "direct": False}], "streams": streams}
    )
    (volume,) = _plan.plan_host(read_volumes([], {**DEFAULTS, "places": {"b": "/b"}}), SWEEP, {}, workload=mine)[
        "volumes"
    ]
    assert [(part["footprint_bytes"], part["direct_sizes_bytes"]) for part in volume["parts"]] == [
        (50 * MIB, [4096]),
        (50 * MIB, []),
    ]


def test_a_place_on_a_device_is_named_twice_to_the_tester():
    (volume,) = planned({"asu1": DISK, "asu2": [OTHER]}, [OTHER, DISK])
    assert [part["path"] for part in volume["parts"]] == ["/ws"]
    assert volume["devices"] == [{"place": "asu1", "path": DISK}, {"place": "asu2", "path": OTHER}]
    assert command_line(volume["tester_options"])[0] == f"--place=name=asu1,share=45%,direct=yes,device={DISK}"
    assert [word for word in command_line(volume["tester_options"]) if word.startswith("--eraseDevice")] == [
        f"--eraseDevice={DISK}",
        f"--eraseDevice={OTHER}",
    ]


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ("asu1", "workspace_places must be a dictionary with the path of each place, or a list of paths, not 'asu1'"),
        ({"asu1": []}, r"workspace_places: asu1: name a directory or a device, or several as a list, not \[\]"),
        ({"asu1": "x"}, "workspace_places: asu1: 'x' is not an absolute path"),
        ({"asu1": ["/a", "/a"]}, "workspace_places: asu1: a path is named twice"),
        ({"asu1": "/a+b"}, r"workspace_places must not contain '\+' for sweep_workload spc1-like: /a\+b"),
        (
            {"asu1": "/dev/sda"},
            (
                "workspace_places: asu1: /dev/sda is not allowed: name a device by its entry below "
                "/dev/disk/by-id, which stays with it"
            ),
        ),
        ({"asu1": "/dev/disk/by-id/a/b"}, "'/dev/disk/by-id/a/b' is not the path of an entry of /dev/disk/by-id"),
        ({"asu1": "/dev/disk/by-id/.."}, "is not the path of an entry"),
        ({"asu1": f"{DISK},share=100%"}, "is not the path of an entry"),
        ({"asu1": [DISK, "/a"]}, "workspace_places: asu1: a place is in directories or on devices, not on both"),
        (
            {"asu4": "/a"},
            "workspace_places: sweep_workload spc1-like has no place asu4; its places are asu1, asu2, asu3",
        ),
        (
            {"asu1": "/a", "asu2": "/a/b"},
            "workspace_places: /a/b must not be inside /a, which is the path of another place",
        ),
    ],
)
def test_places_that_cannot_be_are_refused_by_name(places, said):
    with pytest.raises(OptionError, match=said):
        planned(places)


@pytest.mark.parametrize(
    ("places", "erase", "said"),
    [
        (
            {"asu1": DISK},
            [],
            (
                f"workspace_places: the test overwrites everything on {DISK}, and sweep_devices_erase "
                "of this host does not name it"
            ),
        ),
        ({"asu1": DISK}, None, "does not name it"),
        ({"asu1": DISK}, [f"{DISK}/"], "does not name it"),
        ({"asu1": DISK}, [OTHER], "does not name it"),
        ({"asu1": DISK}, DISK, "sweep_devices_erase must be a list of devices"),
        ({"asu1": DISK}, True, "sweep_devices_erase must be a list of devices"),
        ({"asu1": DISK}, {DISK: True}, "sweep_devices_erase must be a list of devices"),
        (
            {"asu1": DISK},
            [DISK, OTHER],
            r"sweep_devices_erase: no place has the device '/dev/disk/by-id/wwn-0x1\+2': leave it out",
        ),
        ({}, [DISK], "sweep_devices_erase: no place has the device"),
        ({"asu1": DISK, "asu2": DISK}, [DISK], f"workspace_places: two places have the device {DISK}"),
    ],
)
def test_a_device_is_only_overwritten_if_exactly_it_is_named(places, erase, said):
    with pytest.raises(OptionError, match=said):
        planned(places, erase)


def test_a_workload_without_places_has_none_on_other_paths():
    with pytest.raises(
        OptionError, match="workspace_places: sweep_workload mq-log has no place asu1; it has no places: leave it out"
    ):
        planned({"asu1": "/a"}, workload="mq-log")


def test_volumes_do_not_share_a_path_or_a_device():
    for first, second in (("/m/1", "/m/1/x"), (DISK, DISK)):
        volumes = [
            {"name": "a", "path": "/a", "places": {"asu1": first}},
            {"name": "b", "path": "/b", "places": {"asu2": second}},
        ]
        with pytest.raises(OptionError, match="a and b must not have the same path, or one inside the other"):
            planned({}, [DISK], given=volumes)
