#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: look
short_description: Check the progress of a host that is measuring
description:
  - Polls the host. Once all volumes of the host have ended, collects their tables as M(mqops.logdisk.collect) does, and
    cleans up as M(mqops.logdisk.cleanup) does.
  - A host whose tables were already collected is not contacted.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run
  - mqops.logdisk.run.state_dir
options:
  run_path:
    description: The run directory on the controller.
    type: path
    required: true
  known:
    description: The last result of M(mqops.logdisk.start) or of this module for the host.
    type: dict
    required: true
  give_up:
    description: Whether to collect from the host even if some of its volumes have not ended.
    type: bool
    default: false
  only_ask:
    description: Whether to return only the answer of the host. Nothing is then collected, even if all volumes have
      ended, and the module does not fail.
    type: bool
    default: false
  clean_up:
    description: The volumes to clean up after the collection, as returned by M(mqops.logdisk.workspace). If
      empty, nothing is cleaned up.
    type: list
    elements: dict
    default: []
"""

EXAMPLES = r"""
- name: Look at the host
  mqops.logdisk.look:
    run_id: 20261121T104935Z-1f0c2a
    run_path: reports/20261121T104935Z-1f0c2a
    state_dir: ~/.mqops-logdisk
    known: "{{ sweep_status }}"
  register: sweep_status
"""

RETURN = r"""
state:
  description:
    - V(running) until all volumes have ended, V(finished) when they have ended and at least one has tables, and
      otherwise the state of the first volume.
    - V(unknown) if the host did not answer.
  returned: success
  type: str
volumes:
  description:
    - State and progress of each volume by its name. The progress is what the tester reports. All its values are
      strings.
    - The state is C(running), C(finished), C(dead) or C(absent). C(finished) means that the tables are complete, even
      if the process has not ended. C(dead) means that the tester ended without tables.
  returned: success
  type: dict
  sample: {log: {state: running, progress: {state: measuring, percent: "42.9", latency_p99_ns: "1204000"}}}
host:
  description: Name of the host in the inventory.
  returned: success
  type: str
reason:
  description: The reason why the host did not answer. Empty if it answered.
  returned: success
  type: str
collected:
  description: Names of the volumes whose tables were stored. Not returned until all volumes have ended.
  returned: when the host has ended
  type: list
  elements: str
kept:
  description: Names of the volumes whose tables are complete but were not stored.
  returned: when the host has ended
  type: list
  elements: str
cleaned_up:
  description: Whether the host was cleaned up.
  returned: when it was
  type: bool
"""
