#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: cut_check
short_description: Check which of its writes a host has kept after a power cut
description:
  - Makes the tester compare its files with the writes that it had acknowledged, and removes the files.
  - The action plugin determines the result of the cut, stores the tables in the run directory on the controller, and
    writes the record with all cuts so far.
  - A cut is inconclusive if any of this information is missing. Files of a host that did not come back are kept, and
    M(mqops.logdisk.cleanup) removes them.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run
  - mqops.logdisk.run.state_dir
  - mqops.logdisk.run.user
  - mqops.logdisk.run.cut
options:
  plan:
    description: The plan, as the step V(cut_plan) returns it. The action plugin does not send it to the host.
    type: dict
  workspace:
    description: The workspace, as returned by M(mqops.logdisk.workspace). The action plugin
      does not send it to the host.
    type: dict
  facts:
    description: Facts about the host. The action plugin does not send them to the host.
    type: dict
    default: {}
  command:
    description: The result of M(mqops.logdisk.cut_power). The action plugin does not send it to the host.
    type: dict
  returned:
    description: The result of M(mqops.logdisk.cut_return). The action plugin does not send it to the host.
    type: dict
  problem:
    description: The reason why a task that was meant to cut the power failed. Empty if none failed. The action plugin
      does not send it to the host.
    type: str
    default: ""
  volume:
    description: Name of the volume. The action plugin sets this option.
    type: str
    default: log
  tester:
    description: Path of the tester on the host.
    type: str
    default: ""
  directories:
    description: The directories with the files, one for each queue manager. The action plugin sets this option.
    type: list
    elements: str
    default: []
  arguments:
    description: The arguments that tell the tester where its files are. The action plugin sets this option.
    type: list
    elements: str
    default: []
  acknowledged:
    description: The acknowledgements that the witness recorded. If empty, the files are not checked. The
      action plugin sets this option.
    type: str
    default: ""
  limit_s:
    description: Number of seconds after which the tester is stopped.
    type: float
    default: 3600
attributes:
  check_mode:
    description: This module is not meant for check mode.
    support: none
"""

EXAMPLES = r"""
- name: Check the files
  mqops.logdisk.cut_check:
    run_id: "{{ gate_run.run_id }}"
    run_path: "{{ gate_run.path }}"
    state_dir: ~/.mqops-logdisk
    plan: "{{ power_cut_plan }}"
    workspace: "{{ workspace_layout }}"
    started: "{{ power_cut_started }}"
    command: "{{ power_cut_command }}"
    returned: "{{ power_cut_returned }}"
"""

RETURN = r"""
status:
  description: Exit status of the tester. None if it did not run.
  returned: success
  type: int
tables:
  description: The tables of the tester by name, compressed and encoded in base64. The action plugin stores them and
    does not return them.
  returned: success
  type: dict
said:
  description: The last lines that the tester wrote to its standard error.
  returned: success
  type: str
left:
  description: The items that could not be removed, each with the reason.
  returned: success
  type: list
  elements: str
outcome:
  description: The result of the cut, V(kept), V(lost) or V(inconclusive). The action plugin adds it.
  returned: success
  type: str
reason:
  description: The reason for the result. The action plugin adds it.
  returned: success
  type: str
is_back:
  description: Whether the host came back, so that its power can be cut again. The action plugin adds it.
  returned: success
  type: bool
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import _power_cut, _runs, _user, _workspace

PATIENCE_S = 10
LOCK_PATIENCE_S = 10
REMOVAL_S = 600
TABLES = ("run.csv", "durability.csv")
TABLE_MAX_BYTES = 16 << 20


def check(p, run):
    """Return the tester's findings about its files."""
    path = os.path.join(run.path, "acknowledged")
    with open(path, "w") as stream:
        stream.write(p["acknowledged"])
    command = [
        p["tester"],
        "--checkAcknowledged=" + path,
        "--tables=" + run.tables_path,
        "--dir=" + ",".join(p["directories"]),
    ]
    status, said = _power_cut.call(command, p["limit_s"])
    try:
        tables = dict(
            (name, _runs.packed_table(os.path.join(run.tables_path, name), TABLE_MAX_BYTES)) for name in TABLES
        )
    except _runs.RunError as error:
        return dict(status=None, said=str(error), tables={})
    return dict(status=status, said=said, tables=dict((name, content) for name, content in tables.items() if content))


def remove(p):
    """Make the tester remove its files. Returns what is left. If all directories are missing, because they were lost or
    another file system is mounted, nothing is left."""
    status, said = _power_cut.call(
        [p["tester"], "--removeAcknowledged", "--dir=" + ",".join(p["directories"])] + p["arguments"], REMOVAL_S
    )
    if status == 0 or (status is not None and all(_workspace.is_gone(path) for path in p["directories"])):
        return []
    return ["%s (%s)" % (", ".join(p["directories"]), said or "the tester ended with status %s" % status)]


def answer(p):
    run = _runs.Run(p["state_dir"], p["run_id"], p["volume"])
    start = run.read_start()
    if run.exists():
        # If the power was not cut, the tester is still writing.
        stuck = _runs.terminate([run], PATIENCE_S)[0]
        if stuck:
            raise _runs.RunError("the tester still hangs in a write (pid %s)" % ", ".join(str(pid) for pid in stuck))
        run.remove()
    run.create()
    run.write_start(start)
    lock = run.lock(LOCK_PATIENCE_S)
    try:
        found = check(p, run) if p["acknowledged"] else dict(status=None, said="", tables={})
        left = remove(p)
        # The clean-up needs the state to find the files of the run.
        if not left and not run.missing_mounts():
            run.remove()
    finally:
        os.close(lock)
    return dict(found, left=left)


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_id=dict(type="str", required=True),
            state_dir=dict(type="str", required=True),
            run_path=dict(type="str"),
            plan=dict(type="dict"),
            workspace=dict(type="dict"),
            facts=dict(type="dict", default={}),
            started=dict(type="dict"),
            command=dict(type="dict"),
            returned=dict(type="dict"),
            problem=dict(type="str", default=""),
            volume=dict(type="str", default="log"),
            tester=dict(type="str", default=""),
            directories=dict(type="list", elements="str", default=[]),
            arguments=dict(type="list", elements="str", default=[]),
            acknowledged=dict(type="str", default=""),
            limit_s=dict(type="float", default=3600),
            user=dict(type="str", default=""),
        ),
    )
    p = module.params
    _user.refuse_other(module)
    try:
        found = answer(p)
    except (OSError, _runs.RunError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=True, **found)


if __name__ == "__main__":
    main()
