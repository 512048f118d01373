#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: record
short_description: Write the records of a host that was not measured
description:
  - For each volume that the host is expected to report, writes a record to the run directory on the controller.
  - With O(failed_result), the record is of the kind C(error) and contains the verdict and its reason. Otherwise it is
    of the kind C(preflight) and describes what a measurement would do.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  run_path:
    description: The run directory on the controller.
    type: str
    required: true
  failed_result:
    description: The result of the task that failed. A record that already exists is kept.
    type: dict
    default: {}
  plan:
    description: The plan of the sweep, as returned by M(mqops.logdisk.plan).
    type: dict
    default: {}
  workspace:
    description: The workspace, as returned by M(mqops.logdisk.workspace).
    type: dict
    default: {}
  facts:
    description: Facts about the host.
    type: dict
    default: {}
attributes:
  check_mode:
    description: The record is also written in check mode, because a preflight reports why hosts would be refused.
    support: full
"""

EXAMPLES = r"""
- name: Record why this host was not measured
  mqops.logdisk.record:
    run_path: "{{ gate_run.path }}"
    failed_result: "{{ ansible_failed_result }}"
"""

RETURN = r"""
logdisk:
  description: The host, the verdict and its reason for each volume, and the version of the schema.
  returned: if a record was written
  type: dict
  sample: {schema: 1, kind: error, host: db07, verdict: unreachable, volumes: {log: No route to host}}
"""
