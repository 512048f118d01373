# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Converts the role's sizes to numbers, and inspects or creates the workspace on the host."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import RemoteAction, failure, of_volumes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.reserve import reserve_option
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.unmeasured import file_error
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.shapes import as_dict


class ActionModule(RemoteAction):
    """Calls ``workspace`` on the host."""

    module_name = "mqops.logdisk.workspace"
    stage = "workspace"

    def given(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Take the options of the role as ``options``, and from the host's ``facts`` who owns what root creates."""
        options, privileged = arguments.pop("options"), arguments["privileged"]
        return {
            **arguments,
            "owner": arguments["facts"]["user"] if privileged else "",
            "run_as": options["workspace_owner"],
            **{name: options[f"workspace_{name}"] for name in ("reserve", "allow", "mqs_ini")},
            "may_ask_for_privilege": not privileged and options["workspace_become"] == "auto",
        }

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        sent = {
            name: value
            for name, value in arguments.items()
            if name not in ("run_as", "run_path", "facts", "known", "reserve")
        }
        try:
            reserve = reserve_option(str(arguments.get("reserve", "0")))
        except ValueError as error:
            raise AnsibleActionFail(f"workspace_reserve: {error}") from error
        return {**sent, "volumes": [for_module(volume) for volume in self._wanted()], **reserve}

    def _wanted(self) -> list[dict[str, Any]]:
        """Return the volumes to request: all of them, or those that need privilege according to an earlier answer."""
        wanting = as_dict(self._task.args.get("known")).get("wanting")
        return [volume for volume in self._task.args["volumes"] if wanting is None or volume["name"] in wanting]

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """If a second call fails as a whole, let it affect only the volumes that it is for."""
        answer = super().call(arguments, task_vars)
        if answer.get("failed") and as_dict(self._task.args.get("known")).get("volumes"):
            return {"volumes": {volume["name"]: {"error": answer["logdisk"]["reason"]} for volume in self._wanted()}}
        return answer

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return what later roles need: the volumes that are ready, each with its paths and with facts
        about its file system."""
        arguments, planned = self._task.args, {volume["name"]: volume for volume in self._wanted()}
        answers = of_volumes(answer, planned)
        wanting = [name for name in planned if answers[name].get("needs_privilege") and not answers[name]["error"]]
        errors = {name: answers[name]["error"] for name in planned if answers[name]["error"]}
        if not arguments.get("may_ask_for_privilege", True):
            errors.update(dict.fromkeys(wanting, "the host asks for a privilege that it already has or must not get"))
            wanting = []
        directory = RunDirectory.open(arguments["run_path"])
        errors = {name: directory.kind.in_its_terms(reason) for name, reason in errors.items()}
        for name, reason in errors.items():
            facts = {**arguments["facts"], **as_dict(answers[name].get("facts"))}
            file_error(directory, task_vars["inventory_hostname"], name, self.stage, reason, facts)
        privileged = bool(arguments.get("privileged"))
        ready = [
            volume_layout(planned[name], answers[name], privileged)
            for name in planned
            if name not in errors and name not in wanting
        ]
        ready = [*(as_dict(arguments.get("known")).get("volumes") or []), *ready]
        if not ready and not wanting:
            return failure(
                self.stage,
                "error",
                "; ".join(
                    errors.values() if len(errors) == 1 else (f"{name}: {reason}" for name, reason in errors.items())
                ),
            )
        return {
            "changed": bool(answer.get("changed")),
            "volumes": ready,
            "wanting": wanting,
            "needs_privilege": bool(wanting),
            "privileged": any(volume["privileged"] for volume in ready),
            "owner": arguments.get("run_as", ""),
            "share_device": "device_in_use" in (arguments.get("allow") or []),
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
    """Return what later roles need to know about a volume that is ready."""
    found = {
        "facts": as_dict(answer.get("facts")),
        **{key: answer.get(key) or [] for key in ("unknown", "disks", "volume_counters")},
    }
    # The workers of streams have numbers, not names.
    known = {
        "name": planned["name"],
        "queue_managers": [] if planned["places"] else planned["queue_managers"],
        "privileged": privileged,
    }
    return {**found, **paths_of(planned, as_dict(answer.get("workspace")).get("parts") or []), **known}


def paths_of(planned: dict[str, Any], made: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what was created on the paths of a volume: ``directories`` are listed as the tester lists them, including
    devices, and ``given`` is the value of its --dir."""
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
