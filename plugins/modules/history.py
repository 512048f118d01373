#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: history
short_description: Keep the history of certificates
description:
  - Imports the certificates of run directories, revokes a certificate, and removes what is old, in this order.
  - At least one of O(import_runs), O(revoke) and O(prune_before) is required.
  - A history can be rebuilt from run directories at any time. What it already has is not changed.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
  - mqops.logdisk.controller.history
options:
  import_runs:
    description: Run directories on the controller, or directories that contain run directories.
    type: list
    elements: str
  revoke:
    description: The certificate to withdraw, as its SHA-256 or the beginning of it.
    type: str
  reason:
    description: Why O(revoke) withdraws the certificate.
    type: str
    default: ""
  prune_before:
    description:
      - A day such as V(2026-11-21). Entries that were judged before it are removed, and run directories in O(report_dir) that are older and have no entry left.
      - What decides the present state of a volume is kept, together with its run directory, and so are runs that the history does not have.
    type: str
  report_dir:
    description: Directory on the controller that contains the run directories.
    type: str
    required: true
attributes:
  check_mode:
    description: In check mode the module does nothing.
    support: none
"""

EXAMPLES = r"""
- name: Rebuild the history from the reports
  mqops.logdisk.history:
    import_runs: [reports]
    report_dir: reports
"""

RETURN = r"""
done:
  description: What was done, one sentence for each of the three.
  returned: if the history can be opened
  type: list
  elements: str
problems:
  description: What could not be imported, one sentence for each run or volume.
  returned: if the history can be opened
  type: list
  elements: str
"""
