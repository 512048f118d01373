# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Facts in a readable form: grouped by subject, with names and units, and with a hint if a value is relevant to a queue
manager's log."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils._units import format_duration, format_ratio, format_size
from .._judge.notes import NO_FLUSH_BELOW
from .._run.shapes import Within, fits
from .._run.table_reader import DECIMAL_PATTERN

HOST, FILE_SYSTEM, DEVICE, TESTER = "Host", "File system", "Device", "Tester"

_DIGITS = re.compile(r"[0-9]{1,20}\Z")
_LARGEST = 1 << 64
_WHOLE, _REAL = Within(0, _LARGEST, int), Within(-_LARGEST, _LARGEST)
_BARRIERS_OFF = frozenset(("nobarrier", "barrier=0"))
_MEMORY = ("tmpfs", "ramfs", "memory")

Facts = Mapping[str, Any]
Hint = Callable[[Any, Facts], str]
"""A function that makes the hint for a value, given all facts; empty if the value is nothing special."""


@dataclass(frozen=True, slots=True)
class ShownFact:
    """A fact of a host, ready to be shown."""

    title: str
    value: str
    hint: str = ""


def grouped_facts(facts: Facts, workspace: Facts, tester: Facts) -> list[tuple[str, list[ShownFact]]]:
    """Return the groups with their facts, known groups first; empty groups are left out."""
    known = {
        **facts,
        **{f"workspace_{key}": value for key, value in workspace.items()},
        **{f"tester_{key}": value for key, value in tester.items()},
    }
    filled = {name: value for name, value in known.items() if value not in (None, "")}
    groups = {
        group: [_shown(name, title, filled) for name, title in titles.items() if name in filled]
        for group, titles in _TITLES.items()
    }
    titled = {name for titles in _TITLES.values() for name in titles}
    for name in filled:
        if name not in titled:
            groups[_group_of(name)].append(_shown(name, name, filled))
    return [(group, shown) for group, shown in groups.items() if shown]


def _shown(name: str, title: str, facts: Facts) -> ShownFact:
    kind = name.replace("device_member_", "device_")
    write = _FORMS.get(kind) or (_size if name.endswith("_bytes") else _text)
    hint = _HINTS.get(kind)
    return ShownFact(title, write(facts[name]), hint(facts[name], facts) if hint else "")


def _group_of(name: str) -> str:
    """Return the group of a fact that only newer testers know."""
    return next((group for prefixes, group in _PREFIXES.items() if name.startswith(prefixes)), HOST)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _number(value: Any) -> int | None:
    """Return a fact as a non-negative whole number, or None if it is not such a number. Facts from the tester's tables
    are text."""
    if isinstance(value, str):
        return int(value) if _DIGITS.match(value) else None
    return value if fits(value, _WHOLE) else None


def _real(value: Any) -> float | None:
    """Return a fact as a number, or None if it is not a possible number."""
    return float(value) if fits(value, _REAL) else None


def _size(value: Any) -> str:
    number = _number(value)
    return _text(value) if number is None else format_size(number)


def _duration(scale: int) -> Callable[[Any], str]:
    def write(value: Any) -> str:
        number = _real(_number(value) if isinstance(value, str) else value)
        return _text(value) if number is None else format_duration(number * scale)

    return write


def _offset(value: Any) -> str:
    number = _real(value)
    return (
        _text(value)
        if number is None
        else f"{format_duration(abs(number) * 1e9)} {'behind' if number < 0 else 'ahead of'} the controller"
    )


def _choice(texts: Mapping[str, str]) -> Callable[[Any], str]:
    """Return a function that looks up the text of a value in a table; values that are not in the table are returned
    unchanged."""
    return lambda value: texts.get(str(value), _text(value))


def _when(texts: Mapping[str, str]) -> Hint:
    return lambda value, facts: texts.get(str(value), "")


def _scheduler_hint(value: Any, facts: Facts) -> str:
    return (
        ""
        if value == "none"
        else "it may hold writes back to reorder them; flash and storage arrays usually use the scheduler none"
    )


def _free_hint(value: Any, facts: Facts) -> str:
    free, size = _number(value), _number(facts.get("filesystem_size_bytes"))
    return f"{format_ratio(free / size)} of the file system" if free is not None and size else ""


def _barrier_hint(value: Any, facts: Facts) -> str:
    return (
        "write barriers are off: a power failure may lose writes that were reported as complete"
        if _BARRIERS_OFF & {*str(value).split(",")}
        else ""
    )


