#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: comparison
short_description: Report which volumes became worse between two sets of runs
description:
  - Compares the certificates in O(after) with those in O(before), volume by volume and class by class, and prints which
    ones became worse, by how much, with what certainty, and what else changed.
  - Writes C(comparison.json) and C(comparison.html) to a new directory C(compare-...) in O(report_dir).
  - Uses the history, and run directories that are given. No host is contacted.
  - A volume that became worse does not fail the task. RV(failures) contains the hosts that became worse, hosts whose
    certificates cannot show whether they became worse, and C(localhost) if a class became worse.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller.consult
  - mqops.logdisk.controller.change
  - mqops.logdisk.controller.hosts
  - mqops.logdisk.controller.history
options:
  before:
    description:
      - The certificates before the change. Each element names a run by its ID or its directory, a certificate by at
        least 6 characters of its SHA-256, a day such as V(2026-01-31) or a range of days such as
        V(2026-01-01..2026-01-31).
      - Certificates that cannot be compared are listed with the reason and left out. The task fails if this list is
        empty.
    type: list
    elements: str
  after:
    description: The certificates after the change, in the same form as O(before).
    type: list
    elements: str
"""

EXAMPLES = r"""
- name: Compare three nights before a firmware update with three nights after it
  mqops.logdisk.comparison:
    before: [2026-10-01..2026-10-03]
    after: [2026-10-08..2026-10-10]
    margin: 10 %
    hosts: all:!localhost
    play_hosts: "{{ ansible_play_hosts_all }}"
    report_dir: reports
  run_once: true
"""

RETURN = r"""
outcome:
  description: V(worse), V(inconclusive) or V(non-inferior).
  returned: when something was compared
  type: str
  sample: worse
page:
  description: The path of the page.
  returned: when something was compared
  type: str
  sample: /home/ops/reports/compare-20261011T060000Z-3f9a1c/comparison.html
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
