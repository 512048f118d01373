# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an observation reads from the history: certificates with which the observed figures are compared."""

from __future__ import annotations

from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.live import hold_against_certificates
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds import memory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory


class Memory(memory.Memory):
    """An observation stores nothing."""

    def look_up(self, directory: RunDirectory) -> str:
        """Store in each record how the observed figures compare with the certificate of its volume. Raises OSError."""
        hold_against_certificates(directory)
        return ""
