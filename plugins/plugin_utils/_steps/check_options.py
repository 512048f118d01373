# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks all options of all hosts and the names of variables, before any host is contacted. Also reads the variables
that apply to the whole command."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible.errors import AnsibleError
from ansible.utils.vars import load_extra_vars

from .._action_base import SCHEMA, ControllerAction, one_line
from .._fleet.command import (
    NOT_OF_HOSTS,
    OF_ANSIBLE,
    OF_THE_COLLECTION,
    OVERRIDES_OF,
    READ_BY,
    SELECTING,
    agreed_settings,
    check_not_of_hosts,
    inventory_variables,
    other_selections,
    overriding,
)
from .._fleet.outcome import CONTROLLER
from .._fleet.settings import SettingsError, same_problem_once, shown
from .._option_meanings import problems_of_meaning
from .._options.names import ACCEPTED, refusals, warnings
from .._options.reading import read_option, read_options, read_with_preset
from .._options.table import option_names, own_names, results
from .._run.answers import is_empty
from .._run.kinds import KINDS

MOST_WARNINGS = 20
NAME_OF_HOST = "inventory_hostname"
REPORT_DIR = "gate_report_dir"


@dataclass
class Said:
    """The variables that are known before a host is contacted: extra variables, variables that the play sets for all
    hosts (with any problems), and variables of each host. All three are stored by name, and evaluated if they are
    options or were requested. For each host, ``values`` contains the options that were read, ``problems`` what is wrong
    with them, and ``selections`` the hosts that the host's variables would select. For all hosts together, ``accepted``
    contains the accepted names, ``hosts_by_name`` the hosts that have a variable of each name, and ``renamed`` the
    hosts whose variables give them another name."""

    extra: Mapping[str, Any]
    of_play: dict[str, Any] = field(default_factory=dict)
    of_play_problems: list[str] = field(default_factory=list)
    of_hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: dict[str, list[str]] = field(default_factory=dict)
    selections: dict[str, Any] = field(default_factory=dict)
    accepted: set[str] = field(default_factory=set)
    hosts_by_name: dict[str, list[str]] = field(default_factory=dict)
    renamed: list[str] = field(default_factory=list)

    def add(self, problems: Mapping[str, list[str]]) -> None:
        """Add problems, which are given by host."""
        for host, found in problems.items():
            self.problems.setdefault(host, []).extend(found)


