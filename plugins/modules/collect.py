#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: collect
short_description: Return the tables of a run
description:
  - Returns the finished tables of the volumes of a run that M(mqops.logdisk.start) started, and the identity of the
    machine. The playbooks compare them with the order, and store them on the controller.
  - The tables are kept on the host until M(mqops.logdisk.cleanup) removes them.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run
  - mqops.logdisk.run.state_dir
  - mqops.logdisk.run.user
options:
  volumes:
    description: Names of the volumes under test.
    type: list
    elements: str
    default: []
  once_ended:
    description: Whether to return only the state and the progress of each volume until all of them have ended.
    type: bool
    default: false
attributes:
  check_mode:
    description: Nothing is measured in check mode, so there is nothing to collect.
    support: none
"""

EXAMPLES = r"""
- name: Collect the tables
  mqops.logdisk.collect:
    state_dir: ~/.mqops-logdisk
    run_id: 20261121T104935Z-1f0c2a
    volumes: [log]
"""

RETURN = r"""
volumes:
  description: The state of each volume, and its tables if it has ended or O(once_ended=false).
  returned: success
  type: dict
  sample: {log: {state: running}}
machine:
  description: The identity of the machine.
  returned: when the tables are returned
  type: dict
"""

import os
import re
import time

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import _machine, _runs, _user


ENDED = ("finished", "dead", "absent")
"""The final states of a volume."""


def why_dead(run):
    """Return the ``error`` of a tester that ended without tables, and the ``stage`` at which it did: "start" if it was
    started too late, and "ended" if it was killed. Otherwise, the error says what to do."""
    status = run.exit_status()
    message = run.read_text("stderr", 2000).strip()
    late = re.search(r"--startAt was ([0-9.]{1,20}) s ago", message)
    if late and status == 2:
        return dict(
            stage="start", error="the tester began %s s late, after the planned end of its measurement" % late.group(1)
        )
    if status is None:
        return dict(stage="ended", error="the tester disappeared before it wrote its tables")
    if status > 128:
        return dict(
            stage="ended", error="the tester was killed by signal %d before it wrote its tables" % (status - 128)
        )
    message = message.replace("--shareDevice", "workspace_allow: [device_in_use]")
    return dict(error=message or "the tester ended with status %d and without tables" % status)


def why_running(run):
    """Return a sentence about a tester that has not ended."""
    try:
        late = time.time() > float(run.read_start()["deadline_epoch_s"])
    except (KeyError, TypeError, ValueError):
        late = False
    if late:
        return "the tester is still running past its deadline and has no tables"
    left = re.search(r"\bremaining_s=([0-9]{1,7})\b", run.read_text("progress", 4096))
    return "still measuring%s: collect again when it has ended, or end it first with playbooks/stop.yml" % (
        left and ", %s s left" % left.group(1) or ""
    )


def collect(p, volume):
    """Return the tables of a volume, the data that was stored when its tester was started, and whether nothing but the
    state of the run is left on this host. If there are no tables, return an ``error`` instead."""
    run = _runs.Run(p["state_dir"], p["run_id"], volume)
    state = run.state()
    if state == "finished":
        tables = dict((name, _runs.packed_table(os.path.join(run.tables_path, name))) for name in _runs.TABLE_NAMES)
        return dict(
            state=state,
            start=run.read_start(),
            progress=progress_of(run),
            removed=run.removed(),
            tables=dict((name, content) for name, content in tables.items() if content is not None),
        )
    if state == "dead":
        return dict(why_dead(run), state=state)
    if state == "running":
        return dict(state=state, error=why_running(run))
    return dict(state=state, error="this host has no state of the run %s: measure it again" % p["run_id"])


def progress_of(run):
    """Return the progress that the tester of a run last reported."""
    pairs = (item.partition("=") for item in run.read_text("progress", 4096).split() if "=" in item)
    return dict((key, value) for key, dummy, value in pairs)


def status(p, volume):
    """Return the state of a volume, and the progress that its tester reports."""
    run = _runs.Run(p["state_dir"], p["run_id"], volume)
    return dict(state=run.state(), progress=progress_of(run))


def of_each(ask, p):
    """Return the result of ``ask`` for each volume, or an ``error``."""
    found = {}
    for volume in p["volumes"]:
        try:
            found[volume] = ask(p, volume)
        except (OSError, _runs.RunError) as error:
            found[volume] = dict(state="unknown", error=str(error))
    return found


def answers(p):
    """Return the tables of all volumes and the machine that they come from, or only the states if collection must wait
    for all volumes and some have not ended."""
    if p["once_ended"]:
        volumes = of_each(status, p)
        if not all(volume["state"] in ENDED for volume in volumes.values()):
            return dict(volumes=volumes)
    return dict(volumes=of_each(collect, p), machine=_machine.identity())


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_id=dict(type="str", required=True),
            volumes=dict(type="list", elements="str", default=[]),
            user=dict(type="str", default=""),
            state_dir=dict(type="str", required=True),
            once_ended=dict(type="bool", default=False),
        ),
    )
    p = module.params
    _user.refuse_other(module)
    module.exit_json(changed=False, **answers(p))


if __name__ == "__main__":
    main()
