#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import (absolute_import, division, print_function)
__metaclass__ = type

DOCUMENTATION = r'''
---
module: record
short_description: File the record of a host that was not measured
description:
  - Files a record for this host in the run directory on the controller. With O(failed_result) it is of kind C(error), with a verdict and its reason;
    without, it is of kind C(preflight) and says what a measurement would do.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  run_path:
    description: The run directory on the controller.
    type: path
    required: true
  volume:
    description: Name of the volume under test.
    type: str
    default: log
  stage:
    description: Where it failed.
    type: str
    default: ""
  failed_result:
    description: The result of the task that failed.
    type: dict
    default: {}
  keep_existing:
    description: Do nothing where a record of this host is filed already.
    type: bool
    default: false
  plan:
    description: What the sweep would do, as M(mqops.logdisk.plan) returned it.
    type: dict
    default: {}
  workspace:
    description: What the workspace would be.
    type: dict
    default: {}
  facts:
    description: What is known of the host.
    type: dict
    default: {}
attributes:
  action:
    description: Has a corresponding action plugin, which does the work on the controller.
    support: full
  check_mode:
    description: Files the record in check mode too, since a refusal is what a preflight is for.
    support: full
'''

EXAMPLES = r'''
- name: Record why this host was not measured
  mqops.logdisk.record:
    run_path: "{{ gate_run.path }}"
    stage: workspace
    failed_result: "{{ ansible_failed_result }}"
'''

RETURN = r'''
logdisk:
  description: Schema number, host, volume, verdict and reason.
  returned: always
  type: dict
  sample: {schema: 1, kind: error, host: db07, volume: log, verdict: unreachable, reason: No route to host}
'''
