# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parts of sentences: the names of metrics, the steps that were measured, shares of a workload, and disturbances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...module_utils._units import format_duration
from .._judge.disturbance import FOREIGN_IO, FREEZE, IO_LIMIT, PROCESSORS, QUOTA, RUN_QUEUE, STEAL
from .._run.columns import READ_SHARE
from .._run.table_reader import quoted
from .._run.words import Words, size_text
from .phrases import phrase

_LONGEST_PATH = 300

_METRICS = {
    "bytes_per_s": "throughput",
    "interval_bytes_per_s_min": "throughput of the slowest second",
    "operations_per_s": "rate",
}
_FIGURES_OF = {
    "latency_time_weighted": "time-weighted {}",
    "latency": "{}",
    "flush": "{} of the flush",
    "response": "{} response",
}
_SHARES = {
    READ_SHARE: "reads of {stream}",
    "size_share": "operations of {item} bytes of {stream}",
    "operations_share": "operations of {stream}",
    "capacity_share": "capacity of place {item}",
}
_DISTURBANCES = {
    STEAL: "the hypervisor took {value:ratio} of the processor time",
    QUOTA: "a processor quota stopped the tester for {value:ratio} of the time",
    RUN_QUEUE: "the tester waited for a processor {value:ratio} of its time",
    PROCESSORS: "processes waited for a processor {value:ratio} of the time",
    FOREIGN_IO: "{value:ratio} of the bytes that the disk transferred did not come from the test",
    FREEZE: "the tester itself was frozen for {value:duration}",
    IO_LIMIT: "a limit on the I/O of a control group held the tester back: {io_limit} in {io_limit_file}",
}

Step = Mapping[str, Any]


def metric_text(name: str) -> str:
    """Return the name of a metric in the form used before its figure: "p99.9", "mean response", "throughput"."""
    if name in _METRICS:
        return _METRICS[name]
    for prefix, text in _FIGURES_OF.items():
        if name.startswith(f"{prefix}_"):
            figure = name.removeprefix(f"{prefix}_")
            is_percentile = figure[:1] == "p" and figure[1:2].isdigit()
            return text.format(figure.replace("_", ".") if is_percentile else {"max": "maximum"}.get(figure, figure))
    return name.replace("_", " ")


def named_steps(steps: Sequence[Step], words: Words) -> Iterator[tuple[str, Step]]:
    """Yield each step together with its name. The load point is a part of the name only if there are several."""
    several = len({step["load_point"] for step in steps}) > 1
    for step in steps:
        load = f" with {words.load_text(step['load_point'])}" if several else ""
        yield f"{size_text(step['block_size_bytes'])}{load}", step


def measured_steps(steps: Sequence[Step], words: Words) -> str:
    """Return a text that states for how long each step with ``measured_s`` was measured."""
    return ", ".join(
        f"{name} for {format_duration(step['measured_s'] * 1e9)}"
        for name, step in named_steps(steps, words)
        if "measured_s" in step
    )


def share_text(share: Mapping[str, Any]) -> str:
    """Return the total to which a requested share of a workload refers."""
    return _SHARES[share["property"]].format(**share)


def deviation_text(deviation: Mapping[str, Any]) -> str:
    """Describe how much a share differs from the requested share."""
    return phrase("{share} {achieved:ratio} instead of {asked:ratio}", deviation, share=share_text(deviation))


def disturbances_text(disturbances: Iterable[Mapping[str, Any]]) -> list[str]:
    """Describe disturbances in short phrases. Text from the host is quoted."""
    return [
        phrase(
            _DISTURBANCES[each["kind"]],
            {key: quoted(value, _LONGEST_PATH) if isinstance(value, str) else value for key, value in each.items()},
        )
        for each in disturbances
    ]
