# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The templates of notes about a measurement, of what a plan cannot decide, and of why a run that passes does not
certify, by kind, or by kind and cause."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ...module_utils._command_lines import extra_variable
from .._judge.capacity import text_of_load
from .._judge.metrics import BATCH_MEANS, HIGHEST, TARGET
from .._run import findings
from .._run.columns import COMMITS
from .._run.words import Words
from .phrases import measured_steps, phrase, plural, share_text

Note = Mapping[str, Any]
Write = Callable[[Note, Words], str]
Text = str | Write
"""A template, or a function that makes the sentence if it needs more than the values of the finding."""

SETTING_TEXT = "{title}[ ({subject})]: [{value}|not set], expected: {expected}"
"""What a setting is and what it must be."""

_POWER_CUT = "Only a power cut shows whether such writes survive (playbooks/power_cut.yml)"
_AS_LONG = "a synchronous write takes as long as a plain one ({sync_ns:duration} and {plain_ns:duration})"
_NO_FLUSH = {
    "write through": f"No flush is sent to the device: {_AS_LONG}, because the kernel believes that the device has no "
    "volatile write cache (write through). If it has one, writes that returned can be lost. " + _POWER_CUT,
    "": f"No flush seems to be sent to the device, or it costs nothing: {_AS_LONG}. {_POWER_CUT}",
}

_OTHER_CLOCKS = {
    "server": "the clock of the history's database server shows {other}",
    "history": "the newest results in the history were stored when a controller's clock showed {other}",
    "hosts": "the clocks of {hosts} hosts differ from it, for example that of {host} by {offset_s:+.0f} s",
}
_WRONG_CLOCKS = {
    cause: f"The controller's clock shows {{clock}}, but {other}. Set the clock that is wrong: results with a wrong "
    "date certify nothing"
    for cause, other in _OTHER_CLOCKS.items()
}


def _unsteady(note: Note, words: Words) -> str:
    return phrase(
        "Its latency was not steady at {rows:list}: the rounds of the run differ by more than 20 %, or rise or fall by "
        "more than 10 %",
        {"rows": [words.row_text(row) for row in note["rows"]]},
    )


def _plateau(note: Note, words: Words) -> str:
    where = "In {operation}s of {stream}" if words.layout.by_stream else "At {block_size_bytes:step_size}"
    return phrase(
        where
        + " with {load}, from second {from_second} on, the rate stayed at {share:ratio,2} of the rate before, with "
        "{variation:ratio,2} variation: a burst allowance may have run out, or a write cache may be full",
        note,
        load=words.load_text(note["load_point"]),
    )


def _unknown_shares(note: Note, words: Words) -> str:
    return phrase(
        "There were too few operations to tell whether these shares are off by {tolerance:ratio}: {names:list}",
        note,
        names=map(share_text, note["shares"]),
    )


_VOLUME_LIMITS = {
    "volume_iops": "volume's own IOPS limit",
    "volume_throughput": "volume's own throughput limit",
    "instance_iops": "instance's IOPS limit",
    "instance_throughput": "instance's throughput limit",
}


def _volume_limit(note: Note, words: Words) -> str:
    return phrase(
        "The {name} was reached for {share:ratio,2} of the time: {limited_s:seconds} of the {elapsed_s:seconds} from "
        "before the test files were made to the end of the test ({devices})",
        note,
        name=_VOLUME_LIMITS[note["limit"]],
        share=note["limited_s"] / note["elapsed_s"],
    )


_SEARCH_ENDED = {
    "largest": "{load} is the largest load that this workload can generate here",
    "others": "{others:list}, which climbed together with it, cannot go on. The next load to try is {load}",
    "": "sweep_rounds allows no more. The next load to try is {load}",
}


def _search_ended(note: Note, words: Words) -> str:
    ended = f"The search for the capacity ended after {plural(note['rounds'], 'round')}: "
    why = _SEARCH_ENDED.get(note["cause"], _SEARCH_ENDED[""])
    return ended + phrase(why, note, load=text_of_load(note["load"], note["load_unit"]))


_WITHDRAW = (
    "; if that is no longer needed, withdraw it with playbooks/history.yml {history_revoke} -e history_reason=..."
)


def _forgotten(template: str) -> Write:
    """Return the function for a note on a volume that the history knows and the run did not measure."""
    return lambda note, words: phrase(
        template + _WITHDRAW,
        note,
        history_revoke=extra_variable("history_revoke", f"{note['label']}:{note['before']}"),
    )


def _kept_early(note: Note, words: Words) -> str:
    return phrase(
        "Steps ended when there was enough evidence that all limits are kept (sweep_end_early). Measured, of "
        "{planned_s:seconds} each: {measured}",
        note,
        measured=measured_steps(note["steps"], words),
    )


_LACKING = {TARGET: "which messages", HIGHEST: "how many operations_per_s"}
_CANNOT = "this run cannot certify"

