# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The base classes of the action plugins and of their steps: one for what works only on the controller, one for what
calls a module on a host, and one for action plugins that only select a step."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ._fleet import messages, progress
from ._fleet.expectation import LOCALHOST_LEFT_OUT, Expectation, expectation
from ._fleet.follow_up import playbooks_in
from ._fleet.outcome import USAGE, artifacts, make_outcome, write_outcome
from ._run.answers import is_empty, read_list
from ._run.environment import as_started, report_directory
from ._run.kinds import CHECK_MODE, DEFAULT
from ._run.run_files import RunDirectoryError
from ._run.shapes import as_dict
from ._run.tester_options import OptionError
from ._steps import step_named

SCHEMA = 1
"""Schema number of the ``logdisk`` key in the results of this collection's actions."""

RESERVED = frozenset(("logdisk", "ansible_facts", "ansible_stats", "add_host", "add_group", "skipped", "unreachable"))
"""Keys of a result that only the controller may set. The callback, inventory, variables and artifacts depend on
them."""

SENTENCES = ("failures", "fleet_problems", "problems")
"""Keys of a result that contain sentences. Ansible prints them when it fails hosts."""

UNASKED_PRIVILEGE = (
    "only workspace_owner may make this task run as a user other than the connecting one, but ansible_become would: "
    "remove it from the extra variables, or set workspace_owner to that user (root is allowed)"
)
"""The reason for refusing a task that would become another user although no owner is set. Only extra variables can
cause this, because they override the settings of the roles."""

NO_USER = (
    "workspace_owner: there is no user {user} on this host: create it, or set workspace_owner to another one, or to an "
    "empty text for the connecting user"
)

UNUSABLE = (RunDirectoryError, OptionError)
"""The errors of a run directory or an option that fail a host like AnsibleActionFail."""

_NO_PYTHON = (
    "Ansible found no Python that works on this host: set ansible_python_interpreter for it to the path of one, or, if "
    'the host is the controller, to "{{ ansible_playbook_python }}"'
)
HINTS = {
    "pyenv: ": _NO_PYTHON,  # pyenv's command exists, but no version of Python is selected for it
    "The module interpreter ": _NO_PYTHON,
    "you probably need to set the interpreter": _NO_PYTHON,
    "you must have a tty to run sudo": "sudo requires a terminal on this host (requiretty in sudoers): set "
    "ansible_pipelining: false for this host, so that Ansible provides one, or "
    "exempt the connecting user with 'Defaults:USER !requiretty'",
}
"""Advice for failures whose message does not give any, by a part of the message."""


def failure(stage: str, verdict: str, reason: str) -> dict[str, Any]:
    """Return a failed result. Its ``logdisk`` key contains the stage, the verdict on the host, and the reason."""
    key = {"schema": SCHEMA, "kind": "error", "stage": stage, "verdict": verdict, "reason": reason}
    return {
        "failed": True,
        "msg": f"{verdict}: the summary and the report say why" if reasons_in_summary() else reason,
        "logdisk": key,
    }


def host_result(run_id: str, kind: str, host: str, verdict: str | None, **more: Any) -> dict[str, Any]:
    """Return the ``logdisk`` key of a task that stored the results of a host: the verdict, and ``more`` about them."""
    return {"schema": SCHEMA, "kind": kind, "host": host, "verdict": verdict, **more, "run_id": run_id}


def reasons_in_summary() -> bool:
    """Whether the summary gives the reasons of failures, so that the failed tasks need not. With -v, the tasks give
    them as well."""
    return progress.reasons_follow and not Display().verbosity


