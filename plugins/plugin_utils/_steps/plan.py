# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plans the sweep for the volumes of a host, which may have been discovered from its queue managers. Nothing is sent to
the host."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail

from .._action_base import ControllerAction, failure
from .._english.findings import in_words
from .._estimate.target import OperationsTarget, Target, read_target
from .._fleet.discovered import DiscoveryError, as_lines, as_yaml, plan_volumes
from .._fleet.messages import say
from .._fleet.plan import of_tester, plan_host
from .._fleet.schedule import duration_text
from .._fleet.volumes import default_volume, read_volumes, recorded_volumes
from .._judge.foresight import foresee, foresee_without_target
from .._judge.host import SKIPPED
from .._judge.profile_reader import load_profile
from .._option_meanings import PROFILES, WORKLOADS
from .._records.host import file_error, file_skipped
from .._run.definitions import DefinitionError
from .._run.directory import RunDirectory
from .._run.findings import FORESEEN, Finding, finding
from .._run.record import DEFAULT_VOLUME
from .._run.tester_options import OptionError, read
from .._run.verdicts import ERROR, WARN
from .._run.volume_identity import check_group
from .._run.words import words_of
from .._workload.loads import AUTO, LOADS
from .._workload.reader import load_workload

STAGE = "discovery"
"""The stage that is recorded for volumes that cannot be planned."""
ABSENT_SKIP = "skip"
HANDED_ON = {
    "pool": "sweep_pool",
    "state_dir": "sweep_state_dir",
    **{name: name for name in ("sweep_mode", "sweep_start_at", "sweep_poll_interval", "sweep_end_early")},
}
"""The keys of a host's plan in addition to its volumes, and the options that they come from."""


