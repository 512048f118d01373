# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plans the certification of a host's queue managers: derives the volumes under test from the result of
``queue_manager_info``.

There is one volume for each file system that holds recovery logs. The result has the form of ``workspace_volumes``, so
that people can change it.
"""

from __future__ import annotations

import json
import math
import re
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from ...module_utils import _ini_files, _units
from .._observe.write_sizes import WriteSizes, read_write_sizes
from .._run.shapes import Items, Keys, Maybe, Where, Within, check

PAGE_BYTES = _ini_files.LOG_PAGE_BYTES
DIRECTORY_NAMES = ("logdisk", "logdisk-test")
"""Names of a directory under test. The second name is used if a queue manager's log already has the first name."""
BY_HAND = "specify the volumes of this host as workspace_volumes instead"
BY_OPTION = "set workspace_discover_absent: skip to leave out queue managers that a host does not have"
SHOWN_REASONS = 2
_LONGEST_NAME = 60
_TEMPLATE = re.compile(r"\{[{%#]")
"""The characters that open a template. Ansible would evaluate it in the variables file for users."""


class DiscoveryError(ValueError):
    """No plan can be made from a host's answer. The message states what to do."""


@dataclass(frozen=True)
class Log:
    """The properties of a queue manager's recovery log that a test must match.

    ``assumed`` names the settings that are the product's defaults. ``configured_pages`` is the LogFilePages in qm.ini
    if the files have another size, else None. ``written`` is what MQ published about the writes, or None if it was not
    queried.
    """

    queue_manager: str
    directory: str
    parent: str
    file_pages: int
    primary_files: int
    buffer_pages: int
    assumed: tuple[str, ...]
    mount_point: str
    mount_source: str
    filesystem_type: str
    device_number: str
    size_bytes: int
    free_bytes: int
    configured_pages: int | None = None
    written: WriteSizes | None = None

    @property
    def buffer_bytes(self) -> int:
        return (self.buffer_pages or _ini_files.DEFAULT_BUFFER_PAGES) * PAGE_BYTES


@dataclass(frozen=True)
class Refused:
    """A volume that cannot be planned, with its name in the report and the reason."""

    name: str
    reason: str


@dataclass(frozen=True)
class Skipped:
    """A queue manager whose log is not on this host: its title in the report, its name, and what is missing."""

    name: str
    queue_manager: str
    reason: str


@dataclass(frozen=True)
class Discovered:
    """The plan of a host: ``volumes`` in the form of ``workspace_volumes``, sentences about each of them by name, the
    volumes that are ``refused``, and the queue managers that are ``skipped``.

    The sentences in ``sizes`` state the source of sizes: files that contradict qm.ini, and what MQ was queried for. If
    queue managers are skipped, there may be no volumes.
    """

    volumes: list[dict[str, Any]]
    about: dict[str, list[str]]
    sizes: dict[str, list[str]]
    refused: list[Refused]
    skipped: list[Skipped]


def plan_volumes(
    answer: Mapping[str, Any],
    block_sizes_bytes: Sequence[int],
    skip_absent: bool = False,
    only: Collection[str] | None = None,
) -> Discovered:
    """Return the plan from the answer of ``queue_manager_info``, which is untrusted.
    Raises DiscoveryError if there is nothing to plan.

    ``skip_absent`` leaves out queue managers whose logs are not on this host. ``only`` names the queue managers to plan
    for; without it, the plan is for all of them. No directory is inside the log of any queue manager.
    """
    _check(answer, _ANSWER, "")
    items, problems = answer["queue_managers"], answer["problems"]
    if problems:
        raise DiscoveryError(
            f"queue managers may be missing from what was discovered: {'; '.join(problems)}. Correct that, or {BY_HAND}"
        )
    if not items:
        raise DiscoveryError(
            "no queue manager was discovered on this host: there is none in its mqs.ini. Set workspace_mqs_ini if the "
            "file is in another place (MQ_OVERRIDE_DATA_PATH), add workspace_planned_queue_managers, or "
            f"{BY_HAND}"
        )
    for number, item in enumerate(items):
        _check(item, _UNPLANNED if item.get("problem") else _PLANNED, f"queue_managers[{number}].")
    wanted = [item for item in items if only is None or item["name"] in only]
    absent = [item for item in wanted if skip_absent and item.get("absent")]
    unknown = [item for item in wanted if item.get("problem") and item not in absent]
    every_log = [_log(item) for item in items if not item.get("problem")]
    logs = [log for log in every_log if only is None or log.queue_manager in only]
    names = _Names()
    reasons = [item["problem"] for item in unknown]
    skipped = [Skipped(names.new(item["name"]), item["name"], item["problem"]) for item in absent]
    if skipped and not logs and not unknown:
        return Discovered([], {}, {}, [], skipped)
    if not logs:
        more = f"; and {len(reasons) - SHOWN_REASONS} more queue managers" if len(reasons) > SHOWN_REASONS else ""
        raise DiscoveryError(
            "no queue manager of this host can be planned: "
            f"{'; '.join(reasons[:SHOWN_REASONS])}{more}. {_way_out(unknown)}"
        )
    refused = [
        Refused(names.new(item["name"]), f"{reason}. {_way_out([item])}")
        for item, reason in zip(unknown, reasons, strict=True)
    ]
    volumes, about, sizes = [], {}, {}
    for group in _by_file_system(logs):
        name = names.new(group[0].mount_point.strip("/") or "root")
        place = _place_beside(group, every_log)
        if place is None:
            refused.append(Refused(name, _no_place(group)))
            continue
        volumes.append(_volume(name, *place, group, block_sizes_bytes))
        about[name] = list(_about(volumes[-1], group, block_sizes_bytes))
        sizes[name] = [*_about_files(group), *_about_sizes(group)]
    if not volumes:
        raise DiscoveryError("; ".join(each.reason for each in refused))
    return Discovered(volumes, about, sizes, refused, skipped)


