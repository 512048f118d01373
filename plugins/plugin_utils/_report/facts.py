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
GROUPS = (HOST, FILE_SYSTEM, DEVICE, TESTER)

_DIGITS = re.compile(r"[0-9]{1,20}\Z")
_LARGEST = 1 << 64
_WHOLE, _REAL = Within(0, _LARGEST, int), Within(-_LARGEST, _LARGEST)
_BARRIERS_OFF = frozenset(("nobarrier", "barrier=0"))
_MEMORY = ("tmpfs", "ramfs", "memory")

Hint = Callable[[Any, Mapping[str, Any]], str]
"""A function that makes the hint for a value, given all facts; empty if the value is nothing special."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact: its key in a record, its group, its title, how its value is formatted (as a size or as text unless stated
    otherwise), and its hint."""

    name: str
    group: str
    title: str
    write: Callable[[Any], str] | None = None
    hint: Hint | None = None

    def text(self, value: Any) -> str:
        """Return the displayed value."""
        return (self.write or (_size if self.name.endswith("_bytes") else _text))(value)


@dataclass(frozen=True, slots=True)
class ShownFact:
    """A fact of a host, ready to be shown."""

    title: str
    value: str
    hint: str = ""


def grouped_facts(
    facts: Mapping[str, Any], workspace: Mapping[str, Any], tester: Mapping[str, Any]
) -> list[tuple[str, list[ShownFact]]]:
    """Return the groups with their facts, known groups first; empty groups are left out."""
    known = {
        **facts,
        **{f"workspace_{key}": value for key, value in workspace.items()},
        **{f"tester_{key}": value for key, value in tester.items()},
    }
    filled = {name: value for name, value in known.items() if value not in (None, "")}
    order = [name for name in _FACTS if name in filled] + [name for name in filled if name not in _FACTS]
    groups: dict[str, list[ShownFact]] = {group: [] for group in GROUPS}
    for name in order:
        fact = _FACTS.get(name) or _unknown(name)
        groups[fact.group].append(
            ShownFact(fact.title, fact.text(filled[name]), fact.hint(filled[name], filled) if fact.hint else "")
        )
    return [(group, shown) for group, shown in groups.items() if shown]


def _unknown(name: str) -> Fact:
    """Return a title made from the name of a fact, for unknown facts of newer testers."""
    prefixes = {
        "filesystem_": FILE_SYSTEM,
        "mount_": FILE_SYSTEM,
        "nfs_": FILE_SYSTEM,
        "backing_": FILE_SYSTEM,
        "device_": DEVICE,
        "volume_": DEVICE,
    }
    group = next(
        (group for prefix, group in prefixes.items() if name.startswith(prefix)),
        TESTER if name.startswith(("tester_", "workspace_")) else HOST,
    )
    return Fact(name, group, name)


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


def _choice(**texts: str) -> Callable[[Any], str]:
    """Return a function that looks up the text of a value in a table; values that are not in the table are returned
    unchanged."""
    return lambda value: texts.get(f"v{value}", _text(value))


def _when(texts: Mapping[str, str]) -> Hint:
    return lambda value, facts: texts.get(str(value), "")


def _scheduler_hint(value: Any, facts: Mapping[str, Any]) -> str:
    return (
        ""
        if value == "none"
        else "it may hold writes back to reorder them; flash and storage arrays usually use the scheduler none"
    )


def _free_hint(value: Any, facts: Mapping[str, Any]) -> str:
    free, size = _number(value), _number(facts.get("filesystem_size_bytes"))
    return f"{format_ratio(free / size)} of the file system" if free is not None and size else ""


def _barrier_hint(value: Any, facts: Mapping[str, Any]) -> str:
    return (
        "write barriers are off: a power failure may lose writes that were reported as complete"
        if _BARRIERS_OFF & {*str(value).split(",")}
        else ""
    )


def _flush_hint(value: Any, facts: Mapping[str, Any]) -> str:
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


def _physical_hint(value: Any, facts: Mapping[str, Any]) -> str:
    physical, logical = _number(value), _number(facts.get("device_logical_block_bytes"))
    if physical is None or logical is None or physical <= max(logical, 4096):
        return ""
    return f"the device may have to read before it writes less than {format_size(physical)}"


def _logical_hint(value: Any, facts: Mapping[str, Any]) -> str:
    number = _number(value)
    return (
        "more than a page of MQ's log (4 KiB): MQ cannot write to it with direct I/O"
        if number is not None and number > 4096
        else ""
    )