def _flush_hint(value: Any, facts: Facts) -> str:
    """Return the effect of a synchronous write, from the ratio of its median to the median of a plain write; empty if
    the ratio is between the known cases."""
    number = _real(float(value)) if isinstance(value, str) and DECIMAL_PATTERN.match(value) else _real(value)
    if number is None:
        return ""
    if number < NO_FLUSH_BELOW:
        return "a synchronous write costs no more than a plain one: no flush is sent, or it costs nothing"
    if 1.5 <= number <= 3:
        return "flushes complete at once: the cache is protected (battery, capacitors), or it ignores flushes"
    return "a flush does real work" if number > 10 else ""


def _physical_hint(value: Any, facts: Facts) -> str:
    physical, logical = _number(value), _number(facts.get("device_logical_block_bytes"))
    if physical is None or logical is None or physical <= max(logical, 4096):
        return ""
    return f"the device may have to read before it writes less than {format_size(physical)}"


def _logical_hint(value: Any, facts: Facts) -> str:
    number = _number(value)
    return (
        "more than a page of MQ's log (4 KiB): MQ cannot write to it with direct I/O"
        if number is not None and number > 4096
        else ""
    )


def _throttled_hint(value: Any, facts: Facts) -> str:
    reached_s, elapsed_s = _real(value), _real(facts.get("volume_limits_elapsed_s"))
    return (
        f"{format_ratio(reached_s / elapsed_s)} of the time between the two readings" if reached_s and elapsed_s else ""
    )


def _wbt(value: Any) -> str:
    return "off" if _number(value) == 0 else _duration(1000)(value)


def _wbt_hint(value: Any, facts: Facts) -> str:
    return "delays buffered writes, but not the direct writes of a log" if _number(value) else ""


