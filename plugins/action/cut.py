# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Cuts the power of a host as often as its plan says, and writes the record with all cuts so far after each cut. A
preflight writes the record of a host whose power could be cut."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from functools import partial
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError

from ..module_utils import _units
from ..plugin_utils._action_base import RemoteAction, as_dict, failure, host_result, one_line
from ..plugin_utils._dialogue.commands import CommandResult, call
from ..plugin_utils._dialogue.guard import guard_command
from ..plugin_utils._durability.cut import Cut, Returned, Witnessed, cut_of, why_no_cut, why_other_volume
from ..plugin_utils._durability.power_cut import Host, PowerCut
from ..plugin_utils._durability.protocol import acknowledged_text, read_check
from ..plugin_utils._fleet.messages import say
from ..plugin_utils._judge.durability import STAGE
from ..plugin_utils._kinds.power_cut.criteria import blind_limit_ns
from ..plugin_utils._kinds.power_cut.record import cut_record
from ..plugin_utils._own_connection import stream_command, tester_command
from ..plugin_utils._records.host import WORKSPACE_KEYS, profile_of, ready
from ..plugin_utils._run.directory import RunDirectory
from ..plugin_utils._run.files import write_file
from ..plugin_utils._run.findings import PREFLIGHT, finding
from ..plugin_utils._run.run_files import RunDirectoryError
from ..plugin_utils._run.tester_options import command_line

KEEP_ALIVE = "-o ServerAliveInterval=5 -o ServerAliveCountMax=6"
"""Prevents calls from hanging if the host loses power."""
COMMAND_S = 120
"""The longest time that the command which cuts the power may take."""
OF_FILES = ("qm", "filePrefix")
"""The arguments that tell the tester where its files are."""
REMOVE = "remove them with playbooks/cleanup.yml"


