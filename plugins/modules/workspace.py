#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: workspace
short_description: Create the directories under test, one per volume and queue manager
description:
  - Runs a preflight of all volumes first, which does not write anything. If it finds a reason not to test a
    volume, that volume is refused.
  - Then creates a directory for the run on each other volume. It carries the mark of this collection and contains one
    directory per queue manager.
  - A problem with a volume is returned as its error and does not affect the other volumes. That includes a file
    system that does not answer.
  - The action plugin writes the record of a volume with an error. It fails if no volume is left to test.
  - In check mode only the preflight is run.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run
options:
  volumes:
    description: The volumes under test.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the volume. It consists of letters, digits, C(.), C(_) and C(-).
        type: str
        required: true
      queue_managers:
        description: Names of the queue managers.
        type: list
        elements: str
        default: [QM1]
      expect_mount:
        description: The mount point that each path must be on, or several with commas between them. If empty,
          any mount point is accepted.
        type: str
        default: ""
      parts:
        description: The paths of the volume, none if all of its places are devices. It is tested
          on all of them or on none.
        type: list
        elements: dict
        required: true
        suboptions:
          path:
            description:
              - Directory on a file system under test. If it does not exist, it is created, but its parent directory
                must exist.
            type: str
            required: true
          places:
            description: Names of the places of a workload of streams. If there are any, each has a directory, and
              queue managers have none.
            type: list
            elements: str
            default: []
          footprint_bytes:
            description: Number of bytes that the test files need there. Whatever is on the same file
              system must fit there together.
            type: int
            required: true
          direct_sizes:
            description: Sizes, in bytes, of the writes that bypass the page cache. The volume is refused if the device
              does not support one of them.
            type: list
            elements: int
            default: []
      devices:
        description: The places of the volume that are block devices. Nothing is done to them.
        type: list
        elements: dict
        default: []
        suboptions:
          place:
            description: Name of the place.
            type: str
            required: true
          path:
            description: Path of the device below C(/dev/disk/by-id).
            type: str
            required: true
  state_dir:
    description:
      - State directory of the runs. Empty directories on the paths under test that are older than an hour and belong to
        runs not known there are removed, because their testers never started. If empty, nothing is removed.
    type: str
    default: ""
  owner:
    description: The user who owns the directories. If empty, it is the user that the module runs as.
    type: str
    default: ""
  run_as:
    description: User that later tasks become. The action plugin returns it and does not send it to the host.
    type: str
    default: ""
  reserve_bytes:
    description: Number of bytes that must remain free in addition to the test files. O(reserve_share) overrides it.
    type: int
    default: 0
  reserve_share:
    description: Space that must remain free in addition to the test files, as a fraction (0 to 1) of
      the size of the file system.
    type: float
  allow:
    description:
      - Refusals to override.
      - V(device_in_use) has no effect in this module. It is passed to the tester, which refuses a disk that
        another run is measuring.
    type: list
    elements: str
    default: []
    choices:
      - symlink
      - shared_directory
      - remote_file_system
      - queue_manager_files
      - active_log
      - unknown_log
      - device_in_use
  mqs_ini:
    description: Path of the file that lists the queue managers of the host.
    type: path
    default: /var/mqm/mqs.ini
  privileged:
    description: Whether the task runs as root to create the directories.
    type: bool
    default: false
  may_ask_for_privilege:
    description: If this user may not write to the directory of a volume, set its C(needs_privilege)
      instead of returning an error.
    type: bool
    default: true
  patience_s:
    description: Number of seconds after which a file system that does not answer is given up. What it still
      creates later is removed.
    type: float
    default: 30
attributes:
  check_mode:
    description: In check mode the module runs the whole preflight and does not create anything.
    support: full
