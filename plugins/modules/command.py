#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: command
short_description: Do a step of a command that reads earlier runs
description:
  - The playbooks of this collection use this module to check their options, and to report from run directories and the
    history. No host is contacted. Users do not call it. They run the playbooks.
  - Each step takes arguments in addition to O(name), and validates them. The class C(Step) in
    C(plugins/plugin_utils/_steps/) describes them and the result.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  name:
    description:
      - V(check_options) checks all options of all hosts, and reads those that apply to the whole command. It comes
        first in each playbook.
      - V(comparison), V(drift) and V(status) report on the certificates in the history, and return the hosts that
        are to fail.
      - V(history) imports, revokes and prunes entries of the history.
      - V(render) renders a run again, or merges runs.
      - V(reopen_run) finds the directory of an earlier run whose results are to be collected.
      - V(verify) checks the signatures of runs.
    type: str
    required: true
    choices:
      - check_options
      - comparison
      - drift
      - history
      - render
      - reopen_run
      - status
      - verify
attributes:
  action:
    description: This module has a corresponding action plugin, which does all of the work on the controller.
    support: full
  check_mode:
    description: In check mode, no page is written and the history is not changed.
    support: full
"""

EXAMPLES = r"""
- name: Check the options
  mqops.logdisk.command:
    name: check_options
    hosts: "{{ ansible_play_hosts_all }}"
    command: status
  run_once: true
  register: gate_asked
"""

RETURN = r"""
problems:
  description: The problems with the options of a command, as one text. Empty if there are none.
  returned: success
  type: list
  elements: str
failures:
  description: The failure message of each host that is to fail.
  returned: if the command judges hosts
  type: dict
artifacts:
  description: Data that is passed on to later jobs of a workflow, under a key of this job.
  returned: if the command judges hosts, or is refused
  type: dict
"""
