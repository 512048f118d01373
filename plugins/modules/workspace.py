#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: workspace
short_description: Create the directories under test, one for each volume and queue manager
description:
  - Runs a preflight of all volumes first, which does not write anything. If the preflight finds a reason not to test a
    volume, this volume is refused.
  - Then creates a directory for the run on each of the other volumes. It contains the mark of this collection, and one
    directory for each queue manager.
  - A problem with a volume is returned as its error and does not affect the other volumes. That includes a file
    system that does not answer.
  - The action plugin writes the record of a volume with an error. It fails if no volume is left to test.
  - In check mode, only the preflight is run.
  - These are the options of the module. Tasks pass the results of earlier tasks to its action plugin, as the example
    shows.
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
        description: The mount point that each path must be on, or several, separated by commas. If empty,
          any mount point is accepted.
        type: str
        default: ""
      parts:
        description: The paths of the volume. The list is empty if all places of the volume are devices. The volume is
          tested on all of its paths or on none.
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
            description: Names of the places of a workload of streams. If there are places, each place has a directory,
              and queue managers have none.
            type: list
            elements: str
            default: []
          footprint_bytes:
            description: Number of bytes that the test files need on this path. All test files on a file system must fit
              together.
            type: int
            required: true
          direct_sizes:
            description: Sizes, in bytes, of the writes that bypass the page cache. The volume is refused if the device
              does not support one of them.
            type: list
            elements: int
            default: []
      devices:
        description: The places of the volume that are block devices. The module does not touch them.
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
      - State directory of the runs. Empty directories on the paths under test are removed if they are older than an
        hour and belong to runs whose state is not there, because their testers never started. If empty, nothing is
        removed.
    type: str
    default: ""
  owner:
    description: The user who owns the directories. If empty, it is the user that the module runs as.
    type: str
    default: ""
  run_as:
    description: User as which later tasks run. The action plugin returns it and does not send it to the host.
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
    description: Number of seconds to wait for a file system that does not answer. Anything that is created on it later
      is removed.
    type: float
    default: 30
  settings:
    description: The settings of the host to read, as the action plugin takes them from the catalogue of settings.
    type: list
    elements: dict
    default: []
    suboptions:
      id:
        description: The id of the setting.
        type: str
        required: true
      when:
        description: Facts of the file system and, for each, the words of which it must have one.
        type: dict
        default: {}
      read:
        description: How the setting is read.
        type: dict
        required: true
attributes:
  check_mode:
    description: In check mode, the module runs the whole preflight and does not create anything.
    support: full
"""

EXAMPLES = r"""
- name: Create the workspace
  mqops.logdisk.workspace:
    run_id: "{{ workspace_run_id }}"
    run_path: "{{ workspace_run_path }}"
    volumes: "{{ workspace_plan }}"
    facts: "{{ workspace_host_facts }}"
    known: {}
    state_dir: ~/.mqops-logdisk
    options: "{{ workspace_asked }}"
    privileged: false
  register: workspace_layout
"""

RETURN = r"""
volumes:
  description:
    - The results of the preflight and the directories that were created, by volume name.
    - C(error) says why the volume is not tested, and is empty otherwise. C(refusals) contains the reasons of the
      preflight. Each names the option that overrides it, if there is one.
    - C(unknown) lists what the preflight could not determine. C(facts) describe the file system of the first path,
      including the other paths (C(places)) and the disks below all of them (C(disks)).
    - C(needs_privilege) is true if nothing was created because this user may not write there.
    - C(workspace) contains the paths.
    - C(volume_counters) contains, for each Amazon volume below the file system that can be queried, how long the volume
      has been throttled so far, according to its own counters. Reading them usually requires root.
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

import pwd

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import _queue_managers, _workspaces


def owner_uid(module):
    owner = module.params["owner"]
    try:
        return pwd.getpwnam(owner).pw_uid if owner else None
    except KeyError:
        module.fail_json(msg="workspace_owner: there is no user %r on this host" % owner)


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
            settings=dict(
                type="list",
                elements="dict",
                default=[],
                options=dict(
                    id=dict(type="str", required=True),
                    when=dict(type="dict", default={}),
                    read=dict(type="dict", required=True),
                ),
            ),
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
    found = _workspaces.inspect_all(p, owner_uid(module))
    changed = module.check_mode or _workspaces.make_all(p, found)
    module.exit_json(changed=changed, volumes=found, privileged=p["privileged"])


if __name__ == "__main__":
    main()
