# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.outcome import with_fleet


def test_problems_of_the_fleet_fail_the_controller_or_every_host_that_a_limit_leaves():
    own = {"b": "b: slow"}
    assert with_fleet(own, [], ["a", "b"]) == own
    assert with_fleet(own, ["no report"], ["a", "b", "localhost"]) == {"b": "b: slow", "localhost": "no report"}
    assert with_fleet(own, ["no report"], ["a", "b"]) == {"a": "no report", "b": "no report | b: slow"}
