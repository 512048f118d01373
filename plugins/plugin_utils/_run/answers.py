# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads strings that represent other values. The answers of a survey are strings, and people write lists and
dictionaries in several ways."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .definitions import parse_yaml, shown

_SEPARATORS = re.compile(r"[,\s]+")
_BEFORE_UNIT = re.compile(r"(?<![^\s,])([0-9]+(?:\.[0-9]+)?)[ \t]+(?=(?:%|[KMGTkmgt](?:i?[Bb])?|[Bb])(?:[,\s]|\Z))")
_TEMPLATE = re.compile(r"\{\{|\{%|\{#")


def is_empty(value: Any) -> bool:
    """Whether an answer means that no value is given. Depending on its version, ansible-core reads an empty answer as
    an empty string or as None."""
    return value is None or (isinstance(value, str) and not value.strip())


def read_list(value: Any, quantities: bool = False) -> list[Any]:
    """Return the elements of a list. The list may be given as a string of elements that are separated by commas, blanks
    or line ends, or as a string of YAML or JSON. Any other value is returned as the only element. If the elements are
    ``quantities``, there may be a blank between a number and its unit. Raises ValueError.
    """
    if isinstance(value, str):
        text = value.strip()
        value = (
            parse_yaml(text)
            if text.startswith(("[", "- "))
            else _SEPARATORS.split(_BEFORE_UNIT.sub(r"\1", text) if quantities else text)
        )
    elements = value if isinstance(value, (list, tuple)) else [value]
    return [each.strip() if isinstance(each, str) else each for each in elements if not is_empty(each)]


def read_dictionary(value: Any) -> Mapping[Any, Any]:
    """Return a dictionary, which may be given as a string that contains YAML or JSON. Raises ValueError."""
    return _parsed(value, Mapping, "a dictionary")


def read_yaml_list(value: Any) -> list[Any]:
    """Return a list whose elements are dictionaries. If the value is a string, it must be YAML or JSON. Raises
    ValueError."""
    return list(_parsed(value, (list, tuple), "a list of dictionaries"))


def _parsed(value: Any, types: Any, what: str) -> Any:
    found = parse_yaml(value) if isinstance(value, str) else value
    if not isinstance(found, types):
        raise ValueError(f"{shown(value)} is not {what}: write it as YAML or JSON")
    return found


def is_pasted(value: Any) -> bool:
    """Whether a string is a pasted definition, and not the name or path of a definition."""
    return isinstance(value, str) and (
        "\n" in value.strip() or value.lstrip().startswith("{") or re.match(r"\s*[\w-]+:(\s|\Z)", value) is not None
    )


def template_in(value: Any) -> str:
    """Return the first string in a value that contains a template; empty if no string does."""
    return next((text for text in _texts(value) if _TEMPLATE.search(text)), "")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _texts(key)
            yield from _texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)


def plain(value: Any) -> Any:
    """Return a value that consists only of dictionaries, lists, strings, numbers and booleans. Before ansible-core
    2.19, templates do not return other values unchanged."""
    if isinstance(value, Mapping):
        return {plain(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, datetime.date):
        return value.isoformat()
    if value is None or isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)
