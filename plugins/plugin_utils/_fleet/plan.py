# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a sweep for each volume of a host: the tester's options, and the space and time that it takes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._workspace import WorkspaceError, layout
from .._run import tester_options
from .._run.columns import COMMITS, MQ_LOG
from .._run.definitions import DefinitionError
from .._run.tester_options import OptionError
from .._workload.loads import LOADS, TARGET, is_search, read_load_target, read_loads, read_search
from .._workload.reader import check_loads, largest_load
from .._workload.workload import Workload, built_in
from .places import ERASE, check_erasure, devices_of, on_devices, parts_of, placed
from .volumes import OF_THE_WORKSPACE, in_terms_of, sweep_variables

FILE_PREFIX = "logdisk"
LOG_PAGE_BYTES = 4096
STEP_GAP_S = 2
"""The pause between two steps with planned start times (STEP_GAP_S in the tester)."""
VERIFY_BYTES_PER_S = 32 << 20
"""The rate at which the files are assumed to be read back after each step (PASS_BYTES_PER_S in the tester)."""
ASSUMED_FORMAT_BYTES_PER_S = 100e6
"""The rate at which the files are assumed to be written in full before the common start."""
LONGEST_DEADLINE_S = 31536000
"""The longest deadline that the tester accepts."""
DEFAULT_DURATION_S = 60
"""How long each row is measured if neither the role's variable nor the profile specifies it."""
ANY_RUN = "20260101T000000Z-000000"
"""A run ID for cases in which only its format matters."""
VOLUME_GAP_S = 2
"""The pause between two volumes that are measured in turn."""

OF_TESTER = {
    "tester_user": "workspace_owner",
    "tester_state_dir": "sweep_state_dir",
    "tester_observe_window": "workspace_discover_window",
    "tester_observe_url": "observe_url",
    "tester_observe_amqsrua": "observe_amqsrua",
    "tester_mqs_ini": "workspace_mqs_ini",
    "tester_planned_queue_managers": "workspace_planned_queue_managers",
}
"""The options of the role ``tester`` whose values come from other options of the run."""

TOGETHER = "together"
IN_TURN = "in_turn"
ORDERS = (TOGETHER, IN_TURN)
"""In which order the volumes of a host are measured."""


_LOG = built_in(MQ_LOG)


def plan_host(
    volumes: Sequence[Mapping[str, Any]],
    variables: Mapping[str, Any],
    options: Mapping[str, Any],
    min_duration_s: float = 0,
    order: str = TOGETHER,
    workload: Workload = _LOG,
) -> dict[str, Any]:
    """Return the plan of a host: ``volumes``, each with its own plan (see make_plan) and ``start_offset_s``,
    and the figures of the host.

    If the volumes are measured together, they start at the same time, and the longest one determines the duration. If
    they are measured in turn, each starts after the planned end of the previous one. The files of all volumes are
    written before the first start, so that none are written during a measurement. Raises OptionError.
    """
    planned = [_plan_volume(volume, variables, options, min_duration_s, workload) for volume in volumes]
    check_erasure(variables.get(ERASE), [device["path"] for volume in planned for device in volume["devices"]])
    offsets_s = _start_offsets_s([volume["planned_s"] for volume in planned], order)
    certify_s = [volume["certify_s"] for volume in planned]
    planned = [{**volume, "start_offset_s": offset_s} for volume, offset_s in zip(planned, offsets_s, strict=True)]
    return {
        "volumes": planned,
        "sweep_volumes": order,
        "searches": any(volume.get("search") for volume in planned),
        "sweep_duration": planned[0]["sweep_duration"],
        "footprint_bytes": sum(volume["footprint_bytes"] for volume in planned),
        "planned_s": max(volume["start_offset_s"] + volume["planned_s"] for volume in planned),
        "certify_s": max(map(sum, zip(_start_offsets_s(certify_s, order), certify_s, strict=True))),
        "format_s": sum(volume["format_s"] for volume in planned),
        "deadline_s": max(volume["start_offset_s"] + volume["deadline_s"] for volume in planned),
    }


def of_tester(asked: Mapping[str, Any], discover: bool = False) -> dict[str, Any]:
    """Return the options of the role ``tester`` for a run, from the values of all options. ``discover``: whether the
    host's queue managers are to be discovered.

    They are computed once, because Ansible evaluates a template again wherever it is used.
    """
    own = {name: value for name, value in asked.items() if name.startswith("tester_")}
    given = {name: asked[source] for name, source in OF_TESTER.items()}
    return {**own, **given, "tester_discover": discover, "sweep_state_dir": asked["sweep_state_dir"]}