class ControllerAction(ActionBase):
    """Base class that validates the task's options. Subclasses do the work. Nothing is sent to a host."""

    argument_spec: ClassVar[dict[str, Any]] = {}

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        self._task.args = dict(self._arguments())
        dummy, options = self.validate_argument_spec(argument_spec=self.argument_spec)
        answer = self.answer(options, task_vars or {})
        # Passes data to the workflow that this job belongs to, as set_stats does.
        told = {"ansible_stats": {"data": answer.get("artifacts"), "per_host": False, "aggregate": True}}
        return {
            **result,
            "changed": False,
            **answer,
            **(told if answer.get("artifacts") else {}),
            **{key: _as_started(answer[key]) for key in SENTENCES if key in answer},
        }

    def _arguments(self) -> Iterator[tuple[str, Any]]:
        """Return the task's arguments. They may be answers of a survey, so an empty argument counts as not given, and a
        list may be given as a string."""
        for name, value in self._task.args.items():
            spec = self.argument_spec.get(name, {})
            if not is_empty(value) or spec.get("required"):
                yield name, read_list(value) if spec.get("type") == "list" else value

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the task's result. If ``changed`` is missing, nothing was changed."""
        raise NotImplementedError

    def refusal(self, problem: str, report_dir: str, task_vars: Mapping[str, Any], command: str = "") -> dict[str, Any]:
        """Return the result of a task that refuses a run, or a ``command`` that is not a run. The role fails later.

        The ``outcome.json`` of a run is written to the report directory if possible.
        """
        content = make_outcome(USAGE, problem)
        if not command:
            with contextlib.suppress(OSError):  # perhaps the cause of the failure
                write_outcome(report_directory(report_dir), content)
        told = {
            "outcome": content,
            "artifacts": artifacts(
                task_vars, command or (CHECK_MODE if self._task.check_mode else DEFAULT).name, content
            ),
        }
        return {
            "problems": ["the summary says why"] if reasons_in_summary() else [problem],
            **told,
            "logdisk": {"schema": SCHEMA, "kind": "refused", "command": command, "reason": problem},
        }

    def expectation(self, options: dict[str, Any], task_vars: dict[str, Any], sliced: bool = False) -> Expectation:
        """Return the hosts that the option ``hosts`` and the limit select, and say if localhost is not among them
        although it is in the inventory. Raises ExpectationError."""
        found = expectation(task_vars["groups"], self._loader, options["hosts"], task_vars.get("ansible_limit"), sliced)
        if found.localhost_left_out:
            messages.say(self._display, LOCALHOST_LEFT_OUT)
        return found


def _as_started(sentences: Any) -> Any:
    """Return sentences (a list, or lists by host) in which playbooks are named as in this command."""
    if isinstance(sentences, str):
        return as_started(sentences, playbooks_in())
    return (
        {host: _as_started(each) for host, each in sentences.items()}
        if isinstance(sentences, dict)
        else [_as_started(each) for each in sentences]
    )


class StepAction(ActionBase):
    """Base class of an action that does one of several steps, which its argument ``name`` selects. All other arguments
    are those of the step, which validates them."""

    names: ClassVar[tuple[str, ...]] = ()
    """The names of the steps."""

    telling: ClassVar[tuple[str, ...]] = ()
    """The steps whose results the callback needs. Hosts cannot influence these results."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        arguments = dict(self._task.args)
        name = arguments.pop("name", None)
        if name not in self.names:
            raise AnsibleActionFail(f"name is {name!r}, but must be one of {', '.join(self.names)}")
        step, task = step_named(name), self._task.copy()  # callbacks see the name among the arguments of the task
        task.args = self.arguments(step, arguments)
        parts = (self._connection, self._play_context, self._loader, self._templar, self._shared_loader_obj)
        result = step(task, *parts).run(tmp, task_vars)
        if name in self.telling and isinstance(result.get("logdisk"), dict):
            messages.tell(result["logdisk"])
        return result

    def arguments(self, step: Any, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a step, derived from those of the task."""
        return given


