#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: workspace
short_description: Create the directories under test, one per volume and queue manager
description:
  - Runs a preflight of all volumes first, which does not write anything. If it finds a reason not to test a volume, that volume is refused.
  - Then creates a directory for the run on each other volume, which carries the mark of this collection, and in it one directory per queue manager.
  - What is wrong with a volume is returned as its error and does not affect the other volumes. That includes a file system that does not answer.
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
      path:
        description:
          - Directory on the file system under test. If it does not exist, it is created, but its parent directory must exist.
        type: str
        required: true
      queue_managers:
        description: Names of the queue managers.
        type: list
        elements: str
        default: [QM1]
      places:
        description: Names of the places of a workload of streams. If there are any, each has a directory, and queue managers have none.
        type: list
        elements: str
        default: []
      expect_mount:
        description: The mount point that O(volumes[].path) must be on. If empty, any mount point is accepted.
        type: str
        default: ""
      footprint_bytes:
        description: Number of bytes that the test files need. Volumes on the same file system must fit there together.
        type: int
        required: true
      direct_sizes:
        description: Sizes, in bytes, of the writes that bypass the page cache. The volume is refused if its device does not support one of them.
        type: list
        elements: int
        default: []
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
    description: Space that must remain free in addition to the test files, as a fraction (0 to 1) of the size of the file system.
    type: float
  allow:
    description:
      - Refusals to override.
      - V(device_in_use) does not concern this module. It is passed to the tester, which refuses a disk that another run is measuring.
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
    description: If this user may not write to the directory of a volume, set its C(needs_privilege) instead of returning an error.
    type: bool
    default: true
  patience_s:
    description: Number of seconds after which a file system that does not answer is given up. What it still creates later is removed.
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
        path: /var/mqm/log1/logdisk
        queue_managers: [QM1, QM2]
        footprint_bytes: 2147483648
      - name: log2
        path: /var/mqm/log2/logdisk
        footprint_bytes: 1073741824
"""

RETURN = r"""
volumes:
  description:
    - What was found and created, by the name of the volume.
    - C(error) says why the volume is not tested, and is empty otherwise. Each of its C(refusals) names the option that overrides it, if there is one.
    - C(unknown) is what the preflight could not determine. C(facts) describe the file system, and C(disks) names the disks below it.
    - C(needs_privilege) says that nothing was created, because this user may not write there.
    - C(workspace) holds the paths.
    - C(volume_counters) has, for each Amazon volume below the file system that can be asked, how long it was limited until now, as the volume counts it.
      Usually only root may ask.
  returned: always
  type: dict
  sample:
    log1:
      error: ""
      refusals: []
      unknown: []
      needs_privilege: false
      disks: [nvme1n1]
      workspace: {path: /var/mqm/log1/logdisk, run_directory: /var/mqm/log1/logdisk/logdisk-R-log1, directories: [/var/mqm/log1/logdisk/logdisk-R-log1/QM1]}
      volume_counters: [{device: nvme1n1, serial: vol0123456789abcdef0, monotonic_s: 5021.7, volume_iops: 0, volume_throughput: 41000000}]
privileged:
  description: The value of O(privileged). Directories that were created with privilege must be removed with privilege.
  returned: always
  type: bool
