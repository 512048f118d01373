# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an observation reads from the history and stores there: certificates with which the observed figures are
compared, and how they compare."""

from __future__ import annotations

from ..._history.live import hold_against_certificates
from ..._history.observations import results_of
from ..._history.store.history import Result
from ..._run.directory import RunDirectory
from .. import facets


class Memory(facets.Memory):
    """The results that an observation stores affect no certificate and no state."""

    def look_up(self, directory: RunDirectory) -> str:
        """Store in each record how the observed figures compare with the certificate of its volume. Raises OSError."""
        hold_against_certificates(directory)
        return ""

    def of_run(self, directory: RunDirectory) -> list[Result]:
        """Return the result of each queue manager."""
        return [*results_of(directory)]
