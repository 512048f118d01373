#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: cleanup
short_description: Remove what a run left on a host
description:
  - Ends the processes of a run and removes its state and its directories on the file systems under test.
  - Removes only directories that contain the mark of this collection. Anything that cannot be removed is returned in
    RV(left). The state of a run is kept until the directories of the run are gone, so that they can be removed later.
    Directories on storage that hangs are removed without the state when the storage answers.
  - If O(run_id) is empty, cleans up after every run that has ended. Runs whose tables are still to be collected,
    directories of a run that may be about to start, and directories that another machine created on a shared file
    system, are kept and returned in RV(kept).
  - If a file system does not answer, the others are cleaned up nevertheless.
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
  volumes:
    description:
      - The volumes under test. Directories that are listed in the state of a run are also cleaned up.
      - The action plugin also accepts what C(workspace_volumes) accepts, together with O(defaults).
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the volume.
        type: str
        required: true
      paths:
        description: Paths of the workspace. Empty if none was created.
        type: list
        elements: str
        default: []
      keep_state:
        description: Keep the state and the tables of the volume, for example because the tables
          have not been collected yet.
        type: bool
        default: false
      volume_counters:
        description: Whether to read again how long the volumes below O(volumes[].paths) were throttled. The action
          plugin sets this option.
        type: bool
        default: false
  all_volumes:
    description: Whether to clean up all volumes of the run O(run_id) that are known on this host, and not only
      O(volumes).
    type: bool
    default: false
  other_machines:
    description: Whether to remove the directories of the run O(run_id) even if another machine created them, because
      the user who named the run knows that it has ended there. The state of a run is never removed by another machine.
    type: bool
    default: false
  defaults:
    description: The defaults for the keys of a volume. The action plugin does not send it to the host.
    type: dict
    default: {}
  uncollected_days:
    description: Number of days for which tables that have not been collected are kept if O(run_id) is empty.
      V(0) removes them at once.
    type: int
    default: 7
  patience_s:
    description: Number of seconds that a process may take to end by itself before it is killed.
    type: float
    default: 10
  answer_s:
    description: Number of seconds to wait for a file system that does not answer. Its directories are removed when it
      answers again.
    type: float
    default: 30
attributes:
  check_mode:
    description: In check mode, the module returns what it would remove.
    support: full
"""

EXAMPLES = r"""
- name: Remove what this run left
  mqops.logdisk.cleanup:
    state_dir: ~/.mqops-logdisk
    run_id: 20261121T104935Z-1f0c2a
    volumes:
      - name: log
        paths: [/var/tmp/logdisk]
"""

RETURN = r"""
removed:
  description: Directories that were removed, or that would be removed in check mode.
  returned: always
  type: list
  elements: str
left:
  description: The items that could not be removed, each with the reason.
  returned: always
  type: list
  elements: str
kept:
  description: The items that were kept because a run may still need them, each with the reason.
  returned: always
  type: list
  elements: str
said:
  description: RV(removed), RV(kept) and RV(left) as text, with one line for each entry. The action plugin adds it.
    Empty if a run directory is given.
  returned: always
  type: list
  elements: str
volumes:
  description:
    - The results for each volume of the run, by its name. C(left) is what RV(left) contains for the volume.
    - C(volume_counters) is the same as in M(mqops.logdisk.workspace), read at the end. Empty if C(volume_counters)
      of the volume is V(false).
  returned: always
  type: dict
  sample: {log: {left: [], volume_counters: []}}
