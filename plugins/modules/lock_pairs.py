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
  - Hosts for which no plan names a partner are paired if they have a queue manager of the same name with the same
    directory. The directory under test is then beside the log of this queue manager. Hosts that are connected by pairs
    are all tested in the directory of the first one.
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
  description: The pairs, in the order of the hosts. C(maker) is the host that creates the directory. The names of the
    pair's files in this directory begin with C(label).
  returned: success
  type: list
  elements: dict
  sample: [{first: db01, second: db02, maker: db01, label: pair1}]
volumes:
  description: The planned volume of each host in a pair, by host. The volumes of hosts that are connected by pairs
    have the same name.
  returned: success
  type: dict
makers:
  description: The planned volumes of the hosts that create a directory, by host, with space for all pairs.
  returned: success
  type: dict
problems:
  description: The reasons why hosts cannot be tested, by host, for example that a host does not share a directory with
    any other host.
  returned: success
  type: dict
"""
