#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: lock_guard
short_description: Make the command line that starts the guard of a host
description:
  - The guard is a program that runs on the host during a step of the test of locks that cuts the host off. It reports
    whether a queue manager is running on the host, and filters the packets to the file server.
  - The task needs C(become), because only root may filter packets. If the tester already runs as root, C(become) is not
    used, so the host does not need C(sudo). Nothing is sent to the host.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  started:
    description: The result of M(mqops.logdisk.lock_start).
    type: dict
    required: true
  mqs_ini:
    description: Path of the file that lists the queue managers.
    type: path
    default: /var/mqm/mqs.ini
"""

EXAMPLES = r"""
- name: Prepare the packet filter
  mqops.logdisk.lock_guard:
    started: "{{ locks_started }}"
  become: true
  register: locks_guard
"""

RETURN = r"""
command:
  description: The command line. Empty if a password for becoming root is set.
  returned: always
  type: list
  elements: str
problem:
  description: The reason why there is no command line.
  returned: always
  type: str
"""
