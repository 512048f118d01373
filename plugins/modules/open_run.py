#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: open_run
short_description: Open a run
description:
  - Loads the profile of each host, checks that the hosts under test agree on the settings that apply to the whole run,
    and creates the run directory on the controller. A certificate or run that is named as a baseline must be in the
    history. No host is contacted.
  - Reads the settings of each host from the result of M(mqops.logdisk.plan), which the role sweep registers as
    C(sweep_plan).
  - Problems are returned in RV(problems) and written to C(outcome.json). The role then fails.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
  - mqops.logdisk.controller.hosts
  - mqops.logdisk.controller.profile_dir
options:
  kind:
    description:
      - What the run does. C(measurement) tests storage. C(observation) watches live queue managers, and cannot certify.
      - At the gate, an observation does not fail because a verdict is inconclusive or because nothing is certified.
      - For an observation, the settings of each host come from the fact C(observe_plan), a dictionary whose key
        C(settings) contains the options of the roles by name. Its volumes are the volumes of the queue managers that
        these options name.
      - C(durability) cuts the power of hosts. The settings of each host come from the fact C(power_cut_plan), which
        M(mqops.logdisk.cut_plan) returns.
      - Every other kind in C(plugins/plugin_utils/_kinds) can also be used; any other value fails the task.
    type: str
    default: measurement
attributes:
  check_mode:
    description: The run directory is also created in check mode, because the report of the preflight is written to it.
    support: full
"""

EXAMPLES = r"""
- name: Open the run
  mqops.logdisk.open_run:
    hosts: all:!localhost
    profile_dir: roles/gate/files/profiles
  run_once: true
"""

RETURN = r"""
problems:
  description: The reasons why the run is refused. Empty if the run is open.
  returned: success
  type: list
  elements: str
outcome:
  description: The content of C(outcome.json).
  returned: when the run is refused
  type: dict
artifacts:
  description: Data that is passed on to later jobs and notifications, under a key of this job.
  returned: when the run is refused
  type: dict
run:
  description:
    - The run ID, the absolute path of the run directory, the expected hosts, the hosts whose queue managers are to be
      discovered (C(discovering)), and the data about the command that M(mqops.logdisk.gate) needs. This data is
      C(sign_key), C(upload_url), C(history) and C(policy). C(policy) is empty, because the policy recorded in the run
      applies.
  returned: when the run is open
  type: dict
  sample:
    run_id: 20261121T104935Z-1f0c2a
    path: /srv/reports/20261121T104935Z-1f0c2a
    expected_hosts: [db01, db02]
    discovering: []
    sign_key: ""
    upload_url: ""
    history: /srv/reports/history.sqlite
    policy: {}
"""
