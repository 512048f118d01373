# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ends a running certification on a host."""

from __future__ import annotations

from ..plugin_utils._action_base import RemoteAction


class ActionModule(RemoteAction):
    """Calls the module ``stop`` on the host."""

    module_name = "mqops.logdisk.stop"
    stage = "stop"
