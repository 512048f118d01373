# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import (absolute_import, division, print_function)
__metaclass__ = type


class ModuleDocFragment(object):
    """Options of the report callback and of the shim that loads it from beside the playbooks."""

    DOCUMENTATION = r'''
options:
  summary:
    description:
      - Print the summary after the play recap. The report itself is written all the same.
      - With a stdout callback that prints JSON (C(json), C(jsonl), C(ndjson) of any collection) neither progress nor summary is printed.
    type: bool
    default: true
    env:
      - name: LOGDISK_SUMMARY
    ini:
      - section: callback_logdisk
        key: summary
'''
