#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: plan
short_description: Work out what a sweep will do on the volumes of a host
description:
  - Checks the options of a sweep and works out the arguments of the tester, the space and the time that the sweep needs. The host is not contacted.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
  - mqops.logdisk.controller.profile_dir
options:
  variables:
    description: The C(sweep_*) variables of the role by name, as far as they say what the tester does.
    type: dict
    required: true
  target:
    description:
      - The load that each volume must carry, C(sweep_target) of the role. It is checked and returned unchanged.
    type: raw
  volumes:
    description: The value of C(workspace_volumes), a list or its text. If it is empty, the host has one volume.
    type: raw
  discover:
    description: Whether the volumes are yet to be discovered. Then the plan only checks the variables, and one volume stands for those of the host.
    type: bool
    default: false
  discovered:
    description:
      - What M(mqops.logdisk.queue_manager_info) returned. With O(run_path), it decides on the volumes instead of O(volumes), even if it is empty.
      - The plan is shown and noted in the run directory, also as a file of variables. A queue manager that cannot be planned gets the record of a volume.
    type: dict
    default: {}
  absent:
    description:
      - What to do with an existing queue manager whose log is not on the host, for O(discovered). With V(error), its volume gets the verdict error.
      - With V(skip), it is listed and left out. If a host has no other queue manager, the task fails, and the host is not measured.
    type: str
    choices: [error, skip]
    default: error
  run_path:
    description: The run directory on the controller. Set it only if O(discovered) is what a host answered.
    type: path
    default: ""
  defaults:
    description: What C(name), C(path), C(queue_managers), C(owner) and C(expect_mount) of a volume fall back to.
    type: dict
    required: true
  order:
    description: V(together) measures all volumes of the host at the same time, V(in_turn) one after the other.
    type: str
    choices: [together, in_turn]
    default: together
  options:
    description: Other options of the tester by name, such as C(alignment). The options that the collection sets itself are refused.
    type: dict
    default: {}
  settings:
    description: The options of the role P(mqops.logdisk.gate#role), which are returned as they are. M(mqops.logdisk.open_run) reads them.
    type: dict
    default: {}
  profile:
    description: The profile by which the host is judged, as the name of a profile of this collection, a path or a dictionary.
    type: raw
    required: true
  workload_dir:
    description: The directory on the controller that contains the workloads of this collection.
    type: str
    required: true
  run_wide:
    description: Settings that concern the whole run. They are returned as they are.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Plan the sweep
  mqops.logdisk.plan:
    variables:
      sweep_block_sizes: [4K, 64K]
      sweep_duration: 60
      sweep_file_size: 64M
      sweep_files: 16
    volumes:
      - {name: log1, path: /var/mqm/log1/logdisk, queue_managers: [QM1, QM2]}
      - {name: log2, path: /var/mqm/log2/logdisk, queue_managers: [QM3], file_size: 16M}
    defaults: {name: log, path: /var/tmp/logdisk, queue_managers: [QM1], owner: "", expect_mount: ""}
    options: {alignment: 512}
    profile: mq-log-silver
    profile_dir: roles/gate/files/profiles
    workload_dir: roles/sweep/files/workloads
  register: sweep_plan
"""

RETURN = r"""
volumes:
  description:
    - The plan of each volume. C(arguments) are those of its tester, without its directories.
    - It starts C(start_offset_s) seconds after the first volume. The other figures are as those of the host.
  returned: success
  type: list
  elements: dict
  sample: [{name: log1, path: /var/mqm/log1/logdisk, arguments: ['--bsize=4096,65536'], footprint_bytes: 2147483648, start_offset_s: 0}]
discover:
  description: Whether the volumes are yet to be discovered.
  returned: success
  type: bool
defaults:
  description: The value of O(defaults).
  returned: success
  type: dict
footprint_bytes:
  description: Size of all test files of the host together.
  returned: success
  type: int
sweep_duration:
  description: Seconds that each row is measured.
  returned: success
  type: int
planned_s:
  description: Seconds that the steps take, from the start of the first volume to the end of the last one.
  returned: success
  type: float
certify_s:
  description: Seconds that the steps take if each row is measured for as long as the profile asks for.
  returned: success
  type: float
notes:
  description: What the asked duration cannot decide.
  returned: success
  type: list
  elements: str
deadline_s:
  description: Seconds after which the tester ends in any case.
  returned: success
  type: float
"""