_KIND_HINT = _when(
    {
        **dict.fromkeys(_MEMORY, "memory, not storage"),
        **dict.fromkeys(
            ("nfs", "nfs4", "cifs", "smb3"), "each write waits for the network and for the server's storage"
        ),
        "overlay": "a container's layers; the figures are those of the underlying file system",
    }
)
_LIMITS_REACHED = {
    "volume_limits_volume_iops_s": "Volume at its IOPS limit",
    "volume_limits_volume_throughput_s": "Volume at its throughput limit",
    "volume_limits_instance_iops_s": "Instance at its IOPS limit",
    "volume_limits_instance_throughput_s": "Instance at its throughput limit",
}
_DEVICE_TITLES = {
    "name": "Name",
    "model": "Model",
    "write_cache": "Write cache",
    "scheduler": "Scheduler",
    "rotational": "Kind",
    "nomerges": "Merging of requests (nomerges)",
    "wbt_lat_us": "Writeback throttling (wbt_lat_usec)",
    "logical_block_bytes": "Logical block",
    "physical_block_bytes": "Physical block",
}
_TITLES: Mapping[str, Mapping[str, str]] = {
    HOST: {
        "hostname": "Host name",
        "os": "Operating system",
        "kernel": "Kernel",
        "architecture": "Architecture",
        "cpus": "Processors",
        "memory_bytes": "Memory",
        "clock_offset_s": "Clock",
        "clock_offset_error_s": "Uncertainty of the clock's offset",
        "machine_id": "Machine ID",
        "boot_id": "Boot ID",
        "user": "Connecting user",
        "home": "Home directory",
        "python_version": "Python",
        "kubernetes_node": "Node",
        "kubernetes_pod": "Pod",
        "image": "Image",
        "target_message_bytes": "Required load: message size",
        "target_messages_per_s": "Required load: messages per second",
        "target_clients": "Required load: clients",
    },
    FILE_SYSTEM: {
        "storage_class": "Storage class",
        "storage_provisioner": "Provisioner",
        "storage_reclaim_policy": "Reclaim policy",
        "filesystem_type": "Type",
        "backing_filesystem_type": "Underlying file system",
        "backing_unknown": "Unknown about the underlying file system",
        "mount_point": "Mount point",
        "mount_source": "Source",
        "mount_options": "Mount options",
        "places": "Places on several mounts or devices",
        "filesystem_size_bytes": "Size",
        "filesystem_free_bytes": "Free before the test",
        "filesystem_uuid": "UUID",
        "direct_io_alignment_bytes": "Unit of direct I/O",
        "nfs_server_address": "NFS server",
        "nfs_version": "NFS version",
        "nfs_wsize_bytes": "Largest NFS write (wsize)",
        "nfs_protocol": "NFS transport",
        "queue_manager_log_buffer_bytes": "Log buffer of the queue manager",
        "queue_manager_logs": "Queue managers that log here",
        "queue_manager_log_set_bytes": "Primary log files of the queue manager",
    },
    DEVICE: {
        **{f"device_{name}": title for name, title in _DEVICE_TITLES.items()},
        "device_stack": "Devices, from the top",
        **{
            f"device_member_{name}": f"Disk below: {title[0].lower()}{title[1:]}"
            for name, title in _DEVICE_TITLES.items()
        },
        "device_number": "Device number",
        "backing_disks": "Disks at the bottom",
        "device_ids": "Identifiers of the disks",
        "device_firmware": "Firmware",
        "device_driver": "Driver",
        "device_layers": "Layers above the disks",
        "array_settings": "Settings of the array, from the inventory",
        "device_shared_with": "Tests of other runs on the same disks",
        "device_read_bytes": "Read during the test",
        "device_written_bytes": "Written during the test",
        "volume_limits_devices": "Volumes with counters of their limits",
        "volume_limits_elapsed_s": "Time between the readings of the counters",
        **_LIMITS_REACHED,
        "sync_probe_plain_p50_ns": "Median direct write",
        "sync_probe_sync_p50_ns": "Median synchronous direct write",
        "sync_probe_ratio": "Synchronous over plain",
    },
    TESTER: {
        "workload_name": "Workload",
        "workload_version": "Version of the workload",
        "workload_is_not": "What the workload does not represent",
        "load_target": "Load that the storage must carry",
        "search_ended_after_rounds": "Rounds after which the search ended",
        "tester_version": "Version",
        "tester_method": "How it was installed",
        "promised_user": "Runs as",
        "workspace_path": "Path under test",
        "workspace_queue_managers": "Queue managers",
        "workspace_directories": "Test directories",
        "workspace_unknown": "Not determined before the test",
        "tester_exit_status": "Exit status",
        "tester_exit_reason": "Ended",
        "tester_exit_message": "Message",
        "tester_error": "I/O error",
        "tester_in_flight": "Write that had not returned",
    },
}
"""The titles of the known facts by group, in the order in which they are shown."""
_PREFIXES = {
    ("filesystem_", "mount_", "nfs_", "backing_"): FILE_SYSTEM,
    ("device_", "volume_"): DEVICE,
    ("tester_", "workspace_"): TESTER,
}
"""The groups of other facts, by the beginnings of their names."""
_FORMS: Mapping[str, Callable[[Any], str]] = {
    "clock_offset_s": _offset,
    "device_rotational": _choice({"0": "not rotational", "1": "rotational"}),
    "device_nomerges": _choice({"0": "all merges (0)", "1": "simple merges only (1)", "2": "none (2)"}),
    "device_wbt_lat_us": _wbt,
    **dict.fromkeys(("clock_offset_error_s", "volume_limits_elapsed_s", *_LIMITS_REACHED), _duration(10**9)),
    **dict.fromkeys(("sync_probe_plain_p50_ns", "sync_probe_sync_p50_ns"), _duration(1)),
    "tester_method": _choice({"compile": "compiled on the host", "binary": "copied as a static binary"}),
}
"""The forms of values that are not shown as sizes or as text."""
_HINTS: Mapping[str, Hint] = {
    **dict.fromkeys(("filesystem_type", "backing_filesystem_type"), _KIND_HINT),
    "mount_options": _barrier_hint,
    "filesystem_free_bytes": _free_hint,
    "device_write_cache": _when(
        {
            "write back": "power-loss protection not known: the kernel must flush the cache, or bypass it, for each "
            "write of the log",
            "write through": "no volatile cache that the kernel must flush",
        }
    ),
    "device_scheduler": _scheduler_hint,
    "device_rotational": _when({"1": "many virtual disks report this although they are not hard disks"}),
    "device_nomerges": _when(
        {
            "0": "the value 2 turns off the search for neighbouring requests, which improved IBM's own measurements on "
            "a SAN"
        }
    ),
    "device_wbt_lat_us": _wbt_hint,
    "device_logical_block_bytes": _logical_hint,
    "device_physical_block_bytes": _physical_hint,
    "device_shared_with": lambda value, facts: "these figures include their load",
    **dict.fromkeys(_LIMITS_REACHED, _throttled_hint),
    "sync_probe_ratio": _flush_hint,
}
