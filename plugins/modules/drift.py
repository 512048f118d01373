#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: drift
short_description: Report which volumes drift over their certificates
description:
  - Holds the certificates of each volume against a control limit, looks for the moments at which its figures moved, and prints them with what else changed
    then. Volumes that are unlike the others of their class are named.
  - Writes C(drift.json) and C(drift.html) to O(report_dir).
  - Uses the history only. No host is contacted.
  - Fails if the newest two certificates of a volume are beyond the control limit.
  - Certificates that were judged before the day in the variable C(drift_since) of a host are not looked at.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  figure:
    description:
      - The figure that is followed, a latency such as V(latency_p99) or a rate, V(bytes_per_s) or V(operations_per_s).
      - The throughput is followed as well if results of mqldt were imported for a volume.
    type: str
    default: latency_mean
  margin:
    description: The change that matters, as a ratio such as V(10 %) or V(0.1).
    type: raw
    required: true
  hosts:
    description:
      - The hosts to look at, as a host pattern or a list of host patterns. Each term of the pattern and of the limit must match a host of the inventory.
    type: raw
    required: true
  history:
    description: The history, as for the option C(gate_history) of the role P(mqops.logdisk.gate#role). If empty, it is C(history.sqlite) in O(report_dir).
    type: str
    default: ""
  report_dir:
    description: Directory on the controller for the files that are written.
    type: str
    required: true
attributes:
  check_mode:
    description: In check mode no file is written.
    support: full
"""

EXAMPLES = r"""
- name: Report which volumes drift
  mqops.logdisk.drift:
    margin: 10 %
    hosts: all:!localhost
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
"""
