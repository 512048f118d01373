# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: role_default
short_description: The default of an option of a role
description:
  - Returns what the C(defaults/main.yml) of a role of this collection says.
  - A role's defaults cannot be seen outside the role. Playbooks and other roles use this lookup, so that each default is written once.
version_added: 1.0.0
author: mqops contributors (@mqops)
options:
  _terms:
    description: Names of options. The first word of a name is the role.
    type: list
    elements: str
    required: true
"""

EXAMPLES = r"""
- name: Show the volume under test
  ansible.builtin.debug:
    msg: "{{ workspace_volume | default(lookup('mqops.logdisk.role_default', 'workspace_volume')) }}"
"""

RETURN = r"""
_raw:
  description: The defaults. A default that is a template is not evaluated.
  type: list
  elements: raw
"""

from typing import Any

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.role_options import defaults_of


class LookupModule(LookupBase):
    """Reads the defaults of a role."""

    def run(self, terms: list[str], variables: dict[str, Any] | None = None, **kwargs: Any) -> list[Any]:
        try:
            return [defaults_of(term.partition("_")[0])[term] for term in terms]
        except (KeyError, OSError) as error:
            raise AnsibleLookupError(f"no role of mqops.logdisk has a default for {', '.join(terms)}: {error}") from error
