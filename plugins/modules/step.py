#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: step
short_description: Do a step of a run
description:
  - The roles of this collection use this module for the steps of a run on the controller, from its plan to its verdict.
    Users do not call it. They run the playbooks.
  - Each step takes arguments in addition to O(name), and validates them. The class C(Step) in
    C(plugins/plugin_utils/_steps/) describes them and the result.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  name:
    description:
      - V(plan), V(cut_plan) and V(lock_plan) check the options of a host, and plan what is measured. No host is
        contacted.
      - V(open_run) checks the options of all hosts together, and creates the run directory.
      - V(machines) finds hosts of the inventory that are the same machine, and hosts that are not ready.
      - V(schedule) sets the start time of each host, V(wait) waits on the controller, without occupying a fork, until
        hosts have to be polled, and V(next_round) decides which load each volume tries next.
      - V(look) polls a host, and collects its tables and cleans up if it has finished. V(collect) collects the tables
        of an earlier run.
      - V(record) writes the record of a host that was not measured. In a preflight, the record describes what would be
        done.
      - V(gate) judges all hosts, and writes the report and the certificates.
      - V(lock_pairs) determines the pairs of hosts whose locks are tested, V(lock_guard) prepares the packet filter of
        a host, and V(lock_test) tests the locks of all pairs.
      - V(claim) tests storage classes of a Kubernetes cluster in pods.
    type: str
    required: true
    choices:
      - plan
      - open_run
      - machines
      - schedule
      - wait
      - look
      - collect
      - next_round
      - record
      - gate
      - cut_plan
      - lock_plan
      - lock_pairs
      - lock_guard
      - lock_test
      - claim
attributes:
  action:
    description: This module has a corresponding action plugin, which does all of the work on the controller.
    support: full
  check_mode:
    description: In check mode, a run is a preflight. It writes a report, but there is no verdict.
    support: full
"""

EXAMPLES = r"""
- name: Record why this host was not measured
  mqops.logdisk.step:
    name: record
    run_path: "{{ gate_run.path }}"
    failed_result: "{{ ansible_failed_result }}"
"""

RETURN = r"""
logdisk:
  description: What the report callback and the later steps need to know. Its content depends on the step.
  returned: if there is anything to report
  type: dict
  sample: {schema: 1, kind: gate, verdict: fail, certified: false, gate_failed: true}
"""
