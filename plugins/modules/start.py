#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: start
short_description: Start the testers in the background
description:
  - Starts a tester for each volume in its own session, so that it keeps running if the connection is closed. A
    supervising shell stores the exit status of the tester and removes the test directories when the tester has ended.
  - The action plugin first records in the run directory on the controller what is to be measured and on which machine.
  - Returns at once. M(mqops.logdisk.collect) follows the run and returns its tables.
  - Fails if another run uses the same state directory, and names that run. If a run with another state directory
    measures the same disk, the tester itself refuses to start. The testers of one run may share a disk.
  - If the tester of a volume cannot be started, the other volumes are not affected, and the action plugin writes the
    record of the volume.
  - These are the options of the module. Tasks pass the results of earlier tasks to its action plugin, as the example
    shows.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run
  - mqops.logdisk.run.state_dir
  - mqops.logdisk.run.user
options:
  tester:
    description: Path of the tester on the host.
    type: str
    required: true
  volumes:
    description: The volumes under test, each with its own tester.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the volume.
        type: str
        required: true
      arguments:
        description: Arguments for the tester, without C(--runId), C(--dir), C(--tables) and C(--progress).
        type: list
        elements: str
        default: []
      directories:
        description:
          - The directories under test, one element for each queue manager or place. If a place has several directories,
            they are a single element, separated by C(+).
          - Empty if all places are devices.
        type: list
        elements: str
        required: true
      paths:
        description: Paths of the workspace, which contain the directories of this run.
        type: list
        elements: str
        required: true
      run_directories:
        description: The directories of this run. There is one in each of O(volumes[].paths), and they contain
          O(volumes[].directories).
        type: list
        elements: str
        required: true
      made_paths:
        description: The paths in O(volumes[].paths) that this run created. They are removed when the run has ended.
          The module adds those that it creates for O(workspace).
        type: list
        elements: str
        default: []
      keep_directories:
        description:
          - Whether to keep the empty directories when the tester has ended, for a later round of a search.
            M(mqops.logdisk.cleanup) removes them.
        type: bool
        default: false
      deadline_epoch_s:
        description: Time at which the tester ends at the latest, in seconds since the epoch by the host's clock.
        type: float
        required: true
      order:
        description:
          - The host, volume and run for which the tester is started. They are stored beside the tables for
            M(mqops.logdisk.collect).
          - The action plugin sets this option.
        type: dict
        default: {}
  workspace:
    description:
      - Options of M(mqops.logdisk.workspace), if the directories still have to be created. Their file systems are
        inspected again first. A volume that is refused is not started.
      - The action plugin sets this option.
    type: dict
    default: {}
  nice:
    description: Niceness of the tester.
    type: int
    default: 0
  ionice:
    description: I/O scheduling class and priority of the tester, as options of ionice(1), for example C(-c 2 -n 7). If
      empty, the system's default applies.
    type: str
    default: ""
  round:
    description:
      - Number of the round of a search for the capacity. From the second round on, the state of the previous round is
        replaced. The tables of that round must have been collected.
    type: int
    default: 1
  keep_days:
    description: Number of days after which the state of a run that was not collected is removed.
    type: int
    default: 7
attributes:
  check_mode:
    description: In check mode, the module reports a change without starting the tester.
    support: full
"""

EXAMPLES = r"""
- name: Start the tester
  mqops.logdisk.start:
    run_id: "{{ sweep_run_id }}"
    run_path: "{{ sweep_run_path }}"
    plan: "{{ sweep_plan }}"
    tester: "{{ sweep_tester }}"
    workspace: "{{ sweep_workspace }}"
    times: "{{ sweep_schedule.hosts[inventory_hostname] }}"
    search_round: {}
  register: sweep_status
"""

RETURN = r"""
host:
  description: Name of the host in the inventory.
  returned: success
  type: str
run_id:
  description: ID of the run.
  returned: success
  type: str
state:
  description: V(running).
  returned: success
  type: str
volumes:
  description: The state of each volume whose tester was started, by its name.
  returned: success
  type: dict
  sample: {log: {state: running, progress: {}}}
"""

import os
import shlex
import time

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import _machine, _marks, _runs, _user

PATIENCE_S = 60

# Arguments: the state directory, 1 if a later round needs the directories, the run's directories and the paths that
# this run created, each on a separate line, and the tester's command. The directories are removed when the tester has
# ended. A tester with a thread that hangs in a write keeps them until the disk responds. If one file system hangs, the
# directories on the others are still removed. Relative file names are used only below directories that have the
# collection's mark. If nothing is left on the file systems, the last file in the state says so.
SUPERVISOR = r"""
umask 077
state=$1 keep=$2 runs=$3 made=$4
shift 4
"$@" </dev/null >"$state/stdout" 2>"$state/stderr" &
child=$!
trap 'kill -TERM "$child" 2>/dev/null' TERM INT HUP
wait "$child"; status=$?
while kill -0 "$child" 2>/dev/null; do wait "$child"; status=$?; done
echo "$status" >"$state/exit.tmp" && mv "$state/exit.tmp" "$state/exit"
[ "$keep" = 0 ] || exit
cd / || exit
# A directory whose parent this user may not change keeps its mark, for the cleanup with privilege that comes later.
leave() {
  [ -w "${1%/*}" ] && [ ! -L "$1" ] && [ "$(ls -A "$1")" = MARK ] && rm -f "$1/MARK" && rmdir "$1"
}
leave_run() {
  if [ -f "$1/MARK" ] && [ ! -L "$1" ]; then
    find "$1" -mindepth 1 -maxdepth 1 -type d -exec rmdir {} + 2>/dev/null
    leave "$1"
  fi
  if printf '%s\n' "$made" | grep -Fqx "${1%/*}"; then leave "${1%/*}"; fi
}
set -f
IFS='
'
for run in $runs; do leave_run "$run" & done
wait
for run in $runs; do
  # Storage that fails, or that is not mounted, does not show whether the run has left anything there.
  [ -d "${run%/*/*}/" ] || exit
  for path in "$run" "${run%/*}/MARK"; do
    if [ -e "$path" ] || [ -L "$path" ]; then exit; fi
  done
