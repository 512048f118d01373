# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decides what a power cut showed.

The outcome is kept or lost only if the tester's check of the files says so. Any deviation from a plain power cut makes
it inconclusive.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...module_utils import _units
from .._dialogue.commands import CommandResult
from .protocol import (
    CHECK_KEPT,
    CHECK_LOST,
    DEADLINE,
    END_OF_TIME,
    LARGEST_COUNT,
    SIGNAL,
    TICK_NS,
    Checked,
    Seen,
    Sight,
    sight_of,
)

KEPT, LOST, INCONCLUSIVE = "kept", "lost", "inconclusive"
OUTCOMES = (KEPT, LOST, INCONCLUSIVE)

CONNECTION_BROKE = 255

SOONEST_BOOT_NS = 500_000_000
"""No host boots in less time than this. If a connection ends sooner, a host that still had power ended it. If it ends
later, the host may have booted again and refused it."""

SAME_VOLUME = ("mount_point", "filesystem_uuid", "mount_source", "filesystem_type")
"""The facts that must be equal before and after the cut if it is the same file system. A device may have a different
name after the host has booted, so the UUID is more reliable than the source."""


@dataclass(frozen=True)
class Witnessed:
    """How the witness ended. ``problem`` says why the witness did not see the connection break. ``early`` is true if
    the connection broke before the cut.

    ``status`` is the exit status of the tester, or of ssh if the connection broke (255). ``lost_ns`` is the time at
    which the stream of the tester ended, by the monotonic clock of the controller.
    """

    seen: Seen
    broken: bool = False
    early: bool = False
    problem: str = ""
    said: str = ""
    status: int | None = None
    lost_ns: int = 0


@dataclass(frozen=True)
class Returned:
    """The host's answers before and after the cut. ``before`` and ``after`` hold its boot_id and the facts of the file
    system under test. ``after`` is None if the host did not come back. ``problem`` is the last reason why it did not
    answer, or why its file system could not be inspected."""

    before: Mapping[str, Any]
    after: Mapping[str, Any] | None = None
    problem: str = ""
    waited_s: float = 0.0


