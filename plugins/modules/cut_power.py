#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: cut_power
short_description: Cut the power of a host
description:
  - The action plugin waits until the tester has written for O(after_s) seconds. Then it calls the module, which looks
    for queue managers that have started on the host. It also makes sure that the witness still receives
    acknowledgements from the tester. If either check fails, the power is not cut.
  - Then the action plugin runs O(command) on the controller. If it is empty, tasks that you provide cut the power next,
    but only if RV(go) is true.
  - The action plugin never fails because of the host. M(mqops.logdisk.cut_check) records the outcome of the cut.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run.user
  - mqops.logdisk.run.cut
options:
  volume:
    description: Name of the volume. The action plugin does not send it to the host.
    type: str
  command:
    description:
      - A shell command to run on the controller. It is shown in the report, so it must not contain a password. The
        action plugin does not send it to the host.
    type: str
    default: ""
  after_s:
    description: Number of seconds that the tester writes before the cut. The action plugin
      does not send it to the host.
    type: float
    default: 10
  limit_s:
    description: Number of seconds after which the command is killed. The action plugin does not send it to the host.
    type: float
    default: 120
  mqs_ini:
    description: Path of the file that lists the queue managers.
    type: path
    default: /var/mqm/mqs.ini
attributes:
  check_mode:
    description: In check mode, nothing is cut.
    support: full
"""

EXAMPLES = r"""
- name: Cut the power
  mqops.logdisk.cut_power:
    run_path: "{{ gate_run.path }}"
    started: "{{ power_cut_started }}"
    volume: log
    command: ipmitool -I lanplus -H bmc-db01 -U cut -f /etc/bmc.password chassis power cycle
"""

RETURN = r"""
refusal:
  description: The reason why the power must not be cut. Empty if it may be cut. The action plugin does not return it.
  returned: never
  type: str
go:
  description: Whether the tester was confirmed to be writing, so that the power may be cut.
  returned: success
  type: bool
status:
  description: Exit status of the command. None if there is no command, or if it was killed at its time limit.
  returned: success
  type: int
output:
  description: The end of what the command printed.
  returned: success
  type: str
problem:
  description: The reason why the power was not cut, or why the command has no status.
  returned: success
  type: str
seconds:
  description: How long the command took.
  returned: success
  type: float
ended_ns:
  description: When the command ended, by the monotonic clock of the controller.
  returned: if there is a command
  type: int
"""

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import _queue_managers, _user


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_path=dict(type="str"),
            started=dict(type="dict"),
            volume=dict(type="str"),
            command=dict(type="str", default=""),
            after_s=dict(type="float", default=10),
            limit_s=dict(type="float", default=120),
            mqs_ini=dict(type="path", default=_queue_managers.MQS_INI),
            user=dict(type="str", default=""),
        ),
        supports_check_mode=True,
    )
    _user.refuse_other(module)
    module.exit_json(changed=False, refusal=_queue_managers.why_not_to_cut(module.params["mqs_ini"]))


if __name__ == "__main__":
    main()
