#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: machines
short_description: Find inventory hosts that are the same machine
description:
  - Compares the facts that M(mqops.logdisk.probe) found on each host. Two hosts are the same machine if their host
    name, their boot_id and their machine-id (if they have one) are equal.
  - If two inventory names led to the same machine, one measurement would certify both names, or the measurement of each
    would disturb the other.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  hosts:
    description: The hosts of the play. Hosts that were not probed are ignored.
    type: list
    elements: str
    required: true
"""

EXAMPLES = r"""
- name: Find hosts that are the same machine
  mqops.logdisk.machines:
    hosts: "{{ ansible_play_hosts }}"
  run_once: true
  register: tester_machines
"""

RETURN = r"""
doubles:
  description: A message for each host that is the same machine as another host, by host.
  returned: success
  type: dict
  sample:
    db01: "db01 and db01-alias are the same machine (hostname db01): name it once in the inventory"
    db01-alias: "db01 and db01-alias are the same machine (hostname db01): name it once in the inventory"
waiting:
  description: The hosts in O(hosts) on which the tester is not installed yet, and the hosts in RV(doubles).
  returned: success
  type: list
  elements: str
without_workspace:
  description: The hosts in O(hosts) whose workspace M(mqops.logdisk.start) cannot create, because this needs elevated
    privileges or because M(mqops.logdisk.probe) did not inspect the workspace.
  returned: success
  type: list
  elements: str
"""
