# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The values that a profile is made of, read strictly, and the files that hold them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from typing import Any

import yaml
from ansible_collections.mqops.logdisk.plugins.module_utils import _units

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_MAX_FILE_BYTES = 1 << 20


class ProfileError(ValueError):
    """A profile that cannot be used; the message is one sentence that names the key and what is allowed."""


class _StrictLoader(yaml.SafeLoader):
    """A YAML loader that refuses a key given twice, which YAML would let silently replace the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, value in node.value if isinstance(key, yaml.ScalarNode)]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"the key {shown(key)} is given twice", node.start_mark)
        return super().construct_mapping(node, deep)


def read_yaml(path: str) -> Any:
    try:
        with open(path, "rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
        if len(content) > _MAX_FILE_BYTES:
            raise ProfileError(f"The file has more than {_MAX_FILE_BYTES} bytes.")
        return yaml.load(content, Loader=_StrictLoader)
    except OSError as error:
        raise ProfileError(f"The file cannot be read: {error.strerror}.") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, ProfileError):
            raise
        raise ProfileError("The file is not valid YAML: " + " ".join(str(error).split()) + ".") from None


def read_mapping(data: Any, where: str, allowed: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise ProfileError(f"{where} must be a dictionary with the keys {', '.join(allowed)}, not {shown(data)}.")
    for key in data:
        if key not in allowed:
            raise ProfileError(f"{where} has the unknown key {shown(key)}: allowed are {', '.join(allowed)}.")
    return data


def read_sequence(data: Any, where: str) -> list[Any] | tuple[Any, ...]:
    if not isinstance(data, (list, tuple)):
        raise ProfileError(f"{where} must be a list, not {shown(data)}.")
    return data


def read_text(data: Mapping[str, Any], key: str, where: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ProfileError(f"{where} must give {key} as text, not {shown(value)}.")
    return value.strip()


def read_optional_text(data: Mapping[str, Any], key: str, where: str) -> str:
    value = data.get(key, "")
    if not isinstance(value, str):
        raise ProfileError(f"{where} must give {key} as text, not {shown(value)}.")
    return value.strip()


def read_number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ProfileError(f"{where} {shown(value)} must be a number.")
    return value


def read_at_least_one(value: Any, parse: Callable[[Any], int], where: str) -> int:
    try:
        number = parse(value)
    except _units.UnitError as error:
        raise ProfileError(f"{where}: {error}.") from None
    if number < 1:
        raise ProfileError(f"{where} {shown(value)} must be at least 1.")
    return number


def read_date(value: Any, where: str) -> datetime.date:
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    try:
        if isinstance(value, str) and _DATE.match(value):
            return datetime.date.fromisoformat(value)
    except ValueError:
        pass
    raise ProfileError(f"{where} {shown(value)} must be a day such as 2027-01-31.")


def shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = repr(str(value)) if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else text[:80] + "..."