_FORESEEN: Mapping[str, Text] = {
    "no_stream": "{limit} cannot be judged, because the workload {workload} has no [{operation}s of ]stream {stream}",
    "load_target": lambda note, words: phrase(
        "the run cannot show that the volume carries sweep_load_target {target:g}, because the largest load point is "
        "{largest}: add {added} to sweep_loads",
        note,
        added=math.ceil(note["target"]),
    ),
    "no_blocks": f"{{profile}} has limits on block sizes, which cannot be judged with sweep_workload {COMMITS}: use a "
    "profile for commits",
    "commits": f"with sweep_workload {COMMITS} {_CANNOT}",
    "no_target": lambda note, words: phrase(
        "{limit} cannot be judged, because sweep_target does not state {lacking} the volume must carry",
        note,
        lacking=_LACKING[note["scope"]],
    ),
    "workload": f"{{profile}} certifies runs of sweep_workload {{required}}: with {{workload}} {_CANNOT}",
    "duration": "{profile} requires {required_s:g} s per row (about {whole_s:seconds,2}): with {planned_s} s "
    + _CANNOT,
    "small_files": lambda note, words: phrase(
        f"{{profile}} requires {{required_bytes:size}} of test files{{each}}: with {{planned_bytes:size}} {_CANNOT}",
        note,
        each="" if note["of_streams"] else " per queue manager",
    ),
    "block_sizes": f"{{profile}} requires the block sizes {{missing_bytes:sizes}}: without them {_CANNOT}",
    "too_short": "{needed_s} s per row are needed for {limit}[ if the mean is {mean_over_limit:.2g} of the limit, and "
    "fewer if it is smaller]; {planned_s} s are planned",
    "search": "{option}: {value} searches for the capacity in up to {rounds} rounds of about {round_s:seconds,2} each",
}
_PREFLIGHT: Mapping[str, Text] = {
    "": "{text}",
    "ready": "ready: {steps} steps in about {minutes} min, {footprint_bytes:size} on [{places}|{mount_point} "
    "({filesystem_type}, {free_bytes:size} free)|{mount_point} ({filesystem_type})|{mount_point}]",
    "source": "ready: {source} can observe [{queue_manager}|the queue manager]",
    "unknown": "unknown: {text}",
    findings.SETTING: f"{{limit_id}} would {{effect}}: {SETTING_TEXT}",
}

_UNLIKE = {
    "filesystem_type": "it wrote to {value}, which is memory",
    "backing_unknown": "the storage behind the file system cannot be determined ({value}): test a volume that is "
    "mounted without it",
    "backing_filesystem_type": "its writes ended in memory ({value})",
    "option_sync": "it wrote with the sync mode {value}, but MQ writes with dsync",
    "option_direct": "it wrote through the page cache, but MQ writes with direct I/O",
    "option_rate_per_s": "it was throttled to {value} writes/s",
    "option_delay_us": "it paused for {value} us after each write",
}
_UNQUALIFIED: Mapping[str, Text] = {
    "too_short": "it measured {measured_s:.4g} s per row, but {profile} requires {required_s:g} s",
    "no_confidence": "{profile} never certifies. To certify, leave out sweep_preset: look, or choose "
    "another gate_profile",
    "nothing_counted": "its tables contain no over.csv, so its figures were judged without confidence",
    "uncovered_episodes": lambda why, words: phrase(
        "{metric} at {row} covers {phases} of up to {episode_s:.2g} s, and {profile} requires {required_s:g} s: "
        "measure longer",
        why,
        row=words.row_text(why),
        phases="standstills" if why["method"] == BATCH_MEANS else "slow phases",
    ),
    "unfinished_ring": "at {block_size_bytes:step_size} it wrote only {ring_passes:ratio,2} of its files once, which a "
    "write cache may have absorbed entirely: [measure for {needed_s:count} s per row|measure longer]",
    "small_files": lambda why, words: phrase(
        "{files} had {footprint_bytes:size} in total, but [{profile} requires|the recovery log on this host has] "
        "{required_bytes:size}: a smaller ring may fit in a cache",
        why,
        files=words.files,
    ),
    "block_sizes": "it did not measure {missing_bytes:sizes}, which {profile} requires",
    "unnamed_workload": "its record does not name its workload",
    "other_workload": "its workload was {workload} instead of {required}",
    "not_in_run_csv": "its run.csv does not contain {key}",
    "unlike": lambda why, words: phrase(_UNLIKE[why["key"]], why),
}

NOTES: Mapping[str, Text | Mapping[str, Text]] = {
    findings.CLOCK: "Its clock differs from the controller's by {offset_s:+.1f} s (accurate to {error_s:.1f} s). Its "
    "start was corrected by this difference",
    findings.WRONG_CLOCK: _WRONG_CLOCKS,
    findings.SHARED_DISK: "Other volumes of this host were measured on the same disk at the same time and used a part "
    "of its performance: {others:list}",
    findings.UNSTEADY: _unsteady,
    findings.PLATEAU: _plateau,
    findings.NO_FLUSH: _NO_FLUSH,
    findings.UNKNOWN_SHARES: _unknown_shares,
    findings.AS_THEY_STAND: "Its response times are compared with their limits as they stand, without confidence",
    findings.VOLUME_LIMIT: _volume_limit,
    findings.SEARCH_ENDED: _search_ended,
    findings.CLIMBED_TOGETHER: "It climbed together with {others:list}: a load passes only if it passes on all of them",
    findings.LEFT_OUT: _forgotten("It did not measure {label}, which the run {run_id} measured"),
    findings.MOVED: _forgotten(
        "It measured {volume} at {mount_point}, and not at {before}, as the run {run_id} did. That is another volume, "
        "and everything known about {before} remains valid"
    ),
    findings.KEPT_EARLY: _kept_early,
    findings.RETAINED: "Its storage class keeps the volumes of deleted claims (reclaim policy Retain): delete the "
    "PersistentVolume of this test by hand, if the test created one",
    findings.FORESEEN: _FORESEEN,
    findings.PREFLIGHT: _PREFLIGHT,
    findings.QUALIFICATION: _UNQUALIFIED,
}
"""The template or the function for each kind of note. If there are several, they are those for each cause."""