def _way_out(items: Iterable[Mapping[str, Any]]) -> str:
    option = f"{BY_OPTION}, " if any(item.get("absent") for item in items) else ""
    return f"Correct that, {option}or {BY_HAND}"


def footprint_bytes(volume: Mapping[str, Any]) -> int:
    """Return the size of the test files of a planned volume."""
    return _units.parse_size(volume["file_size"]) * volume["files"] * len(volume["queue_managers"])


def _by_file_system(logs: Iterable[Log]) -> list[list[Log]]:
    groups: dict[str, list[Log]] = {}
    for log in logs:
        groups.setdefault(log.device_number, []).append(log)
    return sorted(groups.values(), key=lambda group: group[0].mount_point)


def _place_beside(group: Sequence[Log], logs: Sequence[Log]) -> tuple[str, str] | None:
    """Return a new directory on the file system of a group, beside one of its logs and not inside any of them, and its
    mount point; None if there is no such directory."""
    inside = tuple(log.directory.rstrip("/") + "/" for log in logs)
    for log in group:
        for name in DIRECTORY_NAMES:
            path = f"{log.parent.rstrip('/')}/{name}"
            if log.directory != log.mount_point and not f"{path}/".startswith(inside):
                return path, log.mount_point
    return None


def _no_place(group: Sequence[Log]) -> str:
    log = group[0]
    return (
        f"the LogPath of {log.queue_manager}, {log.directory}, is a mount point, so this file system has no "
        "place beside the log. To test it, end the queue manager, specify the volumes of this host as "
        f"workspace_volumes, this one with the path {log.directory.rstrip('/')}/{DIRECTORY_NAMES[0]}, and set "
        "workspace_allow: [queue_manager_files]"
        if log.directory == log.mount_point
        else f"there is no directory on {log.mount_point} that is not inside the log of a queue manager: {BY_HAND}"
    )


def _volume(
    name: str, path: str, mount_point: str, group: Sequence[Log], block_sizes_bytes: Sequence[int]
) -> dict[str, Any]:
    file_bytes = max(log.file_pages for log in group) * PAGE_BYTES
    return {
        "name": name,
        "path": path,
        "queue_managers": [log.queue_manager for log in group],
        "expect_mount": mount_point,
        "file_size": _units.short_size(file_bytes),
        "files": max(log.primary_files for log in group),
        "block_sizes": [
            _units.short_size(size)
            for size in _published_sizes(group) or _block_sizes(block_sizes_bytes, _largest_write_bytes(group))
        ],
        "load_points": list(range(1, len(group) + 1)),
        "log_buffer": _units.short_size(_largest_write_bytes(group)),
    }


def _largest_write_bytes(group: Sequence[Log]) -> int:
    """Return the size of the largest write of a group's loggers. It is the size of the whole log buffer, but at most
    the size of a log file."""
    return max(min(log.buffer_bytes, log.file_pages * PAGE_BYTES) for log in group)


def _block_sizes(wanted_bytes: Sequence[int], largest_bytes: int) -> list[int]:
    """Return the block sizes that MQ's logger can write, always including the largest one."""
    sizes = [size for size in wanted_bytes if size <= largest_bytes]
    return sizes if largest_bytes in sizes else [*sizes, largest_bytes]


