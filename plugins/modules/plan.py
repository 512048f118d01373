#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: plan
short_description: Plan a sweep of the volumes of a host
description:
  - Checks the options of a sweep, and determines the tester's options, and the space and time that the sweep needs. The
    host is not contacted.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
  - mqops.logdisk.controller.profile_dir
options:
  options:
    description: The values of all options of the host by name, as the lookup P(mqops.logdisk.option#lookup) returns
      them for V(all). Returned unchanged.
    type: dict
    required: true
  overrides:
    description: Values that the plan uses instead of those in O(options).
    type: dict
    default: {}
  discovered:
    description:
      - The result of M(mqops.logdisk.queue_manager_info). If O(run_path) is set, this result determines the volumes,
        even if it is empty.
      - The plan is then shown and saved in the run directory, also as a variables file. If a queue manager cannot be
        planned, a record is written for it, as for a volume.
    type: dict
    default: {}
  run_path:
    description: The run directory on the controller. Set this option only if O(discovered) is the answer of a host.
    type: path
    default: ""
  workload_dir:
    description: The directory on the controller that contains the workloads of this collection.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Plan the sweep
  mqops.logdisk.plan:
    options: "{{ lookup('mqops.logdisk.option', 'all') }}"
    profile_dir: roles/gate/files/profiles
    workload_dir: roles/sweep/files/workloads
  register: sweep_plan
"""

RETURN = r"""
volumes:
  description:
    - The plan of each volume. C(told) contains the options of its tester, without its directories.
    - The volume starts C(start_offset_s) seconds after the first one. The other figures have the same meaning as the
      figures of the host.
  returned: success
  type: list
  elements: dict
  sample: [{name: log1, path: /var/mqm/log1/logdisk, told: {bsize: [4096, 65536]}, footprint_bytes: 2147483648,
            start_offset_s: 0}]
discover:
  description: Whether the volumes still have to be discovered.
  returned: success
  type: bool
options:
  description: The value of O(options).
  returned: success
  type: dict
footprint_bytes:
  description: Total size of all test files of the host.
  returned: success
  type: int
sweep_duration:
  description: Number of seconds for which each row is measured.
  returned: success
  type: int
planned_s:
  description: Number of seconds that the steps take, from the start of the first volume to the end of the last one.
  returned: success
  type: float
certify_s:
  description: Number of seconds that the steps take if each row is measured for as long as the profile requires.
  returned: success
  type: float
notes:
  description: Notes about limits for which a measurement of the requested duration is too short.
  returned: success
  type: list
  elements: str
deadline_s:
  description: Number of seconds after which the tester always ends.
  returned: success
  type: float
"""
