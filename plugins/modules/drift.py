#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: drift
short_description: Report which volumes are drifting from one certificate to the next
description:
  - Compares the certificates of each volume with a control limit, looks for the times at which its figures changed, and
    prints them together with anything else that changed at these times. Also names volumes that differ from the other
    volumes of their class.
  - If results of mqldt were imported for a volume, its throughput is examined in addition to O(figure).
  - Writes C(drift.json) and C(drift.html) to O(report_dir).
  - Uses the history only. No host is contacted.
  - RV(failures) contains each host whose newest two certificates are beyond the control limit, and C(localhost) if a
    whole class of at least eight similar volumes was slower than usual on its two most recent nights, or if a class of
    at least three became slower since its first certificates. Either is a single finding about the class. It is not a
    finding about each of its volumes.
  - Certificates that were judged before the day in the variable C(drift_since) of a host are ignored.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller.consult
  - mqops.logdisk.controller.change
  - mqops.logdisk.controller.hosts
  - mqops.logdisk.controller.history
"""

EXAMPLES = r"""
- name: Report which volumes drift
  mqops.logdisk.drift:
    margin: 10 %
    hosts: all:!localhost
    play_hosts: "{{ ansible_play_hosts_all }}"
    report_dir: reports
  run_once: true
"""

RETURN = r"""
drifting:
  description: The volumes whose newest two certificates are beyond the control limit. Empty if there are none.
  returned: when the history can be read
  type: list
  elements: str
  sample: ["db07"]
drifting_classes:
  description: The classes of similar volumes that were slower than usual as a whole on their two most recent nights,
    or that became slower since their first certificates. Empty if there are none.
  returned: when the history can be read
  type: list
  elements: str
  sample: ["Example Disk, xfs, 1 TB"]
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
