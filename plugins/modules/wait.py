#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import (absolute_import, division, print_function)
__metaclass__ = type

DOCUMENTATION = r'''
---
module: wait
short_description: Wait on the controller for a sweep
description:
  - Sleeps until it is time to look at the hosts again, and shows how far the fleet is. It holds no connection and no fork.
  - Without a host to wait for it returns at once.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  hosts:
    description: The hosts of the play.
    type: list
    elements: str
    required: true
  run_id:
    description: The run.
    type: str
    required: true
  starts:
    description: Start by host, as M(mqops.logdisk.schedule) returned it.
    type: dict
    required: true
  interval_s:
    description: Seconds between two looks; more where a long sweep, or a host that is long overdue, would else need too many.
    type: float
    default: 30
  previous:
    description: What the wait before this one returned, which tells how many looks are left.
    type: dict
    default: {}
attributes:
  action:
    description: Has a corresponding action plugin, which does the work on the controller.
    support: full
  check_mode:
    description: Changes nothing.
    support: full
'''

EXAMPLES = r'''
- name: Wait on the controller
  mqops.logdisk.wait:
    hosts: "{{ ansible_play_hosts }}"
    run_id: "{{ gate_run.run_id }}"
    starts: "{{ sweep_schedule.starts }}"
  run_once: true
  register: sweep_wait
'''

RETURN = r'''
pending:
  description: Whether a host is to be looked at again.
  returned: success
  type: bool
pending_hosts:
  description: The hosts to look at.
  returned: success
  type: list
  elements: str
polls:
  description: How often the hosts were looked at, this time included.
  returned: success
  type: int
starts:
  description: O(starts), by which the next wait knows that it goes on with this one.
  returned: success
  type: dict
'''
