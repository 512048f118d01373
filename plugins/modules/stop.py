#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: stop
short_description: Stop a running certification on a host
description:
  - Asks the testers of all volumes to end and waits until they have written their tables. The tables are kept for
    M(mqops.logdisk.collect).
  - If the playbook that started the certification is still running, it collects the tables itself.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run.state_dir
  - mqops.logdisk.run.user
options:
  run_id:
    description: ID of the run. If empty, all runs on the host are stopped.
    type: str
    default: ""
  patience_s:
    description: Number of seconds to wait for the tables.
    type: float
    default: 15
attributes:
  check_mode:
    description: In check mode, the module returns the runs that it would stop.
    support: full
"""

EXAMPLES = r"""
- name: Stop all running certifications
  mqops.logdisk.stop:
    state_dir: ~/.mqops-logdisk
"""

RETURN = r"""
stopped:
  description: IDs of the runs that have ended and whose tables are complete.
  returned: success
  type: list
  elements: str
stuck:
  description: IDs of the runs with a tester that did not end in time, usually because a write hangs.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import _process, _runs, _user


def ids(runs):
    """Return the IDs of the runs without duplicates. A run has a separate state for each volume."""
    return sorted({run.run_id for run in runs})


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_id=dict(type="str", default=""),
            state_dir=dict(type="str", required=True),
            patience_s=dict(type="float", default=15),
            user=dict(type="str", default=""),
        ),
        supports_check_mode=True,
    )
    p = module.params
    _user.refuse_other(module)
    try:
        runs = [
            run
            for run in _runs.runs_below(p["state_dir"])
            if p["run_id"] in ("", run.run_id) and run.state() == "running"
        ]
        if not module.check_mode:
            for run in runs:
                run.ask_to_end()
            _process.wait_until(lambda: all(run.state() != "running" for run in runs), p["patience_s"], 0.1)
        stuck = [] if module.check_mode else ids(run for run in runs if run.state() == "running")
    except (OSError, _runs.RunError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=bool(runs), stopped=[run_id for run_id in ids(runs) if run_id not in stuck], stuck=stuck)


if __name__ == "__main__":
    main()
