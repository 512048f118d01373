# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fills the templates of sentences, and names the metrics, steps, shares and disturbances in them.

A sentence is data: a text with placeholders for values in base units, which name the form in which a value is shown,
such as "within {takeover_ns:duration}". Text in square brackets is left out if one of its values is not known (missing,
None or empty). If it has alternatives, separated by bars, the first one of which all values are known is used, or else
the last one: "[{path}|the directory]".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from string import Formatter
from typing import Any

from ...module_utils import _units
from .._judge.disturbance import FOREIGN_IO, FREEZE, IO_LIMIT, PROCESSORS, QUOTA, RUN_QUEUE, STEAL
from .._run.columns import READ_SHARE
from .._run.table_reader import quoted
from .._run.words import Words, size_text

_OPTIONAL = re.compile(r"\[([^\]]*)\]")
_FORMS: Mapping[str, Callable[..., str]] = {
    "": str,
    "count": _units.format_count,
    "duration": _units.format_duration,
    "list": lambda values: ", ".join(map(str, values)),
    "number": _units.format_number,
    "rate": _units.format_rate,
    "ratio": _units.format_ratio,
    "seconds": lambda seconds, *digits: _units.format_duration(seconds * 1e9, *digits),
    "size": _units.format_size,
    "sizes": lambda sizes: ", ".join(map(_units.format_size, sizes)),
    "step_size": size_text,
}

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

_Pieces = Sequence[tuple[str, str, Callable[[Any], str]]]
"""Each text with the name of the value that follows it (empty for none), and the function that formats the value."""


def phrase(template: str, values: Mapping[str, Any], **more: Any) -> str:
    """Return a template filled with values. Raises KeyError for a value that is missing outside brackets."""
    known = {**values, **more} if more else values
    return "".join(_filled(alternatives, known) for alternatives in _parsed(template))


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: "1 host", "1,200 hosts"."""
    return f"{_units.format_count(count)} {noun if count == 1 else f'{noun}s'}"


def capitalized(text: str) -> str:
    """Return a text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


@cache
def _parsed(template: str) -> Sequence[Sequence[_Pieces]]:
    """Return the parts of a template, each with its alternatives."""
    split = enumerate(_OPTIONAL.split(template))  # every other part was in brackets
    parts = ((part if "|" in part else f"{part}|").split("|") if number % 2 else [part] for number, part in split)
    return [[_pieces(each) for each in part] for part in parts]


def _pieces(text: str) -> _Pieces:
    return [(literal, name or "", _form(form or "")) for literal, name, form, dummy in Formatter().parse(text)]


def _form(name: str) -> Callable[[Any], str]:
    """Return the function for the form of a value: "duration", "duration,2" (with two digits), or a form of Python."""
    form, dummy, digits = name.partition(",")
    write = _FORMS.get(form)
    if write is None:
        return lambda value: format(value, name)
    return (lambda value: write(value, int(digits))) if digits else write


def _filled(alternatives: Sequence[_Pieces], known: Mapping[str, Any]) -> str:
    *first, last = alternatives
    pieces = next((each for each in first if all(_is_known(known, name) for dummy, name, dummy in each)), last)
    return "".join(literal + (write(known[name]) if name else "") for literal, name, write in pieces)


def _is_known(known: Mapping[str, Any], name: str) -> bool:
    return not name or known.get(name) not in (None, "")


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
        f"{name} for {_units.format_duration(step['measured_s'] * 1e9)}"
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
