# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import absolute_import, division, print_function

__metaclass__ = type


class ModuleDocFragment(object):
    """Options of the modules that work on a run on a host."""

    DOCUMENTATION = r"""
options:
  run_id:
    description: ID of the run.
    type: str
    required: true
  volume:
    description: Name of the volume under test. It consists of letters, digits, C(.), C(_) and C(-).
    type: str
    required: true
"""

    STATE_DIR = r"""
options:
  state_dir:
    description: Directory on the host for the state and the tables of runs. If possible, choose a file system other than the one under test.
    type: str
    required: true
"""

    USER = r"""
options:
  user:
    description: The user that this module must run as. The module fails if it runs as another user. If empty, any user is accepted.
    type: str
    default: ""
"""
