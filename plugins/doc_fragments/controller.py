# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


class ModuleDocFragment:
    """Attributes and options of the modules that run only on the controller. A module that changes something there
    describes its own check mode."""

    DOCUMENTATION = r"""
attributes:
  action:
    description: This module has a corresponding action plugin, which does all of the work on the controller.
    support: full
  check_mode:
    description: This module does not change anything.
    support: full
"""

    HOSTS = r"""
options:
  hosts:
    description: The expected hosts, as a host pattern or a list of host patterns. Each term of the pattern and of the
      limit must match a host of the inventory.
    type: raw
    required: true
"""

    # This part is for the modules that report from the history and return the hosts that are to fail.
    CONSULT = r"""
attributes:
  check_mode:
    description: In check mode, no file is written.
    support: full
  action:
    description: This module has a corresponding action plugin, which does all of the work on the controller.
    support: full
options:
  play_hosts:
    description: The hosts of the play. Later tasks can fail only these hosts.
    type: list
    elements: str
    required: true
  report_dir:
    description: Directory on the controller for the files that are written.
    type: str
    required: true
"""

    HISTORY = r"""
options:
  history:
    description: The location of the history, as for the option C(gate_history) of the role
      P(mqops.logdisk.gate#role). If empty, it is C(history.sqlite) in O(report_dir).
    type: str
    default: ""
"""

    CHANGE = r"""
options:
  figure:
    description: The figure that is examined, a latency such as V(latency_p99) or a rate,
      V(bytes_per_s) or V(operations_per_s).
    type: str
    default: latency_mean
  margin:
    description: The change that matters, as a ratio such as V(10 %) or V(0.1).
    type: raw
    required: true
"""

    PROFILE_DIR = r"""
options:
  profile_dir:
    description: Directory that contains the profiles of this collection.
    type: str
    required: true
"""
