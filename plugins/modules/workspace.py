#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import (absolute_import, division, print_function)
__metaclass__ = type

DOCUMENTATION = r'''
---
module: workspace
short_description: Make the directories under test, one for each queue manager
description:
  - Looks first for everything that speaks against a test there (see RV(refusals)) and refuses before a byte is written.
  - Makes one directory for each queue manager in a directory of this run, marked as ours.
  - In check mode it is the preflight alone.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  path:
    description:
      - Directory on the file system under test. It is made where only its last component is missing.
    type: str
    required: true
  run_id:
    description: The run that the directories belong to.
    type: str
    required: true
  volume:
    description: Name of the volume under test, of letters, digits and C(.), C(_), C(-).
    type: str
    default: log
  queue_managers:
    description: Names of the queue managers; one directory each.
    type: list
    elements: str
    default: [QM1]
  owner:
    description: User that the directories belong to; empty for the user that the module runs as.
    type: str
    default: ""
  footprint_bytes:
    description: What the test files will take.
    type: int
    required: true
  direct_sizes:
    description: Sizes in bytes of the writes past the page cache, refused if the device cannot take one of them.
    type: list
    elements: int
    default: []
  reserve_bytes:
    description: What must stay free besides. Overridden by O(reserve_share).
    type: int
    default: 0
  reserve_share:
    description: What must stay free, as a share (0 to 1) of the file system's size.
    type: float
  expect_mount:
    description: The mount point that O(path) must lie on; empty for any.
    type: str
    default: ""
  allow:
    description:
      - Refusals to override.
      - V(device_in_use) is none of this module's, but of the tester's, which refuses a disk that another run measures.
    type: list
    elements: str
    default: []
    choices:
      - symlink
      - shared_directory
      - remote_file_system
      - queue_manager_files
      - active_log
      - unknown_log
      - device_in_use
  privileged:
    description: The task becomes root to make the directories.
    type: bool
    default: false
  may_ask_for_privilege:
    description: Where this user may not write there, say so in RV(needs_privilege); else that is an error.
    type: bool
    default: true
attributes:
  check_mode:
    description: Runs the whole preflight in check mode and makes nothing.
    support: full
'''

EXAMPLES = r'''
- name: Make the workspace
  mqops.logdisk.workspace:
    path: /var/mqm/log/logdisk
    run_id: 20261121T104935Z-1f0c2a
    queue_managers: [QM1, QM2]
    footprint_bytes: 2147483648
'''

RETURN = r'''
refusals:
  description: What speaks against a test there, a sentence each, with the option that overrides it where one does.
  returned: always
  type: list
  elements: str
unknown:
  description: What the preflight could not know.
  returned: always
  type: list
  elements: str
needs_privilege:
  description: Nothing was made, since this user may not write there.
  returned: always
  type: bool
privileged:
  description: Whether O(privileged) was set, and so what was made is to be removed with privilege.
  returned: always
  type: bool
facts:
  description: The file system under test.
  returned: always
  type: dict
workspace:
  description: The paths.
  returned: always
  type: dict
  sample: {path: /var/tmp/logdisk, run_directory: /var/tmp/logdisk/logdisk-R-log, directories: [/var/tmp/logdisk/logdisk-R-log/QM1]}
'''

import pwd

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.mqops.logdisk.plugins.module_utils import _workspace


def owner_uid(module):
    owner = module.params['owner']
    try:
        return pwd.getpwnam(owner).pw_uid if owner else None
    except KeyError:
        module.fail_json(msg='workspace_owner: there is no user %r on this host' % owner)


def main():
    module = AnsibleModule(
        argument_spec=dict(
            path=dict(type='str', required=True),
            run_id=dict(type='str', required=True),
            volume=dict(type='str', default='log'),
            queue_managers=dict(type='list', elements='str', default=['QM1']),
            owner=dict(type='str', default=''),
            footprint_bytes=dict(type='int', required=True),
            direct_sizes=dict(type='list', elements='int', default=[]),
            reserve_bytes=dict(type='int', default=0),
            reserve_share=dict(type='float'),
            expect_mount=dict(type='str', default=''),
            privileged=dict(type='bool', default=False),
            may_ask_for_privilege=dict(type='bool', default=True),
            allow=dict(type='list', elements='str', default=[], choices=[
                'symlink', 'shared_directory', 'remote_file_system', 'queue_manager_files', 'active_log', 'unknown_log',
                'device_in_use']),
        ),
        supports_check_mode=True,
    )
    p = module.params
    reserve = p['reserve_bytes'] if p['reserve_share'] is None else p['reserve_share']
    try:
        plan = _workspace.layout(p['path'], p['run_id'], p['volume'], p['queue_managers'])
        preflight = _workspace.Preflight(p['path'], p['footprint_bytes'], reserve, p['allow'], p['expect_mount'], owner_uid(module),
                                         p['direct_sizes'])
        result = dict(refusals=preflight.refusals, unknown=preflight.unknown, facts=preflight.facts, workspace=plan,
                      needs_privilege=not preflight.refusals and preflight.needs_privilege(), privileged=p['privileged'])
        if preflight.refusals:
            module.fail_json(msg='refused: ' + '; '.join(preflight.refusals), **result)
        if result['needs_privilege'] and not p['may_ask_for_privilege']:
            module.fail_json(msg='%s cannot be written by this user: make it, choose another workspace_path, or set '
                             'workspace_become: auto' % p['path'], **result)
        if result['needs_privilege'] or module.check_mode:
            module.exit_json(changed=module.check_mode, **result)
        result['workspace'] = _workspace.make(plan, p['run_id'], p['owner'], p['allow'])
    except _workspace.WorkspaceError as error:
        module.fail_json(msg=str(error))
    except OSError as error:
        module.fail_json(msg='cannot look at %s: %s' % (p['path'], error))
    module.exit_json(changed=True, **result)


if __name__ == '__main__':
    main()