class Step(ControllerAction):
    """Runs only on the controller.

    ``options`` contains the values of all options of the host, and ``overrides`` the values that replace them here. If
    ``run_path`` is set, ``discovered``, which is the answer of the host, determines the volumes, even if it is empty.
    Returns the plan: of each volume, the options of its tester (``told``), ``start_offset_s`` after the first volume,
    its space and time; of the host, the same figures, ``deadline_s``, after which a tester always ends, and ``notes``
    about limits for which the duration is too short. If the options cannot be used, it returns the ``problem``.
    """

    stage = STAGE

    argument_spec = {
        "options": {"type": "dict", "required": True},
        "overrides": {"type": "dict", "default": {}},
        "discovered": {"type": "dict", "default": {}},
        "run_path": {"type": "path", "default": ""},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        asked = {**options["options"], **options["overrides"]}
        return {
            **self._plan(asked, options, task_vars["inventory_hostname"], task_vars.get("groups", {})),
            "options": options["options"],
            "of_other_kinds": asked.get("of_other_kinds") or [],
            "become": bool(asked["workspace_owner"]),
            "become_user": asked["workspace_owner"] or "root",
            "tester": {**of_tester(asked, discovers(asked)), "tester_dry_run": self._task.check_mode},
        }

    def _plan(
        self, asked: dict[str, Any], options: dict[str, Any], host: str, groups: Mapping[str, list[str]]
    ) -> dict[str, Any]:
        """Whether to discover is decided by the task and not by the host's answer. Otherwise, an empty answer would
        lead to a test of another volume."""
        try:
            if options["run_path"]:
                return self._discovered(asked, options, host)
            check_group(asked["locks_group"], host, groups)
            if discovers(asked):
                return {**planned(preliminary(asked), discover=True), "discover": True, "notes": []}
            return {**planned(asked), "discover": False}
        except DiscoveryError as error:
            return failure(STAGE, ERROR, str(error))
        except (OptionError, DefinitionError) as error:
            if options["run_path"]:
                raise AnsibleActionFail(str(error)) from error
            return {"problem": str(error)}

    def _discovered(self, asked: dict[str, Any], options: dict[str, Any], host: str) -> dict[str, Any]:
        """Return the plan for the discovered queue managers, save it in the run directory, and show it."""
        found = plan_volumes(
            options["discovered"], read(asked)["bsize"], skip_absent=asked["workspace_discover_absent"] == ABSENT_SKIP
        )
        plan = planned({**asked, "workspace_volumes": found.volumes}) if found.volumes else {"volumes": []}
        # The preflight compares the mount with what was discovered, but the user has named only what the option names.
        named = str(asked["workspace_expect_mount"] or "")
        plan["volumes"] = [{**volume, "named_mount": named} for volume in plan["volumes"]]
        directory = RunDirectory.open(options["run_path"])
        others = [{"name": each.name} for each in found.refused] + [
            {"name": each.name, SKIPPED: True} for each in found.skipped
        ]
        directory.volumes.write(host, [*recorded_volumes(plan["volumes"]), *others])
        place = directory.volumes.write_discovered(host, as_yaml(host, found))
        for each in found.refused:
            file_error(directory, host, each.name, STAGE, each.reason, {})
        for each in found.skipped:
            file_skipped(directory, host, each.name, STAGE, each.reason, each.queue_manager)
        duration = ["  " + duration_text("together", {host: plan})] if found.volumes else []
        say(self._display, "\n".join([*as_lines(host, found, place), *duration]))
        if not found.volumes:
            return failure(
                STAGE,
                WARN,
                f"there is nothing to test on this host: {'; '.join(each.reason for each in found.skipped)}",
            )
        return {**plan, "discover": False}


def discovers(asked: Mapping[str, Any]) -> bool:
    """Whether the queue managers of a host are to be discovered. This is not the case if its volumes are given."""
    return bool(asked["workspace_discover"] and not asked["workspace_volumes"])


def planned(asked: dict[str, Any], discover: bool = False) -> dict[str, Any]:
    """Return the plan of a host, from the values of all options. Raises OptionError and DefinitionError."""
    profile = load_profile(asked["gate_profile"], PROFILES)
    workload = load_workload(asked["sweep_workload"], WORKLOADS)
    if discover and not workload.built_in:
        raise OptionError(
            f"workspace_discover finds the logs of queue managers, but sweep_workload {workload.name} tests something "
            "else: name the volumes as workspace_volumes, or one as workspace_path"
        )
    volumes = read_volumes(asked["workspace_volumes"], default_volume(asked))
    plan = plan_host(volumes, asked, asked["sweep_options"], profile.min_duration_s, asked["sweep_volumes"], workload)
    target = target_of(asked["sweep_target"])
    notes = {
        volume["name"]: [*search_notes(volume), *foresee(profile, volume), *foresee_without_target(profile, target)]
        for volume in plan["volumes"]
    }
    volumes = [{**volume, "notes": notes[volume["name"]]} for volume in plan["volumes"]]
    handed_on = {key: asked[name] for key, name in HANDED_ON.items()}
    return {**plan, **handed_on, "volumes": volumes, "notes": notes_of_host(notes)}


def search_notes(volume: dict[str, Any]) -> list[Finding]:
    """Return a note on how long a search for the capacity takes, or nothing if there is no search."""
    if not volume["search"]:
        return []
    round_s = volume["planned_s"] + volume["format_s"]
    return [
        finding(
            FORESEEN, None, cause="search", option=LOADS, value=AUTO, rounds=volume["search"]["rounds"], round_s=round_s
        )
    ]


def target_of(value: Any) -> Target | OperationsTarget | None:
    """Return the required load of each volume that has one. Raises OptionError."""
    try:
        return read_target(value)
    except ValueError as error:
        raise OptionError(f"sweep_target {error}") from None


def preliminary(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the values of options for a plan that checks the variables of a host before its volumes are discovered. A
    single volume represents all of them."""
    return {**asked, "sweep_queue_managers": [], "workspace_volumes": [], "workspace_volume": DEFAULT_VOLUME}


def notes_of_host(notes: dict[str, list[Finding]]) -> list[str]:
    """Return the notes on all volumes as sentences without duplicates. A sentence that does not apply to all volumes
    begins with the names of those to which it applies."""
    each_once: list[Finding] = []
    for note in itertools.chain.from_iterable(notes.values()):
        if note not in each_once:
            each_once.append(note)
    said = [
        (in_words(note, words_of("")), [volume for volume, own in notes.items() if note in own]) for note in each_once
    ]
    return [
        sentence if len(volumes) == len(notes) else f"{', '.join(volumes)}: {sentence}" for sentence, volumes in said
    ]
