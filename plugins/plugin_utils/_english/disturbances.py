# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Describes a host's disturbances in short phrases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...module_utils import _units
from .._judge.disturbance import FOREIGN_IO, FREEZE, IO_LIMIT, PROCESSORS, QUOTA, RUN_QUEUE, STEAL
from .._run.table_reader import quoted

_LONGEST_PATH = 300
_TEXTS: dict[str, tuple[str, Callable[[float], str]]] = {
    STEAL: ("the hypervisor took {value} of the processor time", _units.format_ratio),
    QUOTA: ("a processor quota stopped the tester for {value} of the time", _units.format_ratio),
    RUN_QUEUE: ("the tester waited for a processor {value} of its time", _units.format_ratio),
    PROCESSORS: ("processes waited for a processor {value} of the time", _units.format_ratio),
    FOREIGN_IO: ("{value} of the bytes that the disk transferred did not come from the test", _units.format_ratio),
    FREEZE: ("the tester itself was frozen for {value}", _units.format_duration),
    IO_LIMIT: ("a limit on the I/O of a control group held the tester back: {io_limit} in {io_limit_file}", str),
}


def disturbances_text(disturbances: Iterable[Mapping[str, Any]]) -> list[str]:
    """Describe disturbances in short phrases."""
    return [
        text.format(**{**_names(each), "value": write(each["value"])})
        for each in disturbances
        for text, write in [_TEXTS[each["kind"]]]
    ]


def _names(disturbance: Mapping[str, Any]) -> dict[str, str]:
    """Return the text from the host that names the cause of a disturbance."""
    return {key: quoted(value, _LONGEST_PATH) for key, value in disturbance.items() if isinstance(value, str)}
