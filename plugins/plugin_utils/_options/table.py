# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The only table of options, made from the argument specs and defaults of the roles, and the other variables that the
playbooks read.

Each process parses the YAML at most once. Workers inherit the parsed data from their parent, because the playbooks
resolve their hosts before any process is forked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from .._run import tester_options

_COLLECTION = Path(__file__).parents[3]
ROLES = _COLLECTION / "roles"
ROLE_NAMES = tuple(sorted(path.parents[1].name for path in ROLES.glob("*/defaults/main.yml")))
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

COMMAND, RUN, HOST, VOLUME = "command", "run", "host", "volume"
"""The scope of an option: a whole command, a run (which must have a single value), a host, or a volume of a host (which
can have its own value)."""

_REACH_OF_ROLES = {"gate": RUN}
"""The scope of the options of each role. Roles that are not listed have the scope of a host. The next two tables hold
the exceptions."""
_REACH = {
    **dict.fromkeys(("logdisk_accept_names", "gate_hosts", "gate_expiring_days"), COMMAND),
    **dict.fromkeys(("cut_serial", "sweep_end_early", "sweep_mode", "sweep_start_at", "sweep_poll_interval"), RUN),
    **dict.fromkeys(("gate_profile", "gate_array_settings", "gate_class"), HOST),
}
KEYS_OF_VOLUMES = {
    "name": "workspace_volume",
    "path": "workspace_path",
    "places": "workspace_places",
    "queue_managers": "workspace_queue_managers",
    "owner": "workspace_owner",
    "expect_mount": "workspace_expect_mount",
    "file_size": "sweep_file_size",
    "files": "sweep_files",
    "block_sizes": "sweep_block_sizes",
    "log_buffer": "sweep_log_buffer",
    "load_points": "sweep_queue_managers",
}
"""The keys of a volume, and the option that each falls back to."""

SHOWN = (
    *("workspace_path", "workspace_queue_managers"),
    *(
        "sweep_workload",
        "sweep_block_sizes",
        "sweep_queue_managers",
        "sweep_duration",
        "sweep_warmup",
        "sweep_file_size",
        "sweep_files",
        "sweep_mode",
    ),
    *("sweep_sync", "sweep_direct", "sweep_rate", "sweep_delay", "sweep_apps", "sweep_message_sizes"),
    *("gate_fail_on", "gate_report_only"),
)
"""The options that determine how a run measures and what makes it fail, in the order in which they are shown as
evidence."""
_NOT_REPEATED = (
    *(
        "gate_report_dir",
        "gate_history",
        "gate_sign_key",
        "gate_hosts",
        "gate_baseline",
        "gate_baseline_accept",
        "sweep_start_at",
    ),
    # Only the variables of a host may name a device, so that copying a command cannot overwrite one.
    "sweep_devices_erase",
)
"""The options that are left out of a command that repeats a measurement."""

OF_PLAYBOOKS = {
    "certify_hosts": "gate_hosts",
    "cleanup_run_id": "workspace_cleanup_run",
    "cleanup_uncollected_days": "workspace_uncollected_days",
    "stop_run_id": "sweep_stop_run",
}
"""The variables of playbooks that are read as an option of a role, and have its default."""

OF_COMMANDS = (
    "awx_setup_api_path",
    "awx_setup_data",
    "awx_setup_modules",
    "certify_preflight",
    "collect_run",
    "compare_after",
    "compare_before",
    "compare_figure",
    "drift_figure",
    "drift_since",
    "history_import",
    "history_import_mqldt",
    "history_mqldt_dates",
    "history_mqldt_host",
    "history_mqldt_volume",
    "history_prune_before",
    "history_reason",
    "history_revoke",
    "logdisk_sliced",
    "report_run",
    "report_runs",
    "report_workflow",
    "status_today",
    "verify_date",
    "verify_principal",
    "verify_run",
    "verify_signers",
)
"""The variables of playbooks that are not options of any role."""

FROM_HOSTS = frozenset(("sweep_discovered", "workspace_collected"))
"""The variables of roles that contain the answer of a host. They are passed on unchanged."""

_OF_RESULTS = ("ansible.builtin.set_fact", "register")
"""The keys of tasks that set variables of hosts. The value is the name of a variable, or variables by name."""
_OF_TASKS = ("vars", "loop_var")
"""The keys that set variables only for tasks. Registered variables and facts of the same name would override them."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a role.

    ``spec`` is its argument spec: type, choices and other conditions on its values. ``written`` is its default as
    written in the role, which may be a template. ``reach`` is its scope. ``compared``: whether only figures that were
    measured with the same value can be compared. ``repeated``: whether a command that repeats a measurement sets the
    option.
    """

    name: str
    role: str
    spec: Mapping[str, Any]
    written: Any
    reach: str
    compared: bool
    repeated: bool

    @property
    def is_computed(self) -> bool:
        """Whether the role computes the default, so that the default is unknown here."""
        return "{{" in str(self.written)

    @property
    def default(self) -> Any:
        """The default, or None if the role computes it."""
        return None if self.is_computed else self.written


