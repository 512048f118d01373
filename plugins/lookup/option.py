# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: option
short_description: The value of an option of a role
description:
  - Returns the value of an option's variable, read according to the argument specs of the roles, or, if it is not set,
    the default in the role's C(defaults/main.yml).
  - An empty value means that the option is not given, because a survey in AWX answers optional questions with empty
    values. A list, a dictionary, a number or a truth value can also be given as text.
  - A role's defaults cannot be seen outside the role, and nothing overrides an extra variable. Therefore, every task
    that needs an option uses this lookup.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  _terms:
    description:
      - Names of options. The first word of a name is the role. Variables of playbooks that represent an option of a
        role, such as C(certify_hosts), can also be used.
      - The name of a role returns a dictionary of all its options, and C(all) returns a dictionary of the options of
        all roles. The values that C(sweep_preset) sets appear only in such dictionaries.
    type: list
    elements: str
    required: true
  checked:
    description:
      - The C(options) in the result of the step C(check_options) of M(mqops.logdisk.command) for the hosts of the
        run. The values of this host are taken from it, and its variables are not read again.
    type: dict
  only_given:
    description: Whether the value of an option that is not given is an empty text instead of the default of the role.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Show the volume under test
  ansible.builtin.debug:
    msg: "{{ lookup('mqops.logdisk.option', 'workspace_volume') }}"
"""

RETURN = r"""
_raw:
  description: The values. If an option is not given and the role computes its default, the value is none.
  type: list
  elements: raw
"""

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase
from ansible.utils.vars import load_extra_vars

from ..plugin_utils._options.reading import read_option, read_with_preset
from ..plugin_utils._options.table import FROM_HOSTS, ROLE_NAMES, options
from ..plugin_utils._run.answers import is_empty

ALL = "all"
"""The term for the options of all roles."""


class LookupModule(LookupBase):
    """Reads the variables of options."""

    def run(self, terms: list[str], variables: Mapping[str, Any] | None = None, **kwargs: Any) -> list[Any]:
        self.set_options(var_options=variables, direct=kwargs)
        checked = self.get_option("checked")
        self._read = (
            {**checked["common"], **checked["hosts"].get((variables or {})["inventory_hostname"], {})}
            if checked
            else None
        )
        try:
            return [self._value(term, variables or {}) for term in terms]
        except (KeyError, ValueError) as error:
            raise AnsibleLookupError(str(error)) from error

    def _value(self, term: str, variables: Mapping[str, Any]) -> Any:
        if term in (*ROLE_NAMES, ALL):
            names = [
                name for name, option in options().items() if term in (option.role, ALL) and name not in FROM_HOSTS
            ]
            read = self._all_of(names, variables) if self._read is None else self._read
            return {name: read.get(name, options()[name].default) for name in names}
        if self._read is not None:
            return self._read.get(term, options()[term].default)
        given = self._templar.template(variables[term]) if term in variables else None
        return "" if self.get_option("only_given") and is_empty(given) else read_option(term, given)

    def _all_of(self, names: list[str], variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of those options that are given, and the values that a given preset sets. Raises
        ValueError."""
        problems: list[str] = []
        given = {name: self._templar.template(variables[name]) for name in names if name in variables}
        values = read_with_preset(given, load_extra_vars(self._loader), problems)
        if problems:
            raise ValueError("; ".join(problems))
        return values
