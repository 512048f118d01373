# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes the host check its files, determines the result of the cut, and writes the record with all cuts so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils._action_base import RemoteAction, failure, host_result, one_line
from ..plugin_utils._cut_action import command_of, files_of, read_rows, returned_of, witnessed_of
from ..plugin_utils._durability import witness
from ..plugin_utils._durability.cut import CHECK_KEPT, CHECK_LOST, Checked, Cut, cut_of, why_no_cut, why_other_volume
from ..plugin_utils._durability.protocol import acknowledged_text
from ..plugin_utils._fleet.progress import say
from ..plugin_utils._judge.durability import STAGE
from ..plugin_utils._kinds.power_cut.criteria import blind_limit_ns
from ..plugin_utils._kinds.power_cut.record import cut_record
from ..plugin_utils._records.host import WORKSPACE_KEYS, profile_of
from ..plugin_utils._run.directory import RunDirectory
from ..plugin_utils._run.files import unpack
from ..plugin_utils._run.run_files import RunDirectoryError
from ..plugin_utils._run.shapes import as_dict
from ..plugin_utils._run.tester_options import command_line

OF_CONTROLLER = ("run_path", "plan", "workspace", "facts", "started", "command", "returned", "problem")
"""The options that are not sent to the host."""
OF_FILES = ("qm", "filePrefix")
"""The arguments that tell the tester where its files are."""


class ActionModule(RemoteAction):
    """Calls ``cut_check`` on the host if it is back. It never fails because of the host."""

    module_name = "mqops.logdisk.cut_check"
    stage = STAGE

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        self._own = {name: arguments.pop(name, None) or {} for name in OF_CONTROLLER}
        host, started, returned = task_vars["inventory_hostname"], self._own["started"], self._own["returned"]
        self._directory = RunDirectory.open(self._own["run_path"])
        (self._volume,), (layout,) = self._own["plan"]["volumes"], self._own["workspace"]["volumes"]
        self._files = files_of(self._directory, host, self._volume["name"], int(started["number"]))
        # If the user's tasks cut the power instead of a command, these tasks end before the wait for the host begins.
        self._command = command_of(
            {"ended_ns": returned.get("begun_ns"), **self._own["command"]}, str(self._own["problem"] or "")
        )
        self._witnessed = witnessed_of(witness.look(self._files), self._command, returned.get("broken") is True)
        self._returned = returned_of(started["before"], returned)
        is_cut = not why_no_cut(self._command, self._witnessed, self._returned)
        self._is_elsewhere = bool(
            started["before"] and self._returned.after and why_other_volume(started["before"], self._returned.after)
        )
        return {
            **arguments,
            "volume": self._volume["name"],
            "directories": layout["given"],
            "arguments": command_line({name: self._volume["tester_options"][name] for name in OF_FILES}),
            "acknowledged": acknowledged_text(self._witnessed.seen) if is_cut else "",
        }

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if self._returned.after is None:
            return {
                "left": [
                    f"the files of the test on {task_vars['inventory_hostname']}: remove them with "
                    "playbooks/cleanup.yml when the host is back"
                ]
            }
        answer = super().call(arguments, task_vars)
        if answer.get("failed"):
            reason = answer["logdisk"]["reason"]
            return {"problem": reason, "left": [f"the files of the test: {reason}"]}
        if self._is_elsewhere and not answer.get("left"):
            return {
                **answer,
                "left": [
                    "the files of the test, whose file system is not mounted: remove them with "
                    "playbooks/cleanup.yml when it is mounted"
                ],
            }
        return answer

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        host, number = task_vars["inventory_hostname"], int(self._own["started"]["number"])
        tables, checked = taken(answer)
        section = profile_of(self._directory.run, host).sections.get(self._directory.kind.profile_key)
        cut = cut_of(number, self._command, self._witnessed, self._returned, checked, blind_limit_ns(section))
        left = [one_line(str(item)) for item in answer.get("left") or []]
        try:
            verdict = self._file(host, number, cut, tables)
            if left:
                self._directory.records.note_leftovers(host, self._volume["name"], left)
        except RunDirectoryError as error:
            return failure(self.stage, "error", str(error))
        self._files.remove()
        say(self._display, f"{host}: cut {number} of {self._own['plan']['cuts']['count']}: {cut.outcome}: {cut.reason}")
        key = host_result(self._directory.run["run_id"], self._directory.kind.name, host, verdict)
        is_back = self._returned.after is not None and not left
        return {
            "changed": True,
            "outcome": cut.outcome,
            "reason": cut.reason,
            "left": left,
            "is_back": is_back,
            "logdisk": key,
        }

    def _file(self, host: str, number: int, cut: Cut, tables: Mapping[str, bytes]) -> str | None:
        """Write the record with all cuts so far, and return its verdict. Raises RunDirectoryError."""
        (layout,) = self._own["workspace"]["volumes"]
        plan, volume = self._own["plan"]["cuts"], self._volume["name"]
        facts = {**as_dict(self._own["facts"]), **layout["facts"], "block_size_bytes": plan["bsize"]}
        earlier = self._directory.records.find(host, volume) if number > 1 else None
        cuts = list((earlier.kind_data or {}).get("cuts") or []) if earlier else []
        files = self._directory.records.tables(earlier) if earlier else {}
        files = {**files, **{f"{name.removesuffix('.csv')}_{number}.csv": content for name, content in tables.items()}}
        durability = {"cut_count": plan["count"], "cuts": [*cuts, cut.as_dict()], "tests": plan["tests"]}
        workspace = {key: layout.get(key) for key in WORKSPACE_KEYS}
        record = cut_record(self._directory.run, host, volume, facts, workspace, files, durability)
        record.leftovers = earlier.leftovers if earlier else []
        self._directory.records.write(record, files)
        return record.verdict


def taken(answer: Mapping[str, Any]) -> tuple[dict[str, bytes], Checked]:
    """Return the tables that a host sent, and the result of its check. Both are untrusted."""
    if answer.get("problem") or "status" not in answer:
        return {}, Checked(problem=str(answer.get("problem") or ""))
    status, said = answer.get("status"), one_line(str(answer.get("said") or ""))[:500]
    packed = as_dict(answer.get("tables"))
    try:
        tables = {name: unpack(name, packed[name]) for name in ("run.csv", "durability.csv") if name in packed}
        rows = read_rows(tables["durability.csv"]) if "durability.csv" in tables else []
    except ValueError as error:
        return {}, Checked(problem=str(error))
    if status not in (CHECK_KEPT, CHECK_LOST):
        return tables, Checked(status if isinstance(status, int) else None, rows, said)
    return tables, Checked(status, rows)