class RemoteAction(ActionBase):
    """Base class that calls a module. Subclasses prepare the arguments and process the result.

    If a connection fails, Ansible normally drops the host: no ``rescue`` runs for it, and its result has no ``logdisk``
    key. Here, this becomes an ordinary failure with the verdict ``unreachable``, so that a single ``rescue`` handles
    all failures of hosts.
    """

    module_name = ""
    """Full name of the module."""

    stage = ""
    """The stage of the run to which this action belongs. If the action fails, the record of the host contains it."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        variables = task_vars or {}
        self._task.args = self.as_single_values(dict(self._task.args), variables)
        if self._task.args.get("user") == "" and self._connection.become:
            return {**result, **failure(self.stage, "error", UNASKED_PRIVILEGE)}
        try:
            arguments = self.prepare(dict(self._task.args), variables)
        except (AnsibleActionFail, *UNUSABLE) as error:
            return {**result, **failure(self.stage, "error", one_line(str(error)))}
        answer = self.call(arguments, variables)
        result.update(answer if answer.get("failed") else self.take_in(answer, variables))
        return result

    def as_single_values(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the task's arguments as single values. Tasks that run on every host pass whole results instead,
        because Ansible compiles each template again for each host."""
        return arguments

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the module's arguments, derived from those of the task. Raises AnsibleActionFail, or one of the
        errors in UNUSABLE, if they cannot be used."""
        return arguments

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the task's result, derived from the module's answer, which is untrusted. Not called if the module
        failed."""
        return answer

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the module's answer. If the module failed, the answer has the ``logdisk`` key with the verdict and the
        reason."""
        try:
            answer = self._execute_module(module_name=self.module_name, module_args=arguments, task_vars=task_vars)
        except AnsibleConnectionFailure as error:
            reason = one_line(str(error)) or "the connection failed"
            return failure(self.stage, "unreachable", reason)
        except AnsibleError as error:
            reason = self._unknown_user(arguments) or one_line(str(error)) or "the task failed without a message"
            return failure(self.stage, "error", reason)
        answer = self._without_reserved(answer)
        if answer.get("failed"):
            unknown = self._unknown_user(arguments)
            failed = failure(self.stage, "error", unknown or failure_reason(answer))
            answer = failed if unknown or reasons_in_summary() else {**answer, "logdisk": failed["logdisk"]}
        return answer

    def result_of(self, action: str, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the result of another action of this collection for the same host."""
        task = self._task.copy()
        task.args = arguments
        other = self._shared_loader_obj.action_loader.get(
            f"mqops.logdisk.{action}",
            task=task,
            connection=self._connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=self._shared_loader_obj,
        )
        return other.run(task_vars=task_vars)

    def _unknown_user(self, arguments: Mapping[str, Any]) -> str:
        """Return a message if the module was to run as a user who does not exist on the host; otherwise an empty
        string. Without this check, the call fails with an error of sudo, chown or setfacl, which depends on the host
        and on pipelining.
        """
        user = arguments.get("user")
        if not user or not self._connection.become:
            return ""
        with contextlib.suppress(AnsibleError):
            # getent ends with status 2 if it does not find a key, in any database.
            if self._low_level_execute_command(f"getent passwd {shlex.quote(user)}", sudoable=False).get("rc") == 2:
                return NO_USER.format(user=user)
        return ""

    def _without_reserved(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return the answer without the keys that a host must not set. The key for the interpreter that Ansible itself
        discovered is kept."""
        kept = {key: value for key, value in answer.items() if key not in RESERVED}
        # Only these members tell Ansible's own discovery from what a host claims, and they have no public names.
        if self._discovered_interpreter_key:
            kept["ansible_facts"] = {self._discovered_interpreter_key: self._discovered_interpreter}
        return kept


def of_volumes(answer: Mapping[str, Any], volumes: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return a host's answer for each of the ``volumes``. Each answer has an ``error``, which is empty if there was
    none."""
    answers = as_dict(answer.get("volumes"))
    found = {
        name: as_dict(answers.get(name)) or {"error": "the host did not answer for this volume"} for name in volumes
    }
    return {name: {**each, "error": one_line(str(each.get("error") or ""))[:1000]} for name, each in found.items()}


def failure_reason(result: dict[str, Any]) -> str:
    """Return the reason why a task failed, from its result, in one line of at most 1,000 characters."""
    parts = [str(result.get("msg") or "")]
    if result.get("module_stderr") or result.get("module_stdout"):
        parts.append(str(result.get("module_stderr") or result.get("module_stdout")))
    elif result.get("stderr"):
        parts.append(str(result["stderr"]))
    reason = one_line(": ".join(part for part in parts if part))[:1000] or "the task failed without a message"
    return next((f"{hint} ({reason})"[:1000] for symptom, hint in HINTS.items() if symptom in reason), reason)


def one_line(text: str) -> str:
    """Return ``text`` with each run of white space and control characters replaced with one blank."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
