#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: lock_pairs
short_description: Determine which hosts are tested with each other
description:
  - Uses the plans of all hosts, as M(mqops.logdisk.lock_plan) returned them, and the queue managers that
    M(mqops.logdisk.probe) discovered. No host is contacted.
  - Hosts that no plan pairs are paired if they have a queue manager of the same name with the same directory. The
    directory under test is then beside its log.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  run_path:
    description: The run directory on the controller.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Determine the pairs
  mqops.logdisk.lock_pairs:
    run_path: "{{ gate_run.path }}"
  run_once: true
  register: locks_pairs
"""

RETURN = r"""
pairs:
  description: The pairs, in the order of the hosts. C(maker) is the host that makes the directory, in which the
    names of the pair's files begin with C(label).
  returned: success
  type: list
  elements: dict
  sample: [{first: db01, second: db02, maker: db01, label: pair1}]
volumes:
  description: The planned volume of each host in a pair, by host.
  returned: success
  type: dict
makers:
  description: The planned volumes of the hosts that make a directory, by host, with space for all pairs.
  returned: success
  type: dict
problems:
  description: Why hosts cannot be tested, by host. No other host shares a directory with them, or several do.
  returned: success
  type: dict
"""
