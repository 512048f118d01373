#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import (absolute_import, division, print_function)
__metaclass__ = type

DOCUMENTATION = r'''
---
module: render
short_description: Render a run directory
description:
  - Writes the report of a run directory again, from its files alone. Several run directories become one new one.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  runs:
    description: Run directories on the controller.
    type: list
    elements: str
    required: true
  report_dir:
    description: Directory that a merged run directory is made in.
    type: str
    required: true
attributes:
  action:
    description: Has a corresponding action plugin, which does the work on the controller.
    support: full
  check_mode:
    description: Renders in check mode too.
    support: full
'''

EXAMPLES = r'''
- name: Render the report again
  mqops.logdisk.render:
    runs: [reports/latest]
    report_dir: reports
'''

RETURN = r'''
path:
  description: The run directory that was rendered.
  returned: success
  type: str
'''
