# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests the storage classes of a cluster one after the other. Each is tested with a claim and a job, which are always
removed."""

from __future__ import annotations

import contextlib
import datetime
import importlib
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError

from ...module_utils._runs import TABLE_NAMES
from .._action_base import ControllerAction, failure_reason, host_result, one_line
from .._dialogue.commands import CommandResult
from .._fleet.messages import say
from .._fleet.order import make_order, table_differences
from .._judge.early_end import counted_for
from .._judge.judged_records import judged_records
from .._kinds.locks.criteria import required_of
from .._kinds.locks.english import step_title
from .._kinds.locks.record import lock_record
from .._kubernetes.cluster import SPARE_S, Cluster, ClusterError, api_failure
from .._kubernetes.manifests import (
    Claim,
    ManifestError,
    claim_size,
    job_of,
    lock_jobs_of,
    object_name,
)
from .._kubernetes.pod_log import LogError, last_complaint, read_tables
from .._kubernetes.pod_stream import stream_command
from .._kubernetes.state import CONTAINER, ENDED, FAILED, MEASURES, State, pod_names, refusal, settings_of, why_not
from .._locks.agent import Agent, AgentLostError
from .._locks.locker import Clock
from .._locks.pair_test import READY_S, Order, PairTest, Side
from .._locks.pairs import Pair
from .._locks.stage import LOG_BYTES
from .._records.host import file_error, measurement, note, profile_of, workload_facts
from .._run.columns import MQ_LOG, STREAMS
from .._run.directory import RunDirectory
from .._run.files import absolute
from .._run.findings import RETAINED, finding
from .._run.table_reader import TablesError
from .._run.tables import parse_tables
from .._run.tester_options import command_line
from .._run.verdicts import ERROR, UNREACHABLE, worst
from .._tester.sources import SourcesError, read_sources, source_hash
from .lock_test import WAIT_FACTOR, WAIT_MORE_S

STAGE = "claim"
LOCK_STEPS_S = 1800
"""How long a test of locks may take besides its loads, takeovers and the start of its pods."""
MOST_LOG_LINES = 2_000_000


class Step(ControllerAction):
    """Calls the modules of kubernetes.core on the controller. It never fails because of a storage class; the record of
    the storage class states the problem."""

    stage = STAGE

    argument_spec = {
        "run_path": {"type": "str", "required": True},
        "plan": {"type": "dict", "required": True},
        "source_dir": {"type": "path", "required": True},
        "image": {"type": "str", "required": True},
        "namespace": {"type": "str", "required": True},
        "size": {"type": "str", "default": ""},
        "access_mode": {"type": "str", "default": "ReadWriteOnce"},
        "fs_group": {"type": "str", "default": "10001"},
        "pod": {"type": "dict", "default": {}},
        "patience_s": {"type": "int", "default": 300},
        "interval_s": {"type": "float", "default": 30},
        "kubeconfig": {"type": "str", "default": ""},
        "context": {"type": "str", "default": ""},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        host, directory = task_vars["inventory_hostname"], RunDirectory.open(options["run_path"])
        self._options, self._task_vars = options, task_vars
        self._kubeconfig = absolute(options["kubeconfig"]) if options["kubeconfig"] else ""
        self._cluster = Cluster(self._call, options["patience_s"], options["interval_s"])
        try:
            self._source_hash = source_hash(read_sources(options["source_dir"]))
        except SourcesError as error:
            raise AnsibleActionFail(str(error)) from error
        volumes, locks = options["plan"]["volumes"], options["plan"].get("of_other_kinds") or []
        for number, volume in enumerate(volumes, start=1):
            self._test(directory, host, number, volume)
        for number, (volume, own) in enumerate(zip(volumes, locks, strict=False), start=len(volumes) + 1):
            self._test_locks(directory, host, number, volume, own["name"])
        verdicts = {record.volume: record.verdict for record in judged_records(directory) if record.host == host}
        key = host_result(
            directory.run["run_id"], directory.kind.name, host, worst(verdicts.values()), volumes=verdicts
        )
        return {"changed": True, "logdisk": key}

    def _test(self, directory: RunDirectory, host: str, number: int, volume: Mapping[str, Any]) -> None:
        """Test a storage class and write its record."""
        facts: dict[str, Any] = {
            "storage_class": volume["name"],
            "image": self._options["image"],
            **workload_facts(dict(volume)),
        }
        told = told_of(directory, host, volume)
        claim = self._claim(directory, host, number, volume, command_line(told))
        with self._removed(directory, host, volume["name"], claim, facts):
            refuse_what_claims_cannot(volume)
            facts.update(self._cluster.storage_class(volume["name"]))
            self._measured(directory, host, volume, claim, told, facts)

    @contextlib.contextmanager
    def _removed(
        self, directory: RunDirectory, host: str, name: str, claim: Claim, facts: Mapping[str, Any]
    ) -> Iterator[None]:
        """Remove the objects of a test when it is over. If it has no result, write a record with the reason."""
        self._may_exist = False
        try:
            yield
        except (ClusterError, ManifestError) as error:
            verdict = UNREACHABLE if getattr(error, "unreachable", False) else ERROR
            file_error(directory, host, name, STAGE, one_line(str(error)), dict(facts), verdict)
        finally:
            left = self._cluster.remove(claim) if self._may_exist else []
            if left:
                directory.records.note_leftovers(host, name, left)
                self._display.warning(f"{host}: {name}: left behind: {'; '.join(left)}")
            if self._may_exist and facts.get("storage_reclaim_policy") == "Retain":
                note(directory, host, name, [finding(RETAINED, None)])

    def _test_locks(
        self, directory: RunDirectory, host: str, number: int, volume: Mapping[str, Any], name: str
    ) -> None:
        """Test the locks of a storage class with two pods, and write its second record, which has this name."""
        measured = directory.records.find(host, volume["name"])
        facts = dict(measured.facts) if measured else {}
        required = required_of(profile_of(directory.run, host))
        wait_s = required["takeover_s"] * WAIT_FACTOR + WAIT_MORE_S
        longest_s = int(4 * self._options["patience_s"] + 2 * required["load_s"] + 4 * wait_s + LOCK_STEPS_S)
        order = Order(
            directory.run["run_id"], volume["path"], required["load_s"], wait_s, max(1, required["lock_count"]), 0
        )
        command = (
            "--lock",
            f"--runId={order.run_id}",
            f"--dir={volume['path']}/logdisk-{order.run_id}",
            "--createDirs",
            f"--deadline={longest_s}",
        )
        planned = {**volume, "footprint_bytes": LOG_BYTES, "deadline_s": longest_s}
        claim = self._claim(directory, host, number, planned, command)
        with self._removed(directory, host, name, claim, facts):
            if not measured or not measured.tables:
                raise ClusterError(f"the locks were not tested, because {volume['name']} could not be measured")
            jobs = self._pods(host, claim)
            facts["kubernetes_node"] = " and ".join(state.node or "no node" for _job, state in jobs)
            problem = why_not([state for _job, state in jobs])
            pods = pod_names(host)
            sides = {
                pod: Side(pod, problem=problem)
                if problem
                else self._side(pod, job, state.node, ("/logdisk", *command), order, facts)
                for pod, (job, state) in zip(pods, jobs, strict=True)
            }
            test = PairTest(Pair(*pods, pods[0], "pair1"), sides, order, Clock(), self._tell, self._follow)
            workspace = {"path": volume["path"], "queue_managers": []}
            directory.records.write(lock_record(directory.run, host, name, facts, workspace, {"pairs": [test.run()]}))

    def _pods(self, host: str, claim: Claim) -> list[tuple[Claim, State]]:
        """Start the two pods of a test of locks, and return the state of each with its job. Raises ClusterError and
        ManifestError."""
        jobs = lock_jobs_of(claim)
        found: list[tuple[Claim, State]] = []
        self._may_exist = True
        for job, definition in jobs:
            if found:
                self._call("k8s", "create the job", state="present", definition=definition)
            else:
                self._cluster.create(definition, claim)
                self._tell(
                    f"{host}: testing the locks of storage class {claim.storage_class} with the jobs {jobs[0][0].name} "
                    f"and {jobs[1][0].name} in namespace {claim.namespace}"
                )
            found.append((job, self._cluster.wait(job, (MEASURES, ENDED, FAILED))))
            if found[0][1].name == FAILED:
                raise ClusterError(found[0][1].reason)
        return found

    def _side(
        self, pod: str, job: Claim, node: str, command: Sequence[str], order: Order, facts: Mapping[str, Any]
    ) -> Side:
        """Return a pod as one side of a pair, with the settings that its tester reports."""
        place = (self._kubeconfig, self._options["context"])
        stream = stream_command(collections_root(), place, job.namespace, job.name, CONTAINER, command)
        agent = Agent(pod, stream, order.run_id)
        try:
            ready = agent.ready(READY_S)
        except AgentLostError as error:
            return Side(pod, problem=f"its tester cannot be started: {error}")
        finally:
            agent.end()
        if ready is None:
            return Side(pod, problem="its tester did not start in time")
        settings = settings_of(ready, node, job.storage_class, facts)
        wait_s = float(self._options["patience_s"])
        return Side(pod, settings, stream, wait_s=wait_s, delete=lambda: self._delete_pod(job))

    def _delete_pod(self, job: Claim) -> CommandResult:
        begin, problem = time.monotonic(), ""
        self._tell(f"deleting the pod of the job {job.name} by force")
        try:
            self._cluster.delete_pod(job)
        except ClusterError as error:
            problem = str(error)
        return CommandResult(None if problem else 0, "", problem, time.monotonic() - begin)

    def _tell(self, sentence: str) -> None:
        say(self._display, sentence)

    def _follow(self, step: str, holder: str) -> None:
        if self._display.verbosity:
            self._tell(f"{step_title(step)}, with {holder} as the holder")

    def _claim(
        self, directory: RunDirectory, host: str, number: int, volume: Mapping[str, Any], arguments: Sequence[str]
    ) -> Claim:
        options, run_id = self._options, directory.run["run_id"]
        return Claim(
            name=object_name(run_id, host, number),
            run_id=run_id,
            namespace=options["namespace"],
            storage_class=volume["name"],
            path=volume["path"],
            size=options["size"] or claim_size(volume["footprint_bytes"]),
            access_mode=options["access_mode"],
            image=options["image"],
            arguments=arguments,
            fs_group=options["fs_group"],
            pod=options["pod"],
            longest_s=int(options["patience_s"] + volume["deadline_s"] + SPARE_S),
        )

    def _measured(
        self,
        directory: RunDirectory,
        host: str,
        volume: Mapping[str, Any],
        claim: Claim,
        told: dict[str, Any],
        facts: dict[str, Any],
    ) -> None:
        """Measure a storage class with the options of the tester, and write its record. Raises ClusterError."""
        now = time.time()
        known = {**facts, "hostname": claim.name}
        order = make_order(
            claim.run_id,
            host,
            volume["name"],
            known,
            self._source_hash,
            told,
            directories_of(volume),
            now,
            now + claim.longest_s,
        )
        workspace = {
            "path": volume["path"],
            "queue_managers": volume["queue_managers"],
            "directories": order["directories"],
            "unknown": [],
        }
        directory.orders.write({**order, "facts": known, "workspace": workspace})
        self._may_exist = True
        self._cluster.create(job_of(claim), claim)
        say(
            self._display,
            f"{host}: testing storage class {claim.storage_class} with job {claim.name} in namespace {claim.namespace}",
        )
        state = self._cluster.wait(claim)
        if state.name == FAILED:
            raise ClusterError(state.reason)
        found = {"name": state.pod, "container": CONTAINER, "namespace": claim.namespace, "tail_lines": MOST_LOG_LINES}
        log = str(self._call("k8s_log", "read the log of the pod", **found).get("log", ""))
        tables = tables_of(log, claim, order)
        known.update(kubernetes_node=state.node, kubernetes_pod=state.pod)
        directory.records.write(
            measurement(directory.run, host, volume["name"], known, workspace, tables, datetime.date.today()), tables
        )

    def _call(self, module: str, what: str, **arguments: Any) -> dict[str, Any]:
        """Run a module of kubernetes.core, and return its result. Raises ClusterError if it failed."""
        given = {"kubeconfig": self._kubeconfig, "context": self._options["context"]}
        try:
            answer = self._execute_module(
                module_name=f"kubernetes.core.{module}",
                module_args={**{key: value for key, value in given.items() if value}, **arguments},
                task_vars=self._task_vars,
            )
        except AnsibleError as error:
            raise api_failure(what, str(error)) from error
        if answer.get("failed"):
            raise api_failure(what, failure_text(answer))
        return answer


def collections_root() -> str:
    """Return the directory that contains the collection kubernetes.core, which has already been used."""
    found = importlib.import_module("ansible_collections.kubernetes.core").__path__[0]
    return str(Path(found).parents[2])


def failure_text(answer: Mapping[str, Any]) -> str:
    """Return the message of a failed module. Since ansible-core 2.19 a message with a traceback is in a separate
    object."""
    event = getattr(answer.get("exception"), "event", None)
    said = [answer.get("msg"), getattr(event, "msg", "")]
    return " ".join(str(each) for each in said if each) or failure_reason(dict(answer))


def told_of(directory: RunDirectory, host: str, volume: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tester's options for a storage class. They are used to start its job, and are recorded in
    the order of this job."""
    return {
        **volume["tester_options"],
        **counted_for(profile_of(directory.run, host)),
        "deadline": int(volume["deadline_s"]),
        "runId": directory.run["run_id"],
        "dir": ",".join(directories_of(volume)),
        "createDirs": True,
        "tables": "-",
    }


