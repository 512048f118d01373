# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The workspaces of all volumes of a host: their directories, and the reasons why they cannot be used.

``p`` contains the options of the module ``workspace``. Everything is done on all file systems at the same time, with a
time limit, because one of them may hang.

Private to this collection; it may change at any time.
"""

import os
from functools import partial

from . import _block_devices, _queue_managers, _runs, _settings, _time_limit, _volume_counters, _workspace


def inspected(p, uid, volume, part):
    """Return the results of the preflight on a path of a volume. Nothing is written."""
    try:
        plan = layout_of(p, volume, part)
        preflight = _workspace.Preflight(
            part["path"], p["allow"], volume["expect_mount"], uid, part["direct_sizes"], p["mqs_ini"]
        )
    except OSError as error:
        raise OSError("cannot inspect %s: %s" % (part["path"], error))
    names = [] if part["places"] else volume["queue_managers"]
    disks = disks_of(preflight.facts)
    return dict(
        refusals=preflight.refusals,
        unknown=preflight.unknown,
        facts=dict(
            preflight.facts,
            queue_manager_logs=" ".join(preflight.logs_here(volume["queue_managers"])),
            settings=_settings.readings_text(p["settings"], preflight.facts, disks, names, p["mqs_ini"]),
            **_queue_managers.log_facts(names, p["mqs_ini"]),
        ),
        disks=disks,
        volume_counters=_volume_counters.read_below(part["path"]),
        workspace=plan,
        needs_privilege=preflight.needs_privilege(),
    )


def layout_of(p, volume, part):
    return _workspace.layout(part["path"], p["run_id"], volume["name"], volume["queue_managers"], part["places"])


def disks_of(facts):
    """Return the names of the disks below a file system or, if sysfs does not show them, the device number and source
    of the file system."""
    disks = _block_devices.disks_below(_block_devices.known_number_below(facts["device_number"], facts["mount_source"]))
    return [os.path.basename(disk) for disk in disks] or ["%s %s" % (facts["device_number"], facts["mount_source"])]


def disks_of_device(path):
    """Return the names of the disks below a block device. There are none if the path is not a block device; the tester
    reports that."""
    try:
        return [
            os.path.basename(disk)
            for disk in _block_devices.disks_below(_block_devices.number_of(os.stat(path).st_rdev))
        ]
    except OSError:
        return []


def made(p, volume, part):
    """Create the directories of a volume on a path."""
    if p["state_dir"]:
        _workspace.remove_unstarted(part["path"], _runs.names_below(p["state_dir"]))
    return dict(workspace=_workspace.make(layout_of(p, volume, part), p["run_id"], p["owner"], p["allow"]))


def undo(answer):
    """Remove a workspace that was created too late."""
    _workspace.remove(answer["workspace"]["path"], answer["workspace"]["run_directory"])


def undone(created, volume, part):
    """Remove everything that was created on a path of a volume that is not tested. Returns what is left."""
    answer = created[volume["name"], part["path"]]
    return dict(
        left=[] if answer["error"] else _workspace.remove(part["path"], answer["workspace"]["run_directory"])[1]
    )


def parts_of(volumes):
    """Yield each path of each volume, together with the volume."""
    return [(volume, part) for volume in volumes for part in volume["parts"]]


def answers(p, function, parts, undo_late=None):
    """Return the function's result for each path, by the name of the volume and the path, with an ``error`` if it
    failed or did not answer."""
    called = _time_limit.call_all(
        [partial(function, volume, part) for volume, part in parts], p["patience_s"], undo_late
    )
    return dict(
        ((volume["name"], part["path"]), with_error(part, answer)) for (volume, part), answer in zip(parts, called)
    )


def with_error(part, answer):
    if isinstance(answer, _time_limit.NoAnswerError):
        return dict(
            error="the file system of %s did not answer (%s): find out why its storage hangs, and certify it again"
            % (part["path"], answer)
        )
    return dict(error=str(answer)) if isinstance(answer, _time_limit.TimeLimitError) else dict(answer, error="")


def why_refused(p, path, found):
    """Return the reason if a volume cannot be tested on a path; otherwise empty."""
    if found["error"]:
        return found["error"]
    if found["refusals"]:
        return "refused: " + "; ".join(found["refusals"])
    if found["needs_privilege"] and not p["may_ask_for_privilege"]:
        return (
            "this user cannot write to %s: create it for this user, choose another workspace_path, "
            "or set workspace_become: auto" % path
        )
    return ""


def why_none(p, volume, found):
    """Return the reason why a volume is not tested, which is the first problem with any of its paths; empty if there is
    none."""
    return "; ".join(
        unique([why_refused(p, part["path"], found[volume["name"], part["path"]])] for part in volume["parts"])
    )


def unique(lists):
    """Return the elements of all lists in their original order, without empty and duplicate ones."""
    return list(dict.fromkeys(element for each in lists for element in each if element))


def joined(p, volume, found):
    """Return the results for a volume, from the results for each of its paths. The facts are those of the first path,
    except for the queue managers whose logs are on any of the file systems."""
    parts = [found[volume["name"], part["path"]] for part in volume["parts"]]
    seen = [part for part in parts if "facts" in part]
    facts = dict(seen[0]["facts"]) if seen else {}
    if seen:
        facts["queue_manager_logs"] = " ".join(unique(part["facts"]["queue_manager_logs"].split() for part in seen))
    where = [where_is(part, found[volume["name"], part["path"]]) for part in volume["parts"]]
    if len(where) + len(volume["devices"]) > 1 or not where:
        facts["places"] = "; ".join(
            where + ["%s is the device %s" % (device["place"], device["path"]) for device in volume["devices"]]
        )
    refusals = unique(part["refusals"] for part in seen)
    counters = {each["serial"]: each for part in seen for each in part["volume_counters"]}
    return dict(
        error=why_none(p, volume, found),
        refusals=refusals,
        unknown=unique(part["unknown"] for part in seen),
        facts=facts,
        disks=unique(
            [part["disks"] for part in seen] + [disks_of_device(device["path"]) for device in volume["devices"]]
        ),
        volume_counters=list(counters.values()),
        workspace=dict(parts=[part["workspace"] for part in seen]),
        needs_privilege=not refusals and any(part["needs_privilege"] for part in seen),
    )


def where_is(part, found):
    """Return which places are on a path, and the file system of the path."""
    facts = found.get("facts", {})
    return "%s on %s (%s on %s)" % (
        " and ".join(part["places"]),
        *(facts.get(key) for key in ("mount_point", "filesystem_type", "mount_source")),
    )


def inspect_all(p, uid):
    """Return the results of the preflight for each volume by its name, including its ``error``."""
    found = answers(p, partial(inspected, p, uid), parts_of(p["volumes"]))
    reserve = p["reserve_bytes"] if p["reserve_share"] is None else p["reserve_share"]
    accepted = parts_of(volume for volume in p["volumes"] if not why_none(p, volume, found))
    footprints = dict(((volume["name"], part["path"]), part["footprint_bytes"]) for volume, part in accepted)
    full = _workspace.space_refusals(footprints, dict((key, found[key]["facts"]) for key in footprints), reserve)
    for key, refusal in full.items():
        found[key]["refusals"].append(refusal)
    return dict((volume["name"], joined(p, volume, found)) for volume in p["volumes"])


def make_all(p, found):
    """Create the directories of the volumes that have no error and need no elevated privilege, and add the results to
    ``found``."""
    ready = [
        volume
        for volume in p["volumes"]
        if not found[volume["name"]]["error"] and not found[volume["name"]]["needs_privilege"]
    ]
    created = answers(p, partial(made, p), parts_of(ready), undo)
    errors = dict(
        (volume["name"], unique([created[volume["name"], part["path"]]["error"]] for part in volume["parts"]))
        for volume in ready
    )
    # A volume is tested on all of its paths or on none.
    failed = parts_of(volume for volume in ready if errors[volume["name"]])
    for (name, dummy), answer in answers(p, partial(undone, created), failed, lambda answer: None).items():
        errors[name] += answer.get("left") or [answer["error"]]
    for volume in ready:
        parts = [created[volume["name"], part["path"]] for part in volume["parts"]]
        found[volume["name"]]["error"] = "; ".join(unique([errors[volume["name"]]]))
        if not errors[volume["name"]]:
            found[volume["name"]]["workspace"] = dict(parts=[part["workspace"] for part in parts])
    return bool(created)
