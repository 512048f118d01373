#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: cut_plan
short_description: Plan power cuts of a host
description:
  - Determines which files the tester creates and which arguments it is given, and refuses a host whose name was not
    confirmed. The host is not contacted.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  options:
    description: The values of all options of the host by name, as the lookup P(mqops.logdisk.option#lookup) returns
      them for V(all). Returned unchanged.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Plan the cuts
  mqops.logdisk.cut_plan:
    options: "{{ lookup('mqops.logdisk.option', 'all') }}"
"""

RETURN = r"""
volumes:
  description: The volume under test with its plan.
  returned: if there is no problem
  type: list
  elements: dict
cuts:
  description: A description of what the power cuts will do to the host.
  returned: if there is no problem
  type: dict
  sample: {count: 1, after_s: 10, command: virsh destroy db01, tests: "Destroying a guest tests ..."}
problem:
  description: The reason why the options cannot be used.
  returned: if there is a problem
  type: str
"""
