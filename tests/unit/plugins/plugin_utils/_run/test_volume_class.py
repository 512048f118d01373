# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which volumes are alike."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.volume_identity import volume_class

FACTS = {
    "device_model": "FlashArray",
    "device_member_model": "SSD 1",
    "filesystem_size_bytes": 100 << 30,
    "filesystem_type": "xfs",
}


@pytest.mark.parametrize(
    ("named", "facts", "expected"),
    [
        ("gold", FACTS, "gold"),
        ("", FACTS, "FlashArray, 100 GiB, xfs"),
        (None, {**FACTS, "device_model": ""}, "SSD 1, 100 GiB, xfs"),
        ("", {**FACTS, "filesystem_type": "zfs"}, "FlashArray, zfs"),
        (
            "",
            {**FACTS, "filesystem_size_bytes": str(100 << 30)},
            "FlashArray, 100 GiB, xfs",
        ),  # as the tester's table says it
        ("", {"filesystem_size_bytes": "much"}, "unknown device"),
    ],
)
def test_a_volume_is_alike_others_by_its_given_class_or_by_its_disk_and_file_system(named, facts, expected):
    assert volume_class(named, facts) == expected