done
: >"$state/REMOVED"
""".replace("MARK", _marks.MARK_NAME).replace("REMOVED", _runs.REMOVED_NAME)


def remove_old_runs(state_dir, keep_days):
    """Remove the state of runs that were not collected within ``keep_days`` days and that have no process."""
    for run in _runs.runs_below(state_dir):
        age_s = time.time() - os.lstat(run.path).st_mtime
        if age_s > keep_days * 86400 and not run.processes():
            run.remove()


def command(p, volume, run):
    """Return the tester's command line."""
    prefix = ["nice", "-n", str(p["nice"])] if p["nice"] else []
    if p["ionice"]:
        prefix += ["ionice"] + shlex.split(p["ionice"])
    directories = ["--dir=" + ",".join(volume["directories"])] if volume["directories"] else []
    return (
        prefix
        + [p["tester"]]
        + volume["arguments"]
        + directories
        + ["--runId=" + p["run_id"], "--tables=" + run.tables_path, "--progress=" + run.progress_path]
    )


def launch(p, volume, run, lock):
    """Start the supervising shell in its own session. Returns its pid."""
    keep = "1" if volume["keep_directories"] else "0"
    directories = ["\n".join(volume[key]) for key in ("run_directories", "made_paths")]
    supervisor = ["/bin/sh", "-c", SUPERVISOR, "mqops-logdisk", run.path, keep] + directories
    return _runs.detach(supervisor + command(p, volume, run), lock)


def start(p, volume, run, lock):
    """Start the tester of a volume. Returns the reason if it cannot be started; otherwise an empty text."""
    try:
        if p["round"] > 1:
            run.follow(p["round"])
        else:
            run.create()
        pid = launch(p, volume, run, lock)
        kept = dict((key, volume[key]) for key in ("deadline_epoch_s", "paths", "run_directories", "order"))
        run.write_start(dict(kept, pid=pid, round=p["round"], started_epoch_s=time.time(), machine=_machine.identity()))
    except (OSError, _runs.RunError) as error:
        return str(error)
    return ""


def created(asked):
    """Create the directories of all volumes. Returns, by volume name, the paths that were created for this run, or an
    ``error``."""
    # The module is imported only by a call that creates directories.
    from ..module_utils import _workspaces

    found = _workspaces.inspect_all(asked, None)
    _workspaces.make_all(asked, found)
    return dict((name, created_for(each)) for name, each in found.items())


def created_for(found):
    if found["needs_privilege"] and not found["error"]:
        return dict(error="the permissions of its directory changed while this run began: certify it again")
    made = [part["path"] for part in found["workspace"]["parts"] if part.get("made_path")]
    return dict(error=found["error"], made_paths=made)


def started(p, volume, run, lock, workspace):
    """Start the tester of a volume, unless its workspace could not be created. Returns the ``error``, and the ``stage``
    of the error unless it is the sweep."""
    if workspace.get("error"):
        return dict(error=workspace["error"], stage="workspace")
    made_paths = volume["made_paths"] + workspace.get("made_paths", [])
    return dict(error=start(p, dict(volume, made_paths=made_paths), run, lock))


def start_all(p):
    """Start the testers. Returns, by volume name, the ``error`` of each volume, and the ``stage`` of the error unless
    it is the sweep."""
    runs = [_runs.Run(p["state_dir"], p["run_id"], volume["name"]) for volume in p["volumes"]]
    _runs.own_directory(runs[0].state_dir)
    # The tester of the previous round may still be running, because it writes its tables before it ends.
    lock = runs[0].lock(PATIENCE_S if p["round"] > 1 else 0)
    try:
        remove_old_runs(p["state_dir"], p["keep_days"])
        workspaces = created(dict(p["workspace"], state_dir=p["state_dir"])) if p["workspace"] else {}
        return dict(
            (volume["name"], started(p, volume, run, lock, workspaces.get(volume["name"], {})))
            for volume, run in zip(p["volumes"], runs)
        )
    finally:
        os.close(lock)


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_id=dict(type="str", required=True),
            state_dir=dict(type="str", required=True),
            tester=dict(type="str", required=True),
            volumes=dict(
                type="list",
                elements="dict",
                required=True,
                options=dict(
                    name=dict(type="str", required=True),
                    arguments=dict(type="list", elements="str", default=[]),
                    directories=dict(type="list", elements="str", required=True),
                    paths=dict(type="list", elements="str", required=True),
                    run_directories=dict(type="list", elements="str", required=True),
                    made_paths=dict(type="list", elements="str", default=[]),
                    keep_directories=dict(type="bool", default=False),
                    deadline_epoch_s=dict(type="float", required=True),
                    order=dict(type="dict", default={}),
                ),
            ),
            nice=dict(type="int", default=0),
            ionice=dict(type="str", default=""),
            keep_days=dict(type="int", default=7),
            user=dict(type="str", default=""),
            round=dict(type="int", default=1),
            workspace=dict(type="dict", default={}),
        ),
        supports_check_mode=True,
    )
    p = module.params
    _user.refuse_other(module)
    if module.check_mode:
        module.exit_json(changed=True, volumes={})
    try:
        started = start_all(p)
    except (OSError, _runs.RunError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=True, volumes=started)


if __name__ == "__main__":
    main()
