# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: hosts_under_test
short_description: The hosts that a run is expected to certify
description:
  - Returns the hosts that match a pattern and the C(--limit) of the command line. Each term of either must match a
    host in the inventory.
  - Fails if no host is left. Also fails if only a part of the playbook would run (because of tags, C(--start-at-task)
    or C(--step)). Otherwise, the command would succeed even though the gate was skipped.
  - If it fails in the C(hosts) of a play, the command ends before anything runs, with an exit status other than 0 and
    2.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  _terms:
    description: Host patterns.
    type: list
    elements: str
    required: true
  of_controller:
    description:
      - Whether the play runs on the controller, and the hosts only provide variables. Then the result contains
        C(localhost) and the patterns instead of names, so the names of hosts do not matter.
      - If there is no inventory and no limit, the result contains only C(localhost).
    type: bool
    default: false
  or_slice:
    description:
      - Whether this command may be a slice of an AWX job. It is a slice if the extra variable C(logdisk_sliced) is
        true.
      - In a slice, a term of the limit may match no host, because the hosts that it matches may be in another slice.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Open the run
  hosts: "{{ query('mqops.logdisk.hosts_under_test', certify_hosts | default('all:!localhost')) }}"
  gather_facts: false
"""

RETURN = r"""
_raw:
  description: Names of the hosts, sorted. With O(of_controller), patterns.
  type: list
  elements: str
"""

from typing import Any

from ansible import context
from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase
from ansible.utils.vars import load_extra_vars

from ..plugin_utils._fleet.expectation import ExpectationError, expectation, is_slice
from ..plugin_utils._fleet.outcome import CONTROLLER


class LookupModule(LookupBase):
    """Determines which hosts are expected, or ends the command."""

    def run(self, terms: list[Any], variables: dict[str, Any] | None = None, **kwargs: Any) -> list[str]:
        known = variables or {}
        self.set_options(var_options=variables, direct=kwargs)
        if context.CLIARGS.get("syntax"):
            return []
        partly = _partly(known)
        if partly:
            raise AnsibleLookupError(
                f"this playbook cannot be run in part, but {partly} would leave out tasks: run it without that option"
            )
        try:
            sliced = self.get_option("or_slice") and is_slice(load_extra_vars(self._loader))
            patterns, of_controller = self._flatten(terms), bool(self.get_option("of_controller"))
            hosts = expectation(
                known.get("groups", {}),
                self._loader,
                patterns,
                known.get("ansible_limit"),
                sliced,
                named=not of_controller,
            ).hosts
            return [CONTROLLER, *patterns] if of_controller else hosts
        except ExpectationError as error:
            # With a limit, the play would be skipped silently.
            if (
                self.get_option("of_controller")
                and not known.get("ansible_limit")
                and not set(known.get("groups", {}).get("all", ())) - {CONTROLLER}
            ):
                return [CONTROLLER]
            raise AnsibleLookupError(str(error)) from error


def _partly(variables: dict[str, Any]) -> str:
    """Return the command-line option that would restrict the command to some of the tasks; empty if all tasks run."""
    if list(variables.get("ansible_run_tags") or ["all"]) != ["all"]:
        return f"--tags {','.join(variables['ansible_run_tags'])}"
    if variables.get("ansible_skip_tags"):
        return f"--skip-tags {','.join(variables['ansible_skip_tags'])}"
    if context.CLIARGS.get("start_at_task"):
        return f"--start-at-task {context.CLIARGS['start_at_task']!r}"
    return "--step" if context.CLIARGS.get("step") else ""
