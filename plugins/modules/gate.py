#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import (absolute_import, division, print_function)
__metaclass__ = type

DOCUMENTATION = r'''
---
module: gate
short_description: Judge a fleet and write its report
description:
  - Gives missing hosts their records, judges the fleet by its records, writes the verdict and renders the report.
  - Writes C(outcome.json) beside the run directories, by which a pipeline tells a verdict from wrong usage and from an internal error.
  - Does not fail for a verdict. The result says which hosts are to fail, and what is to stop the fleet besides.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  run_path:
    description: The run directory on the controller.
    type: path
    required: true
  judged_hosts:
    description: The hosts of the play, which can fail by their own verdicts.
    type: list
    elements: str
    required: true
attributes:
  action:
    description: Has a corresponding action plugin, which does the work on the controller.
    support: full
  check_mode:
    description: Reports the refusals to be expected; there is no verdict in check mode.
    support: full
'''

EXAMPLES = r'''
- name: Judge the fleet and write the report
  mqops.logdisk.gate:
    run_path: "{{ gate_run.path }}"
    judged_hosts: "{{ ansible_play_hosts_all }}"
  run_once: true
  register: gate_judged
'''

RETURN = r'''
logdisk:
  description: The verdict, and whether the policy stops the play.
  returned: success
  type: dict
  sample: {schema: 1, kind: gate, verdict: fail, certified: false, gate_failed: true}
failures:
  description: The message of each host that the policy stops at; empty if the gate only reports.
  returned: success
  type: dict
fleet_problems:
  description: What stops the gate and is no verdict of a host in the play, a sentence each.
  returned: success
  type: list
  elements: str
outcome:
  description: What C(outcome.json) says of the run.
  returned: success
  type: dict
hosts:
  description: The verdict of each host.
  returned: success
  type: dict
'''