"""

import os
import pwd
from functools import partial

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.mqops.logdisk.plugins.module_utils import _block_devices, _queue_managers, _time_limit, _volume_counters, _workspace


def owner_uid(module):
    owner = module.params["owner"]
    try:
        return pwd.getpwnam(owner).pw_uid if owner else None
    except KeyError:
        module.fail_json(msg="workspace_owner: there is no user %r on this host" % owner)


def inspected(p, uid, volume):
    """Return what the preflight finds on a volume. Nothing is written."""
    try:
        plan = _workspace.layout(volume["path"], p["run_id"], volume["name"], volume["queue_managers"], volume["places"])
        preflight = _workspace.Preflight(volume["path"], p["allow"], volume["expect_mount"], uid, volume["direct_sizes"], p["mqs_ini"])
    except OSError as error:
        raise OSError("cannot inspect %s: %s" % (volume["path"], error))
    return dict(
        refusals=preflight.refusals,
        unknown=preflight.unknown,
        facts=dict(preflight.facts, **_queue_managers.log_facts([] if volume["places"] else volume["queue_managers"], p["mqs_ini"])),
        disks=disks_of(preflight.facts),
        workspace=plan,
        needs_privilege=preflight.needs_privilege(),
    )


def disks_of(facts):
    """Return the names of the disks below a file system; the file system itself stands for those that are not shown."""
    try:
        disks = _block_devices.disks_below(_block_devices.number_below(facts["device_number"], facts["mount_source"]))
    except OSError:
        disks = []
    return [os.path.basename(disk) for disk in disks] or ["%s %s" % (facts["device_number"], facts["mount_source"])]


def made(p, found, volume):
    """Create the directories of a volume."""
    counters = _volume_counters.read_below(volume["path"])
    return dict(volume_counters=counters, workspace=_workspace.make(found[volume["name"]]["workspace"], p["run_id"], p["owner"], p["allow"]))


def undo(answer):
    """Remove what was created too late."""
    _workspace.remove(answer["workspace"]["path"], answer["workspace"]["run_directory"])


def answers(p, function, volumes, undo_late=None):
    """Return what the function returned for each volume, by the name of the volume, and an ``error`` if it failed or did not answer."""
    called = _time_limit.call_all([partial(function, volume) for volume in volumes], p["patience_s"], undo_late)
    return dict((volume["name"], with_error(volume, answer)) for volume, answer in zip(volumes, called))


def with_error(volume, answer):
    if isinstance(answer, _time_limit.NoAnswerError):
        return dict(error="the file system of %s did not answer (%s): find out why its storage hangs, and certify it again" % (volume["path"], answer))
    return dict(error=str(answer)) if isinstance(answer, _time_limit.TimeLimitError) else dict(answer, error="")


def why_refused(p, volume, found):
    """Return why a volume is not tested, empty if it is."""
    if found["refusals"]:
        return "refused: " + "; ".join(found["refusals"])
    if found["needs_privilege"] and not p["may_ask_for_privilege"]:
        return "this user cannot write to %s: create it for this user, choose another workspace_path, or set workspace_become: auto" % volume["path"]
    return ""


def inspect_all(p, uid):
    """Return what the preflight finds, by the name of the volume, each with its ``error``."""
    volumes = dict((volume["name"], volume) for volume in p["volumes"])
    found = answers(p, partial(inspected, p, uid), p["volumes"])
    seen = dict((name, answer) for name, answer in found.items() if not answer["error"])
    reserve = p["reserve_bytes"] if p["reserve_share"] is None else p["reserve_share"]
    footprints = dict((name, volumes[name]["footprint_bytes"]) for name, answer in seen.items() if not why_refused(p, volumes[name], answer))
    full = _workspace.space_refusals(footprints, dict((name, answer["facts"]) for name, answer in seen.items()), reserve)
    for name, answer in seen.items():
        answer["refusals"] += [full[name]] if name in full else []
        answer.update(error=why_refused(p, volumes[name], answer), needs_privilege=answer["needs_privilege"] and not answer["refusals"])
    return found


def make_all(p, found):
    """Create the directories of the volumes that have no error and need no privilege, and add to what was found."""
    ready = [volume for volume in p["volumes"] if not found[volume["name"]]["error"] and not found[volume["name"]]["needs_privilege"]]
    created = answers(p, partial(made, p, found), ready, undo)
    for name, answer in created.items():
        found[name].update(answer)
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
                    path=dict(type="str", required=True),
                    queue_managers=dict(type="list", elements="str", default=["QM1"]),
                    places=dict(type="list", elements="str", default=[]),
                    expect_mount=dict(type="str", default=""),
                    footprint_bytes=dict(type="int", required=True),
                    direct_sizes=dict(type="list", elements="int", default=[]),
                ),
            ),
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
                choices=["symlink", "shared_directory", "remote_file_system", "queue_manager_files", "active_log", "unknown_log", "device_in_use"],
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
