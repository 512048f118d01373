#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: lock_test
short_description: Test the locks of all pairs of hosts
description:
  - Starts the testers of both hosts of each pair over separate connections, has them lock and write, and records what
    happened. Runs the commands that the user provides for cutting the power of a host and for making the file server
    fail over.
  - Pairs that have a host or a file server in common are tested one after the other, and the others at the same time.
  - Uses the results of M(mqops.logdisk.lock_plan), M(mqops.logdisk.lock_start) and M(mqops.logdisk.lock_guard) of all
    hosts, and writes the records of these hosts. It never fails because of a host.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  run_path:
    description: The run directory on the controller.
    type: str
    required: true
  pairs:
    description: The result of M(mqops.logdisk.lock_pairs).
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Test the locks of all pairs
  mqops.logdisk.lock_test:
    run_path: "{{ gate_run.path }}"
    pairs: "{{ locks_pairs }}"
  run_once: true
"""

RETURN = r"""
pairs:
  description: The number of pairs that were tested.
  returned: success
  type: int
"""
