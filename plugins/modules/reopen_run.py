#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: reopen_run
short_description: Reopen a run
description:
  - Reads the run directory of an earlier run on the controller and returns the same information as
    M(mqops.logdisk.open_run).
  - A run that is not on this controller is restored to O(report_dir) if the history keeps it.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
  - mqops.logdisk.controller.history
options:
  path:
    description:
      - Path of the run directory, or of a link to it, or a run ID. A relative path is relative to the working
        directory.
      - If empty, the latest run in O(report_dir) is used.
    type: str
  report_dir:
    description: Directory that contains the run directories, as for the option C(gate_report_dir) of the role
      P(mqops.logdisk.gate#role).
    type: str
    required: true
  sign_key:
    description: The key that signs the run, as for the option C(gate_sign_key) of the role P(mqops.logdisk.gate#role).
    type: str
    default: ""
  upload_url:
    description: The URL to which the run may be uploaded, as for the option C(gate_upload_url) of the role
      P(mqops.logdisk.gate#role).
    type: str
    default: ""
  policy:
    description: The values of C(gate_fail_on) and C(gate_report_only) that are given to this command. They are used
      instead of the values that were recorded when the run was opened.
    type: dict
    default: {}
attributes:
  check_mode:
    description: In check mode, a run that the history keeps is also restored to O(report_dir).
    support: full
"""

EXAMPLES = r"""
- name: Reopen the newest run
  mqops.logdisk.reopen_run:
    report_dir: reports
  run_once: true
"""

RETURN = r"""
run:
  description: The run ID, the absolute path of the run directory, the expected hosts, O(sign_key), O(upload_url), the
    location of O(history), and O(policy).
  returned: success
  type: dict
  sample:
    run_id: 20261121T104935Z-1f0c2a
    path: /srv/reports/20261121T104935Z-1f0c2a
    expected_hosts: [db01, db02]
    sign_key: ""
    upload_url: ""
    history: /srv/reports/history.sqlite
    policy: {}
"""