def _start_offsets_s(lengths_s: Sequence[float], order: str) -> list[float]:
    """Return the delay of each volume's start after the first start, from the duration of each."""
    if order == TOGETHER:
        return [0.0] * len(lengths_s)
    return list(itertools.accumulate((length_s + VOLUME_GAP_S for length_s in lengths_s[:-1]), initial=0.0))


def _plan_volume(
    volume: Mapping[str, Any],
    variables: Mapping[str, Any],
    options: Mapping[str, Any],
    min_duration_s: float,
    workload: Workload,
) -> dict[str, Any]:
    try:
        paths = placed(volume["places"], volume["path"], workload)
        devices = devices_of(paths)
        plan = make_plan(
            sweep_variables(volume, variables),
            len(volume["queue_managers"]),
            options,
            min_duration_s,
            on_devices(workload, devices),
        )
        whole = {
            "path": volume["path"],
            "places": [],
            **{key: plan[key] for key in ("footprint_bytes", "direct_sizes_bytes")},
        }
        parts = [whole] if workload.built_in else parts_of(paths, workload, plan["footprint_bytes"])
        for part in parts:  # the host would refuse it later
            layout(part["path"], ANY_RUN, volume["name"], volume["queue_managers"], part["places"])
    except (OptionError, WorkspaceError) as error:
        raise OptionError(in_terms_of(volume, str(error))) from error
    erased = list(itertools.chain(*devices.values()))
    return {
        **{key: volume[key] for key in OF_THE_WORKSPACE if key != "places"},
        **plan,
        "tester_options": {**plan["tester_options"], **({"eraseDevice": erased} if erased else {})},
        "parts": parts,
        "devices": [{"place": name, "path": device} for name, of_place in devices.items() for device in of_place],
    }


