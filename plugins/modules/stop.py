#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import (absolute_import, division, print_function)
__metaclass__ = type

DOCUMENTATION = r'''
---
module: stop
short_description: End a running certification on a host
description:
  - Asks the tester to end, and waits for the tables of what it measured until then; they stay for M(mqops.logdisk.collect).
  - A certification that is still waiting collects them by itself.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  run_id:
    description: The run; empty for every run on the host.
    type: str
    default: ""
  state_dir:
    description: The state directory, as given to M(mqops.logdisk.start).
    type: str
    default: ~/.mqops-logdisk
  patience_s:
    description: How long to wait for the tables.
    type: float
    default: 15
  user:
    description: User that this has to run as; empty for the connecting user. Refused if it is another one.
    type: str
    default: ""
attributes:
  check_mode:
    description: Names in check mode what it would end.
    support: full
'''

EXAMPLES = r'''
- name: End whatever certification runs
  mqops.logdisk.stop:
'''

RETURN = r'''
stopped:
  description: Runs that ended, with their tables complete.
  returned: success
  type: list
  elements: str
stuck:
  description: Runs whose tester did not end in time; a write of theirs hangs.
  returned: success
  type: list
  elements: str
'''

import time

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.mqops.logdisk.plugins.module_utils import _runs, _user


def wait_for_tables(runs, patience_s):
    end = time.time() + patience_s
    while time.time() < end and any(run.state() == 'running' for run in runs):
        time.sleep(0.1)


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_id=dict(type='str', default=''),
            state_dir=dict(type='str', default='~/.mqops-logdisk'),
            patience_s=dict(type='float', default=15),
            user=dict(type='str', default=''),
        ),
        supports_check_mode=True,
    )
    p = module.params
    _user.refuse_other(module)
    try:
        runs = [run for run in _runs.runs_below(p['state_dir'])
                if p['run_id'] in ('', run.run_id) and run.state() == 'running']
        if not module.check_mode:
            for run in runs:
                run.ask_to_end()
            wait_for_tables(runs, p['patience_s'])
        stuck = [] if module.check_mode else [run.run_id for run in runs if run.state() == 'running']
    except (OSError, _runs.RunError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=bool(runs), stopped=[run.run_id for run in runs if run.run_id not in stuck], stuck=stuck)


if __name__ == '__main__':
    main()
