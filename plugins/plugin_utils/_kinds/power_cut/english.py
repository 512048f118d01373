# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sentences about power cuts."""

from __future__ import annotations

from collections.abc import Mapping

from ..._english.notes import Text
from .. import facets
from .criteria import POWER_CUT, TOO_FEW_CUTS, TORN

_TORN = (
    "The write in flight[ of {block_size_bytes:size}] was torn in cut {cuts:list}. That is not a loss, but writes"
    "[ of {block_size_bytes:size}] are not atomic"
)
_TORN_TEXTS = {
    "single write": f"{_TORN}, so LogWriteIntegrity=SingleWrite is not safe here: leave it at TripleWrite",
    "": _TORN,
}


class English(facets.English):
    """The sentences about cuts that do not pass, and about torn writes."""

    texts: Mapping[str, Text | Mapping[str, Text]] = {
        POWER_CUT: "cut {number}: {text}",
        TOO_FEW_CUTS: "{made:count} of {asked:count} cuts were made",
        TORN: _TORN_TEXTS,
    }
