#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import (absolute_import, division, print_function)
__metaclass__ = type

DOCUMENTATION = r'''
---
module: gate
short_description: Judge a fleet and write its report
description:
  - Gives missing hosts their records, judges the fleet by its records, writes the verdict and renders the report.
  - Fails where the report cannot be written. Whether the verdict stops the play is in the result.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  run_path:
    description: The run directory on the controller.
    type: path
    required: true
attributes:
  action:
    description: Has a corresponding action plugin, which does the work on the controller.
    support: full
  check_mode:
    description: Reports the refusals to be expected; there is no verdict in check mode.
    support: full
'''

EXAMPLES = r'''
- name: Judge the fleet and write the report
  mqops.logdisk.gate:
    run_path: "{{ gate_run.path }}"
  run_once: true
  register: gate_judged
'''

RETURN = r'''
logdisk:
  description: The verdict, and whether the policy stops the play.
  returned: success
  type: dict
  sample: {schema: 1, kind: gate, verdict: fail, certified: false, gate_failed: true}
message:
  description: Every reason in one line.
  returned: success
  type: str
hosts:
  description: The verdict of each host.
  returned: success
  type: dict
'''
