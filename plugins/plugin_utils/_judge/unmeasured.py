# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files the record of a volume that is not measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.host import error
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import ERROR


def file_error(directory: RunDirectory, host: str, volume: str, stage: str, reason: str, facts: Mapping[str, Any], verdict: str = ERROR) -> HostRecord | None:
    """File the record of a volume with the reason, and return it; None if something is known of the volume, which came first and says more.

    Raises RunDirectoryError.
    """
    if directory.is_known(host, volume):
        return None
    record = error(directory.run, host, volume, stage, verdict, reason, dict(facts))
    directory.write_record(record)
    return record
