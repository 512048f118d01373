# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines where the places of a workload are on a volume. They are in directories, which may be on several mounts,
or on block devices, which are overwritten."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .._run.tester_options import OptionError
from .._workload.values import WHOLE_PPM
from .._workload.workload import Place, Workload

VARIABLE = "workspace_places"
ERASE = "sweep_devices_erase"
DEVICES = "/dev/disk/by-id/"
_SHARED_MEMORY = "/dev/shm/"


def read_places(given: Any) -> dict[str, list[str]]:
    """Return the paths of the named places, each a list of directories or of devices. Raises OptionError."""
    if not given:
        return {}
    if not isinstance(given, Mapping):
        raise OptionError(
            f"{VARIABLE} must be a dictionary with the path of each place, or a list of paths, not {given!r}"
        )
    return {str(name): _read_paths(f"{VARIABLE}: {name}", paths) for name, paths in given.items()}


def is_device(path: str) -> bool:
    return path.startswith(DEVICES)


def directories_of(places: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the directories that are specified for places, without duplicates."""
    return [path for path in dict.fromkeys(itertools.chain.from_iterable(places.values())) if not is_device(path)]


def placed(places: Mapping[str, Sequence[str]], path: str, workload: Workload) -> dict[str, list[str]]:
    """Return the paths of each place of a workload: the paths that are specified for it, or else the volume's paths.
    Raises OptionError."""
    names = [place.name for place in workload.places]
    unknown = [name for name in places if name not in names]
    if unknown:
        allowed = f"its places are {', '.join(names)}" if names else "it has no places: leave it out"
        raise OptionError(f"{VARIABLE}: sweep_workload {workload.name} has no place {unknown[0]}; {allowed}")
    found = {name: list(places.get(name) or [path]) for name in names}
    for each in itertools.chain.from_iterable(found.values()):
        if "+" in each and not is_device(each):
            raise OptionError(
                f"{VARIABLE if each != path else 'workspace_path'} must not contain '+' for "
                f"sweep_workload {workload.name}: {each}"
            )
    _refuse_nested(directories_of(found))
    return found


def parts_of(paths: Mapping[str, Sequence[str]], workload: Workload, capacity_bytes: int) -> list[dict[str, Any]]:
    """Return what the test needs on each path: its ``places``, ``footprint_bytes`` and ``direct_sizes_bytes``.
    Devices are left out."""
    parts = []
    for path in directories_of(paths):
        places = [place for place in workload.places if path in paths[place.name]]
        share = sum(_share(place, workload) / len(paths[place.name]) for place in places)
        names = [place.name for place in places]
        parts.append(
            {
                "path": path,
                "places": names,
                "footprint_bytes": math.ceil(capacity_bytes * share),
                "direct_sizes_bytes": workload.direct_sizes_of(names),
            }
        )
    return parts


def devices_of(paths: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the devices of each place that has devices."""
    return {name: list(given) for name, given in paths.items() if is_device(given[0])}


def on_devices(workload: Workload, devices: Mapping[str, Sequence[str]]) -> Workload:
    """Return the workload with some of its places on devices."""
    return replace(workload, places=tuple(_on_device(place, devices.get(place.name)) for place in workload.places))


def check_erasure(erase: Any, devices: Iterable[str]) -> None:
    """Raise OptionError unless the list of devices that may be overwritten contains exactly the devices of the places,
    by the same paths."""
    allowed = [] if erase is None else erase
    if not isinstance(allowed, (list, tuple)) or not all(isinstance(path, str) for path in allowed):
        raise OptionError(f"{ERASE} must be a list of devices, each by the path of its place, not {erase!r}")
    used = list(devices)
    for device in used:
        if used.count(device) > 1:
            raise OptionError(f"{VARIABLE}: two places have the device {device}: name each device once")
        if device not in allowed:
            raise OptionError(
                f"{VARIABLE}: the test overwrites everything on {device}, and {ERASE} of this host does not name it; "
                "if nothing on it is needed, add exactly this path there, in host_vars"
            )
    unused = [path for path in allowed if path not in used]
    if unused:
        raise OptionError(
            f"{ERASE}: no place has the device {unused[0]!r}: leave it out, or name it with "
            f"exactly this path in {VARIABLE}"
        )


def _read_paths(where: str, given: Any) -> list[str]:
    paths = [given] if isinstance(given, str) else given
    if not isinstance(paths, (list, tuple)) or not paths:
        raise OptionError(f"{where}: name a directory or a device, or several as a list, not {given!r}")
    for path in paths:
        if not isinstance(path, str) or not path.startswith("/"):
            raise OptionError(f"{where}: {path!r} is not an absolute path")
        if path.startswith("/dev/") and not path.startswith((DEVICES, _SHARED_MEMORY)):
            raise OptionError(
                f"{where}: {path} is not allowed: name a device by its entry below {DEVICES[:-1]}, which stays with it"
            )
        if is_device(path) and ("/" in path[len(DEVICES) :] or "," in path or path[len(DEVICES) :] in ("", ".", "..")):
            raise OptionError(f"{where}: {path!r} is not the path of an entry of {DEVICES[:-1]}")
    if len(set(paths)) < len(paths):
        raise OptionError(f"{where}: a path is named twice: name each once")
    if len(set(map(is_device, paths))) > 1:
        raise OptionError(f"{where}: a place is in directories or on devices, not on both")
    return list(paths)


def _refuse_nested(paths: Sequence[str]) -> None:
    for outer, inner in itertools.permutations(paths, 2):
        if f"{inner.rstrip('/')}/".startswith(f"{outer.rstrip('/')}/"):
            raise OptionError(f"{VARIABLE}: {inner} must not be inside {outer}, which is the path of another place")


def _share(place: Place, workload: Workload) -> Fraction:
    return Fraction(place.keys["share"].ppm, WHOLE_PPM) if "share" in place.keys else Fraction(1, len(workload.places))


def _on_device(place: Place, devices: Sequence[str] | None) -> Place:
    return replace(place, keys={**place.keys, "device": "+".join(devices)}) if devices else place
