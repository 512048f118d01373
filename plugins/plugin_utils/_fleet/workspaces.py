# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prepares the options of the modules that handle the workspaces of a host's volumes, and extracts the parts of the
answers that later tasks need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._options.reading import reserve_option
from .._run.settings import read_on_host
from .._run.shapes import as_dict

BY_ROOT = "always"
"""The value of workspace_become with which root creates all workspaces."""
PATIENCE_S = 30
"""How long a file system may take to answer."""


def inspected_with_host(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the planned volumes whose workspaces ``probe`` inspects and ``start`` creates: none if root creates them
    or if they still have to be discovered."""
    by_root = plan.get("volumes") and plan["options"]["workspace_become"] == BY_ROOT
    return [] if by_root or plan.get("discover") else plan.get("volumes", [])


def module_options(
    options: Mapping[str, Any], volumes: Sequence[dict[str, Any]], privileged: bool = False, owner: str = ""
) -> dict[str, Any]:
    """Return the options of the module ``workspace`` for planned ``volumes``, except those about the run, from the
    values of all ``options``. With ``privileged``, the directories belong to ``owner``. Raises ValueError."""
    try:
        reserve = reserve_option(str(options["workspace_reserve"]))
    except ValueError as error:
        raise ValueError(f"workspace_reserve: {error}") from error
    return {
        "volumes": [for_module(volume) for volume in volumes],
        "owner": owner,
        "may_ask_for_privilege": not privileged and options["workspace_become"] == "auto",
        **{name: options[f"workspace_{name}"] for name in ("allow", "mqs_ini")},
        "reserve_bytes": 0,
        "reserve_share": None,
        **reserve,
        "patience_s": PATIENCE_S,
        "settings": read_on_host(),
    }


def layout(ready: list[dict[str, Any]], options: Mapping[str, Any], wanting: Sequence[str] = ()) -> dict[str, Any]:
    """Return the data that later tasks need, from the values of all ``options``: the volumes that are ``ready`` (see
    volume_layout), and the names of the volumes that lack a privilege (``wanting``)."""
    return {
        "volumes": ready,
        "wanting": list(wanting),
        "needs_privilege": bool(wanting),
        "privileged": any(volume["privileged"] for volume in ready),
        "owner": options["workspace_owner"],
        "share_device": "device_in_use" in options["workspace_allow"],
    }


def for_module(volume: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a planned volume that the module needs."""
    parts = [
        {
            **{key: part[key] for key in ("path", "places", "footprint_bytes")},
            "direct_sizes": part["direct_sizes_bytes"],
        }
        for part in volume["parts"]
    ]
    return {**{key: volume[key] for key in ("name", "queue_managers", "expect_mount", "devices")}, "parts": parts}


def volume_layout(planned: dict[str, Any], answer: dict[str, Any], privileged: bool) -> dict[str, Any]:
    """Return the data that later roles need about a volume that is ready."""
    found = {
        "facts": as_dict(answer.get("facts")),
        **{key: answer.get(key) or [] for key in ("unknown", "disks", "volume_counters")},
    }
    # The workers of streams have numbers, not names.
    known = {
        "name": planned["name"],
        "queue_managers": [] if planned["places"] else planned["queue_managers"],
        "privileged": privileged,
        "expect_mount": planned.get("named_mount", planned["expect_mount"]),
    }
    return {**found, **paths_of(planned, as_dict(answer.get("workspace")).get("parts") or []), **known}


def paths_of(planned: dict[str, Any], made: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what was created on the paths of a volume. ``directories`` is the list as it is passed to the tester,
    including devices. ``given`` is the value of the tester's --dir."""
    devices: dict[str, list[str]] = {}
    for device in planned["devices"]:
        devices.setdefault(device["place"], []).append(device["path"])
    of_places: dict[str, list[str]] = {}
    for part, each in zip(planned["parts"], made, strict=True):
        for place, directory in zip(part["places"] or planned["queue_managers"], each["directories"], strict=True):
            of_places.setdefault(place, []).append(directory)
    listed = [devices[name] if name in devices else of_places[name] for name in planned["places"] or of_places]
    paths = [each["path"] for each in made]
    return {
        "path": paths[0] if paths else planned["devices"][0]["path"],
        "paths": paths,
        "made_paths": [each["path"] for each in made if each.get("made_path")],
        "run_directories": [each["run_directory"] for each in made],
        "directories": [path for each in listed for path in each],
        "given": [
            "+".join(each)
            for name, each in zip(planned["places"] or of_places, listed, strict=True)
            if name not in devices
        ],
    }
