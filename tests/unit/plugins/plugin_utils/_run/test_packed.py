# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
import zlib

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.files import unpack


def packed(data):
    return base64.b64encode(zlib.compress(data)).decode()


def test_what_unpacks_to_too_much_is_refused_before_it_does():
    assert unpack("results.csv", packed(b"0" * (1 << 20)), 1 << 20) == b"0" * (1 << 20)
    with pytest.raises(ValueError, match=r"^results\.csv: larger than 1 MiB$"):
        unpack("results.csv", packed(b"0" * ((1 << 20) + 1)), 1 << 20)


def test_nothing_is_empty():
    assert unpack("samples", "") == b""


@pytest.mark.parametrize("text", [None, "%%%", base64.b64encode(b"no zlib").decode()])
def test_what_cannot_be_unpacked_is_refused(text):
    with pytest.raises(ValueError, match=r"^samples: "):
        unpack("samples", text)
