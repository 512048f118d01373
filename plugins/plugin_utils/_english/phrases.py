# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fills the templates of sentences. A sentence is data: a text with placeholders for values in base units, which name
the form in which a value is shown, such as "within {takeover_ns:duration}".

Text in square brackets is left out if one of its values is not known (missing, None or empty). If it has alternatives,
separated by bars, the first one of which all values are known is used, or else the last one: "[{path}|the directory]".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from string import Formatter
from typing import Any

from ...module_utils import _units
from .._run.words import size_text

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

_Pieces = Sequence[tuple[str, str, Callable[[Any], str]]]
"""Each text with the name of the value that follows it (empty for none), and the function that formats the value."""


def phrase(template: str, values: Mapping[str, Any], **more: Any) -> str:
    """Return a template filled with values. Raises KeyError for a value that is missing outside brackets."""
    known = {**values, **more} if more else values
    return "".join(_filled(alternatives, known) for alternatives in _parsed(template))


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a count with its noun: "1 host", "1,200 hosts"."""
    return f"{_units.format_count(count)} {noun if count == 1 else nouns or f'{noun}s'}"


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
