# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The text format of OpenMetrics, limited to what Prometheus's older text format also allows, because node_exporter
reads the older format from files.

The older format has neither state sets nor infos, so both are gauges with an additional label.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

GAUGE = "gauge"
SUMMARY = "summary"
END = "# EOF\n"
"""The last line of every exposition."""


def family(name: str, meaning: str, kind: str = GAUGE) -> str:
    """Return the lines that precede all samples of a metric. If the last word of the name is seconds or ratio, it is
    the unit."""
    unit = name.rpartition("_")[2]
    stated = f"# UNIT {name} {unit}\n" if unit in ("seconds", "ratio") else ""
    return f"# TYPE {name} {kind}\n{stated}# HELP {name} {_escaped(meaning)}\n"


Family = tuple[str, str, Iterable[tuple[str, Any]], Callable[[Any], "float | str | None"]]
"""A metric: its name, its meaning, items with their labels, and the function that returns the value of an item: a
figure, a state, or None if it has none."""


def gauges(metrics: Iterable[Family], known: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield families of metrics with their samples. ``known`` are all states that an item can have."""
    for name, meaning, items, value_of in metrics:
        yield family(name, meaning)
        for own, each in items:
            value = value_of(each)
            if isinstance(value, str):
                yield states(name, own, "state", known, value)
            elif value is not None:
                yield sample(name, own, value)


def labels(pairs: Mapping[str, str | int]) -> str:
    """Return the text of labels between the braces."""
    return ",".join(f'{name}="{_escaped(str(value))}"' for name, value in pairs.items())


def sample(name: str, own_labels: str, value: float) -> str:
    """Return the line of one figure."""
    return f"{name}{{{own_labels}}} {value}\n" if own_labels else f"{name} {value}\n"


def states(name: str, own_labels: str, label: str, known: tuple[str, ...], state: str) -> str:
    """Return lines for an item with one of the known states: 1 for its state, and 0 for the others."""
    return "".join(sample(name, f'{own_labels},{label}="{each}"', int(each == state)) for each in known)


def start_of_day_s(day: str) -> int:
    """Return the start of a day in UTC, in seconds since 1970."""
    return int(datetime.datetime.fromisoformat(day).replace(tzinfo=datetime.timezone.utc).timestamp())


def end_of_day_s(day: str) -> int:
    """Return the end of a day in UTC, in seconds since 1970."""
    return start_of_day_s(day) + 86400


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
