# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The text of notes about a measurement, and about what a plan cannot decide."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ...module_utils import _units
from ...module_utils._command_lines import extra_variable
from .._judge.capacity import text_of_load
from .._judge.metrics import HIGHEST, TARGET
from .._run import findings
from .._run.columns import COMMITS
from .._run.words import Words, size_text
from .shares import share_text
from .steps import measured_steps

Note = Mapping[str, Any]

_POWER_CUT = "Only a power cut shows whether such writes survive (playbooks/power_cut.yml)"


def _clock(note: Note, words: Words) -> str:
    return (
        f"Its clock differs from the controller's by {note['offset_s']:+.1f} s (accurate to {note['error_s']:.1f} s). "
        "Its start was corrected by this difference"
    )


_OTHER_CLOCKS = {
    "server": "the clock of the history's database server shows {other}",
    "history": "the newest results in the history were stored when a controller's clock showed {other}",
    "hosts": "the clocks of {hosts} hosts differ from it, for example that of {host} by {offset_s:+.0f} s",
}


def _wrong_clock(note: Note, words: Words) -> str:
    other = _OTHER_CLOCKS[note["cause"]].format_map(note)
    return (
        f"The controller's clock shows {note['clock']}, but {other}. Set the clock that is wrong: results with a wrong "
        "date certify nothing"
    )


def _shared_disk(note: Note, words: Words) -> str:
    return (
        "Other volumes of this host were measured on the same disk at the same time and used a part of its "
        f"performance: {', '.join(note['others'])}"
    )


def _unsteady(note: Note, words: Words) -> str:
    rows = ", ".join(words.row_text(row) for row in note["rows"])
    return (
        f"Its latency was not steady at {rows}: the rounds of the run differ by more than 20 %, or "
        "rise or fall by more than 10 %"
    )


def _plateau(note: Note, words: Words) -> str:
    load = words.load_text(note["load_point"])
    of_stream = f"In {note['operation']}s of {note['stream']} with {load}"
    where = of_stream if words.layout.by_stream else f"At {size_text(note['block_size_bytes'])} with {load}"
    return (
        f"{where}, from second {note['from_second']} on, the rate stayed at {_units.format_ratio(note['share'], 2)} of "
        f"the rate before, with {_units.format_ratio(note['variation'], 2)} variation: a burst allowance may have run "
        "out, or a write cache may be full"
    )


def _no_flush(note: Note, words: Words) -> str:
    if note["cause"] == "mounted":
        off = f"The file system is mounted with {note['option']}, so it sends no flush"
        return f"{off}: a write that returned may still be in a volatile cache. {_POWER_CUT}"
    sync, plain = (_units.format_duration(note[key]) for key in ("sync_ns", "plain_ns"))
    costs = f"a synchronous write takes as long as a plain one ({sync} and {plain})"
    if note["cause"] == "write through":
        why = (
            "the kernel believes that the device has no volatile write cache (write through). If it has one, "
            "writes that returned can be lost"
        )
        return f"No flush is sent to the device: {costs}, because {why}. {_POWER_CUT}"
    return f"No flush seems to be sent to the device, or it costs nothing: {costs}. {_POWER_CUT}"


def _unknown_shares(note: Note, words: Words) -> str:
    shares = ", ".join(map(share_text, note["shares"]))
    return (
        "There were too few operations to tell whether these shares are off by "
        f"{_units.format_ratio(note['tolerance'])}: {shares}"
    )


def _torn(note: Note, words: Words) -> str:
    size = f" of {_units.format_size(note['block_size_bytes'])}" if "block_size_bytes" in note else ""
    advice = (
        ", so LogWriteIntegrity=SingleWrite is not safe here: leave it at TripleWrite"
        if note.get("cause") == "single write"
        else ""
    )
    return (
        f"The write in flight{size} was torn in cut {', '.join(map(str, note['cuts']))}. That is not a loss, but "
        f"writes{size} are not atomic{advice}"
    )


_LIMITS = {
    "volume_iops": "volume's own IOPS limit",
    "volume_throughput": "volume's own throughput limit",
    "instance_iops": "instance's IOPS limit",
    "instance_throughput": "instance's throughput limit",
}


def _volume_limit(note: Note, words: Words) -> str:
    limited, elapsed = (_units.format_duration(note[key] * 1e9) for key in ("limited_s", "elapsed_s"))
    return (
        f"The {_LIMITS[note['limit']]} was reached for "
        f"{_units.format_ratio(note['limited_s'] / note['elapsed_s'], 2)} of the time: {limited} of the {elapsed} "
        f"from before the test files were made to the end of the test ({note['devices']})"
    )


def _search_ended(note: Note, words: Words) -> str:
    load, rounds = text_of_load(note["load"], note["load_unit"]), note["rounds"]
    ended = f"The search for the capacity ended after {rounds} {'round' if rounds == 1 else 'rounds'}"
    if note["cause"] == "largest":
        return f"{ended}: {load} is the largest load that this workload can generate here"
    if note["cause"] == "others":
        return (
            f"{ended}: {', '.join(note['others'])}, which climbed together with it, cannot go on. "
            f"The next load to try is {load}"
        )
    return f"{ended}: sweep_rounds allows no more. The next load to try is {load}"


def _left_out(note: Note, words: Words) -> str:
    return f"It did not measure {note['label']}, which the run {note['run_id']} measured; {_take_out(note)}"


def _moved(note: Note, words: Words) -> str:
    where = (
        f"It measured {note['volume']} at {note['mount_point']}, and not at {note['before']}, as "
        f"the run {note['run_id']} did"
    )
    return (
        f"{where}. That is another volume, and everything known about {note['before']} remains valid; {_take_out(note)}"
    )


