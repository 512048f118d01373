# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The volumes of a host as data, and the file systems that are about to be tested."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .._options.table import KEYS_OF_VOLUMES
from .._run.answers import is_empty, read_list, read_yaml_list
from .._run.record import DISK_SHARED_WITH, host_label
from .._run.table_reader import printable
from .._run.tester_options import OptionError
from .places import directories_of, read_places

VARIABLE = "workspace_volumes"
OF_THE_WORKSPACE = ("name", "path", "places", "queue_managers", "owner", "expect_mount")
"""The keys that every volume has after completion. The defaults of the other keys belong to the sweep."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")


def read_volumes(given: Any, defaults: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the volumes of a host, at least one. Each has the keys OF_THE_WORKSPACE and any other keys that it sets.
    ``sets`` contains the names of the keys that it sets itself.

    ``given`` is the value of ``workspace_volumes``. If it is empty, there is a single volume, made from ``defaults``,
    which holds the defaults for the keys OF_THE_WORKSPACE. Raises OptionError, which names the volume and the key.
    """
    items = _items(given)
    if not items:
        return [_complete({}, defaults)]
    volumes = [_volume(item, number, defaults) for number, item in enumerate(items, start=1)]
    _check_together(volumes, str(defaults["owner"] or ""))
    return volumes


