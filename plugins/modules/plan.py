#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import (absolute_import, division, print_function)
__metaclass__ = type

DOCUMENTATION = r'''
---
module: plan
short_description: Work out what a sweep will do on a host
description:
  - Checks the options of a sweep and works out the tester's arguments, the space and the time it takes. Nothing is sent to the host.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  block_sizes:
    description: Sizes of the writes, in bytes or with K or M.
    type: list
    elements: str
    required: true
  load_points:
    description: Numbers of queue managers that write at once; empty for all together.
    type: list
    elements: str
    default: []
  queue_managers:
    description: How many queue managers have a directory.
    type: int
    required: true
  duration_s:
    description: Seconds measured a block size and load point.
    type: int
    required: true
  warmup_s:
    description: Seconds written before, not counted.
    type: int
    default: 0
  file_size:
    description: Size of a test file.
    type: str
    required: true
  files:
    description: Number of test files a queue manager.
    type: int
    required: true
  sync:
    description: How a write is made durable; empty for the tester's default.
    type: str
    default: ''
  direct:
    description: C(yes) or C(no); empty for the tester's default.
    type: str
    default: ''
  rate_per_s:
    description: Writes a second for each queue manager; 0 for as fast as the disk takes them.
    type: float
    default: 0
  delay_us:
    description: Pause after each write in microseconds.
    type: int
    default: 0
  verify:
    description: Read every block back after each step and check it.
    type: bool
    default: false
  deadline_s:
    description: Seconds after its start at which the tester ends; 0 for twice the planned time and a minute.
    type: int
    default: 0
attributes:
  action:
    description: Has a corresponding action plugin, which does the work on the controller.
    support: full
  check_mode:
    description: Changes nothing.
    support: full
'''

EXAMPLES = r'''
- name: Work out what the sweep will do
  mqops.logdisk.plan:
    block_sizes: [4K, 64K]
    queue_managers: 2
    duration_s: 60
    file_size: 64M
    files: 16
  register: sweep_planned
'''

RETURN = r'''
plan:
  description: The plan.
  returned: success
  type: dict
  sample: {arguments: ['--bsize=4096,65536'], steps: 2, footprint_bytes: 2147483648, planned_s: 122.0, format_s: 21.5, deadline_s: 390}
'''
