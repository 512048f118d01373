# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.command import other_selections

DEFAULT = "all:!localhost"
PROBLEM = (
    "certify_hosts is {other!r}, but this command has the hosts {asked!r}: the hosts of a command cannot depend on "
    "variables of hosts and groups: "
)


@pytest.mark.parametrize(
    ("asked", "said", "found"),
    [
        (None, {}, []),
        (None, {"a": None, "b": ""}, []),
        (None, {"a": None, "b": DEFAULT}, []),
        (None, {"a": "dev", "b": None, "c": "dev"}, [f"a, c: {PROBLEM.format(other='dev', asked=DEFAULT)}"]),
        ("prod", {"a": "prod", "b": None, "c": ""}, []),
        ("prod", {"a": DEFAULT}, [f"a: {PROBLEM.format(other=DEFAULT, asked='prod')}"]),
    ],
)
def test_another_pattern_of_a_host_is_refused(asked, said, found):
    problems = other_selections(asked, said)
    assert len(problems) == len(found) and all(map(str.startswith, problems, found))