class ActionModule(RemoteAction):
    """Calls ``cut`` on the host several times for each cut. It fails because of the host only if the first start
    fails."""

    module_name = "mqops.logdisk.cut"
    stage = STAGE

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        self._directory = RunDirectory.open(arguments.pop("run_path"))
        self._plan, self._tester, self._workspace = (arguments.pop(name) for name in ("plan", "tester", "workspace"))
        self._source_dir, self._is_tester_lost = arguments.pop("source_dir", None), False
        (self._volume,), (self._layout,) = self._plan["volumes"], self._workspace["volumes"]
        self._host, self._task_vars, self._parent_pid = task_vars["inventory_hostname"], task_vars, os.getppid()
        if not self._task.check_mode:
            stream_command(self._connection, [])  # first refuse connections that a tester cannot use
        if self._connection.transport == "ssh":
            given = self._connection.get_option("ssh_extra_args") or ""
            self._connection.set_option("ssh_extra_args", f"{given} {KEEP_ALIVE}".strip())
        self._arguments = {
            **arguments,
            "volume": self._volume["name"],
            "path": self._layout["path"],
            "marked": [*self._layout["run_directories"], *self._layout["paths"]],
            "tester_path": self._tester["path"],
            "directories": self._layout["given"],
            "arguments": command_line({name: self._volume["tester_options"][name] for name in OF_FILES}),
        }
        return {**self._arguments, "do": "start"}

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        count = self._plan["cuts"]["count"]
        if self._task.check_mode:
            return self._take_in_preflight(answer)
        self._say(announcement(self._host, self._plan))
        cuts: list[Cut] = []
        try:
            while True:
                cut, verdict, is_back = self._cut(len(cuts) + 1, answer)
                cuts.append(cut)
                # A host that did not come back is not cut again.
                if len(cuts) == count or not is_back or self._is_abandoned():
                    break
                answer = self._ask("start")
        except RunDirectoryError as error:
            return failure(self.stage, "error", str(error))
        key = host_result(self._directory.run["run_id"], self._directory.kind.name, self._host, verdict)
        return {"changed": True, "outcomes": [cut.outcome for cut in cuts], "logdisk": key}

    def _take_in_preflight(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        sentence = ready_sentence(self._host, self._plan, as_dict(answer.get("volume_facts")))
        facts, found = {**self._tester["facts"], **self._layout["facts"]}, finding(PREFLIGHT, None, text=sentence)
        self._directory.records.write(ready(self._directory.run, self._host, self._volume["name"], facts, found))
        self._say(sentence)
        return {"changed": True}

    def _cut(self, number: int, begun: Mapping[str, Any]) -> tuple[Cut, str | None, bool]:
        """Cut the power once, and write the record. ``begun`` is the host's answer to the step ``start``. Returns the
        cut, the verdict of the record, and whether the power can be cut again. Raises RunDirectoryError."""
        cuts, host = self._plan["cuts"], self._prepared(number, begun)
        command, witnessed, returned = PowerCut(host, self._say, self._is_abandoned).run()
        if self._is_abandoned() and not command.done:
            raise AnsibleActionFail(command.problem)
        answer = self._check(command, witnessed, returned)
        tables, checked = read_check(answer)
        section = profile_of(self._directory.run, self._host).sections.get(self._directory.kind.profile_key)
        cut = cut_of(number, command, witnessed, returned, checked, blind_limit_ns(section))
        verdict = self._file(cut, tables, acknowledged_text(witnessed.seen))
        left = [one_line(str(item)) for item in answer.get("left") or []]
        if left:
            self._directory.records.note_leftovers(self._host, self._volume["name"], left)
        self._say(f"cut {number} of {cuts['count']}: {cut.outcome}: {cut.reason}")
        return cut, verdict, returned.after is not None and not left

    def _prepared(self, number: int, begun: Mapping[str, Any]) -> Host:
        """Return what the cut needs of the host. A failure after the first cut becomes the result of the next one, so
        that the record keeps the earlier ones."""
        cuts, seed, run_id = self._plan["cuts"], secrets.randbits(63), self._arguments["run_id"]
        times = {key: cuts[key] for key in ("ready_s", "after_s", "wait_s")}
        host = partial(
            Host, as_dict(begun.get("volume_facts")), partial(self._call_command, number), self._look, **times
        )
        if begun.get("failed"):
            return host(problem=begun["logdisk"]["reason"])
        tester = [
            self._tester["path"],
            *command_line(self._volume["tester_options"]),
            "--acknowledge",
            f"--seed={seed}",
            f"--runId={run_id}",
            f"--dir={','.join(self._layout['given'])}",
            f"--tables={begun['tables_path']}",
            f"--deadline={cuts['deadline_s']}",
            *(["--shareDevice"] if self._workspace.get("share_device") else []),
        ]
        guard = guard_command(str(begun["interpreter"]), self._arguments["mqs_ini"])
        try:
            stream = stream_command(self._connection, tester_command(begun, run_id, tester))
            guard_stream = stream_command(self._connection, guard)
        except AnsibleActionFail as error:
            return host(problem=str(error))
        asked = {"run_id": run_id, "seed": seed, "bsize": cuts["bsize"], "qm": cuts["qm"]}
        return host(stream=stream, guard=guard_stream, asked=asked)

    def _call_command(self, number: int) -> CommandResult:
        self._say(f"cutting the power (cut {number})")
        return call(self._plan["cuts"]["command"], COMMAND_S)

    def _look(self) -> tuple[Mapping[str, Any] | None, str]:
        """Return the facts of a host that answers. Its tester may have been lost, because it can be on a file system in
        memory."""
        answer = self._ask("look", is_new=True)
        if answer.get("failed"):
            return None, answer["logdisk"]["reason"]
        facts = as_dict(answer.get("volume_facts"))
        self._is_tester_lost = answer.get("tester_is_there") is not True
        return facts or None, "" if facts else "the host does not report its file system"

    def _ask(self, step: str, is_new: bool = False, **more: Any) -> dict[str, Any]:
        """Return the host's answer to a step. If the step failed, the answer has the key ``logdisk`` with the reason.
        If ``is_new``, a new connection is used, because the previous one may have died with the host without being
        noticed."""
        try:
            if is_new and self._connection.transport != "local":
                self._connection.reset()
            self.cleanup()  # the temporary directory of the last call may no longer exist
            return self.call({**self._arguments, "do": step, **more}, self._task_vars)
        except AnsibleError as error:
            return failure(self.stage, "error", one_line(str(error)))

    def _check(self, command: CommandResult, witnessed: Witnessed, returned: Returned) -> dict[str, Any]:
        """Return the host's answer after it has checked and removed its files, with the items that are ``left`` and a
        ``problem`` if there is one."""
        if returned.after is None:
            return {"left": [f"the files of the test on {self._host}: {REMOVE} when the host is back"]}
        problem = self._install_again() if self._is_tester_lost else ""
        if problem:
            return {"problem": problem, "left": [f"the files of the test: {problem}"]}
        is_cut = not why_no_cut(command, witnessed, returned)
        answer = self._ask("check", acknowledged=acknowledged_text(witnessed.seen) if is_cut else "")
        if answer.get("failed"):
            reason = answer["logdisk"]["reason"]
            return {"problem": reason, "left": [f"the files of the test: {reason}"]}
        if returned.before and why_other_volume(returned.before, returned.after) and not answer.get("left"):
            unmounted = f"the files of the test, whose file system is not mounted: {REMOVE} when it is mounted"
            return {**answer, "left": [unmounted]}
        return answer

    def _install_again(self) -> str:
        """Install the tester again. Returns the reason if this failed; otherwise empty."""
        arguments = {"options": self._plan["tester"], "source_dir": self._source_dir}
        found = self.result_of("probe", arguments, self._task_vars)
        if not found.get("failed") and found["tester"]["installed"]:
            return ""
        reason = as_dict(found.get("logdisk")).get("reason") or "it cannot be built on this host"
        return f"the tester was lost, and could not be installed again: {reason}"

    def _file(self, cut: Cut, tables: Mapping[str, bytes], acknowledged: str) -> str | None:
        """Write the record with all cuts so far, and return its verdict. Raises RunDirectoryError."""
        plan, volume, records = self._plan["cuts"], self._volume["name"], self._directory.records
        facts = {**self._tester["facts"], **self._layout["facts"], "block_size_bytes": plan["bsize"]}
        earlier = records.find(self._host, volume) if cut.number > 1 else None
        cuts = list((earlier.kind_data or {}).get("cuts") or []) if earlier else []
        files = records.tables(earlier) if earlier else {}
        named = {f"{name.removesuffix('.csv')}_{cut.number}.csv": content for name, content in tables.items()}
        durability = {"cut_count": plan["count"], "cuts": [*cuts, cut.as_dict()], "tests": plan["tests"]}
        workspace = {key: self._layout.get(key) for key in WORKSPACE_KEYS}
        files = {**files, **named}
        record = cut_record(self._directory.run, self._host, volume, facts, workspace, files, durability)
        record.leftovers = earlier.leftovers if earlier else []
        records.write(record, files)
        if acknowledged:
            path = os.path.join(self._directory.folder_of(self._host, volume), f"acknowledged-{cut.number}.txt")
            try:
                write_file(path, acknowledged.encode("ascii"))
            except OSError as error:
                raise RunDirectoryError(f"the acknowledgements cannot be written: {error}") from error
        return record.verdict

    def _say(self, text: str) -> None:
        say(self._display, f"{self._host}: {text}")

    def _is_abandoned(self) -> bool:
        """Whether Ansible has ended without this process."""
        return os.getppid() != self._parent_pid


def announcement(host: str, plan: Mapping[str, Any]) -> str:
    """Return a description of what will be done to a host, and of what this tests."""
    cuts = plan["cuts"]
    times = "once" if cuts["count"] == 1 else f"{cuts['count']} times"
    return (
        f"the power of {host} is cut {times}, each time after {cuts['after_s']:g} s of writing, by: {cuts['command']}. "
        f"{cuts['tests']}"
    )


def ready_sentence(host: str, plan: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    (volume,) = plan["volumes"]
    size = _units.format_size(volume["footprint_bytes"])
    return (
        f"ready: {announcement(host, plan)} The files have {size} on {before.get('mount_point')} "
        f"({before.get('filesystem_type')})."
    )
