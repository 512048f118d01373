# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lines about the file systems that are about to be tested."""

from __future__ import annotations

from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.volumes import under_test


def on(point, source="/dev/sdb", name="log", **facts):
    mount = {"mount_point": point, "mount_source": source, "filesystem_type": "xfs"}
    return {"name": name, "facts": {**mount, **facts}}


def test_each_mount_point_and_device_is_shown_with_its_volumes():
    volumes = {f"db0{number}": [on("/mqm/log")] for number in range(1, 6)}
    assert under_test({**volumes, "db09": [on("/", "/dev/sda1"), on("/mqm/log", name="data")]}).split("\n") == [
        "Under test: /mqm/log (xfs on /dev/sdb): db01, db02, db03 and 3 more",
        "Under test: / (xfs on /dev/sda1): db09",
    ]


def test_what_a_host_says_is_shown_as_text():
    assert under_test({"h7": [on("/a\x1b[2J\nb", "x\u202ey")]}) == (
        "Under test: /a\\x1b[2J\\x0ab (xfs on x\\u202ey): h7"
    )
    assert under_test({"h7": [{"name": "log", "facts": {}}]}) == "Under test: unknown (unknown on unknown): h7"
    assert under_test({"h7": [on("/a", places="wal on /a (xfs on b); data is the device /dev/c")]}) == (
        "Under test: wal on /a (xfs on b); data is the device /dev/c: h7"
    )
