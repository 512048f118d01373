#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: cut_start
short_description: Start writing before a power cut
description:
  - Refuses a host with a running queue manager, and a host on which another run is measuring. Records the boot ID of
    the host and which file system is mounted.
  - The action plugin then starts the tester over a separate connection, and a witness on the controller, which records
    the writes that the tester acknowledges. It returns when the tester has written its files completely.
  - Only the connection plugins P(ansible.builtin.ssh#connection) (without passwords) and
    P(ansible.builtin.local#connection) can be used.
  - The test files are not unlinked, so they survive. M(mqops.logdisk.cut_check) and M(mqops.logdisk.cleanup) remove
    them.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run
  - mqops.logdisk.run.state_dir
  - mqops.logdisk.run.user
options:
  run_path:
    description: The run directory on the controller. The action plugin does not send it to the host.
    type: str
  plan:
    description: The plan, as the step V(cut_plan) returns it. The action plugin does not send it to the host.
    type: dict
  tester:
    description: The tester, as returned by M(mqops.logdisk.build). The action plugin does not send it to the host.
    type: dict
    default: {}
  workspace:
    description: The workspace, as returned by M(mqops.logdisk.workspace). The action plugin
      does not send it to the host.
    type: dict
    default: {}
  number:
    description: Number of the cut, starting at 1. The action plugin does not send it to the host.
    type: int
    default: 1
  volume:
    description: Name of the volume. The action plugin sets this option.
    type: str
    default: log
  path:
    description: Path of the workspace. The action plugin sets this option.
    type: str
    default: ""
  marked:
    description: The directories with a mark of this collection. The action plugin sets this option.
    type: list
    elements: str
    default: []
  mqs_ini:
    description: Path of the file that lists the queue managers.
    type: path
    default: /var/mqm/mqs.ini
attributes:
  check_mode:
    description: In check mode, the module inspects the host without starting anything. The action plugin writes a
      record that says what would be done.
    support: full
"""

EXAMPLES = r"""
- name: Start writing
  mqops.logdisk.cut_start:
    run_id: "{{ gate_run.run_id }}"
    run_path: "{{ gate_run.path }}"
    state_dir: ~/.mqops-logdisk
    plan: "{{ power_cut_plan }}"
    tester: "{{ tester_ready }}"
    workspace: "{{ workspace_layout }}"
"""

RETURN = r"""
before:
  description: The boot ID of the host, and facts about the file system under test.
  returned: success
  type: dict
  sample: {boot_id: 0f0c2d6e-6a0e-4f0c-8f0e-2d6e6a0e4f0c, mount_point: /var/mqm/log, filesystem_uuid: 1f0c}
interpreter:
  description: Path of the Python that runs this module.
  returned: success
  type: str
state_path:
  description: Directory for the state of the run on the host.
  returned: success, not in check mode
  type: str
lock:
  description: Path of the file that the tester locks.
  returned: success, not in check mode
  type: str
tables_path:
  description: Directory for the tables of the tester.
  returned: success, not in check mode
  type: str
number:
  description: Number of the cut. The action plugin adds it.
  returned: success
  type: int
problem:
  description: The reason why the tester is not writing. Empty if it is writing. The action plugin adds it.
  returned: success, not in check mode
  type: str
ready_epoch_s:
  description: When the tester was ready, by the clock of the controller. The action plugin adds it.
  returned: success, not in check mode
  type: float
"""

import os
import sys
import time

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import _power_cut, _queue_managers, _runs, _user


def begin(p):
    """Create the state of the run, which replaces the state of the previous cut. Raises OSError and RunError."""
    run = _runs.Run(p["state_dir"], p["run_id"], p["volume"])
    _runs.own_directory(run.state_dir)
    os.close(run.lock())
    if run.exists():
        run.remove()
    run.create()
    run.write_start(dict(paths=[p["path"]], run_directories=p["marked"], started_epoch_s=time.time(), power_cut=True))
    _power_cut.sync_marks(p["marked"])
    return dict(state_path=run.path, tables_path=run.tables_path, lock=os.path.join(run.state_dir, "lock"))


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_id=dict(type="str", required=True),
            state_dir=dict(type="str", required=True),
            run_path=dict(type="str"),
            plan=dict(type="dict"),
            tester=dict(type="dict", default={}),
            workspace=dict(type="dict", default={}),
            number=dict(type="int", default=1),
            volume=dict(type="str", default="log"),
            path=dict(type="str", default=""),
            marked=dict(type="list", elements="str", default=[]),
            mqs_ini=dict(type="path", default=_queue_managers.MQS_INI),
            user=dict(type="str", default=""),
        ),
        supports_check_mode=True,
    )
    p = module.params
    _user.refuse_other(module)
    refusal = _queue_managers.why_not_to_cut(p["mqs_ini"])
    if refusal:
        module.fail_json(msg=refusal)
    before = _power_cut.look(p["path"])
    if before["problem"]:
        module.fail_json(msg=before["problem"])
    try:
        begun = {} if module.check_mode else begin(p)
    except (OSError, _runs.RunError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=True, before=before, interpreter=sys.executable, time_epoch_s=time.time(), **begun)


if __name__ == "__main__":
    main()