def _published_sizes(group: Sequence[Log]) -> list[int]:
    """Return the smallest, the median and the largest write size that MQ published for a group, in whole pages; nothing
    if none were published."""
    found = sorted(size for log in group if log.written for size in log.written.sizes_bytes)
    if not found:
        return []
    most = _largest_write_bytes(group)
    chosen = (found[0], statistics.median_low(found), found[-1])
    return list(dict.fromkeys(min(math.ceil(size / PAGE_BYTES) * PAGE_BYTES, most) for size in chosen))


def _about_files(group: Sequence[Log]) -> Iterator[str]:
    """Yield a sentence for each log whose files do not have the size in qm.ini."""
    for log in group:
        if log.configured_pages is not None:
            yield (
                f"{log.queue_manager}: each of its log files has {_units.format_size(log.file_pages * PAGE_BYTES)}, "
                f"but LogFilePages={log.configured_pages} in qm.ini means "
                f"{_units.format_size(log.configured_pages * PAGE_BYTES)}. The test uses the size of the files, "
                "because MQ may ignore a LogFilePages that was changed after it created the queue manager"
            )


def _about_sizes(group: Sequence[Log]) -> Iterator[str]:
    """Yield sentences about the source of the block sizes, if MQ was queried for them."""
    asked = [(log.queue_manager, log.written) for log in group if log.written]
    for name, written in asked:
        sizes = [_units.format_size(math.ceil(size)) for size in sorted(written.sizes_bytes)]
        if sizes:
            spread = sizes[0] if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
            yield (
                f"{name}: according to {written.source}, its log writes have an average size of {spread} "
                f"({len(sizes)} publication{'s' if len(sizes) > 1 else ''})"
            )
        else:
            yield f"{name} did not report how large its log writes are: {written.problem}"
    if any(written.sizes_bytes for dummy, written in asked):
        yield (
            "the block sizes are the smallest, the median and the largest of these sizes in whole pages. Each of them "
            "is a rolling average: MQ does not report how much smaller or larger single writes are"
        )
    elif asked:
        yield "so the block sizes are taken from sweep_block_sizes"


def _about(volume: Mapping[str, Any], group: Sequence[Log], block_sizes_bytes: Sequence[int]) -> Iterator[str]:
    """Yield the information that people need to check a volume."""
    log, needed_bytes = group[0], footprint_bytes(volume)
    fit = "fit" if needed_bytes < log.free_bytes else "DO NOT FIT"
    yield (
        f"{log.mount_point} ({log.filesystem_type} on {log.mount_source}, "
        f"{_units.format_size(log.size_bytes)}): {_units.format_size(needed_bytes)} of test files {fit} into "
        f"{_units.format_size(log.free_bytes)} of free space"
    )
    for log in group:
        assumed = f" (assumed to be MQ's defaults: {', '.join(log.assumed)})" if log.assumed else ""
        yield (
            f"{log.queue_manager} logs to {log.directory}: {log.primary_files} primary files of "
            f"{_units.format_size(log.file_pages * PAGE_BYTES)}, a log buffer of "
            f"{_units.format_size(log.buffer_bytes)}{assumed}"
        )
    if len({(log.file_pages, log.primary_files, log.buffer_bytes) for log in group}) > 1:
        yield "these logs differ: the test uses the largest value of each setting"
    left_out = [size for size in block_sizes_bytes if size > _largest_write_bytes(group)]
    if left_out and not _published_sizes(group):
        yield (
            f"no log write here is as large as {_units.format_size(min(left_out))}: block sizes "
            "from that one on are left out"
        )


def as_yaml(host: str, plan: Discovered) -> str:
    """Return the plan as a file of variables for the host, with the information that people need about each volume as
    comments."""
    lines = [
        (
            f"# The volumes that were discovered for {host}. To change the plan, edit this list and "
            "use it as a file of host_vars."
        ),
        "---",
    ]
    lines += [f"# Not in this plan: {each.name}: {each.reason}" for each in plan.refused]
    lines += [
        f"# Skipped, because it is not on this host: {each.queue_manager}: {each.reason}" for each in plan.skipped
    ]
    lines.append("workspace_volumes:" if plan.volumes else "workspace_volumes: []")
    for volume in plan.volumes:
        lines += [f"  # {sentence}" for sentence in (*plan.about[volume["name"]], *plan.sizes[volume["name"]])]
        # In versions of ansible-core before 2.19, text from a host has a special class that YAML cannot represent.
        block = yaml.safe_dump(
            json.loads(json.dumps(volume)), sort_keys=False, default_flow_style=None, width=1000, allow_unicode=True
        )
        lines += [("  - " if number == 0 else "    ") + line for number, line in enumerate(block.splitlines())]
    return "\n".join(lines) + "\n"


