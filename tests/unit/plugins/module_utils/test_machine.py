# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _machine

ID = "0f3c9a2b6e1d4c5f8a7b0c1d2e3f4a5b"


@pytest.mark.parametrize(
    "first, second, expected",
    [
        (ID + "\n", None, ID),
        (None, ID + "\n", ID),
        (ID, "f" * 32, ID),
        ("uninitialized\n", ID, ID),
        ("", ID, ID),
        (None, None, ""),
        ("x", "y", ""),
    ],
)
def test_the_machine_id_is_that_of_the_first_file_that_has_one(tmp_path, monkeypatch, first, second, expected):
    paths = [tmp_path / "first", tmp_path / "second"]
    for path, content in zip(paths, (first, second)):
        if content is not None:
            path.write_text(content)
    monkeypatch.setattr(_machine, "MACHINE_ID_PATHS", [str(path) for path in paths])
    assert _machine.identity()["machine_id"] == expected