def _throttled_hint(value: Any, facts: Mapping[str, Any]) -> str:
    reached_s, elapsed_s = _real(value), _real(facts.get("volume_limits_elapsed_s"))
    return (
        f"{format_ratio(reached_s / elapsed_s)} of the time between the two readings" if reached_s and elapsed_s else ""
    )


_KIND_HINT = _when(
    {
        **dict.fromkeys(_MEMORY, "memory, not storage"),
        **dict.fromkeys(
            ("nfs", "nfs4", "cifs", "smb3"), "each write waits for the network and for the server's storage"
        ),
        "overlay": "a container's layers; the figures are those of the underlying file system",
    }
)
_CACHE_HINT = _when(
    {
        "write back": (
            "power-loss protection not known: the kernel must flush the cache, or bypass it, for each write of the log"
        ),
        "write through": "no volatile cache that the kernel must flush",
    }
)
_ROTATIONAL_HINT = _when({"1": "many virtual disks report this although they are not hard disks"})
_MERGES_HINT = _when(
    {"0": "the value 2 turns off the search for neighbouring requests, which improved IBM's own measurements on a SAN"}
)


def _device_facts(prefix: str, title: Callable[[str], str]) -> tuple[Fact, ...]:
    return (
        Fact(f"{prefix}name", DEVICE, title("Name")),
        Fact(f"{prefix}model", DEVICE, title("Model")),
        Fact(f"{prefix}write_cache", DEVICE, title("Write cache"), hint=_CACHE_HINT),
        Fact(f"{prefix}scheduler", DEVICE, title("Scheduler"), hint=_scheduler_hint),
        Fact(
            f"{prefix}rotational",
            DEVICE,
            title("Kind"),
            _choice(v0="not rotational", v1="rotational"),
            _ROTATIONAL_HINT,
        ),
        Fact(
            f"{prefix}nomerges",
            DEVICE,
            title("Merging of requests (nomerges)"),
            _choice(v0="all merges (0)", v1="simple merges only (1)", v2="none (2)"),
            _MERGES_HINT,
        ),
        Fact(f"{prefix}wbt_lat_us", DEVICE, title("Writeback throttling (wbt_lat_usec)"), _wbt, _wbt_hint),
        Fact(f"{prefix}logical_block_bytes", DEVICE, title("Logical block"), hint=_logical_hint),
        Fact(f"{prefix}physical_block_bytes", DEVICE, title("Physical block"), hint=_physical_hint),
    )


def _wbt(value: Any) -> str:
    return "off" if _number(value) == 0 else _duration(1000)(value)


def _wbt_hint(value: Any, facts: Mapping[str, Any]) -> str:
    return "delays buffered writes, but not the direct writes of a log" if _number(value) else ""


def _member(title: str) -> str:
    return f"Disk below: {title[0].lower()}{title[1:]}"


_LIMITS_REACHED = (
    ("volume_limits_volume_iops_s", "Volume at its IOPS limit"),
    ("volume_limits_volume_throughput_s", "Volume at its throughput limit"),
    ("volume_limits_instance_iops_s", "Instance at its IOPS limit"),
    ("volume_limits_instance_throughput_s", "Instance at its throughput limit"),
)

