#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: status
short_description: Get the state of a run
description:
  - Returns the state and the progress of a run that M(mqops.logdisk.start) started, for each volume.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run
  - mqops.logdisk.run.state_dir
options:
  volumes:
    description: Names of the volumes under test.
    type: list
    elements: str
    required: true
  known:
    description: The last answer of the host, which the action plugin returns if the host does not answer.
    type: dict
    default: {}
attributes:
  check_mode:
    description: In check mode the module returns the same information as otherwise.
    support: full
"""

EXAMPLES = r"""
- name: Get the state of the run
  mqops.logdisk.status:
    state_dir: ~/.mqops-logdisk
    run_id: 20261121T104935Z-1f0c2a
    volumes: [log]
  register: sweep_status
"""

RETURN = r"""
state:
  description:
    - V(running) until all volumes have ended, V(finished) when they have and at least one has tables, or else what the first volume reports.
    - V(unknown) if the host did not answer.
  returned: success
  type: str
volumes:
  description:
    - State and progress of each volume by its name. The progress is what the tester reports. All its values are strings.
    - The state is C(running), C(finished), C(dead) or C(absent). C(finished) means that the tables are complete, even if the process has not ended.
      C(dead) means that the tester ended without tables.
  returned: success
  type: dict
  sample: {log: {state: running, progress: {state: measuring, percent: "42.9", latency_p99_ns: "1204000"}}}
host:
  description: Name of the host in the inventory.
  returned: success
  type: str
run_id:
  description: ID of the run.
  returned: success
  type: str
reason:
  description: Why the host did not answer. Empty if it did.
  returned: success
  type: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.mqops.logdisk.plugins.module_utils import _runs


def status(p, volume):
    run = _runs.Run(p["state_dir"], p["run_id"], volume)
    pairs = (item.partition("=") for item in run.read_text("progress", 4096).split() if "=" in item)
    return dict(state=run.state(), progress=dict((key, value) for key, dummy, value in pairs))


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_id=dict(type="str", required=True),
            volumes=dict(type="list", elements="str", required=True),
            state_dir=dict(type="str", required=True),
            known=dict(type="dict", default={}),
        ),
        supports_check_mode=True,
    )
    p = module.params
    try:
        volumes = dict((volume, status(p, volume)) for volume in p["volumes"])
    except (OSError, _runs.RunError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, volumes=volumes)


if __name__ == "__main__":
    main()
