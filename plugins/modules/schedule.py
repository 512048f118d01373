#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: schedule
short_description: Set the start time of each host of a sweep
description:
  - Determines when each host starts, by the controller's clock. With O(mode=together), this is the same time for all
    hosts.
  - If the hosts cannot all be ready at O(start_at), the reason is in RV(hosts), and
    M(mqops.logdisk.start) refuses to start them.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  mode:
    description: V(together) starts all hosts at the same time. V(isolated) measures one host at a time in each storage
      pool.
    type: str
    choices: [together, isolated]
    default: together
  hosts:
    description:
      - Names of the hosts of the play. A host is started if the results of the roles, which are registered as
        C(sweep_plan), C(tester_ready) and C(workspace_layout), show that it is ready.
    type: list
    elements: str
    required: true
  loads:
    description: The hosts that measure in this round of a search for the capacity, as returned by
      M(mqops.logdisk.next_round). Without this option, all hosts measure.
    type: dict
  run_path:
    description: The run directory on the controller. It appears in the commands that the module prints for stopping the
      run and collecting its results.
    type: str
    required: true
  start_at:
    description: The time at which the first host is to start, as for the option C(sweep_start_at) of the role
      P(mqops.logdisk.sweep#role).
    type: raw
"""

EXAMPLES = r"""
- name: Set the start of every host
  mqops.logdisk.schedule:
    hosts: "{{ ansible_play_hosts }}"
    run_path: reports/20261121T104935Z-1f0c2a
  run_once: true
  register: sweep_schedule
"""

RETURN = r"""
hosts:
  description:
    - The times of each host by its name, in seconds since the epoch by the controller's clock.
    - The host starts at C(start_epoch_s) and is expected to end at C(end_epoch_s). After C(give_up_epoch_s), it is no
      longer polled.
    - C(refusal) is the reason why the hosts cannot start at O(start_at), or empty if they can.
  returned: success
  type: dict
  sample:
    db01: {start_epoch_s: 1795258013.4, end_epoch_s: 1795258480.4, give_up_epoch_s: 1795259080.4, refusal: ""}
searching:
  description: The hosts in O(hosts) that search for their capacity, even if they do not measure in this round.
  returned: success
  type: list
  elements: str
keeping:
  description: The hosts in O(hosts) whose directories are not removed when their tables are collected, because they
    search for their capacity or because root created the directories.
  returned: success
  type: list
  elements: str
"""
