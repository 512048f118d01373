# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Opens a run: resolves the profiles, checks that the hosts under test agree on the settings that apply to all of them,
and creates the run directory."""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
import socket
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.release import __version__ as ansible_version
from ansible.utils.vars import load_extra_vars

from .._action_base import SCHEMA, ControllerAction
from .._english.findings import in_words
from .._fleet.expectation import Expectation, ExpectationError, check_count, check_play, is_slice
from .._fleet.follow_up import playbooks_in
from .._fleet.messages import say
from .._fleet.outcome import INTERNAL, make_outcome, write_outcome
from .._fleet.settings import (
    SettingsError,
    agreed_value,
    array_settings,
    check_days,
    same_problem_once,
    shown,
    targets,
)
from .._fleet.upload import check_url
from .._fleet.watching import check_endpoint
from .._history.compare.selection import SelectionError, named_certificates
from .._history.store.history import OPENED, HistoryError
from .._history.store.kept import keep_if_asked
from .._history.store.open import open_history, place_of, try_history
from .._judge.fleet import PolicyError, check_policy
from .._judge.profile_reader import load_profile
from .._option_meanings import PROFILES
from .._options.table import RUN, names_of
from .._records.host import collection_version
from .._report.live_page import write_opening
from .._run.definitions import DefinitionError
from .._run.directory import RunDirectory
from .._run.environment import REPORTS, report_directory, vanishes
from .._run.files import absolute
from .._run.findings import Finding
from .._run.host_settings import CERTIFICATES, LAST, of_hosts, parameters_of_hosts
from .._run.kinds import DEFAULT, KINDS, Kind
from .._run.moment import utc_now
from .._run.names import INDEX, new_run_id
from .._run.run_files import RunDirectoryError
from .._run.verdicts import UNQUALIFIED
from .._run.words import words_of
from .._run_sources import job_of
from .._signing.ssh_keygen import try_key

NO_BASELINE = {"gate_baseline": [], "gate_baseline_accept": False, "gate_margin": None}
"""A run that does not test storage has no baseline."""
RESOLVED = ("sweep_duration",)
"""Variables whose defaults depend on the profile. Their values are in the plan."""
USAGE_ERRORS = (ExpectationError, SettingsError, DefinitionError, PolicyError, SelectionError, RunDirectoryError)


class Step(ControllerAction):
    """Runs only on the controller, once for all hosts. Problems with the options are returned; the task itself fails
    only because of a bug in this collection."""

    argument_spec = {
        "hosts": {"type": "raw", "required": True},
        "kind": {"type": "str", "default": DEFAULT.name},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if options["kind"] not in KINDS:
            raise AnsibleActionFail(f"kind must be one of {', '.join(KINDS)}, not {options['kind']}")
        kind, report_dir = KINDS[options["kind"]], REPORTS
        try:
            expected = self.expectation(
                options, task_vars, kind.tests_storage and is_slice(load_extra_vars(self._loader))
            )
            check_play(expected.hosts, task_vars["ansible_play_hosts_all"])
            plans = {host: _plan(task_vars["hostvars"][host], kind) for host in expected.hosts}
            _check_plans(plans)
            settings = {
                name: agreed_value(name, _asked(name, plans))
                for name in names_of(RUN)
                if name.startswith(kind.agreed_on)
            }
            report_dir = settings["gate_report_dir"]
            check_count(expected.hosts, settings["gate_expected_count"])
            kind.opening.check(settings, plans)
            run = {**self._run(kind, options, expected, settings, plans), "controller": self._controller(task_vars)}
            # Without a history, nothing can be compared with a baseline, so a missing history is reported before
            # measuring.
            history = {**run["history"], "required": run["history"]["required"] or bool(run["baseline"]["kind"])}
            create = not self._task.check_mode and (kind.is_remembered or settings["gate_keep_report"])
            warning, wrong_clock = tried_history(
                history, absolute(settings["gate_report_dir"] or REPORTS), create, kind.stored
            )
            if wrong_clock:
                run["wrong_clock"] = wrong_clock
            directory = RunDirectory.create(report_directory(settings["gate_report_dir"]), run)
            for host, plan in plans.items():
                directory.volumes.write(host, kind.opening.volumes(plan))
            opened = {"run_id": run["run_id"], "path": directory.path, "expected_hosts": run["expected_hosts"]}
            write_outcome(
                os.path.dirname(directory.path), make_outcome(INTERNAL, "the run has not reached its verdict", **opened)
            )
            opened.update(
                discovering=[host for host, plan in plans.items() if plan.get("discover")],
                sign_key=run["sign_key"],
                upload_url=run["upload_url"],
                history=run["history"]["place"],
                policy={},
            )
            # The run is stored now, because that is no longer possible if it is killed later.
            clock = in_words(wrong_clock, words_of("")) if wrong_clock else ""
            warnings = [warning, clock, keep_if_asked(directory.path, OPENED)]
        except (OSError, *USAGE_ERRORS) as error:
            return self.refusal(str(error), report_dir, task_vars)
        for each in filter(None, warnings):
            self._display.warning(each)
        elsewhere = (
            [f"In this slice, no host matches {shown(expected.unmatched)} of the limit."] if expected.unmatched else []
        )
        announced = kind.opening.announced(settings, plans, self._task.check_mode)
        page = [] if self._task.check_mode else self._page(directory, announced)
        lines = [f"logdisk: run {run['run_id']}", *page, *elsewhere, *announced]
        say(self._display, "\n".join(lines), places=[directory.path])
        key = {"schema": SCHEMA, "kind": "run", "run_id": run["run_id"], "path": directory.path}
        return {"problems": [], "run": opened, "logdisk": key}

    def _page(self, directory: RunDirectory, announced: list[str]) -> list[str]:
        """Write the page that shows the progress. Returns the line that names it; none if it cannot be written, or if
        it is deleted with the job."""
        try:
            write_opening(directory, announced)
        except OSError as error:
            self._display.warning(f"the page that shows the progress cannot be written: {error}")
            return []
        page = os.path.join(directory.path, INDEX)
        return [] if vanishes(page) else [f"logdisk: progress, later the report: {page}"]

    def _run(
        self,
        kind: Kind,
        options: Mapping[str, Any],
        expected: Expectation,
        settings: Mapping[str, Any],
        plans: Mapping[str, Any],
    ) -> dict[str, Any]:
        asked = _asked("gate_profile", plans)
        by_value = {repr(profile): profile for profile in asked.values()}
        loaded = {value: load_profile(profile, PROFILES).as_dict() for value, profile in by_value.items()}
        profiles = {host: loaded[repr(profile)] for host, profile in asked.items()}
        place = place_of(settings["gate_history"], settings["gate_report_dir"])
        return {
            "schema": SCHEMA,
            "kind": kind.name,
            "run_id": new_run_id(),
            "created_at": utc_now(),
            "collection_version": collection_version(),
            "playbooks_in": playbooks_in(),
            "expected_hosts": expected.hosts,
            "left_out_hosts": expected.left_out,
            "localhost_left_out": expected.localhost_left_out,
            **({"unmatched_limit_terms": expected.unmatched} if expected.unmatched else {}),
            **_parameters(kind, plans, options["hosts"]),
            **of_hosts(profiles),
            "policy": {
                "fail_on": stops_gate(settings["gate_fail_on"], kind),
                "report_only": settings["gate_report_only"],
                "valid_days": check_days("gate_valid_days", settings["gate_valid_days"]),
            },
            "host_array_settings": array_settings(_asked("gate_array_settings", plans)),
            "host_targets": targets(_asked("sweep_target", plans)),
            "sign_key": try_key(settings["gate_sign_key"]) if settings["gate_sign_key"] else "",
            "history": {
                "place": place,
                "required": needs_history(kind, settings["gate_history_required"]),
                "keep_report": settings["gate_keep_report"],
            },
            "upload_url": check_url(settings["gate_upload_url"]),
            "baseline": _baseline(
                settings if kind.tests_storage else NO_BASELINE, place, make_tables=not self._task.check_mode
            ),
            "host_classes": {host: str(name) for host, name in _asked("gate_class", plans).items() if name},
        }

    def _controller(self, task_vars: Mapping[str, Any]) -> dict[str, Any]:
        """Return who runs this command, and the software that runs it."""
        job = job_of(task_vars)
        return {
            "hostname": socket.gethostname(),
            "user": _user(),
            "ansible_version": ansible_version,
            "python_version": platform.python_version(),
            "check_mode": bool(self._task.check_mode),
            **({"job": job} if job else {}),
        }


def _user() -> str:
    """Return the name of the user who runs Ansible; empty if the user has no name, as in a container."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def needs_history(kind: Kind, asked: bool) -> bool:
    """Whether a run of this kind is refused if there is no history. ``asked`` is gate_history_required."""
    return asked and kind.is_remembered and kind.may_need_history


