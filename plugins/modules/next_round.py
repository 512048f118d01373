#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: next_round
short_description: Decide which load each volume tries next
description:
  - Between two rounds of a search for the capacity (C(sweep_loads=auto)), uses the records in the run directory to
    decide which load each volume tries next.
  - Volumes that are searched together are judged together first, because a load passes only if it passes on all of
    them.
  - If a search ends before the capacity is known, a note in its record says why.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
attributes:
  check_mode:
    description: Nothing is measured in check mode, so there is no round to decide.
    support: none
options:
  run_path:
    description: The run directory on the controller.
    type: str
    required: true
  hosts:
    description: Names of the hosts that take part in a search.
    type: list
    elements: str
    required: true
  round:
    description: Number of rounds so far. If it is V(0), no further round is decided, and volumes that are searched
      together are only judged together.
    type: int
    default: 0
"""

EXAMPLES = r"""
- name: Decide on the next round
  mqops.logdisk.next_round:
    run_path: reports/20261121T104935Z-1f0c2a
    hosts: [db01, db02]
    round: 1
  run_once: true
  register: sweep_round
"""

RETURN = r"""
number:
  description: The number of the next round.
  returned: success
  type: int
loads:
  description: The load that each volume tries next, by host and volume. Empty if no search continues.
  returned: success
  type: dict
  sample: {db01: {log: 40}}
"""