def _take_out(note: Note) -> str:
    known = f"{note['label']}:{note['before']}"
    return (
        "if that is no longer needed, withdraw it with playbooks/history.yml "
        f"{extra_variable('history_revoke', known)} -e history_reason=..."
    )


_RETAINED = (
    "Its storage class keeps the volumes of deleted claims (reclaim policy Retain): delete the PersistentVolume of "
    "this test by hand, if the test created one"
)


def _foreseen(note: Note, words: Words) -> str:
    return _FORESEEN[note["cause"]](note)


def _no_stream(note: Note) -> str:
    wanted = f"{note['operation']}s of stream {note['stream']}" if "operation" in note else f"stream {note['stream']}"
    return f"{note['limit']} cannot be judged, because the workload {note['workload']} has no {wanted}"


def _load_target(note: Note) -> str:
    target = note["target"]
    return (
        f"the run cannot show that the volume carries sweep_load_target {target:g}, because the largest load point is "
        f"{note['largest']}: add {math.ceil(target)} to sweep_loads"
    )


_LACKING = {TARGET: "which messages", HIGHEST: "how many operations_per_s"}


def _no_target(note: Note) -> str:
    return (
        f"{note['limit']} cannot be judged, because sweep_target does not state "
        f"{_LACKING[note['scope']]} the volume must carry"
    )


def _duration(note: Note) -> str:
    whole = _units.format_duration(note["whole_s"] * 1e9, 2)
    return (
        f"{note['profile']} requires {note['required_s']:g} s per row (about {whole}): with "
        f"{note['planned_s']} s this run cannot certify"
    )


def _small_files(note: Note) -> str:
    required, planned = (_units.format_size(note[key]) for key in ("required_bytes", "planned_bytes"))
    each = "" if note["of_streams"] else " per queue manager"
    return f"{note['profile']} requires {required} of test files{each}: with {planned} this run cannot certify"


def _too_short(note: Note) -> str:
    mean = note.get("mean_over_limit")
    condition = "" if mean is None else f" if the mean is {mean:.2g} of the limit, and fewer if it is smaller"
    return f"{note['needed_s']} s per row are needed for {note['limit']}{condition}; {note['planned_s']} s are planned"


def _search(note: Note) -> str:
    each = _units.format_duration(note["round_s"] * 1e9, 2)
    return (
        f"{note['option']}: {note['value']} searches for the capacity in up to {note['rounds']} "
        f"rounds of about {each} each"
    )


_FORESEEN: dict[str, Callable[[Note], str]] = {
    "no_stream": _no_stream,
    "load_target": _load_target,
    "no_blocks": lambda note: (
        f"{note['profile']} has limits on block sizes, which cannot be judged with sweep_workload "
        f"{COMMITS}: use a profile for commits"
    ),
    "commits": lambda note: f"with sweep_workload {COMMITS} this run cannot certify",
    "no_target": _no_target,
    "workload": lambda note: (
        f"{note['profile']} certifies runs of sweep_workload {note['required']}: with "
        f"{note['workload']} this run cannot certify"
    ),
    "duration": _duration,
    "small_files": _small_files,
    "block_sizes": lambda note: (
        f"{note['profile']} requires the block sizes {', '.join(map(_units.format_size, note['missing_bytes']))}: "
        "without them this run cannot certify"
    ),
    "too_short": _too_short,
    "search": _search,
}


def _preflight(note: Note, words: Words) -> str:
    return _PREFLIGHT[note.get("cause", "")](note)


def _ready(note: Note) -> str:
    free = f", {_units.format_size(note['free_bytes'])} free" if "free_bytes" in note else ""
    where = note.get("places") or f"{note.get('mount_point')} ({note.get('filesystem_type')}{free})"
    return (
        f"ready: {note['steps']} steps in about {note['minutes']} min, "
        f"{_units.format_size(note['footprint_bytes'])} on {where}"
    )


_PREFLIGHT: dict[str, Callable[[Note], str]] = {
    "": lambda note: note["text"],
    "ready": _ready,
    "source": lambda note: (
        f"ready: {note.get('source')} can observe {note.get('queue_manager') or 'the queue manager'}"
    ),
    "unknown": lambda note: f"unknown: {note['text']}",
}


def _kept_early(note: Note, words: Words) -> str:
    return (
        "Steps ended when there was enough evidence that all limits are kept (sweep_end_early). Measured, of "
        f"{_units.format_duration(note['planned_s'] * 1e9)} each: {measured_steps(note['steps'], words)}"
    )


NOTES: dict[str, Callable[[Note, Words], str]] = {
    findings.CLOCK: _clock,
    findings.WRONG_CLOCK: _wrong_clock,
    findings.SHARED_DISK: _shared_disk,
    findings.UNSTEADY: _unsteady,
    findings.PLATEAU: _plateau,
    findings.NO_FLUSH: _no_flush,
    findings.UNKNOWN_SHARES: _unknown_shares,
    findings.AS_THEY_STAND: lambda note, words: (
        "Its response times are compared with their limits as they stand, without confidence"
    ),
    findings.TORN: _torn,
    findings.VOLUME_LIMIT: _volume_limit,
    findings.SEARCH_ENDED: _search_ended,
    findings.CLIMBED_TOGETHER: lambda note, words: (
        f"It climbed together with {', '.join(note['others'])}: a load passes only if it passes on all of them"
    ),
    findings.LEFT_OUT: _left_out,
    findings.MOVED: _moved,
    findings.KEPT_EARLY: _kept_early,
    findings.RETAINED: lambda note, words: _RETAINED,
    findings.FORESEEN: _foreseen,
    findings.PREFLIGHT: _preflight,
}
"""The function that makes the sentence for each kind of note."""
