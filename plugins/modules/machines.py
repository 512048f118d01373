#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import (absolute_import, division, print_function)
__metaclass__ = type

DOCUMENTATION = r'''
---
module: machines
short_description: Find hosts of the inventory that are one machine
description:
  - Compares what M(mqops.logdisk.probe) found on all hosts. Two hosts are one machine if they have the same machine-id (if there is one), the same
    boot_id and the same host name.
  - If two names of the inventory led to one machine, both would be certified by one measurement, or would measure each other's load.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  hosts:
    description: The hosts of the play; those that were not probed are passed over.
    type: list
    elements: str
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
- name: Compare the machines that answer
  mqops.logdisk.machines:
    hosts: "{{ ansible_play_hosts }}"
  run_once: true
  register: tester_machines
'''

RETURN = r'''
doubles:
  description: A sentence for each host whose machine another host has, too, by host.
  returned: success
  type: dict
  sample:
    db01: "db01 and db01-alias are the same machine (hostname db01): name it once in the inventory"
    db01-alias: "db01 and db01-alias are the same machine (hostname db01): name it once in the inventory"
'''
