#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: queue_manager_info
short_description: Find the queue managers of a host and their recovery logs
description:
  - Returns the queue managers of a host, the settings of their recovery logs, and the file systems that hold these
    logs.
  - Reads C(mqs.ini) and the C(qm.ini) of each queue manager. A setting that C(qm.ini) does not contain comes from the
    files of the log or, if they do not show it, is the product's default, which RV(queue_managers[].sources) calls
    C(assumed).
  - If C(mqs.ini) does not exist or cannot be read, and C(dspmq) and C(dspmqinf) are installed, the module calls them.
  - The module only reads, and needs neither IBM MQ nor privilege. It reports everything that this user may not read.
    IBM MQ lets only the user C(mqm) and the members of the group C(mqm) read C(qm.ini).
  - A value that IBM MQ would not accept is reported as a problem of its queue manager, with the file, the line and the
    key.
  - If the storage of a file system does not answer, only the queue managers that use it are affected.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run.queue_managers
options:
  stanzas:
    description: The output of C(dspmqinf -o stanza) for all queue managers, to be used instead of O(mqs_ini). If
      empty, O(mqs_ini) is used.
    type: str
    default: ""
  timeout:
    description: Number of seconds to wait for file systems that do not answer.
    type: int
    default: 10
attributes:
  check_mode:
    description: The module returns the same information with and without check mode.
    support: full
"""

EXAMPLES = r"""
- name: Find the queue managers
  mqops.logdisk.queue_manager_info:
  become: true
  become_user: mqm
  register: mq

- name: Show which queue managers share a file system with others
  ansible.builtin.debug:
    msg: "{{ item.name }} logs to {{ item.log_path }} on {{ item.filesystem.mount_point }}, and so do
      {{ item.shares_filesystem_with | join(', ') }}"
  loop: "{{ mq.queue_managers | selectattr('shares_filesystem_with') }}"
  loop_control:
    label: "{{ item.name }}"
"""

RETURN = r"""
queue_managers:
  description: The queue managers, sorted by name.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the queue manager.
      returned: always
      type: str
      sample: QM1
    exists:
      description: Whether the queue manager exists. V(false) for a queue manager in O(planned_queue_managers).
      returned: always
      type: bool
    running:
      description: Whether the queue manager is running. C(null) if this user cannot see the processes of other users.
      returned: always
      type: bool
    problem:
      description: The reason why nothing else is known about this queue manager. Empty if the other keys are known.
      returned: always
      type: str
      sample: "/var/mqm/qmgrs/QM1/qm.ini, line 9: LogFilePages is '4o96', but must be a whole number from 64 to 65535"
    absent:
      description:
        - Whether the files of an existing queue manager are not on this host, as on a passive node or if a file system
          is not mounted. RV(queue_managers[].problem) then says what is missing.
        - This is the case if there is no qm.ini, if the log directory does not exist, or if it contains neither
          C(amqhlctl.lfh) nor log files.
      returned: always
      type: bool
    shares_filesystem_with:
      description: Names of the other queue managers whose logs are on the same file system.
      returned: always
      type: list
      elements: str
    qm_ini:
      description: Path of the queue manager's configuration file.
      returned: if there is no problem and the queue manager exists
      type: str
      sample: /var/mqm/qmgrs/QM1/qm.ini
    installation:
      description: Name of the installation that the queue manager belongs to. Empty if C(mqs.ini) does not contain it.
      returned: if there is no problem and the queue manager exists
      type: str
      sample: Installation1
    log_path:
      description: Directory of the recovery log, as it is configured.
      returned: if there is no problem
      type: str
      sample: /var/mqm/log/QM1
    log_directory:
      description: The same directory after all symlinks are resolved.
      returned: if there is no problem
      type: str
      sample: /var/mqm/log/QM1
    log_parent:
      description: The nearest existing directory above RV(queue_managers[].log_directory).
      returned: if there is no problem
      type: str
      sample: /var/mqm/log
    log_type:
      description: C(CIRCULAR), C(LINEAR) or C(REPLICATED).
      returned: if there is no problem
      type: str
      sample: CIRCULAR
    log_file_pages:
      description: Size of a log file in pages of 4096 bytes. If the files and C(qm.ini) differ, it is the size of the
        files.
      returned: if there is no problem
      type: int
      sample: 4096
    log_primary_files:
      description: Number of primary log files.
      returned: if there is no problem
      type: int
      sample: 3
    log_secondary_files:
      description: Number of secondary log files.
      returned: if there is no problem
      type: int
      sample: 2
    log_buffer_pages:
      description: Size of the log buffer in pages of 4096 bytes, which is also the size of the largest log write. C(0)
        means 512 pages. MQ uses 18 pages for C(1) to C(17), and so does this module.
      returned: if there is no problem
      type: int
      sample: 0
    log_write_integrity:
      description: C(TripleWrite), C(DoubleWrite) or C(SingleWrite).
      returned: if there is no problem
      type: str
      sample: TripleWrite
    sources:
      description:
        - The origin of each setting, by its name in this dictionary.
        - C(qm.ini) and C(mqs.ini) are configuration files, C(files) are the files of the log, C(given) is
          O(planned_queue_managers), and C(assumed) is the product's default.
      returned: if there is no problem
      type: dict
      sample: {log_path: qm.ini, log_file_pages: qm.ini, log_primary_files: files, log_write_integrity: assumed}
    contradicted:
      description: The settings in C(qm.ini) that the files of the log contradict, by their names here. Only
        C(log_file_pages) is possible.
      returned: if there is no problem and the queue manager exists
      type: dict
      sample: {log_file_pages: 8192}
    filesystem:
      description:
        - The file system that holds the log, with its mount point, device, type, and device number as major:minor, and
          its size and free space in bytes.
        - If the mount is not known, its facts are C(null).
      returned: if there is no problem
      type: dict
      sample:
        mount_point: /var/mqm/log
        mount_source: /dev/mapper/vg0-mqlog
        filesystem_type: xfs
        device_number: "253:4"
        filesystem_size_bytes: 10726932480
        filesystem_free_bytes: 10466041856
log_defaults:
  description:
    - The settings that a new queue manager would have if it were created now, with their sources. They come from
      C(LogDefaults) in C(mqs.ini), or else from the product's defaults.
    - The log is created in a new directory below C(log_path). Empty if C(mqs.ini) cannot be used.
  returned: success
  type: dict
  sample: {log_path: /var/mqm/log, log_file_pages: 4096, log_primary_files: 3}
problems:
  description: The reasons why queue managers may be missing from the list, one sentence for each.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import _queue_manager_info, _queue_managers


def main():
    module = AnsibleModule(
        argument_spec=dict(
            stanzas=dict(type="str", default=""),
            timeout=dict(type="int", default=_queue_manager_info.DEFAULT_LIMIT_S),
            **_queue_managers.OPTIONS,
        ),
        supports_check_mode=True,
    )
    p = module.params
    module.exit_json(
        changed=False,
        **_queue_manager_info.discover(
            p["mqs_ini"], module.run_command, p["stanzas"], p["planned_queue_managers"], p["timeout"]
        ),
    )


if __name__ == "__main__":
    main()
