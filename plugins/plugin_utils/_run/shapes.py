# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shapes of untrusted plain data. A shape declares the allowed content of a file under each key, beside the code that
reads it.

A shape is a type, a tuple of types, or one of the classes below. An absent key is treated as None.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from .table_reader import printable

Run = Mapping[str, Any]
"""The content of run.json."""
Facts = Mapping[str, Any]
"""What is known about a host and one of its volumes, by the names of the facts."""
Plan = Mapping[str, Any]
"""What a host is to do (see ``_fleet/plan.py``)."""

_LARGEST = 1 << 64
"""The largest figure that is needed. Larger ones cannot be used in computations."""

_TEXT = (str, type(None))
_LONGEST_PATH = 100


class Shape:
    """A condition on a value."""

    def misfit(self, value: Any) -> str | None:
        """Return the path of the part of a value that has a different shape (empty for the value itself), or None if
        the value has this shape."""
        raise NotImplementedError


AnyShape = Any
"""A type, a tuple of types, or a Shape."""


def misfit(value: Any, shape: AnyShape) -> str | None:
    """Return the path of the part of a value that does not have a shape, such as "points[2].reason" (empty for the
    value itself), or None if the whole value has the shape."""
    if isinstance(shape, Shape):
        return shape.misfit(value)
    return None if isinstance(value, shape) else ""


def fits(value: Any, shape: AnyShape) -> bool:
    """Whether a value, with all of its parts, has a shape."""
    return misfit(value, shape) is None


class Keys(Shape):
    """An object whose values under certain keys have given shapes.

    The keys in ``needed`` must not be absent, even if they may hold None. ``every`` is the shape of each value.
    """

    def __init__(
        self,
        keys: Mapping[str, AnyShape],
        *,
        needed: Collection[str] = (),
        every: AnyShape = object,
    ) -> None:
        # Plain types are checked here without a function call, because the records of a fleet have many rows.
        self._types = [(key, shape) for key, shape in keys.items() if not isinstance(shape, Shape)]
        self._shapes = [(key, shape) for key, shape in keys.items() if isinstance(shape, Shape)]
        self._needed = needed
        self._every = every
        self._fits_every = every.is_true if isinstance(every, Where) else lambda each: fits(each, every)

    def misfit(self, value: Any) -> str | None:
        if not isinstance(value, dict):
            return ""
        for key, types in self._types:
            if not isinstance(value.get(key), types):
                return f".{key}"
        for key, shape in self._shapes:
            below = shape.misfit(value.get(key))
            if below is not None:
                return f".{key}{below}"
        return self._misfit_of_some(value)

    def _misfit_of_some(self, value: Mapping[str, Any]) -> str | None:
        for key in self._needed:
            if key not in value:
                return f".{key}"
        if self._every is object or all(map(self._fits_every, value.values())):
            return None
        key = next(key for key, each in value.items() if not self._fits_every(each))
        return f".{key}{misfit(value[key], self._every)}"


class Items(Shape):
    """A list whose items have a shape."""

    def __init__(self, item: AnyShape) -> None:
        self._item = item

    def misfit(self, value: Any) -> str | None:
        if not isinstance(value, list):
            return ""
        for place, each in enumerate(value):
            below = misfit(each, self._item)
            if below is not None:
                return f"[{place}]{below}"
        return None


class Maybe(Shape):
    """A value of a shape, or None."""

    def __init__(self, shape: AnyShape) -> None:
        self._shape = shape

    def misfit(self, value: Any) -> str | None:
        return None if value is None else misfit(value, self._shape)


class Within(Shape):
    """A number in a range, of any type or of the given one. NaN is not in any range, and a truth value is not a
    number."""

    def __init__(self, least: float, most: float, types: type | tuple[type, ...] = (int, float)) -> None:
        self._least, self._most, self._types = least, most, types

    def misfit(self, value: Any) -> str | None:
        return (
            None
            if isinstance(value, self._types) and not isinstance(value, bool) and self._least <= value <= self._most
            else ""
        )


class Where(Shape):
    """A value that meets a condition. The condition must not raise an exception."""

    def __init__(self, is_true: Callable[[Any], bool]) -> None:
        self.is_true = is_true

    def misfit(self, value: Any) -> str | None:
        return None if self.is_true(value) else ""


def check(value: Any, shape: AnyShape, refusal: Callable[[str], Exception]) -> None:
    """If a part of a value does not have the shape, raise the exception that ``refusal`` makes from the name of the
    part."""
    path = misfit(value, shape)
    if path is not None:
        raise refusal(named(path))


def check_schema(data: Mapping[str, Any], version: int, refusal: Callable[[str], Exception]) -> None:
    """If data was not written in a version of its format, raise the exception that ``refusal`` makes from the words
    about both versions."""
    found = data.get("schema")
    if found != version:
        theirs = "no schema" if found is None else f"schema {named(str(found))}"
        raise refusal(f"has {theirs}, but this version of the collection reads schema {version}")


def as_dict(value: Any) -> dict[str, Any]:
    """Return a value if it is an object, and otherwise an empty object."""
    return value if isinstance(value, dict) else {}


def dicts_in(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list, or none if the value is not a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def named(path: str) -> str:
    """Return the path of a part of an object as it is shown; its keys come from the object and are therefore
    untrusted."""
    return printable(path.removeprefix("."))[:_LONGEST_PATH]


def _is_plain(value: Any) -> bool:
    """Whether a value is a string, None, or a number that can be used in computations."""
    return isinstance(value, _TEXT) or (isinstance(value, (int, float)) and abs(value) <= _LARGEST)


PLAIN = Where(_is_plain)
NUMBER = (int, float, type(None))
"""A number or None."""
