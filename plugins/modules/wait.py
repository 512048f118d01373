#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: wait
short_description: Wait on the controller for a sweep
description:
  - Sleeps until it is time to poll the hosts again, and shows the progress of the fleet. No connection or fork is held
    meanwhile.
  - Returns at once if there is no host to wait for.
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
    description: The hosts that were polled since the last wait. What they answered before does not count any more.
    type: list
    elements: str
    default: []
  everyone:
    description: Whether every host is polled each time, because it needs the polls to go on.
    type: bool
    default: false
  answers:
    description: What hosts have answered since their last status, by host, as RV(answers) and the results of
      M(mqops.logdisk.look) with O(mqops.logdisk.look#module:only_ask=true). If one of them has ended early, all hosts
      are polled at once.
    type: dict
    default: {}
  run_path:
    description: The run directory on the controller. If the history is to keep it, it is kept before the wait,
      with the orders of its hosts.
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
  description: Whether the expected end has passed, or there is no host to wait for.
  returned: success
  type: bool
ask:
  description: The host to ask for all, before the expected end and if the output is not a terminal, because each host
    that is polled costs a fork and prints a line. If sweeps may end early, it is the one that measures. Empty if the
    hosts in RV(look_at) are to be polled.
  returned: success
  type: str
look_at:
  description: The hosts to poll, which are all that have not been collected, or none if one is to be asked for all.
  returned: success
  type: list
  elements: str
given_up:
  description: The hosts that are not waited for any longer.
  returned: success
  type: list
  elements: str
polls:
  description: Number of polls, including this one.
  returned: success
  type: int
answers:
  description: Those of O(answers) that come from hosts that have neither been collected nor polled since.
  returned: success
  type: dict
"""
