#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: wait
short_description: Wait on the controller for a sweep
description:
  - Sleeps until it is time to poll the hosts again, and shows the progress of the fleet. No connection or fork is
    occupied while it sleeps.
  - If there is no host to wait for, the module returns at once.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  hosts:
    description: The last status of each host that was started, as returned by M(mqops.logdisk.start),
      M(mqops.logdisk.look), M(mqops.logdisk.observe) or M(mqops.logdisk.observed).
    type: list
    elements: dict
    required: true
  schedule:
    description: The times of each host, as returned by M(mqops.logdisk.schedule).
    type: dict
    required: true
  interval_s:
    description: Number of seconds between two polls. The interval grows if a long sweep or an overdue host
      would need too many polls.
    type: float
    default: 30
  polls:
    description: Number of polls so far. The number of polls is limited.
    type: int
    default: 0
  looked_at:
    description: The hosts that were polled since the last wait. Earlier answers of these hosts are ignored.
    type: list
    elements: str
    default: []
  everyone:
    description: Whether to poll every host each time. This is needed for observations, which end if they are not
      polled.
    type: bool
    default: false
  answers:
    description: The answers of hosts since their last status, by host, as returned in RV(answers) and in the results of
      M(mqops.logdisk.look) with O(mqops.logdisk.look#module:only_ask=true). If one of them has ended early, all hosts
      are polled at once.
    type: dict
    default: {}
  run_path:
    description: The run directory on the controller. If the history is to keep the run directory, the directory is
      stored before the wait, together with the orders of its hosts.
    type: str
"""

EXAMPLES = r"""
- name: Wait on the controller
  mqops.logdisk.wait:
    hosts: "{{ [sweep_status] }}"
    schedule: "{{ sweep_schedule.hosts }}"
  run_once: true
  register: sweep_wait
"""

RETURN = r"""
over:
  description: Whether the expected end has passed, or whether there is no host to wait for.
  returned: success
  type: bool
ask:
  description: The host that is polled on behalf of all hosts. It is set before the expected end if the output is not a
    terminal, because polling a host takes a fork and prints a line. If sweeps may end early, this is the host that is
    measuring. Empty if the hosts in RV(look_at) are to be polled.
  returned: success
  type: str
look_at:
  description: The hosts to poll. These are all hosts that have not been collected, or none if RV(ask) is set.
  returned: success
  type: list
  elements: str
given_up:
  description: The hosts that the sweep no longer waits for.
  returned: success
  type: list
  elements: str
polls:
  description: Number of polls, including this one.
  returned: success
  type: int
answers:
  description: The elements of O(answers) for hosts that have been neither collected nor polled since they gave these
    answers.
  returned: success
  type: dict
"""
