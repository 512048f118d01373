#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: check_options
short_description: Check all options of all hosts, and read those that apply to the whole command
description:
  - For each host, reads the options of all roles of this collection as set by inventories, extra variables and surveys,
    and reports those that cannot be used.
  - Each problem is reported once, with the name of the option, the hosts that have it and what is allowed. No host is
    contacted.
  - Reads the variables that apply to the whole command. Each of them has one value for all hosts. A template under
    C(run_once) would read the variables of the first host.
  - Variables that only the playbooks of this collection may set, such as results of their tasks, are problems if the
    inventory sets them. If they are extra variables, which override everything, the task itself fails.
  - The problems are returned and written to C(outcome.json) in the directory C(gate_report_dir). The role reports them,
    and fails.
  - The playbooks use this module before anything else, instead of the argument validation of each role, which would
    repeat the checks for each host and role.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  hosts:
    description: The hosts whose options are checked.
    type: list
    elements: str
    required: true
  command:
    description:
      - Name of the artifact that reports a refusal, for commands that do not open a run. C(outcome.json), which belongs
        to runs, is then not written.
    type: str
    default: ""
  meanings:
    description:
      - Whether to also check the meaning of options, once for each value, for example whether a profile exists.
        Commands that open a run use this option. The run is refused if an option of any host is wrong.
      - With V(false), a problem that only some hosts have is not reported here. Instead, the tasks of those hosts fail
        if they read that option.
    type: bool
    default: false
  kind:
    description: The kind of the run that is opened. Empty if the command does not open a run. Presets apply to runs
      that test storage.
    type: str
    default: ""
  agreed:
    description:
      - Names of variables that apply to the whole command. They are returned in RV(agreed), and it is a problem if
        hosts differ in one of them.
      - If there are other hosts, the value for C(localhost) counts only if the inventory contains C(localhost) and
        sets the variable for it.
    type: list
    elements: str
    default: []
  given:
    description:
      - Names of options that count only if extra variables or the play set them, because a run has recorded the values
        from the inventory. They are returned in RV(given).
    type: list
    elements: str
    default: []
  not_of_hosts:
    description: Names of variables that an inventory may not set, because they decide what the command does with every
      host. It is a problem if an inventory sets one.
    type: list
    elements: str
    choices: [certify_preflight, logdisk_sliced]
    default: []
attributes:
  check_mode:
    description: The file C(outcome.json) is also written in check mode.
    support: full
"""

EXAMPLES = r"""
- name: Check the options
  mqops.logdisk.check_options:
    hosts: "{{ ansible_play_hosts_all }}"
  run_once: true
"""

RETURN = r"""
problems:
  description: The problems with the options, as one text. Empty if there are none.
  returned: success
  type: list
  elements: str
  sample: ["db01, db02: sweep_duration: '5m' is not a whole number"]
agreed:
  description: The values of O(agreed), by name. A variable that is not set and has no default is an empty text.
  returned: when nothing is wrong
  type: dict
given:
  description: The values of the options in O(given) that are set, by name.
  returned: when nothing is wrong
  type: dict
options:
  description:
    - The values of the options that differ from their defaults. C(common) contains the values that all hosts have in
      common, and C(hosts) contains the other values by host. The lookup P(mqops.logdisk.option#lookup) completes them.
  returned: when nothing is wrong and O(meanings) is true
  type: dict
  sample: {common: {sweep_duration: 600}, hosts: {db01: {workspace_path: /mqlog}}}
outcome:
  description: The content of C(outcome.json).
  returned: when something is wrong
  type: dict
artifacts:
  description: Data that is passed on to later jobs of a workflow, under a key of this job.
  returned: when something is wrong
  type: dict
"""