@cache
def options() -> dict[str, Option]:
    """Return every option of the roles by name. Required variables, which only playbooks set, are not included."""
    compared = {"sweep_mode", *(each.variable for each in tester_options.ALL if each.compared)}
    found = {}
    for role, (specs, defaults) in _parsed().items():
        for name, spec in specs.items():
            if not spec.get("required"):
                found[name] = Option(
                    name,
                    role,
                    spec,
                    defaults.get(name),
                    _reach(name, role),
                    name in compared,
                    repeated=name not in _NOT_REPEATED,
                )
    return found


def names_of(reach: str) -> list[str]:
    """Return the names of the options with this scope."""
    return [name for name, option in options().items() if option.reach == reach]


@cache
def role_defaults() -> dict[str, Any]:
    """Return the default of each option; defaults that the roles compute, and variables that only playbooks set, are
    left out."""
    return {name: option.default for name, option in options().items() if option.default is not None}


@cache
def repeated_defaults() -> dict[str, Any]:
    """Return the default of each option that is set by a command that repeats a measurement."""
    return {name: default for name, default in role_defaults().items() if options()[name].repeated}


def option_names() -> list[str]:
    """Return the names of all options, and of the variables of playbooks that are read like options."""
    return [*options(), *OF_PLAYBOOKS]


def settable_names() -> list[str]:
    """Return the names of all variables that a user may set. Options that a playbook itself passes on to a role are not
    among them, because an extra variable would override the value that is passed on."""
    return [*(name for name in option_names() if name not in _passed_on()), *OF_COMMANDS]


@cache
def results() -> frozenset[str]:
    """Return the names of the variables that tasks of this collection set for hosts: registered results and facts."""
    return _set_by(_OF_RESULTS)


@cache
def _passed_on() -> frozenset[str]:
    """Return the names of the variables that playbooks and roles of this collection set only for their tasks."""
    return _set_by(_OF_TASKS).union(*(_load(path) for path in ROLES.glob("*/vars/main.yml")))


@cache
def own_names() -> frozenset[str]:
    """Return the names of the variables that the playbooks and roles of this collection set, register or pass on, and
    that no user may set. Ansible's own variables, such as ansible_become, are not included."""
    found = {name for specs, _defaults in _parsed().values() for name in specs} | results() | _passed_on()
    return frozenset(name for name in found - set(settable_names()) if not name.startswith("ansible_"))


@cache
def known_names() -> frozenset[str]:
    """Return the names of all variables that this collection reads or sets for hosts."""
    return own_names().union(settable_names())


def _load(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)


def playbook_files() -> list[Path]:
    """Return the files with plays and tasks in the folder of the playbooks. The other files there are data."""
    folder = _COLLECTION / "playbooks"
    return sorted(path for files in ("*.yml", "plays/*.yml", "tasks/*.yml") for path in folder.glob(files))


@cache
def _files() -> list[Any]:
    """Return the content of all files with plays and tasks."""
    return [_load(path) for path in (*playbook_files(), *ROLES.glob("*/tasks/*.yml"))]


def _set_by(keys: tuple[str, ...]) -> frozenset[str]:
    """Return the names of the variables that plays or tasks set with the given keys."""
    return frozenset(name for content in _files() for name in _set_in(content, keys))


def _set_in(node: Any, keys: tuple[str, ...]) -> Iterator[str]:
    if isinstance(node, list):
        for each in node:
            yield from _set_in(each, keys)
    elif isinstance(node, dict):
        for key in keys:
            value = node.get(key) or ()
            yield from [value] if isinstance(value, str) else value
        for each in node.values():
            yield from _set_in(each, keys)


@cache
def _parsed() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return, by role, the argument spec of each of its variables, and its defaults."""
    found = {}
    for role in ROLE_NAMES:
        entries, defaults = (_load(ROLES / role / path) for path in ("meta/argument_specs.yml", "defaults/main.yml"))
        specs = {
            name: {key: value for key, value in option.items() if key != "description"}
            for entry in entries["argument_specs"].values()
            for name, option in entry["options"].items()
        }
        found[role] = (specs, defaults)
    return found


def _reach(name: str, role: str) -> str:
    return _REACH.get(name) or (VOLUME if name in KEYS_OF_VOLUMES.values() else _REACH_OF_ROLES.get(role, HOST))