def directories_of(volume: Mapping[str, Any]) -> list[str]:
    """Return the directories on the volume, one for each queue manager that writes."""
    names = volume["queue_managers"]
    return [
        f"{volume['path']}/{name}"
        for name in (names[: max(volume["load_points"])] if volume["workload"] == MQ_LOG else names)
    ]


def refuse_what_claims_cannot(volume: Mapping[str, Any]) -> None:
    """Raise ClusterError if a plan needs something that is possible only on hosts."""
    if volume["workload"] == STREAMS:
        raise ClusterError("storage classes are tested with sweep_workload mq-log or commit: set one of them")
    if volume.get("search"):
        raise ClusterError("sweep_loads: auto needs hosts: name load points for a storage class")


def tables_of(log: str, claim: Claim, order: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the tables from the log of a pod, if they match the order. Raises ClusterError."""
    try:
        tables = read_tables(log, TABLE_NAMES)
    except LogError as error:
        said = last_complaint(log)
        if said and "|= " not in log:
            raise ClusterError(refusal(said, claim.size)) from error
        raise ClusterError(f"the tables cannot be taken from the log of the pod: {error}") from error
    differences: Sequence[str] = ()
    with contextlib.suppress(TablesError):  # the record will report that these tables cannot be read
        differences = table_differences(dict(order), parse_tables(tables))
    if any(each.startswith("hash of the tester's sources") for each in differences):
        raise ClusterError(
            f"the image {claim.image} does not contain the tester of this collection: rebuild it with make image, "
            "push it, and correct claim_image"
        )
    if differences:
        raise ClusterError(f"the tables do not match the order: {'; '.join(differences)}")
    return tables
