#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import (absolute_import, division, print_function)
__metaclass__ = type

DOCUMENTATION = r'''
---
module: schedule
short_description: Set the start of every host of a sweep
description:
  - Works out one absolute instant for all hosts, or one for each where they are tested alone, in the controller's clock.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  mode:
    description: C(together), or C(isolated) with one host at a time in each storage pool.
    type: str
    choices: [together, isolated]
    default: together
  hosts:
    description: The hosts of the play; those without a plan and a workspace are passed over.
    type: list
    elements: str
    required: true
  run_path:
    description: The run directory on the controller, to say how to end the run and bring its results home.
    type: path
    required: true
attributes:
  action:
    description: Has a corresponding action plugin, which does the work on the controller.
    support: full
  check_mode:
    description: Changes nothing.
    support: full
'''

EXAMPLES = r'''
- name: Set the start of every host
  mqops.logdisk.schedule:
    hosts: "{{ ansible_play_hosts }}"
    run_path: reports/20261121T104935Z-1f0c2a
  run_once: true
  register: sweep_schedule
'''

RETURN = r'''
starts:
  description: Start by host, in seconds since the epoch by the controller's clock.
  returned: success
  type: dict
'''