def tried_history(
    history: Mapping[str, Any], report_dir: str, create: bool, stored: str = Kind.stored
) -> tuple[str, Finding | None]:
    """Return the reason if the history cannot store results (``stored`` names them) at present; otherwise empty. Also
    return what in it contradicts the controller's clock. Raises HistoryError if the history is required but cannot
    store results.

    The history, which is in the directory of reports by default, is created only on request.
    """
    with contextlib.suppress(OSError):  # a problem with it is reported when the run directory is created
        os.makedirs(report_dir, exist_ok=True)
    try:
        return "", try_history(history["place"], create)
    except HistoryError as error:
        problem = f"{stored} cannot be stored: {error}"
        if history["required"]:
            without = "gate_history_required: false and gate_baseline: none"
            raise HistoryError(
                f"{problem}; correct that, or gate_history, or measure without a history ({without})"
            ) from None
        return problem, None


def _baseline(settings: Mapping[str, Any], place: str, make_tables: bool) -> dict[str, Any]:
    """Return, for run.json, the baseline with which the hosts are to be compared. Raises SelectionError and
    HistoryError, for example if a named certificate or run does not exist.

    A preflight changes nothing, so it does not create tables either.
    """
    names, accept = settings["gate_baseline"], settings["gate_baseline_accept"]
    common = {"margin": settings["gate_margin"], "accept": accept, "named": names}
    if accept or not names:
        return {**common, "kind": "", "certificates": []}
    if names == [LAST]:
        return {**common, "kind": LAST, "certificates": []}
    with open_history(place, make_tables=make_tables) as history:
        return {**common, "kind": CERTIFICATES, "certificates": named_certificates(history, names)}


