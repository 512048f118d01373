#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: cut
short_description: Cut the power of a host that writes, and check which of its writes it has kept
description:
  - The action plugin calls the module for each step of a cut, which O(do) selects. In between, it starts the tester
    over a separate connection, records the writes that the tester acknowledges, and runs the command that cuts the
    power, if no queue manager runs on the host. After each cut, it writes the record with all cuts so far.
  - After the first start, the action plugin never fails because of the host. A cut is inconclusive if any information
    about it is missing.
  - Only the connection plugins P(ansible.builtin.ssh#connection) (without passwords) and
    P(ansible.builtin.local#connection) can be used.
  - The test files are not unlinked, so they survive. If the host did not come back, M(mqops.logdisk.cleanup) removes
    them later.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run
  - mqops.logdisk.run.state_dir
  - mqops.logdisk.run.user
options:
  run_path:
    description: The run directory on the controller. The action plugin does not send it to the host.
    type: str
  plan:
    description: The plan, as the step V(cut_plan) returns it. The action plugin does not send it to the host.
    type: dict
  tester:
    description: The tester, as returned by M(mqops.logdisk.build). The action plugin does not send it to the host.
    type: dict
  workspace:
    description: The workspace, as returned by M(mqops.logdisk.workspace). The action plugin
      does not send it to the host.
    type: dict
  source_dir:
    description: Directory on the controller that contains the sources of the tester, which is built again if it was
      lost. The action plugin does not send it to the host.
    type: path
  do:
    description:
      - The step. V(start) refuses a host with a running queue manager, and a host on which another run is measuring,
        and creates the state of the run. V(look) reports whether the host is back. V(check) makes the tester compare
        its files with O(acknowledged), and removes the files.
      - The action plugin sets this option.
    type: str
    choices: [start, look, check]
    default: start
  volume:
    description: Name of the volume. The action plugin sets this option.
    type: str
    default: log
  path:
    description: Path of the workspace. The action plugin sets this option.
    type: str
    default: ""
  marked:
    description: The directories with a mark of this collection. The action plugin sets this option.
    type: list
    elements: str
    default: []
  mqs_ini:
    description: Path of the file that lists the queue managers.
    type: path
    default: /var/mqm/mqs.ini
  tester_path:
    description: Path of the tester on the host. The action plugin sets this option.
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
    description: The acknowledgements that arrived, for V(check). If empty, the files are not checked. The action plugin
      sets this option.
    type: str
    default: ""
  limit_s:
    description: Number of seconds after which the tester is stopped, for V(check).
    type: float
    default: 3600
attributes:
  check_mode:
    description: In check mode, the module inspects the host, and nothing is started or cut. The action plugin writes a
      record that says what would be done.
    support: full
"""

EXAMPLES = r"""
- name: Cut the power
  timeout: 0
  mqops.logdisk.cut:
    run_id: "{{ gate_run.run_id }}"
    run_path: "{{ gate_run.path }}"
    state_dir: ~/.mqops-logdisk
    plan: "{{ power_cut_plan }}"
    tester: "{{ tester_ready }}"
    workspace: "{{ workspace_layout }}"
"""

RETURN = r"""
volume_facts:
  description: The boot ID of the host, and facts about the file system under test.
  returned: for V(start) and V(look), by the module
  type: dict
  sample: {boot_id: 0f0c2d6e-6a0e-4f0c-8f0e-2d6e6a0e4f0c, mount_point: /var/mqm/log, filesystem_uuid: 1f0c}
interpreter:
  description: Path of the Python that runs this module.
  returned: for V(start), by the module, not in check mode
  type: str
lock:
  description: Path of the file that the tester locks.
  returned: for V(start), by the module, not in check mode
  type: str
tables_path:
  description: Directory for the tables of the tester.
  returned: for V(start), by the module, not in check mode
  type: str
tester_is_there:
  description: Whether the tester is still there and unchanged.
  returned: for V(look), by the module
  type: bool
status:
  description: Exit status of the tester. None if it did not run.
  returned: for V(check), by the module
  type: int
tables:
  description: The tables of the tester by name, compressed and encoded in base64.
  returned: for V(check), by the module
  type: dict
said:
  description: The last lines that the tester wrote to its standard error.
  returned: for V(check), by the module
  type: str
left:
  description: The items that could not be removed, each with the reason.
  returned: for V(check), by the module
  type: list
  elements: str
outcomes:
  description: The result of each cut, V(kept), V(lost) or V(inconclusive).
  returned: by the action plugin, not in check mode
  type: list
  elements: str
"""

import os
import subprocess

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import (
    _machine,
    _queue_managers,
    _runs,
    _streamed_tester,
    _tester,
    _time_limit,
    _user,
    _volume_identity,
    _workspace,
)

VOLUME_LIMIT_S = 10
PATIENCE_S = 10
LOCK_PATIENCE_S = 10
REMOVAL_S = 600
SAID_MAX_BYTES = 2000
TABLES = ("run.csv", "durability.csv")
TABLE_MAX_BYTES = 16 << 20


def inspect(path):
    """Return the boot ID, the facts of the volume below ``path``, and a ``problem`` if its storage does not answer."""
    found = dict(boot_id=_machine.identity()["boot_id"], problem="")
    answer = _time_limit.call_all([lambda: facts_of(path)], VOLUME_LIMIT_S)[0]
    if isinstance(answer, dict):
        return dict(found, **answer)
    return dict(found, problem="%s: %s" % (path, answer))


def facts_of(path):
    """Return the facts of the volume below a path, including the birth time of the root directory of its file system,
    which distinguishes this file system from another with the same UUID."""
    facts = _volume_identity.facts_of(path)
    return dict(
        facts, filesystem_born_epoch_s=_volume_identity.birth_of(facts["mount_point"]) if facts["mount_point"] else ""
    )


def start(p, run, check_mode):
    """Return the facts of a host whose power may be cut, and what the controller needs to start the tester."""
    refusal = _queue_managers.why_not_to_cut(p["mqs_ini"])
    facts = {} if refusal else inspect(p["path"])
    if refusal or facts["problem"]:
        raise _runs.RunError(refusal or facts["problem"])
    begun = {} if check_mode else _streamed_tester.begin(run, p["marked"], paths=[p["path"]], power_cut=True)
    return dict(begun, volume_facts=facts)


def look(p):
    """Return the facts of a host that may be back."""
    return dict(volume_facts=inspect(p["path"]), tester_is_there=is_there(p["tester_path"]))


def is_there(tester):
    """True if the tester is there, is executable, and has not changed since it was installed."""
    try:
        return os.access(tester, os.X_OK) and _tester.file_sha256(tester) == _tester.read_hash(tester)
    except (IOError, OSError):
        return False


def check(p, run):
    """Return the tester's findings about its files, and remove the files."""
    started = run.read_start()
    if run.exists():
        # If the power was not cut, the tester is still writing.
        stuck = _runs.terminate([run], PATIENCE_S)[0]
        if stuck:
            raise _runs.RunError("the tester still hangs in a write (pid %s)" % ", ".join(str(pid) for pid in stuck))
        run.remove()
    run.create()
    run.write_start(started)
    lock = run.lock(LOCK_PATIENCE_S)
    try:
        found = compare(p, run) if p["acknowledged"] else dict(status=None, said="", tables={})
        left = remove(p)
        # The clean-up needs the state to find the files of the run.
        if not left and not run.missing_mounts():
            run.remove()
    finally:
        os.close(lock)
    return dict(found, left=left)


def compare(p, run):
    """Make the tester compare its files with the acknowledgements, and return its findings."""
    path = os.path.join(run.path, "acknowledged")
    with open(path, "w") as stream:
        stream.write(p["acknowledged"])
    command = [
        p["tester_path"],
        "--checkAcknowledged=" + path,
        "--tables=" + run.tables_path,
        "--dir=" + ",".join(p["directories"]),
    ]
    status, said = call(command, p["limit_s"])
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
    status, said = call(
        [p["tester_path"], "--removeAcknowledged", "--dir=" + ",".join(p["directories"])] + p["arguments"], REMOVAL_S
    )
    if status == 0 or (status is not None and all(_workspace.is_gone(path) for path in p["directories"])):
        return []
    return ["%s (%s)" % (", ".join(p["directories"]), said or "the tester ended with status %s" % status)]


def call(command, limit_s):
    """Return the exit status of a command and the end of its standard error. The status is None if the command was
    killed at its time limit."""
    # Ansible's run_command has no time limit.
    process = subprocess.Popen(  # pylint: disable=ansible-bad-function
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        said = process.communicate(timeout=limit_s)[1]
    except subprocess.TimeoutExpired:
        # The storage that the command uses may hang, so the command may never end.
        process.kill()
        return None, "the tester had not ended after %d s, so it was killed" % limit_s
    return process.returncode, said[-SAID_MAX_BYTES:].decode("utf-8", "replace").strip()


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_id=dict(type="str", required=True),
            state_dir=dict(type="str", required=True),
            run_path=dict(type="str"),
            plan=dict(type="dict"),
            tester=dict(type="dict"),
            workspace=dict(type="dict"),
            source_dir=dict(type="path"),
            do=dict(type="str", choices=["start", "look", "check"], default="start"),
            volume=dict(type="str", default="log"),
            path=dict(type="str", default=""),
            marked=dict(type="list", elements="str", default=[]),
            mqs_ini=dict(type="path", default=_queue_managers.MQS_INI),
            tester_path=dict(type="str", default=""),
            directories=dict(type="list", elements="str", default=[]),
            arguments=dict(type="list", elements="str", default=[]),
            acknowledged=dict(type="str", default=""),
            limit_s=dict(type="float", default=3600),
            user=dict(type="str", default=""),
        ),
        supports_check_mode=True,
    )
    p = module.params
    _user.refuse_other(module)
    try:
        run = _runs.Run(p["state_dir"], p["run_id"], p["volume"])
        if p["do"] == "look":
            found = look(p)
        else:
            found = start(p, run, module.check_mode) if p["do"] == "start" else check(p, run)
    except (OSError, _runs.RunError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=p["do"] != "look", **found)


if __name__ == "__main__":
    main()
