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
short_description: Create the directories under test, one per queue manager
description:
  - Runs a preflight first, which does not write anything. If it finds a reason not to test there (see RV(refusals)), the module fails.
  - Then creates a directory for the run, which carries the mark of this collection, and in it one directory per queue manager.
  - In check mode only the preflight is run.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run
options:
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
  owner:
    description: The user who owns the directories. If empty, it is the user that the module runs as.
    type: str
    default: ""
  run_as:
    description: User that later tasks become. The action plugin returns it and does not send it to the host.
    type: str
    default: ""
  footprint_bytes:
    description: Number of bytes that the test files need.
    type: int
    required: true
  direct_sizes:
    description: Sizes, in bytes, of the writes that bypass the page cache. The module fails if the device does not support one of them.
    type: list
    elements: int
    default: []
  reserve_bytes:
    description: Number of bytes that must remain free in addition to the test files. O(reserve_share) overrides it.
    type: int
    default: 0
  reserve_share:
    description: Space that must remain free in addition to the test files, as a fraction (0 to 1) of the size of the file system.
    type: float
  expect_mount:
    description: The mount point that O(path) must be on. If empty, any mount point is accepted.
    type: str
    default: ""
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
  privileged:
    description: Whether the task runs as root to create the directories.
    type: bool
    default: false
  may_ask_for_privilege:
    description: If this user may not write to the directory, set RV(needs_privilege) instead of failing.
    type: bool
    default: true
attributes:
  check_mode:
    description: In check mode the module runs the whole preflight and does not create anything.
    support: full
"""

EXAMPLES = r"""
- name: Create the workspace
  mqops.logdisk.workspace:
    path: /var/mqm/log/logdisk
    run_id: 20261121T104935Z-1f0c2a
    volume: log
    queue_managers: [QM1, QM2]
    footprint_bytes: 2147483648
"""

RETURN = r"""
refusals:
  description: The reasons not to test there. Each one names the option that overrides it, if there is one.
  returned: always
  type: list
  elements: str
unknown:
  description: What the preflight could not determine.
  returned: always
  type: list
  elements: str
needs_privilege:
  description: Whether nothing was created because this user may not write there.
  returned: always
  type: bool
privileged:
  description: The value of O(privileged). Directories that were created with privilege must be removed with privilege.
  returned: always
  type: bool
facts:
  description: Facts about the file system under test.
  returned: always
  type: dict
volume_counters:
  description:
    - For each Amazon volume below the file system under test that can be asked, how long it was limited until now, as the volume counts it.
    - Empty if there is none, or if this user may not ask it. Usually only root may.
  returned: when the directories were created
  type: list
  elements: dict
  sample: [{device: nvme1n1, serial: vol0123456789abcdef0, monotonic_s: 5021.7, volume_iops: 0, volume_throughput: 41000000}]
workspace:
  description: The paths of the workspace.
  returned: always
  type: dict
  sample: {path: /var/tmp/logdisk, run_directory: /var/tmp/logdisk/logdisk-R-log, directories: [/var/tmp/logdisk/logdisk-R-log/QM1]}
"""

import pwd

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.mqops.logdisk.plugins.module_utils import _queue_managers, _volume_counters, _workspace


def owner_uid(module):
    owner = module.params["owner"]
    try:
        return pwd.getpwnam(owner).pw_uid if owner else None
    except KeyError:
        module.fail_json(msg="workspace_owner: there is no user %r on this host" % owner)


def main():
    module = AnsibleModule(
        argument_spec=dict(
            path=dict(type="str", required=True),
            run_id=dict(type="str", required=True),
            volume=dict(type="str", required=True),
            queue_managers=dict(type="list", elements="str", default=["QM1"]),
            owner=dict(type="str", default=""),
            run_as=dict(type="str", default=""),
            footprint_bytes=dict(type="int", required=True),
            direct_sizes=dict(type="list", elements="int", default=[]),
            reserve_bytes=dict(type="int", default=0),
            reserve_share=dict(type="float"),
            expect_mount=dict(type="str", default=""),
            privileged=dict(type="bool", default=False),
            may_ask_for_privilege=dict(type="bool", default=True),
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
    reserve = p["reserve_bytes"] if p["reserve_share"] is None else p["reserve_share"]
    try:
        plan = _workspace.layout(p["path"], p["run_id"], p["volume"], p["queue_managers"])
        preflight = _workspace.Preflight(p["path"], p["footprint_bytes"], reserve, p["allow"], p["expect_mount"], owner_uid(module), p["direct_sizes"])
        result = dict(
            refusals=preflight.refusals,
            unknown=preflight.unknown,
            facts=dict(preflight.facts, queue_manager_log_set_bytes=_queue_managers.largest_log_set_bytes(p["queue_managers"])),
            workspace=plan,
            needs_privilege=not preflight.refusals and preflight.needs_privilege(),
            privileged=p["privileged"],
        )
        if preflight.refusals:
            module.fail_json(msg="refused: " + "; ".join(preflight.refusals), **result)
        if result["needs_privilege"] and not p["may_ask_for_privilege"]:
            module.fail_json(
                msg="this user cannot write to %s: create it for this user, choose another workspace_path, or set workspace_become: auto" % p["path"], **result
            )
        if result["needs_privilege"] or module.check_mode:
            module.exit_json(changed=module.check_mode, **result)
        result["volume_counters"] = _volume_counters.read_below(p["path"])
        result["workspace"] = _workspace.make(plan, p["run_id"], p["owner"], p["allow"])
    except _workspace.WorkspaceError as error:
        module.fail_json(msg=str(error))
    except OSError as error:
        module.fail_json(msg="cannot inspect %s: %s" % (p["path"], error))
    module.exit_json(changed=True, **result)


if __name__ == "__main__":
    main()
