# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes the status of the fleet, which is the content of status.json, for a screen and in the text format of
OpenMetrics for monitoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from ...module_utils import _units
from ...module_utils._command_lines import command as shell_command
from .._judge.durability import percent_upwards
from .._run import open_metrics as om
from .._run.kinds import KINDS
from .._run.table_reader import printable
from .._run.words import days_text, state_text
from .states import MOST_URGENT_FIRST

SHOWN_LINES = 100
SHOWN_CHANGES = 5
SHOWN_NEXT = 10
"""The maximum number of hosts named in the command that certifies them again."""
SHOWN_CHARACTERS = 60
"""The maximum number of characters of a changed fact that are shown."""

Item = Mapping[str, Any]


def status_text(status: Item, place: str = "", command: str = "ansible-playbook") -> str:
    """Return the status for a screen: whether the expected hosts are certified, how many volumes are in each state, the
    most urgent ones with their changes, the pairs whose locks were tested, observations of other volumes, misdated
    results, classes that became slower, the history at ``place``, and what to do next. ``command`` is the beginning of
    a command line with the inventory."""
    volumes = status["volumes"]
    counts = Counter(each["state"] for each in volumes)
    states = ", ".join(f"{counts[state]} {state_text(state)}" for state in MOST_URGENT_FIRST if counts[state])
    expected = f"hosts expected: {len(status['expected_hosts'])}"
    result = "CERTIFIED" if status["certified"] else "NOT CERTIFIED"
    shown = volumes[:SHOWN_LINES]
    state_width = max([9, *(len(state_text(each["state"])) for each in shown)])
    label_width = max((len(each["label"]) for each in shown), default=0)
    return "\n".join(
        [
            f"{result} on {status['date']}: {states or 'no certificates'}; {expected}.",
            *(line for each in shown for line in _volume_lines(each, state_width, label_width)),
            *([f"  and {len(volumes) - SHOWN_LINES} more, see status.json"] if len(volumes) > SHOWN_LINES else []),
            *(line for kind in KINDS.values() for line in _lines(*kind.memory.status_lines(status))),
            *_lines([f"wrong date {each['text']}" for each in status["wrong_dates"]], "wrong dates"),
            *(f"  declining {each['text']}" for each in status["declines"][:SHOWN_LINES]),
            *([f"Read from the history {place}."] if place else []),
            *_next_steps(status["reasons"], command),
        ]
    )


def _lines(lines: Sequence[str], subjects: str) -> list[str]:
    shown, left = [f"  {line}" for line in lines[:SHOWN_LINES]], len(lines) - SHOWN_LINES
    return [*shown, f"  and {_units.format_count(left)} more {subjects}, see status.json"] if left > 0 else shown


def _volume_lines(volume: Item, state_width: int, label_width: int) -> Iterator[str]:
    """Yield the line of a volume: its sentence, followed by what is not a problem, namely the power cuts without a loss
    and the newest observation; and a line about what changed, if anything did."""
    kept, observed, since = volume["power_cuts_kept"], volume["observation"], volume["changed_since"]
    told = [volume["sentence"]]
    told += [_kept(kept)] if kept else []
    told += [f"observed {observed_text(observed)}"] if observed else []
    yield f"  {state_text(volume['state']):{state_width}} {volume['label']:{label_width}}  {'; '.join(told)}"
    if since and since["changes"]:
        changes = since["changes"]
        texts = [f"{each['name']} {_short(each['before'])} -> {_short(each['after'])}" for each in changes]
        more = [f"and {len(changes) - SHOWN_CHANGES} more"] if len(changes) > SHOWN_CHANGES else []
        yield f"            changed since {since['judged_at'][:10]}: {', '.join([*texts[:SHOWN_CHANGES], *more])}"


def _short(value: str | int) -> str:
    text = printable(str(value))
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 3]}..."


def observed_text(observation: Item) -> str:
    """Return when and with which result a volume was observed."""
    verdict = f"{observation['verdict']}, " if observation["verdict"] else ""
    when = days_text(-observation["age_days"])
    return f"{when}: {verdict}{observation['headline']} (run {observation['run_id']})"


def _kept(kept: Item) -> str:
    """Describe how many power cuts lost no write, the bound that they prove, how old they are, and until when they are
    valid."""
    cuts = f"{kept['cuts']} power {'cut' if kept['cuts'] == 1 else 'cuts'} kept {days_text(-kept['age_days'])}"
    until, run = kept["valid_until"], f"(run {kept['run_id']})"
    if kept["is_expired"]:
        return f"{cuts}, expired on {until} {run}"
    bound = percent_upwards(100 * kept["loss_chance_bound"])
    return f"{cuts}: a chance of a loss of at most {bound} % per cut, until {until} {run}"


def _next_steps(reasons: Sequence[Item], command: str) -> Iterator[str]:
    """Yield lines that state what to do about hosts that are not certified, by the playbook that clears the problem."""
    for kind in filter(attrgetter("again"), KINDS.values()):
        hosts = sorted({host for each in reasons if each["playbook"] == kind.playbook for host in each["hosts"]})
        if hosts:
            limit = " " + shell_command(["--limit", ",".join(hosts)]) if len(hosts) <= SHOWN_NEXT else ""
            whom = "" if limit else f" for the {len(hosts)} hosts that status.json names under problems"
            yield (
                f"Next: after correcting what failed, {kind.again}{whom}: {command} "
                f"playbooks/{kind.playbook}.yml{limit}"
            )


def status_prom(status: Item) -> bytes:
    """Return the status in the text format of OpenMetrics."""
    names = Counter((host, volume) for host, volume, dummy in set(map(_place, status["volumes"])))
    asked = [(_volume_labels(each, names), each) for each in status["volumes"] if each["is_asked_for"]]
    whole = [("", status)]
    metrics = (
        ("logdisk_expected_hosts", "Hosts that are to be certified.", whole, lambda each: len(each["expected_hosts"])),
        ("logdisk_certificate_problems", "Why they are not.", whole, lambda each: len(each["problems"])),
        (
            "logdisk_certificate_state",
            "Whether the volume is in this state under the requested profile.",
            asked,
            lambda each: each["state"],
        ),
        (
            "logdisk_certificate_end_timestamp_seconds",
            "End of the last day on which the certificate is valid.",
            asked,
            lambda each: om.end_of_day_s(each["valid_until"]) if each["valid_until"] else None,
        ),
    )
    texts = [*om.gauges(metrics, MOST_URGENT_FIRST)]
    texts += [text for kind in KINDS.values() for text in kind.memory.metrics(status, asked)]
    return "".join([*texts, om.END]).encode("utf-8")


def _place(volume: Item) -> tuple[str, ...]:
    return volume["host"], volume["volume"], volume["mount_point"] or ""


def _volume_labels(volume: Item, names: Mapping[tuple[str, ...], int]) -> str:
    """Return the labels of a volume, with its mount point if the host has several volumes of its name."""
    host, name, mount_point = _place(volume)
    place = {"mount_point": mount_point} if names[host, name] > 1 else {}
    return om.labels({"host": host, "volume": name, "profile": volume["profile"], **place})