def _asked(name: str, plans: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of an option on each host."""
    return {host: plan["options"][name] for host, plan in plans.items()}


def stops_gate(asked: Any, kind: Kind) -> list[str]:
    """Return the verdicts at which the gate stops. If a run can never certify, the gate does not stop merely because it
    does not certify. Raises PolicyError."""
    fail_on = check_policy(asked)
    return list(fail_on) if kind.certifies else [verdict for verdict in fail_on if verdict != UNQUALIFIED]


def _plan(variables: Mapping[str, Any], kind: Kind) -> Mapping[str, Any]:
    """Return the plan of a host, or the reason why planning failed."""
    problem = variables.get("gate_plan_problem")
    if not problem and not variables.get(kind.plan_fact):
        problem = f"nothing was planned for a run of the kind {kind.name}: leave gate_run_kind to the playbook"
    return {"problem": problem} if problem else variables[kind.plan_fact]


def _check_plans(plans: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise SettingsError if a host has no plan."""
    problems = {host: plan.get("problem") for host, plan in plans.items()}
    found = same_problem_once({host: [problem] for host, problem in problems.items() if problem})
    if found:
        raise SettingsError("; ".join(found))


def _parameters(kind: Kind, plans: Mapping[str, Any], selected: Any) -> dict[str, Any]:
    """Return, for run.json, the value that each host has for every option that applies to the given kind of run."""
    parameters: dict[str, dict[str, Any]] = {}
    for host, plan in plans.items():
        resolved = {name: plan[name] for name in RESOLVED if name in plan}
        values = {name: value for name, value in plan["options"].items() if name.startswith(kind.variables)}
        parameters[host] = {
            **values,
            **{name: value for name, value in resolved.items() if name in values},
            "gate_hosts": selected,
        }
        check_endpoint(str(values.get("observe_url") or ""))
    return parameters_of_hosts(parameters)
