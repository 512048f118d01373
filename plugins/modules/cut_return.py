#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: cut_return
short_description: Wait until a host is back after a power cut
description:
  - Returns the boot ID of the host, which file system is mounted, and whether the tester is still there.
  - The action plugin first waits until the witness has lost its connection. Then it calls the module until the host has
    another boot ID and the same file system is mounted, or until O(wait_s) seconds have passed.
  - The action plugin never fails because of the host. M(mqops.logdisk.cut_check) records the outcome of the cut.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run.user
  - mqops.logdisk.run.cut
options:
  command:
    description: The result of M(mqops.logdisk.cut_power). The action plugin does not send it to the host.
    type: dict
  problem:
    description: The reason why a task that was meant to cut the power failed. Empty if none failed. The action plugin
      does not send it to the host.
    type: str
    default: ""
  wait_s:
    description: Number of seconds within which the host must be back. The action plugin does not send it to the host.
    type: float
    default: 600
  path:
    description: Path of the workspace. The action plugin sets this option.
    type: str
    default: ""
  tester:
    description: Path of the tester on the host. The action plugin sets this option.
    type: str
    default: ""
attributes:
  check_mode:
    description: This module changes nothing.
    support: full
"""

EXAMPLES = r"""
- name: Wait for the host
  mqops.logdisk.cut_return:
    run_path: "{{ gate_run.path }}"
    started: "{{ power_cut_started }}"
    command: "{{ power_cut_command }}"
"""

RETURN = r"""
after:
  description: The boot ID of the host, and facts about the file system under test. None if the host did not come back.
  returned: success
  type: dict
tester_is_there:
  description: Whether the tester is still there and unchanged.
  returned: if the host came back
  type: bool
problem:
  description: The reason why the host is not back. The action plugin adds it.
  returned: success
  type: str
waited_s:
  description: Number of seconds since the connection was lost. The action plugin adds it.
  returned: success
  type: float
begun_ns:
  description: The latest time at which the command or tasks that cut the power may have ended, by the monotonic clock
    of the controller. The action plugin adds it.
  returned: success
  type: int
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import _power_cut, _tester, _user


def is_there(tester):
    """True if the tester is there, is executable, and has not changed since it was installed."""
    try:
        return os.access(tester, os.X_OK) and _tester.file_sha256(tester) == _tester.read_hash(tester)
    except (IOError, OSError):
        return False


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_path=dict(type="str"),
            started=dict(type="dict"),
            command=dict(type="dict"),
            problem=dict(type="str", default=""),
            wait_s=dict(type="float", default=600),
            path=dict(type="str", default=""),
            tester=dict(type="str", default=""),
            user=dict(type="str", default=""),
        ),
        supports_check_mode=True,
    )
    p = module.params
    _user.refuse_other(module)
    module.exit_json(changed=False, after=_power_cut.look(p["path"]), tester_is_there=is_there(p["tester"]))


if __name__ == "__main__":
    main()
