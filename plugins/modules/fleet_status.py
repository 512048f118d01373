#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: fleet_status
short_description: Report which volumes are certified today
description:
  - Prints the state of every volume in the history, with the most urgent first, and writes C(status.html),
    C(status.json) and C(status.prom) (OpenMetrics) to O(report_dir).
  - Uses the history only. No host is contacted.
  - RV(failures) contains each expected host that has a failed or expired volume, that has no volume certified today, or
    whose newest certifying run planned a volume that is not certified. If the host's variables name its volumes
    (C(workspace_volumes)), each of them must be certified.
  - A certificate counts only if it was made with the required profile. This is the host's C(gate_profile) if extra
    variables or the inventory set it. Otherwise, it is the profile of the newest run that measured the volume in order
    to certify it.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller.consult
  - mqops.logdisk.controller.hosts
  - mqops.logdisk.controller.history
options:
  expiring_days:
    description: Number of days, including the last day of a certificate, for which it is reported as expiring.
    type: int
    required: true
  valid_days:
    description: Number of days for which the result of a power cut without lost writes remains valid.
    type: int
    required: true
  today:
    description: The day to report on, such as V(2026-11-21). By default it is the current day in UTC.
    type: str
"""

EXAMPLES = r"""
- name: Report the certificates of the fleet
  mqops.logdisk.fleet_status:
    hosts: all:!localhost
    play_hosts: "{{ ansible_play_hosts_all }}"
    report_dir: reports
    expiring_days: 14
    valid_days: 90
  run_once: true
"""

RETURN = r"""
problems:
  description: The reasons why the fleet is not certified, one sentence for each volume or host. Empty if it is
    certified.
  returned: when the history can be read
  type: list
  elements: str
  sample: ["db07: failed mq-log-silver on 2026-11-20 (run 20261120T104935Z-1f0c2a)"]
failures:
  description: The failure messages of the hosts that are to fail, by host. Problems of the fleet are assigned to
    C(localhost), or to all hosts if C(localhost) is not part of the play.
  returned: always
  type: dict
artifacts:
  description: Data that is passed on to later jobs of a workflow and to notifications, under a key of this job.
  returned: always
  type: dict
"""