@dataclass(frozen=True)
class Cut:
    """One power cut in a record. ``rows`` are the rows of durability.csv. Figures are None if they are not known."""

    number: int
    outcome: str
    reason: str
    acknowledged_writes: int = 0
    rate_writes_per_s: float | None = None
    writing_s: float | None = None
    delay_p50_ns: int | None = None
    delay_p99_ns: int | None = None
    gap_max_ns: int | None = None
    silence_ns: int | None = None
    unacknowledged_writes: int | None = None
    visible_from_writes: int | None = None
    visible_from_ns: int | None = None
    boot_id_before: str = ""
    boot_id_after: str = ""
    seed: str = ""
    end: str = ""
    command_status: int | None = None
    command_output: str = ""
    command_s: float | None = None
    back_after_s: float | None = None
    rows: list[dict[str, str]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def cut_of(
    number: int, command: CommandResult, witnessed: Witnessed, returned: Returned, checked: Checked, blind_limit_ns: int
) -> Cut:
    """Return a cut with its outcome, which is KEPT only if a loss of more than ``blind_limit_ns`` of writing would have
    been seen."""
    seen, beyond = witnessed.seen, found_beyond(witnessed.seen, checked.rows)
    # The newest write found may not have returned, but all earlier writes had returned.
    sight = sight_of(seen, power_end_ns(command, witnessed), sum(max(0, writes - 1) for writes in beyond.values()))
    outcome, reason = outcome_of(command, witnessed, returned, checked)
    if outcome == KEPT:
        why = why_blind(seen, sight, beyond, blind_limit_ns)
        outcome, reason = (INCONCLUSIVE, why) if why else (outcome, reason)
    return Cut(
        number=number,
        outcome=outcome,
        reason=reason,
        acknowledged_writes=seen.acknowledged_writes,
        rate_writes_per_s=round(seen.rate_writes_per_s, 3) if seen.ready else None,
        writing_s=round(seen.writing_s, 3) if seen.ready else None,
        **dataclasses.asdict(sight),
        unacknowledged_writes=sum(beyond.values()) if beyond else None,
        boot_id_before=str(returned.before.get("boot_id") or ""),
        boot_id_after=str((returned.after or {}).get("boot_id") or ""),
        seed=str(seen.ready.seed) if seen.ready else "",
        end=seen.end,
        command_status=command.status,
        command_output=command.output,
        command_s=round(command.seconds, 3) if command.done else None,
        back_after_s=round(returned.waited_s, 1) if returned.after else None,
        rows=[dict(row) for row in checked.rows],
    )


def outcome_of(command: CommandResult, witnessed: Witnessed, returned: Returned, checked: Checked) -> tuple[str, str]:
    """Return the outcome of a cut, and the reason as a sentence without a full stop."""
    why = why_no_cut(command, witnessed, returned) or why_unchecked(checked)
    if why:
        return INCONCLUSIVE, why
    if checked.status == CHECK_LOST:
        return LOST, "; ".join(damage_of(total_row(checked.rows)).values())
    return KEPT, f"all {witnessed.seen.acknowledged_writes:,} acknowledged writes were found"


def power_end_ns(command: CommandResult, witnessed: Witnessed) -> int:
    """Return the latest time at which the host may still have had power, according to the command, the last line and
    the loss of the connection."""
    last_ns, lost_ns = witnessed.seen.last_ns, witnessed.lost_ns
    return max(last_ns, command.ended_ns, lost_ns if lost_ns - last_ns < SOONEST_BOOT_NS else 0)


def found_beyond(seen: Seen, rows: Sequence[Mapping[str, str]]) -> dict[int, int]:
    """Return, by queue manager, how many writes were found beyond the last acknowledged one, as far as the rows show
    it."""
    beyond = {}
    for row in rows:
        worker, found = (
            int(text) if text.isdecimal() and len(text) < 16 else -1
            for text in (row.get("worker", ""), row.get("found_writes", ""))
        )
        if seen.ready and 1 <= worker <= seen.ready.qm and 0 <= found < LARGEST_COUNT:
            beyond[worker] = max(0, found - seen.counts.get(worker, 0))
    return beyond


def why_blind(seen: Seen, sight: Sight, beyond: Mapping[int, int], limit_ns: int) -> str:
    """Return the reason if a loss at the end that is longer than the limit could have gone unnoticed; otherwise an
    empty string."""
    if sight.visible_from_ns is None or seen.ready is None or len(beyond) != seen.ready.qm:
        return (
            "it is not known how long a loss at the end could have gone unnoticed, because the "
            "tester or its check did not report it"
        )
    if sight.visible_from_ns <= limit_ns:
        return ""
    unseen, gap, silence, limit = (
        _units.format_duration(value or 0)
        for value in (sight.visible_from_ns, sight.gap_max_ns, sight.silence_ns, limit_ns)
    )
    if sight.visible_from_ns == TICK_NS + (sight.gap_max_ns or 0):
        why = f"the host sent nothing for {gap} while it was writing"
    elif sight.visible_from_ns == TICK_NS + (sight.delay_p99_ns or 0) + (sight.silence_ns or 0):
        why = (
            f"the last acknowledgement came {silence} before it was known that the power was off. Let the cut command "
            "end as soon as the power is off, and switch it on again in the background"
        )
    else:
        why = (
            f"{sum(beyond.values()):,} writes were found that had not been acknowledged, so the "
            "connection was lost before the power"
        )
    return (
        f"a loss at the end of less than {unseen} could not be seen, and the profile accepts {limit} "
        f"(durability.blind_ms): {why}"
    )


def why_no_cut(command: CommandResult, witnessed: Witnessed, returned: Returned) -> str:
    """Return the reason if this was not, or may not have been, a power cut of a host that was writing; otherwise an
    empty string."""
    return _why_not_writing(command, witnessed) or _why_not_cut(command, witnessed) or _why_not_back(command, returned)


def _why_not_writing(command: CommandResult, witnessed: Witnessed) -> str:
    seen = witnessed.seen
    said = f" ({witnessed.said})" if witnessed.said else ""
    if seen.ready is None and not witnessed.problem:
        if witnessed.status not in (None, CONNECTION_BROKE):
            return f"the tester created no files{said or f' (it ended with status {witnessed.status})'}"
        return f"the files were not complete when the connection broke, so nothing can be concluded{said}"
    if witnessed.early or not command.done:
        return f"{command.problem or 'the connection to the tester broke before the cut'}{said}"
    if witnessed.problem:
        return witnessed.problem + said
    if not seen.acknowledged_writes:
        return "no write was acknowledged before the cut"
    return ""


def _why_not_cut(command: CommandResult, witnessed: Witnessed) -> str:
    end = witnessed.seen.end
    if end == SIGNAL:
        return (
            "the tester was told to end, so this was an orderly shutdown and no power cut: use a command "
            "that takes the power at once"
        )
    if end in (END_OF_TIME, DEADLINE):
        return "the tester reached the end of its time before the power was cut"
    if not witnessed.broken:
        return (
            f"the host continued to write after the cut command, so its power was not cut{_failure_of(command, ': ')}"
        )
    return ""


def _failure_of(command: CommandResult, before: str) -> str:
    why = command.problem
    if command.status and not why:
        why = f"status {command.status}{f' ({command.output[-500:]})' if command.output else ''}"
    return f"{before}the cut command failed: {why}" if why else ""


def _why_not_back(command: CommandResult, returned: Returned) -> str:
    after = returned.after
    if after is None:
        why = f" ({returned.problem})" if returned.problem else ""
        failed = _failure_of(command, "; ")
        return (
            f"the host did not come back within {returned.waited_s:.0f} s{why}: nothing is known about its files, "
            f"which are still there{failed}"
        )
    if not after.get("boot_id") or not returned.before.get("boot_id"):
        return "the host does not report its boot ID, so it is not known whether its power was cut"
    if after["boot_id"] == returned.before["boot_id"]:
        return "the host has not booted (its boot id is unchanged): the connection was lost, but the power was not cut"
    if returned.problem:
        return f"the file system under test cannot be inspected: {returned.problem}"
    return why_other_volume(returned.before, after)


def why_other_volume(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the reason if this is not the file system that was written to; otherwise an empty string."""
    known = before.get("filesystem_uuid") or ""
    differing = [
        name
        for name in SAME_VOLUME
        if (after.get(name) or "") != (before.get(name) or "") and not (name == "mount_source" and known)
    ]
    if not differing:
        return _why_recreated(before, after)
    name = differing[0]
    return (
        f"a different file system is mounted after the cut ({name} was {before.get(name) or 'unknown'} and is "
        f"{after.get(name) or 'unknown'}): mount it, and check whether it can be mounted at all, because a file "
        "system that cannot be is lost"
    )


def _why_recreated(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the reason if this is a new file system with the UUID of the old one. Empty if it is not, or if the host
    does not report when the file system was created."""
    births = [str(each.get("filesystem_born_epoch_s") or "") for each in (before, after)]
    if births[0] == births[1] or not all(births):
        return ""
    return (
        f"the file system was created again after the writes, with the same UUID (its root directory was created "
        f"at {births[0]} and at {births[1]}, in seconds since 1970): it is not known what the old one kept"
    )


def why_unchecked(checked: Checked) -> str:
    """Return the reason if the check of the files is inconclusive; otherwise an empty string."""
    if checked.problem:
        return f"the files could not be checked: {checked.problem}"
    if checked.status not in (CHECK_KEPT, CHECK_LOST):
        return f"the files could not be checked: the tester ended with status {checked.status}"
    said = total_row(checked.rows).get("outcome")
    wanted = KEPT if checked.status == CHECK_KEPT else LOST
    if said != wanted:
        return (
            f"the files could not be checked: the tester's status {checked.status} says {wanted}, but its "
            f"table says {said or 'nothing'}"
        )
    return ""


def total_row(rows: Sequence[Mapping[str, str]]) -> Mapping[str, str]:
    """Return the row of durability.csv for all queue managers, or an empty row if there is none."""
    return next((row for row in rows if row.get("worker") == "all"), {})


_LOSSES = (
    ("metadata lost", "metadata_lost", "files or directories are gone"),
    (LOST, "lost_tail_writes", "{} acknowledged writes at the end are gone"),
    (LOST, "lost_out_of_order_writes", "{} writes are gone although later ones are present"),
    ("torn", "torn_positions", "{} blocks hold parts of two writes"),
    ("misdirected", "misdirected_positions", "{} blocks hold a write that belongs elsewhere"),
    ("unreadable", "unreadable_positions", "{} blocks cannot be read"),
    ("zeroed", "zeroed_positions", "{} blocks are zeroed"),
    ("corrupt", "corrupt_positions", "{} blocks hold damaged data"),
)
"""The kinds of damage: the column of durability.csv that counts each kind, and its description."""
DAMAGE = {column: damage for damage, column, _text in _LOSSES}


def damage_of(row: Mapping[str, str]) -> dict[str, str]:
    """Return the extent of each kind of damage, from the row for all queue managers. If no column counts any damage,
    return a general loss."""
    counts = {column: int(row[column]) for column in row if row[column].isdecimal() and len(row[column]) <= 20}
    found: dict[str, list[str]] = {}
    for damage, column, text in _LOSSES:
        if counts.get(column):
            found.setdefault(damage, []).append(text.format(f"{counts[column]:,}"))
    size = [f"{counts['lost_tail_bytes']:,} bytes"] if counts.get("lost_tail_bytes") else []
    size += [f"{_units.format_duration(counts['lost_tail_ns'])} of writing"] if counts.get("lost_tail_ns") else []
    texts = {damage: "; ".join(parts) for damage, parts in found.items()} or {LOST: "acknowledged writes were lost"}
    return {
        damage: f"{text} ({', '.join(size)})" if size and damage == LOST else text for damage, text in texts.items()
    }
