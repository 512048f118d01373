#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: cut_plan
short_description: Plan power cuts of a host
description:
  - Works out which files the tester makes and which arguments it gets, and refuses a host whose name was not confirmed. The host is not contacted.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  options:
    description: All options of the role P(mqops.logdisk.power_cut#role) by name.
    type: dict
    required: true
  volumes:
    description: The volumes, as the option C(workspace_volumes) of the role P(mqops.logdisk.workspace#role). Only one volume can be tested in one run.
    type: raw
  defaults:
    description: What the keys of a volume fall back to.
    type: dict
    required: true
  settings:
    description: The options of the role P(mqops.logdisk.gate#role), which are returned with the plan.
    type: dict
    default: {}
  state_dir:
    description: Directory on the host for the state of the run, which is returned with the plan.
    type: str
    required: true
  discover:
    description: The option C(workspace_discover) of the role P(mqops.logdisk.workspace#role). A host that sets it is refused.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Plan the cuts
  mqops.logdisk.cut_plan:
    options: "{{ lookup('mqops.logdisk.option', 'power_cut') }}"
    defaults:
      name: log
      path: /var/tmp/logdisk
      places: {}
      queue_managers: [QM1]
      owner: ""
      expect_mount: ""
    state_dir: ~/.mqops-logdisk
"""

RETURN = r"""
volumes:
  description: The volume under test with its plan.
  returned: if there is no problem
  type: list
  elements: dict
cuts:
  description: What is to be done to the host.
  returned: if there is no problem
  type: dict
  sample: {count: 1, after_s: 10, command: virsh destroy db01, tests: "Destroying a guest tests ..."}
problem:
  description: Why the options cannot be used.
  returned: if there is a problem
  type: str
"""
