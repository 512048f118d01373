#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: render
short_description: Render the report of a run
description:
  - Writes the report of a run again, using only the files in its run directory.
  - Several run directories are merged into a new one.
  - A run that is signed is not rendered again, because that would change what was signed.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  runs:
    description: Run directories on the controller. If empty, it is the latest run in O(report_dir).
    type: list
    elements: str
  report_dir:
    description: Directory that contains the run directories, in which a merged run directory is created.
    type: str
    required: true
  sign_key:
    description: The key that signs the run after it is rendered, as for the option C(gate_sign_key) of the role P(mqops.logdisk.gate#role).
    type: str
    default: ""
attributes:
  check_mode:
    description: The report is also rendered in check mode.
    support: full
"""

EXAMPLES = r"""
- name: Render the report again
  mqops.logdisk.render:
    runs: [reports/latest]
    report_dir: reports
"""

RETURN = r"""
path:
  description: The run directory that contains the report.
  returned: success
  type: str
"""
