# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares the hosts with their baseline, judges the fleet, and writes verdict and report. Then stores the
certificates, signs, keeps and uploads the run, and returns which hosts are to fail."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils._command_lines import extra_variable
from .._action_base import SCHEMA, ControllerAction
from .._fleet.expectation import has_controller
from .._fleet.machines import disagree
from .._fleet.outcome import (
    FILE_NAME,
    INTERNAL,
    VERDICT,
    Place,
    artifacts,
    make_outcome,
    one_message,
    with_fleet,
    workflow_artifact,
    write_outcome,
)
from .._fleet.upload import check_url, target, upload
from .._history.certificate import Certificate
from .._history.store.filing import certify, store
from .._history.store.history import JUDGED
from .._history.store.kept import is_kept, keep_if_asked
from .._judge.fleet import policy_with
from .._judge.judged_records import judged_records
from .._records.fleet import GATE, fleet_verdict, judge_run, missing_hosts
from .._report import render
from .._report.folding import shorten
from .._run.archive import pack
from .._run.directory import RunDirectory
from .._run.environment import vanishes
from .._run.files import absolute
from .._run.record import host_label
from .._run.verdicts import PASS
from .._signing.run_signature import sign_run

MOST_CLOCKS = 50
"""The number of hosts whose clocks are compared with the controller's before results are stored."""
MOST_PATH = 100
"""The largest length of a path in the message of a failed host. A longer path is shown relative to the working
directory if the relative path is shorter."""