_FACTS = {
    fact.name: fact
    for fact in (
        Fact("hostname", HOST, "Host name"),
        Fact("os", HOST, "Operating system"),
        Fact("kernel", HOST, "Kernel"),
        Fact("architecture", HOST, "Architecture"),
        Fact("cpus", HOST, "Processors"),
        Fact("memory_bytes", HOST, "Memory"),
        Fact("clock_offset_s", HOST, "Clock", _offset),
        Fact("clock_offset_error_s", HOST, "Uncertainty of the clock's offset", _duration(10**9)),
        Fact("machine_id", HOST, "Machine ID"),
        Fact("boot_id", HOST, "Boot ID"),
        Fact("user", HOST, "Connecting user"),
        Fact("home", HOST, "Home directory"),
        Fact("python_version", HOST, "Python"),
        Fact("kubernetes_node", HOST, "Node"),
        Fact("kubernetes_pod", HOST, "Pod"),
        Fact("image", HOST, "Image"),
        Fact("storage_class", FILE_SYSTEM, "Storage class"),
        Fact("storage_provisioner", FILE_SYSTEM, "Provisioner"),
        Fact("storage_reclaim_policy", FILE_SYSTEM, "Reclaim policy"),
        Fact("filesystem_type", FILE_SYSTEM, "Type", hint=_KIND_HINT),
        Fact("backing_filesystem_type", FILE_SYSTEM, "Underlying file system", hint=_KIND_HINT),
        Fact("backing_unknown", FILE_SYSTEM, "Unknown about the underlying file system"),
        Fact("mount_point", FILE_SYSTEM, "Mount point"),
        Fact("mount_source", FILE_SYSTEM, "Source"),
        Fact("mount_options", FILE_SYSTEM, "Mount options", hint=_barrier_hint),
        Fact("places", FILE_SYSTEM, "Places on several mounts or devices"),
        Fact("filesystem_size_bytes", FILE_SYSTEM, "Size"),
        Fact("filesystem_free_bytes", FILE_SYSTEM, "Free before the test", hint=_free_hint),
        Fact("filesystem_uuid", FILE_SYSTEM, "UUID"),
        Fact("direct_io_alignment_bytes", FILE_SYSTEM, "Unit of direct I/O"),
        Fact("nfs_server_address", FILE_SYSTEM, "NFS server"),
        Fact("nfs_version", FILE_SYSTEM, "NFS version"),
        Fact("nfs_wsize_bytes", FILE_SYSTEM, "Largest NFS write (wsize)"),
        Fact("nfs_protocol", FILE_SYSTEM, "NFS transport"),
        Fact("queue_manager_log_buffer_bytes", FILE_SYSTEM, "Log buffer of the queue manager"),
        Fact("queue_manager_logs", FILE_SYSTEM, "Queue managers that log here"),
        Fact("queue_manager_log_set_bytes", FILE_SYSTEM, "Primary log files of the queue manager"),
        *_device_facts("device_", str),
        Fact("device_stack", DEVICE, "Devices, from the top"),
        *_device_facts("device_member_", _member),
        Fact("device_number", DEVICE, "Device number"),
        Fact("backing_disks", DEVICE, "Disks at the bottom"),
        Fact("device_ids", DEVICE, "Identifiers of the disks"),
        Fact("device_firmware", DEVICE, "Firmware"),
        Fact("device_driver", DEVICE, "Driver"),
        Fact("workload_name", TESTER, "Workload"),
        Fact("workload_version", TESTER, "Version of the workload"),
        Fact("workload_is_not", TESTER, "What the workload does not represent"),
        Fact("load_target", TESTER, "Load that the storage must carry"),
        Fact("search_ended_after_rounds", TESTER, "Rounds after which the search ended"),
        Fact("target_message_bytes", HOST, "Required load: message size"),
        Fact("target_messages_per_s", HOST, "Required load: messages per second"),
        Fact("target_clients", HOST, "Required load: clients"),
        Fact("array_settings", DEVICE, "Settings of the array, from the inventory"),
        Fact(
            "device_shared_with",
            DEVICE,
            "Tests of other runs on the same disks",
            hint=lambda value, facts: "these figures include their load",
        ),
        Fact("device_read_bytes", DEVICE, "Read during the test"),
        Fact("device_written_bytes", DEVICE, "Written during the test"),
        Fact("volume_limits_devices", DEVICE, "Volumes with counters of their limits"),
        Fact("volume_limits_elapsed_s", DEVICE, "Time between the readings of the counters", _duration(10**9)),
        *(Fact(name, DEVICE, title, _duration(10**9), _throttled_hint) for name, title in _LIMITS_REACHED),
        Fact("sync_probe_plain_p50_ns", DEVICE, "Median direct write", _duration(1)),
        Fact("sync_probe_sync_p50_ns", DEVICE, "Median synchronous direct write", _duration(1)),
        Fact("sync_probe_ratio", DEVICE, "Synchronous over plain", hint=_flush_hint),
        Fact("tester_version", TESTER, "Version"),
        Fact(
            "tester_method",
            TESTER,
            "How it was installed",
            _choice(vcompile="compiled on the host", vbinary="copied as a static binary"),
        ),
        Fact("promised_user", TESTER, "Runs as"),
        Fact("workspace_path", TESTER, "Path under test"),
        Fact("workspace_queue_managers", TESTER, "Queue managers"),
        Fact("workspace_directories", TESTER, "Test directories"),
        Fact("workspace_unknown", TESTER, "Not determined before the test"),
        Fact("tester_exit_status", TESTER, "Exit status"),
        Fact("tester_exit_reason", TESTER, "Ended"),
        Fact("tester_exit_message", TESTER, "Message"),
        Fact("tester_error", TESTER, "I/O error"),
        Fact("tester_in_flight", TESTER, "Write that had not returned"),
    )
}
"""The facts that are known, by name, in the order in which they are shown."""
