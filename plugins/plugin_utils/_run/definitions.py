# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads what people define in YAML, such as profiles and workloads: values, files, and the names of shipped
definitions. Everything is read strictly."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from ...module_utils import _units

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_MAX_BYTES = 1 << 20
_NOWHERE = re.compile(r' in "<\w+ string>",')
"""PyYAML's name for text that does not come from a file."""


class DefinitionError(ValueError):
    """A definition cannot be used. The message is one sentence that names the key and what is allowed."""


class _StrictLoader(yaml.SafeLoader):
    """A YAML loader that refuses duplicate keys, because the second value would silently replace the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, value in node.value if isinstance(key, yaml.ScalarNode)]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {shown(key)} is given twice", node.start_mark
                )
        return super().construct_mapping(node, deep)


def read_yaml(path: str) -> Any:
    """Return the definition in a file. Raises DefinitionError."""
    try:
        with open(path, "rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise DefinitionError(f"The file cannot be read: {error.strerror}.") from None
    return parse_yaml(content, "The file")


def parse_yaml(content: bytes | str, what: str = "The text") -> Any:
    """Return the value of a YAML or JSON text. Raises DefinitionError."""
    if len(content) > _MAX_BYTES:
        raise DefinitionError(f"{what} has more than {_MAX_BYTES} bytes.")
    try:
        return yaml.load(content, Loader=_StrictLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DefinitionError(
            f"{what} is not valid YAML: " + _NOWHERE.sub("", " ".join(str(error).split())) + "."
        ) from None


def read_mapping(data: Any, where: str, allowed: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise DefinitionError(f"{where} must be a dictionary with the keys {', '.join(allowed)}, not {shown(data)}.")
    for key in data:
        if key not in allowed:
            raise DefinitionError(f"{where} has the unknown key {shown(key)}: allowed keys: {', '.join(allowed)}.")
    return data


def read_sequence(data: Any, where: str) -> list[Any] | tuple[Any, ...]:
    if not isinstance(data, (list, tuple)):
        raise DefinitionError(f"{where} must be a list, not {shown(data)}.")
    return data


def read_text(data: Mapping[str, Any], key: str, where: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value.strip():
        raise DefinitionError(f"{where} must give {key} as text, not {shown(value)}.")
    return value.strip()


def read_optional_text(data: Mapping[str, Any], key: str, where: str) -> str:
    value = data.get(key, "")
    if not isinstance(value, str):
        raise DefinitionError(f"{where} must give {key} as text, not {shown(value)}.")
    return value.strip()


def read_number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise DefinitionError(f"{where} {shown(value)} must be a number.")
    return value


def read_at_least_one(value: Any, parse: Callable[[Any], int], where: str) -> int:
    try:
        number = parse(value)
    except _units.UnitError as error:
        raise DefinitionError(f"{where}: {error}.") from None
    if number < 1:
        raise DefinitionError(f"{where} {shown(value)} must be at least 1.")
    return number


def read_date(value: Any, where: str) -> datetime.date:
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    try:
        if isinstance(value, str) and _DATE.match(value):
            return datetime.date.fromisoformat(value)
    except ValueError:
        pass
    raise DefinitionError(f"{where} {shown(value)} must be a day such as 2027-01-31.")


def find_file(kind: str, source: str, search_dir: str | None, directory: str = "") -> str:
    """Return the path of a definition's file: ``source`` is either a path, relative to ``directory``, or the name of a
    shipped file in ``search_dir``."""
    if "/" in source or source.endswith((".yml", ".yaml")):
        return os.path.join(directory, source)
    names = sorted(name[:-4] for name in os.listdir(search_dir) if name.endswith(".yml")) if search_dir else []
    if source not in names or search_dir is None:
        raise DefinitionError(
            f"There is no {kind} {shown(source)}: use {', '.join([*names, 'a path or a dictionary'])}."
        )
    return os.path.join(search_dir, f"{source}.yml")


def read_name(data: Mapping[str, Any], where: str) -> str:
    name = read_text(data, "name", where)
    if not _NAME.match(name):
        raise DefinitionError(
            f"name {shown(name)} may contain only letters, digits, dots, dashes and underscores, at most 100."
        )
    return name


def read_version(version: Any) -> int | str:
    if isinstance(version, bool) or not isinstance(version, (int, str)) or not _NAME.match(str(version)):
        raise DefinitionError(f"version {shown(version)} must be a whole number or a short text such as 2026-11.")
    return version


def shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = repr(str(value)) if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else text[:80] + "..."
