#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: cleanup
short_description: Remove what a run left on a host
description:
  - Ends the processes of a run and removes its state and its directories on the file system under test.
  - Removes only directories that contain the mark of this collection. Anything that cannot be removed is returned in RV(left).
  - If O(run_id) is empty, cleans up after every run that has ended. Runs whose tables are still to be collected, and directories of a run
    that may be about to start, are kept and returned in RV(kept).
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run.state_dir
  - mqops.logdisk.run.user
options:
  run_id:
    description: ID of the run. If empty, all runs that have ended are removed.
    type: str
    default: ""
  volume:
    description: Name of the volume under test.
    type: str
    required: true
  path:
    description: Path of the workspace. Leave it empty if none was created.
    type: str
    default: ""
  keep_state:
    description: Keep the state and the tables of the run, for example because the tables have not been collected yet.
    type: bool
    default: false
  uncollected_days:
    description: Number of days for which tables that have not been collected are kept if O(run_id) is empty. V(0) removes them at once.
    type: int
    default: 7
  patience_s:
    description: Number of seconds that a process gets to end by itself before it is killed.
    type: float
    default: 10
  volume_counters:
    description: Whether to read again how long the volumes below O(path) were limited. The action plugin sets this option.
    type: bool
    default: false
attributes:
  check_mode:
    description: In check mode the module returns what it would remove.
    support: full
"""

EXAMPLES = r"""
- name: Remove what this run left
  mqops.logdisk.cleanup:
    state_dir: ~/.mqops-logdisk
    run_id: 20261121T104935Z-1f0c2a
    volume: log
    path: /var/tmp/logdisk
"""

RETURN = r"""
removed:
  description: Directories that were removed, or that would be removed in check mode.
  returned: always
  type: list
  elements: str
left:
  description: What could not be removed, and the reason.
  returned: always
  type: list
  elements: str
kept:
  description: What was kept because a run may still need it, and the reason.
  returned: always
  type: list
  elements: str
volume_counters:
  description: The same as of M(mqops.logdisk.workspace), at the end.
  returned: if O(volume_counters) is V(true)
  type: list
  elements: dict
"""

import os
import time

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.mqops.logdisk.plugins.module_utils import _marks, _runs, _user, _volume_counters, _workspace


STARTING_S = 3600
"""A workspace whose run is not known on this host belongs to a run that is about to start, unless it is older than this."""


def age_s(path):
    """Return how long ago ``path`` was changed."""
    return time.time() - os.lstat(path).st_mtime


def awaits_collection(run, days):
    """True if the run's tables are complete, not yet collected, and less than ``days`` days old."""
    return run.finished() and age_s(os.path.join(run.tables_path, "run.csv")) < days * 86400


def run_directories(path, run_id, volume):
    """Return the marked run directories below ``path``: this run's, or all if ``run_id`` is empty."""
    if not path or not os.path.isdir(path):
        return []
    found = []
    for name in sorted(os.listdir(path)):
        directory = os.path.join(path, name)
        mark = None if os.path.islink(directory) else _marks.read_mark(directory)
        wanted = not run_id or name == "logdisk-%s-%s" % (run_id, volume)
        if wanted and mark and mark.get("role") == "run":
            found.append(directory)
    return found


def in_use(directory):
    """True if a process has a directory below ``directory`` in its arguments."""
    needle = directory.encode() + b"/"
    for pid in os.listdir("/proc"):
        try:
            if pid.isdigit() and int(pid) != os.getpid():
                with open("/proc/%s/cmdline" % pid, "rb") as stream:
                    if needle in stream.read():
                        return True
        except (IOError, OSError):
            continue
    return False


def ended_runs(p, kept):
    """Return the runs that have no process and are no longer needed."""
    ended = []
    for run in _runs.runs_below(p["state_dir"]):
        if run.processes():
            continue
        if awaits_collection(run, p["uncollected_days"]):
            kept.append("%s: its tables have not been collected yet (playbooks/collect.yml)" % run.path)
        else:
            ended.append(run)
    return ended


def clean_state(p, check, removed, left, kept):
    """End the run's processes and remove its state. Returns False if a process remains."""
    runs = [_runs.Run(p["state_dir"], p["run_id"], p["volume"])] if p["run_id"] else ended_runs(p, kept)
    ended = True
    for run in runs:
        if not check:
            stuck = run.terminate(p["patience_s"])
            if stuck:
                ended = False
                left.append(
                    "the tester still hangs in a write (pid %s); it will end and remove its directories when "
                    "the disk responds" % ", ".join(str(pid) for pid in stuck)
                )
        if run.exists() and not p["keep_state"]:
            removed.append(run.path)
            if not check:
                run.remove()
    return ended


def about_to_start(directory, known):
    """True if no run in ``known`` (names of state directories) owns ``directory``, and it is young."""
    return os.path.basename(directory)[len("logdisk-") :] not in known and age_s(directory) < STARTING_S


def run_id_of(directory):
    """Return the run ID in the mark of ``directory``, for people to copy, if it is well-formed."""
    run_id = str((_marks.read_mark(directory) or {}).get("run_id"))
    return run_id if _runs.RUN_NAME.match(run_id) else "<run id>"


def clean_workspace(p, check, removed, left, kept, known):
    for directory in run_directories(p["path"], p["run_id"], p["volume"]):
        if in_use(directory):
            if p["run_id"]:
                left.append("%s is in use" % directory)
            continue
        if not p["run_id"] and about_to_start(directory, known):
            kept.append(
                "%s: created within the last hour by a run that may be about to start. If its controller is lost, remove it with "
                "playbooks/cleanup.yml -e cleanup_run_id=%s" % (directory, run_id_of(directory))
            )
            continue
        if check:
            removed.append(directory)
        else:
            gone, remaining = _workspace.remove(p["path"], directory)
            removed.extend(gone)
            left.extend(remaining)
    if not check and p["path"]:
        gone, remaining = _workspace.remove(p["path"], os.path.join(p["path"], "none"))
        removed.extend(gone)
        left.extend(remaining)


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_id=dict(type="str", default=""),
            volume=dict(type="str", required=True),
            state_dir=dict(type="str", required=True),
            path=dict(type="str", default=""),
            keep_state=dict(type="bool", default=False),
            uncollected_days=dict(type="int", default=7),
            patience_s=dict(type="float", default=10),
            user=dict(type="str", default=""),
            volume_counters=dict(type="bool", default=False),
        ),
        supports_check_mode=True,
    )
    _user.refuse_other(module)
    removed, left, kept = [], [], []
    ended = True
    more = dict(volume_counters=_volume_counters.read_below(module.params["path"])) if module.params["volume_counters"] else {}
    try:
        known = _runs.names_below(module.params["state_dir"])
        ended = clean_state(module.params, module.check_mode, removed, left, kept)
    except (OSError, _runs.RunError) as error:
        known = []
        left.append(str(error))
    try:
        if ended:
            clean_workspace(module.params, module.check_mode, removed, left, kept, known)
    except OSError as error:
        left.append(str(error))
    for text in kept:
        module.warn("kept: %s" % text)
    module.exit_json(changed=bool(removed), removed=removed, left=left, kept=kept, **more)


if __name__ == "__main__":
    main()