def default_volume(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults for the keys OF_THE_WORKSPACE of a volume, from the values of all options."""
    return {key: asked[KEYS_OF_VOLUMES[key]] for key in OF_THE_WORKSPACE}


def only_volume(asked: Mapping[str, Any], tests: str) -> dict[str, Any]:
    """Return the volume of a host, from the values of all options. Raises OptionError if there are several; ``tests``
    says what is tested on one volume at a time."""
    volumes = read_volumes(asked["workspace_volumes"], default_volume(asked))
    if len(volumes) > 1:
        raise OptionError(
            f"workspace_volumes names several volumes, but {tests} one volume at a time: name one of them"
        )
    return volumes[0]


def volume_names(given: Any) -> list[str]:
    """Return the names of the volumes in ``workspace_volumes``; none if it is empty. Raises OptionError."""
    return [_name(item, number) for number, item in enumerate(_items(given), start=1)]


def sweep_variables(volume: Mapping[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sweep's ``variables`` by name, with the values that a volume itself sets."""
    return {**variables, **{KEYS_OF_VOLUMES[key]: volume[key] for key in volume["sets"] if key not in OF_THE_WORKSPACE}}


def recorded_volumes(volumes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the data about the planned volumes of a host that the run directory stores."""
    return [
        {
            **{key: volume[key] for key in ("name", "path", "queue_managers")},
            "paths": [part["path"] for part in volume["parts"]],
        }
        for volume in volumes
    ]


def paths_of(volume: Mapping[str, Any]) -> list[str]:
    """Return the directories in which a volume may have been tested, regardless of the workload."""
    return list(dict.fromkeys([volume["path"], *directories_of(volume["places"])]))


def in_terms_of(volume: Mapping[str, Any], message: str) -> str:
    """Return a message about variables. If a volume sets a key in place of one of these variables, the message names
    the key."""
    for key in volume["sets"]:
        message = re.sub(rf"\b{KEYS_OF_VOLUMES[key]}\b", f"{VARIABLE}: {volume['name']}: {key}", message)
    return message


def sharing_facts(layouts: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Return, for each volume that shares a disk with others, a fact that names the others. ``layouts`` holds the
    ``name`` and the ``disks`` of each."""
    facts = {}
    for volume in layouts:
        others = [
            other["name"]
            for other in layouts
            if other is not volume and not set(map(str, volume["disks"])).isdisjoint(map(str, other["disks"]))
        ]
        if others:
            facts[volume["name"]] = {DISK_SHARED_WITH: " ".join(others)}
    return facts


def _items(given: Any) -> list[Any]:
    try:
        return [] if is_empty(given) else read_yaml_list(given)
    except ValueError as error:
        raise OptionError(f"{VARIABLE} must be a list of volumes, each with a name and a path: {error}") from None


def _name(item: Any, number: int) -> str:
    if not isinstance(item, Mapping):
        raise OptionError(f"{VARIABLE}: volume {number} must be a dictionary with a name and a path, not {item!r}")
    name = item.get("name")
    if not isinstance(name, str) or not NAME.match(name):
        raise OptionError(
            f"{VARIABLE}: volume {number}: name must be a short name of letters, digits and . _ -, not {name!r}"
        )
    return name


def _volume(item: Any, number: int, defaults: Mapping[str, Any]) -> dict[str, Any]:
    name = _name(item, number)
    unknown = sorted(str(key) for key in item if key not in KEYS_OF_VOLUMES)
    if unknown:
        raise OptionError(f"{VARIABLE}: {name}: unknown key {unknown[0]}; the keys are {', '.join(KEYS_OF_VOLUMES)}")
    given = {key: value for key, value in item.items() if value is not None}
    return _checked(_complete(given, defaults))


def _checked(volume: dict[str, Any]) -> dict[str, Any]:
    """Return a volume of the list. Values that come from variables of the roles are checked on the host, as they are
    for a host with one volume."""
    if not isinstance(volume["path"], str) or not volume["path"].startswith("/"):
        raise OptionError(f"{VARIABLE}: {volume['name']}: path must be an absolute path, not {volume['path']!r}")
    if "queue_managers" in volume["sets"] and not volume["queue_managers"]:
        raise OptionError(f"{VARIABLE}: {volume['name']}: queue_managers must be a list of at least one name")
    return volume


def _complete(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    volume = {**{key: defaults.get(key) for key in OF_THE_WORKSPACE}, **given}
    texts = {key: str(volume[key] or "") for key in ("owner", "expect_mount")}
    complete = {
        **volume,
        **texts,
        "queue_managers": [str(name) for name in read_list(volume["queue_managers"])],
        "sets": list(given),
    }
    try:
        return {**complete, "places": read_places(volume["places"])}
    except OptionError as error:
        raise OptionError(in_terms_of(complete, str(error))) from None


def _check_together(volumes: list[dict[str, Any]], host_owner: str) -> None:
    """Raise OptionError if two volumes conflict, or if one of them has its own user."""
    taken: dict[str, list[str]] = {}
    for volume in volumes:
        name, paths = volume["name"], _own_paths(volume)
        if name in taken:
            raise OptionError(f"{VARIABLE}: two volumes have the name {name}: give each volume a name of its own")
        for other, path, place in (
            (other, path, place) for other, places in taken.items() for path in paths for place in places
        ):
            if _is_inside(path, place) or _is_inside(place, path):
                raise OptionError(
                    f"{VARIABLE}: {other} and {name} must not have the same path, or one inside the other ({path})"
                )
        if volume["owner"] != host_owner:
            raise OptionError(
                f"{VARIABLE}: {name}: owner is {volume['owner']!r}, but the testers of a host run as one user, "
                f"that of workspace_owner ({host_owner!r}): set workspace_owner, or certify the volumes of "
                "different owners in separate runs"
            )
        taken[name] = paths


def _own_paths(volume: Mapping[str, Any]) -> list[str]:
    """Return the paths of a volume in the list. A volume that has places may have no other path."""
    own = [] if volume["places"] and "path" not in volume["sets"] else [volume["path"]]
    return [*own, *(path for paths in volume["places"].values() for path in paths)]


def _is_inside(path: str, other: str) -> bool:
    return f"{path.rstrip('/')}/".startswith(f"{other.rstrip('/')}/")


MOST_LINES = 4
MOST_NAMES = 3


def under_test(volumes: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return a line for each mount point with its device and the volumes on it, those of most volumes first.
    ``volumes`` holds the layouts of the volumes of each host."""
    places: dict[str, list[str]] = {}
    for host, layouts in volumes.items():
        for layout in layouts:
            places.setdefault(_place(layout["facts"]), []).append(host_label(host, layout["name"]))
    ranked = sorted(places, key=lambda place: (-len(places[place]), place))
    lines = [f"Under test: {place}: {_some(places[place])}" for place in ranked[:MOST_LINES]]
    more = len(ranked) - len(lines)
    return "\n".join([*lines, *([f"Under test: {more} other mount points, see the report"] if more else [])])


def _place(facts: Mapping[str, Any]) -> str:
    if facts.get("places"):
        return printable(str(facts["places"]))
    point, source, kind = (
        printable(str(facts.get(key) or "unknown")) for key in ("mount_point", "mount_source", "filesystem_type")
    )
    return f"{point} ({kind} on {source})"


def _some(labels: Sequence[str]) -> str:
    more = len(labels) - MOST_NAMES
    return ", ".join(map(printable, labels[:MOST_NAMES])) + (f" and {more} more" if more > 0 else "")
