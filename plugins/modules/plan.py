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
short_description: Work out what a sweep will do on a host
description:
  - Checks the options of a sweep and works out the arguments of the tester, the space and the time that the sweep needs. The host is not contacted.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
  - mqops.logdisk.controller.profile_dir
options:
  variables:
    description: The C(sweep_*) variables of the role by name, as far as they set options of the tester.
    type: dict
    required: true
  target:
    description:
      - What each volume is asked to carry, C(sweep_target) of the role. It is checked and returned as it is.
    type: raw
  queue_managers:
    description: Number of queue managers in the workspace.
    type: int
    required: true
  options:
    description: Other options of the tester by name, such as C(alignment). The options that the collection sets itself are refused.
    type: dict
    default: {}
  profile:
    description: The profile by which the host is judged, as the name of a profile of this collection, a path or a dictionary.
    type: raw
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
    queue_managers: 2
    options: {alignment: 512}
    profile: mq-log-silver
    profile_dir: roles/gate/files/profiles
  register: sweep_plan
"""

RETURN = r"""
arguments:
  description: Arguments of the tester, without its directories.
  returned: success
  type: list
  elements: str
  sample: ['--bsize=4096,65536']
footprint_bytes:
  description: Size of all test files together.
  returned: success
  type: int
sweep_duration:
  description: Seconds that each row is measured.
  returned: success
  type: int
planned_s:
  description: Seconds that the steps take.
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
