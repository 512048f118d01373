# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Renders a run directory again, or merges several into one and judges it. Returns which hosts are to fail."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils._command_lines import extra_variable
from .._action_base import SCHEMA, ControllerAction
from .._fleet.expectation import Expectation, ExpectationError, check_count, check_slices
from .._fleet.follow_up import playbooks_in
from .._fleet.messages import say
from .._fleet.outcome import CONTROLLER, INTERNAL, USAGE, Place, artifacts, make_outcome, with_fleet, write_outcome
from .._fleet.settings import shown
from .._fleet.upload import check_url
from .._history.store.kept import find, is_kept
from .._history.store.open import place_of
from .._judge.fleet import PolicyError, given_policy, merged_policy, policy_with
from .._judge.merged_run import merge_runs
from .._records.fleet import REPORT, judge_run
from .._run.directory import RunDirectory
from .._run.environment import report_directory
from .._run.kinds import DEFAULT
from .._run.names import MANIFEST, latest
from .._run.run_files import RunDirectoryError
from .._run_sources import MOST_APART, JobArtifact, RunSources, described, job_artifacts, job_of, of_one_time
from .gate import conclusion, hand_on, judge, report, sign


class Step(ControllerAction):
    """Runs only on the controller, once for all hosts. It does not fail because of a verdict. Later tasks fail the
    hosts."""

    argument_spec = {
        "runs": {"type": "list", "elements": "str"},
        "run": {"type": "str"},
        "workflow": {"type": "str"},
        "hosts": {"type": "raw", "required": True},
        "play_hosts": {"type": "list", "elements": "str", "required": True},
        "policy": {"type": "dict", "default": {}},
        "expected_count": {"type": "int", "default": 0},
        "history": {"type": "str", "default": ""},
        "keep_report": {"type": "bool", "default": False},
        "upload_url": {"type": "str", "default": ""},
        "report_dir": {"type": "str", "required": True},
        "sign_key": {"type": "str", "default": ""},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        options = {
            **options,
            "place": "",
            "named_report_dir": options["report_dir"],
            "report_dir": report_directory(options["report_dir"]),
        }
        try:
            options["place"] = place_of(options["history"], options["named_report_dir"])
            chosen = choice(options, task_vars)
            policy = given_policy(options["policy"])
            directory, *unread = (
                self._merged(chosen, options, task_vars, policy) if chosen.merges else (single(chosen, options),)
            )
            verdict, problem = judge(directory) if chosen.merges else judged_again(directory, policy)
        except (OSError, ExpectationError, PolicyError) as error:
            return refusal(error, options, task_vars)
        problem = report(directory) or problem
        unsigned = "" if problem or any(unread) or not options["sign_key"] else sign(directory, options["sign_key"])
        place, *not_handed_on = (
            hand_on(directory, directory.run["upload_url"])
            if chosen.merges
            else (Place(directory.path, kept=is_kept(directory.path)),)
        )
        result = conclusion(
            directory, verdict, [problem, *unread, unsigned, *not_handed_on], options["play_hosts"], place, task_vars
        )
        key = {"schema": SCHEMA, "kind": "run", "run_id": directory.run["run_id"], "path": directory.path}
        told = {**key, "report_url": place.url, "report_kept": place.kept}
        failures = with_fleet(result["failures"], result["fleet_problems"], options["play_hosts"])
        return {**result, "changed": True, "logdisk": told, "path": directory.path, "failures": failures}

    def _merged(
        self, chosen: Choice, options: dict[str, Any], task_vars: dict[str, Any], policy: dict[str, Any]
    ) -> tuple[RunDirectory, str]:
        """Return a new merged run. Shows which runs were merged. Also returns what could not be read, because that may
        contradict the rest; empty if everything was read.

        Raises OSError and ExpectationError.
        """
        expected = self._expected(chosen, options, task_vars)
        history = {"place": options["place"], "required": True, "keep_report": options["keep_report"]}
        changes = {
            "history": history,
            "upload_url": check_url(options["upload_url"]),
            "sign_key": options["sign_key"],
            "playbooks_in": playbooks_in(),
        }
        # Runs that exist only in the history are needed during the merge.
        with tempfile.TemporaryDirectory() as aside:
            sources = RunSources(options["report_dir"], options["place"], aside)
            runs, said = chosen.found(sources)
            check_slices(
                task_vars["groups"],
                self._loader,
                (term for run in runs for term in run.run.get("unmatched_limit_terms") or []),
            )
            check_count(
                sorted({*expected.hosts, *(host for run in runs for host in run.expected_hosts)}),
                options["expected_count"],
            )
            changes["policy"] = policy_with(merged_policy(run.run.get("policy") or {} for run in runs), policy)
            merged = merge_runs(
                [run.path for run in runs], options["report_dir"], expected.hosts, expected.left_out, changes
            )
        unclaimed = merged.run["unclaimed_hosts"]
        missing = [f"In none of these runs, and therefore missing: {shown(unclaimed)}."] if unclaimed else []
        say(self._display, "\n".join([*said, *missing]))
        # If the history does not keep runs, it is not searched.
        kept_there = any((run.run.get("history") or {}).get("keep_report") for run in runs)
        return merged, " ".join(filter(None, [*sources.problems, sources.unopened if kept_there else ""]))

    def _expected(self, chosen: Choice, options: dict[str, Any], task_vars: dict[str, Any]) -> Expectation:
        """Return the hosts of the inventory that a merged run must contain. Without an inventory, the runs must be
        named."""
        if chosen.names and not set(task_vars["groups"]["all"]) - {CONTROLLER}:
            return Expectation([], [])
        return self.expectation(options, task_vars)


@dataclass(frozen=True)
class Choice:
    """The runs to render: the named ones, all runs of a workflow, or the newest run. ``merges`` says whether they are
    merged into a new run."""

    names: list[str]
    workflow: str
    artifacts: list[JobArtifact]
    merges: bool

    def found(self, sources: RunSources) -> tuple[list[RunDirectory], list[str]]:
        """Return the runs that measured something, and sentences about which runs these are and what was not found.
        Raises OSError, for example if there is no run."""
        if self.names:
            runs, whose = [find(name, sources.report_dir, sources.place) for name in self.names], ""
        else:
            runs = sources.of_workflow(self.workflow, self.artifacts)
            whose = f" of workflow job {self.workflow}" if self.workflow else " of the jobs before this one"
        measured, untested = ([run for run in runs if run.is_test is tested] for tested in (True, False))
        measured, older = (measured, []) if self.names else of_one_time(measured)
        unfound = [*left_out(untested, older, self.artifacts), *sources.problems, *filter(None, [sources.unopened])]
        if not measured:
            raise RunDirectoryError(" ".join([f"There is no run{whose} to merge in {sources.text}.", *unfound]))
        count = f"{len(measured)} run{'' if len(measured) == 1 else 's'}"
        return measured, [f"Merged {count}{whose}: {shown([described(run) for run in measured])}.", *unfound]


def choice(options: Mapping[str, Any], task_vars: Mapping[str, Any]) -> Choice:
    """Return the runs that the options and the job select. Several runs are merged. In a workflow, even a single run is
    merged, because others may be lost."""
    names = options["runs"] or []
    if options["run"]:
        return Choice([*names, options["run"]], "", [], merges=bool(names))
    workflow, artifacts = options["workflow"] or job_of(task_vars).get("workflow_job_id", ""), job_artifacts(task_vars)
    return Choice(names, workflow, [] if names else artifacts, merges=len(names) > 1 or bool(workflow or artifacts))


def single(chosen: Choice, options: Mapping[str, Any]) -> RunDirectory:
    """Return the run that is rendered again. Raises RunDirectoryError and ExpectationError."""
    report_dir = options["report_dir"]
    if not chosen.names and not os.path.lexists(latest(report_dir)):
        raise RunDirectoryError(
            f"No run is named, and there is none in {report_dir}: correct gate_report_dir, name a run that the history "
            "keeps (report_run: <run ID>), or name the paths of runs (report_runs)."
        )
    directory = (
        find(chosen.names[0], report_dir, options["place"]) if chosen.names else RunDirectory.open(latest(report_dir))
    )
    if directory.is_signed:
        raise RunDirectoryError(
            f"{directory.path} is signed, so it may not change; to render a copy of it, remove {MANIFEST} from the copy"
        )
    check_count(directory.expected_hosts, options["expected_count"])
    return directory


def judged_again(directory: RunDirectory, policy: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Judge a run again by its records, under the policy that it recorded unless another one is given, and return the
    verdict. Also return the problem if its gate never ran.

    Records may have changed since the earlier verdict. The options of earlier reports are ignored. Raises
    RunDirectoryError.
    """
    earlier = directory.verdict()
    directory.run["policy"] = policy_with(directory.run.get("policy") or {}, policy)
    verdict = judge_run(directory, earlier["asked_by"] if earlier else REPORT, earlier)
    if verdict["asked_by"] == REPORT and not directory.run.get("merged_from"):
        return (
            verdict,
            (
                "the run ended before its gate: collect and judge it with playbooks/collect.yml "
                f"{extra_variable('collect_run', directory.path)}"
            ),
        )
    return verdict, ""


def left_out(untested: list[RunDirectory], older: list[RunDirectory], artifacts: list[JobArtifact]) -> list[str]:
    """Return sentences about runs that are not merged."""
    age = f"it is more than {MOST_APART.days} days older than the newest run"
    skipped: dict[str, list[RunDirectory]] = {}
    for run in untested:
        skipped.setdefault(run.kind.why_left_out, []).append(run)
    skipped[age] = older
    sentences = [
        f"Left out, because {why}: {shown([run.run['run_id'] for run in runs])}."
        for why, runs in skipped.items()
        if runs
    ]
    return [
        *sentences,
        *(f"Job {artifact.job_id} made no run: {artifact.message}" for artifact in artifacts if not artifact.run_id),
    ]


def refusal(error: Exception, options: Mapping[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result if there is no report."""
    outcome = make_outcome(INTERNAL if isinstance(error, OSError) else USAGE, str(error))
    with contextlib.suppress(OSError):  # perhaps the cause of the failure
        write_outcome(options["report_dir"], outcome)
    return {
        "artifacts": artifacts(task_vars, DEFAULT.name, outcome),
        "failures": with_fleet({}, [str(error)], options["play_hosts"]),
    }
