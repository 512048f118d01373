#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import (absolute_import, division, print_function)
__metaclass__ = type

DOCUMENTATION = r'''
---
module: open_run
short_description: Open a run
description:
  - Resolves the profile, checks the policy, names the hosts to expect and makes the run directory on the controller. No host is touched.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  expected_hosts:
    description: The hosts to expect; none is an error.
    type: list
    elements: str
    required: true
  report_dir:
    description: Directory on the controller that run directories are made in.
    type: str
    required: true
  profile:
    description: The criteria, as a name, a path or a dict.
    type: raw
    required: true
  profile_dir:
    description: Directory of the shipped profiles.
    type: str
    required: true
  fail_on:
    description: Verdicts that stop the gate.
    type: list
    elements: str
    required: true
  report_only:
    description: Report without stopping.
    type: bool
    default: false
  roles_dir:
    description: Directory of this collection's roles, whose defaults are the report's parameters where no variable says otherwise.
    type: str
    required: true
attributes:
  action:
    description: Has a corresponding action plugin, which does the work on the controller.
    support: full
  check_mode:
    description: Makes the run directory in check mode too, for the report of the preflight.
    support: full
'''

EXAMPLES = r'''
- name: Open the run
  mqops.logdisk.open_run:
    expected_hosts: [db01, db02]
    report_dir: reports
    profile: mq-log-silver
    profile_dir: roles/gate/files/profiles
    fail_on: [fail, error]
    roles_dir: roles
  run_once: true
'''

RETURN = r'''
run:
  description: Run id, path and expected hosts.
  returned: success
  type: dict
  sample: {run_id: 20261121T104935Z-1f0c2a, path: /srv/reports/20261121T104935Z-1f0c2a, expected_hosts: [db01, db02]}
'''
