#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: gate
short_description: Judge the fleet, write the report, store the certificates, sign and keep the run
description:
  - If the run requires it, compares each measured host with its baseline. If the comparison is not possible, the hosts
    are inconclusive, and the reason is also returned in RV(fleet_problems).
  - Writes a record for each expected host that has none, judges the fleet, writes the verdict and renders the report.
  - Writes C(outcome.json) to the directory that contains the run directories. A pipeline can use it to distinguish a
    verdict from incorrect usage and from an internal error.
  - Writes a certificate beside each record and stores the certificates of the run in its history. If the certificates
    cannot be stored, the report is not affected, and the reason is returned in RV(fleet_problems), or as a warning if
    the run does not require the history.
  - Then signs all files of the run if there is a key. If signing fails, the report is kept, and the reason is returned
    in RV(fleet_problems).
  - Then keeps the run directory in the history and uploads it, if the run requests this. If this fails, the reason is
    returned in RV(fleet_problems). It is only a warning if the run was not to be uploaded and does not require the
    history.
  - The module does not fail because of a verdict. RV(failures) and RV(fleet_problems) contain the reasons to fail.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  run_path:
    description: The run directory on the controller.
    type: str
    required: true
  judged_hosts:
    description: The hosts of the play. The verdict of any other host is returned in RV(fleet_problems).
    type: list
    elements: str
    required: true
  sign_key:
    description:
      - Path of the key that signs the run, as for the option C(gate_sign_key) of the role P(mqops.logdisk.gate#role).
      - If empty, the run is signed with the key that was set when it was opened, if there was one.
    type: str
    default: ""
  upload_url:
    description:
      - The upload URL, as for the option C(gate_upload_url) of the role P(mqops.logdisk.gate#role).
      - If the run was opened with a different upload URL, it is not uploaded, and this is reported as a problem with
        the fleet.
    type: str
    default: ""
  history:
    description: Path or URL of the history for this command. If empty, the history that was set when the run was opened
      is used.
    type: str
    default: ""
  policy:
    description: The values of C(fail_on) and C(report_only) that are given to this command. They override what the run
      recorded when it was opened.
    type: dict
    default: {}
attributes:
  check_mode:
    description: In check mode, the report lists everything that a certification would refuse. There is no verdict.
    support: full
"""

EXAMPLES = r"""
- name: Judge the fleet and write the report
  mqops.logdisk.gate:
    run_path: "{{ gate_run.path }}"
    judged_hosts: "{{ ansible_play_hosts_all }}"
  run_once: true
  register: gate_judged
"""

RETURN = r"""
logdisk:
  description: The verdict, and whether the policy fails the run.
  returned: success
  type: dict
  sample: {schema: 1, kind: gate, verdict: fail, certified: false, gate_failed: true}
failures:
  description: The failure message of each host that the policy does not accept. Empty if the gate only reports.
  returned: success
  type: dict
fleet_problems:
  description: Reasons to fail the run other than the verdicts of the hosts in the play.
  returned: success
  type: list
  elements: str
outcome:
  description: The content of C(outcome.json).
  returned: success
  type: dict
artifacts:
  description: Data that is passed on to later jobs and notifications, under a key of this job.
  returned: success
  type: dict
"""