"""

import os
import re
from functools import partial

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import _machine, _marks, _runs, _time_limit, _user, _volume_counters, _workspace


def awaits_collection(run, days):
    """True if the run's tables are complete, not yet collected, and less than ``days`` days old.
    Results of a power cut are not collected."""
    return (
        run.finished()
        and not run.is_released()
        and not run.read_start().get("power_cut")
        and _workspace.age_s(os.path.join(run.tables_path, "run.csv")) < days * 86400
    )


def run_directories(path, run_id, volumes):
    """Return the marked run directories below ``path``: those of this run's ``volumes``,
    or all if ``run_id`` is empty."""
    own = frozenset(_workspace.run_directory(path, "%s-%s" % (run_id, volume)) for volume in volumes)
    return [directory for directory in _workspace.run_directories(path) if not run_id or directory in own]


class Found:
    """The results on the host: what was removed, what could not be removed, and what was kept. ``warnings`` say what
    this host cannot know about what it removed."""

    def __init__(self):
        self.removed, self.left, self.kept, self.warnings = [], [], [], []

    def add(self, answer):
        for name in self.as_dict():
            getattr(self, name).extend(answer[name])

    def as_dict(self):
        return dict(removed=self.removed, left=self.left, kept=self.kept, warnings=self.warnings)


def runs_to_remove(p, found):
    """Return the states of the requested run, one per volume; if no run was requested, the states of all runs that have
    no process and are no longer needed."""
    if p["run_id"]:
        named = [_runs.Run(p["state_dir"], p["run_id"], volume["name"]) for volume in p["volumes"]]
        names = frozenset(run.volume for run in named)
        return named + [
            run
            for run in _runs.runs_below(p["state_dir"])
            if p["all_volumes"] and run.run_id == p["run_id"] and run.volume not in names
        ]
    ended = []
    for run in _runs.runs_below(p["state_dir"]):
        if run.processes():
            continue
        if awaits_collection(run, p["uncollected_days"]):
            found.kept.append("%s: its tables have not been collected yet (playbooks/collect.yml)" % run.path)
        else:
            ended.append(run)
    return ended


def hanging(pids):
    """Return what is left behind if the processes ``pids`` could not be ended."""
    sentence = (
        "the tester still hangs in a write (pid %s); it will end and remove its directories when the disk responds"
    )
    return [sentence % ", ".join(str(pid) for pid in pids)] if pids else []


def remove_state(p, check, run, is_needed):
    """Remove the state of a run, unless it is still needed to find the directories of the run. Returns the results."""
    found = Found()
    keep = frozenset(volume["name"] for volume in p["volumes"] if volume["keep_state"])
    if not run.exists() or run.volume in keep:
        return found
    try:
        if not is_needed:
            found.removed.append(run.path)
            if not check:
                run.remove()
        elif p["run_id"] and not check:
            run.release()
    except OSError as error:
        found.left.append(str(error))
    return found


def workspaces_of(run):
    """Return the paths of the workspace that were recorded when a run was started."""
    paths = run.read_start().get("paths")
    paths = paths if isinstance(paths, list) else []
    return [path for path in paths if isinstance(path, str) and re.match(r"/[^\0]*\Z", path)]


def why_remaining(run, path, directory):
    """Return why a run may still have its ``directory`` in the workspace ``path``; empty if it has none."""
    # The supervisor saw that the directories were gone while the mount was still there.
    point = "" if run.removed() else run.missing_mounts().get(path)
    if point:
        return "%s was on the mount point %s: mount it and clean up again or, if it no longer exists, remove %s" % (
            path,
            point,
            run.path,
        )
    if _workspace.is_gone(directory):
        return ""
    return "%s is in use, does not have the mark of this collection, or cannot be read" % directory


def run_id_of(directory):
    """Return the run ID in the mark of ``directory`` for use in a command, or a placeholder if it is not
    well-formed."""
    run_id = str((_marks.read_mark(directory) or {}).get("run_id"))
    return run_id if _runs.RUN_NAME.match(run_id) else "<run id>"


def foreign_states(p):
    """Return, for each state that another machine has in the state directory, why it is kept."""
    return [
        "%s: created by %s, which may still need it: clean up that host. If it no longer exists, remove the directory "
        "by hand" % (run.path, _machine.name_of(run.mark().get("machine")))
        for run in _runs.marked_runs(p["state_dir"])
        if p["run_id"] in ("", run.run_id) and not run.exists()
    ]


def whose(directory):
    """Return which host created ``directory`` and, after a restart of this host, that nothing proves that."""
    machine = _workspace.machine_of(directory)
    return (
        "created by this host before it was restarted, or by a clone of this host"
        if _machine.is_this(machine, directory)
        else "created by %s" % _machine.name_of(machine)
    )


def why_kept(p, known, directory):
    """Return why a directory that this host does not use is kept; empty if it may be removed. Its age alone decides
    nothing about a directory of another machine, which does not tell this host whether it is alive."""
    if not _workspace.is_own(directory, known, bool(p["run_id"])):
        return (
            ""
            if p["run_id"] and p["other_machines"]
            else "%s: %s, where its run may still be alive: clean up that host. If it no longer exists, or "
            "has forgotten the run, remove the directory with playbooks/cleanup.yml -e cleanup_run_id=%s"
            % (directory, whose(directory), run_id_of(directory))
        )
    if p["run_id"] or _workspace.is_known(directory, known) or not _workspace.is_young(directory):
        return ""
    return (
        "%s: created within the last hour by a run that may be about to start. If its controller is lost, "
        "remove it with playbooks/cleanup.yml -e cleanup_run_id=%s" % (directory, run_id_of(directory))
    )


def clean_workspace(p, check, known, path, volumes):
    """Remove the directories of ``volumes`` below the workspace ``path``; returns the results. ``known`` contains the
    names of the runs whose state is on this host."""
    found = Found()
    for directory in run_directories(path, p["run_id"], volumes):
        if _workspace.in_use(directory):
            if p["run_id"]:
                found.left.append("%s is in use" % directory)
            continue
        why = why_kept(p, known, directory)
        if why:
            found.kept.append(why)
            continue
        if not _workspace.is_own(directory, known):
            found.warnings.append(
                "%s: %s. It was removed only because its run was named: this host does not know whether the run has "
                "ended there" % (directory, whose(directory))
            )
        if check:
            found.removed.append(directory)
        else:
            gone, remaining = _workspace.remove(path, directory)
            found.removed.extend(gone)
            found.left.extend(remaining)
    if not check and path:
        gone, remaining = _workspace.remove(path, os.path.join(path, "none"))
        found.removed.extend(gone)
        found.left.extend(remaining)
    return found


def clean_place(p, check, known, place):
    """Clean up one workspace. Returns the results, the state of each run that may still have a directory there and, if
    requested, how long the volumes below it were throttled. The call hangs for as long as the file system does not
    answer."""
    path, remaining = place["path"], []
    counters = _volume_counters.read_below(path) if place["volume_counters"] else []
    if place["stuck"]:
        return dict(Found().as_dict(), remaining=[], volume_counters=counters)
    found = clean_workspace(p, check, known, path, place["volumes"])
    for run in place["runs"]:
        directory = _workspace.run_directory(path, run.path)
        why = "" if directory in found.removed else why_remaining(run, path, directory)
        if why:
            remaining.append(run.path)
            told = any(directory in text for text in found.left)
            found.left.extend([] if told else [why])
    return dict(found.as_dict(), remaining=remaining, volume_counters=counters)


def places(p, runs, stuck):
    """Return the workspaces to clean up, without duplicates, with the names of their volumes, and with those of
    ``runs`` that recorded them. ``stuck`` contains the names of the volumes with a process that could not be ended."""
    found = {}
    noted = [dict(name=run.volume, paths=workspaces_of(run), volume_counters=False, runs=[run]) for run in runs]
    for volume in p["volumes"] + noted:
        for path in volume["paths"]:
            place = found.setdefault(path, dict(path=path, volumes=[], runs=[], volume_counters=False, stuck=False))
            place["volumes"] += [volume["name"]] if volume["name"] not in place["volumes"] else []
            place["runs"] += volume.get("runs", [])
            place["volume_counters"] = place["volume_counters"] or volume["volume_counters"]
            place["stuck"] = place["stuck"] or volume["name"] in stuck
    return list(found.values())


def with_error(place, answer):
    if not isinstance(answer, _time_limit.TimeLimitError):
        return answer
    left, hangs = "%s: %s" % (place["path"], answer), isinstance(answer, _time_limit.NoAnswerError)
    if hangs:
        left += ": its file system hangs; what this run created there will be removed when it answers"
    # The process that waits for the file system needs no state.
    remaining = [] if hangs else [run.path for run in place["runs"]]
    return dict(Found().as_dict(), left=[left], remaining=remaining, volume_counters=[])


def clean_places(p, check, known, all_places):
    """Clean up all workspaces at the same time. Returns the results for each."""
    # Processes that are already removing files are not interrupted.
    answers = _time_limit.call_all(
        [partial(clean_place, p, check, known, place) for place in all_places], p["answer_s"], undo=lambda answer: None
    )
    return [with_error(place, answer) for place, answer in zip(all_places, answers)]


def clean(p, check):
    """Clean up. The state of a run is kept as long as a directory of the run may exist, unless a process waits for its
    file system and will remove the directory. Returns the results, in total and for each volume of the run."""
    found, volumes = Found(), dict((volume["name"], dict(left=[], volume_counters=[])) for volume in p["volumes"])
    known = _runs.names_below(p["state_dir"])
    runs = runs_to_remove(p, found)
    found.kept.extend(foreign_states(p))
    pids = [[] for dummy in runs] if check else _runs.terminate(runs, p["patience_s"])
    stuck = frozenset(run.volume for run, own_pids in zip(runs, pids) if own_pids)
    all_places, remaining = places(p, runs, stuck), []
    for place, answer in zip(all_places, clean_places(p, check, known, all_places)):
        found.add(answer)
        remaining += answer["remaining"]
        for name in place["volumes"]:
            if name in volumes:
                volumes[name]["left"] += answer["left"]
                volumes[name]["volume_counters"] += answer["volume_counters"]
    for run, own_pids in zip(runs, pids):
        own = remove_state(p, check, run, run.path in remaining)
        own.left.extend(hanging(own_pids))
        found.add(own.as_dict())
        if p["run_id"] and run.volume in volumes:
            volumes[run.volume]["left"] += own.left
    return dict(found.as_dict(), volumes=volumes)


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_id=dict(type="str", default=""),
            volumes=dict(
                type="list",
                elements="dict",
                default=[],
                options=dict(
                    name=dict(type="str", required=True),
                    paths=dict(type="list", elements="str", default=[]),
                    keep_state=dict(type="bool", default=False),
                    volume_counters=dict(type="bool", default=False),
                ),
            ),
            all_volumes=dict(type="bool", default=False),
            other_machines=dict(type="bool", default=False),
            defaults=dict(type="dict", default={}),
            state_dir=dict(type="str", required=True),
            uncollected_days=dict(type="int", default=7),
            patience_s=dict(type="float", default=10),
            answer_s=dict(type="float", default=30),
            user=dict(type="str", default=""),
        ),
        supports_check_mode=True,
    )
    _user.refuse_other(module)
    try:
        result = clean(module.params, module.check_mode)
    except (OSError, _runs.RunError) as error:
        result = dict(removed=[], left=[str(error)], kept=[], volumes={})
    module.exit_json(changed=bool(result["removed"]), **result)


if __name__ == "__main__":
    main()
