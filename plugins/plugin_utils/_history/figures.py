# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the data for comparisons and drift from certificates: figures by row, the class of the volume, and which
certificates can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._run.verdicts import GOOD
from .._run.volume_identity import volume_class
from .certificate import ENVIRONMENT, FIGURES

Content = Mapping[str, Any]
"""The content of a certificate."""
RowKey = tuple[int | None, int, str, str]
"""Block size in bytes (None if the stream has sizes of its own), load point, stream and operation."""

LATENCY_MEAN = "latency_mean_ns"
THROUGHPUT = "bytes_per_s"
IMPORTED = "mqldt"
"""The source of certificates that were imported from tables of IBM's mqldt."""

OF_IMPORTED = (THROUGHPUT, "latency_min_ns", "latency_max_ns")
"""The figures of mqldt that can be used."""

_LATENCIES = tuple(name for name in FIGURES if name.startswith("latency_"))
RATES = (THROUGHPUT, "operations_per_s")
_CAPACITY = "capacity"
_VERSIONS = ("collection_version", "tester_version", "method_version")
_IDENTITY = ("device_ids", "filesystem_uuid", "filesystem_size_bytes", "mount_point")


@dataclass(frozen=True)
class Change:
    """A fact that differs between two certificates, with both values."""

    name: str
    before: str | int
    after: str | int


def figure_named(name: str) -> str:
    """Return the column of a figure that a user named: latency_p99 becomes latency_p99_ns. Raises ValueError."""
    for column in (*_LATENCIES, *RATES):
        if name in (column, column.removesuffix("_ns")):
            return column
    known = ", ".join(column.removesuffix("_ns") for column in (*_LATENCIES, *RATES))
    raise ValueError(f"{name!r} is not a figure that can be compared: use one of {known}")


def rows_of(content: Content, figure: str = LATENCY_MEAN) -> dict[RowKey, float]:
    """Return a figure of each row that has it, as a value for which higher means worse. For a rate, this is the
    reciprocal."""
    found = {}
    for row in content["rows"]:
        value = row.get(figure)
        if value:
            found[row["block_size_bytes"], row["load_point"], row["stream"], row["operation"]] = (
                1 / value if figure in RATES else value
            )
    return found


def row_order(row: RowKey) -> tuple[Any, ...]:
    """Return the sort key of a row."""
    return row[1], row[0] or 0, row[2], row[3]


def is_imported(content: Content) -> bool:
    """Return whether a certificate was imported from tables of IBM's mqldt, from which few figures can be used because
    the mean latency is biased."""
    return content.get("source") == IMPORTED


def class_of(content: Content) -> str:
    """Return the class of a volume: the class assigned to it, or else the model of the device with the size and type of
    the file system."""
    return volume_class(content.get("class"), {**(content.get("environment") or {}), **(content.get("identity") or {})})


def why_unusable(content: Content, figure: str = LATENCY_MEAN) -> str:
    """Return the reason why a certificate cannot be compared with any other, or "" if it can. Only the verdict of the
    limits matters, not the verdict of a comparison."""
    if is_imported(content):
        if figure not in OF_IMPORTED:
            return (
                "it was imported from mqldt, so only "
                f"{', '.join(name.removesuffix('_ns') for name in OF_IMPORTED)} can be compared"
            )
    elif content["method_version"] is None:
        return "its tester names no version of its method"
    elif content["disturbances"]:
        return "its measurement was disturbed"
    elif (verdict := content["limits_verdict"]) not in GOOD:
        return f"it does not keep its limits (verdict {verdict})"
    return "" if rows_of(content, figure) else f"it has no row with {figure}"


def why_incomparable(content: Content, other: Content, figure: str = LATENCY_MEAN) -> str:
    """Return the reason why a certificate cannot be compared with a given comparable one, or "" if it can.

    Certificates need the same version of the method and the same parameters of the sweep. Certificates imported from
    mqldt contain neither. For these, the common rows can be compared regardless of the version of the method.
    """
    reason = why_unusable(content, figure)
    if reason:
        return reason
    if is_imported(content) or is_imported(other):
        return (
            "" if rows_of(content, figure).keys() & rows_of(other, figure).keys() else "the two have no row in common"
        )
    if content["method_version"] != other["method_version"]:
        return f"its method version is {content['method_version']}, not {other['method_version']}"
    ours, theirs = content["parameters"], other["parameters"]
    differing = sorted(
        name.removeprefix("option_")
        for name in ours.keys() | theirs.keys()
        if ours.get(name, "") != theirs.get(name, "")
    )
    return f"it was measured with another {', '.join(differing)}" if differing else ""


def comparable_with_newest(
    contents: Sequence[Content], figure: str, excluded: Sequence[str] = ()
) -> tuple[Content | None, list[str]]:
    """Return the newest of a volume's certificates (oldest first) that can be compared at all, None if there is none,
    and for each certificate the reason why it cannot be compared with that one, or "" if it can. ``excluded`` are
    reasons that are already known."""
    known = list(excluded) or [""] * len(contents)
    pairs = list(zip(contents, known))
    usable = (content for content, reason in reversed(pairs) if not (reason or why_unusable(content, figure)))
    newest = next(usable, None)
    return newest, [reason or why_incomparable(content, newest or content, figure) for content, reason in pairs]


def changes(before: Content, after: Content) -> list[Change]:
    """Return the known changes from one certificate of a host's volume to another: in the volume, its environment, the
    tester and the profile."""
    facts = (
        (name, _fact(before, name), _fact(after, name)) for name in (_CAPACITY, *_IDENTITY, *ENVIRONMENT, *_VERSIONS)
    )
    return [
        Change(name, old, new)
        for name, old, new in facts
        if old not in (None, "") and new not in (None, "") and old != new
    ]


def _fact(content: Content, name: str) -> Any:
    if name == _CAPACITY:
        return _capacity(content.get("capacity"))
    part = content if name in _VERSIONS else content.get("identity" if name in _IDENTITY else "environment")
    return (part or {}).get(name)


def _capacity(capacity: Mapping[str, Any] | None) -> str | None:
    if capacity is None:
        return None
    load = capacity["highest_passed"]
    return (
        f"below {capacity['lowest_not_passed']} {capacity['load_unit']}"
        if load is None
        else f"{load} {capacity['load_unit']}"
    )
