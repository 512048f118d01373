# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a volume whose locks were tested with those of other hosts."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .._english.findings import NOTHING_MEASURED, in_words
from .._english.lock_figures import pair_text
from .._judge.lock_limits import limits_of
from .._judge.locks import NO_PAIR, findings_of, notes_of
from .._kinds import CHECK_MODE
from .._run.findings import LOCK_UNDECIDED, PREFLIGHT, finding
from .._run.lock_steps import SECOND_REFUSED
from .._run.profiles import profile_data
from .._run.record import HostRecord
from .._run.shapes import PLAIN, fits
from .._run.verdicts import INCONCLUSIVE, worst
from .._run.words import words_of
from .host import blank, profile_of, with_notes

LOCKS = "locks"
"""The kind of these records."""


def lock_record(
    run: Mapping[str, Any],
    host: str,
    volume: str,
    facts: dict[str, Any],
    workspace: dict[str, Any],
    locks: Mapping[str, Any],
) -> HostRecord:
    """Return the judged record of a host's locks.

    ``locks`` has ``pairs``: the results of each pair that the host is in (see ``_run/lock_steps.py``), without
    ``verdict`` and ``text``, which are added here. ``facts`` are the facts of the host and of the file system, in the
    same form as in a test; ``workspace`` has ``path``.
    """
    limits = limits_of(profile_data(run, host))
    day = datetime.date.fromisoformat(str(run["created_at"])[:10])
    waivers = [waiver for waiver in profile_of(run, host).waivers if waiver.until >= day]
    pairs = [_usable(pair) for pair in locks.get("pairs") or []]
    judged = [(pair, findings_of(pair, limits, waivers)) for pair in pairs]
    found = [each for _pair, findings in judged for each in findings] if judged else [_without_pair(host)]
    words = words_of("")
    record = replace(
        blank(run, host, volume, LOCKS, facts),
        workspace=workspace,
        verdict=worst(each["verdict"] for each in found),
        findings=found,
        reasons=[in_words(each, words) for each in found],
        own={
            "pairs": [
                {
                    **pair,
                    "verdict": worst(each["verdict"] for each in findings),
                    "text": pair_text(pair, limits, findings),
                }
                for pair, findings in judged
            ],
            "limits": limits,
        },
    )
    return with_notes(record, [note for pair in pairs for note in notes_of(pair, limits)], words)


def ready(run: Mapping[str, Any], host: str, volume: str, facts: dict[str, Any], sentence: str) -> HostRecord:
    """Return the record of a host whose locks could be tested. A preflight does nothing else, so there is no
    verdict."""
    return replace(
        blank(run, host, volume, CHECK_MODE.name, facts),
        qualification=NOTHING_MEASURED,
        findings=[finding(PREFLIGHT, None, text=sentence)],
        reasons=[sentence],
    )


def _without_pair(host: str) -> dict[str, Any]:
    """Return the finding of a host whose locks were not tested with any other host."""
    at = {"first": host, "second": "", "directory": "", "holder": host, "other": ""}
    return finding(LOCK_UNDECIDED, INCONCLUSIVE, step=SECOND_REFUSED, code=NO_PAIR, at=at)


def _usable(pair: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results of a pair without figures that are not valid in a record. The results come from hosts, so they
    are untrusted."""
    return {
        **{key: str(pair.get(key) or "") for key in ("first", "second", "directory", "server")},
        "settings": {str(host): _plain(settings) for host, settings in (pair.get("settings") or {}).items()},
        "steps": [
            {
                **{key: str(step.get(key) or "") for key in ("step", "holder", "other", "outcome", "cause")},
                "figures": _plain(step.get("figures") or {}),
            }
            for step in pair.get("steps") or []
        ],
    }


def _plain(figures: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key): value for key, value in figures.items() if fits(value, PLAIN)}
