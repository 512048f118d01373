# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.host_settings import of_hosts, profile_data


@pytest.mark.parametrize("names, expected", [(["x"], "x"), (["x", "y"], "x"), (["x", "y", "y"], "y")])
def test_the_profile_of_most_hosts_is_kept_once_and_each_host_has_its_own(names, expected):
    profiles = {f"h{index}": {"name": name} for index, name in enumerate(names)}
    run = of_hosts(profiles)
    assert run["profile"] == {"name": expected}
    assert expected not in [profile["name"] for profile in run["host_profiles"].values()]
    assert {host: profile_data(run, host) for host in profiles} == profiles
