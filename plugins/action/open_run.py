# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens a run: resolves the profile, names the hosts to expect, makes the run directory."""

from __future__ import annotations

import os
import platform
import socket
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.release import __version__ as ansible_version
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _profile, _records, _run_directory, _verdict
from ansible_collections.mqops.logdisk.plugins.plugin_utils._remote import SCHEMA

VARIES = "differs between hosts"


class ActionModule(ActionBase):
    """Runs on the controller alone."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        dummy, options = self.validate_argument_spec(argument_spec={
            "expected_hosts": {"type": "list", "elements": "str", "required": True},
            "report_dir": {"type": "str", "required": True},
            "profile": {"type": "raw", "required": True},
            "profile_dir": {"type": "str", "required": True},
            "fail_on": {"type": "list", "elements": "str", "required": True},
            "report_only": {"type": "bool", "default": False},
            "roles_dir": {"type": "str", "required": True},
        })
        if not options["expected_hosts"]:
            raise AnsibleActionFail("no host is left to certify: the inventory, certify_hosts (default all:!localhost) and --limit have none in common")
        run = self._run(options, task_vars or {})
        try:
            directory = _run_directory.RunDirectory.create(os.path.abspath(os.path.expanduser(options["report_dir"])), run)
        except _run_directory.RunDirectoryError as error:
            raise AnsibleActionFail(f"gate_report_dir: {error}") from error
        opened = {"run_id": run["run_id"], "path": directory.path, "expected_hosts": run["expected_hosts"]}
        return {**result, "changed": False, "run": opened, "logdisk": {"schema": SCHEMA, "kind": "run", "run_id": run["run_id"], "path": opened["path"]}}

    def _run(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        try:
            profile = _profile.load_profile(options["profile"], options["profile_dir"])
            host_profiles = self._host_profiles(options, task_vars, profile)
            _verdict.check_policy(options["fail_on"])
        except (_profile.ProfileError, _verdict.PolicyError) as error:
            raise AnsibleActionFail(str(error)) from error
        return {
            "schema": SCHEMA,
            "run_id": _run_directory.new_run_id(),
            "created_at": _verdict.utc_now(),
            "collection_version": _records.collection_version(),
            "controller": {"hostname": socket.gethostname(), "user": os.environ.get("USER", ""), "ansible_version": ansible_version,
                           "python_version": platform.python_version(), "check_mode": bool(self._task.check_mode)},
            "expected_hosts": sorted(options["expected_hosts"]),
            "parameters": self._parameters(options, task_vars),
            "profile": profile.as_dict(),
            "host_profiles": host_profiles,
            "policy": {"fail_on": options["fail_on"], "report_only": options["report_only"]},
        }

    def _parameters(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the value of every role variable: the roles' defaults under what the hosts' variables say."""
        hostvars, defaults = task_vars.get("hostvars", {}), _records.role_defaults(options["roles_dir"])
        parameters: dict[str, Any] = {}
        for host in options["expected_hosts"]:
            variables = hostvars.get(host, {})
            for name, default in defaults.items():
                value = variables.get(name, default)
                if parameters.setdefault(name, value) != value:
                    parameters[name] = VARIES
        return parameters

    def _host_profiles(self, options: dict[str, Any], task_vars: dict[str, Any], default: Any) -> dict[str, Any]:
        """Return the profiles of the hosts whose own variables name another one than the run's."""
        hostvars, found = task_vars.get("hostvars", {}), {}
        for host in options["expected_hosts"]:
            own = hostvars[host].get("gate_profile") if host in hostvars else None
            if own not in (None, "", options["profile"]):
                profile = _profile.load_profile(own, options["profile_dir"]).as_dict()
                if profile != default.as_dict():
                    found[host] = profile
        return found