class Step(ControllerAction):
    """Runs only on the controller, once for all hosts. It does not fail because of a verdict. The tasks of the role
    fail the hosts, each according to its own verdict."""

    argument_spec = {
        "run_path": {"type": "str", "required": True},
        "judged_hosts": {"type": "list", "elements": "str", "required": True},
        "sign_key": {"type": "str", "default": ""},
        "upload_url": {"type": "str", "default": ""},
        "history": {"type": "str", "default": ""},
        "policy": {"type": "dict", "default": {}},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        directory = RunDirectory.open(options["run_path"])
        directory.run["policy"] = policy_with(directory.run.get("policy") or {}, options["policy"])
        if options["history"] and directory.run.get("history"):
            directory.run["history"] = {**directory.run["history"], "place": options["history"]}
        uncompared = compare(directory)
        verdict, problem = judge(directory)
        certificates, uncertified = make_certificates(directory)
        problem = problem or report(directory)
        unstored = remember(directory, certificates, uncertified)
        unsigned = "" if uncompared or problem else sign(directory, options["sign_key"])
        place, unkept, unsent = hand_on(directory, options["upload_url"])
        # Problems of the fleet are also printed as warnings, because if all hosts have already failed for their own
        # reasons, no host is left to report them.
        warnings = list(filter(None, (uncompared, problem, unstored, unsigned, unkept, unsent)))
        if not (directory.run.get("history") or {}).get("required"):
            unstored = unkept = ""
        problems = [uncompared, problem, unstored, unsigned, unkept, unsent]
        result = conclusion(directory, verdict, problems, options["judged_hosts"], place, task_vars)
        # With --limit, the controller is not in the play that judges the fleet.
        limit = task_vars.get("ansible_limit")
        if limit and not has_controller(task_vars["groups"], self._loader, limit):
            failures = with_fleet(result["failures"], result["fleet_problems"], options["judged_hosts"])
            result.update(failures=failures, fleet_problems=[])
        key = {
            "schema": SCHEMA,
            "kind": "gate",
            "run_id": verdict["run_id"],
            "path": directory.path,
            "verdict": verdict["verdict"],
            "certified": verdict["certified"],
            "gate_failed": verdict["gate_failed"],
            "report_url": place.url,
            "report_kept": place.kept,
        }
        return {**result, "warnings": warnings, "logdisk": key}


def conclusion(
    directory: RunDirectory,
    verdict: dict[str, Any],
    problems: Iterable[str],
    judged_hosts: Iterable[str],
    place: Place,
    task_vars: Mapping[str, Any],
) -> dict[str, Any]:
    """Write outcome.json, and return the result of a run: its artifacts, and which hosts fail. ``problems`` are further
    reasons why the run failed."""
    problem = " | ".join(filter(None, problems))
    outcome = outcome_of(directory, verdict, problem)
    try:
        write_outcome(os.path.dirname(directory.path), outcome)
    except OSError as error:
        problem = problem or f"{FILE_NAME} cannot be written: {error}"
    failures = failing_hosts(verdict, place)
    fleet_problems = [*([problem] if problem else []), *elsewhere(failures, judged_hosts)]
    if verdict["gate_failed"]:
        fleet_problems += verdict["fleet_problems"]
    told = workflow_artifact(outcome, verdict, place)
    return {
        "artifacts": artifacts(task_vars, directory.kind.name, told),
        "failures": failures,
        "fleet_problems": fleet_problems,
    }


def compare(directory: RunDirectory) -> str:
    """Compare the hosts with the history of their volumes. Returns the reason if this failed; otherwise empty."""
    try:
        return directory.kind.memory.look_up(directory)
    except OSError as error:
        return f"the hosts were not compared with their {directory.kind.compared_with}: {error}"


def judge(directory: RunDirectory) -> tuple[dict[str, Any], str]:
    """Judge the fleet and write the verdict. Returns the verdict and, if it could not be written, the reason (otherwise
    empty)."""
    try:
        return judge_run(directory, GATE), ""
    except OSError as error:
        return fleet_verdict(directory.run, [*judged_records(directory), *missing_hosts(directory)]), unwritten(
            directory, error
        )


def make_certificates(directory: RunDirectory) -> tuple[list[Certificate], list[str]]:
    """Write the certificates of a run that has a history. This is done before the report, which states how long they
    are valid. Returns them and, if some are missing, the reason."""
    if directory.run.get("history") is None:
        return [], []
    try:
        return certify(directory)
    except OSError as error:
        return [], [str(error)]


def report(directory: RunDirectory) -> str:
    """Write the report. Returns the reason if this failed; otherwise empty."""
    try:
        render(directory)
    except OSError as error:
        return unwritten(directory, error)
    return ""


def unwritten(directory: RunDirectory, error: OSError) -> str:
    return (
        f"the report cannot be written to {directory.path}: {error}; when the problem is solved, "
        "render it with playbooks/report.yml"
    )


def remember(directory: RunDirectory, certificates: list[Certificate], problems: list[str]) -> str:
    """Store the certificates of a run in its history. Returns the reason if any could not be stored; otherwise
    empty."""
    history = directory.run.get("history")
    if history is None or not directory.kind.is_remembered:
        return ""
    try:
        records = (directory.records.read(folder) for folder in directory.records.folders()[:MOST_CLOCKS])
        store(
            history["place"],
            certificates,
            directory.kind.memory.of_run(directory),
            not disagree(record.facts for record in records),
        )
    except OSError as error:
        problems = [*problems, str(error)]
    if not problems:
        return ""
    return (
        f"{directory.kind.stored} of this run were not stored in the history: {one_message(problems)}; when the "
        f"problem is solved, store them with playbooks/history.yml {extra_variable('history_import', directory.path)}"
    )


def sign(directory: RunDirectory, key: str) -> str:
    """Sign a run with a key, by default with the key (if any) with which it was opened. Returns the reason if it could
    not be signed; otherwise empty."""
    key = key or directory.run.get("sign_key") or ""
    if not key or directory.is_check_mode:
        return ""
    try:
        sign_run(directory, absolute(key))
    except OSError as error:
        return f"the run is not signed: {error}"
    return ""


def hand_on(directory: RunDirectory, upload_url: str) -> tuple[Place, str, str]:
    """Keep and upload a run if it requests this. Returns where its report is, and the reason if it could not be kept or
    uploaded.

    upload_url is the present value of gate_upload_url, as used by ``send``.
    """
    unkept = keep_if_asked(directory.path, JUDGED, (directory.run.get("history") or {}).get("place", ""))
    url, unsent = send(directory, upload_url)
    return Place(directory.path, url, is_kept(directory.path) and not unkept), unkept, unsent


def send(directory: RunDirectory, upload_url: str) -> tuple[str, str]:
    """Upload the run directory if the run requests this. Returns the URL of the archive, and the reason if it could not
    be uploaded. Either may be empty.

    A restored run may come from anyone who can write to the history. Therefore, the token is sent only to a server that
    ``upload_url`` allows.
    """
    asked = directory.run.get("upload_url")
    if not asked or directory.is_check_mode:
        return "", ""
    if asked != upload_url.strip():
        return (
            "",
            (
                f"the report was not uploaded to {asked}, because gate_upload_url is not that: set it as "
                "it was when the run was opened"
            ),
        )
    url = target(asked, directory.run["run_id"])
    try:
        upload(check_url(url), pack(directory.path))
    except OSError as error:
        return "", f"the report was not uploaded: {error}"
    return url, ""


def outcome_of(directory: RunDirectory, verdict: dict[str, Any], problem: str) -> dict[str, Any]:
    """Return the content of outcome.json for the run."""
    facts = {
        "run_id": verdict["run_id"],
        "path": directory.path,
        "verdict": verdict["verdict"],
        "certified": verdict["certified"],
        "gate_failed": verdict["gate_failed"],
        **({"merged": True} if directory.run.get("merged_from") else {}),
    }
    if problem:
        return make_outcome(INTERNAL, problem, **facts)
    return make_outcome(VERDICT, one_message(verdict["reasons"]), **facts)


def failing_hosts(verdict: dict[str, Any], place: Place) -> dict[str, str]:
    """Return, by host, the message of a host that fails because of its own verdict. The reasons are in the summary and
    in the report."""
    failing: dict[str, list[dict[str, Any]]] = {}
    for volume in verdict["hosts"]:
        if volume["stops_gate"]:
            failing.setdefault(volume["host"], []).append(volume)
    return {host: f"{failing_text(host, volumes)}; see {shown_place(place)}" for host, volumes in failing.items()}


def failing_text(host: str, volumes: list[dict[str, Any]]) -> str:
    """Return the verdict on a host and its volumes, the worst first: "db07: fail"."""
    worst = volumes[0]
    word = worst["verdict"] if worst["verdict"] != PASS else "pass, but it does not certify"
    if len(volumes) > 1:
        return f"{shorten(host)}: {word}, and {len(volumes)} of its volumes are not accepted"
    return f"{shorten(host_label(host, worst['volume']))}: {word}"


def shown_place(place: Place) -> str:
    """Return the location of the report, in one line that is not too long for a screen."""
    if place.url:
        return place.url
    page = os.path.join(place.path, "index.html")
    if not vanishes(place.path):
        return page if len(page) <= MOST_PATH else min(page, os.path.relpath(page), key=len)
    if place.kept:
        return f"playbooks/report.yml {extra_variable('report_run', os.path.basename(place.path))}"
    return f"the summary of run {os.path.basename(place.path)}"


def elsewhere(failures: dict[str, str], judged_hosts: Iterable[str]) -> list[str]:
    """Return the failures of hosts that are not in the play because a limit left them out. These hosts cannot fail
    themselves."""
    return [failures[host] for host in sorted(set(failures) - set(judged_hosts))]