"""

EXAMPLES = r"""
- name: Create the workspace
  mqops.logdisk.workspace:
    run_id: 20261121T104935Z-1f0c2a
    volumes:
      - name: log1
        queue_managers: [QM1, QM2]
        parts: [{path: /var/mqm/log1/logdisk, footprint_bytes: 2147483648}]
      - name: log2
        parts: [{path: /var/mqm/log2/logdisk, footprint_bytes: 1073741824}]
"""

RETURN = r"""
volumes:
  description:
    - What was found and created, by volume name.
    - C(error) says why the volume is not tested, and is empty otherwise. Each of its C(refusals) names the option that
      overrides it, if there is one.
    - C(unknown) is what the preflight could not determine. C(facts) describe the file system of the first path,
      including the other paths (C(places)) and the disks below all of them (C(disks)).
    - C(needs_privilege) says that nothing was created, because this user may not write there.
    - C(workspace) holds the paths.
    - C(volume_counters) contains, for each Amazon volume below the file system that can be queried, how long the
      volume has been limited so far, by its own count. Usually this requires root.
  returned: always
  type: dict
  sample:
    log1:
      error: ""
      refusals: []
      unknown: []
      needs_privilege: false
      disks: [nvme1n1]
      workspace:
        parts:
          - {path: /var/mqm/log1/logdisk, run_directory: /var/mqm/log1/logdisk/logdisk-R-log1,
             directories: [/var/mqm/log1/logdisk/logdisk-R-log1/QM1]}
      volume_counters: [{device: nvme1n1, serial: vol0123456789abcdef0, monotonic_s: 5021.7, volume_iops: 0,
                         volume_throughput: 41000000}]
privileged:
  description: The value of O(privileged). Directories that were created with privilege must be removed with privilege.
  returned: always
  type: bool
