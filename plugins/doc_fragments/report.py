# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


class ModuleDocFragment:
    """Options of the report callback and of the shim in the playbooks' folder that loads it."""

    DOCUMENTATION = r"""
options:
  summary:
    description:
      - Whether to print the summary after the play recap. The report is written in any case.
      - On a terminal, the summary is wrapped to the width of the terminal, but not in a job of ansible-runner,
        AWX or Automation Platform.
      - If the stdout callback prints JSON (C(json), C(jsonl) or C(ndjson) of any collection), neither the progress
        nor the summary is printed.
    type: bool
    default: true
    env:
      - name: LOGDISK_SUMMARY
    ini:
      - section: callback_logdisk
        key: summary
  progress:
    description:
      - How to show the progress while hosts measure.
      - V(auto) rewrites one line every second on a terminal. If the output is not a terminal, and in a job of
        ansible-runner, AWX or Automation Platform, it prints plain lines instead.
      - V(lines) always prints plain lines, at most one every 30 seconds.
      - V(none) prints nothing.
    type: str
    choices: [auto, lines, none]
    default: auto
    env:
      - name: LOGDISK_PROGRESS
    ini:
      - section: callback_logdisk
        key: progress
"""
