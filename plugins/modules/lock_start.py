#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: lock_start
short_description: Read the settings of a host that matter for locks
description:
  - Runs the preflight of the directory under test without writing anything, and reads the mount options, the parameters
    of the NFS client, and the identity of the machine and the user.
  - Creates the state of the run on the host, and refuses a host on which another run is measuring.
  - The action plugin makes the command line that starts the tester over a separate connection. Only the connection
    plugins P(ansible.builtin.ssh#connection), without passwords, and P(ansible.builtin.local#connection) can be used.
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
    description: The plan, as the step V(lock_plan) returns it. The action plugin does not send it to the host.
    type: dict
  tester:
    description: The tester, as returned by M(mqops.logdisk.build). The action plugin does not send it to the host.
    type: dict
  pairs:
    description: The result of the step V(lock_pairs). The action plugin does not send it to the host.
    type: dict
  volume:
    description: Name of the volume. The action plugin sets this option.
    type: str
    default: log
  path:
    description: Path of the workspace. The action plugin sets this option.
    type: str
    default: ""
  directory:
    description: A directory that exists in the workspace if both hosts see the same file system. The action plugin sets
      this option.
    type: str
    default: ""
  marked:
    description: The directories with a mark of this collection, if this host created them. The action plugin sets this
      option.
    type: list
    elements: str
    default: []
  allow:
    description: Refusals to override, as in M(mqops.logdisk.workspace). The action plugin sets this option.
    type: list
    elements: str
    default: []
  expect_mount:
    description: The mount point that the path must be on, as in M(mqops.logdisk.workspace). The action plugin sets this
      option.
    type: str
    default: ""
  mqs_ini:
    description: Path of the file that lists the queue managers.
    type: path
    default: /var/mqm/mqs.ini
  settings:
    description: The settings of the host to read, as in M(mqops.logdisk.workspace). The action plugin sets this option.
    type: list
    elements: dict
    default: []
attributes:
  check_mode:
    description: In check mode, the module inspects the host without creating anything. The action plugin writes a
      record that says what would be tested.
    support: full
"""

EXAMPLES = r"""
- name: Read the settings for locks
  mqops.logdisk.lock_start:
    run_id: "{{ gate_run.run_id }}"
    run_path: "{{ gate_run.path }}"
    state_dir: ~/.mqops-logdisk
    plan: "{{ locks_plan }}"
    tester: "{{ tester_ready }}"
    pairs: "{{ locks_pairs }}"
  register: locks_started
"""

RETURN = r"""
settings:
  description: The settings of the host.
  returned: success
  type: dict
  sample: {boot_id: 0f0c2d6e-6a0e-4f0c-8f0e-2d6e6a0e4f0c, hostname: db01, uid: 1001, filesystem_type: nfs4,
           mount_options: "rw,vers=4.1,hard", mount_source: "nas1:/mq", server_address: 10.1.0.1, lease_s: 90,
           nfs4_unique_id: "", path: /MQHA/QM1/log/logdisk, directory_exists: true,
           directory_errno: ""}
facts:
  description: Facts about the volume, as in M(mqops.logdisk.workspace).
  returned: success
  type: dict
interpreter:
  description: Path of the Python that runs this module.
  returned: success, not in check mode
  type: str
lock:
  description: Path of the file that the tester locks.
  returned: success, not in check mode
  type: str
stream:
  description: The command line that starts the tester. The action plugin adds it.
  returned: success, not in check mode
  type: list
  elements: str
guard:
  description: The command line that starts the guard of the host as the owner of the workspace. The action plugin adds
    it.
  returned: success, not in check mode
  type: list
  elements: str
of_others:
  description: The workspace to clean up on a host that did not create a directory. The action plugin adds it.
  returned: success, not in check mode
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import (
    _lock_settings,
    _queue_managers,
    _runs,
    _settings,
    _streamed_tester,
    _time_limit,
    _user,
    _volume_identity,
    _workspace,
)

ANSWER_S = 30


def look(p):
    """Return the refusals of the preflight, the settings, and the facts of the volume."""
    found = _workspace.Preflight(p["path"], p["allow"], p["expect_mount"], mqs_ini=p["mqs_ini"])
    facts = _volume_identity.facts_of(p["path"])
    return dict(
        refusals=found.refusals,
        settings=dict(
            _lock_settings.settings_of(p["path"], p["directory"], p["patience_s"]),
            settings=_settings.readings_text(p["settings"], facts, [], [], p["mqs_ini"]),
        ),
        facts=facts,
    )


def begin(p):
    """Create the state of the run. Raises OSError and RunError."""
    run = _runs.Run(p["state_dir"], p["run_id"], p["volume"])
    # Processes of other runs are found by the directory of their tables, but this tester does not write tables.
    return _streamed_tester.begin(
        run,
        p["marked"],
        paths=[p["path"]] if p["marked"] else [],
        tester_argument="--runId=%s" % p["run_id"],
    )


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_id=dict(type="str", required=True),
            state_dir=dict(type="str", required=True),
            run_path=dict(type="str"),
            plan=dict(type="dict"),
            tester=dict(type="dict"),
            pairs=dict(type="dict"),
            volume=dict(type="str", default="log"),
            path=dict(type="str", default=""),
            directory=dict(type="str", default=""),
            marked=dict(type="list", elements="str", default=[]),
            allow=dict(type="list", elements="str", default=[]),
            expect_mount=dict(type="str", default=""),
            mqs_ini=dict(type="path", default=_queue_managers.MQS_INI),
            settings=dict(type="list", elements="dict", default=[]),
            user=dict(type="str", default=""),
        ),
        supports_check_mode=True,
    )
    p = module.params
    _user.refuse_other(module)
    p["patience_s"] = 0 if module.check_mode else _lock_settings.VISIBLE_S
    found = _time_limit.call_all([lambda: look(p)], ANSWER_S + p["patience_s"])[0]
    if isinstance(found, _time_limit.TimeLimitError):
        module.fail_json(msg="%s: %s" % (p["path"], found))
    if found["refusals"]:
        module.fail_json(msg="; ".join(found["refusals"]))
    try:
        begun = {} if module.check_mode else begin(p)
    except (OSError, _runs.RunError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(
        changed=True,
        settings=found["settings"],
        facts=found["facts"],
        run_id=p["run_id"],
        **begun,
    )


if __name__ == "__main__":
    main()