def as_lines(host: str, plan: Discovered, place: str) -> Iterator[str]:
    """Yield the lines of the plan for the screen. ``place`` is the file with the complete plan."""
    count = len(plan.volumes)
    yield (
        f"{host}: {count} volume{'' if count == 1 else 's'} discovered. To change this plan, edit "
        f"{place} and use it as host_vars."
    )
    for volume in plan.volumes:
        sizes, loads = volume["block_sizes"], volume["load_points"]
        writers = "1 writer" if len(loads) == 1 else f"1 to {loads[-1]} writers"
        yield (
            f"  {volume['name']}: {', '.join(volume['queue_managers'])} in {volume['path']}: {volume['files']} files "
            f"of {volume['file_size']} each, writes of {sizes[0]} to {sizes[-1]}, {writers}"
        )
        yield f"    {plan.about[volume['name']][0]}"
        yield from (f"    {sentence}" for sentence in plan.sizes[volume["name"]])
    yield from (f"  NOT in this plan: {each.name}: {each.reason}" for each in plan.refused)
    yield from (f"  SKIPPED: {each.queue_manager}: {each.reason}" for each in plan.skipped)


class _Names:
    """Generates names for volumes. Each name is unique, and the names are the same in each run."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, text: str) -> str:
        base = re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-._")[:_LONGEST_NAME] or "volume"
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}-{number}"
        self._taken.add(name)
        return name


# The answer of a host.


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != "" and value.isprintable()


def _is_literal(value: Any) -> bool:
    """Return whether a value is text that contains no template, so that it can be used literally as the value of a
    variable. Text from a host must never be evaluated on the controller."""
    return _is_text(value) and not _TEMPLATE.search(value)


_TEXT, _LITERAL = Where(_is_text), Where(_is_literal)
_PATH = Where(lambda value: _is_literal(value) and value.startswith("/"))
_MAYBE_TEXT = Where(lambda value: not value or _is_text(value))
_MOUNT = Keys(
    {
        "mount_point": Maybe(_PATH),
        "device_number": Maybe(_TEXT),
        **dict.fromkeys(("mount_source", "filesystem_type"), _MAYBE_TEXT),
        **dict.fromkeys(("filesystem_size_bytes", "filesystem_free_bytes"), Within(0, _units.LARGEST, int)),
    }
)
_ANSWER = Keys({"queue_managers": Items(dict), "problems": Items(_TEXT)})
_UNPLANNED = Keys({"name": _TEXT, "problem": _TEXT, "absent": (bool, type(None))})
_PLANNED = Keys(
    {
        "name": _LITERAL,
        "absent": Where(lambda absent: absent in (None, False)),
        **dict.fromkeys(("log_directory", "log_parent"), _PATH),
        "log_file_pages": Within(64, 65535, int),
        "log_primary_files": Within(2, 510, int),
        "log_buffer_pages": Within(0, 4096, int),
        "sources": dict,
        "contradicted": Maybe(Keys({"log_file_pages": Maybe(Within(64, 65535, int))})),
        "filesystem": _MOUNT,
    }
)
"""A queue manager without a problem."""


def _check(value: Any, shape: Keys, what: str) -> None:
    """Raise DiscoveryError if a host's answer does not have the expected structure."""
    check(
        value,
        shape,
        lambda part: DiscoveryError(f"what was discovered on this host cannot be used: it has no usable {what}{part}"),
    )


def _log(item: Mapping[str, Any]) -> Log:
    mount, sources = item["filesystem"], item["sources"]
    if mount.get("device_number") is None or mount.get("mount_point") is None:
        raise DiscoveryError(
            f"the mount of {item['log_directory']} is unknown: is /proc mounted on this host? Otherwise {BY_HAND}"
        )
    settings = (
        ("log_file_pages", "LogFilePages"),
        ("log_primary_files", "LogPrimaryFiles"),
        ("log_buffer_pages", "LogBufferPages"),
    )
    return Log(
        queue_manager=item["name"],
        directory=item["log_directory"],
        parent=item["log_parent"],
        file_pages=item["log_file_pages"],
        primary_files=item["log_primary_files"],
        buffer_pages=item["log_buffer_pages"],
        assumed=tuple(title for key, title in settings if sources.get(key) == "assumed"),
        mount_point=mount["mount_point"],
        mount_source=mount.get("mount_source") or "?",
        filesystem_type=mount.get("filesystem_type") or "?",
        device_number=mount["device_number"],
        size_bytes=mount["filesystem_size_bytes"],
        free_bytes=mount["filesystem_free_bytes"],
        configured_pages=(item.get("contradicted") or {}).get("log_file_pages"),
        written=read_write_sizes(item["observed"]) if "observed" in item else None,
    )