"""

import os
import pwd
from functools import partial

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.mqops.logdisk.plugins.module_utils import (
    _block_devices,
    _queue_managers,
    _runs,
    _time_limit,
    _volume_counters,
    _workspace,
)


def owner_uid(module):
    owner = module.params["owner"]
    try:
        return pwd.getpwnam(owner).pw_uid if owner else None
    except KeyError:
        module.fail_json(msg="workspace_owner: there is no user %r on this host" % owner)


def inspected(p, uid, volume, part):
    """Return what the preflight finds on a path of a volume. Nothing is written."""
    try:
        plan = layout_of(p, volume, part)
        preflight = _workspace.Preflight(
            part["path"], p["allow"], volume["expect_mount"], uid, part["direct_sizes"], p["mqs_ini"]
        )
    except OSError as error:
        raise OSError("cannot inspect %s: %s" % (part["path"], error))
    return dict(
        refusals=preflight.refusals,
        unknown=preflight.unknown,
        facts=dict(
            preflight.facts,
            **_queue_managers.log_facts([] if part["places"] else volume["queue_managers"], p["mqs_ini"]),
        ),
        disks=disks_of(preflight.facts),
        workspace=plan,
        needs_privilege=preflight.needs_privilege(),
    )


def layout_of(p, volume, part):
    return _workspace.layout(part["path"], p["run_id"], volume["name"], volume["queue_managers"], part["places"])


def disks_of(facts):
    """Return the names of the disks below a file system; the file system itself stands for those that are not shown."""
    try:
        disks = _block_devices.disks_below(_block_devices.number_below(facts["device_number"], facts["mount_source"]))
    except OSError:
        disks = []
    return [os.path.basename(disk) for disk in disks] or ["%s %s" % (facts["device_number"], facts["mount_source"])]


def disks_of_device(path):
    """Return the names of the disks below a block device, none if it is not a block device, which the tester
    reports."""
    try:
        return [
            os.path.basename(disk)
            for disk in _block_devices.disks_below(_block_devices.number_of(os.stat(path).st_rdev))
        ]
    except OSError:
        return []


def made(p, volume, part):
    """Create the directories of a volume on a path."""
    if p["state_dir"]:
        _workspace.remove_unstarted(part["path"], _runs.names_below(p["state_dir"]))
    counters = _volume_counters.read_below(part["path"])
    return dict(
        volume_counters=counters,
        workspace=_workspace.make(layout_of(p, volume, part), p["run_id"], p["owner"], p["allow"]),
    )


def undo(answer):
    """Remove what was created too late."""
    _workspace.remove(answer["workspace"]["path"], answer["workspace"]["run_directory"])


def undone(created, volume, part):
    """Remove what was created on a path of a volume that is not tested. Returns what is left there."""
    answer = created[volume["name"], part["path"]]
    return dict(
        left=[] if answer["error"] else _workspace.remove(part["path"], answer["workspace"]["run_directory"])[1]
    )


def parts_of(volumes):
    """Return each path of each volume, with the volume that it belongs to."""
    return [(volume, part) for volume in volumes for part in volume["parts"]]


def answers(p, function, parts, undo_late=None):
    """Return what the function returned for each path, by the name of the volume and the path,
    and an ``error`` if it failed or did not answer."""
    called = _time_limit.call_all(
        [partial(function, volume, part) for volume, part in parts], p["patience_s"], undo_late
    )
    return dict(
        ((volume["name"], part["path"]), with_error(part, answer)) for (volume, part), answer in zip(parts, called)
    )


def with_error(part, answer):
    if isinstance(answer, _time_limit.NoAnswerError):
        return dict(
            error="the file system of %s did not answer (%s): find out why its storage hangs, and certify it again"
            % (part["path"], answer)
        )
    return dict(error=str(answer)) if isinstance(answer, _time_limit.TimeLimitError) else dict(answer, error="")


def why_refused(p, path, found):
    """Return why a volume cannot be tested on a path, empty if it can."""
    if found["error"]:
        return found["error"]
    if found["refusals"]:
        return "refused: " + "; ".join(found["refusals"])
    if found["needs_privilege"] and not p["may_ask_for_privilege"]:
        return (
            "this user cannot write to %s: create it for this user, choose another workspace_path, "
            "or set workspace_become: auto" % path
        )
    return ""


def why_none(p, volume, found):
    """Return why a volume is not tested: the first problem with one of its paths, empty if there is none."""
    return "; ".join(
        unique([why_refused(p, part["path"], found[volume["name"], part["path"]])] for part in volume["parts"])
    )


def unique(lists):
    """Return the elements of all lists in their order, without those that are empty or repeated."""
    found = []
    for element in (element for each in lists for element in each):
        if element and element not in found:
            found.append(element)
    return found


def joined(p, volume, found):
    """Return the results for a volume, from the results for each of its paths.
    The facts are those of the first one."""
    parts = [found[volume["name"], part["path"]] for part in volume["parts"]]
    seen = [part for part in parts if "facts" in part]
    facts = dict(seen[0]["facts"]) if seen else {}
    where = [where_is(part, found[volume["name"], part["path"]]) for part in volume["parts"]]
    if len(where) + len(volume["devices"]) > 1 or not where:
        facts["places"] = "; ".join(
            where + ["%s is the device %s" % (device["place"], device["path"]) for device in volume["devices"]]
        )
    refusals = unique(part["refusals"] for part in seen)
    return dict(
        error=why_none(p, volume, found),
        refusals=refusals,
        unknown=unique(part["unknown"] for part in seen),
        facts=facts,
        disks=unique(
            [part["disks"] for part in seen] + [disks_of_device(device["path"]) for device in volume["devices"]]
        ),
        workspace=dict(parts=[part["workspace"] for part in seen]),
        needs_privilege=not refusals and any(part["needs_privilege"] for part in seen),
    )


def where_is(part, found):
    """Return which places are on a path, and on which file system that is."""
    facts = found.get("facts", {})
    return "%s on %s (%s on %s)" % (
        " and ".join(part["places"]),
        *(facts.get(key) for key in ("mount_point", "filesystem_type", "mount_source")),
    )


def inspect_all(p, uid):
    """Return what the preflight finds, by the name of the volume, each with its ``error``."""
    found = answers(p, partial(inspected, p, uid), parts_of(p["volumes"]))
    reserve = p["reserve_bytes"] if p["reserve_share"] is None else p["reserve_share"]
    accepted = parts_of(volume for volume in p["volumes"] if not why_none(p, volume, found))
    footprints = dict(((volume["name"], part["path"]), part["footprint_bytes"]) for volume, part in accepted)
    full = _workspace.space_refusals(footprints, dict((key, found[key]["facts"]) for key in footprints), reserve)
    for key, refusal in full.items():
        found[key]["refusals"].append(refusal)
    return dict((volume["name"], joined(p, volume, found)) for volume in p["volumes"])


def make_all(p, found):
    """Create the directories of the volumes that have no error and need no privilege, and add to what was found."""
    ready = [
        volume
        for volume in p["volumes"]
        if not found[volume["name"]]["error"] and not found[volume["name"]]["needs_privilege"]
    ]
    created = answers(p, partial(made, p), parts_of(ready), undo)
    errors = dict(
        (volume["name"], unique([created[volume["name"], part["path"]]["error"]] for part in volume["parts"]))
        for volume in ready
    )
    # A volume is tested on all of its paths or on none.
    failed = parts_of(volume for volume in ready if errors[volume["name"]])
    for (name, dummy), answer in answers(p, partial(undone, created), failed, lambda answer: None).items():
        errors[name] += answer.get("left") or [answer["error"]]
    for volume in ready:
        parts = [created[volume["name"], part["path"]] for part in volume["parts"]]
        found[volume["name"]]["error"] = "; ".join(unique([errors[volume["name"]]]))
        if not errors[volume["name"]]:
            counters = {each["serial"]: each for part in parts for each in part["volume_counters"]}
            found[volume["name"]].update(
                workspace=dict(parts=[part["workspace"] for part in parts]), volume_counters=list(counters.values())
            )
    return bool(created)


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_id=dict(type="str", required=True),
            volumes=dict(
                type="list",
                elements="dict",
                required=True,
                options=dict(
                    name=dict(type="str", required=True),
                    queue_managers=dict(type="list", elements="str", default=["QM1"]),
                    expect_mount=dict(type="str", default=""),
                    parts=dict(
                        type="list",
                        elements="dict",
                        required=True,
                        options=dict(
                            path=dict(type="str", required=True),
                            places=dict(type="list", elements="str", default=[]),
                            footprint_bytes=dict(type="int", required=True),
                            direct_sizes=dict(type="list", elements="int", default=[]),
                        ),
                    ),
                    devices=dict(
                        type="list",
                        elements="dict",
                        default=[],
                        options=dict(place=dict(type="str", required=True), path=dict(type="str", required=True)),
                    ),
                ),
            ),
            state_dir=dict(type="str", default=""),
            owner=dict(type="str", default=""),
            run_as=dict(type="str", default=""),
            reserve_bytes=dict(type="int", default=0),
            reserve_share=dict(type="float"),
            mqs_ini=dict(type="path", default=_queue_managers.MQS_INI),
            privileged=dict(type="bool", default=False),
            may_ask_for_privilege=dict(type="bool", default=True),
            patience_s=dict(type="float", default=30),
            allow=dict(
                type="list",
                elements="str",
                default=[],
                choices=[
                    "symlink",
                    "shared_directory",
                    "remote_file_system",
                    "queue_manager_files",
                    "active_log",
                    "unknown_log",
                    "device_in_use",
                ],
            ),
        ),
        supports_check_mode=True,
    )
    p = module.params
    found = inspect_all(p, owner_uid(module))
    changed = module.check_mode or make_all(p, found)
    module.exit_json(changed=changed, volumes=found, privileged=p["privileged"])


if __name__ == "__main__":
    main()
