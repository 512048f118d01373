#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: render
short_description: Render the report of a run, or merge runs
description:
  - Writes the report of a run again, using only the files in its run directory. The run is judged under the policy that
    was recorded when it was opened, unless O(policy) overrides this policy.
  - Merges several runs into a new run directory and judges it as M(mqops.logdisk.gate) does. In a workflow of AWX, the
    runs are found automatically, in O(report_dir) and in the history. These are the runs that are named in the
    artifacts of earlier jobs, all other runs of the same workflow jobs, and the runs of O(workflow). Preflights are
    ignored.
  - Hosts of the inventory that were not expected in any of the merged runs are reported as missing.
  - A run that is signed is not rendered again, because this would change signed files.
  - The module does not fail because of a verdict. RV(failures) contains the reasons to fail.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
  - mqops.logdisk.controller.hosts
  - mqops.logdisk.controller.history
options:
  runs:
    description:
      - The runs, as run directories on the controller or as run IDs. Several runs are merged.
      - If empty, the runs of the workflow are used or, outside a workflow, the latest run in O(report_dir).
    type: list
    elements: str
  run:
    description: ID of a run. A run that is not in O(report_dir) is copied there from the history, which contains the
      runs with C(gate_keep_report=true).
    type: str
  workflow:
    description: ID of the workflow job whose runs are merged. By default, it is the workflow job of this job,
      C(awx_workflow_job_id).
    type: str
  play_hosts:
    description: The hosts of the play, which fail according to their own verdicts.
    type: list
    elements: str
    required: true
  policy:
    description:
      - The values of C(gate_fail_on) and C(gate_report_only) that were given to this command, as in
        RV(mqops.logdisk.check_options#module:given). They are used instead of the values that were recorded when the
        run was opened, and the report says so.
      - A merged run fails for every verdict for which any of its runs would fail. It can fail even if its runs only
        report.
    type: dict
    default: {}
  expected_count:
    description: The number of expected hosts, as for the option C(gate_expected_count) of the role
      P(mqops.logdisk.gate#role). In a merged run, this is the number of hosts in all of its runs.
    type: int
    default: 0
  keep_report:
    description: Whether the history also keeps a merged run, as for the option C(gate_keep_report) of the role
      P(mqops.logdisk.gate#role).
    type: bool
    default: false
  upload_url:
    description: The URL to which a merged run is uploaded, as for the option C(gate_upload_url) of the role
      P(mqops.logdisk.gate#role).
    type: str
    default: ""
  report_dir:
    description: Directory that contains the run directories. The directory of a merged run is created there.
    type: str
    required: true
  sign_key:
    description: The key that signs the run after it is rendered, as for the option C(gate_sign_key) of the role
      P(mqops.logdisk.gate#role).
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
    hosts: all:!localhost
    play_hosts: "{{ ansible_play_hosts_all }}"
    report_dir: reports
  run_once: true
  register: report_rendered
"""

RETURN = r"""
path:
  description: The run directory that contains the report.
  returned: if there is a report
  type: str
failures:
  description:
    - The failure message of each host that the policy does not accept.
    - Any other failure is assigned to C(localhost), or to the first host of the play if C(localhost) is not part of it.
  returned: success
  type: dict
artifacts:
  description: Data that is passed on to workflows, as by M(mqops.logdisk.gate).
  returned: success
  type: dict
"""
