#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: cut_power
short_description: Cut the power of a host
description:
  - Waits until the tester has written for O(after_s) seconds, and makes sure that the witness still sees it write. Otherwise nothing is cut.
  - Then runs O(command) on the controller. If it is empty, tasks of your own cut the power next, but only if RV(go) is true.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  run_path:
    description: The run directory on the controller.
    type: str
    required: true
  started:
    description: What M(mqops.logdisk.cut_start) returned.
    type: dict
    required: true
  volume:
    description: Name of the volume.
    type: str
    required: true
  command:
    description: A command for the shell on the controller. It is shown in the report, so it must not contain a password.
    type: str
    default: ""
  after_s:
    description: Number of seconds for which the tester writes before the cut.
    type: float
    default: 10
  limit_s:
    description: Number of seconds after which the command is ended.
    type: float
    default: 120
attributes:
  check_mode:
    description: In check mode nothing is cut.
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
go:
  description: Whether the tester was seen to write, so that the power is cut.
  returned: success
  type: bool
status:
  description: Exit status of the command. None if there is no command, or if it was ended after its time.
  returned: success
  type: int
output:
  description: The end of what the command printed.
  returned: success
  type: str
problem:
  description: Why nothing was cut, or why the command has no status.
  returned: success
  type: str
seconds:
  description: How long the command took.
  returned: success
  type: float
"""
