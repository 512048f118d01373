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
  - Resolves each host's profile, checks that all hosts under test ask the same of the run, and makes the run directory on the controller. No host is touched.
  - Reads what each host asks for from the facts C(gate_settings) and C(sweep_plan) that the roles handed on.
  - What is wrong is returned in RV(problems) and noted in C(outcome.json); the role fails the play with it.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  hosts:
    description: The hosts to expect, as a host pattern or a list of them. Every term, and every term of the limit, must match a host of the inventory.
    type: raw
    required: true
  report_dir:
    description: Directory on the controller in which a refusal is noted. The run directory is made in the one that all hosts agree on.
    type: str
    required: true
  profile_dir:
    description: Directory of the shipped profiles.
    type: str
    required: true
  roles_dir:
    description: Directory of this collection's roles, whose defaults are the report's parameters if no variable says otherwise.
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
    hosts: all:!localhost
    report_dir: reports
    profile_dir: roles/gate/files/profiles
    roles_dir: roles
  run_once: true
'''

RETURN = r'''
problems:
  description: Why the run is refused, a sentence each; empty if it is open.
  returned: success
  type: list
  elements: str
outcome:
  description: What C(outcome.json) says of a refused run.
  returned: if the run is refused
  type: dict
run:
  description: Run id, path and expected hosts.
  returned: if the run is open
  type: dict
  sample: {run_id: 20261121T104935Z-1f0c2a, path: /srv/reports/20261121T104935Z-1f0c2a, expected_hosts: [db01, db02]}
'''
