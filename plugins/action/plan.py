# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Works out what the sweep will do on the volumes of a host, of which the queue managers may have been discovered. Nothing is sent to the host."""

from __future__ import annotations

import itertools
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import ControllerAction, failure
from ansible_collections.mqops.logdisk.plugins.plugin_utils._english.findings import in_words
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.target import OperationsTarget, Target, read_target
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.discovered import DiscoveryError, as_lines, as_yaml, plan_volumes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.plan import ORDERS, TOGETHER, plan_host
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import say
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import duration_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.volumes import noted_of, read_volumes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.foresight import foresee, foresee_without_target
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.host import SKIPPED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.unmeasured import file_error, file_skipped
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.columns import MQ_LOG
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.definitions import DefinitionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.findings import FORESEEN, Finding, finding
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import DEFAULT_VOLUME
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tester_options import OptionError, read
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import ERROR, WARN
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.words import words_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._workload.loads import AUTO, LOADS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._workload.reader import load_workload

STAGE = "discovery"
"""The stage of volumes that cannot be planned, in their records."""
ABSENT_ERROR, ABSENT_SKIP = "error", "skip"


class ActionModule(ControllerAction):
    """Runs on the controller alone."""

    stage = STAGE

    argument_spec = {
        "variables": {"type": "dict", "required": True},
        "target": {"type": "raw"},
        "volumes": {"type": "raw"},
        "discover": {"type": "bool", "default": False},
        "discovered": {"type": "dict", "default": {}},
        "absent": {"type": "str", "choices": [ABSENT_ERROR, ABSENT_SKIP], "default": ABSENT_ERROR},
        "run_path": {"type": "path", "default": ""},
        "defaults": {"type": "dict", "required": True},
        "order": {"type": "str", "choices": list(ORDERS), "default": TOGETHER},
        "options": {"type": "dict", "default": {}},
        "run_wide": {"type": "dict", "default": {}},
        "settings": {"type": "dict", "default": {}},
        "profile": {"type": "raw", "required": True},
        "profile_dir": {"type": "str", "required": True},
        "workload_dir": {"type": "str", "required": True},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        return {**self._plan(options, task_vars), "settings": options["settings"]}

    def _plan(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Not what a host answered, but the task says whether it was to discover: no other volume may stand for those of an empty answer."""
        try:
            if options["run_path"]:
                return self._discovered(options, task_vars["inventory_hostname"])
            if options["discover"]:
                return {**planned(preliminary(options)), "discover": True, "notes": []}
            return {**planned(options), "discover": False}
        except DiscoveryError as error:
            return failure(STAGE, ERROR, str(error))
        except (OptionError, DefinitionError) as error:
            if options["run_path"]:
                raise AnsibleActionFail(str(error)) from error
            return {"problem": str(error)}

    def _discovered(self, options: dict[str, Any], host: str) -> dict[str, Any]:
        """Return the plan of what was discovered, note it in the run directory, and show it."""
        found = plan_volumes(options["discovered"], read(options["variables"])["bsize"], skip_absent=options["absent"] == ABSENT_SKIP)
        plan = planned({**options, "volumes": found.volumes}) if found.volumes else {"volumes": []}
        directory = RunDirectory.open(options["run_path"])
        others = [{"name": each.name} for each in found.refused] + [{"name": each.name, SKIPPED: True} for each in found.skipped]
        directory.volumes.note(host, [*noted_of(plan["volumes"]), *others])
        place = directory.volumes.write_discovered(host, as_yaml(host, found))
        for each in found.refused:
            file_error(directory, host, each.name, STAGE, each.reason, {})
        for each in found.skipped:
            file_skipped(directory, host, each.name, STAGE, each.reason, each.queue_manager)
        duration = ["  " + duration_text("together", {host: plan})] if found.volumes else []
        say(self._display, "\n".join([*as_lines(host, found, place), *duration]))
        if not found.volumes:
            return failure(STAGE, WARN, f"there is nothing to test on this host: {'; '.join(each.reason for each in found.skipped)}")
        return {**plan, "discover": False}


def planned(options: dict[str, Any]) -> dict[str, Any]:
    """Return the plan of a host. Raises OptionError and DefinitionError."""
    profile = load_profile(options["profile"], options["profile_dir"])
    workload = load_workload(options["variables"].get("sweep_workload", MQ_LOG), options["workload_dir"])
    if options["discover"] and not workload.built_in:
        raise OptionError(
            f"workspace_discover finds the logs of queue managers, but sweep_workload {workload.name} tests something else: name the volumes as "
            "workspace_volumes, or one as workspace_path"
        )
    volumes = read_volumes(options["volumes"], options["defaults"])
    plan = plan_host(volumes, options["variables"], options["options"], profile.min_duration_s, options["order"], workload)
    target = target_of(options["target"])
    notes = {volume["name"]: [*search_notes(volume), *foresee(profile, volume), *foresee_without_target(profile, target)] for volume in plan["volumes"]}
    volumes = [{**volume, "notes": notes[volume["name"]]} for volume in plan["volumes"]]
    about = {"defaults": options["defaults"], "sweep_target": options["target"]}
    return {**plan, **options["run_wide"], **about, "volumes": volumes, "notes": notes_of_host(notes)}


def search_notes(volume: dict[str, Any]) -> list[Finding]:
    """Return a note on how long a search for the capacity takes, nothing if there is none."""
    if not volume["search"]:
        return []
    round_s = volume["planned_s"] + volume["format_s"]
    return [finding(FORESEEN, None, cause="search", option=LOADS, value=AUTO, rounds=volume["search"]["rounds"], round_s=round_s)]


def target_of(value: Any) -> Target | OperationsTarget | None:
    """Return what is asked of each volume, if anything is. Raises OptionError."""
    try:
        return read_target(value)
    except ValueError as error:
        raise OptionError(f"sweep_target {error}") from None


def preliminary(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options for a plan that checks the variables of a host whose volumes are yet to be discovered: one volume stands for them."""
    variables = {**options["variables"], "sweep_queue_managers": []}
    return {**options, "variables": variables, "volumes": None, "defaults": {**options["defaults"], "name": DEFAULT_VOLUME}}


def notes_of_host(notes: dict[str, list[Finding]]) -> list[str]:
    """Return the notes on all volumes in sentences, each once; one that does not concern all of them names its volumes."""
    each_once: list[Finding] = []
    for note in itertools.chain.from_iterable(notes.values()):
        if note not in each_once:
            each_once.append(note)
    said = [(in_words(note, words_of("")), [volume for volume, own in notes.items() if note in own]) for note in each_once]
    return [sentence if len(volumes) == len(notes) else f"{', '.join(volumes)}: {sentence}" for sentence, volumes in said]