def make_plan(
    variables: Mapping[str, Any],
    queue_managers: int,
    options: Mapping[str, Any],
    min_duration_s: float = 0,
    workload: Workload = _LOG,
) -> dict[str, Any]:
    """Return the plan of a sweep from the role's ``variables`` by name, its ``sweep_options``, the requirements of the
    profile, and the workload.

    If no load points are given, a workload of streams uses its own; otherwise, all queue managers write together. If no
    duration is given, each row is measured for ``min_duration_s``. The plan contains ``tester_options`` (the values by
    option, without directories), ``places`` (the names of the workload's places, if it has any), ``streams``
    (their operations by name), ``queue_manager_bytes`` and ``footprint_bytes`` (the files of one queue manager or of
    all places, and of all queue managers), ``search`` (the parameters of a search for the capacity, None if there is
    none; everything else is for one round), ``steps``, ``sweep_duration`` (seconds per row), ``planned_s`` (the steps
    alone), ``certify_s`` (the same, with at least ``min_duration_s`` for each row), ``format_s`` (an estimate),
    ``deadline_s`` and the other values that the run needs as numbers. Raises OptionError.
    """
    values = tester_options.read(variables)
    deadline_s = values.pop("deadline", 0)
    shortest_s = math.ceil(min_duration_s)
    values["duration"] = values.get("duration") or shortest_s or DEFAULT_DURATION_S
    values["filePrefix"] = FILE_PREFIX
    values["workload"] = workload.tester_name
    load_target = read_load_target(variables.get(TARGET))
    search = None
    if is_search(variables.get(LOADS)):
        load, search = read_search(variables, *_climb_of(values, workload, queue_managers))
        loads = [load]
    else:
        loads = read_loads(variables.get(LOADS), load_target)
    if workload.built_in:
        sizes, load_points, write_sizes = _STEPS[workload.built_in](values, queue_managers, loads)
    else:
        sizes, load_points, write_sizes = _steps_of_streams(values, workload, loads)
    steps = len(sizes) * len(load_points)
    queue_manager_bytes = values["fileSize"] * values["numFiles"]
    footprint_bytes = queue_manager_bytes * (queue_managers if workload.built_in else 1)
    gap_s = STEP_GAP_S + (footprint_bytes // VERIFY_BYTES_PER_S if values.get("verify") else 0)
    planned_s = steps * (values.get("warmup", 0) + values["duration"] + gap_s) - (0 if values.get("verify") else gap_s)
    format_s = footprint_bytes / ASSUMED_FORMAT_BYTES_PER_S
    return {
        "tester_options": {
            **workload.told,
            **tester_options.options_for_tester(values),
            **tester_options.passed_through(options),
        },
        "workload": workload.tester_name,
        "workload_name": workload.name,
        "workload_version": workload.version,
        "workload_is_not": "" if workload.built_in else workload.is_not,
        "places": [place.name for place in workload.places],
        "streams": {stream.name: stream.operations for stream in workload.streams},
        "load_target": load_target,
        "means": workload.means,
        "block_sizes_bytes": sizes if workload.built_in == MQ_LOG else [],
        "direct_sizes_bytes": [] if values.get("direct") == "no" else write_sizes,
        "load_points": load_points,
        "search": search,
        "steps": steps,
        "sweep_duration": values["duration"],
        "queue_manager_bytes": queue_manager_bytes,
        "footprint_bytes": footprint_bytes,
        "planned_s": planned_s,
        "certify_s": planned_s + steps * max(0, shortest_s - values["duration"]),
        "format_s": format_s,
        "deadline_s": deadline_s or min(round(2 * planned_s + 4 * format_s + 60), LONGEST_DEADLINE_S),
    }


def _climb_of(values: Mapping[str, Any], workload: Workload, queue_managers: int) -> tuple[int, int]:
    """Return the first load of a search for the capacity, and the largest."""
    if workload.built_in == MQ_LOG:
        return 1, queue_managers
    if workload.built_in:
        return (values.get("apps") or [1])[0], tester_options.LARGEST_LOAD
    return workload.loads[0], largest_load(workload)


Steps = tuple[list[int], list[int], list[int]]
"""The sizes and load points of the steps, and the sizes of writes."""


def _steps_of_the_log(values: dict[str, Any], queue_managers: int, loads: list[int]) -> Steps:
    """Return the steps, with missing values filled in. Raises OptionError."""
    if loads and values.get("qm"):
        raise OptionError(f"sweep_queue_managers and {LOADS} both name load points: leave one of them out")
    variable = LOADS if loads else "sweep_queue_managers"
    values["qm"] = loads or values.get("qm") or [queue_managers]
    sizes, load_points = (
        _named("sweep_block_sizes", values["bsize"], "block size, such as 4K"),
        _named(variable, values["qm"], ""),
    )
    if max(load_points) > queue_managers:
        raise OptionError(
            f"{variable}: {max(load_points)} queue managers, but workspace_queue_managers names {queue_managers}"
        )
    return sizes, load_points, sizes


def _steps_of_commits(values: dict[str, Any], queue_managers: int, loads: list[int]) -> Steps:
    values["qm"] = [queue_managers]
    values["apps"] = loads or values.get("apps") or []
    _refuse_those_of_the_log(values, COMMITS)
    sizes = _named("sweep_message_sizes", values.get("msgSize") or [], "message size, such as 2K")
    load_points = _named("sweep_apps", values["apps"], "number of applications, such as 60")
    if values["logBuffer"] > values["fileSize"]:
        raise OptionError(
            f"sweep_log_buffer: a write of {values['logBuffer']} bytes does not fit into a file of "
            f"sweep_file_size, {values['fileSize']} bytes"
        )
    return sizes, load_points, [LOG_PAGE_BYTES, values["logBuffer"]]


_STEPS = {MQ_LOG: _steps_of_the_log, COMMITS: _steps_of_commits}


def _steps_of_streams(values: dict[str, Any], workload: Workload, loads: list[int]) -> Steps:
    _refuse_those_of_the_log(values, workload.name)
    values.pop("qm", None)
    for option, default in (("sync", "dsync"), ("direct", "yes")):
        if values.pop(option, "") not in ("", default):
            raise OptionError(
                f"sweep_{option} does not apply to sweep_workload {workload.name}, which sets its own: leave it out"
            )
    values["load"] = loads or list(workload.loads)
    try:
        check_loads(workload, values["load"])
    except DefinitionError as error:
        raise OptionError(f"{LOADS}: {workload.name}: {error}") from None
    return [0], values["load"], workload.direct_sizes_bytes


def _refuse_those_of_the_log(values: Mapping[str, Any], workload: str) -> None:
    """Raise OptionError if an option is set that only applies to the log. Its block sizes are not used,
    because they are always set."""
    for option in tester_options.OPTIONS:
        if option.workload == MQ_LOG and option.kind != "sizes" and values.get(option.name):
            raise OptionError(f"{option.variable} does not apply to sweep_workload {workload}: leave it out")


def _named(variable: str, values: list[int], such_as: str) -> list[int]:
    """Return the sizes or load points that a variable names. Raises OptionError."""
    if not values:
        raise OptionError(f"{variable} is empty: name at least one {such_as}")
    repeated = sorted({value for value in values if values.count(value) > 1})
    if repeated:
        raise OptionError(
            f"{variable} names {', '.join(str(value) for value in repeated)} more than once; name each value once"
        )
    return values
