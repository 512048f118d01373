# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The measurement: the tester writes as MQ's logger does, or as a workload says, and a profile judges what the storage did."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.kind import Kind

if TYPE_CHECKING:
    from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.memory import Memory
    from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.opening import Opening


class Measurement(Kind):
    """The only kind that tests storage."""

    name = "measurement"
    plan_fact = "sweep_plan"
    tests_storage = True
    certifies = True
    is_remembered = True
    held_against = "baseline"

    @cached_property
    def opening(self) -> Opening:
        """What it expects of the hosts when a run is opened."""
        from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.measurement.opening import MeasurementOpening

        return MeasurementOpening()

    @cached_property
    def memory(self) -> Memory:
        """What it asks the history for, and what it stores there."""
        from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.measurement.memory import MeasurementMemory

        return MeasurementMemory()
