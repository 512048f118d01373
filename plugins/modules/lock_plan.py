#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: lock_plan
short_description: Plan the test of a host's locks
description:
  - Determines what the test will do to the host, and refuses options that cannot be used. The host is not contacted.
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
- name: Plan the test of the locks
  mqops.logdisk.lock_plan:
    options: "{{ lookup('mqops.logdisk.option', 'all') }}"
"""

RETURN = r"""
volumes:
  description: The volume under test with its plan.
  returned: if there is no problem
  type: list
  elements: dict
lock_test:
  description: A description of what the test does to the host, and the hosts with which it is paired.
  returned: if there is no problem
  type: dict
  sample: {partners: [db02], group: "", seconds: 0, confirmed: true, command: virsh destroy db01}
workspace:
  description: The options with which the directory is created. The file system may be shared with other hosts.
  returned: always
  type: dict
problem:
  description: The reason why the options cannot be used.
  returned: if there is a problem
  type: str
"""
