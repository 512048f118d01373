# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reports which volumes are certified today, using only the history."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from .._fleet.follow_up import playbook_command, playbooks_in
from .._fleet.outcome import STATUS, make_outcome, one_message
from .._fleet.volumes import volume_names
from .._history.overview import changed_since, status_json
from .._history.problems import problems_by_host
from .._history.standing import KIND as POWER_CUTS
from .._history.states import Today, day_of, fleet_status
from .._history.status_txt import status_prom, status_text
from .._history_action import (
    DECLINES_FILE,
    HISTORY,
    HOSTS,
    PLAY_HOSTS,
    FleetAction,
    existing_pages,
    versions_here,
)
from .._judge.profile_reader import load_profile
from .._option_meanings import PROFILES
from .._report.history.status_html import FILE as PAGE
from .._report.history.status_html import render_status
from .._run.answers import is_empty
from .._run.environment import vanishes
from .._run.files import write_file, write_json, write_text
from .._run.kinds import DEFAULT, KINDS
from .._run.names import is_run_id
from .._run.run_files import MAX_JSON_BYTES, RunDirectoryError, read_json
from .._run.shapes import Items, Keys, Where, check
from .._run.table_reader import printable

JSON_FILE = "status.json"
METRICS_FILE = "status.prom"
STATUS_LINKS = (("Newest run", "latest/index.html"), ("Drift", "drift.html"))
"""Other pages in the directory of reports. The status page links to them if they exist."""
_DECLINES = Keys(
    {
        "declines": Items(Keys({"text": Where(lambda text: isinstance(text, str) and printable(text) == text)})),
        "history": str,
    }
)
"""What the status needs of the file with the declines of classes."""


class Step(FleetAction):
    """Runs only on the controller, once for all hosts. A later task fails each host that is not certified."""

    kind = "status"
    argument_spec = {
        **HOSTS,
        **PLAY_HOSTS,
        **HISTORY,
        "expiring_days": {"type": "int", "required": True},
        "valid_days": {"type": "int", "required": True},
        "today": {"type": "str"},
    }

    def consult(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        today = Today(day_of(options["today"]), options["expiring_days"], options["valid_days"])
        expected = self.expectation(options, task_vars).hosts
        with self.history(options) as history:
            revocations = history.revocations()
            history.look_from(today.date)
            entries, results = history.newest(), {name: history.results(name) for name in KINDS if name != DEFAULT.name}
            lines = fleet_status(entries, revocations, today, results[POWER_CUTS], asked_profiles(task_vars, expected))
            plans = history.plans()
            changed = changed_since(history, lines)
        results[DEFAULT.name] = [each for each in entries if each.sha256 not in revocations]
        own = {host: task_vars["hostvars"][host].get("workspace_volumes") for host in expected}
        named = {host: names for host, given in own.items() if (names := volume_names(given))}
        others = [each for kind in KINDS.values() for each in kind.memory.problems(results[kind.name], today)]
        by_host = problems_by_host(lines, expected, plans, named, others)
        folder = options["report_dir"]
        page, declines = os.path.join(folder, PAGE), _declines(folder, options["place"])
        status = status_json(lines, expected, by_host, today, revocations, changed, results, declines)
        if self.write_to(folder):
            write_json(os.path.join(folder, JSON_FILE), status)
            write_file(os.path.join(folder, METRICS_FILE), status_prom(status))
            pages, runs = existing_pages(folder, STATUS_LINKS), _with_report(folder, status)
            write_text(page, render_status(status, versions_here(), playbooks_in(), runs, pages))
        told = self.tell(f"{status_text(status, options['place'], playbook_command())}\nstatus: {self.page(page)}")
        outcome = status_outcome(status, "" if self._task.check_mode or vanishes(page) else page)
        failures = {
            host: one_message([problem.text for problem in found], JSON_FILE) for host, found in by_host.items()
        }
        found = self.result(outcome, failures, [], options["play_hosts"], task_vars)
        return {"problems": status["problems"], **found, **told}


def _declines(folder: str, history: str) -> list[dict[str, Any]]:
    """Return the classes of a history that became slower according to the newest drift.yml that wrote to the directory.
    Raises RunDirectoryError."""
    path = os.path.join(folder, DECLINES_FILE)
    if not os.path.exists(path):
        return []
    found = read_json(path, MAX_JSON_BYTES)
    check(found, _DECLINES, lambda part: RunDirectoryError(f"{path} has no usable {part}: run drift.yml again."))
    return found["declines"] if found["history"] == history else []


def _with_report(folder: str, status: Mapping[str, Any]) -> set[str]:
    """Return the IDs of the runs that are named in the volumes and observations and have a report in the directory."""
    named = {each["run_id"] for each in (*status["volumes"], *status["observations"])} - {None}
    return {run for run in named if is_run_id(run) and os.path.isfile(os.path.join(folder, run, "index.html"))}


def status_outcome(status: Mapping[str, Any], page: str = "") -> dict[str, Any]:
    """Return the data that a notification needs: the date, whether the fleet is certified, the state of each host, the
    number of hosts in each state, and the path of the page if it still exists after the job."""
    message = one_message(status["problems"], JSON_FILE) or "every expected host is certified"
    facts = {
        "date": status["date"],
        "certified": status["certified"],
        "states": dict(Counter(status["host_states"].values())),
        "hosts": status["host_states"],
        **({"status_page": page} if page else {}),
    }
    return make_outcome(STATUS, message, **facts)


def asked_profiles(task_vars: Mapping[str, Any], hosts: Iterable[str]) -> dict[str, str]:
    """Return, by host, the name of the profile that extra variables or the inventory set, for hosts that have one.
    Raises DefinitionError."""
    asked = {host: task_vars["hostvars"][host].get("gate_profile") for host in hosts}
    names = {repr(profile): load_profile(profile, PROFILES).name for profile in asked.values() if not is_empty(profile)}
    return {host: names[repr(profile)] for host, profile in asked.items() if not is_empty(profile)}