class Step(ControllerAction):
    """Runs only on the controller, once for all hosts.

    ``kind`` is the kind of run that is opened, and ``command`` the name of a command that does not open any.
    ``not_of_hosts`` are variables that no inventory may set. With ``meanings``, the meaning of options is
    checked as well, and any problem refuses the run. Without it, a problem that only some hosts have is left to the
    tasks of those hosts. Returns the ``problems`` as one text, and the values of the variables of the
    command (``agreed``, ``given``), or those of all options by host (``options``, with ``meanings``).
    """

    argument_spec = {
        "hosts": {"type": "list", "elements": "str", "required": True},
        "command": {"type": "str", "default": ""},
        "meanings": {"type": "bool", "default": False},
        "kind": {"type": "str", "default": ""},
        "not_of_hosts": {"type": "list", "elements": "str", "choices": list(NOT_OF_HOSTS), "default": []},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        command = options["command"]
        names, overrides = READ_BY.get(command, ()), OVERRIDES_OF.get(command, ())
        refused_as = "" if overrides else command  # a command that overrides what runs recorded is refused like a run
        extra = load_extra_vars(self._loader)
        overridden = overriding(map(str, extra))
        if overridden:
            # This task fails, because the condition of the role that refuses the command could be overridden as well.
            report_dir = read_options({name: extra[name] for name in extra if name == REPORT_DIR}, []).get(REPORT_DIR)
            refused = self.refusal("; ".join(overridden), report_dir or "", task_vars, refused_as)
            return {"failed": True, "msg": refused["problems"][0], "logdisk": refused["logdisk"]}
        said = self._said(options, names, task_vars)
        if options["meanings"]:
            said.add(problems_of_meaning(said.values))
        else:
            said.problems = of_all_hosts(said.problems)
        said.add(self._own_names_of_hosts(said, task_vars["hostvars"]))
        said.add(self._emptied(said.extra, options["hosts"]))
        wrong = [*said.of_play_problems, *same_problem_once(said.problems)]
        mistyped = refusals(map(str, said.extra), said.accepted, names)
        found = [*mistyped, *_other_selections(said), *wrong]
        agreed: dict[str, Any] = {}
        try:
            if not found:
                check_not_of_hosts(options["not_of_hosts"], said.of_hosts, said.extra)
                agreed = agreed_settings(names, said.of_play, said.of_hosts, task_vars["groups"]["all"])
        except SettingsError as error:
            found = [str(error)]
        if found:
            return self.refusal("; ".join(found), self._report_dir(said, task_vars), task_vars, refused_as)
        warned = as_lines(warnings(said.hosts_by_name, said.accepted), said.extra)
        key = {"logdisk": {"schema": SCHEMA, "kind": "names", "warnings": warned}} if warned else {}
        read = {"options": of_each_host(said.values)} if options["meanings"] else {}
        return {"problems": [], "agreed": agreed, "given": given_by_command(overrides, said), **read, **key}

    def _said(self, options: Mapping[str, Any], of_command: Iterable[str], task_vars: dict[str, Any]) -> Said:
        """Return the variables of each host, of the play and of the controller, with their values."""
        hostvars, extra = task_vars["hostvars"], load_extra_vars(self._loader)
        names = list(dict.fromkeys([*option_names(), *of_command]))
        known = set(option_names())
        presets = options["kind"] in KINDS and KINDS[options["kind"]].tests_storage
        said = Said(extra)
        of_play = {name: value for name, value in self._task.get_play().get_vars().items() if name not in extra}
        said.of_play = self._seen(names, of_play, task_vars["inventory_hostname"], task_vars, said.of_play_problems)
        for host in options["hosts"]:
            variables, own_problems = hostvars[host], said.problems.setdefault(host, [])
            said.of_hosts[host] = own = evaluated([*names, *options["not_of_hosts"]], variables, own_problems)
            seen = {**own, **self._seen(names, of_play, host, task_vars, own_problems)}
            given = {name: value for name, value in seen.items() if name in known}
            said.values[host] = values = (
                read_with_preset(given, said.extra, own_problems) if presets else read_options(given, own_problems)
            )
            said.selections[host] = own.get(SELECTING)
            said.accepted.update(values.get(ACCEPTED) or ())
            if variables.get(NAME_OF_HOST, host) != host:
                said.renamed.append(host)
            for name in variables:
                said.hosts_by_name.setdefault(str(name), []).append(host)
        # Plays on the controller read the variables of the controller, even if it is not under test. Only problems with
        # these variables matter in that case.
        if CONTROLLER not in options["hosts"]:
            own = evaluated([SELECTING, ACCEPTED], hostvars[CONTROLLER], [])
            said.selections[CONTROLLER] = own.get(SELECTING)
            said.accepted.update(
                read_options({name: own[name] for name in own if name == ACCEPTED}, []).get(ACCEPTED) or ()
            )
        return said

    def _seen(
        self,
        names: Iterable[str],
        of_play: Mapping[str, Any],
        host: str,
        task_vars: Mapping[str, Any],
        problems: list[str],
    ) -> dict[str, Any]:
        """Return those of the given variables that the play, or the playbook that imports it, sets, with the values
        that they have in the play's tasks on a host. ``of_play`` are all variables of the play. Templates in them use
        the variables of that host."""
        wanted = [name for name in names if name in of_play]
        if not wanted:
            return {}
        of_ansible = {name: task_vars[name] for name in OF_ANSIBLE if name in task_vars}
        variables = {**of_ansible, **task_vars["hostvars"].raw_get(host), **of_play}
        templar = self._templar.copy_with_new_env(available_variables=variables)
        return evaluated(wanted, variables, problems, templar.template)

    def _own_names_of_hosts(self, said: Said, hostvars: Any) -> dict[str, list[str]]:
        """Return, by host, a sentence for each variable that only this collection or Ansible may set. Tasks of the
        controller read its variables, even if it is not under test.

        Results of an earlier playbook of the same command are set again before they are read. Any other fact would
        override what this collection passes on.
        """
        found = {host: [f"only Ansible may set {NAME_OF_HOST}: remove it from the inventory"] for host in said.renamed}
        hosts_by_name = {name: list(hosts) for name, hosts in said.hosts_by_name.items()}
        if CONTROLLER not in said.of_hosts:
            for name in hostvars[CONTROLLER]:
                hosts_by_name.setdefault(str(name), []).append(CONTROLLER)
        set_for_hosts = {name: hosts_by_name[name] for name in sorted(own_names() & set(hosts_by_name))}
        of_inventory = self._of_inventory({host for hosts in set_for_hosts.values() for host in hosts})
        for name, hosts in set_for_hosts.items():
            for host in hosts:
                is_fact = name not in of_inventory[host]
                if not is_fact or name not in results():
                    place = "the task that sets it earlier in this command" if is_fact else "it from the inventory"
                    found.setdefault(host, []).append(f"only {OF_THE_COLLECTION} may set {name}: remove {place}")
        return found

    def _emptied(self, extra: Mapping[str, Any], hosts: Iterable[str]) -> dict[str, list[str]]:
        """Return, by host, a sentence for each option in PLACES that is empty as an extra variable although the
        inventory sets it.

        Nothing overrides an extra variable, so the default directory would be measured instead of the one in the
        inventory.
        """
        empty = [name for name in PLACES if name in extra and _is_nothing(extra[name])]
        return {
            host: [
                f"{name} is empty among the extra variables, but the inventory sets it: leave it out of the extra "
                "variables, or set it there"
                for name in empty
                if not _is_nothing(own.get(name))
            ]
            for host, own in (self._of_inventory(hosts) if empty else {}).items()
        }

    def _of_inventory(self, hosts: Collection[str]) -> dict[str, dict[str, Any]]:
        return inventory_variables(self._loader, hosts, self._task.get_search_path()) if hosts else {}

    @staticmethod
    def _report_dir(said: Said, task_vars: Mapping[str, Any]) -> str:
        """Return the report directory for a refused run: that of the hosts if they agree, otherwise the default
        directory."""
        try:
            return agreed_settings([REPORT_DIR], said.of_play, said.of_hosts, task_vars["groups"]["all"])[REPORT_DIR]
        except SettingsError:
            return read_option(REPORT_DIR, None)


def _other_selections(said: Said) -> list[str]:
    """Return the problems with variables that would select hosts other than those of the play. Extra variables are the
    same for all hosts."""
    try:
        return [] if SELECTING in said.extra else other_selections(said.of_play.get(SELECTING), said.selections)
    except ValueError as error:
        return [one_line(str(error))]


def of_each_host(values: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the options that differ from their defaults: first those with the same value on all hosts, then the others
    by host."""
    given = {
        host: {name: value for name, value in own.items() if value != read_option(name, None)}
        for host, own in values.items()
    }
    first, *others = given.values() or [{}]
    common = {
        name: value for name, value in first.items() if all(name in other and other[name] == value for other in others)
    }
    hosts = {host: {name: value for name, value in own.items() if name not in common} for host, own in given.items()}
    return {"common": common, "hosts": {host: own for host, own in hosts.items() if own}}


def given_by_command(names: Iterable[str], said: Said) -> dict[str, Any]:
    """Return the given options that are set by extra variables or by the play. Values in the inventory are ignored."""
    own = next(iter(said.of_hosts.values()), {})
    found = {name: own[name] for name in names if name in said.extra and name in own}
    found.update({name: said.of_play[name] for name in names if name in said.of_play})
    return {name: read_option(name, value) for name, value in found.items() if not is_empty(value)}


def of_all_hosts(problems: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return, by host, the problems that exist on every host. Problems that only some hosts have are reported by the
    tasks of these hosts, when they read the options."""
    under_test = {host: found for host, found in problems.items() if host != CONTROLLER} or problems
    common = set.intersection(*map(set, under_test.values())) if under_test else set()
    return {host: [problem for problem in found if problem in common] for host, found in under_test.items()}


PLACES = ("workspace_path", "workspace_volumes", "workspace_places")
"""The options that determine what is measured."""


def _is_nothing(value: Any) -> bool:
    return is_empty(value) or (isinstance(value, (list, tuple, dict)) and not value)


def as_lines(found: Mapping[str, list[str]], extra: Mapping[str, Any]) -> list[str]:
    """Return the first warnings about names, each with the hosts that have such a variable,
    and how many more there are."""
    lines = [
        f"{sentence} ({'an extra variable' if sentence.partition(' ')[0] in extra else shown(hosts)})"
        for sentence, hosts in found.items()
    ]
    more = len(lines) - MOST_WARNINGS
    return [*lines[:MOST_WARNINGS], *([f"{more} more names resemble those of options"] if more > 0 else [])]


def evaluated(
    names: Iterable[str],
    variables: Mapping[str, Any],
    problems: list[str],
    template: Callable[[Any], Any] = lambda value: value,
) -> dict[str, Any]:
    """Return the given variables that are set. They are evaluated by ``template`` or, without it, by ``variables`` on
    access. Adds a problem for each variable that cannot be evaluated."""
    found = {}
    for name in names:
        try:
            if name in variables:
                found[name] = template(variables[name])
        except AnsibleError as error:
            problems.append(f"{name}: {one_line(str(error))}")
    return found
