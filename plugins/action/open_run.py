# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Opens a run: resolves the profiles, checks that the hosts under test agree on what concerns all of them, makes the run directory."""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
import socket
import time
from collections.abc import Mapping
from typing import Any

from ansible.release import __version__ as ansible_version
from ansible.utils.vars import load_extra_vars
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import SCHEMA, ControllerAction
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.awx_job import job_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.expectation import Expectation, ExpectationError, check_count, check_play, is_slice
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.outcome import INTERNAL, make_outcome, write_outcome
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import say
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import LEAD_MIN_S, duration_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.settings import (
    RUN_WIDE,
    SettingsError,
    agreed,
    array_settings,
    check_days,
    same_problem_once,
    shown,
    targets,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.start_instant import PREPARATION_S, start_problem
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.start_instant import shown as shown_instant
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.upload import check_url
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.volumes import noted_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.watching import check_endpoint, check_observation, observed_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.baseline import named_certificates
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.kept import keep_if_asked
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.open import open_history, place_of, try_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.selection import SelectionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store import OPENED, HistoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.fleet import PolicyError, check_policy
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.host import collection_version
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.reading import read_options
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import option_specs, role_defaults
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.comparison import CERTIFICATES, LAST
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.definitions import DefinitionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory, RunDirectoryError, new_run_id
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.files import absolute
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.moment import utc_now
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.parameters import parameters_of_hosts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.profiles import of_hosts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import DURABILITY, MEASUREMENT, OBSERVATION
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.surroundings import REPORTS, report_directory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import UNQUALIFIED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._signing.ssh_keygen import try_key

PLANS = {MEASUREMENT: "sweep_plan", OBSERVATION: "observe_plan", DURABILITY: "power_cut_plan"}
"""The facts that hold what is planned for a host: its volumes, the settings that its roles hand on, or the problem with them."""
PREFIXES = {OBSERVATION: ("gate_", "observe_"), DURABILITY: ("gate_", "cut_", "workspace_", "tester_", "sweep_state_dir")}
"""How the variables begin that concern a run which measures nothing."""
REMEMBERED = (MEASUREMENT, DURABILITY)
"""The kinds of runs that the history remembers."""
NO_BASELINE = {"gate_baseline": [], "gate_baseline_accept": False, "gate_margin": None}
"""An observation is of whatever load there is, so no earlier run is its baseline."""
RESOLVED = ("sweep_duration",)
"""Variables whose default depends on the profile: the plan says what became of them."""
USAGE_ERRORS = (ExpectationError, SettingsError, DefinitionError, PolicyError, SelectionError, RunDirectoryError)


class ActionModule(ControllerAction):
    """Runs on the controller alone, once for all hosts. Problems with the options are returned; the task fails only if there is a fault in this collection."""

    argument_spec = {
        "hosts": {"type": "raw", "required": True},
        "profile_dir": {"type": "str", "required": True},
        "kind": {"type": "str", "choices": [MEASUREMENT, OBSERVATION, DURABILITY], "default": MEASUREMENT},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        kind, report_dir = options["kind"], REPORTS
        try:
            expected = self.expectation(options, task_vars, kind == MEASUREMENT and is_slice(load_extra_vars(self._loader)))
            check_play(expected.hosts, task_vars["ansible_play_hosts_all"])
            hostvars = {host: task_vars["hostvars"][host] for host in expected.hosts}
            plans = {host: own[PLANS[kind]] for host, own in hostvars.items()}
            _check_plans(plans)
            settings = {name: agreed(name, _asked(name, plans)) for name in RUN_WIDE}
            report_dir = settings["gate_report_dir"]
            check_count(expected.hosts, settings["gate_expected_count"])
            if kind == MEASUREMENT:
                _check_start(settings["sweep_start_at"], plans)
            if kind == OBSERVATION:
                for plan in plans.values():
                    check_observation(plan["settings"])
            run = {**self._run(options, expected, settings, hostvars, plans), "controller": self._controller(task_vars)}
            # Without a history nothing can be held against a baseline: better to know that before measuring.
            history = {**run["history"], "required": run["history"]["required"] or bool(run["baseline"]["kind"])}
            create = not self._task.check_mode and (kind in REMEMBERED or settings["gate_keep_report"])
            warning = tried_history(history, absolute(settings["gate_report_dir"] or REPORTS), create)
            directory = RunDirectory.create(report_directory(settings["gate_report_dir"]), run)
            for host, plan in plans.items():
                directory.write_volumes(host, _observed(plan) if kind == OBSERVATION else noted_of(plan["volumes"]))
            opened = {"run_id": run["run_id"], "path": directory.path, "expected_hosts": run["expected_hosts"]}
            write_outcome(os.path.dirname(directory.path), make_outcome(INTERNAL, "the run has not reached its verdict", **opened))
            opened.update(sign_key=run["sign_key"], upload_url=run["upload_url"], history=run["history"]["place"], policy={})
            # A run that is killed could not be kept later.
            warnings = [warning, keep_if_asked(directory.path, OPENED)]
        except (OSError, *USAGE_ERRORS) as error:
            return self.refusal(str(error), report_dir, task_vars)
        for each in filter(None, warnings):
            self._display.warning(each)
        elsewhere = [f"In this slice, no host matches {shown(expected.unmatched)} of the limit."] if expected.unmatched else []
        announced = self._announced(settings, plans) if kind == MEASUREMENT else []
        say(self._display, "\n".join([f"logdisk: run {run['run_id']}", *elsewhere, *announced]))
        key = {"schema": SCHEMA, "kind": "run", "run_id": run["run_id"], "path": directory.path}
        return {"problems": [], "run": opened, "logdisk": key}

    def _announced(self, settings: Mapping[str, Any], plans: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """Return in lines when the hosts measure and what their plans cannot show. In a preflight the notes are in the hosts' records."""
        start = [f"The hosts start at {shown_instant(settings['sweep_start_at'])}."] if settings["sweep_start_at"] else []
        return [_duration(settings["sweep_mode"], plans), *start, *([] if self._task.check_mode else _notes(plans))]

    def _run(
        self, options: Mapping[str, Any], expected: Expectation, settings: Mapping[str, Any], hostvars: Mapping[str, Any], plans: Mapping[str, Any]
    ) -> dict[str, Any]:
        asked = _asked("gate_profile", plans)
        profiles = {host: load_profile(profile, options["profile_dir"]).as_dict() for host, profile in asked.items()}
        place = place_of(settings["gate_history"], settings["gate_report_dir"])
        tests = options["kind"] == MEASUREMENT
        return {
            "schema": SCHEMA,
            "kind": options["kind"],
            "run_id": new_run_id(),
            "created_at": utc_now(),
            "collection_version": collection_version(),
            "expected_hosts": expected.hosts,
            "left_out_hosts": expected.left_out,
            **({"unmatched_limit_terms": expected.unmatched} if expected.unmatched else {}),
            **_parameters(_defaults(options["kind"]), hostvars, plans, options["hosts"]),
            **of_hosts(profiles),
            "policy": {
                "fail_on": stops_gate(settings["gate_fail_on"], options["kind"]),
                "report_only": settings["gate_report_only"],
                "valid_days": check_days("gate_valid_days", settings["gate_valid_days"]),
            },
            "host_array_settings": array_settings(_asked("gate_array_settings", plans)),
            "host_targets": targets(_asked("sweep_target", plans)),
            "sign_key": try_key(settings["gate_sign_key"]) if settings["gate_sign_key"] else "",
            "history": {
                "place": place,
                "required": options["kind"] in REMEMBERED and settings["gate_history_required"],
                "keep_report": settings["gate_keep_report"],
            },
            "upload_url": check_url(settings["gate_upload_url"]),
            "baseline": _baseline(settings if tests else NO_BASELINE, place, migrate=not self._task.check_mode),
            "host_classes": {host: str(name) for host, name in _asked("gate_class", plans).items() if name},
        }

    def _controller(self, task_vars: Mapping[str, Any]) -> dict[str, Any]:
        """Return who runs this, and with what."""
        job = job_of(task_vars)
        return {
            "hostname": socket.gethostname(),
            "user": _user(),
            "ansible_version": ansible_version,
            "python_version": platform.python_version(),
            "check_mode": bool(self._task.check_mode),
            **({"job": job} if job else {}),
        }


def _observed(plan: Mapping[str, Any]) -> list[dict[str, str]]:
    return [{"name": each["volume"]} for each in observed_of(plan["settings"])]


def _user() -> str:
    """Return the name of the user who runs Ansible, empty if that user has none, as in a container."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def tried_history(history: Mapping[str, Any], report_dir: str, create: bool) -> str:
    """Return why certificates could not be stored in the history now, empty if they could. Raises HistoryError instead if the history is required.

    The history, which by default lies in the directory of reports, is made only on request.
    """
    with contextlib.suppress(OSError):  # what is wrong with it is reported when the run directory is made
        os.makedirs(report_dir, exist_ok=True)
    try:
        try_history(history["place"], create)
    except HistoryError as error:
        problem = f"certificates cannot be stored: {error}"
        if history["required"]:
            without = "gate_history_required: false and gate_baseline: none"
            raise HistoryError(f"{problem}; correct that, or gate_history, or measure without a history ({without})") from None
        return problem
    return ""


def _baseline(settings: Mapping[str, Any], place: str, migrate: bool) -> dict[str, Any]:
    """Return what the hosts are to be held against, for run.json. Raises SelectionError and HistoryError if a certificate or run that is named is unknown.

    A preflight changes nothing, so it does not migrate the history either.
    """
    names, accept = settings["gate_baseline"], settings["gate_baseline_accept"]
    common = {"margin": settings["gate_margin"], "accept": accept, "named": names}
    if accept or not names:
        return {**common, "kind": "", "certificates": []}
    if names == [LAST]:
        return {**common, "kind": LAST, "certificates": []}
    with open_history(place, migrate=migrate) as history:
        return {**common, "kind": CERTIFICATES, "certificates": named_certificates(history, names)}


def _asked(name: str, plans: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of each host. The roles pass it on as facts, because their defaults are not among a host's variables."""
    handed_on = {host: {**(plan.get("settings") or {}), **plan} for host, plan in plans.items()}
    return {host: asked[name] for host, asked in handed_on.items() if name in asked}


def stops_gate(asked: Any, kind: str) -> list[str]:
    """Return the verdicts at which the gate stops. An observation never certifies, so it is not stopped for that. Raises PolicyError."""
    fail_on = check_policy(asked)
    return list(fail_on) if kind == MEASUREMENT else [verdict for verdict in fail_on if verdict != UNQUALIFIED]


def _check_plans(plans: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise SettingsError if a host has no plan."""
    problems = {host: plan.get("problem") for host, plan in plans.items()}
    found = same_problem_once({host: [problem] for host, problem in problems.items() if problem})
    if found:
        raise SettingsError("; ".join(found))


def _check_start(start_at: float, plans: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise SettingsError if the hosts can certainly not be ready at the instant at which they are to start."""
    problem = start_problem(start_at, time.time(), PREPARATION_S + LEAD_MIN_S + max(plan["format_s"] for plan in plans.values()))
    if problem:
        raise SettingsError(problem)


def _duration(mode: str, plans: Mapping[str, Mapping[str, Any]]) -> str:
    """Return how long the run takes, and one that certifies if this one is too short for it."""
    open_hosts = [host for host in sorted(plans) if plans[host].get("discover")]
    known = {host: plan for host, plan in plans.items() if host not in open_hosts}
    later = f"The time for {shown(open_hosts)} is announced when the volumes there are discovered." if open_hosts else ""
    return " ".join(text for text in (known and duration_text(mode, known), later) if text)


def _notes(plans: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return what the hosts cannot show by their plans, said once for all hosts of which the same is to be said."""
    hosts_by_notes: dict[tuple[str, ...], list[str]] = {}
    for host in sorted(plans):
        hosts_by_notes.setdefault(tuple(plans[host]["notes"]), []).append(host)
    return [f"{shown(hosts)}: {note}" for notes, hosts in hosts_by_notes.items() for note in notes]


def _defaults(kind: str) -> dict[str, Any]:
    """Return the variables that concern a run of some kind, with their defaults."""
    defaults = {**dict.fromkeys(option_specs()), **role_defaults()}
    return {name: value for name, value in defaults.items() if name.startswith(PREFIXES.get(kind, ""))}


def _parameters(defaults: Mapping[str, Any], hostvars: Mapping[str, Any], plans: Mapping[str, Any], selected: Any) -> dict[str, Any]:
    """Return the value of every role variable of each host, for run.json: what its variables say, or else the default."""
    parameters: dict[str, dict[str, Any]] = {}
    for host, own in hostvars.items():
        plan = plans[host]
        given = read_options({name: own[name] for name in defaults if name in own}, problems=[])
        values = {**defaults, **given, **(plan.get("settings") or {}), **{name: plan[name] for name in RESOLVED if name in plan}}
        check_endpoint(str(values.get("observe_url") or ""))
        parameters[host] = {**{name: values[name] for name in defaults}, "gate_hosts": selected}
    return parameters_of_hosts(parameters)
