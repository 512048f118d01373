#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: schedule
short_description: Set the start time of each host of a sweep
description:
  - Works out when each host starts, by the controller's clock. With O(mode=together) it is the same instant for all hosts.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  mode:
    description: V(together) starts all hosts at the same instant. V(isolated) measures one host at a time in each storage pool.
    type: str
    choices: [together, isolated]
    default: together
  hosts:
    description: The hosts of the play. Hosts without a plan or a workspace are ignored.
    type: list
    elements: str
    required: true
  run_id:
    description: ID of the run. Hosts whose fact C(sweep_ready) does not name it are skipped.
    type: str
    required: true
  run_path:
    description: The run directory on the controller. It is part of the commands that the module prints for ending the run and collecting its results.
    type: path
    required: true
attributes:
  action:
    description: This module has a corresponding action plugin, which does all of the work on the controller.
    support: full
  check_mode:
    description: This module does not change anything.
    support: full
"""

EXAMPLES = r"""
- name: Set the start of every host
  mqops.logdisk.schedule:
    hosts: "{{ ansible_play_hosts }}"
    run_id: 20261121T104935Z-1f0c2a
    run_path: reports/20261121T104935Z-1f0c2a
  run_once: true
  register: sweep_schedule
"""

RETURN = r"""
starts:
  description: Start time of each host, in seconds since the epoch by the controller's clock.
  returned: success
  type: dict
"""
