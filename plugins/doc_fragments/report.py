# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import absolute_import, division, print_function

__metaclass__ = type


class ModuleDocFragment(object):
    """Options of the report callback and of the shim in the playbooks' folder that loads it."""

    DOCUMENTATION = r"""
options:
  summary:
    description:
      - Whether to print the summary after the play recap. The report is written in any case.
      - On a terminal, the summary is wrapped to the width of the terminal.
      - If the stdout callback prints JSON (C(json), C(jsonl) or C(ndjson) of any collection), neither the progress nor the summary is printed.
    type: bool
    default: true
    env:
      - name: LOGDISK_SUMMARY
    ini:
      - section: callback_logdisk
        key: summary
"""
